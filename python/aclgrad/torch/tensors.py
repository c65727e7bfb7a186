# SPDX-License-Identifier: Apache-2.0
"""Tensors of torch as NumPy arrays on the same memory, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]
from numpy.typing import NDArray

from aclgrad.spec import dtypes


def array_of(tensor: torch.Tensor) -> NDArray[Any]:
    """Return a NumPy view of a tensor's memory."""
    plain = tensor.detach().resolve_neg()
    if plain.dtype == torch.bfloat16:
        # NumPy knows bfloat16 only through ml_dtypes, torch hands it out only as bits.
        bits: NDArray[Any] = plain.view(torch.int16).numpy()
        return bits.view(dtypes.BF16.numpy)
    array: NDArray[Any] = plain.numpy()
    return array


def tensor_of(array: NDArray[Any]) -> torch.Tensor:
    """Return a tensor on an array's memory."""
    if array.dtype == dtypes.BF16.numpy:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
