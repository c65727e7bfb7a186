# SPDX-License-Identifier: Apache-2.0
"""What CANN would read is what is tested: definitions and specs agree, or a difference is named."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from aclgrad.errors import ToolkitError
from aclgrad.ops import all_specs, find
from aclgrad.project import definitions
from aclgrad.runtime import Toolkit

Described = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def described(toolkit: Toolkit) -> Described:
    """What the built host library registers."""
    return definitions.described(None)


def test_definitions_and_specs_agree(described: Described) -> None:
    definitions.check(all_specs())
    for spec in all_specs():
        assert list(definitions.differences(spec, described)) == []


def gone(op: dict[str, Any]) -> None:
    op["defined"] = False


def change(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def apply(op: dict[str, Any]) -> None:
        inner: Any = op
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value

    return apply


FAULTS: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "no definition": (gone, "registers no definition of it, want OP_ADD in op_host/"),
    "no tiling": (change("tiling", value=False), "registers no tiling"),
    "no inference": (change("inferShape", value=False), "registers no inferShape"),
    "name": (change("inputs", 0, "name", value="other"), "in the inputs: other, "),
    "order": (lambda op: op["inputs"].reverse(), "in the inputs: grad_softmax, softmax"),
    "output": (change("outputs", 0, "name", value="y"), "in the outputs: y and grad_x"),
    "optional": (change("inputs", 1, "kind", value="optional"), "which inputs are optional"),
    "dtype": (lambda op: op["inputs"][0]["dtypes"].reverse(), "in the dtypes: BF16,FLOAT,FLOAT"),
    "SoC": (lambda op: op["socs"].pop(), "in the SoCs"),
    "attribute": (change("attrs", 0, "name", value="dim"), "in the attributes: dim: ListInt"),
    "default": (change("attrs", 0, "default", value=[0]), "axes: ListInt = [0] and axes"),
    "kind": (change("attrs", 0, "kind", value="Int"), "axes: Int"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_differences_are_named(
    name: str, described: Described, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant, wanted = FAULTS[name]
    spoiled = copy.deepcopy(described)
    for ops in spoiled.values():
        if "inputs" in ops["SoftmaxGrad"]:
            plant(ops["SoftmaxGrad"])
    monkeypatch.setattr(definitions, "described", lambda toolkit: spoiled)
    with pytest.raises(ToolkitError, match="SoftmaxGrad") as caught:
        definitions.check([find("softmax_grad")])
    text = str(caught.value)
    assert wanted in text and "Next: " in text
    assert "softmax_grad_def.cpp" in text or "op_host/softmax_grad" in text
    definitions.check([find("log_softmax_grad")])
