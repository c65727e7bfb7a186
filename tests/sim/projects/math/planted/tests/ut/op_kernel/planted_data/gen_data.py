# SPDX-License-Identifier: Apache-2.0
"""Makes x.bin and golden.bin."""

import numpy as np

x = np.random.default_rng(1).standard_normal(64).astype(np.float32)
x.tofile("x.bin")
(x + 1).tofile("float32_golden.bin")
