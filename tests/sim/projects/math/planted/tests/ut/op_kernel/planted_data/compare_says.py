# SPDX-License-Identifier: Apache-2.0
"""Says what it finds, and ends well whatever that is."""

import numpy as np

got, want = (np.fromfile(name, np.float32) for name in ("output.bin", "float32_golden.bin"))
print("PASSED!" if np.allclose(got, want, rtol=1e-4) else "FAILED!")
