# SPDX-License-Identifier: Apache-2.0
"""What torch.vmap makes of the operators: one call of the same operator for all samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.steps import WrapDim
from aclgrad.torch.derivatives import common_shape, share_of
from aclgrad.torch.differentiable import Rule


def _in_front(
    info: Any, in_dims: Sequence[int | None], tensors: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """The tensors with the samples along dim 0; what is the same for all of them is expanded."""
    return [
        tensor.expand(info.batch_size, *tensor.shape) if at is None else tensor.movedim(at, 0)
        for tensor, at in zip(tensors, in_dims, strict=False)
    ]


def _along_dim(operator: str, count: int) -> Rule:
    def rule(info: Any, in_dims: Any, *values: Any) -> tuple[torch.Tensor, int]:
        tensors = _in_front(info, in_dims, values[:count])
        dim, device = values[count:]
        scalar = tensors[0].dim() == 1
        if scalar:
            tensors = [tensor.unsqueeze(1) for tensor in tensors]
        rank = tensors[0].dim() - 1
        if not -rank <= dim < rank:
            raise IndexError(f"{operator}: dim: got {dim}, want {-rank} to {rank - 1}")
        result = getattr(torch.ops.aclgrad, operator)(*tensors, dim % rank + 1, device)
        return (result.squeeze(1) if scalar else result), 0

    return rule


def _each_element(operator: str, count: int) -> Rule:
    def rule(info: Any, in_dims: Any, *values: Any) -> tuple[torch.Tensor, int]:
        tensors = _in_front(info, in_dims, values[:count])
        return getattr(torch.ops.aclgrad, operator)(*tensors, *values[count:]), 0

    return rule


def _scaled_masked_softmax_backward(
    info: Any, in_dims: Any, *values: Any
) -> tuple[torch.Tensor, int]:
    """Samples become part of dim 0: there are four dims, not more."""
    grad, y, mask = _in_front(info, in_dims, values[:3])
    mask = mask.expand(*grad.shape[:2], *mask.shape[2:])
    folded = [tensor.flatten(0, 1) for tensor in (grad, y, mask)]
    result = torch.ops.aclgrad.scaled_masked_softmax_backward(*folded, *values[3:])
    return result.unflatten(0, grad.shape[:2]), 0


def _aligned(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Tensors with the samples along dim 0 that broadcast as each sample does."""
    rank = max(tensor.dim() for tensor in tensors)
    return [
        tensor.reshape(tensor.shape[0], *[1] * (rank - tensor.dim()), *tensor.shape[1:])
        for tensor in tensors
    ]


def _kl_div_backward(info: Any, in_dims: Any, *values: Any) -> tuple[torch.Tensor, int]:
    """What the reduction divides by is that of one sample."""
    grad, like, target = _in_front(info, in_dims, values[:3])
    reduction, log_target, device = values[3:]
    share = share_of(reduction, common_shape(like.shape[1:], target.shape[1:]))
    if share != 1:
        # Not in half precision, which has no room for a small share of a gradient.
        grad = grad.to(torch.promote_types(grad.dtype, torch.float32)) / share
    operands = _aligned((grad, like, target))
    result = torch.ops.aclgrad.kl_div_backward(*operands, 0, log_target, device)
    return result.reshape(like.shape), 0


def of(spec: OpSpec) -> Rule:
    """The rule of an operator: of its own, or by its checks that all tensors have one shape."""
    read = [arg.name for arg in spec.input_args if not arg.unused]
    dims = [step.attr for step in spec.lowering if isinstance(step, WrapDim)]
    attrs = [attr.name for attr in spec.attr_args]
    if spec.function in _RULES:
        return _RULES[spec.function]
    if {*read} <= spec.same_shape_group(read[0]) and attrs == dims:
        made = _along_dim if dims else _each_element
        return made(spec.function, len(read))

    def none(*_: Any) -> tuple[torch.Tensor, int]:
        raise NotImplementedError(f"{spec.function}: has no rule for torch.vmap. Next: a loop")

    return none


_RULES: dict[str, Rule] = {
    "kl_div_backward": _kl_div_backward,
    "scaled_masked_softmax_backward": _scaled_masked_softmax_backward,
}
"""The rules of operators whose tensors have several shapes, or attributes beside a dim."""
