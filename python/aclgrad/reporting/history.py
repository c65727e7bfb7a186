# SPDX-License-Identifier: Apache-2.0
"""Earlier runs of a report's folder: a line of numbers for each, and a chart of those alike."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from aclgrad.reporting.conditions import Conditions
from aclgrad.testing.run import Outcome

FILE = "history.json"
KEPT = 50

_STEP, _BAR, _HEIGHT, _TOP, _LEFT = 16, 12, 70, 18, 8


def summary(outcomes: Sequence[Outcome], conditions: Conditions) -> dict[str, Any]:
    """What is kept of a run."""
    ulps = [outcome.report.max_ulp for outcome in outcomes if outcome.report]
    return {
        "finished": conditions.finished,
        "soc": conditions.soc,
        "device": conditions.device,
        "fast": conditions.fast,
        "ops": sorted({outcome.case.op for outcome in outcomes}),
        "cases": len(outcomes),
        "failed": sum(not outcome.passed for outcome in outcomes),
        "max_ulp": max((ulp for ulp in ulps if math.isfinite(ulp)), default=None),
        "seconds": round(sum(outcome.seconds for outcome in outcomes), 3),
    }


def read(folder: Path) -> list[dict[str, Any]]:
    """Runs that a folder remembers, oldest first; none where the file cannot be read as such."""
    try:
        runs = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    known = {"finished", "soc", "device", "fast", "ops", "cases", "failed"}
    if not isinstance(runs, list):
        return []
    return [run for run in runs if isinstance(run, dict) and known <= run.keys()][-KEPT:]


def alike(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that ran what the last one did."""
    names = ("soc", "device", "fast", "ops")
    return [run for run in runs if all(run[name] == runs[-1][name] for name in names)]


def svg(runs: Sequence[dict[str, Any]]) -> str:
    """A bar for each run, what failed on top. Colours come from the page."""
    top = max(1, *(int(run["cases"]) for run in runs))
    width = 2 * _LEFT + _STEP * max(len(runs), 14)
    base = _TOP + _HEIGHT
    label = f"{len(runs)} runs; failed: {', '.join(str(run['failed']) for run in runs)}"
    parts = [
        f'<svg class="histogram" viewBox="0 0 {width} {base + 24}" width="{width}"'
        f' height="{base + 24}" role="img"><title>{escape(label)}</title>',
        f'<line class="axis" x1="{_LEFT}" x2="{width - _LEFT}" y1="{base}" y2="{base}"/>',
    ]
    for at, run in enumerate(runs):
        x, y = _LEFT + at * _STEP + 2, float(base)
        cases, failed = int(run["cases"]), int(run["failed"])
        words = f"{run['finished']}: {failed} of {cases} failed"
        for kind, count in (("pass", cases - failed), ("fail", failed)):
            if count > 0:
                tall = max(2.0, _HEIGHT * count / top)
                y -= tall
                parts.append(
                    f'<rect class="{kind}" x="{x}" y="{y:.1f}" width="{_BAR}"'
                    f' height="{tall:.1f}"><title>{escape(words)}</title></rect>'
                )
        if failed:
            parts.append(
                f'<text class="count" x="{x + _BAR / 2:g}" y="{y - 4:.1f}">{failed}</text>'
            )
    parts.append(
        f'<text class="start" x="{_LEFT}" y="{base + 16}">runs, the last on the right</text>'
    )
    return "".join(parts) + "</svg>"
