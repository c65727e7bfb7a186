# SPDX-License-Identifier: Apache-2.0
"""Fields of the plain structs that op_host and kernel share, read from their source."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aclgrad.building.operator_build import Builder
from aclgrad.building.tiling_structs import SIZES
from aclgrad.findings import Finding, Place
from aclgrad.reading.cpp_text import without_comments
from aclgrad.runtime import Device
from aclgrad.testing.run import UnsetTiling

_FIELD = re.compile(r"\s*([\w:]+)\s+(\w+)\s*((?:\[\s*\d+\s*\])*)\s*(?:=[^;]*|\{[^;]*\})?;")
_GIVEN = re.compile(r"GetTilingData<\s*(?:\w+::)*(\w+)\s*>")
_RANGE = re.compile(r"\[(\d+), (\d+)\)")


@dataclass(frozen=True)
class Field:
    """One field: its bytes and its line."""

    name: str
    begin: int
    end: int
    file: str
    line: int
    text: str


def fields_of(struct: str, text: str, file: str) -> tuple[Field, ...]:
    """The fields of a struct of numbers and arrays of numbers; none if it holds anything else."""
    code = without_comments(text)
    found = re.search(
        rf"\bstruct\s+{re.escape(struct)}\s*\{{((?:[^{{}}]|\{{[^{{}}]*\}})*)\}};", code
    )
    if not found or "#" in found[1] or "#pragma pack" in code:
        return ()
    fields: list[Field] = []
    end = at = 0
    body = found[1].rstrip()
    while at < len(body):
        match = _FIELD.match(body, at)
        size = SIZES.get(match[1].removeprefix("std::")) if match else None
        if match is None or size is None:
            return ()
        begin = (end + size - 1) // size * size
        count = 1
        for length in re.findall(r"\d+", match[3]):
            count *= int(length)
        end = begin + size * count
        line = code.count("\n", 0, found.start(1) + match.start(2)) + 1
        shown = text.splitlines()[line - 1].strip()
        fields.append(Field(match[2], begin, end, file, line, shown))
        at = match.end()
    return tuple(fields)


def field_named(struct: str, name: str, text: str, file: str) -> Field | None:
    """A field of a struct that may hold anything; its bytes are not known."""
    code = without_comments(text)
    found = re.search(
        rf"\bstruct\s+{re.escape(struct)}\b[^;{{]*\{{(.*?)^\}};", code, re.DOTALL | re.M
    )
    field = re.search(rf"\b{re.escape(name)}\s*[;=\[{{]", found[1]) if found else None
    if not found or not field:
        return None
    line = code.count("\n", 0, found.start(1) + field.start()) + 1
    return Field(name, 0, 0, file, line, text.splitlines()[line - 1].strip())


def _headers_of(root: Path) -> list[Path]:
    """Where a project may have its struct."""
    found = [*root.glob("*.h")]
    for name in ("op_kernel", "op_host"):
        found += [file for file in (root / name).rglob("*") if file.suffix in (".h", ".cpp")]
    return sorted(found)


def with_fields(item: Finding, sources: Iterable[Path]) -> Finding | None:
    """A ``tiling-unset`` with the names of the fields and the line of the first; None where it has
    padding only. As it is where the struct is not known.
    """
    given = _GIVEN.search(item.at.text)
    if given is None:
        return item
    told = item.detail.partition(" as they were: ")[2].split(", ")
    unset: list[Field] = []
    for path in sources:
        text = path.read_text(encoding="utf-8", errors="replace")
        if fields := fields_of(given[1], text, str(path)):
            ranges = [(int(begin), int(end)) for begin, end in _RANGE.findall(item.detail)]
            unset = [one for one in fields if any(a < one.end and one.begin < b for a, b in ranges)]
            if not unset:
                return None
            break
        unset = [one for name in told if (one := field_named(given[1], name, text, str(path)))]
        if unset:
            break
    if not unset:
        return item
    names = ", ".join(one.name for one in unset)
    first = unset[0]
    return dataclasses.replace(
        item,
        at=Place("host", given[1], "", first.file, first.line, first.text),
        related=(dataclasses.replace(item.at, note="hands out the buffer"),),
        detail=f"the tiling function does not set {names}",
    )


def unset_tiling(device: Device, builder: Builder) -> UnsetTiling:
    """What looks for tiling data of an operator that nobody sets."""
    files = _headers_of(builder.sources.root)
    return UnsetTiling(device, functools.partial(with_fields, sources=files))
