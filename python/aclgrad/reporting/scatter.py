# SPDX-License-Identifier: Apache-2.0
"""Got against want, as an inline SVG: wrong elements off the line on which both are equal."""

from __future__ import annotations

import math
from html import escape

from aclgrad.testing.picture import Picture

_SIZE, _LEFT, _TOP, _BOTTOM = 200.0, 64.0, 12.0, 36.0
_MOST = 300


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
    width, height = _LEFT + _SIZE + 16, _TOP + _SIZE + _BOTTOM
    base = _TOP + _SIZE

    def place(value: float) -> float:
        # Divided first: the difference of two huge numbers may be none.
        return (value / 2 - low / 2) / (high / 2 - low / 2) * _SIZE

    parts = [
        f'<svg class="scatter" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
        f' height="{height:g}" role="img"><title>{escape(title)}</title>',
        f'<path class="axis" d="M{_LEFT:g} {_TOP:g}V{base:g}H{_LEFT + _SIZE:g}"/>',
        f'<path class="equal" d="M{_LEFT:g} {base:g}L{_LEFT + _SIZE:g} {_TOP:g}"/>',
    ]
    parts += [
        f'<circle cx="{_LEFT + place(want):.1f}" cy="{base - place(got):.1f}" r="2.5"/>'
        for want, got in found
    ]
    parts += [
        f'<text class="end" x="{_LEFT - 4:g}" y="{base:g}">{low:.3g}</text>',
        f'<text class="end" x="{_LEFT - 4:g}" y="{_TOP + 9:g}">{high:.3g}</text>',
        f'<text class="end" x="{_LEFT - 4:g}" y="{_TOP + _SIZE / 2:g}">got</text>',
        f'<text x="{_LEFT:g}" y="{base + 15:g}">{low:.3g}</text>',
        f'<text class="end" x="{_LEFT + _SIZE:g}" y="{base + 15:g}">{high:.3g}</text>',
        f'<text class="middle" x="{_LEFT + _SIZE / 2:g}" y="{base + 30:g}">want</text>',
    ]
    return "".join(parts) + "</svg>"
