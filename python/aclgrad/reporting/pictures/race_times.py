# SPDX-License-Identifier: Apache-2.0
"""Both ends of a race on the timeline that the model of time makes of the launch, as a template
draws it: places in percent of the width.
"""

from __future__ import annotations

from dataclasses import dataclass

from aclgrad.findings.finding import Finding, Slice, Timeline

ROW = 30  # height of a lane, and of the axis
_MOST_ROWS = 40  # of the table
_TICKS = 4


@dataclass(frozen=True)
class Bar:
    """Something in a lane; ``letter`` is an end's."""

    left: float
    width: float
    name: str
    told: str
    waits: bool = False
    letter: str = ""


@dataclass(frozen=True)
class Lane:
    """What one pipe does."""

    name: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Row:
    """A line of the table that tells the same."""

    lane: str
    begin: str
    end: str
    name: str
    code: str


@dataclass(frozen=True)
class Drawn:
    """The picture and its words."""

    words: str
    lanes: tuple[Lane, ...]
    arrows: tuple[tuple[str, str], ...]  # path, what it is
    band: Bar  # where both ends are, or what lies between them
    ticks: tuple[tuple[float, str], ...]
    rows: tuple[Row, ...]
    height: int


class _Scale:
    def __init__(self, line: Timeline) -> None:
        self._line = line
        self._whole = line.end - line.begin

    def at(self, time: float) -> float:
        """Percent of the width."""
        inside = min(max(time, self._line.begin), self._line.end)
        return round(100 * (inside - self._line.begin) / self._whole, 2)

    def us(self, cycles: float) -> str:
        return f"{cycles / self._line.mhz:.2f}"

    def bar(self, begin: float, end: float, name: str, told: str, **more: bool | str) -> Bar:
        left = self.at(begin)
        return Bar(left, round(self.at(end) - left, 2), name, told, **more)  # type: ignore[arg-type]


def drawn(finding: Finding) -> Drawn | None:
    """None unless times of the ends are known."""
    line = finding.timeline
    if line is None:
        return None
    scale = _Scale(line)
    cores = {core for core, _ in line.lanes}
    named = [f"core {core} {pipe}" if len(cores) > 1 else pipe for core, pipe in line.lanes]
    places = [finding.at, *finding.related]
    used = sorted({lane for lane, *_ in line.ends} | {item.lane for item in line.slices})
    bars: dict[int, list[Bar]] = {lane: [] for lane in used}
    for item in line.slices:
        bars[item.lane].append(
            scale.bar(item.begin, item.end, item.name, _told(item, scale), waits=item.waits)
        )
    for letter, place, (lane, begin, end) in zip("ABCD", places, line.ends, strict=False):
        told = f"{letter}: {place.name}, {scale.us(begin)} to {scale.us(end)} us"
        name = place.instruction
        bars[lane].append(scale.bar(begin, end, name, told, letter=letter))
    (_, *a), (_, *b) = line.ends[:2]
    together = max(a[0], b[0]), min(a[1], b[1])
    names = {lane: named[lane] for lane in used}
    return Drawn(
        _words(line, scale),
        tuple(Lane(names[lane], tuple(bars[lane])) for lane in used),
        _arrows(line, scale, used),
        scale.bar(min(together), max(together), "", ""),
        tuple(
            (100 * at / _TICKS, scale.us(line.begin + (line.end - line.begin) * at / _TICKS))
            for at in range(_TICKS + 1)
        ),
        _rows(finding, line, scale, named),
        ROW * len(used),
    )


def _told(item: Slice, scale: _Scale) -> str:
    many = f" and {item.count - 1} more" if item.count > 1 else ""
    waits = " waits" if item.waits else ""
    what = f"{item.name}{waits}{many}, {scale.us(item.begin)} to {scale.us(item.end)} us"
    return f"{what}, {item.code}" if item.code else what


def _words(line: Timeline, scale: _Scale) -> str:
    """What a reader has to know before the picture, and all of it for who cannot see it."""
    (pipe, *a), (other, *b) = line.ends[:2]
    said = (
        f"In the timing model A runs from {scale.us(a[0])} to {scale.us(a[1])} us after the launch"
        f" began and B from {scale.us(b[0])} to {scale.us(b[1])} us"
    )
    first, second = sorted([("A", a), ("B", b)], key=lambda end: end[1])
    if pipe == other:
        waits = f"nothing makes {second[0]} wait for the results of {first[0]}"
        return f"{said}: their pipe begins them in this order, but {waits}."
    gap = second[1][0] - first[1][1]
    if gap < 0:
        return f"{said}: at the same time."
    return (
        f"{said}: {second[0]} begins {scale.us(gap)} us after the end of {first[0]}, by luck."
        " Nothing makes it wait."
    )


def _arrows(line: Timeline, scale: _Scale, used: list[int]) -> tuple[tuple[str, str], ...]:
    """Who has told whom: from the lane of the set to that of the wait."""
    found = []
    for of, to, begin, end, name in line.arrows:
        if of in used and to in used and line.begin <= begin and end <= line.end:
            y0, y1 = (ROW * used.index(lane) + ROW / 2 for lane in (of, to))
            x0, x1 = 10 * scale.at(begin), 10 * scale.at(end)
            path = f"M{x0:g} {y0:g}L{x1:g} {y1:g}"
            found.append((path, f"{name}: {scale.us(begin)} to {scale.us(end)} us"))
    return tuple(found)


def _rows(finding: Finding, line: Timeline, scale: _Scale, named: list[str]) -> tuple[Row, ...]:
    """The ends, and what is nearest to them."""
    ends = []
    for letter, place, (lane, begin, end) in zip(
        "ABCD", [finding.at, *finding.related], line.ends, strict=False
    ):
        code = f"{place.file}:{place.line}" if place.known else ""
        name = f"{letter} {place.instruction}"
        ends.append((begin, Row(named[lane], scale.us(begin), scale.us(end), name, code)))
    (_, *a), (_, *b) = line.ends[:2]
    middle = (max(a[0], b[0]) + min(a[1], b[1])) / 2
    near = sorted(line.slices, key=lambda item: abs((item.begin + item.end) / 2 - middle))
    rest = [
        (
            item.begin,
            Row(
                named[item.lane],
                scale.us(item.begin),
                scale.us(item.end),
                f"{item.name}{' waits' if item.waits else ''}",
                item.code,
            ),
        )
        for item in near[: _MOST_ROWS - len(ends)]
        if not _is_end(item, line)
    ]
    return tuple(row for _, row in sorted(ends + rest, key=lambda each: each[0]))


def _is_end(item: Slice, line: Timeline) -> bool:
    return item.count == 1 and any(
        item.lane == lane and item.begin >= begin and item.end == end
        for lane, begin, end in line.ends
    )
