# SPDX-License-Identifier: Apache-2.0
"""What a test shares with others of its library, by what it includes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

COMMON = Path("tests/ut/common")

_CONTEXTS = re.compile(r"/include/base/(?:context_builder|registry)/")


def included(depfile: Path) -> list[str]:
    """Return what a compilation has read."""
    return depfile.read_text().replace("\\\n", " ").split()


def includes(depfile: Path, wanted: Path) -> bool:
    """Whether a compilation has read a file."""
    path = wanted.resolve()
    return any(
        Path(word).name == path.name and Path(word).resolve() == path for word in included(depfile)
    )


def helpers(words: Sequence[str], folder: Path) -> list[Path]:
    """Return the sources beside headers of a folder that were included."""
    found = {Path(word).resolve() for word in words if word.endswith((".h", ".hpp"))}
    sources = (path.with_suffix(".cpp") for path in found if path.parent == folder.resolve())
    return sorted(path for path in sources if path.is_file())


def makes_contexts(words: Sequence[str]) -> bool:
    """Whether it makes contexts of its own, and calls the operator's functions with them."""
    return any(map(_CONTEXTS.search, words))
