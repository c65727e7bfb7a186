# SPDX-License-Identifier: Apache-2.0
"""What an operator takes from elsewhere in its repository: the folder of a header that it includes,
the sources of functions that its op_host calls. Found by looking, as every repository's build says
it in another way.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from aclgrad.codegen.render import write_if_different
from aclgrad.reading.repository import walk
from aclgrad.reading.sources import Sources

_SOURCES = (".cpp", ".cc")
_HEADERS = (".h", ".hpp", ".inc", ".cuh")
_SHARED = re.compile(r"common|utils?$|base$")
_FOREIGN = {"op_api", "op_kernel", "op_graph", "framework", "examples", "stub"}


class CommonCode:
    """What was found for one operator; kept beside its objects, so that it is looked for once."""

    def __init__(self, file: Path, sources: Sources, *, api: bool = False) -> None:
        self._file, self._sources, self._api = file, sources, api
        self.roots: list[Path] = []
        self.kernel_roots: list[Path] = []
        self.files: list[Path] = []
        self._refused: set[Path] = set()
        try:
            kept = json.loads(file.read_text())
            self.roots = [Path(word) for word in kept["roots"] if os.path.isdir(word)]
            self.kernel_roots = [
                Path(word) for word in kept.get("kernels", ()) if os.path.isdir(word)
            ]
            self.files = [Path(word) for word in kept["files"] if os.path.isfile(word)]
        except (OSError, ValueError, KeyError, TypeError):
            pass  # not looked for yet

    def _keep(self) -> None:
        kept = {
            "roots": [*map(str, self.roots)],
            "kernels": [*map(str, self.kernel_roots)],
            "files": [*map(str, self.files)],
        }
        write_if_different(self._file, json.dumps(kept))

    def find_header(self, name: str, *, kernels: bool = False) -> bool:
        """Look for a header that a compile asked for; whether there is a new root for it. What only
        kernels want is no word of other compiles: they would be done again for it.
        """
        parts = Path(name).parts
        if ".." in parts or not parts:
            return False
        roots = [*self.roots, *(self.kernel_roots if kernels else ())]
        if any((root / name).is_file() for root in roots):
            return True  # another thread has
        found = []
        # The walk of a repository skips build/, where the operator itself may lie.
        for path in (*_files(self._sources.root), *_files(self._sources.repository)):
            if path.name == parts[-1] and path.parts[-len(parts) :] == parts:
                root = Path(*path.parts[: -len(parts)])
                # There op_api has the declarations of what CANN brings along.
                if root not in roots and (self._api or "stub" not in path.parts):
                    found.append(root)
        if not found:
            return False
        more = self.kernel_roots if kernels else self.roots
        more.append(min(found, key=lambda root: (-self._shared(root), len(root.parts), root)))
        self._keep()
        return True

    def _shared(self, folder: Path) -> int:
        """How many folders a path has in common with the operator's."""
        return len(os.path.commonpath([folder, self._sources.root]))

    def find_sources(self, names: Iterable[str]) -> list[Path]:
        """Sources that define functions of these names, as C++ spells them; new ones only."""
        new: list[Path] = []
        for name in names:
            pattern = _definition(name)
            if pattern is None:
                continue
            for file in self._candidates():
                text = file.read_text("utf-8", errors="replace")
                if pattern.search(text) and not re.search(r"\bOP_ADD\(", text):
                    if file not in self.files and file not in self._refused:
                        new.append(file)
                        self.files.append(file)
                    break
        if new:
            self._keep()
        return new

    def drop(self, file: Path) -> None:
        """A source that does not compile here."""
        self.files.remove(file)
        self._refused.add(file)
        self._keep()

    def _candidates(self) -> Iterator[Path]:
        repository, root = self._sources.repository, self._sources.root
        for file in sorted(_files(repository), key=lambda path: -self._shared(path)):
            if file.suffix not in _SOURCES or root in file.parents:
                continue
            folders = file.relative_to(repository).parts[:-1]
            if self._api:
                if "op_api" in folders and "stub" not in folders:
                    yield file
                continue
            near = root.parent in file.parents and "op_host" in folders
            shared = any(_SHARED.search(folder) for folder in folders)
            if (near or shared) and not _FOREIGN & set(folders):
                yield file


@lru_cache(maxsize=4)
def _files(repository: Path) -> tuple[Path, ...]:
    return tuple(
        Path(entry.path)
        for folder in walk(repository)
        for entry in os.scandir(folder)
        if entry.name.endswith((*_SOURCES, *_HEADERS)) and entry.is_file()
    )


def _definition(name: str) -> re.Pattern[str] | None:
    """Where a function begins, or any member of a class whose vtable is wanted."""
    plain = re.sub(r"<.*>", "", name.replace("[abi:cxx11]", ""))
    table = re.match(r"(?:vtable|typeinfo|typeinfo name) for (?:.*::)?(\w+)$", plain)
    if table:
        return re.compile(rf"\b{table[1]}::~?\w+\s*\(")
    words = re.match(r"(?:.*[ *&])?(?:(?:\w+::)*?(\w+)::)?(~?\w+)(?:\(|$)", plain)
    if words is None:
        return None
    # In its namespace a function has no owner; another class's member of that name has one.
    owner = rf"(?:\b{words[1]}::|(?<!::)\b)" if words[1] else r"(?<!::)\b"
    return re.compile(
        rf"(?m)^(?!\s*(?:return|if|else|while)\b)[\w:<>,&*\s]*?{owner}{re.escape(words[2])}"
        r"\s*(?:\([^;{}]*\)\s*(?:const\s*)?(?:noexcept\s*)?(?::[^;{}]*)?\{|=|\{)"
    )
