# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts: who gets which token, and products by groups of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.quantized import dtype_of, per_row, rounded, scales_of
from aclgrad_torch_npu.by_hand.table import by_hand


@by_hand("npu::npu_moe_gating_top_k", exact=True)
def _gating_top_k(
    x: torch.Tensor,
    k: int,
    *,
    bias: torch.Tensor | None = None,
    input_ids: torch.Tensor | None = None,
    tid2eid: torch.Tensor | None = None,
    k_group: int = 1,
    group_count: int = 1,
    group_select_mode: int = 0,
    renorm: int = 0,
    norm_type: int = 0,
    out_flag: bool = False,
    routed_scaling_factor: float = 1.0,
    eps: float = 1e-20,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if norm_type not in (0, 1):
        raise NotImplementedError(f"npu_moe_gating_top_k: norm_type {norm_type}, want 0 or 1")
    wide = x.float()
    norm = torch.sigmoid(wide) if norm_type == 1 else torch.softmax(wide, -1)
    if input_ids is not None and tid2eid is not None:
        chosen = tid2eid[input_ids.long()].long()
    else:
        chosen = _top_of_groups(norm, bias, k, k_group, group_count, group_select_mode)
    y = norm.gather(-1, chosen)
    if norm_type == 1 or renorm == 1:
        y = y / (y.sum(-1, keepdim=True) + eps)
    return (y * routed_scaling_factor).to(x.dtype), chosen.int(), norm


def _top_of_groups(
    norm: torch.Tensor, bias: torch.Tensor | None, k: int, k_group: int, groups: int, mode: int
) -> torch.Tensor:
    """The best k experts of the best groups; the first of equals."""
    scores = norm if bias is None else norm + bias.float()
    if groups > 1:
        split = scores.reshape(len(scores), groups, -1)
        worth = split.amax(-1) if mode == 0 else split.topk(2, -1).values.sum(-1)
        kept = worth.sort(dim=-1, descending=True, stable=True).indices[:, :k_group]
        left = torch.ones_like(worth, dtype=torch.bool).scatter_(1, kept, False)
        scores = split.masked_fill(left.unsqueeze(-1), float("-inf")).reshape(scores.shape)
    return scores.sort(dim=-1, descending=True, stable=True).indices[:, :k]


@by_hand("npu::npu_moe_gating_top_k_softmax", exact=True)
def _gating_top_k_softmax(
    x: torch.Tensor, finished: torch.Tensor | None = None, k: int = 1
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    softmax = torch.softmax(x.float(), -1)
    y, chosen = (part[..., :k] for part in softmax.sort(dim=-1, descending=True, stable=True))
    chosen = chosen.int()
    if finished is not None:
        chosen = chosen.masked_fill(finished.unsqueeze(-1), x.shape[-1])
    rows = y.numel() // k
    row = torch.arange(rows * k, dtype=torch.int32).reshape(k, rows).t().reshape(y.shape)
    return y.to(x.dtype), chosen, row.contiguous()


@by_hand("npu::npu_moe_init_routing", exact=True)
def _init_routing(
    x: torch.Tensor, row_idx: torch.Tensor, expert_idx: torch.Tensor, active_num: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows, k = expert_idx.shape
    experts, order = expert_idx.flatten().sort(stable=True)
    source = row_idx.flatten()[order].long()
    target = torch.empty_like(row_idx.flatten())
    target[source] = torch.arange(len(source), dtype=target.dtype)
    return x[source[: min(active_num, rows) * k] % rows], target, experts


@by_hand("npu::npu_moe_init_routing_v2", exact=True)
def _init_routing_v2(
    x: torch.Tensor,
    expert_idx: torch.Tensor,
    *,
    scale: torch.Tensor | None = None,
    offset: torch.Tensor | None = None,
    active_num: int = -1,
    expert_capacity: int = -1,
    expert_num: int = -1,
    drop_pad_mode: int = 0,
    expert_tokens_num_type: int = 0,
    expert_tokens_num_flag: bool = False,
    quant_mode: int = -1,
    active_expert_range: Sequence[int] = (),
    row_idx_type: int = 0,
    x_dtype: Any = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    if drop_pad_mode != 0 or quant_mode not in (-1, 0, 1):
        raise NotImplementedError(
            f"npu_moe_init_routing_v2: got drop_pad_mode {drop_pad_mode}, quant_mode {quant_mode};"
            " the formula on the CPU drops and pads nothing, and has quant_mode -1, 0 and 1"
        )
    k = expert_idx.shape[-1]
    flat = expert_idx.flatten().long()
    first, last = tuple(active_expert_range) or (
        0,
        expert_num if expert_num > 0 else int(flat.max()) + 1,
    )
    here = (flat >= first) & (flat < last)
    order = torch.where(here, flat, last).sort(stable=True).indices
    count = int(here.sum())
    source = order[:count]
    target = torch.full_like(flat, -1)
    if row_idx_type == 1:
        target[:count] = source
    else:
        target[source] = torch.arange(count)
    tokens = torch.bincount(flat[here] - first, minlength=last - first)
    if expert_tokens_num_type == 0:
        tokens = tokens.cumsum(0)
    elif expert_tokens_num_type == 2:
        experts = tokens.nonzero().flatten()
        pairs = torch.zeros(last - first, 2, dtype=torch.int64)
        pairs[: len(experts)] = torch.stack([experts + first, tokens[experts]], 1)
        tokens = pairs
    rows = x[source // k]
    factors = torch.zeros(len(flat))
    if quant_mode == -1:
        expanded = torch.zeros(len(flat), x.shape[-1], dtype=x.dtype)
        if scale is not None:
            factors[:count] = scale.float().flatten()[source // k]
    else:
        expanded = torch.zeros(len(flat), x.shape[-1], dtype=torch.int8)
        wide = rows.float()
        if quant_mode == 0:
            assert scale is not None and offset is not None
            rows = rounded(wide * scale.float() + offset.float(), torch.int8)
        else:
            if scale is not None:
                own = scale.float()
                wide = wide * (own[flat[source] - first] if len(own) > 1 else own)
            rows, factors[:count] = per_row(wide)
    expanded[:count] = rows
    if 0 < active_num < len(flat):
        expanded = expanded[:active_num]
    return expanded, target.int(), tokens, factors


@by_hand("npu::npu_moe_compute_expert_tokens", exact=True)
def _compute_expert_tokens(experts: torch.Tensor, num_expert: int) -> torch.Tensor:
    numbers = torch.arange(num_expert, dtype=experts.dtype)
    return torch.searchsorted(experts.contiguous(), numbers, right=True).to(experts.dtype)


@by_hand("npu::npu_moe_finalize_routing", exact=True)
def _finalize_routing(
    expanded: torch.Tensor,
    skip1: torch.Tensor | None,
    skip2: torch.Tensor | None,
    bias: torch.Tensor | None,
    scales: torch.Tensor | None,
    row: torch.Tensor,
    experts: torch.Tensor | None,
    drop_pad_mode: int | None = 0,
    k: int | None = 1,
) -> torch.Tensor:
    each = (
        scales.shape[1]
        if scales is not None
        else (experts.shape[1] if experts is not None else k or 1)
    )
    rows = row.numel() // each
    place = (
        row.long().reshape(each, rows).t()
        if drop_pad_mode in (None, 0, 1)
        else row.long().reshape(rows, each)
    )
    flat = expanded.float().reshape(-1, expanded.shape[-1])
    taken = flat[place.clamp(min=0)].masked_fill((place < 0).unsqueeze(-1), 0.0)
    if bias is not None and experts is not None:
        taken = taken + bias.float()[experts.long()]
    if scales is not None:
        taken = taken * scales.float().unsqueeze(-1)
    result = taken.sum(1)
    for skip in (skip1, skip2):
        if skip is not None:
            result = result + skip.float()
    return result.to(expanded.dtype)


@by_hand("npu::npu_moe_re_routing", exact=True)
def _re_routing(
    tokens: torch.Tensor,
    counts: torch.Tensor,
    *,
    per_token_scales: torch.Tensor | None = None,
    expert_token_num_type: int = 1,
    idx_type: int = 0,
    tokens_dtype: Any = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    ranks, experts = counts.shape
    expert = torch.arange(experts).repeat(ranks).repeat_interleave(counts.flatten().long())
    order = expert.sort(stable=True).indices
    scales = torch.zeros(len(tokens)) if per_token_scales is None else per_token_scales[order]
    number = counts.sum(0).to(counts.dtype)
    if expert_token_num_type == 0:
        number = number.cumsum(0).to(counts.dtype)
    if idx_type == 1:
        index = torch.empty_like(order)
        index[order] = torch.arange(len(order))
    else:
        index = order
    return tokens[order], scales, index.int(), number


@by_hand("npu::npu_moe_token_permute", exact=True)
def _token_permute(
    tokens: torch.Tensor,
    indices: torch.Tensor,
    num_out_tokens: int | None = None,
    padded_mode: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    if padded_mode:
        raise NotImplementedError("npu_moe_token_permute: padded_mode is not supported")
    k = 1 if indices.dim() == 1 else indices.shape[1]
    order = indices.flatten().sort(stable=True).indices
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order))
    count = num_out_tokens or len(order)
    if count < 0:
        count += len(order)
    return tokens[order[:count] // k], place.int()


@by_hand("npu::npu_moe_token_unpermute", exact=True)
def _token_unpermute(
    permuted: torch.Tensor,
    indices: torch.Tensor,
    probs: torch.Tensor | None = None,
    padded_mode: bool = False,
    restore_shape: Sequence[int] | None = None,
) -> torch.Tensor:
    if padded_mode:
        raise NotImplementedError("npu_moe_token_unpermute: padded_mode is not supported")
    k = 1 if probs is None else probs.shape[-1]
    place = indices.long()
    wide = permuted.float()
    rows = wide[place.clamp(max=len(wide) - 1)].masked_fill((place >= len(wide)).unsqueeze(-1), 0.0)
    rows = rows.reshape(-1, k, permuted.shape[-1])
    if probs is not None:
        rows = rows * probs.float().unsqueeze(-1)
    return rows.sum(1).to(permuted.dtype)


@by_hand("npu::_npu_moe_token_unpermute", exact=True)
def _token_unpermute_for_autograd(
    permuted: torch.Tensor, *args: Any, **kwargs: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    return _token_unpermute(permuted, *args, **kwargs), permuted


_ACTIVATIONS: dict[int, Any] = {
    0: lambda values: values,
    1: torch.relu,
    2: lambda values: torch.nn.functional.gelu(values, approximate="tanh"),
    4: lambda values: values * torch.sigmoid(1.702 * values),
    5: torch.nn.functional.silu,
}


@by_hand("npu::npu_grouped_matmul", "npu::npu_grouped_matmul.List", exact=True)
def _grouped_matmul(  # noqa: C901
    x: Sequence[torch.Tensor],
    weight: Sequence[torch.Tensor],
    *,
    bias: Sequence[torch.Tensor] | None = None,
    scale: Sequence[torch.Tensor] | None = None,
    offset: Sequence[torch.Tensor] | None = None,
    antiquant_scale: Sequence[torch.Tensor] | None = None,
    antiquant_offset: Sequence[torch.Tensor] | None = None,
    per_token_scale: Sequence[torch.Tensor] | None = None,
    group_list: Any = None,
    split_item: int | None = 0,
    group_type: int | None = None,
    group_list_type: int | None = 0,
    act_type: int | None = 0,
    output_dtype: Any = None,
    **others: Any,
) -> list[torch.Tensor]:
    act = _ACTIVATIONS.get(act_type or 0)
    if act is None or any(each.dtype not in _PRODUCTS for each in (*x, *weight)):
        raise NotImplementedError(
            f"npu_grouped_matmul: got {x[0].dtype} @ {weight[0].dtype}, act_type {act_type}; the"
            f" formula on the CPU has floats and int8, act_type {', '.join(map(str, _ACTIVATIONS))}"
        )
    matrices = list(weight[0]) if len(weight) == 1 and weight[0].dim() == 3 else list(weight)
    dtype = dtype_of(output_dtype, x[0].dtype)
    sizes = _group_sizes(group_list, group_list_type or 0, len(matrices))
    if group_type == 2:
        return [_by_columns(x[0], weight[0], sizes, dtype)]
    rows = _rows_of_groups(x, sizes, len(matrices))
    tokens = _rows_of_groups(per_token_scale, sizes, len(matrices)) if per_token_scale else None

    def one_of(values: Sequence[torch.Tensor] | None, group: int) -> torch.Tensor | None:
        if not values:
            return None
        if len(values) == len(matrices):
            return (
                values[group].squeeze(0)
                if values[group].dim() == 2 and len(values[group]) == 1
                else values[group]
            )
        return values[0][group]

    results = []
    for group, matrix in enumerate(matrices):
        dense = matrix.double()
        step = one_of(antiquant_scale, group)
        if step is not None:
            zero = one_of(antiquant_offset, group)
            dense = (dense + (0 if zero is None else _by_rows(zero, dense))) * _by_rows(step, dense)
        result = torch.matmul(rows[group].double(), dense)
        shift, factor = one_of(bias, group), one_of(scale, group)
        if shift is not None and shift.dtype == torch.int32:
            result = result + shift.double()
        if factor is not None:
            result = result * scales_of(factor)[0]
        if tokens is not None:
            result = result * tokens[group].double().reshape(-1, 1)
        if shift is not None and shift.dtype != torch.int32:
            result = result + shift.double()
        results.append(rounded(act(result), dtype))
    if split_item in (2, 3):
        whole = torch.cat(results)
        total = sum(len(each) for each in x)
        return [torch.cat([whole, whole.new_zeros(total - len(whole), whole.shape[1])])]
    return results


_PRODUCTS = (torch.float16, torch.bfloat16, torch.float32, torch.int8)


def _by_rows(values: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Factors of a matrix: for its columns, or for those of each of several groups of rows."""
    wide = values.double()
    return wide if wide.dim() == 1 else wide.repeat_interleave(len(matrix) // len(wide), 0)


def _group_sizes(given: Any, kind: int, count: int) -> list[int] | None:
    if given is None:
        return None
    values = given.tolist() if isinstance(given, torch.Tensor) else list(given)
    if kind == 2:
        by_group = dict(values)
        return [int(by_group.get(group, 0)) for group in range(count)]
    if kind == 1:
        return [int(size) for size in values]
    ends = [0, *(int(end) for end in values)]
    return [end - begin for begin, end in zip(ends, ends[1:], strict=False)]


def _rows_of_groups(
    x: Sequence[torch.Tensor], sizes: list[int] | None, count: int
) -> Sequence[torch.Tensor]:
    if len(x) == count and (sizes is None or count > 1):
        return x
    if sizes is None:
        raise RuntimeError(f"npu_grouped_matmul: {len(x)} x for {count} weights want a group_list")
    return list(torch.split(x[0][: sum(sizes)], sizes))


def _by_columns(
    x: torch.Tensor, weight: torch.Tensor, sizes: list[int] | None, dtype: torch.dtype
) -> torch.Tensor:
    if sizes is None:
        raise RuntimeError("npu_grouped_matmul: group_type 2 wants a group_list")
    used = sum(sizes)
    left, right = (
        torch.split(x[:, :used].double(), sizes, 1),
        torch.split(weight[:used].double(), sizes),
    )
    return torch.stack([a @ b for a, b in zip(left, right, strict=True)]).to(dtype)
