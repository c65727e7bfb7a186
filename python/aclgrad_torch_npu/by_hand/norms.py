# SPDX-License-Identifier: Apache-2.0
"""Normalisations and their statistics, which are float32 whatever is normalised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.quantized import dtype_of, per_row, rounded
from aclgrad_torch_npu.by_hand.table import by_hand


def _normalized(
    x: torch.Tensor, gamma: torch.Tensor, epsilon: float
) -> tuple[torch.Tensor, torch.Tensor]:
    wide = x.float()
    axes = tuple(range(x.dim() - gamma.dim(), x.dim()))
    rstd = torch.rsqrt(wide.square().mean(axes, keepdim=True) + epsilon)
    return (wide * rstd * gamma.float()).to(x.dtype), rstd


@by_hand("npu::npu_rms_norm", exact=True)
def _rms_norm(
    x: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor]:
    return _normalized(x, gamma, epsilon)


@by_hand("npu::npu_rms_norm_backward", exact=True)
def _rms_norm_backward(
    dy: torch.Tensor, x: torch.Tensor, gamma: torch.Tensor, rstd: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    wide, grad, scale = x.float(), dy.float(), gamma.float()
    axes = tuple(range(x.dim() - gamma.dim(), x.dim()))
    rows = tuple(range(x.dim() - gamma.dim()))
    unit, scaled = wide * rstd, grad * scale
    dx = rstd * (scaled - unit * (scaled * unit).mean(axes, keepdim=True))
    dgamma = (grad * unit).sum(rows) if rows else grad * unit
    return dx.to(x.dtype), dgamma


@by_hand("npu::npu_add_rms_norm", exact=True)
def _add_rms_norm(
    x1: torch.Tensor, x2: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    total = x1 + x2
    return (*_normalized(total, gamma, epsilon), total)


@by_hand("aten::native_layer_norm", exact=True)
def _layer_norm(
    x: torch.Tensor,
    shape: Sequence[int],
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    # An NPU takes parameters of the shape's size, and keeps statistics of half types in float32.
    wide = x if x.dtype == torch.float64 else x.float()
    scale, shift = (
        None if each is None else each.to(wide.dtype).reshape(shape) for each in (weight, bias)
    )
    result, mean, rstd = torch.native_layer_norm(wide, shape, scale, shift, eps)
    return result.to(x.dtype), mean, rstd


@by_hand("aten::native_layer_norm_backward", exact=True)
def _layer_norm_backward(
    grad: torch.Tensor,
    x: torch.Tensor,
    shape: Sequence[int],
    mean: torch.Tensor,
    rstd: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    output_mask: Sequence[bool],
) -> tuple[torch.Tensor | None, ...]:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    given = [None if each is None else each.to(wide).reshape(shape) for each in (weight, bias)]
    results = torch.ops.aten.native_layer_norm_backward(
        grad.to(wide), x.to(wide), shape, mean.to(wide), rstd.to(wide), *given, output_mask
    )
    likes = (x, weight, bias)
    return tuple(
        None if each is None or like is None else each.to(like.dtype).reshape(like.shape)
        for each, like in zip(results, likes, strict=True)
    )


@by_hand("npu::batch_norm_reduce", exact=True)
def _batch_norm_reduce(x: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    if x.dim() < 2:
        raise RuntimeError(f"batch_norm_reduce: got {x.dim()} dim input tensor, must more than 1")
    axes = [axis for axis in range(x.dim()) if axis != 1]
    return x.float().sum(axes), x.float().square().sum(axes)


@by_hand("npu::batch_norm_gather_stats_update", exact=True)
def _batch_norm_gather_stats_update(
    x: torch.Tensor,
    sums: torch.Tensor,
    squares: torch.Tensor,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    momentum: float,
    eps: float,
    counts: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    count = counts.float().sum()
    mean = sums.float().sum(0) / count
    var = squares.float().sum(0) / count - mean.square()
    # They change, of which the schema says nothing.
    for running, new in ((running_mean, mean), (running_var, var)):
        if running is not None:
            running.copy_((1 - momentum) * running.float() + momentum * new)
    return mean.to(sums.dtype), torch.rsqrt(var + eps).to(sums.dtype)


@by_hand("npu::npu_group_norm_silu")
def _group_norm_silu(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    group: int,
    eps: float = 1e-5,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows = x.reshape(x.shape[0], group, -1)
    mean, var = rows.mean(-1), rows.var(-1, unbiased=False)
    result = torch.nn.functional.group_norm(x, group, weight, bias, eps)
    return torch.nn.functional.silu(result), mean, torch.rsqrt(var + eps)


@by_hand("npu::npu_deep_norm", exact=True)
def _deep_norm(
    x: torch.Tensor,
    gx: torch.Tensor,
    beta: torch.Tensor,
    gamma: torch.Tensor,
    alpha: float = 0.3,
    epsilon: float = 1e-6,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    total = x.float() * alpha + gx.float()
    axes = tuple(range(x.dim() - gamma.dim(), x.dim()))
    mean = total.mean(axes, keepdim=True)
    rstd = torch.rsqrt((total - mean).square().mean(axes, keepdim=True) + epsilon)
    result = (total - mean) * rstd * gamma.float() + beta.float()
    return mean, rstd, result.to(x.dtype)


@by_hand("npu::npu_gemma_rms_norm", exact=True)
def _gemma_rms_norm(
    x: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor]:
    return _normalized(x, gamma.float() + 1, epsilon)


@by_hand("npu::npu_add_rms_norm_cast", exact=True)
def _add_rms_norm_cast(
    x1: torch.Tensor, x2: torch.Tensor, gamma: torch.Tensor, epsilon: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    total = x1.float() + x2.float()
    wide, rstd = _normalized(total, gamma, epsilon)
    return wide, wide.to(x1.dtype), rstd, total.to(x1.dtype)


def _stepped(
    y: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor | None, dtype: Any, divide: bool
) -> torch.Tensor:
    result = y / scale.float() if divide else y * scale.float()
    return rounded(result if zero is None else result + zero.float(), dtype_of(dtype, torch.int8))


@by_hand("npu::npu_rms_norm_quant", exact=True)
def _rms_norm_quant(
    x: torch.Tensor,
    gamma: torch.Tensor,
    beta: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    epsilon: float = 1e-6,
    *,
    dst_dtype: Any = None,
) -> torch.Tensor:
    y = _normalized(x.float(), gamma, epsilon)[0] + beta.float()
    return _stepped(y, scale, offset, dst_dtype, divide=False)


@by_hand("npu::npu_add_rms_norm_quant", exact=True)
def _add_rms_norm_quant(
    x1: torch.Tensor,
    x2: torch.Tensor,
    gamma: torch.Tensor,
    scales1: torch.Tensor,
    zero_points1: torch.Tensor | None,
    beta: torch.Tensor | None = None,
    scales2: torch.Tensor | None = None,
    zero_points2: torch.Tensor | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-6,
    div_mode: bool = True,
    dst_type: Any = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    total = x1.float() + x2.float()
    y = _normalized(total, gamma, epsilon)[0]
    if beta is not None:
        y = y + beta.float()
    second = torch.zeros(y.shape, dtype=dtype_of(dst_type, torch.int8))
    if scales2 is not None:
        second = _stepped(y, scales2, zero_points2, dst_type, div_mode)
    return _stepped(y, scales1, zero_points1, dst_type, div_mode), second, total.to(x1.dtype)


@by_hand("npu::npu_add_rms_norm_dynamic_quant", exact=True)
def _add_rms_norm_dynamic_quant(
    x1: torch.Tensor,
    x2: torch.Tensor,
    gamma: torch.Tensor,
    *,
    smooth_scale1: torch.Tensor | None = None,
    smooth_scale2: torch.Tensor | None = None,
    beta: torch.Tensor | None = None,
    epsilon: float = 1e-6,
    output_mask: Sequence[bool] | None = None,
    y_dtype: Any = None,
) -> tuple[torch.Tensor, ...]:
    if dtype_of(y_dtype, torch.int8) != torch.int8 or output_mask:
        raise NotImplementedError("npu_add_rms_norm_dynamic_quant: the formula has int8, no mask")
    total = x1.float() + x2.float()
    y = _normalized(total, gamma, epsilon)[0]
    if beta is not None:
        y = y + beta.float()
    first = per_row(y if smooth_scale1 is None else y * smooth_scale1.float())
    second = torch.zeros_like(first[0]), torch.zeros_like(first[1])
    if smooth_scale2 is not None:
        second = per_row(y * smooth_scale2.float())
    return first[0], second[0], total.to(x1.dtype), first[1], second[1]


@by_hand("npu::npu_add_layer_norm", exact=True)
def _add_layer_norm(
    x1: torch.Tensor,
    x2: torch.Tensor,
    gamma: torch.Tensor,
    beta: torch.Tensor,
    epsilon: float = 1e-5,
    additional_output: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    total = x1.float() + x2.float()
    mean = total.mean(-1, keepdim=True)
    rstd = torch.rsqrt((total - mean).square().mean(-1, keepdim=True) + epsilon)
    y = (total - mean) * rstd * gamma.float() + beta.float()
    return y.to(x1.dtype), mean, rstd, total.to(x1.dtype)
