# SPDX-License-Identifier: Apache-2.0
"""Result codes: their names, what they mean, what usually causes them, what to do next.

May import: nothing of the package.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Code:
    """One aclnn or ACL result code."""

    code: int
    name: str
    meaning: str
    causes: str = ""
    next_step: str = ""


def _load() -> dict[int, Code]:
    data = json.loads(Path(__file__).with_name("codes.json").read_text(encoding="utf-8"))
    advice = data["advice"]
    return {
        code: Code(code, name, meaning, causes, advice.get(next_step, next_step))
        for code, name, meaning, causes, next_step in data["codes"]
    }


CODES = _load()
_RANGES = (
    (range(161000, 162000), "where aclnn functions report refused arguments"),
    (range(361000, 362000), "where aclnn functions report errors of the runtime"),
    (range(561000, 562000), "where aclnn functions report internal errors"),
    (range(100000, 149000), "where ACL reports wrong use"),
    (range(200000, 210000), "where ACL reports missing resources"),
    (range(500000, 550000), "where ACL and the device report internal errors"),
)


def explain(code: int | str) -> Code:
    """Return what is known about a code, given as its number or name. Raises `UnknownCodeError`."""
    text = str(code).strip()
    if not text.lstrip("-").isdigit():
        found = next((known for known in CODES.values() if known.name == text.upper()), None)
        if found is None:
            raise UnknownCodeError(
                f"code: got {text!r}, want a number such as 161002 or a name such as"
                " ACLNN_ERR_PARAM_INVALID"
            )
        return found
    number = int(text)
    if number in CODES:
        return CODES[number]
    place = next((words for codes, words in _RANGES if number in codes), None)
    if place is None:
        raise UnknownCodeError(f"code: got {number}, which is neither an aclnn nor an ACL code")
    raise UnknownCodeError(
        f"code: got {number}, which is in no public table; it lies {place}. Next: read"
        " aclGetRecentErrMsg()"
    )


class AclgradError(RuntimeError):
    """Base of the package's errors: one message that ends with the next step."""


class UnknownCodeError(ValueError):
    """A result code that no table lists."""


class AclnnError(AclgradError):
    """A call returned a code. ``code`` and ``name`` are the interface's, ``message`` is
    aclGetRecentErrMsg's.
    """

    def __init__(self, code: int, function: str, message: str = "", text: str = "") -> None:
        known = CODES.get(code, Code(code, "unknown code", ""))
        self.code = code
        self.name = known.name
        self.function = function
        self.message = message.strip()
        detail = self.message or known.meaning
        super().__init__(text or f"{function} returned {code} ({known.name}): {detail}")

    def reworded(self, text: str) -> AclnnError:
        """The same error, said otherwise."""
        return AclnnError(self.code, self.function, self.message, text)


class ToolkitError(AclgradError):
    """Libraries or tools that are needed are missing."""
