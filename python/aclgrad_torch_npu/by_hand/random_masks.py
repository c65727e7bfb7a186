# SPDX-License-Identifier: Apache-2.0
"""Random numbers: dropout, with the mask of each operator, and integers."""

from __future__ import annotations

from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.table import by_hand


@by_hand("aten::uniform_")
def _uniform(
    values: torch.Tensor,
    lowest: float = 0.0,
    end: float = 1.0,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    if values.is_floating_point():
        return values.uniform_(lowest, end, generator=generator)
    # A device rounds towards zero; PyTorch's CPU has real numbers only.
    return values.copy_(torch.empty(values.shape).uniform_(lowest, end, generator=generator))


def _keep(values: torch.Tensor, p: float) -> torch.Tensor:
    return torch.empty(values.shape).bernoulli_(1 - p).to(torch.uint8)


def _scaled(values: torch.Tensor, keep: torch.Tensor, p: float) -> torch.Tensor:
    return values * keep * (1 / (1 - p) if p < 1 else 0.0)


@by_hand("npu::_npu_dropout", "npu::_dropout_with_byte_mask")
def _dropout(values: torch.Tensor, p: float) -> tuple[torch.Tensor, torch.Tensor]:
    keep = _keep(values, p)
    return _scaled(values, keep, p), keep


@by_hand("npu::npu_dropout_backward", "npu::_dropout_with_byte_mask_backward")
def _dropout_backward(grad_output: torch.Tensor, mask: torch.Tensor, p: float) -> torch.Tensor:
    return _scaled(grad_output, mask, p)


@by_hand("aten::_masked_scale")
def _masked_scale(values: torch.Tensor, mask: torch.Tensor, scale: float) -> torch.Tensor:
    return values * mask * scale


@by_hand("npu::npu_dropout_with_add_softmax")
def _dropout_with_add_softmax(
    values: torch.Tensor, x1: torch.Tensor, alpha: Any, prob: float, dim: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    keep = _keep(x1, prob)
    softmax = torch.softmax(values * alpha + x1, dim)
    return keep, softmax, _scaled(softmax, keep, prob)


@by_hand("npu::npu_dropout_with_add_softmax_backward")
def _dropout_with_add_softmax_backward(
    grad: torch.Tensor, mask: torch.Tensor, softmax: torch.Tensor, alpha: Any, prob: float, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    dropped = _scaled(grad, mask, prob)
    inner = softmax * (dropped - (dropped * softmax).sum(dim, keepdim=True))
    return inner * alpha, inner
