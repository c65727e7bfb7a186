# SPDX-License-Identifier: Apache-2.0
"""The aclnn function of an operator: what of its definition each argument is, and the signature
that CANN's generator gives to a definition.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aclgrad.reading.sources import SourcesError
from aclgrad.spec import naming
from aclgrad.spec.definition import AttrDef, Definition, Param
from aclgrad.spec.naming import snake_case

ATTR_TYPES = {
    "Int": "int64_t ",
    "Float": "double ",
    "Bool": "bool ",
    "String": "const char* ",
    "ListInt": "const aclIntArray* ",
    "ListFloat": "const aclFloatArray* ",
    "ListBool": "const aclBoolArray* ",
}
_HOST_ARRAYS = {
    "DT_INT64": "aclIntArray",
    "DT_INT32": "aclIntArray",
    "DT_UINT64": "aclIntArray",
    "DT_BOOL": "aclBoolArray",
    "DT_FLOAT": "aclFloatArray",
}


@dataclass(frozen=True)
class Argument:
    """An argument of an aclnn function: an input, attribute or output of the definition, and how C
    spells its type without const and pointers.
    """

    source: str  # input | attr | output | dtype (of an output)
    index: int
    type: str


@dataclass(frozen=True)
class Function:
    """An aclnn function that computes an operator."""

    name: str
    header: str
    arguments: tuple[Argument, ...]
    by_hand: Path | None = None  # its source, if nothing generated it

    def attr(self, index: int) -> Argument | None:
        """The argument that an attribute is; None if the function does without it."""
        return next((a for a in self.arguments if (a.source, a.index) == ("attr", index)), None)


@dataclass(frozen=True)
class CParam:
    """A parameter as C declares it, and whether a null pointer is refused."""

    name: str
    type: str
    out: bool
    checked: bool


@dataclass(frozen=True)
class InputOfBody:
    """What the generated body does with an input: ``host`` values become a tensor of a dtype."""

    name: str
    listed: bool
    host: bool
    dtype: str
    types: list[tuple[str, str]]  # of the first tensor and beside it, where they differ
    own_type: bool


@dataclass(frozen=True)
class AttrOfBody:
    """What the generated body passes on for an attribute."""

    name: str
    value: str


@dataclass(frozen=True)
class OutputOfBody:
    """What the generated body does with an output; a ``ref`` is an input as well."""

    name: str
    listed: bool
    ref: bool


@dataclass(frozen=True)
class Signature:
    """The signature that CANN's generator gives to an operator, and what the body needs."""

    op: Definition
    chooser: str
    api: str
    header: str
    guard: str
    params: list[CParam]
    inputs: list[InputOfBody]
    outputs: list[OutputOfBody]
    attrs: list[AttrOfBody]


def generated(op: Definition, prefix: str = "aclnn") -> Function:
    """The function that CANN's generator makes of a definition."""
    made = signature_of(op, prefix)
    kinds = [param.type.replace("const ", "").rstrip("* ") for param in made.params]
    own = [at for at, item in enumerate(made.outputs) if not item.ref]
    places = [
        *(("input", at) for at in range(len(op.inputs))),
        *(("attr", at) for at in range(len(op.attrs))),
        *(("output", at) for at in own),
    ]
    arguments = tuple(Argument(*place, kind) for place, kind in zip(places, kinds, strict=True))
    return Function(made.api, made.header, arguments)


def _first_tensor(ins: Sequence[Param]) -> Param | None:
    """The tensor whose dtype decides on the column of the definition."""
    for item in ins:
        if not (item.scalar or item.scalar_list or item.value_depend):
            return None if item.kind == "optional" else item
    return None


def _types_by_column(ins: Sequence[Param], item: Param) -> list[tuple[str, str]]:
    """Pairs of the first tensor's dtype and the one that a host value has beside it."""
    first = _first_tensor(ins)
    pairs: dict[str, str] = {}
    for theirs, own in zip(first.dtypes if first else (), item.dtypes, strict=False):
        pairs.setdefault(theirs, own)
    return [*pairs.items()] if len(set(pairs.values())) > 1 else []


def signature_of(op: Definition, prefix: str = "aclnn") -> Signature:
    """The function of a definition. Raises `SourcesError` for what has no aclnn type."""
    ins, outs = op.inputs, op.outputs
    in_names = {item.name: item for item in ins}
    out_names = {item.name for item in outs}
    params: list[CParam] = []
    inputs: list[InputOfBody] = []
    for item in ins:
        name = naming.camel(item.name) + ("Ref" if item.name in out_names else "")
        name += "Optional" if item.kind == "optional" else ""
        dtype = (item.dtypes or ("DT_INT64",))[0]
        c_type, host = "aclTensorList" if item.kind == "dynamic" else "aclTensor", True
        if item.scalar:
            c_type = "aclScalar"
        elif item.scalar_list:
            c_type = "aclScalarList"
        elif item.value_depend and dtype in _HOST_ARRAYS:
            c_type = _HOST_ARRAYS[dtype]
        else:
            host = False
        params.append(CParam(name, f"const {c_type}* ", False, item.kind != "optional"))
        types = _types_by_column(ins, item) if host else []
        own_type = item.scalar and _first_tensor(ins) is None
        inputs.append(InputOfBody(name, item.kind == "dynamic", host, dtype, types, own_type))
    attrs: list[AttrOfBody] = []
    for attr in op.attrs:
        param, value = _attribute(op, attr)
        params.append(param)
        attrs.append(AttrOfBody(param.name, value))
    outputs: list[OutputOfBody] = []
    for item in outs:
        listed = item.kind == "dynamic"
        if item.name in in_names:
            optional = in_names[item.name].kind == "optional"
            name = naming.camel(item.name) + "Ref" + ("Optional" if optional else "")
            outputs.append(OutputOfBody(name, listed, ref=True))
            continue
        name = "out" if len(outs) == 1 else naming.camel(item.name) + "Out"
        name += "Optional" if item.kind == "optional" else ""
        c_type = "aclTensorList" if listed else "aclTensor"
        params.append(CParam(name, f"const {c_type}* ", True, item.kind != "optional"))
        outputs.append(OutputOfBody(name, listed, ref=False))
    stem = snake_case(op.type)
    first = _first_tensor(ins)
    chooser = inputs[ins.index(first)].name if first else ""
    return Signature(
        op,
        f"(*{chooser})[0]" if first and first.kind == "dynamic" else chooser,
        f"{prefix}{op.type}",
        f"{snake_case(prefix)}_{stem}.h",
        naming.include_guard(stem),
        params,
        inputs,
        outputs,
        attrs,
    )


def _attribute(op: Definition, attr: AttrDef) -> tuple[CParam, str]:
    """The parameter of an attribute, and what the body passes on for it."""
    if attr.kind not in ATTR_TYPES:
        raise SourcesError(
            f"{op.type}: attribute {attr.name} is a {attr.kind}, which has no aclnn type here"
        )
    c_type = ATTR_TYPES[attr.kind]
    pointer = c_type.endswith("* ")
    name = naming.camel(attr.name) + ("Optional" if pointer and not attr.required else "")
    value = name
    if attr.kind == "Float":
        # CANN hands out the bytes of what OP_ATTR is given, and tiling reads a float.
        value = f"static_cast<float>({name})"
    elif attr.kind == "String" and attr.default is not None:
        value = f"({name} == nullptr ? {json.dumps(attr.default)} : {name})"
    elif pointer and isinstance(attr.default, list):
        kind = attr.kind.removeprefix("List")
        element = {"Int": "int64_t", "Float": "float", "Bool": "bool"}[kind]
        items = ", ".join(str(item).lower() for item in attr.default)
        size = len(attr.default)
        array = f"std::array<{element}, {size}>{{{items}}}.data()"
        value = f"({name} == nullptr ? plan->Alloc{kind}Array({array}, {size}) : {name})"
    return CParam(name, c_type, False, pointer and attr.required), value
