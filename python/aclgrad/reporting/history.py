# SPDX-License-Identifier: Apache-2.0
"""Earlier runs of a report's folder: a line of numbers for each, and a chart of those alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aclgrad.common import files
from aclgrad.common.data import parse_json
from aclgrad.reporting.conditions import Conditions
from aclgrad.reporting.pictures.histogram import stacked
from aclgrad.testing.run import Outcome

FILE = "history.json"
KEPT = 50


def summary(outcomes: Sequence[Outcome], conditions: Conditions) -> dict[str, object]:
    """What is kept of a run."""
    ulps = [outcome.report.max_ulp_of_scale for outcome in outcomes if outcome.report]
    return {
        "finished": conditions.finished,
        "soc": conditions.soc,
        "device": conditions.device,
        "fast": conditions.fast,
        "ops": sorted({outcome.case.op for outcome in outcomes}),
        "cases": len(outcomes),
        "failed": sum(not outcome.passed for outcome in outcomes),
        "max_ulp_of_scale": max((ulp for ulp in ulps if math.isfinite(ulp)), default=None),
        "seconds": round(sum(outcome.seconds for outcome in outcomes), 3),
    }


def read(folder: Path) -> list[dict[str, object]]:
    """Runs that a folder remembers, oldest first; none where the file cannot be read as such."""
    try:
        runs = parse_json(files.read(folder / FILE, FILE, "").decode())
    except (files.FileError, ValueError):
        return []
    known = {"finished", "soc", "device", "fast", "ops", "cases", "failed"}
    if not isinstance(runs, list):
        return []
    return [run for run in runs if isinstance(run, dict) and known <= run.keys()][-KEPT:]


def alike(runs: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Those that ran what the last one did."""
    names = ("soc", "device", "fast", "ops")
    return [run for run in runs if all(run[name] == runs[-1][name] for name in names)]


def svg(runs: Sequence[dict[str, Any]]) -> str:
    """A bar for each run, what failed on top."""
    failed = [int(run["failed"]) for run in runs]
    passed = [int(run["cases"]) - each for run, each in zip(runs, failed, strict=True)]
    # Numbers of more digits than a bar has room for are told by the last one alone.
    told = failed if max(failed) < 10 else [0] * (len(runs) - 1) + failed[-1:]
    words = [f"{run['finished']}: {run['failed']} of {run['cases']} failed" for run in runs]
    return stacked(
        f"{len(runs)} runs; failed: {', '.join(map(str, failed))}",
        [
            (good, bad, f"{above or ''}")
            for good, bad, above in zip(passed, failed, told, strict=True)
        ],
        [(each, each) for each in words],
        width=60 + 16 * max(len(runs), 14),
        height=130,
        x_title="runs, the last on the right",
    )
