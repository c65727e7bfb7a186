# SPDX-License-Identifier: Apache-2.0
"""Tolerances as people write them: bounds in ULP of the scale (`aclgrad.golden.precision`)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from aclgrad.spec import dtypes


def parse(text: str) -> dict[str, float] | float:
    """Read ``8``, or ``fp16=8,fp32=256``: one bound for all dtypes, or bounds by NumPy's names."""
    where, found = f"--tolerance: got {text!r}", {}
    words = [word.strip() for word in text.split(",")]
    for word in words:
        name, equals, number = word.rpartition("=")
        bound = checked(number.strip(), where)
        if not equals and len(words) == 1:
            return bound
        found[_dtype(name.strip(), where)] = bound
    return found


def checked(value: object, where: str) -> float:
    """A bound that is a positive number. Raises `ValueError` that begins with ``where``."""
    try:
        bound = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        bound = math.nan
    if not (math.isfinite(bound) and bound > 0):
        raise ValueError(
            f"{where}, want a positive number of ULP of the scale, for all dtypes or by dtype."
            " Next: 8, or fp16=8,fp32=256"
        )
    return bound


def by_dtype(value: object, where: str) -> dict[str, float] | float:
    """The tolerance of ``case()``: a number, or a dict of numbers by dtype."""
    if not isinstance(value, Mapping):
        return checked(value, where)
    if not value:
        raise ValueError(f"{where}, want a number, or a dict such as {{'fp16': 8}}. Next: 8")
    return {_dtype(str(name), where): checked(bound, where) for name, bound in value.items()}


def _dtype(name: str, where: str) -> str:
    try:
        return dtypes.parse(name).name
    except ValueError as error:
        raise ValueError(f"{where}: {error}. Next: 8, or fp16=8,fp32=256") from None
