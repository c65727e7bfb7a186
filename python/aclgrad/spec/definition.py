# SPDX-License-Identifier: Apache-2.0
"""The definition of an operator (OpDef) as values. It is parsed once, where it enters: from what a
library of op_host registers (aclsimDescribeOps), from a package, or from a spec of ours.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from aclgrad.common.data import rebuilt

_MOST_CHOICES = 64
"""Choices of dtypes from sets that are looked at."""

Kind = Literal["required", "optional", "dynamic"]
Value = bool | int | float | str | Sequence["Value"] | None
"""What an attribute is. As a default, None is that of an attribute that must be given."""


def elements(value: Value) -> Sequence[Value]:
    """The elements of an attribute that is a list. Raises TypeError for another."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(f"got {value!r}, want a list")
    return value


def scalar(value: Value) -> bool | int | float | str:
    """An attribute, or an element of one, that is no list. Raises TypeError for another."""
    if value is None or (isinstance(value, Sequence) and not isinstance(value, str)):
        raise TypeError(f"got {value!r}, want one value")
    return value


@dataclass(frozen=True)
class Param:
    """An input or output: one tensor, one that may be absent, or a list of any length."""

    name: str
    kind: Kind = "required"
    dtypes: tuple[str, ...] = ()  # a column each, as GE spells them: DT_FLOAT16
    any_of: bool = False  # the dtypes are a set of its own, not columns
    formats: tuple[str, ...] = ()  # a column each; ND where there are none
    value_depend: bool = False  # tiling or inference reads its values
    scalar: bool = False
    scalar_list: bool = False
    shape_from_result: bool = False


@dataclass(frozen=True)
class AttrDef:
    """An attribute; without a default it must be given."""

    name: str
    kind: str  # Int, Float, Bool, String, ListInt, ...
    required: bool = False
    default: Value = None


@dataclass(frozen=True)
class Params:
    """Inputs and outputs, as a definition has them for one SoC."""

    inputs: tuple[Param, ...] = ()
    outputs: tuple[Param, ...] = ()


@dataclass(frozen=True)
class Definition(Params):
    """An operator type, what it takes and gives, and what op_host registers for it."""

    type: str = ""
    attrs: tuple[AttrDef, ...] = ()
    defined: bool = True  # by an OpDef, not only by a tiling or an inference
    here: bool = True  # the definition has the SoC that was asked for
    why: str = ""  # it has not
    socs: tuple[str, ...] = ()
    tiling: bool = True
    infer_shape: bool = True
    infer_data_type: bool = False
    inference_reads: tuple[int, ...] = ()  # inputs whose values inference asks for
    tiling_reads: tuple[int, ...] = ()
    config: Mapping[str, str] = field(default_factory=dict)  # of AICore(), by its dotted keys
    other_socs: Mapping[str, Params] = field(default_factory=dict)

    def defaults(self) -> dict[str, Value]:
        """Every attribute's default by its name."""
        return {attr.name: attr.default for attr in self.attrs}

    @property
    def params(self) -> tuple[Param, ...]:
        """Inputs, then outputs."""
        return (*self.inputs, *self.outputs)

    @property
    def arguments(self) -> list[str]:
        """Names of the inputs, then of the attributes: what a golden takes."""
        return [*(item.name for item in self.inputs), *(attr.name for attr in self.attrs)]

    def rows(self) -> list[tuple[str, ...]]:
        """The dtype columns: each is a kernel."""
        columns = max((len(one.dtypes) for one in self.params if not one.any_of), default=1)
        free = [one.dtypes if one.any_of else (None,) for one in self.params]
        found: dict[tuple[str, ...], None] = {}
        for choice in itertools.islice(itertools.product(*free), _MOST_CHOICES):
            for column in range(columns):
                row = tuple(
                    chosen or (one.dtypes or ("DT_FLOAT",))[min(column, len(one.dtypes) - 1)]
                    for chosen, one in zip(choice, self.params, strict=True)
                )
                found[row] = None
        return list(found)

    def as_json(self) -> dict[str, object]:
        """For another process; `parse` reads it."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class TilingField:
    """A field of a tiling struct: a number, an array of them, or a struct."""

    name: str
    type: str
    offset: int
    count: int
    nested: TilingStruct | None = None


@dataclass(frozen=True)
class TilingStruct:
    """A tiling struct that op_host declares field by field."""

    name: str
    bytes: int
    fields: tuple[TilingField, ...]


@dataclass(frozen=True)
class TilingClass:
    """What REGISTER_TILING_DATA_CLASS says: an operator type, maybe with a key, and its struct."""

    op: str
    data: TilingStruct


@dataclass(frozen=True)
class Registered:
    """Everything that a library of op_host registers, seen from one SoC family."""

    ops: tuple[Definition, ...] = ()
    tiling_data: tuple[TilingClass, ...] = ()


class _Param(TypedDict):
    name: str
    kind: Kind
    dtypes: list[str]
    anyOf: bool
    formats: list[str]
    valueDepend: bool
    scalar: bool
    scalarList: bool
    shapeFromResult: bool


class _Params(TypedDict):
    inputs: list[_Param]
    outputs: list[_Param]


class _Attr(TypedDict):
    name: str
    kind: str
    required: bool
    default: Value


class _OpOnSoc(TypedDict, total=False):
    inputs: list[_Param]
    outputs: list[_Param]
    attrs: list[_Attr]
    why: str
    socs: list[str]
    config: dict[str, str]
    otherSocs: dict[str, _Params]


class _Op(_OpOnSoc):
    type: str
    defined: bool
    tiling: bool
    inferShape: bool
    inferDataType: bool
    inferenceReads: list[int]
    tilingReads: list[int]


class _FieldOfNumbers(TypedDict):
    name: str
    type: str
    offset: int
    count: int


class _Field(_FieldOfNumbers, total=False):
    nested: _Struct


_Struct = TypedDict("_Struct", {"class": str, "bytes": int, "fields": list[_Field]})


class _TilingClass(TypedDict):
    op: str
    data: _Struct


class _Registered(TypedDict):
    """What aclsimDescribeOps answers."""

    ops: list[_Op]
    tilingData: list[_TilingClass]


def registered(text: str) -> Registered:
    """What aclsimDescribeOps answers."""
    answer: _Registered = json.loads(text)
    return Registered(
        tuple(map(described, answer["ops"])),
        tuple(TilingClass(item["op"], _struct(item["data"])) for item in answer["tilingData"]),
    )


def described(op: _Op) -> Definition:
    """One operator of that answer."""
    return Definition(
        tuple(map(_param, op.get("inputs", ()))),
        tuple(map(_param, op.get("outputs", ()))),
        op["type"],
        tuple(
            AttrDef(attr["name"], attr["kind"], attr["required"], attr["default"])
            for attr in op.get("attrs", ())
        ),
        op["defined"],
        "inputs" in op,
        op.get("why", ""),
        tuple(op.get("socs", ())),
        op["tiling"],
        op["inferShape"],
        op["inferDataType"],
        tuple(op["inferenceReads"]),
        tuple(op["tilingReads"]),
        op.get("config", {}),
        {
            soc: Params(tuple(map(_param, own["inputs"])), tuple(map(_param, own["outputs"])))
            for soc, own in op.get("otherSocs", {}).items()
        },
    )


def _param(item: _Param) -> Param:
    return Param(
        item["name"],
        item["kind"],
        tuple(item["dtypes"]),
        item["anyOf"],
        tuple(item["formats"]),
        item["valueDepend"],
        item["scalar"],
        item["scalarList"],
        item["shapeFromResult"],
    )


def _struct(data: _Struct) -> TilingStruct:
    fields = tuple(
        TilingField(
            item["name"],
            item["type"],
            item["offset"],
            item["count"],
            _struct(item["nested"]) if "nested" in item else None,
        )
        for item in data["fields"]
    )
    return TilingStruct(data["class"], data["bytes"], fields)


class _WrittenParams(TypedDict):
    inputs: list[dict[str, list[str]]]
    outputs: list[dict[str, list[str]]]


class Written(_WrittenParams):
    """The fields of `Definition.as_json` for which JSON has another type."""

    attrs: list[dict[str, object]]
    socs: list[str]
    inference_reads: list[int]
    tiling_reads: list[int]
    other_socs: dict[str, _WrittenParams]


def parse(data: Written) -> Definition:
    """What `Definition.as_json` has written."""

    def params(items: Sequence[Mapping[str, list[str]]]) -> tuple[Param, ...]:
        return tuple(
            rebuilt(Param, item, dtypes=tuple(item["dtypes"]), formats=tuple(item["formats"]))
            for item in items
        )

    return rebuilt(
        Definition,
        data,
        inputs=params(data["inputs"]),
        outputs=params(data["outputs"]),
        attrs=tuple(rebuilt(AttrDef, item) for item in data["attrs"]),
        socs=tuple(data["socs"]),
        inference_reads=tuple(data["inference_reads"]),
        tiling_reads=tuple(data["tiling_reads"]),
        other_socs={
            soc: Params(params(own["inputs"]), params(own["outputs"]))
            for soc, own in data["other_socs"].items()
        },
    )
