# SPDX-License-Identifier: Apache-2.0
"""What a package must know of an operator, filled from a spec of ours or from a definition as it is
registered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aclgrad.project.sources import numpy_name, simulator_stem, snake_case
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import Family, family

Row = tuple[str, ...]
"""NumPy's name of the dtype of each input and output, as kernel files are called."""


@dataclass(frozen=True)
class Param:
    """An input or output of the definition."""

    name: str
    kind: str = "required"  # required | optional | dynamic
    formats: tuple[str, ...] = ()  # a column each; ND where there are none


@dataclass(frozen=True)
class Attribute:
    """An attribute of the definition; without a default it must be given."""

    name: str
    kind: str  # Int, Float, Bool, String, ListInt, ...
    default: Any = None
    required: bool = False


@dataclass(frozen=True)
class Operator:
    """One operator: its definition, and the kernels that it has."""

    op_type: str
    stem: str  # of the kernel folder
    inputs: tuple[Param, ...]
    outputs: tuple[Param, ...]
    attrs: tuple[Attribute, ...]
    rows: Mapping[str, tuple[Row, ...]]  # by the family that kernels are built for
    config: Mapping[str, str] = field(default_factory=dict)  # of AICore(), by its dotted keys
    shared: bool = True  # a family of the same architecture may take them

    def rows_on(self, soc: Family) -> tuple[Row, ...]:
        """Dtype combinations that run on a family."""
        for name, rows in self.rows.items():
            if name == soc.name or (self.shared and family(name).npu_arch == soc.npu_arch):
                return rows
        return ()

    def kernels(self, soc: Family) -> list[str]:
        """Files of its own for a family, below the folder of kernels."""
        rows = self.rows.get(soc.name, ())
        return [f"{soc.name}/{self.stem}/{self.op_type}_{'_'.join(row)}.so" for row in rows]


def of_spec(spec: OpSpec) -> list[Operator]:
    """An operator of this project, by each of its types."""
    return [_of_type(spec, name, stem) for name, stem in spec.types.items()]


def _of_type(spec: OpSpec, op_type: str, stem: str) -> Operator:
    values = spec.defaults()
    return Operator(
        op_type,
        stem,
        tuple(
            Param(item.name, "optional" if item.optional else "required") for item in spec.inputs
        ),
        tuple(Param(item.name) for item in spec.outputs),
        tuple(
            Attribute(
                attr.name,
                attr.type,
                attr.choices[int(values[attr.arg])]
                if attr.choices
                else _default(attr.type, values[attr.arg]),
            )
            for attr in spec.attrs
        ),
        {
            name: tuple(tuple(dtype.name for dtype in row) for row in rows)
            for name, rows in spec.kernels.items()
        },
        {"opFile.value": stem, "opInterface.value": stem},
    )


def _default(kind: str, value: Any) -> Any:
    return [value] if kind.startswith("List") else value


def _typed(kind: str, value: Any) -> Any:
    """A default as JSON has it, with the type of its kind."""
    if isinstance(value, list):
        return [_typed(kind.removeprefix("List"), item) for item in value]
    if value is None or kind not in ("Float", "Bool"):
        return value
    return float(value) if kind == "Float" else bool(value)


def of_definition(
    definitions: Mapping[str, Mapping[str, Any]], rows: Mapping[str, Sequence[Row]]
) -> Operator:
    """An operator by what its definition says on each family, and the combinations built there,
    in GE's names.
    """
    op = next(iter(definitions.values()))
    first = next(iter(rows.values()))
    params = [
        Param(item["name"], item["kind"], _formats(item, [row[at] for row in first]))
        for at, item in enumerate([*op["inputs"], *op["outputs"]])
    ]
    return Operator(
        op["type"],
        simulator_stem(op["type"]),
        tuple(params[: len(op["inputs"])]),
        tuple(params[len(op["inputs"]) :]),
        tuple(
            Attribute(
                attr["name"], attr["kind"], _typed(attr["kind"], attr["default"]), attr["required"]
            )
            for attr in op["attrs"]
        ),
        {name: tuple(tuple(map(numpy_name, row)) for row in own) for name, own in rows.items()},
        {
            "opFile.value": snake_case(op["type"]),
            "opInterface.value": snake_case(op["type"]),
            **op.get("config", {}),
        },
        shared=False,
    )


def _formats(item: Mapping[str, Any], dtypes: Sequence[str]) -> tuple[str, ...]:
    """The format of a parameter in each dtype combination."""
    known = [name.removeprefix("FORMAT_") for name in item["formats"]] or ["ND"]
    if len(set(known)) == 1:
        return tuple(known[:1] * len(dtypes))
    columns = dict(zip(reversed(item["dtypes"]), reversed(known), strict=False))
    return tuple(columns.get(dtype, known[0]) for dtype in dtypes)
