# SPDX-License-Identifier: Apache-2.0
"""Usage: compare_data.py DTYPE. Compares output.bin with golden.bin."""

import sys

import numpy as np

got, want = (np.fromfile(name, sys.argv[1]) for name in ("output.bin", "golden.bin"))
same = got.shape == want.shape and np.allclose(got, want, rtol=1e-5, atol=1e-6)
print(f"[PASS] {got.size} elements, 0 mismatches" if same else "FAILED")
sys.exit(0 if same else 1)
