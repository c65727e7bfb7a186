# SPDX-License-Identifier: Apache-2.0
"""Plots of profiles as inline SVG; colours come from the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from aclgrad.profiling.labels import Labels
from aclgrad.profiling.profiled import Profiled

VECTOR_BYTES_PER_CYCLE = 768
"""What a vector pipe reads and writes in UB at most: two operands and a result of 256 bytes."""

_WIDTH, _HEIGHT = 560, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 16, 18, 46


@dataclass(frozen=True)
class _Axes:
    """A plot area; ``log`` of an axis places powers of ten at equal distances."""

    x: tuple[float, float]
    y: tuple[float, float]
    log: tuple[bool, bool]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Pixels of a point."""
        across = self._part(x, self.x, self.log[0])
        up = self._part(y, self.y, self.log[1])
        return (
            _LEFT + across * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM),
        )

    @staticmethod
    def _part(value: float, ends: tuple[float, float], log: bool) -> float:
        low, high = ends
        if log:
            value, low, high = (math.log10(max(each, 1e-30)) for each in (value, low, high))
        return (value - low) / (high - low or 1.0)


def _svg(title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
        f' role="img"><title>{escape(title)}</title>' + "".join(parts) + "</svg>"
    )


_STYLE = """
svg { font-family: system-ui, sans-serif; } .paper { fill: #fff; }
text { fill: #5a6472; font-size: 12px; } text.count, text.name { fill: #1b2430; }
text.title { fill: #1b2430; font-size: 14px; } path.band { fill: #2f7fd1; opacity: .15; }
path { fill: none; } .axis { stroke: #5a6472; } .grid { stroke: #d8dde4; stroke-width: .6; }
.roof { stroke: #1b2430; stroke-width: 1.6; } .roof.L2 { stroke: #5a6472; stroke-dasharray: 5 4; }
.line { stroke-width: 2; stroke: #2f7fd1; } .line.bound { stroke: #5a6472; stroke-dasharray: 5 4; }
.point { fill: #2f7fd1; } .point.bound { fill: #5a6472; } .point.pB { fill: #c2417c; }
.point.L2 { fill: #fff; stroke: #2f7fd1; stroke-width: 2; } .point.pB.L2 { stroke: #c2417c; }
"""


def picture(titles: Sequence[str], plots: Sequence[str]) -> str:
    """Plots side by side as a file of their own, below the lines of a title."""
    top = 8 + 20 * len(titles)
    width, height = _WIDTH * len(plots), _HEIGHT + top
    heading = "".join(
        f'<text class="title" x="16" y="{24 + 20 * index}">{escape(title)}</text>'
        for index, title in enumerate(titles)
    )
    placed = "".join(
        plot.replace("<svg ", f'<svg x="{_WIDTH * index}" y="{top}" ', 1)
        for index, plot in enumerate(plots)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}"><style>{_STYLE}</style><rect class="paper" width="{width}"'
        f' height="{height}"/>{heading}{placed}</svg>\n'
    )


def _grid(
    axes: _Axes, labels: tuple[str, str],
    ticks: tuple[Sequence[float], Sequence[float]],
    form: tuple[Callable[[float], str], Callable[[float], str]],
) -> list[str]:  # fmt: skip
    left, bottom = axes.at(axes.x[0], axes.y[0])
    right, top = axes.at(axes.x[1], axes.y[1])
    parts = [
        f'<path class="axis" d="M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}"/>',
    ]
    for value in ticks[0]:
        x, _ = axes.at(value, axes.y[0])
        parts.append(f'<path class="grid" d="M{x:.1f} {top:.1f}V{bottom:.1f}"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{bottom + 16:.1f}" text-anchor="middle">'
            f"{escape(form[0](value))}</text>"
        )
    for value in ticks[1]:
        _, y = axes.at(axes.x[0], value)
        parts.append(f'<path class="grid" d="M{left:.1f} {y:.1f}H{right:.1f}"/>')
        parts.append(
            f'<text x="{left - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">'
            f"{escape(form[1](value))}</text>"
        )
    parts.append(
        f'<text x="{(left + right) / 2:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">'
        f"{escape(labels[0])}</text>"
    )
    middle = (top + bottom) / 2
    parts.append(
        f'<text transform="translate(14 {middle:.1f}) rotate(-90)" text-anchor="middle">'
        f"{escape(labels[1])}</text>"
    )
    return parts


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten between two values, with 2 and 5 times them where those are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    found: list[float] = []
    for steps in ((1,), (1, 2, 5)):
        found = [
            float(f"{step}e{power}")
            for power in range(first, last + 1)
            for step in steps
            if low <= float(f"{step}e{power}") <= high
        ]
        if len(found) > 2:
            break
    return found


def _steps(most: float) -> list[float]:
    """Round numbers from 0 up to a value."""
    rough = most / 4 or 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    return [step * i for i in range(int(most / step) + 1)]


def _plain(value: float) -> str:
    return f"{value:g}"


def roofline(items: Sequence[Profiled]) -> str:
    """Roofs of the first profile's SoC, and for the longest launch of each profile a point under
    each roof: by the bytes that cross the memory's pins, and by those that L2 serves.
    """
    kernel = items[0].kernel
    rate = kernel["mhz"] / 1e6  # bytes per cycle to TB/s
    memory = kernel["memoryBytesPerCycle"] * rate
    cache = kernel["l2BytesPerCycle"] * rate
    vector = kernel["vecCores"] * VECTOR_BYTES_PER_CYCLE * rate
    points = [_point(item, level) for item in items for level in ("memory", "l2")]
    low = min([0.3, *(x / 2 for x, _ in points)])
    high = max([vector / memory * 4, *(x * 2 for x, _ in points)])
    floor = min([memory * low, *(y / 2 for _, y in points)])
    axes = _Axes((low, high), (floor, vector * 2), (True, True))
    parts = _grid(
        axes,
        ("bytes of vector instructions per byte of memory or L2", "TB/s of vector instructions"),
        (_decades(*axes.x), _decades(*axes.y)),
        (_plain, _plain),
    )
    labels = Labels(_WIDTH, _HEIGHT - _BOTTOM)
    for point in points:
        labels.take_point(*axes.at(*point), 8)
    for name, bandwidth in (("memory", memory), ("L2", cache)):
        start, knee = axes.at(low, low * bandwidth), axes.at(vector / bandwidth, vector)
        parts.append(
            f'<path class="roof {name}" d="M{start[0]:.1f} {start[1]:.1f}'
            f'L{knee[0]:.1f} {knee[1]:.1f}"/>'
        )
        angle = math.degrees(math.atan2(knee[1] - start[1], knee[0] - start[0]))
        share = 0.38
        x = start[0] + (knee[0] - start[0]) * share
        y = start[1] + (knee[1] - start[1]) * share - 6
        labels.take_slanted(x, y, angle, f"{name} {bandwidth:.2f} TB/s")
        parts.append(
            f'<text class="name" transform="translate({x:.1f} {y:.1f}) rotate({angle:.1f})"'
            f' text-anchor="middle">{name} {bandwidth:.2f} TB/s</text>'
        )
    left, right = axes.at(vector / cache, vector), axes.at(high, vector)
    parts.append(f'<path class="roof" d="M{left[0]:.1f} {left[1]:.1f}H{right[0]:.1f}"/>')
    parts.append(
        f'<text class="name" x="{right[0]:.1f}" y="{right[1] - 6:.1f}" text-anchor="end">'
        f"vector {vector:.0f} TB/s</text>"
    )
    labels.take_slanted(right[0] - 60, right[1] - 6, 0, f"vector {vector:.0f} TB/s")
    for index, (x, y) in enumerate(points):
        across, up = axes.at(x, y)
        letter, level = "AB"[index // 2], ("memory", "L2")[index % 2]
        label = level if len(items) == 1 else f"{letter} {level}"
        left_at, base, anchor = labels.place(across, up, label)
        parts.append(
            f'<circle class="point p{letter} {level}" cx="{across:.1f}" cy="{up:.1f}" r="6"><title>'
            f"{x:.2f} bytes per byte of {level}, {y:.2f} TB/s</title></circle>"
            f'<text class="count" x="{left_at:.1f}" y="{base:.1f}"'
            f' text-anchor="{anchor}">{label}</text>'
        )
    return _svg("Roofline", parts)


def _point(item: Profiled, level: str) -> tuple[float, float]:
    kernel = item.kernel
    vector = max(1.0, kernel["vectorBytes"])
    rate = vector / max(kernel["cycles"], 1.0) * kernel["mhz"] / 1e6
    return vector / max(1.0, kernel[f"{level}Bytes"]), rate


def core_bars(item: Profiled) -> str:
    """Time of each core: how the work is spread."""
    kernel = item.kernel
    cores, mhz = kernel["cores"], kernel["mhz"]
    there = max(kernel["vecCores"], len(cores))
    most = max(core["cycles"] for core in cores) / mhz or 1.0
    axes = _Axes((0, there), (0, most * 1.08), (False, False))
    step = max(1, there // 8)
    parts = _grid(
        axes,
        ("core", "us"),
        ([], _steps(most * 1.08)),
        (_plain, _plain),
    )
    mean = sum(core["cycles"] for core in cores) / len(cores) / mhz
    for index in range(there):
        us = cores[index]["cycles"] / mhz if index < len(cores) else 0.0
        x, y = axes.at(index + 0.1, us)
        right, base = axes.at(index + 0.9, 0)
        parts.append(
            f'<rect class="pass" x="{x:.1f}" y="{y:.1f}" width="{right - x:.1f}"'
            f' height="{max(0.0, base - y):.1f}"><title>core {index}: {us:.2f} us</title></rect>'
        )
        if index % step == 0:
            parts.append(
                f'<text x="{(x + right) / 2:.1f}" y="{base + 16:.1f}" text-anchor="middle">'
                f"{index}</text>"
            )
    left, at = axes.at(0, mean)
    parts.append(f'<path class="mean" d="M{left:.1f} {at:.1f}H{_WIDTH - _RIGHT}"/>')
    return _svg("Time of each core; the line is their mean", parts)


def sweep(items: Sequence[Profiled]) -> list[str]:
    """Time, and share of the bandwidth bound, over the bytes that have to be moved."""
    sizes = [max(1, item.floor_bytes) / 1e6 for item in items]
    # A single size still needs an axis.
    ends = (min(sizes) / 1.5, max(sizes) * 1.5)
    time = [item.us for item in items]
    share = [item.of_bound for item in items]
    bound = [item.bound_us for item in items]
    least = min(*bound, *(max(item.estimate.low, item.us / 4) for item in items))
    times = _Axes(
        ends, (least / 1.5, max(item.estimate.high for item in items) * 1.5), (True, True)
    )
    shares = _Axes(ends, (0, max(1.0, *share) * 1.05), (True, False))
    first = _grid(
        times,
        ("MB that have to be moved", "us"),
        (_decades(*ends), _decades(*times.y)),
        (_plain, _plain),
    )
    low, high = [item.estimate.low for item in items], [item.estimate.high for item in items]
    first.append(_band(times, sizes, low, high))
    first += _key([("pA", "estimate, with its error"), ("bound", "bandwidth bound")])
    first += _line(times, sizes, bound, "bound", items, "bandwidth bound {:.1f} us")
    first += _line(times, sizes, time, "pA", items, "estimate {:.1f} us")
    second = _grid(
        shares,
        ("MB that have to be moved", "share of the bandwidth bound"),
        (_decades(*ends), [0, 0.25, 0.5, 0.75, 1]),
        (_plain, lambda value: f"{value:.0%}"),
    )
    second += _line(shares, sizes, share, "pA", items, "{:.1%} of the bandwidth bound")
    return [
        _svg("Estimated time over size, and the bandwidth bound", first),
        _svg("Share of the bandwidth bound over size", second),
    ]


def _band(axes: _Axes, xs: Sequence[float], low: Sequence[float], high: Sequence[float]) -> str:
    """The area between two lines, as far as the plot reaches."""
    order = sorted(range(len(xs)), key=lambda i: xs[i])
    edge = [axes.at(xs[i], high[i]) for i in order]
    edge += [axes.at(xs[i], max(low[i], axes.y[0])) for i in reversed(order)]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in edge)
    return f'<path class="band" d="M{path}Z"/>'


def _key(rows: Sequence[tuple[str, str]]) -> list[str]:
    """What the lines are, in the corner that lines from below leave free."""
    parts = []
    for index, (kind, words) in enumerate(rows):
        y = _TOP + 14 + 18 * index
        parts.append(f'<path class="line {kind}" d="M{_LEFT + 12} {y}h26"/>')
        parts.append(f'<text x="{_LEFT + 46}" y="{y + 4}">{escape(words)}</text>')
    return parts


def _line(
    axes: _Axes, xs: Sequence[float], ys: Sequence[float], kind: str, items: Sequence[Profiled],
    words: str,
) -> list[str]:  # fmt: skip
    order = sorted(range(len(xs)), key=lambda i: (xs[i], ys[i]))
    points = [axes.at(xs[i], ys[i]) for i in order]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    parts = [f'<path class="line {kind}" d="M{path}"/>']
    for i, (x, y) in zip(order, points, strict=True):
        parts.append(
            f'<circle class="point {kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>'
            f"{escape(items[i].shape)}: {escape(words.format(ys[i]))}</title></circle>"
        )
    return parts
