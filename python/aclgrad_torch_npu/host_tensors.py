# SPDX-License-Identifier: Apache-2.0
"""Tensors of an NPU as tensors of the CPU on the same memory, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu import simulator

_CPU = torch.device("cpu")


def npu() -> Any:
    """Return torch.npu, which torch has once torch_npu is loaded."""
    return torch.npu  # type: ignore[attr-defined,unused-ignore]


def on_npu(value: object) -> bool:
    """Whether a value is a tensor on an NPU."""
    return isinstance(value, torch.Tensor) and value.device.type == "npu"


def host_alias(tensor: torch.Tensor, written: bool = False) -> torch.Tensor:
    """Return a CPU tensor on the memory of an NPU tensor, of the same shape and strides.

    The streams that use the memory have to be idle. Without memory the result is a new, empty
    tensor.
    """
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    if size == 0 or tensor.data_ptr() == 0:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=_CPU)
    view = simulator.host_view(storage.data_ptr(), size, False)
    if written and tensor.numel():
        simulator.host_view(tensor.data_ptr(), _extent(tensor), True)
    memory = torch._C._construct_storage_from_data_pointer(view, _CPU, size)
    alias = torch.empty(0, dtype=tensor.dtype, device=_CPU)
    alias.set_(memory, tensor.storage_offset(), tensor.size(), tensor.stride())
    return alias


def _extent(tensor: torch.Tensor) -> int:
    """Bytes from the first to the last element."""
    steps = sum((n - 1) * s for n, s in zip(tensor.size(), tensor.stride(), strict=True))
    return int((steps + 1) * tensor.element_size())


def to_npu(result: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a copy of a CPU tensor on an NPU, with its strides where they have no gaps."""
    made = torch.empty_like(result, device=device)
    if result.numel():
        host_alias(made, written=True).copy_(result)
    return made


def map_values(value: Any, change: Callable[[Any], Any]) -> Any:
    """Apply ``change`` to a value, or to those of a list, tuple or dictionary."""
    if isinstance(value, list):
        return [map_values(each, change) for each in value]
    if isinstance(value, tuple):
        return tuple(map_values(each, change) for each in value)
    if isinstance(value, dict):
        return {key: map_values(each, change) for key, each in value.items()}
    return change(value)
