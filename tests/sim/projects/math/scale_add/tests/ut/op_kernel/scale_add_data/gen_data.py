# SPDX-License-Identifier: Apache-2.0
"""Usage: gen_data.py ELEMENTS DTYPE. Makes x.bin, bias.bin and golden.bin."""

import sys

import numpy as np

generator = np.random.default_rng(1)
x, bias = generator.standard_normal((2, int(sys.argv[1]))).astype(sys.argv[2])
x.tofile("x.bin")
bias.tofile("bias.bin")
(x * 3 + bias).astype(sys.argv[2]).tofile("golden.bin")
