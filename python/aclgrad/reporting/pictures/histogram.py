# SPDX-License-Identifier: Apache-2.0
"""How the largest errors of the cases are spread, as an inline SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aclgrad.reporting.pictures import charts
from aclgrad.testing.run import Outcome

EDGES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_NAMES = ("0", "¼", "½", "1", "2", "4", "8", "16", "32", "> 32", "none")


@dataclass(frozen=True)
class Bin:
    """Cases whose largest error is at most the one that ``name`` says, and above the bin before."""

    name: str
    passed: int
    failed: int


def bins(outcomes: Sequence[Outcome]) -> list[Bin]:
    """Count cases by their largest error in ULP of the scale; the last bin has no result."""
    passed, failed = [0] * len(_NAMES), [0] * len(_NAMES)
    for outcome in outcomes:
        (passed if outcome.passed else failed)[_place(outcome)] += 1
    return [Bin(*each) for each in zip(_NAMES, passed, failed, strict=True)]


def _place(outcome: Outcome) -> int:
    if outcome.report is None or math.isnan(outcome.report.max_ulp_of_scale):
        return len(_NAMES) - 1
    error = outcome.report.max_ulp_of_scale
    return next((at for at, edge in enumerate(EDGES) if error <= edge), len(EDGES))


def svg(outcomes: Sequence[Outcome], title: str) -> str:
    """Bars with their counts; what failed is stacked on top."""
    found = bins(outcomes)
    # The last two bins are rare; without them the bars that matter are wider apart.
    while len(found) > len(EDGES) and not found[-1].passed + found[-1].failed:
        found.pop()
    most = max(item.passed + item.failed for item in found)
    return stacked(
        title,
        [(item.passed, item.failed, f"{item.passed + item.failed or ''}") for item in found],
        [(f"{item.passed} passed", f"{item.failed} failed") for item in found],
        width=max(42, 10 * len(str(most)) + 4) * len(found) + 40,
        height=170,
        x_labels=[item.name for item in found],
        x_title="largest error of a case, at most, in ULP of the scale",
    )


def stacked(
    title: str, counts: Sequence[tuple[int, int, str]], words: Sequence[tuple[str, str]],
    **settings: Any,
) -> str:  # fmt: skip
    """Bars of what passed, and of what failed on top of that with a text above both."""
    plot = charts.Plot(
        "StackedBar", title, print_labels=True, print_values_position="top",
        y_labels=[0, max(1, *(passed + failed for passed, failed, _ in counts))],
        value_formatter=lambda value: f"{value:g}", **settings,
    )  # fmt: skip
    both = list(zip(counts, words, strict=True))
    plot.add("pass", [charts.mark(passed, told) for (passed, *_), (told, _) in both])
    plot.add(
        "fail",
        [charts.mark(failed, told, label=above) for (_, failed, above), (_, told) in both],
    )
    return plot.svg()
