# SPDX-License-Identifier: Apache-2.0
"""Derivatives of the backward operators: what double backward computes.

Each takes the gradient ``v`` of the operator's result, then the operator's tensors and attributes,
and returns the gradients of its tensors. They are made of torch's functions, so they have
derivatives of any order themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

Gradients = tuple[torch.Tensor | None, ...]

# oneMKL before 2025.0 chooses the kernel of exp in its first call, and may choose one of half the
# precision where several threads are in that call together (pytorch/pytorch#188792). The backend's
# aclgrad_torch_npu.first_calls, which needs no aclgrad, does the same for all such functions.
for _dtype in (torch.float32, torch.float64):
    torch.ones(1, dtype=_dtype, device="cpu").exp()


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """What shapes broadcast to."""
    broadcast: Any = torch.broadcast_shapes  # which torch does not type
    return tuple(broadcast(*shapes))


def share_of(reduction: int, shape: tuple[int, ...]) -> int:
    """By what the operator divides for a reduction, for the common shape of its tensors."""
    return max({1: math.prod(shape), 3: shape[0] if shape else 1}.get(reduction, 1), 1)


def softmax(v: torch.Tensor, grad: torch.Tensor, y: torch.Tensor, dim: int) -> Gradients:
    """The derivatives of g*y - y*sum(g*y)."""
    inner = (v * y).sum(dim, keepdim=True)
    return y * (v - inner), v * (grad - (grad * y).sum(dim, keepdim=True)) - grad * inner


def log_softmax(v: torch.Tensor, grad: torch.Tensor, y: torch.Tensor, dim: int) -> Gradients:
    """The derivatives of g - exp(y)*sum(g)."""
    weight = y.exp()
    inner = (v * weight).sum(dim, keepdim=True)
    return v - inner, -v * weight * grad.sum(dim, keepdim=True)


def log_sigmoid(v: torch.Tensor, grad: torch.Tensor, x: torch.Tensor) -> Gradients:
    """The derivatives of g * sigmoid(-x)."""
    slope = torch.sigmoid(-x)
    return v * slope, -v * grad * slope * torch.sigmoid(x)


def kl_div(
    v: torch.Tensor,
    grad: torch.Tensor,
    like: torch.Tensor,
    target: torch.Tensor,
    reduction: int,
    log_target: bool,
) -> Gradients:
    """The derivatives of -g * t * c or -g * exp(t) * c, added up to the shape of ``like``, whose
    values do not count.
    """
    common = common_shape(like.shape, target.shape)
    v = -v.expand(common) / share_of(reduction, common)
    weight = target.exp() if log_target else target
    of_target = v * grad * weight if log_target else v * grad
    return (v * weight).sum_to_size(grad.shape), None, of_target.sum_to_size(target.shape)


def scaled_masked_softmax(
    v: torch.Tensor,
    grad: torch.Tensor,
    y: torch.Tensor,
    mask: torch.Tensor,
    scale: float,
    fix_triu_mask: bool,
) -> Gradients:
    """The derivatives of (g*y - y*sum(g*y)) * scale where the mask is false, else of 0."""
    v = v.masked_fill(mask, 0) * torch.tensor(scale, dtype=torch.float32)
    return *softmax(v, grad, y, -1), None


OF: dict[str, Callable[..., Gradients]] = {
    "softmax_backward": softmax,
    "log_softmax_backward": log_softmax,
    "log_sigmoid_backward": log_sigmoid,
    "kl_div_backward": kl_div,
    "scaled_masked_softmax_backward": scaled_masked_softmax,
}
"""By the operator's name. One without a formula is differentiated once, and says so."""
