# SPDX-License-Identifier: Apache-2.0
"""Quantisation, and products of quantised matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.table import by_hand, in_format_of_input
from aclgrad_torch_npu.host_tensors import host_storage, is_private

_BY_CODE: dict[Any, torch.dtype] = {
    0: torch.uint8, 1: torch.int8, 3: torch.int32, 5: torch.float16, 6: torch.float32,
    12: torch.int8, 13: torch.uint8, 14: torch.int32, 15: torch.bfloat16,
}  # fmt: skip
"""PyTorch's numbers of dtypes; those of quantised types stand for the integers behind them."""


def dtype_of(given: Any, otherwise: torch.dtype) -> torch.dtype:
    """The dtype that an argument names: itself, its number in PyTorch, or none."""
    if given is None:
        return otherwise
    if isinstance(given, torch.dtype):
        plain = {torch.qint8: torch.int8, torch.quint8: torch.uint8}.get(given, given)
        if plain in _BY_CODE.values():
            return plain
    elif given in _BY_CODE:
        return _BY_CODE[given]
    raise NotImplementedError(
        f"dtype {given}: the formula on the CPU has int8, uint8, int32 and floating types. Next:"
        " aclgrad build of the public operator, which brings its own types"
    )


def rounded(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Values as the nearest integers of a type, halves to the even one; floats just rounded."""
    if dtype.is_floating_point:
        return values.to(dtype)
    limits = torch.iinfo(dtype)
    return values.round().clamp(limits.min, limits.max).to(dtype)


def per_row(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows as int8, and the scale of each: its largest magnitude is 127."""
    scale = values.abs().amax(-1) / 127
    return rounded(torch.nan_to_num(values / scale.unsqueeze(-1)), torch.int8), scale


def group_ends(groups: torch.Tensor, counts: bool) -> list[int]:
    """Where each group of rows ends, from ends or from counts."""
    return [int(end) for end in (groups.cumsum(0) if counts else groups).tolist()]


def by_groups(rows: int, values: torch.Tensor, ends: Sequence[int]) -> torch.Tensor:
    """The group's row of ``values`` for each of so many rows."""
    index = torch.searchsorted(torch.tensor(ends), torch.arange(rows), right=True)
    return values[index.clamp(max=len(values) - 1)]


def scales_of(scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Scales, and the offsets that npu_trans_quant_param has put into 64 bits with them."""
    if scale.dtype != torch.int64:
        return scale.double(), None
    bits = (scale & 0xFFFFFFFF).to(torch.int64)
    bits = torch.where(bits >= 1 << 31, bits - (1 << 32), bits)
    offset = (scale >> 37) & 0x1FF
    return bits.to(torch.int32).view(torch.float32).double(), torch.where(
        offset >= 256, offset - 512, offset
    ).double()


@by_hand("npu::npu_trans_quant_param", exact=True)
def _trans_quant_param(
    scale: torch.Tensor, offset: torch.Tensor | None = None, round_mode: int | None = 0
) -> torch.Tensor:
    wide = scale.float()
    if round_mode == 1:
        # Half of what the lost 13 bits can hold, and one more where the last bit that stays is 1.
        bits = wide.view(torch.int32).long()
        bits += 0xFFF + ((bits >> 13) & 1)
    else:
        bits = wide.view(torch.int32).long()
    result = (bits & 0xFFFFE000) | (1 << 46)
    if offset is not None:
        whole = offset.float().round().clamp(-256, 255).long()
        result = result | ((whole & 0x1FF) << 37)
    return result


@by_hand("npu::npu_quantize", exact=True)
def _quantize(
    x: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor | None,
    dtype: Any,
    axis: int = 1,
    div_mode: bool = True,
) -> torch.Tensor:
    axis = axis if div_mode or axis == -2 else -1
    shape = [1] * x.dim()
    shape[axis] = -1

    def along(values: torch.Tensor) -> torch.Tensor:
        return values.double().reshape(shape) if values.dim() == 1 else values.double()

    result = x.double() / along(scales) if div_mode else x.double() * along(scales)
    if zero_points is not None:
        result = result + along(zero_points)
    if dtype in _INT4:
        return _packed(result, div_mode)
    return rounded(result, dtype_of(dtype, torch.int8))


_INT4 = (torch.quint4x2, 16)


def _packed(values: torch.Tensor, div_mode: bool) -> torch.Tensor:
    """Values as int4, eight in each int32, the first in the lowest bits."""
    if div_mode or values.dim() == 0 or values.shape[-1] % 8:
        raise RuntimeError(
            "npu_quantize: quint4x2 wants div_mode False and a multiple of 8 in the last dim, got"
            f" div_mode {div_mode} and {tuple(values.shape)}"
        )
    nibbles = values.round().clamp(-8, 7).to(torch.int32) & 15
    eight = nibbles.reshape(*values.shape[:-1], values.shape[-1] // 8, 8)
    result = eight[..., 0].clone()
    for i in range(1, 8):
        result |= eight[..., i] << 4 * i
    return result


@in_format_of_input("npu::npu_quantize")
def _quantized_blocks(given: dict[str, Any], result: torch.Tensor) -> torch.Tensor | None:
    """The result for a matrix in FRACTAL_NZ: torch_npu makes an int32 tensor of that format, and
    AscendQuantV2 writes blocks of 16 rows and 64 int4 into it, which are 8 int32 in a row.
    """
    x = given["input"]
    if given["dtype"] not in _INT4 or not is_private(x):
        return None
    *batch, rows, columns = x.shape
    if x.dtype != torch.float32 or len(batch) != 1 or rows % 16 or columns % 64:
        raise NotImplementedError(
            "npu_quantize of FRACTAL_NZ to int4: AscendQuantV2 takes float32 of three dims, the"
            f" last two multiples of 16 and 64, got {x.dtype} {tuple(x.shape)}"
        )
    made: torch.Tensor = torch.ops.npu.unsafe_empty_with_format(
        result.shape, dtype=torch.int32, device=x.device, acl_format=29, keep_format=True
    )
    blocks = result.reshape(*batch, rows // 16, 16, columns // 64, 8).movedim(-2, -4)
    host_storage(made)[: blocks.numel()] = blocks.reshape(-1)
    return made


@by_hand("npu::npu_anti_quant", exact=True)
def _anti_quant(
    x: torch.Tensor,
    scale: torch.Tensor,
    *,
    offset: torch.Tensor | None = None,
    dst_dtype: Any = None,
    src_dtype: Any = None,
) -> torch.Tensor:
    wide = x.double() if offset is None else x.double() + offset.double()
    return (wide * scale.double()).to(dtype_of(dst_dtype, torch.float16))


@by_hand("npu::npu_dynamic_quant", exact=True)
def _dynamic_quant(
    x: torch.Tensor,
    *,
    smooth_scales: torch.Tensor | None = None,
    group_index: torch.Tensor | None = None,
    dst_type: Any = None,
    quant_mode: str = "pertoken",
    dst_type_max: float = 0.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    if dtype_of(dst_type, torch.int8) != torch.int8 or quant_mode != "pertoken":
        raise NotImplementedError("npu_dynamic_quant: the formula has int8 per token only")
    return per_row(_smoothed(x, smooth_scales, group_index))


def _smoothed(
    x: torch.Tensor, scales: torch.Tensor | None, group_index: torch.Tensor | None
) -> torch.Tensor:
    wide = x.float()
    if scales is None:
        return wide
    if group_index is None:
        return wide * scales.float()
    rows = wide.reshape(-1, x.shape[-1])
    factors = by_groups(len(rows), scales.float(), group_ends(group_index, counts=False))
    return (rows * factors).reshape(x.shape)


@by_hand("npu::npu_dynamic_quant_asymmetric", exact=True)
def _dynamic_quant_asymmetric(
    x: torch.Tensor,
    *,
    smooth_scales: torch.Tensor | None = None,
    group_index: torch.Tensor | None = None,
    dst_type: Any = None,
    quant_mode: str = "pertoken",
    dst_type_max: float = 0.0,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if dtype_of(dst_type, torch.int8) != torch.int8 or quant_mode != "pertoken":
        raise NotImplementedError("npu_dynamic_quant_asymmetric: the formula has int8 per token")
    wide = _smoothed(x, smooth_scales, group_index)
    high, low = wide.amax(-1), wide.amin(-1)
    scale = (high - low) / 255
    offset = 127 - high / scale
    result = torch.nan_to_num(wide / scale.unsqueeze(-1) + offset.unsqueeze(-1))
    return rounded(result, torch.int8), scale, offset


@by_hand("npu::npu_group_quant", exact=True)
def _group_quant(
    x: torch.Tensor,
    scale: torch.Tensor,
    group_index: torch.Tensor,
    *,
    offset: torch.Tensor | None = None,
    dst_dtype: Any = None,
) -> torch.Tensor:
    factors = by_groups(len(x), scale.float(), group_ends(group_index, counts=False))
    result = x.float() * factors
    return rounded(
        result if offset is None else result + offset.float(), dtype_of(dst_dtype, torch.int8)
    )


@by_hand("npu::npu_quant_matmul", exact=True)
def _quant_matmul(
    x1: torch.Tensor,
    x2: torch.Tensor,
    scale: torch.Tensor,
    *,
    offset: torch.Tensor | None = None,
    pertoken_scale: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    output_dtype: Any = None,
    group_sizes: Sequence[int] | None = None,
    **others: Any,
) -> torch.Tensor:
    if x1.dtype != torch.int8 or x2.dtype != torch.int8 or (group_sizes and any(group_sizes)):
        raise NotImplementedError(
            f"npu_quant_matmul: got {x1.dtype} @ {x2.dtype}, group_sizes {group_sizes}; the formula"
            " on the CPU has int8 without groups"
        )
    result = torch.matmul(x1.double(), x2.double())
    if bias is not None and bias.dtype == torch.int32:
        result = result + bias.double()
    dtype = dtype_of(output_dtype, torch.int8)
    if dtype == torch.int32:
        return rounded(result, dtype)
    factors, packed = scales_of(scale)
    result = result * factors
    if pertoken_scale is not None:
        result = result * pertoken_scale.double().unsqueeze(-1)
    for shift in (offset, packed):
        if shift is not None and dtype == torch.int8:
            result = result + shift.double()
    if bias is not None and bias.dtype != torch.int32:
        result = result + bias.double()
    return rounded(result, dtype)


@by_hand("npu::npu_weight_quant_batchmatmul", exact=True)
def _weight_quant_batchmatmul(
    x: torch.Tensor,
    weight: torch.Tensor,
    antiquant_scale: torch.Tensor,
    antiquant_offset: torch.Tensor | None = None,
    quant_scale: torch.Tensor | None = None,
    quant_offset: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    antiquant_group_size: int = 0,
    inner_precise: int = 0,
    weight_dtype: Any = None,
) -> torch.Tensor:
    if weight.dtype != torch.int8:
        raise NotImplementedError(
            f"npu_weight_quant_batchmatmul: got weight {weight.dtype}; the formula has int8"
        )

    def spread(values: torch.Tensor) -> torch.Tensor:
        wide = values.double()
        if antiquant_group_size and wide.dim() == 2:
            return wide.repeat_interleave(antiquant_group_size, 0)[: weight.shape[0]]
        return wide

    dense = weight.double()
    if antiquant_offset is not None:
        dense = dense + spread(antiquant_offset)
    result = torch.matmul(x.double(), dense * spread(antiquant_scale))
    if bias is not None:
        result = result + bias.double()
    if quant_scale is None:
        return result.to(x.dtype)
    factors, packed = scales_of(quant_scale)
    result = result * factors
    for shift in (quant_offset, packed):
        if shift is not None:
            result = result + shift.double()
    return rounded(result, torch.int8)


@by_hand("npu::npu_transpose_batchmatmul", exact=True)
def _transpose_batchmatmul(
    x: torch.Tensor,
    weight: torch.Tensor,
    *,
    bias: torch.Tensor | None = None,
    scale: torch.Tensor | None = None,
    perm_x1: Sequence[int] | None = None,
    perm_x2: Sequence[int] | None = None,
    perm_y: Sequence[int] | None = None,
    batch_split_factor: int | None = 1,
) -> torch.Tensor:
    first = x.permute(tuple(perm_x1 or (0, 1, 2))).float()
    second = weight.permute(tuple(perm_x2 or (0, 1, 2))).float()
    result = torch.matmul(first, second)
    if bias is not None:
        result = result + bias.float()
    result = result.permute(tuple(perm_y or (1, 0, 2)))
    rows, batches, columns = result.shape
    if scale is not None:
        factors, packed = scales_of(scale)
        flat = result.reshape(rows, 1, batches * columns).double() * factors
        return rounded(flat if packed is None else flat + packed, torch.int8)
    if batch_split_factor is not None and batch_split_factor > 1:
        parts = result.reshape(rows, batch_split_factor, -1)
        return parts.permute(1, 0, 2).contiguous().to(x.dtype)
    return result.contiguous().to(x.dtype)


@by_hand("npu::npu_swiglu_quant", exact=True)
def _swiglu_quant(
    x: torch.Tensor,
    *,
    smooth_scales: torch.Tensor | None = None,
    offsets: torch.Tensor | None = None,
    group_index: torch.Tensor | None = None,
    activate_left: bool = False,
    quant_mode: int = 0,
    group_list_type: int = 0,
    dst_type: Any = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = x.float().chunk(2, -1)
    if not activate_left:
        first, second = second, first
    result = torch.nn.functional.silu(first) * second
    rows = result.reshape(-1, result.shape[-1])
    given: list[torch.Tensor | None] = [smooth_scales, offsets if quant_mode == 0 else None]
    if group_index is not None:
        ends = group_ends(group_index, counts=group_list_type == 1)
        given = [None if v is None else by_groups(len(rows), v.float(), ends) for v in given]
        rows = rows.clone()
    if given[0] is not None:
        rows = rows * given[0].float()
    if given[1] is not None:
        rows = rows + given[1].float()
    dtype = dtype_of(dst_type, torch.int8)
    if quant_mode == 0:
        return rounded(rows, dtype).reshape(result.shape), torch.zeros(result.shape[:-1])
    scale = 127 / rows.abs().amax(-1)
    quantised = rounded(torch.nan_to_num(rows * scale.unsqueeze(-1)), dtype)
    return quantised.reshape(result.shape), scale.reshape(result.shape[:-1])


@by_hand("npu::npu_dequant_swiglu_quant", exact=True)
def _dequant_swiglu_quant(
    x: torch.Tensor,
    *,
    weight_scale: torch.Tensor | None = None,
    activation_scale: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    quant_scale: torch.Tensor | None = None,
    quant_offset: torch.Tensor | None = None,
    group_index: torch.Tensor | None = None,
    activate_left: bool = False,
    quant_mode: int = 0,
    dst_type: Any = None,
    round_mode: int | None = None,
    activate_dim: int | None = None,
    swiglu_mode: int = 0,
    clamp_limit: float = 7.0,
    glu_alpha: float = 1.702,
    glu_bias: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    if activate_dim not in (None, -1, x.dim() - 1) or swiglu_mode not in (0, 1):
        raise NotImplementedError("npu_dequant_swiglu_quant: the formula halves the last axis")
    shape = (*x.shape[:-1], x.shape[-1] // 2)
    rows = x.reshape(-1, x.shape[-1]).float()
    ends = None if group_index is None else group_ends(group_index, counts=True)

    def of_group(values: torch.Tensor) -> torch.Tensor:
        wide = values.float()
        return wide if ends is None or wide.dim() < 2 else by_groups(len(rows), wide, ends)

    used = len(rows) if ends is None else ends[-1]
    if bias is not None and bias.dtype == torch.int32:
        rows = rows + of_group(bias)
    if weight_scale is not None:
        rows = rows * of_group(weight_scale)
    if activation_scale is not None:
        rows = rows * activation_scale.float().reshape(-1, 1)
    if bias is not None and bias.dtype != torch.int32:
        rows = rows + of_group(bias)
    if swiglu_mode == 1:
        gate = rows[:, ::2].clamp(max=clamp_limit)
        line = rows[:, 1::2].clamp(-clamp_limit, clamp_limit)
        result = gate * torch.sigmoid(glu_alpha * gate) * (line + glu_bias)
    else:
        first, second = rows.chunk(2, -1)
        gate, line = (first, second) if activate_left else (second, first)
        result = torch.nn.functional.silu(gate) * line
    if quant_scale is not None:
        factors = of_group(quant_scale)
        result = result / factors if quant_mode == 0 else result * factors
    if quant_mode == 0:
        if quant_offset is not None:
            result = result + of_group(quant_offset)
        quantised, scale = rounded(result, torch.int8), torch.zeros(len(rows))
    else:
        quantised, scale = per_row(result)
    quantised[used:], scale[used:] = 0, 0
    return quantised.reshape(shape), scale.reshape(shape[:-1])


@by_hand("npu::npu_quant_scatter", exact=True)
def _quant_scatter(
    values: torch.Tensor,
    indices: torch.Tensor,
    updates: torch.Tensor,
    quant_scales: torch.Tensor,
    quant_zero_points: torch.Tensor | None = None,
    axis: int = -2,
    quant_axis: int = -1,
    reduce: str = "update",
    dst_type: Any = None,
    round_mode: str | None = "rint",
) -> torch.Tensor:
    result: torch.Tensor = _quant_scatter_in_place(
        values.clone(), indices, updates, quant_scales, quant_zero_points, axis
    )
    return result


@by_hand("npu::npu_quant_scatter_", exact=True)
def _quant_scatter_in_place(
    values: torch.Tensor,
    indices: torch.Tensor,
    updates: torch.Tensor,
    quant_scales: torch.Tensor,
    quant_zero_points: torch.Tensor | None = None,
    axis: int = -2,
    *_: Any,
    **__: Any,
) -> torch.Tensor:
    result = updates.double() / quant_scales.double()
    if quant_zero_points is not None:
        result = result + quant_zero_points.double()
    return scatter(values, indices, rounded(result, values.dtype), axis)


def scatter(
    values: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, axis: int
) -> torch.Tensor:
    """Write each update along an axis, from the index of its batch on; an index may be a pair of
    batch and begin.
    """
    axis = axis % values.dim() - 1
    for batch, (update, index) in enumerate(zip(updates, indices.tolist(), strict=True)):
        to, begin = index if isinstance(index, list) else (batch, index)
        values[to].narrow(axis, begin, update.shape[axis]).copy_(update)
    return values


@by_hand("npu::scatter_update_", exact=True)
def _scatter_update_in_place(
    values: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, axis: int
) -> torch.Tensor:
    return scatter(values, indices, updates, axis)


@by_hand("npu::scatter_update", exact=True)
def _scatter_update(
    values: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor, axis: int
) -> torch.Tensor:
    return scatter(values.clone(), indices, updates, axis)


@by_hand("npu::npu_scatter_nd_update_", exact=True)
def _scatter_nd_update_in_place(
    values: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor
) -> torch.Tensor:
    values[tuple(indices.long().unbind(-1))] = updates
    return values


@by_hand("npu::npu_scatter_nd_update", exact=True)
def _scatter_nd_update(
    values: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor
) -> torch.Tensor:
    result: torch.Tensor = _scatter_nd_update_in_place(values.clone(), indices, updates)
    return result


@by_hand("npu::npu_top_k_top_p", exact=True)
def _top_k_top_p(
    logits: torch.Tensor, p: torch.Tensor | None = None, k: torch.Tensor | None = None
) -> torch.Tensor:
    values, order = torch.sort(logits, dim=-1, stable=True)
    if k is not None:
        place = (values.shape[-1] - k.long()).clamp(0, values.shape[-1] - 1).unsqueeze(-1)
        values = values.masked_fill(values < values.gather(-1, place), float("-inf"))
    if p is not None:
        outside = values.float().softmax(-1).cumsum(-1) <= 1 - p.float().unsqueeze(-1)
        outside[..., -1] = False
        values = values.masked_fill(outside, float("-inf"))
    return torch.empty_like(values).scatter_(-1, order, values)


@by_hand("npu::npu_prefetch", exact=True)
def _prefetch(x: torch.Tensor, dependency: torch.Tensor | None, size: int, offset: int = 0) -> None:
    """Nothing: a cache has no meaning on the CPU."""
