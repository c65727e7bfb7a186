# SPDX-License-Identifier: Apache-2.0
"""What libraries say: the machine they are for, and run paths, the folders that the dynamic linker
searches because a library says so.
"""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Iterator

_LOAD, _DYNAMIC = 1, 2
_NULL, _STRTAB, _RPATH, _RUNPATH = 0, 5, 15, 29
_MACHINES = {62: "x86_64", 183: "aarch64"}
_ORIGIN = ("$ORIGIN", "${ORIGIN}")


class _Library:
    """A little-endian ELF file of 64 bits, as hosts of NPUs have them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        start, size, count = (
            struct.unpack_from(form, data, at)[0]
            for form, at in (("<Q", 32), ("<H", 54), ("<H", 56))
        )
        self.segments = [
            struct.unpack_from("<IIQQQQ", data, start + size * index) for index in range(count)
        ]

    def entries(self) -> Iterator[tuple[int, int, int]]:
        """Place, tag and value of each dynamic entry, the last one included."""
        for kind, _, offset, _, _, size in self.segments:
            if kind != _DYNAMIC:
                continue
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<QQ", self.data, at)
                yield at, tag, value
                if tag == _NULL:
                    return

    def text(self, place: int) -> str:
        """A string of the dynamic string table."""
        table = next(value for _, tag, value in self.entries() if tag == _STRTAB)
        for kind, _, offset, address, _, size in self.segments:
            if kind == _LOAD and address <= table < address + size:
                begin = table - address + offset + place
                return self.data[begin : self.data.index(b"\0", begin)].decode()
        raise ValueError("its string table is in no segment")


def _is_elf(data: bytes) -> bool:
    return data[:6] == b"\x7fELF\x02\x01"


def machine(data: bytes) -> str | None:
    """The machine of a library, as ``uname -m`` calls it; None for another, or for no library."""
    return _MACHINES.get(struct.unpack_from("<H", data, 18)[0]) if _is_elf(data[:20]) else None


def run_paths(data: bytes) -> list[str]:
    """The folders of DT_RPATH and DT_RUNPATH; none for what is no library."""
    if not _is_elf(data):
        return []
    library = _Library(data)
    found = [
        library.text(value) for _, tag, value in library.entries() if tag in (_RPATH, _RUNPATH)
    ]
    return [folder for text in found for folder in text.split(":")]


def leads_out(folder: str, path: str) -> bool:
    """Whether a run path of the library ``path`` of a package is not inside of that package."""
    origin = next(
        (word for word in _ORIGIN if folder == word or folder.startswith(f"{word}/")), None
    )
    if origin is None:
        return True
    place = posixpath.join(posixpath.dirname(path) or ".", "." + folder[len(origin) :])
    return posixpath.normpath(place).split("/")[0] == ".."


def inside(data: bytes, path: str) -> bytes:
    """The library ``path`` of a package, without run paths where one of them leads out of it."""
    if not any(leads_out(folder, path) for folder in run_paths(data)):
        return data
    entries = list(_Library(data).entries())
    kept = [entry[1:] for entry in entries if entry[1] not in (_RPATH, _RUNPATH)]
    made = bytearray(data)
    # The entries behind move up; the rest of the table ends it as often as it takes.
    kept += [(_NULL, 0)] * (len(entries) - len(kept))
    for (at, _, _), (tag, value) in zip(entries, kept, strict=True):
        struct.pack_into("<QQ", made, at, tag, value)
    return bytes(made)
