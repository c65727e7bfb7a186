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
from typing import Any, Literal, cast

_MOST_CHOICES = 64
"""Choices of dtypes from sets that are looked at."""

Kind = Literal["required", "optional", "dynamic"]
Default = bool | int | float | str | list[Any] | None
"""What an attribute is without a value of the caller's; None where it must be given."""


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
    default: Default = None


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

    def defaults(self) -> dict[str, Default]:
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

    def as_json(self) -> dict[str, Any]:
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


def registered(text: str) -> Registered:
    """What aclsimDescribeOps answers."""
    answer = cast(dict[str, Any], json.loads(text))
    return Registered(
        tuple(map(described, answer["ops"])),
        tuple(TilingClass(item["op"], _struct(item["data"])) for item in answer["tilingData"]),
    )


def described(op: Mapping[str, Any]) -> Definition:
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


def _param(item: Mapping[str, Any]) -> Param:
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


def _struct(data: Mapping[str, Any]) -> TilingStruct:
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


def parse(data: Mapping[str, Any]) -> Definition:
    """What `Definition.as_json` has written."""

    def params(items: Sequence[Mapping[str, Any]]) -> tuple[Param, ...]:
        return tuple(
            Param(**{**item, "dtypes": tuple(item["dtypes"]), "formats": tuple(item["formats"])})
            for item in items
        )

    tuples = ("socs", "inference_reads", "tiling_reads")
    return Definition(
        **{
            **data,
            **{name: tuple(data[name]) for name in tuples},
            "inputs": params(data["inputs"]),
            "outputs": params(data["outputs"]),
            "attrs": tuple(AttrDef(**item) for item in data["attrs"]),
            "other_socs": {
                soc: Params(params(own["inputs"]), params(own["outputs"]))
                for soc, own in data["other_socs"].items()
            },
        }
    )
