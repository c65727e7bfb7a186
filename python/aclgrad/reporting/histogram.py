# SPDX-License-Identifier: Apache-2.0
"""How the largest errors of the cases are spread, as an inline SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from aclgrad.testing.run import Outcome

EDGES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
_NAMES = ("0", "¼", "½", "1", "2", "4", "8", "16", "32", "> 32", "none")

_STEP, _BAR, _HEIGHT, _TOP, _LEFT, _BOTTOM = 44, 34, 110, 22, 8, 40


@dataclass(frozen=True)
class Bin:
    """Cases whose largest error is at most the one that ``name`` says, and above the bin before."""

    name: str
    passed: int
    failed: int


def bins(outcomes: Sequence[Outcome]) -> list[Bin]:
    """Count cases by their largest error in ULP; the last bin holds those without a result."""
    passed, failed = [0] * len(_NAMES), [0] * len(_NAMES)
    for outcome in outcomes:
        (passed if outcome.passed else failed)[_place(outcome)] += 1
    return [Bin(*each) for each in zip(_NAMES, passed, failed, strict=True)]


def _place(outcome: Outcome) -> int:
    if outcome.report is None or math.isnan(outcome.report.max_ulp):
        return len(_NAMES) - 1
    error = outcome.report.max_ulp
    return next((at for at, edge in enumerate(EDGES) if error <= edge), len(EDGES))


def svg(outcomes: Sequence[Outcome], title: str) -> str:
    """Bars with their counts; what failed is stacked on top. Colours come from the page."""
    found = bins(outcomes)
    # The last two bins are rare; without them the bars that matter are wider apart.
    while len(found) > len(EDGES) and not found[-1].passed + found[-1].failed:
        found.pop()
    top = max(1, *(item.passed + item.failed for item in found))
    width, height = 2 * _LEFT + _STEP * len(found), _TOP + _HEIGHT + _BOTTOM
    base = _TOP + _HEIGHT
    parts = [
        f'<svg class="histogram" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img"><title>{escape(title)}</title>',
        f'<line class="axis" x1="{_LEFT}" x2="{width - _LEFT}" y1="{base}" y2="{base}"/>',
    ]
    for at, item in enumerate(found):
        left = _LEFT + at * _STEP + (_STEP - _BAR) / 2
        centre = left + _BAR / 2
        y = float(base)
        for kind, count in (("pass", item.passed), ("fail", item.failed)):
            if count:
                tall = max(2.0, _HEIGHT * count / top)
                y -= tall
                parts.append(
                    f'<rect class="{kind}" x="{left:g}" y="{y:.1f}" width="{_BAR}"'
                    f' height="{tall:.1f}"><title>{count} {kind}ed</title></rect>'
                )
        total = item.passed + item.failed
        if total:
            parts.append(f'<text class="count" x="{centre:g}" y="{y - 5:.1f}">{total}</text>')
        parts.append(f'<text x="{centre:g}" y="{base + 16}">{escape(item.name)}</text>')
    parts.append(
        f'<text x="{width / 2:g}" y="{base + 34}">largest error of a case, at most, in ULP</text>'
    )
    return "".join(parts) + "</svg>"
