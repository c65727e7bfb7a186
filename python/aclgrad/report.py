# SPDX-License-Identifier: Apache-2.0
"""The precision table: rows for people and JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aclgrad import __version__
from aclgrad.codegen.render import write_if_different
from aclgrad.run import Outcome


@dataclass(frozen=True)
class Row:
    """One operator on one dtype."""

    op: str
    dtype: str
    cases: int
    passed: int
    max_ulp: float
    traffic: float | None
    max_traffic: float | None

    @property
    def traffic_text(self) -> str:
        """GM bytes moved by the floor over all cases, and in the worst one."""
        if self.traffic is None or self.max_traffic is None:
            return "not counted"
        return f"{self.traffic:.2f} (worst {self.max_traffic:.2f})"


def rows(outcomes: Sequence[Outcome]) -> list[Row]:
    """Group outcomes by operator and dtype, in the order of first appearance."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.case.op, outcome.case.dtype.alias), []).append(outcome)
    return [_row(op, dtype, group) for (op, dtype), group in groups.items()]


def _row(op: str, dtype: str, group: list[Outcome]) -> Row:
    counted = [outcome for outcome in group if outcome.traffic is not None]
    moved = sum(outcome.moved_bytes for outcome in counted)
    floor = sum(outcome.floor_bytes for outcome in counted)
    return Row(
        op,
        dtype,
        len(group),
        sum(outcome.passed for outcome in group),
        max((outcome.report.max_ulp for outcome in group if outcome.report), default=0.0),
        moved / floor if floor else None,
        max((outcome.traffic for outcome in counted if outcome.traffic), default=None),
    )


def as_json(outcomes: Sequence[Outcome], **environment: Any) -> dict[str, Any]:
    """Everything that was measured."""
    return {
        "aclgrad": __version__,
        **environment,
        "passed": all(outcome.passed for outcome in outcomes),
        "rows": [row.__dict__ for row in rows(outcomes)],
        "cases": [
            {
                "op": outcome.case.op,
                "name": outcome.case.name,
                "passed": outcome.passed,
                "seconds": round(outcome.seconds, 6),
                "max_ulp": _number(outcome.report.max_ulp if outcome.report else None),
                "max_abs": _number(outcome.report.max_abs if outcome.report else None),
                "matched_ratio": outcome.report.matched_ratio if outcome.report else None,
                "gm_over_floor": outcome.traffic,
                "message": outcome.message,
            }
            for outcome in outcomes
        ],
    }


def _number(value: float | None) -> float | None:
    return value if value is None or math.isfinite(value) else None


def write(folder: Path, document: dict[str, Any]) -> Path:
    """Write precision.json into a folder that is made on demand."""
    path = folder / "precision.json"
    write_if_different(path, json.dumps(document, indent=1) + "\n")
    return path
