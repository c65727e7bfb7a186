# SPDX-License-Identifier: Apache-2.0
"""Finds the operators that words of a command line name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aclgrad.cli import sources
from aclgrad.cli.operators import Operators
from aclgrad.cli.options import OfPath
from aclgrad.cli.own_operators import Named
from aclgrad.cli.project_operators import Project
from aclgrad.reading import command_words
from aclgrad.testing import selection


def named(
    words: Sequence[str] | None, listed: str | None = None, *, shipped: bool = False
) -> list[str]:
    """The words, or the current directory where it is an operator project. No words are the five
    operators: they are meant in a checkout of aclgrad, or with ``shipped``; anywhere else that is
    an error.
    """
    if shipped:
        if words or listed is not None:
            given = words[0] if words else f"--ops {listed}"
            raise ValueError(f"--shipped and {given}: keep one")
        return []
    found = command_words.here(words) if listed is None else [*(words or [])]
    if not found and listed is None and not (Path.cwd() / "python" / "aclgrad").is_dir():
        raise ValueError(
            f"{Path.cwd()}: no operator project here, as there is no op_kernel or op_host. Next: cd"
            " into one, give its path, or --shipped for the five operators of aclgrad"
        )
    return found


def find(
    words: Sequence[str] | None,
    of_path: OfPath,
    listed: str | None = None,
    *,
    shipped: bool = False,
    quiet: bool = False,
) -> list[Operators]:
    """Operators by name as one, and each path."""
    words = named(words, listed, shipped=shipped)
    sources.choose(words, of_path, quiet=quiet)
    names = [word for word in words if not command_words.is_path(word)]
    found: list[Operators] = [Project(word) for word in words if command_words.is_path(word)]
    if names or listed is not None or not found:
        found.insert(0, Named(selection.operators(names, listed), bool(names)))
    return found


def one(word: str, of_path: OfPath, *, quiet: bool = False) -> Operators:
    """The operator that a word names."""
    return find([word], of_path, quiet=quiet)[0]
