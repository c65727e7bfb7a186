# SPDX-License-Identifier: Apache-2.0
"""The calls in the text of a C++ file, with their arguments and offsets. Comments and strings are
no code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
_DIRECTIVE = re.compile(r"(?m)^[ \t]*#(?!if __NPU_ARCH__)(?:[^\n]*\\\n)*[^\n]*")
_RECEIVER = re.compile(r"(?:(?:[\w:]+(?:<[^<>;]*>)?::)|(?:[\w.\[\]]+(?:\.|->)(?:template )?))*$")
_TEMPLATE = re.compile(r"\s*<[^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*>\s*")


def code_only(text: str) -> str:
    """The text with comments, strings and directives blanked; offsets and lines stay, and so do
    conditions on the architecture.
    """

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0])

    return _DIRECTIVE.sub(blank, _HIDDEN.sub(blank, text))


@dataclass(frozen=True)
class Call:
    """A call. ``start`` is where its receiver begins, ``end`` is behind the parenthesis that closes
    it, or behind the semicolon where the call is a whole ``statement``.
    """

    name: str
    start: int
    end: int
    arguments: tuple[tuple[int, int], ...]
    statement: bool


def calls(code: str, names: str) -> Iterator[Call]:
    """The calls of functions whose names match a regular expression, in a text from `code_only`."""
    for found in re.finditer(rf"\b({names})\b", code):
        template = _TEMPLATE.match(code, found.end())
        if template and "<<<" in template[0]:
            continue  # a launch
        opens = template.end() if template else found.end()
        while opens < len(code) and code[opens].isspace():
            opens += 1
        if opens >= len(code) or code[opens] != "(":
            continue
        inside = _arguments(code, opens)
        if inside is None:
            continue
        spans, end = inside
        receiver = _RECEIVER.search(code, max(0, found.start() - 200), found.start())
        start = receiver.start() if receiver else found.start()
        before = code[:start].rstrip()[-1:]
        behind = re.compile(r"\s*;").match(code, end)
        alone = before in ("", ";", "{", "}", ")") and behind is not None
        yield Call(found[1], start, behind.end() if alone and behind else end, spans, alone)


def _arguments(code: str, opens: int) -> tuple[tuple[tuple[int, int], ...], int] | None:
    found: list[tuple[int, int]] = []
    depth, begin = 0, opens + 1
    for at in range(opens, len(code)):
        letter = code[at]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth == 0:
                if code[begin:at].strip():
                    found.append((begin, at))
                return tuple(found), at + 1
        elif letter == "," and depth == 1 and not _in_template(code[begin:at]):
            found.append((begin, at))
            begin = at + 1
        elif letter == ";" and depth < 2:
            return None
    return None


def _in_template(text: str) -> bool:
    """Whether a comma behind the text separates arguments of a template, not of the call."""
    plain = re.sub(r"<<|>>|->|[<>]=", "", text)
    return plain.count("<") > plain.count(">")


def line_of(text: str, offset: int) -> int:
    """The line of an offset, from 1."""
    return text.count("\n", 0, offset) + 1
