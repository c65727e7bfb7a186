# SPDX-License-Identifier: Apache-2.0
"""What CANN reads of an operator that is installed: aic-*-ops-info.json and op_proto.h."""

from __future__ import annotations

import json
from collections.abc import Iterable

from aclgrad.packaging.content import _render
from aclgrad.packaging.operators import PackagedOperator
from aclgrad.spec.definition import AttrDef, Param
from aclgrad.spec.soc import Family

_OPS_INFO_TYPES = {
    "Int": "int",
    "Float": "float",
    "Bool": "bool",
    "String": "str",
    "ListInt": "listInt",
    "ListFloat": "listFloat",
    "ListBool": "listBool",
    "ListListInt": "listListInt",
}
_FLAGS = {
    "dynamicCompileStatic": "true",
    "dynamicFormat": "false",
    "dynamicRankSupport": "true",
    "dynamicShapeSupport": "true",
    "needCheckSupport": "false",
}
_MACROS = {"required": "", "optional": "OPTIONAL_", "dynamic": "DYNAMIC_"}


def _text(value: object, brackets: str) -> str:
    """A default as text; lists in brackets."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return brackets[0] + ", ".join(_text(item, brackets) for item in value) + brackets[1]
    return str(value)


def ops_info(op: PackagedOperator, family: Family) -> dict[str, dict[str, str]]:
    """Entry of an operator in aic-<soc>-ops-info.json."""
    rows, definition = op.rows_on(family), op.definition
    info: dict[str, dict[str, str]] = {name: {"flag": value} for name, value in _FLAGS.items()}
    for key, value in definition.config.items():
        section, _, name = key.partition(".")
        info.setdefault(section, {})[name or "value"] = value
    for at, tensor in enumerate([*definition.inputs, *definition.outputs]):
        column = at - len(definition.inputs)
        formats = ",".join(tensor.formats or ("ND" for _ in rows))
        info[f"input{at}" if column < 0 else f"output{column}"] = {
            "name": tensor.name,
            "dtype": ",".join(row[at] for row in rows),
            "format": formats,
            "unknownshape_format": formats,
            "paramType": tensor.kind,
            "shape": "all",
        }
    if definition.attrs:
        info["attr"] = {"list": ",".join(attr.name for attr in definition.attrs)}
    for attr in definition.attrs:
        info[f"attr_{attr.name}"] = {
            "type": _OPS_INFO_TYPES[attr.kind],
            "value": "all",
            "paramType": "required" if attr.required else "optional",
        }
        if not attr.required and attr.default is not None:
            info[f"attr_{attr.name}"]["defaultValue"] = _text(attr.default, "[]")
    return dict(sorted(info.items()))


def op_proto(operators: Iterable[PackagedOperator]) -> str:
    """Text of op_proto.h."""
    return _render(
        "op_proto.h.j2",
        operators=[
            {
                "type": op.op_type,
                "inputs": [_declared("INPUT", item) for item in op.definition.inputs],
                "outputs": [_declared("OUTPUT", item) for item in op.definition.outputs],
                "attrs": [_declared_attr(attr) for attr in op.definition.attrs],
            }
            for op in operators
        ],
    )


def _declared(macro: str, item: Param) -> str:
    # Outputs are never optional in a prototype.
    prefix = "" if macro == "OUTPUT" and item.kind == "optional" else _MACROS[item.kind]
    return f"{prefix}{macro}({item.name}, ge::TensorType::ALL())"


def _declared_attr(attr: AttrDef) -> str:
    if attr.required or attr.default is None:
        return f"REQUIRED_ATTR({attr.name}, {attr.kind})"
    value = attr.default
    text = json.dumps(value) if isinstance(value, str) else _text(value, "{}")
    return f"ATTR({attr.name}, {attr.kind}, {text})"
