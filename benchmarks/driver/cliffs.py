# SPDX-License-Identifier: Apache-2.0
"""Cliffs: lengths that take far longer by the byte than the one before, and than a longer one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from driver.cases import BenchmarkCase

STEEP = 1.25  # time per byte by that of the length before

# Every length up to the first, then those on both sides of each multiple of 8, up to the second.
ROWS = (80, 264)
COLUMNS = 40
ELEMENTS = 1 << 21


@dataclass(frozen=True)
class Cliff:
    """A length, the one before it in the sweep, and a longer one that takes less by the byte."""

    sweep: str
    length: int
    us: float
    before: int
    us_before: float
    jump: float
    longer: int


def sweeps() -> dict[str, list[tuple[int, BenchmarkCase]]]:
    """Rows by their length, and columns of 49 rows by how many there are; all of one size."""
    every, last = ROWS
    rows = [length for length in range(2, last + 1) if length <= every or length % 8 in (7, 0, 1)]
    found = {}
    for alias in ("fp32", "fp16"):
        found[f"rows {alias}"] = [
            (length, BenchmarkCase("softmax_grad", (ELEMENTS // length, length), alias))
            for length in rows
        ]
        found[f"columns of 49 rows {alias}"] = [
            (
                width,
                BenchmarkCase(
                    "softmax_grad", (ELEMENTS // 49 // width, 49, width), alias, (("dim", 1),)
                ),
            )
            for width in range(2, COLUMNS + 1)
        ]
    return found


Figures = Mapping[str, Mapping[str, Any]]


def steps(
    sweep: Sequence[tuple[int, BenchmarkCase]], figures: Figures
) -> tuple[dict[int, float], list[tuple[float, int, int]]]:
    """Microseconds per element by length, and what each length takes by the one before it."""
    by_byte = {
        length: figures[case.key]["us"] / case.size
        for length, case in sweep
        if "us" in figures.get(case.key, {})
    }
    return by_byte, [(by_byte[to] / by_byte[at], at, to) for at, to in pairwise(by_byte)]


def steepest(
    sweeps: Mapping[str, Sequence[tuple[int, BenchmarkCase]]], figures: Figures
) -> list[str]:
    """The largest step of each sweep, a cliff or not."""
    found = ((name, steps(sweep, figures)[1]) for name, sweep in sweeps.items())
    largest = ((name, max(there)) for name, there in found if there)
    return [f"{name} {jump:.2f} ({at} to {to})" for name, (jump, at, to) in largest]


def find(
    sweeps: Mapping[str, Sequence[tuple[int, BenchmarkCase]]], figures: Figures
) -> Iterator[Cliff]:
    """Steps up of more than ``STEEP``, at lengths that a longer one undercuts by as much."""
    for name, sweep in sweeps.items():
        by_byte, found = steps(sweep, figures)
        us = {length: figures[case.key].get("us", 0.0) for length, case in sweep}
        for jump, before, length in found:
            longer = [other for other in by_byte if other > length]
            least = min(longer, key=lambda other: by_byte[other], default=length)
            if jump > STEEP and by_byte[length] > STEEP * by_byte[least]:
                yield Cliff(name, length, us[length], before, us[before], jump, least)
