# SPDX-License-Identifier: Apache-2.0
"""Makes x.bin and the golden file where it is started."""

import numpy as np

x = np.arange(64, dtype=np.float32)
x.tofile("x.bin")
(x + 1).tofile("float32_golden.bin")
