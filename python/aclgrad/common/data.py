# SPDX-License-Identifier: Apache-2.0
"""JSON and TOML of anybody: nothing that is nested without end, and no number that is none."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

Json = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
"""A value of a document."""

DEEPEST = 64
"""Lists and tables within one another; what this package writes has at most ten."""

_LARGEST = 2**64
_JSON = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{}]|-?(?:NaN|Infinity)|-?\d[\d.eE+-]*', re.DOTALL)


def parse_json(text: str) -> Any:
    """A document. Raises ValueError that names the line of what is wrong."""
    depth = 0
    for match in _JSON.finditer(text):
        word = match[0]
        depth += (word in "[{") - (word in "]}")
        why = _deep(depth)
        if word[0] not in '"[]{}':
            why = absurd(_number(word))
        if why:
            line = text.count("\n", 0, match.start()) + 1
            raise ValueError(f"{why}: line {line}")
    return json.loads(text)


def parse_toml(text: str) -> dict[str, Any]:
    """A document. Raises ValueError that names the line of what is wrong; `absurd` tells of values,
    whose lines the caller knows.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return dict(tomllib.loads(text))
    except RecursionError:
        depth, lines = 0, text.split("\n")
        while lines and depth <= DEEPEST:
            words = lines.pop(0)
            depth += len(re.findall(r"[\[{]", words)) - len(re.findall(r"[\]}]", words))
        line = text.count("\n") + 1 - len(lines)
        raise ValueError(f"{_deep(DEEPEST + 1)} (at line {line})") from None


def rebuilt(kind: Callable[..., T], fields: Mapping[str, object], **instead: object) -> T:
    """A dataclass from what `dataclasses.asdict` and JSON made of one. ``instead`` has the fields
    for which JSON has another type.
    """
    return kind(**{**fields, **instead})


def absurd(value: object) -> str:
    """What is wrong with a value of a document: a number that is none or too large, or lists and
    tables too deep; "" for most.
    """
    level = [value]
    for _ in range(DEEPEST):
        inner: list[object] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
            elif isinstance(item, float) and not math.isfinite(item):
                return f"got {item}, want a finite number"
            elif isinstance(item, int) and abs(item) >= _LARGEST:
                return f"got a number of {len(hex(abs(item))) - 2} hexadecimal digits, want 64 bits"
        if not inner:
            return ""
        level = inner
    return _deep(DEEPEST + 1)


def _deep(depth: int) -> str:
    return f"is nested deeper than {DEEPEST} lists and tables" if depth > DEEPEST else ""


def _number(word: str) -> object:
    """A word of JSON as its number; None where the parser will say what is wrong with it."""
    try:
        # Digits without end take time that grows with their square.
        return int(word[:40]) if re.fullmatch(r"-?\d+", word) else float(word)
    except ValueError:
        return None
