# SPDX-License-Identifier: Apache-2.0
"""What the functions and operators refuse, and in which words. torch.compile traces through it."""

from __future__ import annotations

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad.errors import ToolkitError

GOLDEN = "golden"
"""The device word for the formula in float64, which needs no kernel."""

_FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def device_word(function: str, device: object) -> None:
    """Refuse what is no device."""
    if device not in ("sim", "npu", GOLDEN):
        raise ToolkitError(
            f"{function}: device: got {device!r}, want sim, npu or golden: the simulator, an NPU"
            " with CANN, or the formula in float64. Next: device='sim'"
        )


def dense(where: str, tensor: torch.Tensor) -> None:
    """Refuse what is no dense tensor on the CPU; a tensor without data is one of any device."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{where}: got {type(tensor).__name__}, want a torch.Tensor")
    if tensor.device.type == "npu":
        raise ValueError(
            f"{where}: got a tensor on {tensor.device}, want one on the CPU; the functions of torch"
            " and torch_npu are for tensors of an NPU, or convert it with Tensor.cpu()"
        )
    if tensor.device.type not in ("cpu", "meta") or tensor.layout != torch.strided:
        raise ValueError(
            f"{where}: got a {tensor.layout} tensor on {tensor.device}, want a dense tensor on the"
            " CPU; convert it with Tensor.cpu() or Tensor.to_dense()"
        )


def floats(where: str, tensor: torch.Tensor, device: str) -> None:
    """Refuse what is no tensor of a dtype that the kernels, or the golden, compute."""
    dense(where, tensor)
    if tensor.dtype == torch.float64:
        if device != GOLDEN:
            raise TypeError(
                f"{where}: got torch.float64, want torch.float32, float16 or bfloat16; convert it"
                " with Tensor.to, or compute the formula in float64: device='golden'"
            )
    elif tensor.dtype not in _FLOATS:
        raise TypeError(
            f"{where}: got {tensor.dtype}, want torch.float32, float16 or bfloat16; convert it with"
            " Tensor.to"
        )


def booleans(where: str, tensor: torch.Tensor) -> None:
    """Refuse what is no tensor of booleans."""
    dense(where, tensor)
    if tensor.dtype != torch.bool:
        raise TypeError(
            f"{where}: got {tensor.dtype}, want torch.bool; convert it with Tensor.bool()"
        )
