# SPDX-License-Identifier: Apache-2.0
"""Element-wise functions, and the derivatives of losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
from torch.nn import functional as F  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.table import by_hand, gradients


def _fast_gelu(x: torch.Tensor) -> torch.Tensor:
    return x * torch.exp(0.851 * (x - x.abs())) / (1 + torch.exp(-1.702 * x.abs()))


def _gelu(x: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
    return F.gelu(x, approximate=approximate)


def _swiglu(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    first, second = x.chunk(2, dim)
    return F.silu(first) * second


def _renorm(x: torch.Tensor, p: Any, dim: int, maxnorm: Any) -> torch.Tensor:
    return torch.renorm(x, p, dim, maxnorm)


def _enter(name: str, function: Callable[..., torch.Tensor], backward: str) -> None:
    """Enter a function of one tensor, and its derivative (grad, tensor, the rest)."""
    by_hand(name)(function)

    @by_hand(backward)
    def derivative(grad: torch.Tensor, x: torch.Tensor, *rest: Any, **named: Any) -> torch.Tensor:
        return gradients(lambda leaf: function(leaf, *rest, **named), [x], grad)[0]


_enter("npu::npu_fast_gelu", _fast_gelu, "npu::npu_fast_gelu_backward")
_enter("npu::npu_gelu", _gelu, "npu::npu_gelu_backward")
_enter("npu::npu_mish", F.mish, "npu::npu_mish_backward")
_enter("npu::npu_swiglu", _swiglu, "npu::npu_swiglu_backward")
_enter("aten::renorm", _renorm, "npu::npu_renorm_backward")
by_hand("npu::npu_silu")(F.silu)
by_hand("npu::fast_gelu")(_fast_gelu)


@by_hand("npu::npu_silu_")
def _silu_in_place(x: torch.Tensor) -> torch.Tensor:
    return x.copy_(F.silu(x))


@by_hand("npu::npu_silu_backward")
def _silu_backward(grad: torch.Tensor, x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return gradients(F.silu, [x], grad)[0]


@by_hand("npu::npu_gelu_mul")
def _gelu_mul(x: torch.Tensor, *, approximate: str = "none") -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return F.gelu(first, approximate=approximate) * second


@by_hand("npu::l1_loss_backward")
def _l1_loss_backward(
    grad: torch.Tensor, x: torch.Tensor, target: torch.Tensor, reduction: int
) -> torch.Tensor:
    name = ("none", "mean", "sum")[reduction]
    return gradients(lambda leaf: F.l1_loss(leaf, target, reduction=name), [x], grad)[0]


@by_hand("npu::npu_softmax_cross_entropy_with_logits")
def _softmax_cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return -(labels * torch.log_softmax(logits, -1)).sum(-1)


@by_hand("npu::npu_softmax_cross_entropy_with_logits_backward")
def _softmax_cross_entropy_backward(
    grad: torch.Tensor, logits: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    return gradients(lambda leaf: _softmax_cross_entropy(leaf, labels), [logits], grad)[0]


@by_hand("npu::npu_fused_cross_entropy_loss_with_max_sum", exact=True)
def _cross_entropy_with_max_sum(
    logits_max: torch.Tensor,
    sum_exp_logits: torch.Tensor,
    predicted_logits: torch.Tensor,
    *,
    vocab_parallel_logits: torch.Tensor | None = None,
    **_: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    loss = sum_exp_logits.log() - predicted_logits
    if vocab_parallel_logits is None:
        return loss, None
    shifted = vocab_parallel_logits.float() - logits_max[:, None]
    return loss, shifted.exp() / sum_exp_logits[:, None]


@by_hand("npu::npu_clipped_swiglu")
def _clipped_swiglu(
    x: torch.Tensor,
    *,
    group_index: torch.Tensor | None = None,
    dim: int = -1,
    alpha: float = 1.702,
    limit: float = 7.0,
    bias: float = 1.0,
    interleaved: bool = True,
) -> torch.Tensor:
    # The axes before dim are one, and so are dim and those behind it.
    axis = dim % x.dim()
    rows = x.reshape(*x.shape[:axis], -1).flatten(0, -2)
    used = len(rows) if group_index is None else int(group_index.sum())
    gate, line = (rows[:, ::2], rows[:, 1::2]) if interleaved else rows.chunk(2, -1)
    gate, line = gate.clamp(max=limit), line.clamp(-limit, limit)
    result = gate * torch.sigmoid(alpha * gate) * (line + bias)
    result[used:] = 0
    return result.reshape(*x.shape[:axis], x.shape[axis] // 2, *x.shape[axis + 1 :])


@by_hand("npu::npu_geglu")
def _geglu(
    x: torch.Tensor, dim: int = -1, approximate: int = 1, activate_left: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    line, gate = x.chunk(2, dim)
    if activate_left:
        line, gate = gate, line
    activated = F.gelu(gate, approximate="tanh" if approximate == 1 else "none")
    return line * activated, activated
