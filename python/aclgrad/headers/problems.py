# SPDX-License-Identifier: Apache-2.0
"""Errors of a compiler, and whose they are."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aclgrad.headers.trees import HeaderSet

_ERROR = re.compile(r"^(.+?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$")


_NOTE = re.compile(r"^(?:In file included from |\s+from )?(.+?):(\d+)[:,]")


@dataclass(frozen=True)
class Problem:
    """An error of the compiler, and the line of our sources that led to it."""

    file: str
    line: int
    text: str
    origin: str = ""

    def __str__(self) -> str:
        led = f" (from {self.origin})" if self.origin and self.origin != self.place else ""
        return f"{self.place}: {self.text}{led}"

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"


def _short(path: str, root: Path) -> str:
    return os.path.relpath(path, root) if path.startswith(f"{root}/") else path


def problems(output: str, root: Path, headers: HeaderSet | None) -> list[Problem]:
    """Read the messages of g++ or clang++."""
    found: dict[Problem, None] = {}
    around: list[str] = []  # g++ says first where it comes from, clang++ afterwards
    pending: tuple[Path, int, str] | None = None
    context: list[str] = []

    def close() -> None:
        nonlocal pending
        if pending is None:
            return
        path, line, text = pending
        inside = str(path).startswith(f"{root}/")
        lines = [] if inside else [*context, *around]
        if not (headers and headers.owns(path) and _literal(text, around)):
            ours = [m for m in map(_NOTE.match, lines) if m and m[1].startswith(f"{root}/")]
            origin = f"{_short(ours[-1][1], root)}:{ours[-1][2]}" if ours else ""
            found[Problem(str(path), line, text, origin)] = None
        pending = None

    before: list[str] = []
    for text in output.splitlines():
        if error := _ERROR.match(text):
            close()
            pending = Path(os.path.normpath(error[1])), int(error[2]), error[3]
            context, around, before = before, [], []
        elif " note: " in text:
            around.append(text)
        else:
            before.append(text)
    close()
    return list(found)


def _literal(text: str, notes: Sequence[str]) -> bool:
    """Whether a header hands a string literal to GM: the device compiler puts literals there."""
    said = "\n".join([text, *notes])
    return "__gm__" in said and bool(re.search(r"'const char(\[\d+\]| \*)'", said))
