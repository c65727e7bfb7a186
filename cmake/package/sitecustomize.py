# SPDX-License-Identifier: Apache-2.0
"""Python runs this at its start where the simulator stands in CANN's place: PYTHONPATH has this
folder. Then it runs the file of the same name that it would have run otherwise.
"""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

import aclgrad_torch_npu.hook

aclgrad_torch_npu.hook.install()

_here = Path(__file__).resolve().parent
_next = PathFinder.find_spec(
    "sitecustomize", [folder for folder in sys.path if Path(folder or ".").resolve() != _here]
)
if _next is not None and _next.loader is not None:
    _next.loader.exec_module(module_from_spec(_next))
