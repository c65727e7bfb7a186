# SPDX-License-Identifier: Apache-2.0
"""References for the products of public operators: right results pass, and wrong ones do not."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aclgrad.cases import made_inputs
from aclgrad.running.operator_call import Outputs
from aclgrad.spec.definition import Definition, Param, Value

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import compatibility_golden

Want = Callable[[list[Any]], Any]
FLOATS = ("DT_FLOAT",) * 6
QUANTISES = (
    "DT_INT8", "DT_INT8", "DT_FLOAT", "DT_FLOAT", "DT_INT32", "DT_FLOAT", "DT_FLOAT16"
)  # fmt: skip


def definition(type_: str, inputs: str) -> Definition:
    """Of these inputs; one with a question mark may be left out."""
    params = tuple(
        Param(name.rstrip("?"), kind="optional" if "?" in name else "required")
        for name in inputs.split()
    )
    return Definition(params, (Param("y"),), type_, ())


def wide(case: made_inputs.MadeCase) -> list[Any]:
    """The inputs in float64."""
    return [param[0].astype(np.float64) if param else None for param in case.inputs]


MATMUL = definition("MatMulV3", "x1 x2 bias? offset_w?")
QUANTISED = definition("QuantBatchMatmulV3", "x1 x2 scale offset? bias? pertoken_scale?")
WEIGHTS = definition(
    "WeightQuantBatchMatmulV2",
    "x weight antiquant_scale antiquant_offset? quant_scale? quant_offset? bias?",
)
GEMM = definition("GemmV2", "a b alpha beta c")
CASES: dict[str, tuple[Definition, tuple[str, ...], str, Want]] = {
    "product": (MATMUL, FLOATS[:5], "", lambda i: i[0] @ i[1]),
    "int4": (
        MATMUL,
        ("DT_INT4", "DT_INT4", "DT_INT32", "DT_INT32", "DT_INT32"),
        "",
        lambda i: i[0] @ i[1],
    ),
    "halves": (MATMUL, ("DT_FLOAT16",) * 5, "", lambda i: i[0] @ i[1]),
    "bias": (MATMUL, FLOATS[:5], "bias", lambda i: i[0] @ i[1] + i[2]),
    "scales": (
        QUANTISED,
        QUANTISES,
        "pertoken_scale",
        lambda i: (i[0] @ i[1]) * i[2] * i[5][..., None],
    ),
    "integer bias": (QUANTISED, QUANTISES, "bias", lambda i: (i[0] @ i[1] + i[4]) * i[2]),
    "weights": (
        WEIGHTS,
        ("DT_FLOAT16", "DT_INT8", *("DT_FLOAT16",) * 6),
        "antiquant_offset",
        lambda i: i[0] @ ((i[1] + i[3]) * i[2]),
    ),
    "gemm": (GEMM, FLOATS, "", lambda i: i[2] * (i[0] @ i[1]) + i[3] * i[4]),
}


@pytest.mark.parametrize("base", [(8, 64), (2, 8, 64)])
@pytest.mark.parametrize("name", CASES)
def test_products(name: str, base: tuple[int, ...]) -> None:
    """A number that is 10 % off is found, and so is one matrix in place of another."""
    op, row, alone, want = CASES[name]
    recipe = made_inputs.Recipe(base, "product", optionals=bool(alone), alone=alone)
    case = made_inputs.made(op, row, recipe)
    right = want(wide(case)).astype(np.float16 if row[-1] == "DT_FLOAT16" else np.float32)

    def said(result: Any) -> str:
        return compatibility_golden.judge(op, case, Outputs("", outputs={"y": result}))

    assert said(right) == "matched"
    wrong = right.copy()
    at = np.unravel_index(np.argmax(np.abs(right)), right.shape)
    wrong[at] *= right.dtype.type(1.1)
    assert said(wrong).startswith("mismatched: y: ")
    assert said(right[..., ::-1]).startswith("mismatched: y: ")
    assert said(np.zeros_like(right)).startswith("mismatched: y: ")


def test_weights_of_linear_layers() -> None:
    """Rows of the second matrix are columns of the result."""
    op = definition("FusedMatmulGelu", "x weight bias?")
    case = made_inputs.made(op, FLOATS[:4], made_inputs.Recipe((8, 64), "product of rows"))
    x, weight, _ = wide(case)
    sums = x @ weight.T
    right = sums / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (sums + 0.044715 * sums**3)))
    for result, verdict in ((right, "matched"), (sums, "mismatched")):
        said = compatibility_golden.judge(
            op, case, Outputs("", outputs={"y": result.astype(np.float32)})
        )
        assert said.partition(":")[0] == verdict


def test_transposes_by_their_attributes() -> None:
    """As the operators of one family and another call them."""
    x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for attrs, left, right in (
        ({"transpose_x1": True}, x.T, y),
        ({"adj_x2": True}, x, y.T),
        ({"transpose_a": True, "transpose_b": True}, x.T, y.T),
    ):
        found = compatibility_golden.product(left, right, attrs)
        np.testing.assert_array_equal(found.values, x @ y)


def test_what_no_reference_is_for() -> None:
    """Scales in words of Fixpipe are integers, and an offset of the first matrix has no formula."""
    row = ("DT_INT8", "DT_INT8", "DT_UINT64", "DT_FLOAT", "DT_INT32", "DT_FLOAT", "DT_FLOAT16")
    case = made_inputs.made(QUANTISED, row, made_inputs.Recipe((8, 64), "product"))
    result = Outputs("", outputs={"y": np.zeros((8, 96), np.float16)})
    assert compatibility_golden.judge(QUANTISED, case, result) == ""


FFN = definition("FFN", "x weight1 weight2 expert_tokens? bias1? bias2? scale? offset?")


@pytest.mark.parametrize("bias", ["", "bias1", "bias2"])
def test_two_linear_layers(bias: str) -> None:
    """With ReLU between them; by experts it is another function."""
    row = ("DT_FLOAT", "DT_FLOAT", "DT_FLOAT", "DT_INT64", *("DT_FLOAT",) * 5)
    recipe = made_inputs.Recipe((8, 64), "product", optionals=bool(bias), alone=bias)
    case = made_inputs.made(FFN, row, recipe)
    case.attrs["activation"] = "relu"
    x, first, second, _, bias1, bias2, *_ = wide(case)
    hidden = np.maximum(x @ first + (0 if bias1 is None else bias1), 0)
    right = (hidden @ second + (0 if bias2 is None else bias2)).astype(np.float32)
    for result, verdict in (
        (right, "matched"),
        (right + 1, "mismatched"),
        (np.maximum(right, 0), "mismatched"),
    ):
        said = compatibility_golden.judge(FFN, case, Outputs("", outputs={"y": result}))
        assert said.partition(":")[0] == verdict
    case.inputs[3] = [np.array([8])]
    assert compatibility_golden.judge(FFN, case, Outputs("", outputs={"y": right})) == ""


ATTENTION = Definition(
    (
        Param("query"),
        Param("key", kind="dynamic"),
        Param("value", kind="dynamic"),
        Param("mask", kind="optional"),
    ),
    (Param("attention_out"),),
    "PromptFlashAttention",
    (),
)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("style", ["same", "one query"])
@pytest.mark.parametrize(
    ("base", "layout", "heads", "of_keys"),
    [((2, 8, 64), "BSH", 4, 0), ((2, 8, 64), "BSH", 1, 0), ((2, 16, 8, 8), "BNSD", 16, 0)],
)
def test_attention(
    base: tuple[int, ...], layout: str, heads: int, of_keys: int, style: str, dtype: Any
) -> None:
    """Head by head; values of another head, other scores or a mask are found."""
    label = "DT_FLOAT16" if dtype is np.float16 else "DT_FLOAT"
    case = made_inputs.made(ATTENTION, (label,) * 5, made_inputs.Recipe(base, style))
    case.attrs.update(num_heads=heads, num_key_value_heads=of_keys, input_layout=layout)
    case.attrs["scale_value"] = 0.125
    query, key, value, _ = wide(case)

    def by_heads(turn: int, scale: float) -> Any:
        result = np.zeros(query.shape)
        for batch in range(base[0]):
            for head in range(heads):
                other = (head + turn) % heads
                width = base[-1] // heads
                own, of_value = (
                    ((batch, at) if layout == "BNSD" else
                     (batch, slice(None), slice(at * width, (at + 1) * width)))
                    for at in (head, other)
                )  # fmt: skip
                scores = np.exp(query[own] @ key[own].T * scale)
                result[own] = scores / scores.sum(axis=1, keepdims=True) @ value[of_value]
        return result.astype(dtype)

    def said(result: Any) -> str:
        outputs = Outputs("", outputs={"attention_out": result})
        return compatibility_golden.judge(ATTENTION, case, outputs).partition(":")[0]

    right = by_heads(0, 0.125)
    assert said(right) == "matched"
    assert heads == 1 or said(by_heads(1, 0.125)) == "mismatched"
    assert said(by_heads(0, 0.25)) == said(right[::-1]) == "mismatched"
    case.inputs[3] = [np.ones(1)]
    assert said(right) == ""


RECURRENT = {
    "DynamicRNN": "x w b seq_length? init_h?",
    "DynamicRNNV2": "x weight_input weight_hidden b? init_h?",
    "Gru": "x wi wh bi? bh? batch_sizes? init_h?",
}
LSTM_ATTRS: dict[str, Value] = {
    "direction": "UNIDIRECTIONAL",
    "use_peephole": False,
    "cell_clip": -1.0,
    "num_proj": 0,
    "forget_bias": 0.5,
}


@pytest.mark.parametrize("type_", RECURRENT)
def test_recurrent(type_: str) -> None:
    """Step by step; gates in another order, or a step without its state, are found."""
    names = ("y", "output_h") if type_ == "Gru" else ("y", "output_h", "output_c")
    op = dataclasses.replace(definition(type_, RECURRENT[type_]), outputs=tuple(map(Param, names)))
    style = "three gates" if type_ == "Gru" else "four gates"
    case = made_inputs.made(op, ("DT_FLOAT",) * 9, made_inputs.Recipe((2, 8, 64), style))
    order = {"DynamicRNN": "ifjo", "DynamicRNNV2": "ijfo", "Gru": "rzn"}[type_]
    case.attrs.update(LSTM_ATTRS, gate_order=order)
    # Small sums: where all gates are open or shut, nothing shows their order.
    for param in case.inputs[1:]:
        for array in param:
            np.multiply(array, 0.1, out=array)
    x, *weights = wide(case)

    def sigmoid(value: Any) -> Any:
        return 1 / (1 + np.exp(-value))

    def steps(gates: str, carries: bool) -> list[Any]:
        h, c, found = np.zeros((8, 64)), np.zeros((8, 64)), []
        of_x, of_h = np.split(weights[0], 2) if type_ == "DynamicRNN" else weights[:2]
        bias = weights[1] if type_ == "DynamicRNN" else 0
        for step in x:
            left, right = step @ of_x + bias, h @ of_h
            at = {name: np.s_[:, i * 64 : (i + 1) * 64] for i, name in enumerate(gates)}
            if type_ == "Gru":
                r, z = (sigmoid(left[at[name]] + right[at[name]]) for name in "rz")
                n = np.tanh(left[at["n"]] + r * right[at["n"]])
                h = (1 - z) * n + z * h
            else:
                sums = {name: left[part] + right[part] for name, part in at.items()}
                c = sigmoid(sums["f"] + 0.5) * c + sigmoid(sums["i"]) * np.tanh(sums["j"])
                h = sigmoid(sums["o"]) * np.tanh(c)
            found.append((h, h, c))
            if not carries:
                h, c = np.zeros((8, 64)), np.zeros((8, 64))
        return [np.stack(part).astype(np.float32) for part in zip(*found, strict=True)]

    def said(found: list[Any]) -> str:
        outputs = Outputs("", outputs=dict(zip(names, found, strict=False)))
        return compatibility_golden.judge(op, case, outputs).partition(":")[0]

    assert said(steps(order, True)) == "matched"
    assert said(steps(order[::-1], True)) == said(steps(order, False)) == "mismatched"
    case.inputs[-1] = [np.zeros((1, 8, 64))]
    assert said(steps(order, True)) == ""
