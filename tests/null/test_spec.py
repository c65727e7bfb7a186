# SPDX-License-Identifier: Apache-2.0
"""Specs: the checks' order and codes, predictions, support table, golden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aclgrad import ops
from aclgrad.ops import all_specs, find
from aclgrad.spec.call import Call, TensorDesc, broadcast
from aclgrad.spec.checks import NotNull
from aclgrad.spec.dtypes import BF16, CASTABLE, DOUBLE, FLOAT, FLOAT16, INT32, UNCASTABLE
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import FAMILIES, family, family_of
from error_calls import good_call
from other_operators import OTHERS
from other_operators import good_call as other_good_call

SOFTMAX = find("softmax_grad")
GOOD = [(spec, good_call(spec)) for spec in all_specs()] + [(s, other_good_call(s)) for s in OTHERS]


@pytest.mark.parametrize(("spec", "good"), GOOD, ids=[spec.op for spec, _ in GOOD])
def test_good_call_is_good(spec: OpSpec, good: Call) -> None:
    assert spec.first_hit(good) is None
    assert spec.predict(good) == 0


@pytest.mark.parametrize(("spec", "good"), GOOD, ids=[spec.op for spec, _ in GOOD])
def test_every_check_can_be_broken_alone(spec: OpSpec, good: Call) -> None:
    for check in spec.checks:
        calls = list(check.violations(spec, good))
        assert calls, check
        for call in calls:
            assert spec.first_hit(call) is check, f"{check} not reached by {call.describe()}"
            assert spec.predict(call) == check.code


def test_codes_of_softmax_grad_in_the_documented_order() -> None:
    codes = [check.code for check in SOFTMAX.checks]
    assert codes == [161001] * 4 + [0] + [161002] * 7 + [0]


def soft(
    shape: tuple[int, ...] = (4, 2),
    soc: str = "ascend910b",
    dim: int = -1,
    **changes: TensorDesc | None,
) -> Call:
    tensors: dict[str, TensorDesc | None] = {
        n: TensorDesc(shape) for n in ("gradOutput", "output", "out")
    }
    return Call({**tensors, **changes}, {"dim": dim}, family(soc))


@pytest.mark.parametrize(
    ("call", "code"),
    [
        # Calls of the public unit tests and the corners of the contract.
        (soft(gradOutput=TensorDesc((2, 0)), output=TensorDesc((2, 0)), out=TensorDesc((2, 3))), 0),
        (soft(gradOutput=TensorDesc((0,)), output=TensorDesc((10, 5))), 0),
        (soft(gradOutput=TensorDesc((0,)), output=TensorDesc((10, 5)), soc="ascend950"), 161002),
        (soft((0, 3), soc="ascend950"), 0),
        (soft((0,), dim=7), 0),
        (soft((0,), dim=7, soc="ascend950"), 161002),
        (soft((0,), gradOutput=TensorDesc((0,), INT32)), 0),
        (soft((), dim=0), 0),
        (soft((), dim=-1), 0),
        (soft((), dim=1), 161002),
        (soft((1,) * 8, dim=8), 161002),
        (soft((1,) * 8, dim=-8), 0),
        (soft((1,) * 9), 161002),
        (soft(out=TensorDesc((4, 2), DOUBLE)), 0),
        (soft(out=TensorDesc((4, 2), UNCASTABLE[0])), 561103),
        (soft(output=TensorDesc((4, 2), FLOAT16)), 161002),
        (soft(soc="ascend310b"), 561003),
        (soft(gradOutput=TensorDesc((4, 2), strides=(4, 1), storage=(6,))), 561103),
        (soft(gradOutput=TensorDesc((4, 2), strides=(-2, 1), storage=(8,))), 561103),
        (soft(gradOutput=TensorDesc((4, 2), strides=(0, 1), storage=(2,))), 0),
        (soft(gradOutput=TensorDesc((4, 2), format="NHWC")), 0),
        (soft(gradOutput=None, out=None), 161001),
    ],
    ids=lambda value: value.describe() if isinstance(value, Call) else str(value),
)
def test_predictions(call: Call, code: int) -> None:
    assert SOFTMAX.predict(call) == code


def test_bf16_needs_a_soc_that_has_it() -> None:
    bf16 = TensorDesc((4, 2), BF16)
    for soc in FAMILIES:
        call = soft(soc=soc.name, gradOutput=bf16, output=bf16, out=bf16)
        refused = SOFTMAX.first_hit(call) is not None
        assert refused == (soc.name in ("ascend310p", "ascend310b", "ascend910"))


def test_a_spec_that_names_an_unknown_argument_is_refused() -> None:
    with pytest.raises(ValueError, match="gradInput"):
        replace(SOFTMAX, checks=(NotNull("gradInput"),))


def test_operators_are_found_by_any_of_their_names() -> None:
    for word in ("softmax_grad", "SoftmaxGrad", "aclnnSoftmaxBackward", "softmax_backward"):
        assert find(word) is SOFTMAX
    with pytest.raises(ValueError, match="want one of .*Next: softmax_grad$"):
        find("softmax_gard")
    assert SOFTMAX in ops.all_specs()


def test_a_folder_without_an_operator_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no operator: .* Next: aclgrad new"):
        find(str(tmp_path))


def test_every_soc_belongs_to_one_family() -> None:
    names = ["Ascend910B2", "Ascend910B4-1", "Ascend910B2C", "Ascend910_9391", "Ascend950PR_9579"]
    names += ["Ascend310P3", "Ascend310B1", "Ascend910A", "Ascend910B", "Ascend910ProB"]
    assert [family_of(name).npu_arch for name in names] == [2201] * 4 + [
        3510,
        2002,
        3002,
        1001,
        1001,
        1001,
    ]
    with pytest.raises(ValueError, match="Ascend911"):
        family_of("Ascend911")


def test_a3_shares_the_kernels_of_a2() -> None:
    assert (
        SOFTMAX.kernels_on(family("ascend910_93")) == SOFTMAX.kernels_on(family("ascend910b")) != ()
    )


def test_golden_is_the_formula() -> None:
    g, y = (
        np.array([[0, 1], [2, 3], [4, 5], [6, 7]], np.float32),
        np.array([[1, 1], [1, 2], [2, 2], [3, 3]], np.float32),
    )
    got = SOFTMAX.evaluate({"gradOutput": g, "output": y}, {"dim": 0})
    assert got.dtype == np.float64
    assert got.tolist() == [[-28, -37], [-26, -70], [-48, -66], [-66, -93]]
    scalar = SOFTMAX.evaluate(
        {"gradOutput": np.array(3, np.float32), "output": np.array(0.5, np.float32)}, {"dim": 0}
    )
    assert scalar == 3 * 0.5 - 3 * 0.5 * 0.5


@pytest.mark.parametrize(
    ("first", "second", "shape"),
    [
        ((2, 3), (3,), (2, 3)),
        ((2, 1), (1, 3), (2, 3)),
        ((0,), (1,), (0,)),
        ((2,), (3,), None),
        ((), (4,), (4,)),
    ],
)
def test_broadcast(
    first: tuple[int, ...], second: tuple[int, ...], shape: tuple[int, ...] | None
) -> None:
    assert broadcast(first, second) == shape


def test_castable_dtypes_have_one_enum_value_each() -> None:
    values = [dtype.acl for dtype in CASTABLE + UNCASTABLE]
    assert len(set(values)) == len(values)
    assert (FLOAT.acl, FLOAT16.acl, BF16.acl, DOUBLE.acl) == (0, 1, 27, 11)
