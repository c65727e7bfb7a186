# SPDX-License-Identifier: Apache-2.0
"""Reads the CMake lists of a kernel-launch project: what CANN's ascendc.cmake would be told.

Only words that need no CMake are followed: set(), file(GLOB), folders, subfolders.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aclgrad.common.files import text_of
from aclgrad.reading import cmake_text

_KEYWORDS = {"SHARED", "STATIC", "OBJECT", "PUBLIC", "PRIVATE", "INTERFACE", "BEFORE", "SYSTEM"}
_LIBRARIES = ("ascendc_library", "ascendc_fatbin_library")
_LEVELS = 7
_HERE = ("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR")
_TOP = ("CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR")


@dataclass(frozen=True)
class Lists:
    """What the lists say of the kernels of a project."""

    sources: tuple[Path, ...]
    includes: tuple[Path, ...]
    defines: tuple[str, ...]

    @property
    def words(self) -> tuple[tuple[Path, ...], tuple[str, ...]]:
        """For a compiler."""
        return self.includes, self.defines


def above(source: Path) -> Lists | None:
    """What the lists nearest to a kernel file say, if they name it."""
    for folder in list(source.parents)[:_LEVELS]:
        said = _lists(folder, source) if (folder / "CMakeLists.txt").is_file() else None
        if said is not None:
            return said
        if (folder / ".git").exists():
            break
    return None


def read(folder: Path) -> Lists | None:
    """Read a folder's lists; None when they make no library of kernels."""
    return _lists(folder, None)


def _lists(folder: Path, source: Path | None) -> Lists | None:
    """What is said of all kernels, or of the libraries that have one."""
    calls = list(_calls(folder, {name: str(folder) for name in _TOP}, 0))
    libraries: dict[str, list[Path]] = {}
    for name, place, words in calls:
        if name in _LIBRARIES and words:
            paths = [(place / word).resolve() for word in words[1:] if word not in _KEYWORDS]
            libraries[words[0]] = [path for path in paths if path.is_file()]
    wanted = {name for name, paths in libraries.items() if source is None or source in paths}
    if not any(libraries[name] for name in wanted):
        return None
    includes: list[Path] = []
    defines: list[str] = []
    for name, place, words in calls:
        if name.startswith("ascendc_") and words[:1] and words[0] not in wanted:
            continue
        said = [word for word in words if word not in _KEYWORDS]
        if name in ("ascendc_include_directories", "include_directories"):
            said = said[1:] if name.startswith("ascendc") else said
            includes += [path for word in said if (path := (place / word).resolve()).is_dir()]
        elif name == "ascendc_compile_definitions":
            defines += [f"-D{word.removeprefix('-D')}" for word in said[1:]]
        elif name == "ascendc_compile_options":
            options = [word for word in said[1:] if word[:2] in ("-D", "-I", "-U")]
            includes += [place / word[2:] for word in options if word[:2] == "-I"]
            defines += [word for word in options if word[:2] != "-I"]
    sources = dict.fromkeys(
        path for name in libraries if name in wanted for path in libraries[name]
    )
    return Lists(tuple(sources), tuple(dict.fromkeys(includes)), tuple(dict.fromkeys(defines)))


def _calls(
    folder: Path, variables: dict[str, str], depth: int
) -> Iterator[tuple[str, Path, list[str]]]:
    lists = folder / "CMakeLists.txt"
    if not lists.is_file() or depth > 4:
        return
    known = {**variables, **{name: str(folder) for name in _HERE}}
    for call in cmake_text.calls(text_of(lists)):
        name, words = call.name, _words(call.arguments, known)
        if name == "set" and words:
            known[words[0]] = ";".join(words[1:])
        elif name == "file" and words[:1] in (["GLOB"], ["GLOB_RECURSE"]) and len(words) > 1:
            globbed = [str(path) for word in words[2:] for path in _glob(folder, word)]
            known[words[1]] = ";".join(globbed)
        elif name == "add_subdirectory" and words:
            yield from _calls((folder / words[0]).resolve(), known, depth + 1)
        else:
            yield name, folder, words


def _glob(folder: Path, pattern: str) -> list[Path]:
    path = Path(pattern)
    try:
        base = Path(path.anchor) if path.is_absolute() else folder
        return sorted(base.glob(str(path.relative_to(base) if path.is_absolute() else path)))
    except (ValueError, NotImplementedError, OSError):
        return []


def _words(text: str, variables: dict[str, str]) -> list[str]:
    def value(match: re.Match[str]) -> str:
        return variables.get(match[1], "")

    for _ in range(4):
        text = re.sub(r"\$\{(\w+)\}", value, text)
    # Only a configured build knows what $<...> is.
    text = re.sub(r"\$<[^<>]*>", "", text)
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    return [part for word in words for part in word.split(";") if part]
