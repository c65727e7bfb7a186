# SPDX-License-Identifier: Apache-2.0
"""Gradient of softmax on the simulator, checked against NumPy."""

import numpy as np

import aclgrad

rng = np.random.default_rng(0)
x = rng.normal(size=(4, 1000)).astype(np.float32)
y = np.exp(x - x.max(axis=1, keepdims=True))
y /= y.sum(axis=1, keepdims=True)
grad = rng.normal(size=x.shape).astype(np.float32)

dx = aclgrad.softmax_backward(grad, y, dim=-1)

expected = y * (grad - (grad * y).sum(axis=1, keepdims=True))
print(f"largest difference from NumPy: {np.abs(dx - expected).max():.2e}")

# Views need no copy, bad calls say what is wrong.
aclgrad.softmax_backward(grad.T, y.T, dim=0)
try:
    aclgrad.softmax_backward(grad, y, dim=2)
except aclgrad.AclnnError as error:
    print(error)
