# SPDX-License-Identifier: Apache-2.0
"""Places for the labels of a plot, so that no two overlap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

# Of a character at the size of letters that pages have on narrow screens.
_WIDE, _TALL = 9.0, 18.0

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def overlap(one: Box, two: Box) -> bool:
    """Whether two boxes share more than an edge."""
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]


@dataclass
class Labels:
    """What is taken in a plot of some width and height."""

    width: float
    height: float
    taken: list[Box] = field(default_factory=list)

    def take_point(self, x: float, y: float, radius: float) -> None:
        """Keep labels away from a point."""
        self.taken.append((x - radius, y - radius, x + radius, y + radius))

    def take_slanted(self, x: float, y: float, angle: float, text: str) -> None:
        """Keep labels away from a text that is centred at (x, y) and turned by degrees."""
        across, up = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        for at in range(len(text)):
            along = (at + 0.5 - len(text) / 2) * _WIDE
            cx, cy = x + along * across, y + along * up - 4
            self.taken.append((cx - _WIDE / 2, cy - 8, cx + _WIDE / 2, cy + 8))

    def place(self, x: float, y: float, text: str) -> tuple[float, float, str]:
        """Base line and text-anchor of a label beside a point; the least of evils if all is
        taken.
        """
        best = (math.inf, x, y, "start")
        for left, base, anchor in self._candidates(x, y):
            wide = len(text) * _WIDE
            start = left if anchor == "start" else left - wide
            box = (start, base - _TALL + 4, start + wide, base + 4)
            if box[0] < 0 or box[2] > self.width or box[1] < 0 or box[3] > self.height:
                continue
            clashes = sum(overlap(box, other) for other in self.taken)
            if clashes < best[0]:
                best = (clashes, left, base, anchor)
            if not clashes:
                break
        _, left, base, anchor = best
        wide = len(text) * _WIDE
        start = left if anchor == "start" else left - wide
        self.taken.append((start, base - _TALL + 4, start + wide, base + 4))
        return left, base, anchor

    @staticmethod
    def _candidates(x: float, y: float) -> Iterator[tuple[float, float, str]]:
        for far in range(6):
            step = far * _TALL
            yield x + 4, y + 24 + step, "start"
            yield x - 4, y + 24 + step, "end"
            yield x + 4, y - 12 - step, "start"
            yield x - 4, y - 12 - step, "end"
            if far == 0:
                yield x + 11, y + 5, "start"
                yield x - 11, y + 5, "end"
