# SPDX-License-Identifier: Apache-2.0
"""The repository around an operator: its root, and where it keeps what operators share."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

_MARKS = ("utils/inc", "LICENSE", "build.sh", ".gitignore", "requirements.txt")
"""What only the root of a repository has, of those that came without .git."""
SKIPPED = {"build", "build_out", "node_modules", "third_party", "tests", "test", "docs"}
_COMMON = (
    "common/inc",
    "common/include",
    "common",
    "utils/inc",
    "utils/include",
    "utils",
    "include",
    "inc",
)
"""Where repositories keep headers for all of their operators."""
_MOST_FOLDERS = 20000


def repository_of(path: Path) -> Path:
    """The folder whose headers the operator may include: never one that merely lies around it."""
    home, shared, marked = Path.home(), None, path
    for folder in (path, *path.parents):
        if folder in (home, folder.parent):
            break
        if any((folder / mark).exists() for mark in ("common/inc", "common/include")):
            shared = folder
        if (folder / ".git").exists():
            return shared or folder
        if any((folder / mark).exists() for mark in _MARKS):
            marked = folder
    return shared or marked


def walk(path: Path) -> Iterator[Path]:
    """Folders below a path without builds, tests and hidden ones; ends early in a huge tree."""
    for folder, names, _ in itertools.islice(os.walk(path), _MOST_FOLDERS):
        names[:] = sorted(n for n in names if n not in SKIPPED and not n.startswith("."))
        yield Path(folder)


def include_roots(root: Path, repository: Path) -> list[Path]:
    """Folders of common headers: the project's own, then those above it up to the repository."""
    found: list[Path] = []
    for folder in (root, *root.parents):
        found += [folder / name for name in _COMMON]
        if folder == repository:
            break
    return [path for path in found if path.is_dir()]
