# SPDX-License-Identifier: Apache-2.0
"""Got against want, as an inline SVG: wrong elements off the line on which both are equal."""

from __future__ import annotations

import math

from aclgrad.reporting.pictures import charts
from aclgrad.testing.picture import Picture

_MOST = 200


def points(picture: Picture) -> list[tuple[float, float]]:
    """Want and got of the worst element of each bin with wrong ones, where both are finite."""
    pairs = [(float(cell.want), float(cell.got)) for cell in picture.cells.values()]
    finite = [pair for pair in pairs if all(map(math.isfinite, pair))]
    return finite[:: max(1, -(-len(finite) // _MOST))]


def svg(picture: Picture, title: str) -> str:
    """The plot; empty without points. Both axes have one scale."""
    found = points(picture)
    if not found:
        return ""
    low = min(map(min, found))
    high = max(map(max, found))
    room = (high - low) * 0.05 or abs(high) * 0.5 or 1.0
    low, high = low - room, high + room

    def place(value: float) -> float:
        # Divided first: the difference of two huge numbers may be none.
        return (value / 2 - low / 2) / (high / 2 - low / 2)

    ends = [{"value": at, "label": f"{end:.3g}"} for at, end in ((0.0, low), (1.0, high))]
    plot = charts.Plot(
        "XY", title, 310, 270, margin_right=40, range=(0, 1.02), xrange=(0, 1.02),
        x_labels=ends, y_labels=ends, x_title="want", y_title="got",
    )  # fmt: skip
    plot.add("equal", [(0, 0), (1, 1)], show_dots=False)
    plot.add(
        "wrong",
        [charts.mark((place(x), place(y)), f"got {y:.6g}, want {x:.6g}") for x, y in found],
        stroke=False,
    )
    return plot.svg()
