# SPDX-License-Identifier: Apache-2.0
"""C++ sources as text of which only code is left: the one place that knows strings, raw strings,
characters, comments, continued lines and branches that the preprocessor drops.

Whatever goes becomes blanks, so that every character stays on its line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"""
    (?P<line>//(?:\\\r?\n|[^\n])*)
  | (?P<block>/\*.*?(?:\*/|\Z))
  | (?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z))
  | (?P<string>"(?:\\.|[^"\\\n])*"?)
  | (?P<number>\b\d(?:'?[\w.])*)
  | (?P<character>'(?:\\.|[^'\\\n])+')
    """,
    re.DOTALL | re.VERBOSE,
)
_SPLICED = re.compile(
    _TOKEN.pattern + r"| (?P<spliced>\b[A-Za-z_]\w*(?:\\\r?\n\w+)+)", re.DOTALL | re.VERBOSE
)
"""The same, and names that go on in the next line."""
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_PAIRS = {"(": ")", "{": "}", "[": "]"}


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


@lru_cache(maxsize=4096)
def without_comments(text: str) -> str:
    """A source without its comments. A name that goes on in the next line is whole in the first."""

    def shown(found: re.Match[str]) -> str:
        lines = "\n" * found[0].count("\n")
        if found.lastgroup in ("line", "block"):
            return " " + lines
        if found.lastgroup == "spliced":
            return re.sub(r"\\\r?\n", "", found[0]) + lines
        return found[0]

    spliced = re.search(r"\\\r?\n", text) is not None
    return (_SPLICED if spliced else _TOKEN).sub(shown, text)


@lru_cache(maxsize=512)
def without_literals(text: str) -> str:
    """A source without comments and without what strings and characters hold, as long as it was:
    their brackets, quotes and names are none of the code's.
    """

    def shown(found: re.Match[str]) -> str:
        kind, whole = found.lastgroup, found[0]
        if kind in ("line", "block"):
            return _blank(whole)
        if kind in ("string", "character") and len(whole) > 1:
            return whole[0] + _blank(whole[1:-1]) + whole[-1]
        if found["raw"] is not None:
            first = whole.index('"')
            return whole[: first + 1] + _blank(whole[first + 1 : -1]) + whole[-1]
        return whole

    return _TOKEN.sub(shown, text)


@lru_cache(maxsize=4096)
def active(text: str) -> str:
    """A source without comments and without what an ``#if 0``, or a condition like it, drops."""
    shown = _Branches(without_comments(text))
    for chain in shown.chains():
        taken = False
        for branch in chain:
            condition = _constant(branch.condition)
            if taken or condition is False:
                shown.drop(branch)
            taken = taken or condition is True
    return shown.text


def _constant(condition: str) -> bool | None:
    """What a condition is for every compile; None for one that names decide."""
    text = condition.strip()
    while text.startswith("(") and _closing(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    if found := re.fullmatch(r"(\d+)[uUlL]*|(true)|(false)", text):
        return found[2] is not None or (found[1] is not None and int(found[1]) != 0)
    if found := re.fullmatch(r"!\s*(\d+|true|false|\(.*\))", text):
        value = _constant(found[1])
        return None if value is None else not value
    if found := re.match(r"(\d+|true|false)\s*(&&|\|\|)", text):
        first, either = _constant(found[1]), found[2] == "||"
        # Conditions behind "0 &&" or "1 ||" do not count, unless an || or a ? is among them.
        if first is either and (either or not re.search(r"\|\||\?", text)):
            return first
    return None


@lru_cache(maxsize=512)
def balanced(text: str) -> str:
    """A source as one of its compiles may see it: without comments and directives, and where the
    branches of an ``#if`` open or close braces, with the first of them alone.
    """
    shown = _Branches(active(text))
    for chain in shown.chains():
        if any(shown.depth(branch) for branch in chain):
            for branch in chain[1:]:
                shown.drop(branch)
    return _DIRECTIVE.sub(lambda found: _blank(found[0]), shown.text)


def directives(code: str) -> Iterator[re.Match[str]]:
    """Lines of the preprocessor in a source without literals: the word, and what follows it."""
    return _DIRECTIVE.finditer(code)


@dataclass(frozen=True)
class _Branch:
    """What stands behind an #if, #elif or #else, up to the next."""

    condition: str  # "" behind #else
    begin: int
    end: int


class _Branches:
    """A text whose branches are dropped one by one."""

    def __init__(self, text: str) -> None:
        self.text = text

    def chains(self) -> Iterator[list[_Branch]]:
        """Every #if with its further branches, from the innermost."""
        open_: list[list[tuple[str, int, int]]] = []  # condition, where its line begins and ends
        for found in [*_DIRECTIVE.finditer(without_literals(self.text))]:
            word, rest = found[1], found[2].strip()
            here = (rest if word != "else" else "", found.start(), found.end())
            if word in ("if", "ifdef", "ifndef"):
                open_.append([(rest if word == "if" else "?", *here[1:])])
            elif word in ("elif", "else") and open_:
                open_[-1].append(here)
            elif word == "endif" and open_:
                parts = [*open_.pop(), here]
                yield [
                    _Branch(part[0], part[2], following[1])
                    for part, following in itertools.pairwise(parts)
                ]

    def drop(self, branch: _Branch) -> None:
        """Leave its lines empty."""
        text = self.text
        kept = _blank(text[branch.begin : branch.end])
        self.text = text[: branch.begin] + kept + text[branch.end :]

    def depth(self, branch: _Branch) -> int:
        """How many braces it opens and does not close."""
        code = without_literals(self.text[branch.begin : branch.end])
        return code.count("{") - code.count("}")


def closing(text: str, at: int) -> int:
    """Where the bracket at a place is closed; -1 nowhere."""
    return _closing(without_literals(text), at)


def _closing(code: str, at: int) -> int:
    opens, closes, depth = code[at], _PAIRS[code[at]], 0
    for found in re.compile(f"[{re.escape(opens + closes)}]").finditer(code, at):
        depth += 1 if found[0] == opens else -1
        if depth == 0:
            return found.start()
    return -1


def split_arguments(text: str, *, angles: bool = True) -> list[str]:
    """Split at the commas outside of brackets; in expressions < and > are none."""
    opens, closes = ("([{<", ")]}>") if angles else ("([{", ")]}")
    parts, depth, start = [], 0, 0
    for at, char in enumerate(without_literals(text)):
        if char in opens:
            depth += 1
        elif char in closes:
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    # Lists may end in a comma.
    return parts if parts[-1] else parts[:-1]


def calls(text: str, word: str = r"\w+") -> Iterator[tuple[re.Match[str], int]]:
    """Each ``word(...)`` of a text: the match up to its bracket, and where that is closed; the end
    of the text where it is not.
    """
    code = without_literals(text)
    for found in re.finditer(rf"\b({word})\s*\(", code):
        end = _closing(code, found.end() - 1)
        yield found, end if end >= 0 else len(text)


_NAME_IN_FRONT = re.compile(
    r"(?:::\s*)?(?<!\w)(?!(?:return|else|do)\b)[A-Za-z_]\w*(?:\s*::\s*(?:template\s+)?[A-Za-z_]\w*)*\s*$"
)


def without_launches(text: str) -> str:
    """A source with nothing in place of ``kernel<<<...>>>(...)``, which host code says."""
    code = without_literals(text)
    parts, done = [], 0
    for found in re.finditer("<<<", code):
        behind = re.compile(r">>>\s*\(").search(code, found.end())
        begin = _callee(code, found.start())
        if found.start() < done or behind is None or begin < 0:
            continue
        if re.search("[;{}]", code[found.end() : behind.start()]):
            continue
        end = _closing(code, behind.end() - 1)
        if end < 0:
            continue
        lines = "\n" * text.count("\n", begin, end)
        parts += [text[done:begin], "static_cast<void>(0)", lines]
        done = end + 1
    return "".join([*parts, text[done:]])


def _callee(code: str, end: int) -> int:
    """Where the name that ends at a place begins, with its template's arguments; -1 without one."""
    at = end
    while at > 0 and code[at - 1].isspace():
        at -= 1
    if at > 0 and code[at - 1] == ">":
        depth = 0
        while at > 0 and code[at - 1] not in ";{}":
            at -= 1
            depth += {">": 1, "<": -1}.get(code[at], 0)
            if depth == 0:
                break
        if depth:
            return -1
    name = _NAME_IN_FRONT.search(code, max(0, at - 2000), at)
    return name.start() if name else -1
