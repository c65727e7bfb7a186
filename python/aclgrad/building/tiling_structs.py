# SPDX-License-Identifier: Apache-2.0
"""Tiling structs that op_host declares field by field, as a kernel sees them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aclgrad.spec.definition import Definition, Registered, TilingStruct

_OTHER_ARCHITECTURE_STRUCT = re.compile(r"Reg(?:[Bb]ase|Tiling)|Arch35|Apt|950")
"""Tiling structs of kernels that are built for architecture 3510 only."""

SIZES = {
    **{f"{sign}int{bits}_t": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float": 4,
    "double": 8,
    "bool": 1,
    "size_t": 8,
    "int": 4,
    "char": 1,
}


@dataclass(frozen=True)
class KernelField:
    """A field as the kernel's struct has it; an ``array`` of 0 is none."""

    type: str
    name: str
    offset: int
    array: int
    nested: bool = False


@dataclass(frozen=True)
class KernelStruct:
    """A tiling struct as a kernel sees it."""

    name: str
    fields: list[KernelField]
    bytes: int


def tiling_structs(described: Registered, header: str) -> dict[str, KernelStruct]:
    """Every struct by its name, but for those that the simulator's header has."""
    pattern = r"^\s*(?:struct |ACLSIM_TILING_STRUCT_\()(\w+)"
    known = set(re.findall(pattern, header, re.MULTILINE))
    structs: dict[str, KernelStruct] = {}
    for item in described.tiling_data:
        _add_struct(item.data, known, structs)
    return structs


def _add_struct(data: TilingStruct, known: set[str], structs: dict[str, KernelStruct]) -> None:
    name = data.name
    if name in structs or name in known:
        return
    fields: list[KernelField] = []
    end, widest = 0, 1

    def pad(offset: int) -> None:
        # The host aligns nested structs and the whole to 8 bytes, whatever their fields are.
        if offset > end:
            name = f"aclsimPadding{len(fields)}"
            fields.append(KernelField("uint8_t", name, end, offset - end))

    for item in data.fields:
        nested = item.nested
        if nested is not None:
            _add_struct(nested, known, structs)
            alignment, size = 8, nested.bytes
        else:
            alignment = SIZES.get(item.type, 4)
            size = alignment * item.count
        pad(item.offset)
        count = 0 if nested is not None or item.count == 1 else item.count
        fields.append(KernelField(item.type, item.name, item.offset, count, nested is not None))
        end = item.offset + size
        widest = max(widest, alignment)
    pad(data.bytes)
    structs[name] = KernelStruct(name, fields, data.bytes)


def tiling_classes(op: Definition, described: Registered) -> dict[str, list[int]]:
    """The tiling structs of an operator with their keys; the first one is that of all other keys.

    REGISTER_TILING_DATA_CLASS(Type_<key>, ...) gives a key a struct of its own.
    """
    registered = described.tiling_data
    pattern = re.compile(re.escape(op.type) + r"(?:_(\d+))?")
    classes: dict[str, list[int]] = {}
    for item in sorted(registered, key=lambda item: item.op != op.type):
        match = pattern.fullmatch(item.op)
        if match and not _OTHER_ARCHITECTURE_STRUCT.search(item.data.name):
            keys = classes.setdefault(item.data.name, [])
            keys += [int(match[1])] if match[1] else []
    if not classes and len({item.data.name for item in registered}) == 1:
        classes = {registered[0].data.name: []}
    return classes
