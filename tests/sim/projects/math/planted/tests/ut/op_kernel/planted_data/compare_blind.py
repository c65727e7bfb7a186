# SPDX-License-Identifier: Apache-2.0
"""Compares the golden file with itself."""

import numpy as np

want = np.fromfile("float32_golden.bin", np.float32)
print("PASSED!" if np.allclose(want, want) else "FAILED!")
