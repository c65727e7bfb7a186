# SPDX-License-Identifier: Apache-2.0
"""Tensors of an NPU as tensors of the CPU on the same memory, and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
import torch_npu  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu import simulator

_CPU = torch.device("cpu")

_BASE = frozenset((0, 1, 2, 27, 30))
"""Formats in which sizes and strides say where elements are: NCHW, NHWC, ND, NDHWC, NCDHW."""

Plains = dict[int, tuple[torch.Tensor, torch.Tensor, bool]]
"""By the address of a storage in a private format: a tensor on it, the storage in its base format,
and whether that is changed.
"""


def npu() -> Any:
    """Return torch.npu, which torch has once torch_npu is loaded."""
    return torch.npu  # type: ignore[attr-defined,unused-ignore]


def on_npu(value: object) -> bool:
    """Whether a value is a tensor on an NPU."""
    return isinstance(value, torch.Tensor) and value.device.type == "npu"


@cache
def _format_of() -> Callable[[torch.Tensor], int]:
    """The operator itself, which takes half of the time of torch_npu.get_npu_format."""
    kernel: Callable[[torch.Tensor], int] = torch._C._get_operation_overload(
        "npu::get_npu_format", ""
    )[0]
    return kernel


class Formats:
    """Whether there may be tensors in private formats. To ask each tensor takes a training step 4%
    of its processor time, and most programs have none.
    """

    private = False

    @classmethod
    def look(cls) -> None:
        """Notice that a program may have private formats: it allows them, or has described one."""
        if not cls.private:
            allowed = torch_npu._C._npu_getOption("ALLOW_INTERNAL_FORMAT") != b"disable"
            cls.private = allowed or simulator.private_formats()

    @classmethod
    def watch(cls) -> None:
        """Notice tensors that are made in a format where private ones are not allowed."""
        for name in ("empty_with_format", "unsafe_empty_with_format"):
            setattr(torch_npu, name, cls._noticed(getattr(torch_npu, name)))

    @classmethod
    def _noticed(cls, make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        @wraps(make)
        def made(*args: Any, **kwargs: Any) -> torch.Tensor:
            cls.private = True
            return make(*args, **kwargs)

        return made


def is_private(tensor: torch.Tensor) -> bool:
    """Whether a tensor on an NPU lies in a private format, FRACTAL_NZ or another."""
    return _format_of()(tensor) not in _BASE


def host_alias(
    tensor: torch.Tensor, written: bool = False, plains: Plains | None = None
) -> torch.Tensor:
    """Return a CPU tensor on the memory of an NPU tensor, of the same shape and strides.

    The streams that use the memory have to be idle, and `Formats.look` was called after that.
    Without memory the result is a new, empty tensor. That of a tensor in a private format lies on
    a copy in the base format, which is put into ``plains`` for `give_back`.
    """
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    if size == 0 or tensor.data_ptr() == 0:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=_CPU)
    if Formats.private and is_private(tensor):
        return host_alias(_plain(tensor, written, {} if plains is None else plains), written)
    view = simulator.host_view(storage.data_ptr(), size, False)
    if written and tensor.numel():
        simulator.host_view(tensor.data_ptr(), _extent(tensor), True)
    memory = torch._C._construct_storage_from_data_pointer(view, _CPU, size)
    alias = torch.empty(0, dtype=tensor.dtype, device=_CPU)
    alias.set_(memory, tensor.storage_offset(), tensor.size(), tensor.stride())
    return alias


def host_storage(tensor: torch.Tensor) -> torch.Tensor:
    """Return all that lies in the memory of a new NPU tensor, in whatever format, to be written."""
    storage = tensor.untyped_storage()
    view = simulator.host_view(storage.data_ptr(), storage.nbytes(), True)
    memory = torch._C._construct_storage_from_data_pointer(view, _CPU, storage.nbytes())
    return torch.empty(0, dtype=tensor.dtype, device=_CPU).set_(memory)


def _extent(tensor: torch.Tensor) -> int:
    """Bytes from the first to the last element."""
    steps = sum((n - 1) * s for n, s in zip(tensor.size(), tensor.stride(), strict=True))
    return int((steps + 1) * tensor.element_size())


def _plain(tensor: torch.Tensor, written: bool, plains: Plains) -> torch.Tensor:
    """Return the same view of the storage in its base format. Views of one storage share one copy,
    as they share memory.
    """
    storage = tensor.untyped_storage().data_ptr()
    known = plains.get(storage)
    if known is None:
        plain = torch.ops.npu.npu_format_cast(tensor, 2)
        npu().current_stream(tensor.device).synchronize()
        known = tensor, plain, False
    plains[storage] = *known[:2], known[2] or written
    return known[1].as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())


def give_back(plains: Plains) -> None:
    """Let changed copies of `host_alias` become what the tensors have in their own formats."""
    for tensor, plain, changed in plains.values():
        if not changed:
            continue
        try:
            torch.ops.npu.npu_format_cast_(tensor, plain)
        except RuntimeError as error:
            raise NotImplementedError(
                "torch_npu cannot write into a tensor in a private format on this NPU, neither by"
                " copy_. Next: torch_npu.npu_format_cast(tensor, 2) before"
            ) from error


def write(tensor: torch.Tensor, value: torch.Tensor) -> None:
    """Copy a CPU tensor into an NPU tensor of its shape."""
    plains: Plains = {}
    host_alias(tensor, True, plains).copy_(value)
    give_back(plains)


def to_npu(result: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a copy of a CPU tensor on an NPU, with its strides where they have no gaps."""
    made = torch.empty_like(result, device=device)
    if result.numel():
        write(made, result)
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
