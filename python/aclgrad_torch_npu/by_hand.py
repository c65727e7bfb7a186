# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's CPU has not, from what it has: operators of torch_npu's own namespace, those that
PyTorch's functions and modules turn into on an NPU, and arguments that only devices know.

Each function gets the operator's arguments, its tensors on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

_TABLE: dict[str, Callable[..., Any]] = {}

MASKED = -10000.0
"""What a masked value counts as in npu_scaled_masked_softmax."""


def find(name: str) -> Callable[..., Any] | None:
    """Return the function for an operator's full name."""
    return _TABLE.get(name.removesuffix(".default"))


def _by_hand(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        _TABLE.update(dict.fromkeys(names, function))
        return function

    return enter


@_by_hand(
    "npu::npu_format_cast",
    "npu::npu_format_cast.Tensor",
    "npu::_npu_format_cast",
    "npu::_npu_format_cast.aclnn",
)
def _format_cast(values: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    # Only the base formats are there, and they are one layout.
    return values.clone()


@_by_hand("npu::npu_format_cast_", "npu::npu_format_cast_.acl_format")
def _format_cast_in_place(values: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    return values


@_by_hand("npu::npu_dtype_cast", "npu::_npu_dtype_cast")
def _dtype_cast(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return values.to(dtype, copy=True)


@_by_hand("aten::_softmax")
def _softmax(values: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    return torch._softmax(values.float() if half_to_float else values, dim, False)


@_by_hand("aten::_log_softmax")
def _log_softmax(values: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    return torch._log_softmax(values.float() if half_to_float else values, dim, False)


@_by_hand("npu::_npu_dropout")
def _dropout(values: torch.Tensor, p: float) -> tuple[torch.Tensor, torch.Tensor]:
    keep = torch.empty(values.shape).bernoulli_(1 - p).to(torch.uint8)
    return _scaled(values, keep, p), keep


@_by_hand("npu::npu_dropout_backward")
def _dropout_backward(grad_output: torch.Tensor, mask: torch.Tensor, p: float) -> torch.Tensor:
    return _scaled(grad_output, mask, p)


def _scaled(values: torch.Tensor, keep: torch.Tensor, p: float) -> torch.Tensor:
    return values * keep * (1 / (1 - p) if p < 1 else 0.0)


@_by_hand("npu::npu_scaled_masked_softmax")
def _scaled_masked_softmax(
    x: torch.Tensor, mask: torch.Tensor, scale: Any = 1, fixed_triu_mask: bool = False
) -> torch.Tensor:
    masked = torch.ones(x.shape[-2:], dtype=torch.bool).triu(1) if fixed_triu_mask else mask
    wide = (x.float() * scale).masked_fill(masked, MASKED)
    return torch.softmax(wide, -1).to(x.dtype)
