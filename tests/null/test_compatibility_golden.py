# SPDX-License-Identifier: Apache-2.0
"""References for the products of public operators: right results pass, and wrong ones do not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aclgrad.cases import made_inputs
from aclgrad.running.operator_call import Outputs
from aclgrad.spec.definition import Definition, Param

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
