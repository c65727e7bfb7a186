# SPDX-License-Identifier: Apache-2.0
"""CMake lists as text: which calls there are, without running them. This is the one place that
knows comments, bracket comments, strings and bracket arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<comment>\#\[(?P<mark>=*)\[.*?(?:\](?P=mark)\]|\Z) | \#[^\n]*)
  | "(?:\\.|[^"\\])*"
  | \[(?P<level>=*)\[.*?\](?P=level)\]
    """,
    re.DOTALL | re.VERBOSE,
)


def without_comments(text: str) -> str:
    """A list without its comments, each line where it was."""

    def shown(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0]) if found["comment"] is not None else found[0]

    return _TOKEN.sub(shown, text)


@dataclass(frozen=True)
class Call:
    """A call as it is written: its name in lower case, what stands in its brackets, its line."""

    name: str
    arguments: str
    line: int


def calls(text: str) -> Iterator[Call]:
    """The calls of a list, in their order; what stands in the brackets of one is none."""
    code = without_comments(text)
    bare = _TOKEN.sub(lambda found: re.sub(r"[^\n]", "_", found[0]), code)
    at = 0
    for found in re.finditer(r"\b([A-Za-z_]\w*)[ \t]*\(", bare, re.ASCII):
        if found.start() < at:
            continue
        depth, at = 1, found.end()
        while at < len(bare) and depth:
            depth += {"(": 1, ")": -1}.get(bare[at], 0)
            at += 1
        line = bare.count("\n", 0, found.start()) + 1
        yield Call(found[1].lower(), code[found.end() : at if depth else at - 1], line)
        at = found.end() if depth else at
