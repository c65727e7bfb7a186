# SPDX-License-Identifier: Apache-2.0
"""Which costs of the model decide an estimate: its time with each halved, and doubled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from aclgrad.profiling.profiled import Profiled

if TYPE_CHECKING:
    from rich.console import Console

LEAST = 0.01
"""The share of the longest launch's time by which a cost has to move it to be named."""


@dataclass(frozen=True)
class Moved:
    """What one cost does to the longest launch; ratios to its time."""

    cost: str
    evidence: str
    halved: float
    doubled: float

    @property
    def most(self) -> float:
        """By how much it moves the time, at most."""
        return max(abs(self.halved - 1), abs(self.doubled - 1))


def moved(found: Profiled) -> list[Moved]:
    """All costs, those that decide most first; none when nobody asked for them."""
    us = float(found.kernel["microseconds"])
    rows = [
        Moved(row["cost"], row["evidence"], row["halved"] / us, row["doubled"] / us)
        for row in found.kernel.get("sensitivity", [])
    ]
    return sorted(rows, key=lambda row: -row.most)


def deciding(found: Profiled) -> tuple[list[list[str]], str]:
    """Cells of the costs that decide, and a sentence on the others; both empty without costs."""
    rows = moved(found)
    cells = [
        [row.cost, row.evidence, f"{row.halved:.2f}", f"{row.doubled:.2f}"]
        for row in rows
        if row.most >= LEAST
    ]
    others = len(rows) - len(cells)
    words = f"{others} more costs move it by less than {LEAST:.0%} each" if others else ""
    return cells, words


HEADINGS = ("cost", "evidence", "halved", "doubled")


def show(console: Console, found: Profiled) -> None:
    """Print a row per cost that decides."""
    cells, others = deciding(found)
    title = "Sensitivity: time with a cost halved and doubled, by the estimate"
    table = Table(title=title, title_justify="left")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in HEADINGS[:2] else "right")
    for row in cells:
        table.add_row(*row)
    console.print(table)
    if others:
        console.print(others, markup=False)
