# SPDX-License-Identifier: Apache-2.0
"""Operators of serving engines: formulas on the CPU against references in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch_npu
from torch.nn import functional as F

RNG = np.random.default_rng(5)
ROWS, COLUMNS = 6, 8
X, Y = RNG.normal(size=(2, ROWS, COLUMNS))
GAMMA, BETA, SMOOTH = RNG.uniform(0.5, 2, (3, COLUMNS))
SCALES = RNG.uniform(0.5, 2, (3, COLUMNS))
A = RNG.integers(-100, 100, (ROWS, COLUMNS))
B = RNG.integers(-100, 100, (COLUMNS, 5))
ENDS = np.array([2, 2, 6])
EXPERTS = np.array([[2, 0], [1, 2], [0, 1], [2, 1], [0, 2], [2, 0]])


def dev(values: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(np.asarray(values)).to(dtype).npu()


def i8(values: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(values), -128, 127)


def quantised(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale = np.abs(values).max(-1) / 127
    return i8(values / scale[..., None]), scale


def rms(x: np.ndarray, gamma: np.ndarray = GAMMA, epsilon: float = 1e-6) -> np.ndarray:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon) * gamma


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def silu(x: np.ndarray) -> np.ndarray:
    return x * sigmoid(x)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def of_group(values: np.ndarray) -> np.ndarray:
    return np.stack(
        [values[next(g for g, end in enumerate(ENDS) if row < end)] for row in range(ROWS)]
    )


def compare(got: Any, want: Any) -> None:
    got = got if isinstance(got, (tuple, list)) else [got]
    for one, other in zip(got, want if isinstance(want, (tuple, list)) else [want], strict=False):
        if other is None:
            continue
        host = one.cpu()
        loose = 1 if host.dtype in (torch.int8, torch.uint8) else 2e-5
        # A value that lies between two integers may go to either.
        np.testing.assert_allclose(host.double().numpy(), other, rtol=2e-5, atol=loose)


def params(scales: np.ndarray) -> torch.Tensor:
    return torch_npu.npu_trans_quant_param(dev(scales))


Case = tuple[Callable[[], Any], Callable[[], Any]]
MOSTLY_EXACT: dict[str, Case] = {
    "dynamic_quant": (lambda: torch_npu.npu_dynamic_quant(dev(X)), lambda: quantised(X)),
    "dynamic_quant, smooth": (
        lambda: torch_npu.npu_dynamic_quant(dev(X), smooth_scales=dev(SMOOTH)),
        lambda: quantised(X * SMOOTH),
    ),
    "dynamic_quant, groups": (
        lambda: torch_npu.npu_dynamic_quant(
            dev(X), smooth_scales=dev(SCALES), group_index=dev(ENDS, torch.int32)
        ),
        lambda: quantised(X * of_group(SCALES)),
    ),
    "dynamic_quant_asymmetric": (
        lambda: torch_npu.npu_dynamic_quant_asymmetric(dev(X)),
        lambda: _asymmetric(X),
    ),
    "group_quant": (
        lambda: torch_npu.npu_group_quant(
            dev(X), dev(SCALES), dev(ENDS, torch.int32), offset=dev([3.0])
        ),
        lambda: i8(X * of_group(SCALES) + 3),
    ),
    "quantize": (
        lambda: torch_npu.npu_quantize(
            dev(X), dev(SMOOTH / 9), dev(np.full(COLUMNS, 4), torch.int32), torch.qint8, 1
        ),
        lambda: i8(X / (SMOOTH / 9) + 4),
    ),
    "anti_quant": (
        lambda: torch_npu.npu_anti_quant(
            dev(A, torch.int8), dev(SMOOTH), offset=dev(BETA), dst_dtype=torch.bfloat16
        ).float() * 0,
        lambda: np.zeros((ROWS, COLUMNS)),
    ),
    "quant_matmul": (
        lambda: torch_npu.npu_quant_matmul(
            dev(A, torch.int8), dev(B, torch.int8), dev(np.full(5, 0.01)),
            offset=dev(np.full(5, 2.0)),
        ),
        lambda: i8(A @ B * 0.01 + 2),
    ),
    "quant_matmul, packed scale, int32 bias": (
        lambda: torch_npu.npu_quant_matmul(
            dev(A, torch.int8), dev(B, torch.int8), params(np.full(5, 2**-9)),
            bias=dev(np.arange(5), torch.int32), output_dtype=torch.float16,
        ).float(),
        lambda: ((A @ B + np.arange(5)) * 2**-9).astype(np.float16),
    ),
    "quant_matmul, per token": (
        lambda: torch_npu.npu_quant_matmul(
            dev(A, torch.int8), dev(B, torch.int8), dev(np.full(5, 2**-7)),
            pertoken_scale=dev(2.0 ** -np.arange(ROWS)), output_dtype=torch.bfloat16,
        ).float() / 2**8,
        lambda: torch.tensor((A @ B * 2**-7) * (2.0 ** -np.arange(ROWS))[:, None])
        .bfloat16().double().numpy() / 2**8,
    ),
    "weight_quant_batchmatmul": (
        lambda: torch_npu.npu_weight_quant_batchmatmul(
            dev(X, torch.float16), dev(B, torch.int8), dev(np.full(5, 2**-7), torch.float16),
            dev(np.full(5, 2.0), torch.float16),
        ).float(),
        lambda: (X.astype(np.float16).astype(float) @ ((B + 2) * 2**-7)).astype(np.float16),
    ),
    "transpose_batchmatmul": (
        lambda: torch_npu.npu_transpose_batchmatmul(
            dev(X.reshape(3, 2, 8)), dev(Y.reshape(2, 8, 3)), perm_x1=(1, 0, 2), perm_x2=(0, 1, 2),
            perm_y=(1, 0, 2),
        ),
        lambda: (X.reshape(3, 2, 8).transpose(1, 0, 2) @ Y.reshape(2, 8, 3)).transpose(1, 0, 2),
    ),
    "swiglu_quant": (
        lambda: torch_npu.npu_swiglu_quant(
            dev(X), smooth_scales=dev(SCALES[:, :4]), group_index=dev(ENDS, torch.int32),
            quant_mode=1,
        )[0],
        lambda: quantised(X[:, :4] * silu(X[:, 4:]) * of_group(SCALES[:, :4]))[0],
    ),
    "dequant_swiglu_quant": (
        lambda: torch_npu.npu_dequant_swiglu_quant(
            dev(A, torch.int32), weight_scale=dev(SMOOTH / 50), activation_scale=dev(GAMMA[:ROWS]),
            activate_left=True, quant_mode=1,
        ),
        lambda: quantised(
            silu((A * SMOOTH / 50 * GAMMA[:ROWS, None])[:, :4])
            * (A * SMOOTH / 50 * GAMMA[:ROWS, None])[:, 4:]
        ),
    ),
    "quant_scatter": (
        lambda: torch_npu.npu_quant_scatter(
            dev(np.zeros((2, 1, 6, 8)), torch.int8), dev([1, 3], torch.int32),
            dev(X[:4].reshape(2, 1, 2, 8)), dev(SMOOTH.reshape(1, 1, 1, 8) / 40),
        ),
        lambda: _scattered(np.zeros((2, 1, 6, 8)), i8(X[:4].reshape(2, 1, 2, 8) / (SMOOTH / 40))),
    ),
    "rms_norm_quant": (
        lambda: torch_npu.npu_rms_norm_quant(
            dev(X), dev(GAMMA), dev(BETA), dev([20.0]), dev([5], torch.int8)
        ),
        lambda: i8((rms(X) + BETA) * 20 + 5),
    ),
    "add_rms_norm_quant": (
        lambda: torch_npu.npu_add_rms_norm_quant(
            dev(X), dev(Y), dev(GAMMA), dev(SMOOTH / 30), dev(np.full(COLUMNS, 3), torch.int32)
        ),
        lambda: (i8(rms(X + Y) / (SMOOTH / 30) + 3), None, X + Y),
    ),
    "add_rms_norm_dynamic_quant": (
        lambda: torch_npu.npu_add_rms_norm_dynamic_quant(
            dev(X), dev(Y), dev(GAMMA), smooth_scale1=dev(SMOOTH), smooth_scale2=dev(BETA)
        ),
        lambda: (
            quantised(rms(X + Y) * SMOOTH)[0], quantised(rms(X + Y) * BETA)[0], X + Y,
            quantised(rms(X + Y) * SMOOTH)[1], quantised(rms(X + Y) * BETA)[1],
        ),
    ),
    "gemma_rms_norm": (
        lambda: torch_npu.npu_gemma_rms_norm(dev(X), dev(GAMMA)),
        lambda: rms(X, GAMMA + 1),
    ),
    "add_rms_norm_cast": (
        lambda: torch_npu.npu_add_rms_norm_cast(dev(X), dev(Y), dev(GAMMA)),
        lambda: (rms(X + Y), rms(X + Y), None, X + Y),
    ),
    "add_layer_norm": (
        lambda: torch_npu.npu_add_layer_norm(dev(X), dev(Y), dev(GAMMA), dev(BETA)),
        lambda: ((X + Y - (X + Y).mean(-1, keepdims=True))
                 / np.sqrt((X + Y).var(-1, keepdims=True) + 1e-5) * GAMMA + BETA),
    ),
    "clipped_swiglu": (
        lambda: torch_npu.npu_clipped_swiglu(dev(9 * X), dim=-1),
        lambda: (np.minimum(9 * X[:, ::2], 7) * sigmoid(1.702 * np.minimum(9 * X[:, ::2], 7))
                 * (np.clip(9 * X[:, 1::2], -7, 7) + 1)),
    ),
    "geglu": (
        lambda: torch_npu.npu_geglu(dev(X))[0],
        lambda: X[:, :4] * 0.5 * X[:, 4:]
        * (1 + np.tanh(np.sqrt(2 / np.pi) * (X[:, 4:] + 0.044715 * X[:, 4:] ** 3))),
    ),
    "interleave_rope": (
        lambda: torch_npu.npu_interleave_rope(
            dev(X.reshape(1, 2, 3, 8)), dev(Y[:3].reshape(1, 1, 3, 8)),
            dev(Y[3:].reshape(1, 1, 3, 8)),
        ),
        lambda: _half_turn(_sorted_pairs(X.reshape(1, 2, 3, 8)), Y[:3], Y[3:]),
    ),
    "apply_rotary_pos_emb": (
        lambda: torch_npu.npu_apply_rotary_pos_emb(
            dev(X.reshape(1, 3, 2, 8)), dev(-X.reshape(1, 3, 2, 8)), dev(Y[:3].reshape(1, 3, 1, 8)),
            dev(Y[3:].reshape(1, 3, 1, 8)),
        ),
        lambda: tuple(
            _half_turn(each, Y[:3].reshape(1, 3, 1, 8), Y[3:].reshape(1, 3, 1, 8))
            for each in (X.reshape(1, 3, 2, 8), -X.reshape(1, 3, 2, 8))
        ),
    ),
    "mrope": (
        lambda: torch_npu.npu_mrope(
            dev([[0, 1, 2], [2, 1, 0], [1, 1, 1]], torch.int64), dev(X.reshape(3, 16)),
            dev(Y.reshape(3, 16)), dev(SCALES), 8, mrope_section=[2, 1, 1],
        ),
        lambda: tuple(_mrope(each.reshape(3, 2, 8)).reshape(3, 16) for each in (X, Y)),
    ),
    "moe_gating_top_k_softmax": (
        lambda: torch_npu.npu_moe_gating_top_k_softmax(dev(X), k=2),
        lambda: (
            -np.sort(-softmax(X))[:, :2], np.argsort(-X, kind="stable")[:, :2],
            np.arange(12).reshape(2, 6).T,
        ),
    ),
    "moe_gating_top_k": (
        lambda: torch_npu.npu_moe_gating_top_k(
            dev(X), 2, bias=dev(BETA), k_group=1, group_count=2, group_select_mode=1, norm_type=1,
            routed_scaling_factor=2.5,
        ),
        lambda: _gated(),
    ),
    "moe_init_routing": (
        lambda: torch_npu.npu_moe_init_routing(
            dev(X), dev(np.arange(12).reshape(2, 6).T, torch.int32), dev(EXPERTS, torch.int32), 6
        ),
        lambda: _routed(np.arange(12).reshape(2, 6).T.ravel(), 6),
    ),
    "moe_init_routing_v2": (
        lambda: torch_npu.npu_moe_init_routing_v2(
            dev(X), dev(EXPERTS, torch.int32), active_num=12, expert_num=3,
            expert_tokens_num_type=1,
            expert_tokens_num_flag=True, active_expert_range=[0, 3], quant_mode=1, row_idx_type=0,
        ),
        lambda: _routed_v2(),
    ),
    "moe_compute_expert_tokens": (
        lambda: torch_npu.npu_moe_compute_expert_tokens(dev([0, 0, 2, 2, 2, 3], torch.int32), 5),
        lambda: [np.array([2, 2, 5, 6, 6])],
    ),
    "moe_finalize_routing": (
        lambda: torch_npu.npu_moe_finalize_routing(
            dev(np.concatenate([X, Y])), dev(Y), None, dev(SCALES),
            dev(GAMMA[:2] * np.ones((6, 2))),
            dev(np.arange(12)[::-1].copy(), torch.int32), dev(EXPERTS, torch.int32),
        ),
        lambda: Y + sum(
            GAMMA[k] * (np.concatenate([X, Y])[11 - (np.arange(6) + 6 * k)] + SCALES[EXPERTS[:, k]])
            for k in range(2)
        ),
    ),
    "moe_re_routing": (
        lambda: torch_npu.npu_moe_re_routing(
            dev(X, torch.float16), dev([[1, 2], [2, 1]], torch.int32)
        )[2:],
        lambda: [np.array([0, 3, 4, 1, 2, 5]), np.array([3, 3])],
    ),
    "moe_token_permute": (
        lambda: torch_npu.npu_moe_token_permute(dev(X), dev(EXPERTS, torch.int64)),
        lambda: (
            X[np.argsort(EXPERTS.ravel(), kind="stable") // 2],
            np.argsort(np.argsort(EXPERTS.ravel(), kind="stable")),
        ),
    ),
    "moe_token_unpermute": (
        lambda: torch_npu.npu_moe_token_unpermute(
            dev(np.concatenate([X, Y])), dev(np.arange(12)[::-1].copy(), torch.int32),
            dev(GAMMA[:2] * np.ones((6, 2))),
        ),
        lambda: np.stack([GAMMA[0] * np.concatenate([X, Y])[11 - 2 * i]
                          + GAMMA[1] * np.concatenate([X, Y])[10 - 2 * i] for i in range(6)]),
    ),
    "grouped_matmul, rows": (
        lambda: torch_npu.npu_grouped_matmul(
            [dev(X)], [dev(np.stack([B, 2 * B, B - 1]))], group_list=dev(ENDS, torch.int64),
            split_item=3, group_type=0,
        ),
        lambda: [np.concatenate([X[:2] @ B, X[2:] @ (B - 1)])],
    ),
    "grouped_matmul, int8": (
        lambda: [torch_npu.npu_grouped_matmul(
            [dev(A, torch.int8)], [dev(np.stack([B, B // 2, B - 1]), torch.int8)],
            scale=[dev(np.full((3, 5), 2**-12))], per_token_scale=[dev(GAMMA[:ROWS])],
            group_list=dev([2, 0, 4], torch.int64), group_list_type=1, split_item=3, group_type=0,
            output_dtype=torch.float16,
        )[0].float()],
        lambda: [
            (np.concatenate([A[:2] @ B, A[2:] @ (B - 1)]) * 2**-12 * GAMMA[:ROWS, None])
            .astype(np.float16)
        ],
    ),
    "scatter_nd_update": (
        lambda: torch_npu.npu_scatter_nd_update(dev(X), dev([[4], [1]], torch.int32), dev(Y[:2])),
        lambda: np.stack([X[0], Y[1], X[2], X[3], Y[0], X[5]]),
    ),
    "scatter_update": (
        lambda: torch_npu.scatter_update(
            dev(np.zeros((2, 1, 6, 8))), dev([1, 3], torch.int64),
            dev(X[:4].reshape(2, 1, 2, 8)), -2,
        ),
        lambda: _scattered(np.zeros((2, 1, 6, 8)), X[:4].reshape(2, 1, 2, 8)),
    ),
    "top_k_top_p": (
        lambda: torch.isinf(
            torch_npu.npu_top_k_top_p(
                dev(X), dev(np.full(6, 0.7)), dev(np.full(6, 5), torch.int32)
            )
        ),
        lambda: _outside(0.7, 5),
    ),
}  # fmt: skip


def _asymmetric(x: np.ndarray) -> tuple[np.ndarray, ...]:
    scale = (x.max(-1) - x.min(-1)) / 255
    offset = 127 - x.max(-1) / scale
    return i8(x / scale[:, None] + offset[:, None]), scale, offset


def _scattered(values: np.ndarray, updates: np.ndarray) -> np.ndarray:
    values[0, :, 1:3], values[1, :, 3:5] = updates[0], updates[1]
    return values


def _sorted_pairs(x: np.ndarray) -> np.ndarray:
    return np.concatenate([x[..., ::2], x[..., 1::2]], -1)


def _half_turn(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    half = x.shape[-1] // 2
    return x * cos + np.concatenate([-x[..., half:], x[..., :half]], -1) * sin


def _mrope(x: np.ndarray) -> np.ndarray:
    positions = np.array([[0, 1, 2], [2, 1, 0], [1, 1, 1]])
    axis = [0, 0, 1, 2]  # of each of the four angles
    cos, sin = (
        np.stack(
            [[SCALES[positions[axis[i], token], part + i] for i in range(4)] for token in range(3)]
        )
        for part in (0, 4)
    )
    cos, sin = (np.concatenate([each, each], -1)[:, None] for each in (cos, sin))
    return _half_turn(x, cos, sin)


def _gated() -> tuple[np.ndarray, ...]:
    norm = sigmoid(X)
    biased = norm + BETA
    rows = []
    for row in range(ROWS):
        worth = [np.sort(biased[row, g * 4 : g * 4 + 4])[-2:].sum() for g in range(2)]
        group = int(np.argmax(worth))
        rows.append(group * 4 + np.argsort(-biased[row, group * 4 : group * 4 + 4])[:2])
    chosen = np.array(rows)
    y = np.take_along_axis(norm, chosen, 1)
    return y / y.sum(-1, keepdims=True) * 2.5, chosen, norm


def _routed(row: np.ndarray, count: int) -> tuple[np.ndarray, ...]:
    order = np.argsort(EXPERTS.ravel(), kind="stable")
    place = np.empty(12, int)
    place[row[order]] = np.arange(12)
    return X[row[order] % count], place, np.sort(EXPERTS.ravel())


def _routed_v2() -> tuple[np.ndarray, ...]:
    order = np.argsort(EXPERTS.ravel(), kind="stable")
    rows, scale = quantised(X[order // 2])
    return rows, np.argsort(order), np.bincount(EXPERTS.ravel()), scale


def _outside(p: float, k: int) -> np.ndarray:
    result = np.zeros(X.shape)
    for row in range(ROWS):
        order = np.argsort(-X[row])
        kept = order[:k]
        probability = softmax(X[row, kept])
        before = np.concatenate([[0], np.cumsum(probability)[:-1]])
        result[row] = 1
        result[row, kept[before < p]] = 0
    return result


@pytest.mark.parametrize("name", MOSTLY_EXACT)
def test_formula(name: str) -> None:
    call, reference = MOSTLY_EXACT[name]
    compare(call(), reference())


def test_anti_quant_is_exact() -> None:
    got = torch_npu.npu_anti_quant(dev(A, torch.int8), dev(SMOOTH), offset=dev(BETA))
    smooth, beta = (each.astype(np.float32).astype(float) for each in (SMOOTH, BETA))
    assert got.dtype == torch.float16
    np.testing.assert_array_equal(got.cpu().numpy(), ((A + beta) * smooth).astype(np.float16))


# --- attention ---

Q, K, V = (
    torch.tensor(RNG.normal(size=(2, heads, rows, 4))) for heads, rows in ((4, 3), (2, 7), (2, 7))
)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, hidden: torch.Tensor | None = None
) -> torch.Tensor:
    """In float64, heads x rows x size."""
    k, v = k.repeat_interleave(2, -3), v.repeat_interleave(2, -3)
    mask = None if hidden is None else ~hidden
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.5)


CAUSAL = torch.ones(3, 7, dtype=torch.bool).triu(5)
"""From the lower right corner."""


def f32(values: torch.Tensor) -> torch.Tensor:
    return values.float().npu()


def rows_first(values: torch.Tensor) -> torch.Tensor:
    return values.transpose(1, 2)


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "BNSD": lambda values: values,
    "BSND": rows_first,
    "BSH": lambda values: rows_first(values).flatten(2),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_and_masks(layout: str) -> None:
    put = LAYOUTS[layout]
    given = {"num_heads": 4, "num_key_value_heads": 2, "scale": 0.5, "input_layout": layout}
    q, k, v = (f32(put(each).contiguous()) for each in (Q, K, V))
    plain, _ = torch_npu.npu_fused_infer_attention_score(q, k, v, **given)
    compare(plain, put(attention(Q, K, V)).numpy())
    square = torch.ones(2048, 2048, dtype=torch.bool).triu(1).npu()
    causal, lse = torch_npu.npu_fused_infer_attention_score(
        q, k, v, atten_mask=square, sparse_mode=3, softmax_lse_flag=True, **given
    )
    compare(causal, put(attention(Q, K, V, CAUSAL)).numpy())
    scores = (Q @ K.repeat_interleave(2, 1).transpose(2, 3) * 0.5).masked_fill(CAUSAL, -torch.inf)
    compare(lse, scores.logsumexp(-1, keepdim=True).numpy())
    prompt = torch_npu.npu_prompt_flash_attention(
        q, k, v, num_heads=4, num_key_value_heads=2, scale_value=0.5, input_layout=layout,
        next_tokens=2147483647, actual_seq_lengths_kv=[5, 7],
    )  # fmt: skip
    short = torch.stack([attention(Q[0], K[0, :, :5], V[0, :, :5]), attention(Q[1], K[1], V[1])])
    compare(prompt, put(short).numpy())


def test_blocks_and_lengths() -> None:
    """One query for each sequence, over a cache in blocks of four rows."""
    cache = torch.zeros(2, 5, 4, 8, dtype=torch.float64)
    table = torch.tensor([[4, 1], [0, 3]], dtype=torch.int32)
    for which, values in enumerate((K, V)):
        for batch, length in enumerate((5, 7)):
            for row in range(length):
                block = table[batch, row // 4]
                cache[which, block, row % 4] = values[batch, :, row].flatten()
    q = Q[:, :, :1]
    want = torch.stack([attention(q[b], K[b, :, :n], V[b, :, :n]) for b, n in ((0, 5), (1, 7))])
    keys, values = f32(cache[0]), f32(cache[1])
    settings: dict[str, Any] = {
        "num_key_value_heads": 2,
        "block_table": table.npu(),
        "block_size": 4,
    }
    got, _ = torch_npu.npu_fused_infer_attention_score(
        f32(rows_first(q).flatten(2)), keys, values, num_heads=4, scale=0.5, input_layout="BSH",
        actual_seq_lengths_kv=[5, 7], **settings,
    )  # fmt: skip
    compare(got, rows_first(want).flatten(2).numpy())
    second, _ = torch_npu.npu_fused_infer_attention_score_v2(
        f32(q[:, :, 0]), keys, values, num_query_heads=4, softmax_scale=0.5, input_layout="TND",
        actual_seq_qlen=[1, 2], actual_seq_kvlen=[5, 7], **settings,
    )  # fmt: skip
    compare(second, want[:, :, 0].numpy())
    step = torch_npu.npu_incre_flash_attention(
        f32(rows_first(q).flatten(2)), keys, values, num_heads=4, scale_value=0.5,
        input_layout="BSH", actual_seq_lengths=[5, 7], **settings,
    )  # fmt: skip
    compare(step, rows_first(want).flatten(2).numpy())


def test_fusion_attention_and_its_derivative() -> None:
    host = [each.clone().requires_grad_() for each in (Q, K, V)]
    device = [f32(each).requires_grad_() for each in (Q, K, V)]
    got = torch_npu.npu_fusion_attention(*device, 4, "BNSD", atten_mask=CAUSAL.npu(), scale=0.5)
    q, k, v = host
    want = attention(q, k, v, CAUSAL)
    compare(got[0].detach(), want.detach().numpy())
    assert got[1].shape == got[2].shape == (2, 4, 3, 8)
    want.square().sum().backward()
    got[0].square().sum().backward()
    for one, other in zip(device, host, strict=True):
        assert one.grad is not None and other.grad is not None
        np.testing.assert_allclose(one.grad.cpu().numpy(), other.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_attention_update() -> None:
    logs, parts = RNG.normal(size=(2, 5)), RNG.normal(size=(2, 5, 8))
    weights = np.exp(logs) / np.exp(logs).sum(0)
    got = torch_npu.npu_attention_update([dev(x) for x in logs], [dev(x) for x in parts], 1)
    compare(got, ((weights[..., None] * parts).sum(0), np.log(np.exp(logs).sum(0))))


@pytest.mark.parametrize("mode", ["Norm", "PA_NZ"])
def test_caches_in_blocks(mode: str) -> None:
    rows = torch.arange(3 * 2 * 16, dtype=torch.float32).reshape(3, 2, 16)
    slots = torch.tensor([5, 0, 7], dtype=torch.int32)
    shape = (2, 4, 2, 16) if mode == "Norm" else (2, 2, 4, 16)
    keys, values = torch.zeros(shape).npu(), torch.zeros(shape).npu()
    torch_npu.npu_scatter_pa_kv_cache(
        rows.npu(), -rows.npu(), keys, values, slots.npu(), cache_mode=mode
    )
    for cache, want in ((keys.cpu(), rows), (values.cpu(), -rows)):
        for token, slot in enumerate(slots.tolist()):
            found = cache[slot // 4, slot % 4] if mode == "Norm" else cache[slot // 4, :, slot % 4]
            assert torch.equal(found, want[token])
        assert int((cache != 0).sum()) == int((want != 0).sum())
    key, value = torch.empty(3, 2, 16).npu(), torch.empty(3, 2, 16).npu()
    torch_npu.npu_gather_pa_kv_cache(
        keys, values, torch.tensor([[1], [0]], dtype=torch.int32).npu(),
        torch.tensor([2, 1], dtype=torch.int32).npu(), key, value,
    )  # fmt: skip
    assert torch.equal(key.cpu(), torch.stack([torch.zeros(2, 16), rows[0], rows[1]]))
    assert torch.equal(value.cpu(), -key.cpu())


def test_kv_rmsnorm_rope_cache() -> None:
    kv, angles = RNG.normal(size=(2, 1, 1, 12)), RNG.normal(size=(2, 2, 1, 1, 4))
    k_cache, ckv_cache = torch.zeros(2, 1, 5, 4).npu(), torch.zeros(2, 1, 5, 8).npu()
    got = torch_npu.npu_kv_rmsnorm_rope_cache(
        dev(kv), dev(GAMMA), dev(angles[0]), dev(angles[1]), dev([[3], [1]], torch.int64), k_cache,
        ckv_cache, is_output_kv=True,
    )  # fmt: skip
    turned = _half_turn(_sorted_pairs(kv[..., 8:]), *angles)
    normed = rms(kv[..., :8], GAMMA, 1e-5)
    compare(got[2:], (turned, normed))
    for cache, want in ((k_cache, turned), (ckv_cache, normed)):
        compare([cache[0, :, 3], cache[1, :, 1]], [want[0, :, 0], want[1, :, 0]])
        assert int((cache.cpu() != 0).sum()) == want.size


# --- what has no formula ---


def test_what_is_missing_says_so() -> None:
    x = torch.ones(4, 64, dtype=torch.bfloat16, device="npu")
    with pytest.raises(NotImplementedError) as caught:
        torch_npu.npu_moe_token_permute_with_routing_map(
            x, torch.ones(4, 2, dtype=torch.bool, device="npu"), num_out_tokens=8
        )
    text = str(caught.value)
    assert "aclnn" in text and "no formula" in text and "ops-transformer" in text, text
    assert "Next: aclgrad build" in text and "upgrade" not in text
    with pytest.raises(NotImplementedError, match=r"libatb\.so, which is not simulated\. Next:"):
        torch_npu._npu_reshape_and_cache()
    with pytest.raises(NotImplementedError, match="int8 without groups"):
        torch_npu.npu_quant_matmul(
            dev(A, torch.int32), dev(B, torch.int32), dev([1.0]), output_dtype=torch.float16
        )
