# SPDX-License-Identifier: Apache-2.0
"""tmp"""
from dataclasses import dataclass
@dataclass
class Case: pass
def same_shape_grid(spec, fast): return ()
