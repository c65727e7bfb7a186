# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's CPU has not, from what it has: operators of torch_npu's own namespace, those that
PyTorch's functions and modules turn into on an NPU, and arguments that only devices know.

Each function gets the operator's arguments, its tensors on the CPU. Half types come as float32 and
results are rounded to them, unless it was entered as exact. Formulas are those of torch_npu's
public documentation of each operator.
"""

from __future__ import annotations

from aclgrad_torch_npu.by_hand import (
    activations,
    arrays,
    attention,
    boxes,
    casts,
    experts,
    norms,
    optimizers,
    products,
    quantized,
    random_masks,
    rotations,
)
from aclgrad_torch_npu.by_hand.table import find, is_exact, result_format

__all__ = [
    "activations",
    "arrays",
    "attention",
    "boxes",
    "casts",
    "experts",
    "find",
    "is_exact",
    "norms",
    "optimizers",
    "products",
    "quantized",
    "random_masks",
    "result_format",
    "rotations",
]
