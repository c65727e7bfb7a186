# SPDX-License-Identifier: Apache-2.0
"""Tensors of torch as NumPy arrays on the same memory, and back."""

from __future__ import annotations

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad.spec import dtypes
from aclgrad.spec.dtypes import Array


def array_of(tensor: torch.Tensor) -> Array:
    """Return a NumPy view of a tensor's memory."""
    plain = tensor.detach().resolve_neg()
    if plain.dtype == torch.bfloat16:
        # NumPy knows bfloat16 only through ml_dtypes, torch hands it out only as bits.
        bits: Array = plain.view(torch.int16).numpy()
        return bits.view(dtypes.BF16.numpy)
    array: Array = plain.numpy()
    return array


def tensor_of(array: Array) -> torch.Tensor:
    """Return a tensor on an array's memory."""
    if array.dtype == dtypes.BF16.numpy:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
