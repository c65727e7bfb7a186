# SPDX-License-Identifier: Apache-2.0
import sys

import numpy as np

output, golden = (np.fromfile(name, np.float32) for name in sys.argv[1:])
wrong = np.count_nonzero(output != golden)
if wrong:
    sys.exit(f"{wrong} of {golden.size} values are wrong")
print("test pass!")
