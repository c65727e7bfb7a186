#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""References in NumPy for public operators whose mathematics their name settles.

A function gets the inputs in the definition's order (float64, or integers as they are; None for an
absent one) and the attributes, and returns the outputs, None for one that it does not know. What is
not here is not compared.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclgrad.cases.made_inputs import MadeCase
from aclgrad.golden import precision
from aclgrad.running.operator_call import Outputs
from aclgrad.spec.definition import Definition
from aclgrad.spec.dtypes import kind_of

Array = NDArray[Any]
Golden = Callable[[Sequence[Any], Mapping[str, Any]], Any]

_erf = np.vectorize(math.erf, otypes=[float])
_erfc = np.vectorize(math.erfc, otypes=[float])


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _softplus(x: Array) -> Array:
    return np.asarray(np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0))


def _gelu(x: Array) -> Array:
    return np.asarray(0.5 * x * _erfc(-x / math.sqrt(2)))


def _gelu_tanh(x: Array) -> Array:
    return np.asarray(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


def _gelu_sigmoid(x: Array) -> Array:
    """With the constants of the device's own Gelu."""
    return x * _sigmoid(1.595769122 * (x + 0.0455399241 * x**3))


def _softmax(x: Array, axis: int = -1) -> Array:
    e = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(e / e.sum(axis, keepdims=True))


def _round_half_even(x: Array, decimals: int = 0) -> Array:
    return np.round(x, decimals)


def _trunc_div(a: Array, b: Array) -> Array:
    return np.trunc(a / b) if a.dtype.kind == "f" else (np.abs(a) // np.abs(b)) * np.sign(a * b)


def _axis(a: Mapping[str, Any], name: str = "dim") -> int:
    value = a.get(name)
    return int(value[0] if isinstance(value, list) else -1 if value is None else value)


def _halves(x: Array, axis: int) -> tuple[Array, Array]:
    halves = np.split(x, 2, axis)
    return halves[0], halves[1]


def _swiglu(x: Array, y: Array) -> Array:
    return x * _sigmoid(x) * y


def _glu(x: Array, y: Array) -> Array:
    return x * _sigmoid(y)


def _reduced(loss: Array, a: Mapping[str, Any]) -> Array:
    how = a.get("reduction", "none")
    found: Array = loss.mean() if how == "mean" else loss.sum() if how == "sum" else loss
    return found


def _rms(x: Array, gamma: Array, eps: float) -> tuple[Array, Array]:
    # Over as many dims as gamma has.
    axes = tuple(range(-gamma.ndim, 0))
    rstd = 1 / np.sqrt((x * x).mean(axes, keepdims=True) + eps)
    return x * rstd * gamma, rstd


@dataclasses.dataclass(frozen=True)
class Sums:
    """Values, and for each the largest magnitude that was rounded on the way to it."""

    values: Array
    terms: Array


def _turned(matrix: Array, turn: Any) -> Array:
    return matrix.swapaxes(-1, -2) if turn else matrix


def product(x: Array, y: Array, a: Mapping[str, Any], *more: Array | None) -> Sums:
    """A matrix product by the transposes that attributes ask for, and what is added to it."""
    turned = [any(a.get(f"{verb}_{name}") for verb in ("transpose", "adj") for name in names)
              for names in (("x1", "x", "a"), ("x2", "weight", "b"))]  # fmt: skip
    left, right = _turned(x, turned[0]), _turned(y, turned[1])
    whole = all(kind_of(side.dtype) in "iu" for side in (left, right))
    exact = np.int64 if whole else np.float64
    left, right = left.astype(exact), right.astype(exact)
    values, terms = left @ right, np.abs(left) @ np.abs(right)
    for addend in more:
        if addend is not None:
            values, terms = values + addend, terms + np.abs(addend)
    return Sums(values, terms)


def _mapped(sums: Sums, factor: Any) -> Sums:
    return Sums(sums.values * factor, sums.terms * np.abs(factor))


def _matmul(i: Sequence[Any], a: Mapping[str, Any]) -> Any:
    """With a bias; other inputs and offsets are not known here."""
    others = [item for item in i[3:] if item is not None]
    if others or a.get("offset_x", 0) or a.get("enable_hf32") or a.get("fused_op_type"):
        return [None]
    return [product(i[0], i[1], a, i[2])]


def _matmul_gelu(i: Sequence[Any], a: Mapping[str, Any]) -> Any:
    """A linear layer with GELU, whose weights have a row for each column of the result."""
    sums = product(i[0], _turned(i[1], True), a, i[2])
    return [Sums(_gelu_tanh(sums.values), sums.terms)]


def _quantised_matmul(i: Sequence[Any], a: Mapping[str, Any]) -> Any:
    """With scales of columns, and of rows where there are some; not those in words of Fixpipe."""
    x, y, scale, offset, bias, rows = i
    if offset is not None or a.get("group_size") or scale.dtype.kind != "f":
        return [None]
    whole = bias is not None and bias.dtype.kind in "iu"
    sums = _mapped(product(x, y, a, bias if whole else None), scale)
    sums = sums if rows is None else _mapped(sums, rows[..., None])
    if bias is not None and not whole:
        sums = Sums(sums.values + bias, sums.terms + np.abs(bias))
    return [sums]


def _weight_quantised_matmul(i: Sequence[Any], a: Mapping[str, Any]) -> Any:
    """Each weight is rounded to x's type, which the result has as well: within its own rounding."""
    x, weight, scale, offset, quant_scale, quant_offset, bias = i
    if quant_scale is not None or quant_offset is not None or a.get("antiquant_group_size"):
        return [None]
    wide = weight.astype(np.float64) + (0 if offset is None else offset)
    return [product(x, wide * scale, a, bias)]


def _turned_batches(i: Sequence[Any], a: Mapping[str, Any]) -> Any:
    """Products of transposed tensors, transposed."""
    x, y, bias, scale = i
    if scale is not None or bias is not None or a.get("batch_split_factor", 1) != 1:
        return [None]
    orders = [a.get(name) or [*range(x.ndim)] for name in ("perm_x1", "perm_x2", "perm_y")]
    sums = product(x.transpose(orders[0]), y.transpose(orders[1]), {})
    return [Sums(sums.values.transpose(orders[2]), sums.terms.transpose(orders[2]))]


def _ffn(i: Sequence[Any], a: Mapping[str, Any]) -> Any:
    """Two linear layers with ReLU between them; not by experts, nor of quantised tensors."""
    if a["activation"] != "relu" or any(item is not None for item in (i[3], *i[6:])):
        return [None]
    first = product(i[0], i[1], {}, i[4])
    values, terms = np.maximum(first.values, 0) @ i[2], first.terms @ np.abs(i[2])
    if i[5] is not None:
        values, terms = values + i[5], terms + np.abs(i[5])
    return [Sums(values, terms)]


def _lstm(i: Sequence[Any], weights: Array, bias: Any, others: Sequence[Any], a: Any) -> Any:
    """One layer without a state before it: y, the states h and c, the gates, tanh(c)."""
    plain = {"direction": "UNIDIRECTIONAL", "use_peephole": False, "cell_clip": -1.0, "num_proj": 0}
    if any(item is not None for item in others) or any(a[name] != plain[name] for name in plain):
        return [None]
    hidden = cell = np.zeros((i[0].shape[1], weights.shape[1] // 4))
    steps: list[list[Array]] = []
    for x in i[0]:
        row = np.concatenate([x, hidden], axis=1)
        sums = row @ weights + (0 if bias is None else bias)
        gates = dict(zip(a["gate_order"], np.split(sums, 4, axis=1), strict=True))
        of_i, of_f, of_o = (
            _sigmoid(gates[name] + (name == "f") * a["forget_bias"]) for name in "ifo"
        )
        of_j = np.tanh(gates["j"])
        cell = of_f * cell + of_i * of_j
        hidden = of_o * np.tanh(cell)
        steps.append([hidden, hidden, cell, of_i, of_j, of_f, of_o, np.tanh(cell)])
    # Each of a step's sums moves what comes of it by no more than its own rounding.
    most = np.abs(i[0]).max() * np.abs(weights).sum(axis=0).max()
    found = [np.stack(part) for part in zip(*steps, strict=True)]
    return [Sums(part, np.full_like(part, most)) for part in found]


def _gru(i: Sequence[Any], a: Mapping[str, Any]) -> Any:
    """One layer without a state before it: y, output_h, r, z, n and the state's part of n."""
    x, of_x, of_h, bias_x, bias_h, *others = i
    if any(item is not None for item in others) or a["direction"] != "UNIDIRECTIONAL":
        return [None]
    hidden = np.zeros((x.shape[1], of_h.shape[0]))
    steps: list[list[Array]] = []
    for row in x:
        left = np.split(row @ of_x + (0 if bias_x is None else bias_x), 3, axis=1)
        right = np.split(hidden @ of_h + (0 if bias_h is None else bias_h), 3, axis=1)
        r, z = (_sigmoid(left[at] + right[at]) for at in (0, 1))
        n = np.tanh(left[2] + r * right[2])
        hidden = (1 - z) * n + z * hidden
        steps.append([hidden, hidden, r, z, n, right[2]])
    most = np.abs(x).max() * np.abs(of_x).sum(axis=0).max()
    found = [np.stack(part) for part in zip(*steps, strict=True)]
    return [Sums(part, np.full_like(part, most)) for part in found]


def _in_heads(x: Array, layout: str, heads: int) -> Array | None:
    """A tensor of attention as B, N, S, D."""
    if layout == "BNSD" and x.ndim == 4 and x.shape[1] == heads:
        return x
    if layout == "BSH" and x.ndim == 3 and x.shape[2] % heads == 0:
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)
    return None


def attention(i: Sequence[Any], a: Mapping[str, Any]) -> Sums | None:
    """Attention of query, key and value alone; None where other inputs or modes change it.

    An error of a score moves a result by as much as its value is away from the result.
    """
    query, key, value = (item[0] if isinstance(item, list) else item for item in i[:3])
    layout = a.get("input_layout", "")
    heads = a.get("num_heads") or a.get("head_num") or 0
    of_keys = a.get("num_key_value_heads") or heads
    if any(item is not None for item in i[3:]) or not heads or heads % of_keys:
        return None
    q, k, v = (
        _in_heads(x, layout, count)
        for x, count in ((query, heads), (key, of_keys), (value, of_keys))
    )
    if q is None or k is None or v is None:
        return None
    k, v = (np.repeat(x, heads // of_keys, axis=1) for x in (k, v))
    scores = q @ k.swapaxes(2, 3) * a.get("scale_value", a.get("scale", 1.0))
    shares = _softmax(scores)
    values = shares @ v
    away = (shares * np.abs(scores))[..., None] * np.abs(v[:, :, None] - values[:, :, :, None])
    terms = shares @ np.abs(v) + away.sum(axis=3)
    if layout == "BSH":
        values, terms = (x.transpose(0, 2, 1, 3).reshape(query.shape) for x in (values, terms))
    return Sums(values, terms)


def _gemm(i: Sequence[Any], alpha: Any, beta: Any, c: Any, a: Mapping[str, Any]) -> Any:
    sums = _mapped(product(i[0], i[1], a), alpha)
    added = 0.0 if c is None else beta * c
    return [Sums(sums.values + added, sums.terms + np.abs(added))]


def _unary(function: Callable[[Any], Any]) -> Golden:
    return lambda i, a: [function(i[0])]


def _binary(function: Callable[[Any, Any], Any]) -> Golden:
    return lambda i, a: [function(i[0], i[1])]


_UNARY: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "acos": np.arccos,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "ceil": np.ceil,
    "copy": lambda x: x,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": _erf,
    "erfc": _erfc,
    "expm1": np.expm1,
    "floor": np.floor,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "logsigmoid": lambda x: -_softplus(-x),
    "mish": lambda x: x * np.tanh(_softplus(x)),
    "neg": np.negative,
    "reciprocal": lambda x: 1 / x,
    "relu": lambda x: np.maximum(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "selu": lambda x: (
        1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0)))
    ),
    "sigmoid": _sigmoid,
    "sign": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "soft_plus": _softplus,
    "softplus": _softplus,
    "sqrt": np.sqrt,
    "square": np.square,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
    "tensor_move": lambda x: x,
    "zeros_like": np.zeros_like,
    "ones_like": np.ones_like,
    "is_finite": np.isfinite,
    "is_inf": np.isinf,
    "is_neg_inf": np.isneginf,
    "is_pos_inf": np.isposinf,
    "logical_not": np.logical_not,
    "bitwise_not": np.invert,
    "invert": np.invert,
}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "atan2": np.arctan2,
    "bitwise_and": np.bitwise_and,
    "div": np.divide,
    "equal": np.equal,
    "floor_mod": np.mod,
    "greater": np.greater,
    "less": np.less,
    "log_add_exp": np.logaddexp,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "mod": np.fmod,
    "mul": np.multiply,
    "not_equal": np.not_equal,
    "pow": np.power,
    "pows": np.power,
    "real_div": np.divide,
    "sub": np.subtract,
    "truncate_div": _trunc_div,
    "truncate_mod": np.fmod,
    "assign_sub": np.subtract,
    "bias_add": np.add,
    "floor_div": lambda a, b: np.floor(a / b) if a.dtype.kind == "f" else a // b,
    "silu_mul": lambda x, y: x * _sigmoid(x) * y,
    "gcd": np.gcd,
    "right_shift": np.right_shift,
    # Gradients: an upstream value and what the forward function had or made.
    "acosh_grad": lambda y, dy: dy / np.sinh(y),
    "asin_grad": lambda y, dy: dy / np.sqrt(1 - y * y),
    "atan_grad": lambda x, dy: dy / (1 + x * x),
    "relu_grad": lambda dy, x: dy * (x > 0),
    "rsqrt_grad": lambda y, dy: -0.5 * dy * y**3,
    "sqrt_grad": lambda y, dy: 0.5 * dy / y,
    "tanh_grad": lambda y, dy: dy * (1 - y * y),
    "silu_grad": lambda dy, x: dy * _sigmoid(x) * (1 + x * (1 - _sigmoid(x))),
    "elu_grad": lambda dy, y: np.where(y > 0, dy, dy * (y + 1)),
    "hard_sigmoid_grad": lambda dy, x: dy * (np.abs(x) < 3) / 6,
    "hard_swish_grad": lambda dy, x: dy * np.where(x < -3, 0, np.where(x > 3, 1, (2 * x + 3) / 6)),
}

_TABLE: dict[str, Golden] = {
    **{name: _unary(function) for name, function in _UNARY.items()},
    **{name: _binary(function) for name, function in _BINARY.items()},
    "exp": lambda i, a: [
        np.exp(i[0] * a.get("scale", 1) + a.get("shift", 0))
        if a.get("base", -1) == -1
        else np.power(a["base"], i[0] * a["scale"] + a["shift"])
    ],
    "log": lambda i, a: [
        np.log(i[0] * a.get("scale", 1) + a.get("shift", 0))
        / (1 if a.get("base", -1) == -1 else math.log(a["base"]))
    ],
    "round": lambda i, a: [_round_half_even(i[0], a.get("decimals", 0))],
    "gelu": lambda i, a: [[_gelu(i[0]), _gelu_tanh(i[0]), _gelu_sigmoid(i[0])]],
    "swish": lambda i, a: [i[0] * _sigmoid(a.get("scale", 1) * i[0])],
    "elu": lambda i, a: [np.where(i[0] > 0, i[0], np.expm1(np.minimum(i[0], 0)))],
    "elu_grad_v2": lambda i, a: [
        None
        if a["is_result"] or a["input_scale"] != 1
        else i[0] * a["scale"] * np.where(i[1] > 0, 1, a["alpha"] * np.exp(np.minimum(i[1], 0)))
    ],
    "celu": lambda i, a: [
        np.where(i[0] > 0, i[0], a["alpha"] * np.expm1(np.minimum(i[0], 0) / a["alpha"]))
    ],
    "hard_swish": lambda i, a: [i[0] * np.clip(i[0] + 3, 0, 6) / 6],
    "hard_sigmoid": lambda i, a: [np.clip(i[0] / 6 + 0.5, 0, 1)],
    "leakyrelu": lambda i, a: [np.where(i[0] > 0, i[0], a["negativeSlope"] * i[0])],
    "leaky_relu_grad": lambda i, a: [np.where(i[1] > 0, i[0], a["negativeSlope"] * i[0])],
    "softshrink": lambda i, a: [np.sign(i[0]) * np.maximum(np.abs(i[0]) - a["lambd"], 0)],
    "softshrink_grad": lambda i, a: [i[0] * (np.abs(i[1]) > a["lambd"])],
    "hard_shrink_grad": lambda i, a: [i[0] * (np.abs(i[1]) > a["lambd"])],
    "hardtanh_grad": lambda i, a: [i[1] * ((i[0] > a["min_val"]) & (i[0] < a["max_val"]))],
    "threshold_grad_v2_d": lambda i, a: [i[0] * (i[1] > a["threshold"])],
    "softplus_v2_grad": lambda i, a: [i[0] * _sigmoid(a["beta"] * i[1])],
    "sigmoid_grad": lambda i, a: [[i[0] * i[1] * (1 - i[1]), i[1] * i[0] * (1 - i[0])]],
    "swiglu": lambda i, a: [_swiglu(*_halves(i[0], _axis(a)))],
    "swi_glu": lambda i, a: [_swiglu(*_halves(i[0], _axis(a)))],
    "glu": lambda i, a: [_glu(*_halves(i[0], _axis(a)))],
    "softmax": lambda i, a: [_softmax(i[0], _axis(a))],
    "log_softmax": lambda i, a: [np.log(_softmax(i[0], _axis(a, "axes")))],
    "scaled_masked_softmax": lambda i, a: [
        None if i[1] is not None else _softmax(i[0] * a["scale"])
    ],
    "lerp": lambda i, a: [i[0] + i[2] * (i[1] - i[0])],
    "addcdiv": lambda i, a: [i[0] + i[3] * i[1] / i[2]],
    "addcmul": lambda i, a: [i[0] + i[3] * i[1] * i[2]],
    "axpy": lambda i, a: [i[0] + i[2] * i[1]],
    "axpy_v3": lambda i, a: [[a["a"] * i[0] + i[1], i[0] + a["a"] * i[1]]],
    "fused_mul_add_n": lambda i, a: [i[0] * i[2] + i[1]],
    "clip_by_value": lambda i, a: [np.clip(i[0], i[1], i[2])],
    "masked_fill": lambda i, a: [np.where(i[1], i[2], i[0])],
    "select": lambda i, a: [np.where(i[0], i[1], i[2])],
    "select_v3": lambda i, a: [np.where(i[2] != 0, i[0], i[1])],
    "relu_grad_v3": lambda i, a: [i[1] * (i[0] > 0)],
    "nan_to_num": lambda i, a: [np.nan_to_num(i[0], nan=a["nan"])],
    "is_close": lambda i, a: [np.abs(i[0] - i[1]) <= a["atol"] + a["rtol"] * np.abs(i[1])],
    "prelu": lambda i, a: [np.where(i[0] > 0, i[0], i[1] * i[0])],
    "mat_mul": _matmul,
    "batch_mat_mul": _matmul,
    "fused_mat_mul": _matmul,
    "fused_matmul_gelu": _matmul_gelu,
    "matmul_fp32": _matmul,
    "quant_batch_matmul": _quantised_matmul,
    "weight_quant_batch_matmul": _weight_quantised_matmul,
    "transpose_batch_mat_mul": _turned_batches,
    "gemm": lambda i, a: (
        _gemm(i, i[2], i[3], i[4], a) if len(i) == 5 else _gemm(i, a["alpha"], a["beta"], i[2], a)
    ),
    "ffn": _ffn,
    "dynamic_rnn": lambda i, a: _lstm(i, i[1], i[2], i[3:], a),
    "dynamic_rnnv2": lambda i, a: _lstm(i, np.concatenate(i[1:3]), i[3], i[4:], a),
    "gru": _gru,
    "flash_attention_score": lambda i, a: [None, None, None, attention(i, a)],
    "fused_infer_attention_score": lambda i, a: [attention(i, a)],
    "incre_flash_attention": lambda i, a: [attention(i, a)],
    "prompt_flash_attention": lambda i, a: [attention(i, a)],
    "mse_loss": lambda i, a: [_reduced((i[0] - i[1]) ** 2, a)],
    "l2_loss": lambda i, a: [(i[0] ** 2).sum() / 2],
    "lp_loss": lambda i, a: [_reduced(np.abs(i[0] - i[1]), a) if a["p"] == 1 else None],
    "hinge_loss": lambda i, a: [np.maximum(0, 1 - i[0] * i[1])],
    "apply_gradient_descent": lambda i, a: [i[0] - i[1] * i[2]],
    "rms_norm": lambda i, a: [*_rms(i[0], i[1], a["epsilon"])],
    "gemma_rms_norm": lambda i, a: [*_rms(i[0], i[1] + 1, a["epsilon"])],
    "add_rms_norm": lambda i, a: [*_rms(i[0] + i[1], i[2], a["epsilon"]), i[0] + i[1]],
    "inplace_add_rms_norm": lambda i, a: [*_rms(i[0] + i[1], i[2], a["epsilon"]), i[0] + i[1]],
    "softmax_grad": lambda i, a: [i[0] * (i[1] - (i[0] * i[1]).sum(-1, keepdims=True))],
    "dot": lambda i, a: [(i[0] * i[1]).sum()],
    "tile": lambda i, a: [np.tile(i[0], [int(n) for n in i[1]])],
    "tril": lambda i, a: [np.tril(i[0], a["diagonal"])],
    "triu": lambda i, a: [np.triu(i[0], a["diagonal"])],
    "transposev": lambda i, a: [None],
    "fill": lambda i, a: [np.full([int(n) for n in i[0]], i[1].reshape(-1)[0])],
    "trace": lambda i, a: [np.trace(i[0])],
    "real": lambda i, a: [np.real(i[0])],
    "angle": lambda i, a: [np.angle(i[0])],
    "roll": lambda i, a: [np.roll(i[0], a["shifts"], tuple(a["dims"]) or None)],
    "accumulate_nv2": lambda i, a: [sum(i[0])],
    "cast": lambda i, a: [i[0]],
    "reduce_sum": lambda i, a: [None if a["axes"] is None else i[0].sum(_axis(a, "axes"))],
    "reduce_mean": lambda i, a: [None if a["axes"] is None else i[0].mean(_axis(a, "axes"))],
    "reduce_max": lambda i, a: [None if a["axes"] is None else i[0].max(_axis(a, "axes"))],
    "reduce_min": lambda i, a: [None if a["axes"] is None else i[0].min(_axis(a, "axes"))],
}


def _scalars(name: str, function: Callable[[Any, Any], Any]) -> dict[str, Golden]:
    each: Golden = lambda i, a: function(i[0], i[1])  # noqa: E731
    return {f"{name}_scalar": each, f"{name}_scalar_list": each}


_LISTS: dict[str, Golden] = {
    "add_list": lambda i, a: i[0] + i[2] * i[1],
    "sub_list": lambda i, a: i[0] - i[2] * i[1],
    "mul_list": lambda i, a: i[0] * i[1],
    "div_list": lambda i, a: i[0] / i[1],
    "maximum_list": lambda i, a: np.maximum(i[0], i[1]),
    "minimum_list": lambda i, a: np.minimum(i[0], i[1]),
    "pow_list": lambda i, a: np.power(i[0], i[1]),
    "lerp_list": lambda i, a: i[0] + i[2] * (i[1] - i[0]),
    "lerp_scalar": lambda i, a: i[0] + i[2] * (i[1] - i[0]),
    "addcmul_list": lambda i, a: i[0] + i[3] * i[1] * i[2],
    "addcmul_scalar": lambda i, a: i[0] + i[3] * i[1] * i[2],
    "addcmul_scalar_list": lambda i, a: i[0] + i[3] * i[1] * i[2],
    "addcdiv_list": lambda i, a: i[0] + i[3] * i[1] / i[2],
    "addcdiv_scalar": lambda i, a: i[0] + i[3] * i[1] / i[2],
    "addcdiv_scalar_list": lambda i, a: i[0] + i[3] * i[1] / i[2],
    "pow_scalar_and_tensor": lambda i, a: np.power(i[0], i[1]),
    "zero_inplace": lambda i, a: np.zeros_like(i[0]),
    "norm": lambda i, a: None,
    **_scalars("add", np.add),
    **_scalars("sub", np.subtract),
    **_scalars("mul", np.multiply),
    **_scalars("div", np.divide),
    **_scalars("maximum", np.maximum),
    **_scalars("minimum", np.minimum),
    **_scalars("pow", np.power),
}
"""What a foreach operator does with one tensor of each list; a list of scalars gives one each."""


def stem(op_type: str) -> str:
    """AddV2 -> add, ForeachAddList -> foreach_add_list."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", op_type).lower()
    return text if text in _TABLE else re.sub(r"_?v\d$|_with_agent$", "", text)


def _wide(array: Array) -> Array:
    return (
        array.astype(np.float64)
        if array.dtype.kind in "fV" or "bfloat" in str(array.dtype)
        else array
    )


def _references(op: Definition, case: MadeCase) -> dict[str, Any] | None:
    """Golden values by the name that a result has; None for an operator that is not here."""
    name = stem(op.type)
    outputs = [item.name for item in op.outputs]
    with np.errstate(all="ignore"):
        if not name.startswith("foreach_"):
            function = _TABLE.get(name)
            if function is None:
                return None
            inputs = [
                [_wide(array) for array in param]
                if item.kind == "dynamic"
                else (_wide(param[0]) if param else None)
                for param, item in zip(case.inputs, op.inputs, strict=True)
            ]
            return dict(zip(outputs, function(inputs, case.attrs), strict=False))
        plain = name.removeprefix("foreach_")
        each = _LISTS.get(plain)
        if each is None and plain in _UNARY:
            each = lambda i, a: _UNARY[plain](i[0])  # noqa: E731
        if each is None and plain in ("exp", "log"):
            each = lambda i, a: getattr(np, plain)(i[0])  # noqa: E731
        if each is None:
            return None
        found: dict[str, Any] = {}
        count = max(len(param) for param in case.inputs)
        for at in range(count):
            items = []
            for param, item in zip(case.inputs, op.inputs, strict=True):
                if item.kind == "dynamic":
                    items.append(_wide(param[at]))
                else:
                    flat = _wide(param[0]).reshape(-1)
                    items.append(flat[at] if flat.size == count else flat[0])
            found[outputs[0] if count == 1 else f"{outputs[0]}_{at}"] = each(items, case.attrs)
        return found


def _differs(actual: Array, golden: Any) -> str:
    terms = None
    if isinstance(golden, Sums):
        golden, terms = golden.values, np.broadcast_to(golden.terms, golden.values.shape)
    golden = np.asarray(golden)
    if actual.size != golden.size:
        return f"shape {list(actual.shape)}, want {list(golden.shape)}"
    golden = golden.reshape(actual.shape)
    if actual.dtype.kind in "biu":
        golden = golden.astype(actual.dtype)
        terms = None
    else:
        golden = golden.astype(np.float64, copy=False)
    if terms is not None:
        terms = terms.reshape(actual.shape).astype(np.float64)
    report = precision.compare(actual, golden, terms=terms)
    if report.passed:
        return ""
    first = f"; first {report.first_bad}" if report.first_bad else ""
    return "; ".join(report.reasons) + first


def judge(op: Definition, case: MadeCase, result: Outputs) -> str:
    """Say "matched" or "mismatched: why"; nothing when there is no reference."""
    try:
        found = _references(op, case)
    except (TypeError, ValueError, IndexError, KeyError, ZeroDivisionError):
        return ""  # inputs of another form than the reference is for
    compared = False
    for name, golden in (found or {}).items():
        if golden is None or name not in result.outputs:
            continue
        sized = golden.values if isinstance(golden, Sums) else golden
        if case.outputs and result.outputs[name].size != np.asarray(sized).size:
            continue  # shapes here were a guess
        # Several references: forms of one function that are all in use.
        forms = golden if isinstance(golden, list) else [golden]
        why = [_differs(result.outputs[name], form) for form in forms]
        if all(why):
            return f"mismatched: {name}: {why[0]}"
        compared = True
    return "matched" if compared else ""
