# SPDX-License-Identifier: Apache-2.0
"""What CANN reads of an operator that is installed: aic-*-ops-info.json and op_proto.h."""

from __future__ import annotations

import json
from collections.abc import Iterable

from aclgrad.packaging.content import _render
from aclgrad.spec.arguments import KernelAttr
from aclgrad.spec.call import AttrValue
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import Family

_OPS_INFO_TYPES = {
    "Int": "int",
    "Float": "float",
    "Bool": "bool",
    "String": "str",
    "ListInt": "listInt",
}


def _attr_default(spec: OpSpec, attr: KernelAttr) -> AttrValue | str:
    value = spec.defaults()[attr.arg]
    return attr.choices[int(value)] if attr.type == "String" else value


def _attr_text(spec: OpSpec, attr: KernelAttr, brackets: str) -> str:
    value = _attr_default(spec, attr)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{brackets[0]}{text}{brackets[1]}" if attr.type == "ListInt" else text


def ops_info(spec: OpSpec, family: Family) -> dict[str, dict[str, str]]:
    """Entry of an operator in aic-<soc>-ops-info.json."""
    variants = spec.kernels_on(family)
    yes, no = {"flag": "true"}, {"flag": "false"}
    info: dict[str, dict[str, str]] = {
        "dynamicCompileStatic": yes,
        "dynamicFormat": no,
        "dynamicRankSupport": yes,
        "dynamicShapeSupport": yes,
        "needCheckSupport": no,
        "opFile": {"value": spec.op},
        "opInterface": {"value": spec.op},
    }
    tensors = [*spec.inputs, *spec.outputs]
    for at, tensor in enumerate(tensors):
        column = at - len(spec.inputs)
        formats = ",".join("ND" for _ in variants)
        info[f"input{at}" if column < 0 else f"output{column}"] = {
            "name": tensor.name,
            "dtype": ",".join(variant[at].name for variant in variants),
            "format": formats,
            "unknownshape_format": formats,
            "paramType": "optional" if tensor.optional else "required",
            "shape": "all",
        }
    if spec.attrs:
        info["attr"] = {"list": ",".join(attr.name for attr in spec.attrs)}
    for attr in spec.attrs:
        info[f"attr_{attr.name}"] = {
            "type": _OPS_INFO_TYPES[attr.type],
            "value": "all",
            "paramType": "optional",
            "defaultValue": _attr_text(spec, attr, "[]"),
        }
    return dict(sorted(info.items()))


def op_proto(specs: Iterable[OpSpec]) -> str:
    """Text of op_proto.h."""
    operators = []
    for spec in specs:
        attrs = []
        for attr in spec.attrs:
            text = _attr_text(spec, attr, "{}")
            quoted = json.dumps(text) if attr.type == "String" else text
            attrs.append({"name": attr.name, "type": attr.type, "literal": quoted})
        operators.append(
            {"type": spec.op_type, "inputs": spec.inputs, "outputs": spec.outputs, "attrs": attrs}
        )
    return _render("op_proto.h.j2", operators=operators)
