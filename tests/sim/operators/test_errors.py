# SPDX-License-Identifier: Apache-2.0
"""Refusals: the library, the spec and the documented codes must agree."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclgrad.errors import AclnnError
from aclgrad.ops import all_specs, find
from aclgrad.runtime import Device
from aclgrad.runtime.device import Planned
from aclgrad.spec.call import FORMATS, Call, TensorDesc
from aclgrad.spec.checks import Check
from aclgrad.spec.dtypes import BF16, CASTABLE, FLOAT, FLOAT16, INT32, UNCASTABLE
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import FAMILIES
from error_calls import breaking_calls, good_call

pytestmark = pytest.mark.on_board

SOFTMAX = find("softmax_grad")
ONE_SOC = {
    "ascend910b": "Ascend910B2",
    "ascend910_93": "Ascend910_9391",
    "ascend950": "Ascend950PR_9579",
    "ascend310p": "Ascend310P3",
    "ascend310b": "Ascend310B1",
    "ascend910": "Ascend910A",
}
BREAKING = [
    (spec, check, call)
    for spec in all_specs()
    for check, call in breaking_calls(spec, good_call(spec))
]


def first_stage(device: Device, spec: OpSpec, call: Call) -> tuple[int, str, Planned | None]:
    """Code, message and plan of the first stage, on the SoC that the call names."""
    if device.kind == "sim":
        device.set_option("soc", ONE_SOC[call.family.name])
    elif call.family.name != "ascend910b":
        pytest.skip("this call is about another SoC")
    tensors = {
        name: None if desc is None else device.tensor(desc, None)
        for name, desc in call.tensors.items()
    }
    try:
        planned = device.plan(
            spec,
            tensors,
            call.attrs,
            workspace_size_null=call.workspace_size_null,
            executor_null=call.executor_null,
        )
    except AclnnError as error:
        return error.code, error.message, None
    if planned.executor:
        device.libraries.nnopbase.aclDestroyAclOpExecutor(planned.executor)
    return 0, "", planned


@pytest.mark.parametrize(
    ("spec", "check", "call"),
    BREAKING,
    ids=[f"{s.op}-{i}-{c.kind}" for i, (s, c, _) in enumerate(BREAKING)],
)
def test_one_broken_check(spec: OpSpec, check: Check, call: Call, device: Device) -> None:
    code, message, planned = first_stage(device, spec, call)
    assert code == check.code == spec.predict(call), f"{call.describe()}: {message}"
    if code:
        names = (
            ("workspaceSize", "executor") if check.kind == "result_pointers" else (check.subject,)
        )
        assert any(name in message for name in names), message
        assert ("null" if code == 161001 else "want") in message.lower(), message
    else:
        assert planned is not None and planned.executor and planned.workspace_size == 0


@pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.op)
def test_good_call_with_null_addresses(spec: OpSpec, device: Device) -> None:
    code, message, planned = first_stage(device, spec, good_call(spec))
    assert code == 0, message
    assert planned is not None and planned.executor


@pytest.mark.parametrize(
    "call",
    [
        good_call(SOFTMAX).with_tensor("out", dtype=UNCASTABLE[0]),
        good_call(SOFTMAX).with_tensor("out", dtype=UNCASTABLE[3]),
        good_call(SOFTMAX).with_tensor("gradOutput", strides=(30, 5, 1), storage=(30,)),
        good_call(SOFTMAX).with_tensor("output", strides=(15, -5, 1), storage=(30,)),
        good_call(SOFTMAX).with_tensor("output", strides=(1, 2, 6), offset=1, storage=(30,)),
    ],
    ids=["string", "complex32", "beyond", "before", "offset"],
)
def test_what_the_lowering_refuses(call: Call, device: Device) -> None:
    code, message, _ = first_stage(device, SOFTMAX, call)
    assert code == SOFTMAX.predict(call) == 561103
    assert "aclnnSoftmaxBackward: " in message and "want" in message


def test_a_soc_without_a_kernel(device: Device) -> None:
    for family in FAMILIES:
        call = replace(good_call(SOFTMAX), family=family)
        code, message, _ = first_stage(device, SOFTMAX, call)
        assert code == SOFTMAX.predict(call), f"{family.name}: {message}"
        assert (code == 0) == bool(SOFTMAX.kernels_on(family))


def _takes_any(spec: OpSpec) -> bool:
    return spec.op != "scaled_masked_softmax_grad_v2"


@pytest.mark.parametrize("format_", sorted(FORMATS))
@pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.op)
def test_formats(spec: OpSpec, format_: str, device: Device) -> None:
    """Of each tensor alone and of all together. The dims of the storage are those of the tensor, so
    that its elements are where these say, in a private format too.
    """
    good = good_call(spec)
    names = [name for name, desc in good.tensors.items() if desc is not None]
    calls = [good.with_tensor(name, format=format_) for name in names]
    every = good
    for name in names:
        every = every.with_tensor(name, format=format_)
    for call in (*calls, every):
        code, message, _ = first_stage(device, spec, call)
        assert code == spec.predict(call), f"{call.describe()}: {message}"
        assert call is not every or (code == 0) == (_takes_any(spec) or format_ == "ND"), message


shapes = st.lists(st.integers(0, 3), max_size=9).map(tuple)
descs = st.none() | st.builds(
    TensorDesc,
    shapes,
    st.sampled_from([FLOAT, FLOAT, FLOAT, FLOAT16, BF16, INT32, *CASTABLE[4:], *UNCASTABLE]),
)


@given(data=st.data())
def test_random_calls_end_as_the_spec_predicts(data: st.DataObject, device: Device) -> None:
    shape = data.draw(shapes)
    like = st.just(TensorDesc(shape))
    call = Call(
        {name: data.draw(like | like | like | descs) for name in ("gradOutput", "output", "out")},
        {"dim": data.draw(st.integers(-10, 10))},
        data.draw(st.sampled_from(FAMILIES if device.kind == "sim" else FAMILIES[:1])),
        data.draw(st.integers(0, 15)) == 0,
        data.draw(st.integers(0, 15)) == 0,
    )
    code, message, _ = first_stage(device, SOFTMAX, call)
    assert code == SOFTMAX.predict(call), f"{call.describe()}: {message}"
