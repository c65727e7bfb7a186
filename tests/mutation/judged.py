# SPDX-License-Identifier: Apache-2.0
"""judged.toml: what somebody who looked says of faults that nothing shows."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from aclgrad.common.data import parse_toml

_FILE = Path(__file__).with_name("judged.toml")


@cache
def _rows() -> list[dict[str, str]]:
    found: list[dict[str, str]] = parse_toml(_FILE.read_text("utf-8"))["fault"]
    return found


def judged(kind: str, operator: str, file: str, line: str) -> str:
    """Why a fault has no effect, or why no check can see it; empty where nobody has looked.
    ``line`` is the source line before the fault.
    """
    for row in _rows():
        if (
            row["kind"] == kind
            and row.get("operator", operator) == operator
            and file.endswith(row["file"])
            and row["line"] in ("*", line.strip())
        ):
            return row["because"]
    return ""
