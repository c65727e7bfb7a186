# SPDX-License-Identifier: Apache-2.0
"""compile_commands.json: what clangd and editors read to see sources as a build sees them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aclgrad.common import files
from aclgrad.common.data import parse_json

FILE = "compile_commands.json"
_WITH_VALUE = ("-MF", "-MT", "-o")
_OURS = ("-MD", "-w", "-fno-gnu-unique")
Entry = dict[str, Any]
Commands = dict[Path, dict[tuple[str, ...], tuple[str, ...]]]
"""How a build compiles each source, by the dtypes that it is compiled for."""


def entries(commands: Commands, folder: Path) -> list[Entry]:
    """An entry per source; of several dtypes editors see float32 if they can. Words for this build
    alone, and headers that it has parsed by GCC, which clang does not read, are left out.
    """
    found = []
    for source, by_dtypes in sorted(commands.items()):
        words = by_dtypes[min(by_dtypes, key=lambda row: (row[:1] != ("DT_FLOAT",), row))]
        kept: list[str] = []
        rest = iter(words)
        for word in rest:
            if word in _WITH_VALUE:
                next(rest, "")
            elif word == "-include":
                header = next(rest, "")
                if Path(header).parent.name != "parsed":
                    kept += [word, header]
            elif word not in _OURS and not word.startswith("-fmax-errors"):
                kept.append(word)
        found.append({"directory": str(folder), "file": str(source), "arguments": kept})
    return found


def wanted_in(root: Path, made: Iterable[Entry]) -> Path | None:
    """The file in a project that asks for it: its .gitignore has the line, and what lies there is
    nobody else's.
    """
    path, ignored = root / FILE, root / ".gitignore"
    try:
        lines = files.read(ignored, str(ignored), "").decode(errors="replace").split()
        if FILE not in (line.lstrip("/") for line in lines) or path.is_symlink():
            return None
        if path.exists():
            folders = {str(Path(entry["directory"]).parent) for entry in made}
            old = parse_json(files.read(path, str(path), "").decode())
            if any(str(Path(entry["directory"]).parent) not in folders for entry in old):
                return None
    except (files.FileError, ValueError, TypeError, KeyError):
        return None
    return path


def write(path: Path, made: Iterable[Entry], what: str) -> None:
    """Write the file unless it says this already."""
    text = json.dumps([*made], indent=1) + "\n"
    if not path.is_file() or path.is_symlink() or path.read_text(errors="replace") != text:
        with files.writing(path, what) as file:
            file.write(text.encode())
