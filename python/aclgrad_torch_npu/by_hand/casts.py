# SPDX-License-Identifier: Apache-2.0
"""Dtypes, and softmax from half types to float32."""

from __future__ import annotations

from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.table import by_hand

MASKED = -10000.0
"""What a masked value counts as in npu_scaled_masked_softmax."""


@by_hand(
    "npu::npu_dtype_cast",
    "npu::_npu_dtype_cast",
    "npu::npu_dtype_cast_backward",
    "npu::_npu_dtype_cast_backward",
    exact=True,
)
def _dtype_cast(values: torch.Tensor, dtype: torch.dtype, *_: Any, **__: Any) -> torch.Tensor:
    return values.to(dtype, copy=True)


@by_hand("npu::npu_dtype_cast_", exact=True)
def _dtype_cast_in_place(values: torch.Tensor, src: torch.Tensor) -> torch.Tensor:
    return values.copy_(src)


@by_hand("aten::_softmax", exact=True)
def _softmax(values: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    result = torch._softmax(_floating(values), dim, False)
    return result if half_to_float else result.to(_dtype(values))


@by_hand("aten::_log_softmax", exact=True)
def _log_softmax(values: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    result = torch._log_softmax(_floating(values), dim, False)
    return result if half_to_float else result.to(_dtype(values))


def _floating(values: torch.Tensor) -> torch.Tensor:
    return values if values.dtype == torch.float64 else values.float()


def _dtype(values: torch.Tensor) -> torch.dtype:
    return values.dtype if values.is_floating_point() else torch.float32


@by_hand("npu::npu_scaled_masked_softmax")
def _scaled_masked_softmax(
    x: torch.Tensor, mask: torch.Tensor, scale: Any = 1, fixed_triu_mask: bool = False
) -> torch.Tensor:
    masked = torch.ones(x.shape[-2:], dtype=torch.bool).triu(1) if fixed_triu_mask else mask
    return torch.softmax((x * scale).masked_fill(masked, MASKED), -1)
