# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
from torch.nn import functional as F  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.table import by_hand, gradients


@by_hand("aten::matmul_backward")
def _matmul_backward(
    grad: torch.Tensor, first: torch.Tensor, second: torch.Tensor, mask: Sequence[bool]
) -> tuple[torch.Tensor | None, ...]:
    both = gradients(torch.matmul, [first, second], grad)
    return tuple(each if wanted else None for each, wanted in zip(both, mask, strict=True))


@by_hand("npu::npu_linear")
def _linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    return F.linear(x, weight, bias)


@by_hand("npu::npu_linear_backward")
def _linear_backward(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    return gradients(F.linear, [x, weight], grad)


@by_hand("npu::npu_bmmV2")
def _bmm(first: torch.Tensor, second: torch.Tensor, output_sizes: Sequence[int]) -> torch.Tensor:
    result = torch.matmul(first, second)
    return result.reshape(output_sizes) if output_sizes else result


@by_hand("npu::npu_bmm_v2_mat1_backward")
def _bmm_backward_first(
    grad: torch.Tensor, first: torch.Tensor, second: torch.Tensor, size: Sequence[int]
) -> torch.Tensor:
    return gradients(torch.matmul, [first, second], grad)[0]


@by_hand("npu::npu_bmm_v2_mat2_backward")
def _bmm_backward_second(
    grad: torch.Tensor, first: torch.Tensor, second: torch.Tensor, size: Sequence[int]
) -> torch.Tensor:
    return gradients(torch.matmul, [first, second], grad)[1]


@by_hand("aten::mm.dtype", "aten::bmm.dtype", exact=True)
def _product_of_dtype(
    first: torch.Tensor, second: torch.Tensor, out_dtype: torch.dtype
) -> torch.Tensor:
    return torch.matmul(first.to(out_dtype), second.to(out_dtype))


@by_hand("aten::_conv_depthwise2d")
def _conv_depthwise(
    x: torch.Tensor,
    weight: torch.Tensor,
    kernel_size: Sequence[int],
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> torch.Tensor:
    return F.conv2d(x, weight, bias, stride, padding, dilation, groups=x.shape[1])


@by_hand("npu::npu_conv2d", "npu::npu_conv3d")
def _convolution(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> torch.Tensor:
    run: Any = F.conv2d if x.dim() == 4 else F.conv3d
    result: torch.Tensor = run(x, weight, bias, stride, padding, dilation, groups)
    return result
