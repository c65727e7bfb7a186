# SPDX-License-Identifier: Apache-2.0
"""Functions of torch whose derivative is one of our operators: a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
import torch.nn.functional as F  # type: ignore[import-not-found,unused-ignore]

from aclgrad.torch.derivatives import common_shape, share_of
from aclgrad.torch.differentiable import Parts, parameters, register
from aclgrad.torch.operators import OPERATORS

MASKED = -10000.0
"""What a masked place counts as before the softmax, as in CANN's forward operator."""

REDUCTIONS = ("none", "mean", "sum", "batchmean")
"""In the order of the operator's numbers."""


def _kl_div(
    input: torch.Tensor, target: torch.Tensor, reduction: int, log_target: bool
) -> torch.Tensor:
    # torch's formula, but with rules for torch.vmap, and without the advice about the mean.
    if log_target:
        each = target.exp() * (target - input)
    else:
        each = torch.xlogy(target, target) - target * input
    word = REDUCTIONS[reduction]
    if word == "none":
        return each
    if word == "mean":
        return each.mean()
    return each.sum() / input.shape[0] if word == "batchmean" and input.dim() else each.sum()


def _scaled_masked_softmax(input: torch.Tensor, mask: torch.Tensor, scale: float) -> torch.Tensor:
    wide = input.to(torch.promote_types(input.dtype, torch.float32))
    wide = wide * torch.tensor(scale, dtype=torch.float32)
    return torch.softmax(wide.masked_fill(mask, MASKED), -1).to(input.dtype)


def _as_the_operator_divides(
    grad: torch.Tensor,
    like: torch.Tensor,
    target: torch.Tensor,
    reduction: int,
    log_target: bool,
    device: str,
) -> tuple[Any, ...]:
    """Arguments for batchmean: the operator divides by dim 0 of the common shape, torch by that of
    the input.
    """
    if REDUCTIONS[reduction] == "batchmean":
        own = share_of(reduction, like.shape)
        if own != share_of(reduction, common_shape(like.shape, target.shape)):
            reduction = REDUCTIONS.index("sum")
            grad = grad.to(torch.promote_types(grad.dtype, torch.float32)) / own
    return grad, like, target, reduction, log_target, device


def _with_a_plain_mask(*values: Any) -> tuple[Any, ...]:
    """Arguments with fix_triu_mask in front of the device."""
    *others, device = values
    return *others, False, device


def _as_they_are(*values: Any) -> tuple[Any, ...]:
    return values


@dataclass(frozen=True)
class Row:
    """A function, and its gradient by an operator.

    The operator is given the gradient of the result, what the function keeps in place of its first
    tensor (itself, its shape, or its result), the other arguments and the device, as ``arguments``
    changes them.
    """

    name: str
    tensors: tuple[str, ...]
    attrs: dict[str, type]
    forward: Callable[..., torch.Tensor]
    operator: str
    keeps: str = "result"
    arguments: Callable[..., tuple[Any, ...]] = _as_they_are


_ROWS = (
    Row("softmax", ("input",), {"dim": int}, torch.softmax, "softmax_backward"),
    Row("log_softmax", ("input",), {"dim": int}, torch.log_softmax, "log_softmax_backward"),
    Row("logsigmoid", ("input",), {}, F.logsigmoid, "log_sigmoid_backward", "tensor"),
    Row(
        "kl_div",
        ("input", "target"),
        {"reduction": int, "log_target": bool},
        _kl_div,
        "kl_div_backward",
        "shape",
        _as_the_operator_divides,
    ),
    Row(
        "scaled_masked_softmax",
        ("input", "mask"),
        {"scale": float},
        _scaled_masked_softmax,
        "scaled_masked_softmax_backward",
        arguments=_with_a_plain_mask,
    ),
)


def _register(row: Row) -> Callable[..., torch.Tensor]:
    # torch.compile traces these functions, and knows numbers, texts and functions.
    count, keeps = len(row.tensors), row.keeps
    compute, arguments, operator = row.forward, row.arguments, OPERATORS[row.operator]

    def forward(*values: Any) -> torch.Tensor:
        return compute(*values[:-1])

    def keep(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        first, *others = inputs[:count]
        if keeps == "shape":
            ctx.save_for_backward(*others)
        else:
            ctx.save_for_backward(output if keeps == "result" else first, *others)
        ctx.like = first.shape, first.dtype
        ctx.attrs = inputs[count:]

    def differentiate(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        kept = ctx.saved_tensors
        if keeps == "shape":
            # One element stands for all: none of them counts, and no memory is held.
            shape, dtype = ctx.like
            kept = grad.new_zeros((), dtype=dtype).expand(shape), *kept
        result = operator(*arguments(grad, *kept, *ctx.attrs))
        return result, *(None for _ in range(count - 1 + len(ctx.attrs)))

    signature = parameters([*row.tensors], row.attrs)
    brief = f"torch's {row.name}, whose derivative is aclgrad::{row.operator}."
    return register(Parts(row.name, signature, brief, forward, forward, keep, differentiate))


FUNCTIONS = {row.name: _register(row) for row in _ROWS}
"""By name."""
