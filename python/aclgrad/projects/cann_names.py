# SPDX-License-Identifier: Apache-2.0
"""Names that operators and aclnn functions of CANN have, so that a new operator gets another."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def names() -> frozenset[str]:
    """Each as in ``aclnn<Name>``, or as the type of an operator."""
    text = files(__package__ or __name__).joinpath("cann_names.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())
