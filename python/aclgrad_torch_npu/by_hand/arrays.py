# SPDX-License-Identifier: Apache-2.0
"""Shapes, indices and order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]
from torch.nn import functional as F  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.table import by_hand


@by_hand("npu::npu_transpose", exact=True)
def _transpose(
    x: torch.Tensor, perm: Sequence[int], require_contiguous: bool = True
) -> torch.Tensor:
    return x.permute(*perm).contiguous()


@by_hand("npu::npu_confusion_transpose", exact=True)
def _confusion_transpose(
    x: torch.Tensor, perm: Sequence[int], shape: Sequence[int], transpose_first: bool
) -> torch.Tensor:
    moved = x.permute(*perm).reshape(shape) if transpose_first else x.reshape(shape).permute(*perm)
    return moved.contiguous()


@by_hand("npu::npu_confusion_transpose_backward", exact=True)
def _confusion_transpose_backward(
    grad: torch.Tensor, perm: Sequence[int], shape: Sequence[int], transpose_first: bool
) -> torch.Tensor:
    # The shape is that of the forward's input, and its order is told the other way round.
    back = torch.tensor(list(perm)).argsort().tolist()
    if transpose_first:
        moved = grad.permute(*back).reshape(shape)
    else:
        moved = grad.reshape([shape[axis] for axis in perm]).permute(*back)
    return moved.contiguous()


@by_hand("npu::npu_broadcast", exact=True)
def _broadcast(x: torch.Tensor, size: Sequence[int]) -> torch.Tensor:
    return torch.broadcast_to(x, size).contiguous()


@by_hand("npu::npu_reshape", exact=True)
def _reshape(x: torch.Tensor, shape: Sequence[int], can_refresh: bool = False) -> torch.Tensor:
    return x.reshape(shape).clone()


@by_hand("npu::npu_slice", exact=True)
def _slice(x: torch.Tensor, offsets: Sequence[int], size: Sequence[int]) -> torch.Tensor:
    ends = [first + n if n >= 0 else None for first, n in zip(offsets, size, strict=True)]
    return x[tuple(map(slice, offsets, ends))].clone()


@by_hand("npu::npu_indexing", exact=True)
def _indexing(
    x: torch.Tensor,
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int],
    begin_mask: int = 0,
    end_mask: int = 0,
    *other_masks: int,
) -> torch.Tensor:
    if any(other_masks):
        raise NotImplementedError("npu_indexing: ellipsis, new and shrunk axes are not here")
    places = [
        slice(None if begin_mask >> k & 1 else first, None if end_mask >> k & 1 else last, step)
        for k, (first, last, step) in enumerate(zip(begin, end, strides, strict=True))
    ]
    return x[tuple(places)].clone()


@by_hand("npu::npu_pad", exact=True)
def _pad(x: torch.Tensor, paddings: Sequence[int]) -> torch.Tensor:
    pairs = [list(paddings[k : k + 2]) for k in range(0, len(paddings), 2)]
    return F.pad(x, [each for pair in reversed(pairs) for each in pair])


@by_hand("npu::npu_one_hot", exact=True)
def _one_hot(
    x: torch.Tensor, num_classes: int = -1, depth: int = 1, on_value: Any = 1, off_value: Any = 0
) -> torch.Tensor:
    hit = x.long()[..., None] == torch.arange(depth)
    return torch.where(hit, float(on_value), float(off_value))


@by_hand("npu::npu_sort_v2", exact=True)
def _sort(x: torch.Tensor, dim: int = -1, descending: bool = False) -> torch.Tensor:
    return torch.sort(x, dim=dim, descending=descending)[0]


@by_hand("npu::npu_max.dim", exact=True)
def _max(x: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = torch.max(x, dim, keepdim)
    return values, indices.int()


@by_hand("npu::npu_min.dim", exact=True)
def _min(x: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    values, indices = torch.min(x, dim, keepdim)
    return values, indices.int()


@by_hand("npu::npu_max_backward", "npu::npu_min_backward", exact=True)
def _extreme_backward(
    grad: torch.Tensor, dim: int, indices: torch.Tensor, sizes: Sequence[int], keepdim: bool
) -> torch.Tensor:
    if not keepdim and sizes:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return torch.zeros(sizes, dtype=grad.dtype).scatter_(dim, indices.long(), grad)


@by_hand("npu::npu_masked_fill_range", exact=True)
def _masked_fill_range(
    x: torch.Tensor, start: torch.Tensor, end: torch.Tensor, value: torch.Tensor, axis: int = -1
) -> torch.Tensor:
    result = x.clone()
    along = result.movedim(axis, -1)
    for i, (firsts, lasts) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        for j, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
            (along if axis == 0 or x.dim() == 1 else along[j])[..., first:last] = value[i]
    return result


@by_hand("npu::npu_sign_bits_pack", exact=True)
def _sign_bits_pack(x: torch.Tensor, size: int) -> torch.Tensor:
    bits = F.pad((x >= 0).to(torch.uint8), (0, -x.numel() % 8)).reshape(-1, 8)
    packed = (bits << torch.arange(8, dtype=torch.uint8)).sum(1, dtype=torch.uint8)
    return packed.reshape(size, -1)


@by_hand("npu::npu_sign_bits_unpack", exact=True)
def _sign_bits_unpack(x: torch.Tensor, size: int, dtype: torch.dtype) -> torch.Tensor:
    bits = x.reshape(-1, 1) >> torch.arange(8, dtype=torch.uint8) & 1
    return (bits.to(dtype) * 2 - 1).reshape(size, -1)


@by_hand("npu::npu_stride_add")
def _stride_add(
    x: torch.Tensor, other: torch.Tensor, offset1: Any, offset2: Any, c1_len: Any
) -> torch.Tensor:
    length, channels = int(c1_len), 16
    first = x[:, int(offset1) : int(offset1) + length]
    total = first + other[:, int(offset2) : int(offset2) + length]
    # Channels go to blocks of 16.
    return F.pad(total, (0, 0) * (total.dim() - 2) + (0, length * channels - total.shape[1]))


@by_hand("npu::repeat_interleave_backward_int", "npu::repeat_interleave_backward_tensor")
def _repeat_interleave_backward(
    grad: torch.Tensor, x: torch.Tensor, repeats: Any, dim: int | None = None
) -> torch.Tensor:
    axis = 0 if dim is None else dim
    flat = x.reshape(-1) if dim is None else x
    count = flat.shape[axis]
    times = torch.as_tensor(repeats).long().reshape(-1).expand(count)
    places = torch.arange(count).repeat_interleave(times)
    summed = torch.zeros_like(flat, dtype=grad.dtype).index_add_(axis, places, grad)
    return summed.reshape(x.shape)


@by_hand("aten::one_hot", exact=True)
def _one_hot_of_classes(x: torch.Tensor, num_classes: int = -1) -> torch.Tensor:
    # An NPU takes 32 bits for indices, and gives them back.
    return F.one_hot(x.long(), num_classes).to(x.dtype)
