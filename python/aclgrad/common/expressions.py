# SPDX-License-Identifier: Apache-2.0
"""Values of constant integer expressions, as kernel sources of others write them. The text is taken
apart and never run; what it can ask for is bounded.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

_LONGEST = 200
_LARGEST = 2**64
_CAST = re.compile(r"static_cast\s*<\s*u?int\d*(?:_t)?\s*>")
_SUFFIX = re.compile(r"(?i)\b(0x[0-9a-f]+|0b[01]+|\d+)(?:u|l|ul|ll|ull|lu|llu)\b")
_OCTAL = re.compile(r"(?<![\w.])0+(?=\d)")
_TEXT = re.compile(r"[\d\s()+*/%xXa-fA-F<>&|-]+")
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda value, by: _quotient(value, by),
    ast.Mod: lambda value, by: value - by * _quotient(value, by),
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.RShift: lambda value, by: value >> min(max(by, 0), 64),
    ast.LShift: lambda value, by: value << by if 0 <= by < 64 else _LARGEST,
}


def integer(text: str) -> int | None:
    """The value of ``(1 << 4) | 3UL``; None when the text is no such expression, or too large."""
    digits = " ".join(_SUFFIX.sub(r"\1", _CAST.sub("", text[:_LONGEST])).split())
    if len(text) > _LONGEST or not _TEXT.fullmatch(digits) or _OCTAL.search(digits):
        return None
    try:
        return _value(ast.parse(digits, mode="eval").body)
    except (ValueError, SyntaxError, RecursionError, MemoryError, OverflowError):
        return None


def _quotient(value: int, by: int) -> int:
    """Towards zero, as C++ divides."""
    if by == 0:
        raise ValueError("division by zero")
    return abs(value) // abs(by) * (1 if (value < 0) == (by < 0) else -1)


def _value(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        value = node.value
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _value(node.operand) * (-1 if isinstance(node.op, ast.USub) else 1)
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        value = _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    else:
        raise ValueError("no constant integer expression")
    if abs(value) >= _LARGEST:
        raise ValueError("too large")
    return value
