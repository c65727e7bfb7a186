# SPDX-License-Identifier: Apache-2.0
"""The rows of include/ascendc/instructions.def."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

DEFINITIONS = Path(__file__).resolve().parents[1] / "include" / "ascendc" / "instructions.def"

_ROW = re.compile(r"^ACLSIM_(\w+)\((.*)\)$", re.MULTILINE)
_ARGUMENT = re.compile(r"((?:[^,()\"]|\"[^\"]*\"|\((?:[^()]|\([^()]*\))*\))+)(?:,\s*|$)")
ELEMENTWISE = ("BINARY", "UNARY", "SCALAR")
REDUCTIONS = ("WHOLE_REDUCE", "BLOCK_REDUCE", "EXTREME")

SETS = {
    "FLOATS": "float half",
    "FLOATS_INT16": "float half int16",
    "FLOATS_INT32": "float half int32",
    "ARITH": "float half int16 int32",
    "BITS16": "int16 uint16",
    "INTS": "int16 uint16 int32 uint32",
}
"""Dtypes by the words of the second column, as device/lanes.cpp spells them out."""

SETS_950 = {
    "kB8": "int8 uint8",
    "kB64": "int64 uint64",
    "kWords": "int16 uint16 int32 uint32",
    "kFloats": "half float",
    "kReals": "half float bf16",
}
"""The same of device/dtype_sets.h."""


@dataclass(frozen=True)
class Row:
    """One row: what the macro's name and its arguments say."""

    form: str  # BINARY, UNARY, SCALAR, FUNCTION, LEVELS, ...
    name: str
    arguments: tuple[str, ...]  # behind the name, strings without their quotes
    own_forms: bool = False  # whether overloads are written by hand

    @property
    def elementwise(self) -> bool:
        """Whether dtypes, cost and page are columns of the row."""
        return self.form in ELEMENTWISE

    @property
    def chain(self) -> tuple[str, ...]:
        """The instructions of costs.json that it takes; none where no cost is known."""
        if self.elementwise:
            return (self.arguments[3],)
        if self.form in REDUCTIONS[:2]:
            return (self.arguments[1],)
        return tuple(self.arguments[0].split()) if self.form in ("FUNCTION", "COST") else ()

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Dtypes of an element-wise instruction on all architectures but 950."""
        return tuple(SETS[self.arguments[0]].split()) if self.elementwise else ()

    def dtypes_950(self, *, by_count: bool = False) -> tuple[str, ...]:
        """Dtypes on 950: of all forms, or what the form with a count has besides."""
        found: list[str] = []
        for word in self.arguments[1 + by_count].split(" | ") if self.elementwise else ():
            listed = re.findall(r"k([A-Z]\w*)", word) if word.startswith("DTypes") else []
            found += [one.lower() for one in listed] or SETS_950.get(word, "").split()
        return tuple(found)

    @property
    def page(self) -> str:
        """The page of the documents, or nothing."""
        if self.form in REDUCTIONS:
            return self.arguments[2]
        return self.arguments[4] if self.elementwise else ""


def rows(text: str = "") -> list[Row]:
    """All rows, in their order."""
    found = []
    for form, inside in _ROW.findall(text or DEFINITIONS.read_text(encoding="utf-8")):
        name, *rest = (one.strip().strip('"') for one in _ARGUMENT.findall(inside))
        own = form.endswith("_OWN_FORMS")
        found.append(Row(form.removesuffix("_OWN_FORMS"), name, tuple(rest), own))
    return found


def functions(table: list[Row]) -> dict[str, list[str]]:
    """Calls with a cost that repeat nothing, and the instructions that they take."""
    return {row.name: list(row.chain) for row in table if row.chain}


def levels(table: list[Row]) -> dict[str, str]:
    """Calls that repeat one instruction until a single element is left."""
    repeated = {"LEVELS": 0, "EXTREME": 1}
    return {row.name: row.arguments[repeated[row.form]] for row in table if row.form in repeated}
