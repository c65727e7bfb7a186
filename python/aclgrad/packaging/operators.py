# SPDX-License-Identifier: Apache-2.0
"""What a package must know of an operator, filled from a spec of ours or from a definition as it is
registered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aclgrad.reading.sources import numpy_name
from aclgrad.spec.definition import Definition, Param, Value
from aclgrad.spec.naming import kernel_stem, simulator_stem, snake_case
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import Family, family

Row = tuple[str, ...]
"""NumPy's name of the dtype of each input and output, as kernel files are called."""


@dataclass(frozen=True)
class PackagedOperator:
    """One operator: its definition, and the kernels that it has."""

    definition: Definition
    stem: str  # of the kernel folder
    rows: Mapping[str, tuple[Row, ...]]  # by the family that kernels are built for
    shared: bool = True  # a family of the same architecture may take them

    @property
    def op_type(self) -> str:
        """What callers ask for."""
        return self.definition.type

    def rows_on(self, soc: Family) -> tuple[Row, ...]:
        """Dtype combinations that run on a family."""
        for name, rows in self.rows.items():
            if name == soc.name or (self.shared and family(name).npu_arch == soc.npu_arch):
                return rows
        return ()

    def kernels(self, soc: Family) -> list[str]:
        """Files of its own for a family, below the folder of kernels."""
        rows = self.rows.get(soc.name, ())
        return [f"{soc.name}/{self.stem}/{kernel_stem(self.op_type, row)}.so" for row in rows]


def of_spec(spec: OpSpec) -> list[PackagedOperator]:
    """An operator of this project, by each of its types."""
    return [_of_type(spec, name, stem) for name, stem in spec.types.items()]


def _of_type(spec: OpSpec, op_type: str, stem: str) -> PackagedOperator:
    config = {"opFile.value": stem, "opInterface.value": stem}
    rows = {
        name: tuple(tuple(dtype.name for dtype in row) for row in rows)
        for name, rows in spec.kernels.items()
    }
    definition = spec.definition(family(next(iter(spec.kernels))), op_type)
    return PackagedOperator(replace(definition, config=config), stem, rows)


def _typed(kind: str, value: Value) -> Value:
    """A default as JSON has it, with the type of its kind."""
    if isinstance(value, list):
        return [_typed(kind.removeprefix("List"), item) for item in value]
    if not isinstance(value, (int, float)) or kind not in ("Float", "Bool"):
        return value
    return float(value) if kind == "Float" else bool(value)


def of_definition(
    definitions: Mapping[str, Definition], rows: Mapping[str, Sequence[Row]]
) -> PackagedOperator:
    """An operator by what its definition says on each family, and the combinations built there,
    in GE's names.
    """
    op = next(iter(definitions.values()))
    first = next(iter(rows.values()))
    params = [
        replace(item, formats=_formats(item, [row[at] for row in first]))
        for at, item in enumerate(op.params)
    ]
    stem = snake_case(op.type)
    definition = replace(
        op,
        inputs=tuple(params[: len(op.inputs)]),
        outputs=tuple(params[len(op.inputs) :]),
        attrs=tuple(replace(attr, default=_typed(attr.kind, attr.default)) for attr in op.attrs),
        config={"opFile.value": stem, "opInterface.value": stem, **op.config},
    )
    named = {name: tuple(tuple(map(numpy_name, row)) for row in own) for name, own in rows.items()}
    return PackagedOperator(definition, simulator_stem(op.type), named, shared=False)


def _formats(item: Param, dtypes: Sequence[str]) -> tuple[str, ...]:
    """The format of a parameter in each dtype combination."""
    known = [name.removeprefix("FORMAT_") for name in item.formats] or ["ND"]
    if len(set(known)) == 1:
        return tuple(known[:1] * len(dtypes))
    columns = dict(zip(reversed(item.dtypes), reversed(known), strict=False))
    return tuple(columns.get(dtype, known[0]) for dtype in dtypes)
