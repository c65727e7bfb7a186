# SPDX-License-Identifier: Apache-2.0
"""What was measured before, and what is worse, better or still open now."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aclgrad.common import files
from driver.cases import BenchmarkCase

Row = dict[str, Any]

RECORDED = Path(__file__).resolve().parents[1] / "baseline.json"
FIGURES = ("us", "share", "traffic")
TOLERANCE = 0.002
"""Relative. The model is deterministic; this leaves room for the C library's arithmetic."""


def read(path: Path = RECORDED) -> Row:
    """Figures by the name of a case; empty when nothing is recorded."""
    found: Row = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found


def write(rows: Sequence[Row], path: Path = RECORDED) -> None:
    """Record modelled rows, a line for each."""
    lines = [
        f"{json.dumps(row['case'])}: {json.dumps({name: row[name] for name in FIGURES})}"
        for row in rows
    ]
    files.write(path, "{\n" + ",\n".join(lines) + "\n}\n", "record")


def _meets(limit: str, value: float, bound: float) -> bool:
    return value >= bound if limit == "share" else value <= bound


def unmet(case: BenchmarkCase, figures: Mapping[str, Any]) -> list[str]:
    """Limits of a case that its figures do not meet."""
    return [name for name, bound in case.limits.items() if not _meets(name, figures[name], bound)]


def lost(case: BenchmarkCase, row: Row, recorded: Mapping[str, Any] | None) -> list[str]:
    """Limits that a case has met before and does not meet now; none of a new case."""
    open_before = list(case.limits) if recorded is None else unmet(case, recorded)
    return [
        f"{case.key}: {name} {row[name]} was within its limit {case.limits[name]}, and is not"
        for name in unmet(case, row)
        if name not in open_before
    ]


def drifted(
    measured: Sequence[tuple[BenchmarkCase, Row]], recorded: Mapping[str, Any], *, whole: bool
) -> list[str]:
    """Figures that are no longer the recorded ones; ``whole``: the rows are all that there are."""
    lines = []
    for case, row in measured:
        want = recorded.get(case.key)
        if want is None:
            lines.append(f"{case.key}: not recorded")
        else:
            lines += [
                f"{case.key}: {name} {row[name]}, recorded {want[name]}"
                f" ({row[name] / want[name] - 1:+.1%})"
                for name in FIGURES
                if abs(row[name] - want[name]) > TOLERANCE * abs(want[name])
            ]
    if whole:
        known = {case.key for case, _ in measured}
        lines += [f"{key}: recorded, but no longer a case" for key in recorded if key not in known]
    return lines


def over(case: BenchmarkCase, row: Row) -> list[str]:
    """Ratios of a host case that are above their limits."""
    return [
        f"{case.key}: {name} {row[name]} is above {bound}"
        for name, bound in case.limits.items()
        if row.get(name) is not None and row[name] > bound
    ]
