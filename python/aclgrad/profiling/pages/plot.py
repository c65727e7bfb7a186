# SPDX-License-Identifier: Apache-2.0
"""Plots of profiles as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aclgrad.profiling.estimate import cores_there
from aclgrad.profiling.profiled import Profiled
from aclgrad.reporting.pictures import charts

VECTOR_BYTES_PER_CYCLE = 768
"""What a vector pipe reads and writes in UB at most: two operands and a result of 256 bytes."""

SIZE = 460, 460


def _plain(value: float) -> str:
    return f"{value:g}"


def _place(megabytes: float) -> float:
    """Where a size is on an axis of logarithms; not at 0, which pygal draws as another axis."""
    return math.log10(megabytes * 1e7)


def _xy(label: str, titles: tuple[str, str], **settings: Any) -> charts.Plot:
    return charts.Plot(
        "XY", label, *SIZE,
        x_title=titles[0], y_title=titles[1], show_legend=True, show_x_guides=True, dots_size=4,
        x_value_formatter=_plain, value_formatter=_plain, **settings,
    )  # fmt: skip


@dataclass(frozen=True)
class Unit:
    """The unit whose peak is the roof: its work, and its name on the plot."""

    name: str
    work: str
    rate: str  # a million of it in a microsecond
    total: Callable[[Mapping[str, Any]], float]
    peak: Callable[[Mapping[str, Any]], float]  # in a cycle, of all cores


VECTOR = Unit(
    "vector unit", "bytes of vector instructions", "TB/s",
    lambda kernel: float(kernel["vectorBytes"]),
    lambda kernel: float(kernel["vecCores"] * VECTOR_BYTES_PER_CYCLE),
)  # fmt: skip
CUBE = Unit(
    "matrix unit", "operations of the matrix unit", "TFLOPS",
    lambda kernel: float(kernel["flops"]),
    lambda kernel: float(kernel["aicCores"] * kernel["flopsPerCycle"]),
)  # fmt: skip


def roofline(items: Sequence[Profiled]) -> str:
    """Roofs of the first profile's SoC, and for the longest launch of each profile a point under
    each roof: by the bytes that cross the memory's pins, and by those that L2 serves. A launch that
    multiplies matrices has the matrix unit's peak for a roof, of its widest type.
    """
    kernel = items[0].kernel
    unit = CUBE if kernel.get("flops") else VECTOR
    rate = kernel["mhz"] / 1e6  # TB/s or TFLOPS, for each byte or operation in a cycle
    memory = kernel["memoryBytesPerCycle"] * rate
    cache = kernel["l2BytesPerCycle"] * rate
    peak = unit.peak(kernel) * rate
    points = [_point(item, level, unit) for item in items for level in ("memory", "l2")]
    low = min([0.3, *(x / 2 for x, _ in points)])
    high = max([peak / memory * 4, *(x * 2 for x, _ in points)])
    floor = min([memory * low, *(y / 2 for _, y in points)])
    plot = _xy(
        "Roofline",
        (f"{unit.work} per byte moved", f"{unit.rate} of the {unit.name}"),
        logarithmic=True,
        xrange=(low, high),
        range=(floor, peak * 2),
        x_labels=charts.decades(low, high),
        y_labels=charts.decades(floor, peak * 2),
    )
    for kind, name, bandwidth in (("memory", "memory", memory), ("cache", "L2", cache)):
        roof = [(low, low * bandwidth), (peak / bandwidth, peak)]
        plot.add(f"roof {kind}", roof, f"{name} {bandwidth:.2f} TB/s", show_dots=False)
    roof = [(peak / cache, peak), (high, peak)]
    plot.add("roof", roof, f"{unit.name} {peak:.0f} {unit.rate}", show_dots=False)
    for index, (x, y) in enumerate(points):
        letter, level = "AB"[index // 2], ("memory", "L2")[index % 2]
        words = f"{x:.2f} {unit.work.split()[0]} per byte of {level}, {y:.2f} {unit.rate}"
        title = words if len(items) == 1 else f"{letter}: {words}"
        hollow = " hollow" if level == "L2" else ""
        plot.add(f"p{letter}{hollow}", [charts.mark((x, y), words)], title, stroke=False)
    return plot.svg()


def _point(item: Profiled, level: str, unit: Unit) -> tuple[float, float]:
    kernel = item.kernel
    work = max(1.0, unit.total(kernel))
    rate = work / max(kernel["cycles"], 1.0) * kernel["mhz"] / 1e6
    return work / max(1.0, kernel[f"{level}Bytes"]), rate


def core_bars(item: Profiled) -> str:
    """Time of each core: how the work is spread."""
    kernel = item.kernel
    mhz = kernel["mhz"]
    times = [core["cycles"] / mhz for core in kernel["cores"]]
    mean, most = sum(times) / len(times), max(times) or 1.0
    times += [0.0] * (cores_there(kernel) - len(times))
    # The ends whose labels fit beside the mean's.
    ends = [end for end in (0.0, most) if abs(end - mean) > most / 8]
    plot = charts.Plot(
        "Bar", "Time of each core; the line is their mean", SIZE[0], 300, x_title="core",
        range=(0, most * 1.08),
        x_labels=[str(core) for core in range(len(times))], show_minor_x_labels=False,
        x_labels_major_every=max(1, len(times) // 8),
        y_labels=[*ends, {"value": mean, "label": f"mean {mean:.3g} us"}], y_labels_major=[mean],
        value_formatter=lambda us: f"{us:.3g} us",
    )  # fmt: skip
    marks = [charts.mark(us, f"core {core}: {us:.2f} us") for core, us in enumerate(times)]
    plot.add("pass", marks)
    return plot.svg()


def sweep(items: Sequence[Profiled]) -> list[str]:
    """Time, and share of the bandwidth bound, over the bytes that have to be moved."""
    items = sorted(items, key=lambda item: item.floor_bytes)
    sizes = [max(1, item.floor_bytes) / 1e6 for item in items]
    # A single size still needs an axis.
    ends = (min(sizes) / 1.5, max(sizes) * 1.5)
    share = [item.of_bound for item in items]
    bound = [item.bound_us for item in items]
    least = min(*bound, *(max(item.estimate.low, item.us / 4) for item in items)) / 1.5
    most = max(item.estimate.high for item in items) * 1.5
    moved = "MB that have to be moved"
    times = _xy(
        "Estimated time over size, and the bandwidth bound",
        (moved, "us"),
        logarithmic=True,
        xrange=ends,
        range=(least, most),
        x_labels=charts.decades(*ends),
        y_labels=charts.decades(least, most),
    )
    # An area: along its lower edge, and back along the upper one.
    band = [(x, max(item.estimate.low, least)) for x, item in zip(sizes, items, strict=True)]
    band += [(x, item.estimate.high) for x, item in zip(sizes, items, strict=True)][::-1]
    times.add("band", band, "the estimate's error", show_dots=False)
    for kind, values, words in (
        ("bound", bound, "bandwidth bound"),
        ("pA", [item.us for item in items], "estimate"),
    ):
        times.add(
            kind,
            [
                charts.mark((x, us), f"{item.shape}: {words} {us:.1f} us")
                for x, us, item in zip(sizes, values, items, strict=True)
            ],
            words,
        )
    # pygal has logarithms for both axes or none.
    shares = _xy(
        "Share of the bandwidth bound over size",
        (moved, "share of the bandwidth bound"),
        xrange=tuple(map(_place, ends)),
        range=(0, max(1.0, *share) * 1.05),
        x_labels=[{"value": _place(each), "label": _plain(each)} for each in charts.decades(*ends)],
        y_labels=[{"value": each / 4, "label": f"{each / 4:.0%}"} for each in range(5)],
    )
    marks = [
        charts.mark((_place(x), part), f"{item.shape}: {part:.1%} of the bandwidth bound")
        for x, part, item in zip(sizes, share, items, strict=True)
    ]
    shares.add("pA", marks, "estimate")
    return [times.svg(), shares.svg()]
