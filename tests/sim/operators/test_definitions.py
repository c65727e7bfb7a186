# SPDX-License-Identifier: Apache-2.0
"""What CANN would read is what is tested: definitions and specs agree, or a difference is named."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from aclgrad.checkout import spec_differences
from aclgrad.errors import ToolkitError
from aclgrad.ops import all_specs, find
from aclgrad.runtime import Toolkit
from aclgrad.spec.definition import Definition, Param, parse

Described = dict[str, dict[str, Definition]]


@pytest.fixture(scope="module")
def described(toolkit: Toolkit) -> Described:
    """What the built host library registers."""
    return spec_differences.described(None)


def test_definitions_and_specs_agree(described: Described) -> None:
    spec_differences.check(all_specs())
    for spec in all_specs():
        assert list(spec_differences.differences(spec, described)) == []


def test_definitions_travel(described: Described) -> None:
    """As JSON to another process and back."""
    op = described["ascend910b"]["KlDivLossGrad"]
    assert op.attrs and op.inputs[0].dtypes and op.socs
    assert parse(json.loads(json.dumps(op.as_json()))) == op


Change = Callable[[Definition], Definition]


def change(**values: Any) -> Change:
    return lambda op: dataclasses.replace(op, **values)


def first_input(at: int = 0, **values: Any) -> Change:
    def apply(op: Definition) -> Definition:
        inputs = list(op.inputs)
        inputs[at] = dataclasses.replace(inputs[at], **values)
        return dataclasses.replace(op, inputs=tuple(inputs))

    return apply


def first_attr(**values: Any) -> Change:
    return lambda op: dataclasses.replace(
        op, attrs=(dataclasses.replace(op.attrs[0], **values), *op.attrs[1:])
    )


FAULTS: dict[str, tuple[Change, str]] = {
    "no definition": (
        change(defined=False),
        "registers no definition of it, want OP_ADD in op_host/",
    ),
    "no tiling": (change(tiling=False), "registers no tiling"),
    "no inference": (change(infer_shape=False), "registers no inferShape"),
    "name": (first_input(name="other"), "in the inputs: other, "),
    "order": (
        lambda op: dataclasses.replace(op, inputs=op.inputs[::-1]),
        "in the inputs: grad_softmax, softmax",
    ),
    "output": (change(outputs=(Param("y"),)), "in the outputs: y and grad_x"),
    "optional": (first_input(1, kind="optional"), "which inputs are optional"),
    "dtype": (
        lambda op: first_input(dtypes=op.inputs[0].dtypes[::-1])(op),
        "in the dtypes: BF16,FLOAT,FLOAT",
    ),
    "SoC": (lambda op: dataclasses.replace(op, socs=op.socs[:-1]), "in the SoCs"),
    "attribute": (first_attr(name="dim"), "in the attributes: dim: ListInt"),
    "default": (first_attr(default=[0]), "axes: ListInt = [0] and axes"),
    "kind": (first_attr(kind="Int"), "axes: Int"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_differences_are_named(
    name: str, described: Described, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant, wanted = FAULTS[name]
    spoiled = {
        soc: {**ops, "SoftmaxGrad": plant(op) if (op := ops["SoftmaxGrad"]).here else op}
        for soc, ops in described.items()
    }
    monkeypatch.setattr(spec_differences, "described", lambda toolkit: spoiled)
    with pytest.raises(ToolkitError, match="SoftmaxGrad") as caught:
        spec_differences.check([find("softmax_grad")])
    text = str(caught.value)
    assert wanted in text and "Next: " in text
    assert "softmax_grad_def.cpp" in text or "op_host/softmax_grad" in text
    spec_differences.check([find("log_softmax_grad")])
