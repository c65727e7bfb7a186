# SPDX-License-Identifier: Apache-2.0
"""What a board says, for people: a text and a page."""

from __future__ import annotations

from pathlib import Path

from aclgrad.common import files
from aclgrad.profiling.calibration.board import AS_MODELLED, DIFFERS, UNDECIDED, Board, Row
from aclgrad.profiling.calibration.sources import DISAGREE
from aclgrad.reporting.html import environment


def number(value: float | str | None) -> str:
    """Four digits."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.4g}"


def _line(row: Row) -> str:
    unit = f" {row.unit}" if row.unit else ""
    change = ""
    if isinstance(row.modelled, (int, float)) and isinstance(row.measured, (int, float)):
        change = f" ({row.measured / row.modelled - 1:+.0%})" if row.modelled else ""
    note = f": {row.note}" if row.note else ""
    source = f", by {row.source}" if row.source else ""
    return (
        f"  {row.id}: {number(row.measured)}{unit}{change}, modelled {number(row.modelled)}{source}"
        f"{note}"
    )


def text(board: Board) -> str:
    """A summary, and every row that differs."""
    counts = ", ".join(f"{board.count(word)} {word}" for word in (AS_MODELLED, DIFFERS, UNDECIDED))
    where = "an NPU" if board.device == "npu" else "the simulator in a board's place"
    lines = [f"{board.soc}, {where}: {counts}"]
    for row in board.rows:
        if row.verdict == DIFFERS:
            lines += [_line(row), f"    matters for {row.depends}"]
        elif row.verdict == UNDECIDED and DISAGREE in row.note:
            lines += [_line(row)]
    return "\n".join(lines)


def write(board: Board, path: Path) -> None:
    """One page that needs no other file."""
    template = environment().get_template("board.html.j2")
    order = {DIFFERS: 0, UNDECIDED: 1, AS_MODELLED: 2}
    rows = sorted(board.rows, key=lambda row: order[row.verdict])
    files.write(
        path, template.render(board=board, rows=rows, number=number, count=board.count), "--html"
    )
