# SPDX-License-Identifier: Apache-2.0
"""Finds the operators that words of a command line name."""

from __future__ import annotations

from collections.abc import Sequence

from aclgrad.cli import sources
from aclgrad.cli.operators import Operators
from aclgrad.cli.options import OfPath
from aclgrad.cli.own_operators import Named
from aclgrad.cli.project_operators import Project
from aclgrad.project.reading import command_words
from aclgrad.testing import selection


def find(
    words: Sequence[str] | None, of_path: OfPath, listed: str | None = None, *, quiet: bool = False
) -> list[Operators]:
    """Operators by name as one, and each path; all of this package when nothing says anything."""
    words = command_words.here(words) if listed is None else [*(words or [])]
    sources.choose(words, of_path, quiet=quiet)
    names = [word for word in words if not command_words.is_path(word)]
    found: list[Operators] = [Project(word) for word in words if command_words.is_path(word)]
    if names or listed is not None or not found:
        found.insert(0, Named(selection.operators(names, listed), bool(names)))
    return found


def one(word: str, of_path: OfPath, *, quiet: bool = False) -> Operators:
    """The operator that a word names."""
    return find([word], of_path, quiet=quiet)[0]
