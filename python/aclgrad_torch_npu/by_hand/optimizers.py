# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers, on the tensors of ``out``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.table import by_hand

_Tensors = Sequence[torch.Tensor]


def _moments(out: _Tensors, grad: torch.Tensor, beta1: Any, beta2: Any) -> None:
    out[1].lerp_(grad, 1 - beta1)
    out[2].lerp_(grad.square(), 1 - beta2)


@by_hand("npu::npu_apply_adam.out")
def _adam(
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: torch.Tensor,
    use_locking: bool | None,
    use_nesterov: bool | None,
    *,
    out: _Tensors,
) -> _Tensors:
    _moments(out, grad, beta1, beta2)
    # As a tensor it may be infinite.
    rate = torch.tensor(lr * (1 - beta2_power) ** 0.5) / (1 - beta1_power)
    step = out[1] * beta1 + grad * (1 - beta1) if use_nesterov else out[1]
    out[0].sub_(rate * step / (out[2].sqrt() + epsilon))
    return tuple(out)


@by_hand("npu::npu_apply_adam_w.out")
def _adam_w(
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    weight_decay: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: torch.Tensor,
    max_grad_norm: torch.Tensor | None,
    amsgrad: bool | None,
    maximize: bool | None,
    *,
    out: _Tensors,
) -> _Tensors:
    if amsgrad:
        raise NotImplementedError("npu_apply_adam_w: amsgrad is not here")
    _moments(out, -grad if maximize else grad, beta1, beta2)
    denominator = (out[2] / (1 - beta2_power * beta2)).sqrt() + epsilon
    out[0].mul_(1 - lr * weight_decay)
    out[0].sub_(lr / (1 - beta1_power * beta1) * out[1] / denominator)
    return tuple(out)


@by_hand("npu::npu_bert_apply_adam.out")
def _bert_adam(
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: torch.Tensor,
    max_grad_norm: Any,
    global_grad_norm: Any,
    weight_decay: Any,
    step_size: Any = None,
    adam_mode: int = 0,
    *,
    out: _Tensors,
) -> _Tensors:
    if adam_mode != 0 or step_size is not None:
        raise NotImplementedError("npu_bert_apply_adam: adam_mode and step_size are not here")
    if max_grad_norm > 0 and global_grad_norm > max_grad_norm:
        grad = grad * (max_grad_norm / global_grad_norm)
    _moments(out, grad, beta1, beta2)
    out[0].sub_(lr * (out[1] / (out[2].sqrt() + epsilon) + weight_decay * out[0]))
    return tuple(out)
