# SPDX-License-Identifier: Apache-2.0
"""Buffers of UB over time: which are used from when to when, as a timeline and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

MOST_USES = 6000
"""Uses in all timelines of a page: about 100 KB. If there are more, neighbours are drawn as one."""

_MOST_ROWS = 16  # buffers of a core, the largest

Json = dict[str, Any]


def over_time(cores: Sequence[Mapping[str, Any]], mhz: float, most: int) -> list[Json]:
    """Per core of a trace the rows, a buffer each by its address, and their uses as row, start and
    length in cycles.
    """
    return [_core(core, mhz, most // max(1, len(cores))) for core in cores]


def _core(core: Mapping[str, Any], mhz: float, most: int) -> Json:
    buffers = core["buffers"]
    shown = sorted(range(len(buffers)), key=lambda at: -buffers[at][2])[:_MOST_ROWS]
    shown.sort(key=lambda at: buffers[at][1])
    row_of = {at: row for row, at in enumerate(shown)}
    uses = [(row_of[at], begin * mhz, end * mhz) for at, begin, end in core["uses"] if at in row_of]
    end = max((use[2] for use in uses), default=1.0)
    width = 0.0
    drawn = uses
    while len(drawn) > most:
        width = 2 * width or end / most
        drawn = _merged(uses, width)
    names = _names([buffers[at][0] for at in shown])
    return {
        "core": core["pid"],
        "bytes": core["bytes"],
        "rows": [
            [name, buffers[at][1], buffers[at][2]] for name, at in zip(names, shown, strict=True)
        ],
        "uses": [[row, round(start), round(stop - start)] for row, start, stop in drawn],
        "merged": len(drawn) < len(uses),
        "left": len(buffers) - len(shown),
    }


def _names(names: Sequence[str]) -> list[str]:
    """The buffers of one queue are numbered."""
    all_of, seen = Counter(names), Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} {seen[name]}" if all_of[name] > 1 else name)
    return found


def _merged(
    uses: Sequence[tuple[int, float, float]], width: float
) -> list[tuple[int, float, float]]:
    """Uses of a buffer that are closer to one another than a width are one."""
    last: dict[int, int] = {}
    found: list[tuple[int, float, float]] = []
    for row, start, end in uses:
        at = last.get(row)
        if at is not None and start - found[at][2] < width:
            found[at] = row, found[at][1], max(end, found[at][2])
        else:
            last[row] = len(found)
            found.append((row, start, end))
    return found


def rows(core: Mapping[str, Any], end: float) -> list[Json]:
    """For a table: each buffer with its place, how often it is used, and in which part of the
    time.
    """
    times, busy = Counter[int](), Counter[int]()
    for row, _, length in core["uses"]:
        times[row] += 1
        busy[row] += length
    return [
        {
            "name": name,
            "bytes": size,
            "offset": offset,
            "times": times[row],
            "share": min(1.0, busy[row] / max(end, 1.0)),
        }
        for row, (name, offset, size) in enumerate(core["rows"])
    ]
