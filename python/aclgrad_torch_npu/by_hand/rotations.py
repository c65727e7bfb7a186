# SPDX-License-Identifier: Apache-2.0
"""Rotary position embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.by_hand.quantized import rounded
from aclgrad_torch_npu.by_hand.table import by_hand, gradients


def _half_turn(x: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


def _pair_turn(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)


_TURNS = {"half": _half_turn, "interleave": _pair_turn}


def _turn(x: torch.Tensor, mode: str) -> torch.Tensor:
    if mode not in _TURNS:
        raise NotImplementedError(f"rotary_mode {mode}, want {' or '.join(_TURNS)}")
    return _TURNS[mode](x)


def _turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mode: str) -> torch.Tensor:
    wide = x.float()
    return wide * cos.float() + _turn(wide, mode) * sin.float()


@by_hand("npu::npu_rotary_mul")
def _rotary_mul(
    x: torch.Tensor,
    r1: torch.Tensor,
    r2: torch.Tensor,
    rotary_mode: str = "half",
    rotate: torch.Tensor | None = None,
) -> torch.Tensor:
    turned = _turn(x, rotary_mode) if rotate is None else x @ rotate
    return x * r1 + turned * r2


@by_hand("npu::npu_rotary_mul_backward")
def _rotary_mul_backward(
    grad: torch.Tensor,
    x: torch.Tensor,
    r1: torch.Tensor,
    r2: torch.Tensor,
    rotary_mode: str = "half",
) -> tuple[torch.Tensor, ...]:
    return gradients(lambda *leaves: _rotary_mul(*leaves, rotary_mode), [x, r1, r2], grad)


def _sorted_pairs(x: torch.Tensor) -> torch.Tensor:
    """Even elements before odd ones."""
    return torch.cat([x[..., ::2], x[..., 1::2]], -1)


@by_hand("npu::npu_interleave_rope", exact=True)
def _interleave_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    return _turned(_sorted_pairs(x), cos, sin, "half").to(x.dtype)


@by_hand("npu::npu_apply_rotary_pos_emb", exact=True)
def _apply_rotary_pos_emb(
    query: torch.Tensor,
    key: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    layout: str = "BSND",
    rotary_mode: str = "half",
) -> tuple[torch.Tensor, torch.Tensor]:
    # Both change in place.
    query.copy_(_turned(query, cos, sin, rotary_mode))
    key.copy_(_turned(key, cos, sin, rotary_mode))
    return query, key


@by_hand("npu::npu_mrope", exact=True)
def _mrope(
    positions: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    cos_sin_cache: torch.Tensor,
    head_size: int,
    *,
    mrope_section: Sequence[int] | None = None,
    rotary_mode: str | None = "half",
    cache_mode: str | None = "default",
) -> tuple[torch.Tensor, torch.Tensor]:
    cos, sin = cos_sin_cache.float()[positions.long()].chunk(2, -1)
    if positions.dim() == 2:
        section = list(mrope_section or ())
        if cache_mode == "interleave":
            cos, sin = (_woven(each, section) for each in (cos, sin))
        else:
            cos, sin = (
                torch.cat([part[i] for i, part in enumerate(torch.split(each, section, -1))], -1)
                for each in (cos, sin)
            )
    mode = rotary_mode or "half"
    both = [
        torch.cat([each, each], -1) if mode == "half" else each.repeat_interleave(2, -1)
        for each in (cos, sin)
    ]
    factors = [each.unsqueeze(1) for each in both]
    size = factors[0].shape[-1]

    def turned(x: torch.Tensor) -> torch.Tensor:
        heads = x.reshape(len(x), -1, head_size)
        first = _turned(heads[..., :size], factors[0], factors[1], mode).to(x.dtype)
        return torch.cat([first, heads[..., size:]], -1).reshape(x.shape)

    return turned(query), turned(key)


def _woven(values: torch.Tensor, section: list[int]) -> torch.Tensor:
    result = values[0].clone()
    for axis in (1, 2):
        columns = slice(axis, section[axis] * 3, 3)
        result[..., columns] = values[axis][..., columns]
    return result


@by_hand("npu::npu_kv_rmsnorm_rope_cache", exact=True)
def _kv_rmsnorm_rope_cache(
    kv: torch.Tensor,
    gamma: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    index: torch.Tensor,
    k_cache: torch.Tensor,
    ckv_cache: torch.Tensor,
    *,
    k_rope_scale: torch.Tensor | None = None,
    c_kv_scale: torch.Tensor | None = None,
    k_rope_offset: torch.Tensor | None = None,
    c_kv_offset: torch.Tensor | None = None,
    v: torch.Tensor | None = None,
    epsilon: float = 1e-5,
    cache_mode: str = "Norm",
    is_output_kv: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    if v is not None or cache_mode not in ("Norm", "PA", "PA_BNSD"):
        raise NotImplementedError(
            f"npu_kv_rmsnorm_rope_cache: cache_mode {cache_mode}; the formula has Norm, PA, PA_BNSD"
        )
    normed, turning = torch.split(kv.float(), [len(gamma), kv.shape[-1] - len(gamma)], -1)
    normed = normed * torch.rsqrt(normed.square().mean(-1, keepdim=True) + epsilon) * gamma.float()
    turned = _turned(_sorted_pairs(turning), cos, sin, "half")
    for cache, values, scale, offset in (
        (k_cache, turned, k_rope_scale, k_rope_offset),
        (ckv_cache, normed, c_kv_scale, c_kv_offset),
    ):
        stored: Any = values
        if scale is not None:
            stored = values * scale.float() + (0 if offset is None else offset.float())
        stored = rounded(stored, cache.dtype)
        if cache_mode == "Norm":
            for batch, rows in enumerate(index.long()):
                kept = rows >= 0
                cache[batch, :, rows[kept]] = stored[batch][:, kept]
        else:
            slots, flat = index.flatten().long(), stored.transpose(1, 2).flatten(0, 1)
            kept = slots >= 0
            size = cache.shape[1]
            cache[slots[kept] // size, slots[kept] % size] = flat[kept]
    if not is_output_kv:
        return k_cache, ckv_cache, torch.empty(0, dtype=kv.dtype), torch.empty(0, dtype=kv.dtype)
    return k_cache, ckv_cache, turned.to(kv.dtype), normed.to(kv.dtype)
