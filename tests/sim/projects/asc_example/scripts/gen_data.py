# SPDX-License-Identifier: Apache-2.0
import os
import sys

import numpy as np

assert sys.argv[1].startswith("-scenarioNum=")
os.makedirs("input", exist_ok=True)
os.makedirs("output", exist_ok=True)
x = np.random.default_rng(1).integers(-100, 100, 7 * 1024).astype(np.float32)
x.tofile("input/x.bin")
(x + 4).tofile("output/golden.bin")
