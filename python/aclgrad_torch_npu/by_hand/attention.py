# SPDX-License-Identifier: Apache-2.0
"""Attention of training and of serving, and the caches of keys and values that serving keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.table import by_hand, gradients

_NONE = float("-inf")
_LANES = 8
"""How often npu_fusion_attention repeats each row's maximum and sum."""


@dataclass(frozen=True)
class Mask:
    """Which keys each query sees: a tensor, and the bands of ``sparse_mode``."""

    given: torch.Tensor | None = None
    mode: int = 0
    before: int = 2147483647
    after: int = 2147483647

    def hidden(self, batch: int, queries: int, keys: int) -> torch.Tensor | None:
        """True where a key is not seen, for one batch."""
        row, column = torch.arange(queries)[:, None], torch.arange(keys)[None]
        # Modes 3 and 4 count from the lower right corner.
        diagonal = row + keys - queries
        if self.mode == 2:
            return column > row
        if self.mode == 3:
            return column > diagonal
        if self.mode == 4:
            return (column > diagonal + self.after) | (column < diagonal - self.before)
        if self.mode not in (0, 1):
            raise NotImplementedError(f"attention: sparse_mode {self.mode}, want 0 to 4")
        if self.given is None:
            return None
        mask = self.given.bool()
        if mask.dim() >= 3:
            mask = mask[min(batch, len(mask) - 1)]
        elif len(mask) not in (1, queries) and mask.dim() == 2:
            mask = mask[batch : batch + 1] if queries == 1 else mask
        mask = mask[..., :queries, :keys] if mask.shape[-2] > 1 else mask[..., :keys]
        if self.mode == 0:
            mask = mask | (column > row + self.after) | (column < row - self.before)
        return mask


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
    hidden: torch.Tensor | None = None,
    shift: torch.Tensor | None = None,
    sink: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """One batch: heads x queries x size. Returns the result, the maximum and the sum of each row.
    A row that sees no key is 0.
    """
    repeat = len(query) // len(key)
    key, value = (each.float().repeat_interleave(repeat, 0) for each in (key, value))
    scores = torch.matmul(query.float(), key.transpose(1, 2)) * scale
    if shift is not None:
        scores = scores + shift.float()
    if hidden is not None:
        scores = scores.masked_fill(hidden, _NONE)
    most = (
        scores.amax(-1, keepdim=True)
        if scores.shape[-1]
        else scores.new_zeros(*scores.shape[:-1], 1)
    )
    if sink is not None:
        most = torch.maximum(most, sink.float().reshape(-1, 1, 1))
    most = most.masked_fill(most == _NONE, 0.0)
    weights = torch.exp(scores - most)
    total = weights.sum(-1, keepdim=True)
    if sink is not None:
        total = total + torch.exp(sink.float().reshape(-1, 1, 1) - most)
    result = torch.matmul(weights / total.masked_fill(total == 0, 1.0), value)
    return result, most, total


def _heads(values: torch.Tensor, layout: str, heads: int) -> list[torch.Tensor]:
    """Batches of heads x rows x size."""
    if layout == "BSH":
        values = values.reshape(*values.shape[:2], heads, -1)
    if layout == "SBH":
        values = values.transpose(0, 1).reshape(values.shape[1], values.shape[0], heads, -1)
    if layout in ("BSH", "BSND", "SBH"):
        values = values.transpose(1, 2)
    elif not layout.startswith("BNSD"):
        raise NotImplementedError(
            f"attention: layout {layout}, want BSH, SBH, BSND, BNSD, BNSD_BSND or TND"
        )
    return list(values)


def _whole(batches: Sequence[torch.Tensor], layout: str) -> torch.Tensor:
    """The tensor of batches of heads x rows x size."""
    if layout == "TND":
        return torch.cat([each.transpose(0, 1) for each in batches])
    stacked = torch.stack(list(batches))
    if layout == "BNSD":
        return stacked
    rows = stacked.transpose(1, 2)
    if layout == "BSH":
        return rows.flatten(2)
    return rows.flatten(2).transpose(0, 1) if layout == "SBH" else rows


def _parts(values: torch.Tensor, ends: Sequence[int]) -> list[torch.Tensor]:
    """Batches of heads x rows x size of a tensor whose first axis has the rows of all batches."""
    begins = [0, *ends]
    return [
        values[begin:end].transpose(0, 1) for begin, end in zip(begins, begins[1:], strict=False)
    ]


def _paged(
    cache: torch.Tensor, table: torch.Tensor, lengths: Sequence[int], heads: int
) -> list[torch.Tensor]:
    """Batches of heads x rows x size from blocks: (blocks, rows, heads x size), (blocks, heads,
    rows, size).
    """
    if cache.dim() == 3:
        cache = cache.reshape(*cache.shape[:2], heads, -1).transpose(1, 2)
    elif cache.dim() != 4:
        raise NotImplementedError(f"attention: blocks of {cache.dim()} dimensions, want 3 or 4")
    size = cache.shape[2]
    batches = []
    for blocks, length in zip(table.long(), lengths, strict=True):
        used = cache[blocks[: -(-length // size)]]
        batches.append(used.transpose(0, 1).flatten(1, 2)[:, :length])
    return batches


def _refuse(name: str, given: dict[str, Any], *words: str) -> None:
    found = [word for word in words if given.get(word) is not None]
    if found:
        raise NotImplementedError(
            f"{name}: the formula on the CPU lacks {', '.join(found)}. Next: aclgrad build of"
            " the public operator, docs/torch_npu.md"
        )


_QUANTISED = tuple(
    f"{first}{second}"
    for first in ("", "key_", "value_")
    for second in ("antiquant_scale", "antiquant_offset")
) + (
    "dequant_scale1", "quant_scale1", "dequant_scale2", "quant_scale2", "quant_offset2",
    "deq_scale1", "deq_scale2", "key_shared_prefix", "value_shared_prefix",
    "key_rope_antiquant_scale", "dequant_scale_query", "dequant_scale_key", "dequant_offset_key",
    "dequant_scale_value", "dequant_offset_value", "dequant_scale_key_rope", "quant_scale_out",
    "quant_offset_out", "quant_scale_p", "query_padding_size", "kv_padding_size", "padding_mask",
)  # fmt: skip


def _serve(
    name: str,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    heads: int,
    kv_heads: int,
    scale: float,
    layout: str,
    mask: Mask,
    shift: torch.Tensor | None = None,
    lengths: Sequence[int] | None = None,
    kv_lengths: Sequence[int] | None = None,
    block_table: torch.Tensor | None = None,
    query_rope: torch.Tensor | None = None,
    key_rope: torch.Tensor | None = None,
    sink: torch.Tensor | None = None,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The attention of serving engines, and the logarithm of each row's sum."""
    _refuse(name, others, *_QUANTISED)
    kv_heads = kv_heads or heads
    lengths = None if lengths is None else [int(each) for each in lengths]
    kv_lengths = None if kv_lengths is None else [int(each) for each in kv_lengths]
    packed = layout == "TND"

    def queries(values: torch.Tensor) -> list[torch.Tensor]:
        return _parts(values, lengths or [len(values)]) if packed else _heads(values, layout, heads)

    def keys(values: torch.Tensor) -> list[torch.Tensor]:
        if block_table is not None:
            return _paged(values, block_table, kv_lengths or [], kv_heads)
        if packed:
            return _parts(values, kv_lengths or [len(values)])
        found = _heads(values, layout, kv_heads)
        if kv_lengths is None:
            return found
        ends = kv_lengths * (len(found) // len(kv_lengths))
        return [each[:, :end] for each, end in zip(found, ends, strict=True)]

    all_queries, all_keys, all_values = queries(query), keys(key), keys(value)
    if query_rope is not None and key_rope is not None:
        both = zip(all_queries, queries(query_rope), strict=True)
        all_queries = [torch.cat(pair, -1) for pair in both]
        all_keys = [torch.cat(pair, -1) for pair in zip(all_keys, keys(key_rope), strict=True)]
    results, logs = [], []
    for batch, (q, k, v) in enumerate(zip(all_queries, all_keys, all_values, strict=True)):
        rows = q.shape[1]
        used = rows if packed or lengths is None else lengths[min(batch, len(lengths) - 1)]
        hidden = mask.hidden(batch, used, k.shape[1])
        own = None if shift is None else shift[min(batch, len(shift) - 1)][..., :used, : k.shape[1]]
        found, most, total = attend(q[:, :used], k, v, scale, hidden, own, sink)
        log = (most + torch.log(total)).masked_fill(total == 0, float("inf"))
        pad = (0, 0, 0, rows - used)
        results.append(torch.nn.functional.pad(found, pad))
        logs.append(torch.nn.functional.pad(log, pad))
    out = {"BNSD_BSND": "BSND"}.get(layout, layout)
    lse = torch.cat([each.transpose(0, 1) for each in logs]) if packed else torch.stack(logs)
    return _whole(results, out).contiguous().to(query.dtype), lse.contiguous()


@by_hand("npu::npu_fused_infer_attention_score", exact=True)
def _fused_infer_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    pse_shift: torch.Tensor | None = None,
    atten_mask: torch.Tensor | None = None,
    actual_seq_lengths: Sequence[int] | None = None,
    actual_seq_lengths_kv: Sequence[int] | None = None,
    num_heads: int = 1,
    scale: float = 1.0,
    pre_tokens: int = 2147483647,
    next_tokens: int = 2147483647,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    sparse_mode: int = 0,
    softmax_lse_flag: bool = False,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    mask = Mask(atten_mask, sparse_mode, pre_tokens, next_tokens)
    result, lse = _serve(
        "npu_fused_infer_attention_score", query, key, value, num_heads, num_key_value_heads, scale,
        input_layout, mask, pse_shift, actual_seq_lengths, actual_seq_lengths_kv, **others,
    )  # fmt: skip
    return result, lse if softmax_lse_flag else torch.zeros(1)


@by_hand("npu::npu_fused_infer_attention_score_v2", exact=True)
def _fused_infer_attention_v2(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    pse_shift: torch.Tensor | None = None,
    atten_mask: torch.Tensor | None = None,
    actual_seq_qlen: Sequence[int] | None = None,
    actual_seq_kvlen: Sequence[int] | None = None,
    learnable_sink: torch.Tensor | None = None,
    num_query_heads: int = 1,
    num_key_value_heads: int = 0,
    softmax_scale: float = 1.0,
    pre_tokens: int = 2147483647,
    next_tokens: int = 2147483647,
    input_layout: str = "BSH",
    sparse_mode: int = 0,
    return_softmax_lse: bool = False,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    mask = Mask(atten_mask, sparse_mode, pre_tokens, next_tokens)
    result, lse = _serve(
        "npu_fused_infer_attention_score_v2", query, key, value, num_query_heads,
        num_key_value_heads, softmax_scale, input_layout, mask, pse_shift, actual_seq_qlen,
        actual_seq_kvlen, sink=learnable_sink, **others,
    )  # fmt: skip
    return result, lse if return_softmax_lse else torch.zeros(1)


@by_hand("npu::npu_prompt_flash_attention", exact=True)
def _prompt_flash_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    atten_mask: torch.Tensor | None = None,
    pse_shift: torch.Tensor | None = None,
    actual_seq_lengths: Sequence[int] | None = None,
    num_heads: int = 1,
    scale_value: float = 1.0,
    pre_tokens: int = 2147483647,
    next_tokens: int = 0,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    actual_seq_lengths_kv: Sequence[int] | None = None,
    sparse_mode: int = 0,
    **others: Any,
) -> torch.Tensor:
    mask = Mask(atten_mask, sparse_mode, pre_tokens, next_tokens)
    return _serve(
        "npu_prompt_flash_attention", query, key, value, num_heads, num_key_value_heads,
        scale_value, input_layout, mask, pse_shift, actual_seq_lengths, actual_seq_lengths_kv,
        **others,
    )[0]  # fmt: skip


@by_hand("npu::npu_incre_flash_attention", exact=True)
def _incre_flash_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    atten_mask: torch.Tensor | None = None,
    pse_shift: torch.Tensor | None = None,
    actual_seq_lengths: Sequence[int] | None = None,
    num_heads: int = 1,
    scale_value: float = 1.0,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    **others: Any,
) -> torch.Tensor:
    return _serve(
        "npu_incre_flash_attention", query, key, value, num_heads, num_key_value_heads, scale_value,
        input_layout, Mask(atten_mask), pse_shift, None, actual_seq_lengths, **others,
    )[0]  # fmt: skip


def _train(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    head_num: int,
    layout: str,
    mask: Mask,
    scale: float,
    pse: torch.Tensor | None,
    lengths: Sequence[int] | None,
    kv_lengths: Sequence[int] | None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if layout == "TND":
        queries = _parts(query, lengths or [len(query)])
        keys, values = (_parts(each, kv_lengths or [len(each)]) for each in (key, value))
    else:
        queries = _heads(query, layout, head_num)
        size = queries[0].shape[-1]
        folded = layout in ("BSH", "SBH")
        kv_heads = key.shape[-1] // size if folded else 0
        keys, values = (_heads(each, layout, kv_heads) for each in (key, value))
    found = []
    for batch, (q, k, v) in enumerate(zip(queries, keys, values, strict=True)):
        shift = None if pse is None else pse[min(batch, len(pse) - 1)]
        hidden = mask.hidden(batch, q.shape[1], k.shape[1])
        found.append(attend(q, k, v, scale, hidden, shift))
    results, most, total = zip(*found, strict=True)
    side = "TND" if layout == "TND" else "BNSD"
    return (
        _whole(results, layout),
        _whole(most, side).expand(*_whole(most, side).shape[:-1], _LANES),
        _whole(total, side).expand(*_whole(total, side).shape[:-1], _LANES),
    )


@by_hand("npu::npu_fusion_attention", exact=True)
def _fusion_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    head_num: int,
    input_layout: str,
    pse: torch.Tensor | None = None,
    padding_mask: torch.Tensor | None = None,
    atten_mask: torch.Tensor | None = None,
    scale: float = 1.0,
    keep_prob: float = 1.0,
    pre_tockens: int = 2147483647,
    next_tockens: int = 2147483647,
    inner_precise: int = 0,
    prefix: Sequence[int] | None = None,
    actual_seq_qlen: Sequence[int] | None = None,
    actual_seq_kvlen: Sequence[int] | None = None,
    sparse_mode: int = 0,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, int, int, int]:
    _refuse(
        "npu_fusion_attention", {**others, "padding_mask": padding_mask}, "padding_mask", "sink"
    )
    if keep_prob != 1:
        raise NotImplementedError("npu_fusion_attention: the formula has keep_prob 1 only")
    mask = Mask(atten_mask, sparse_mode, pre_tockens, next_tockens)
    result, most, total = _train(
        query,
        key,
        value,
        head_num,
        input_layout,
        mask,
        scale,
        pse,
        actual_seq_qlen,
        actual_seq_kvlen,
    )
    return (
        result.contiguous().to(query.dtype),
        most.contiguous(),
        total.contiguous(),
        torch.empty(0),
        0,
        0,
        0,
    )


@by_hand("npu::npu_fusion_attention_grad", exact=True)
def _fusion_attention_grad(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    dy: torch.Tensor,
    head_num: int,
    input_layout: str,
    *,
    pse: torch.Tensor | None = None,
    atten_mask: torch.Tensor | None = None,
    scale_value: float = 1.0,
    keep_prob: float = 1.0,
    pre_tockens: int = 2147483647,
    next_tockens: int = 2147483647,
    actual_seq_qlen: Sequence[int] | None = None,
    actual_seq_kvlen: Sequence[int] | None = None,
    sparse_mode: int = 0,
    **others: Any,
) -> tuple[torch.Tensor, ...]:
    mask = Mask(atten_mask, sparse_mode, pre_tockens, next_tockens)

    def forward(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return _train(
            query,
            key,
            value,
            head_num,
            input_layout,
            mask,
            scale_value,
            pse,
            actual_seq_qlen,
            actual_seq_kvlen,
        )[0]

    wide = [each.float() for each in (query, key, value)]
    found = gradients(forward, wide, dy.float())
    given = [each.to(like.dtype) for each, like in zip(found, (query, key, value), strict=True)]
    return (*given, *(torch.empty(0, dtype=query.dtype) for _ in range(2)))


@by_hand("npu::npu_attention_update", exact=True)
def _attention_update(
    lse: Sequence[torch.Tensor], local_out: Sequence[torch.Tensor], update_type: int
) -> tuple[torch.Tensor, torch.Tensor]:
    logs = torch.stack([each.float() for each in lse])
    # A part without keys says inf.
    logs = logs.masked_fill(logs == float("inf"), _NONE)
    total = torch.logsumexp(logs, 0)
    weights = torch.nan_to_num(torch.exp(logs - total))
    parts = torch.stack([each.float() for each in local_out])
    out = (weights.unsqueeze(-1) * parts).sum(0).to(local_out[0].dtype)
    return out, total if update_type == 1 else torch.empty(0)


# --- caches in blocks ---


def _put(cache: torch.Tensor, slots: torch.Tensor, rows: torch.Tensor, mode: str | None) -> None:
    """Write rows of tokens into a cache of blocks; a slot below 0 stands for no token."""
    kept = slots >= 0
    slots, rows = slots[kept].long(), rows[kept]
    if mode not in (None, "", "Norm", "PA_NZ"):
        raise NotImplementedError(f"cache_mode {mode}, want Norm or PA_NZ")
    if mode == "PA_NZ":
        size, last = cache.shape[2], cache.shape[3]
        cache[slots // size, :, slots % size] = rows.reshape(len(rows), -1, last)
    else:
        size = cache.shape[1]
        cache[slots // size, slots % size] = rows.reshape(len(rows), *cache.shape[2:])


@by_hand("npu::npu_scatter_pa_kv_cache", exact=True)
def _scatter_pa_kv_cache(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    *,
    compress_lens: torch.Tensor | None = None,
    compress_seq_offsets: torch.Tensor | None = None,
    seq_lens: torch.Tensor | None = None,
    cache_mode: str | None = "PA_NZ",
) -> None:
    given = {"compress_lens": compress_lens, "compress_seq_offsets": compress_seq_offsets}
    _refuse("npu_scatter_pa_kv_cache", given, *given)
    _put(key_cache, slot_mapping, key, cache_mode)
    _put(value_cache, slot_mapping, value, cache_mode)


@by_hand("npu::npu_scatter_pa_kv_cache_functional", exact=True)
def _scatter_pa_kv_cache_functional(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    caches = key_cache.clone(), value_cache.clone()
    _scatter_pa_kv_cache(key, value, *caches, slot_mapping, **others)
    return caches


@by_hand("npu::npu_gather_pa_kv_cache", exact=True)
def _gather_pa_kv_cache(
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    seq_offset: torch.Tensor | None = None,
    is_seq_lens_cumsum: bool = False,
) -> None:
    lengths = (seq_lens.diff() if is_seq_lens_cumsum else seq_lens).tolist()
    offsets = [0] * len(lengths) if seq_offset is None else seq_offset.tolist()
    for cache, out in ((key_cache, key), (value_cache, value)):
        # In the format NZ a block has its rows behind the heads.
        if cache.shape[2:] != out.shape[1:]:
            cache = cache.transpose(1, 2).reshape(cache.shape[0], cache.shape[2], *out.shape[1:])
        size, row = cache.shape[1], 0
        for blocks, length, offset in zip(block_tables.long(), lengths, offsets, strict=True):
            place = torch.arange(min(length, len(out) - row))
            block = place // size + offset // size
            number = blocks[block.clamp(max=len(blocks) - 1)]
            known = (block < len(blocks)) & (number >= 0) & (number < len(cache))
            found = cache[number.clamp(0, len(cache) - 1), place % size]
            found[~known] = 0
            out[row : row + len(place)] = found
            row += len(place)


@by_hand("npu::npu_gather_pa_kv_cache_functional", exact=True)
def _gather_pa_kv_cache_functional(
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    **others: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    both = key.clone(), value.clone()
    _gather_pa_kv_cache(key_cache, value_cache, block_tables, seq_lens, *both, **others)
    return both
