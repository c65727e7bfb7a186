# SPDX-License-Identifier: Apache-2.0
"""Profiles as one HTML page that needs no other file and no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from aclgrad.common import files, temporary
from aclgrad.profiling.advice import Advice, advise
from aclgrad.profiling.estimate import pipe_share, pipes_of
from aclgrad.profiling.pages import buffers, plot
from aclgrad.profiling.pages.arrows import arrows
from aclgrad.profiling.profiled import Json, Profiled, short_path
from aclgrad.profiling.sensitivity import HEADINGS, deciding
from aclgrad.profiling.text import LAUNCH_HEADINGS, compare_rows, facts, launch_rows, warnings
from aclgrad.reporting.html import environment

MOST_SLICES = 18_000
"""Slices in all timelines of a page together: about 700 KB."""

_MOST_ROWS = 40
_MOST_STEPS = 400_000  # of the cores of a timeline: a second and half a gigabyte
_MOST_PARTS = 8  # launches of a program with a part of their own
LANES = ("SCALAR", "MTE2", "MTE1", "VECTOR", "CUBE", "FIXP", "MTE3")
_OF_ALL = ("time", "bandwidth bound", "GM")  # facts that a program has as a whole
WORK, WAIT, MERGED = 0, 1, 2


@dataclass(frozen=True)
class Shown:
    """A profile with the timelines of some cores; none when the launch is no longer there."""

    found: Profiled
    advice: tuple[Advice, ...]
    events: tuple[Mapping[str, Any], ...]
    absent: str = ""  # why there is no timeline
    ub: tuple[Mapping[str, Any], ...] = ()  # buffers of these cores

    @classmethod
    def of(cls, found: Profiled, launch: int, asked: Sequence[int]) -> Shown:
        """Take one launch and what is kept of it; of what is no program, the figures of all."""
        trace: dict[str, list[Mapping[str, Any]]] = {"traceEvents": [], "buffers": []}
        cores = found.cores(launch, asked)
        steps = sum(found.launches[launch]["cores"][core]["steps"] for core in cores)
        absent = ""
        if found.by is None or launch not in found.kept:
            absent = "This profile was read from a file, which has no timeline."
        elif steps > _MOST_STEPS:
            absent = (
                f"{steps:,} instructions and flags are too many for a timeline here; --cores of one"
                " core or a smaller shape has fewer, --trace FILE all of them."
            )
        else:
            with temporary.folder() as folder:
                path = folder / "trace.json"
                found.by.write_trace(launch, cores, path)
                trace = json.loads(path.read_text("utf-8"))
        shown = found.alone(launch) if len(found.floors) > 1 else found
        told = tuple(trace["traceEvents"]), absent, tuple(trace["buffers"])
        return cls(shown, tuple(advise(shown)), *told)


def launches_of(found: Profiled, asked: Sequence[int]) -> list[Shown]:
    """The launches of a program that are kept, the longest ones when there are many; of an operator
    the longest one.
    """
    if len(found.floors) < 2:
        return [Shown.of(found, found.main, asked)]
    longest = sorted(found.kept, key=lambda launch: -float(found.launches[launch]["microseconds"]))
    return [Shown.of(found, launch, asked) for launch in sorted(longest[:_MOST_PARTS])]


@cache
def _template() -> jinja2.Template:
    env = environment()
    env.filters |= {"percent": lambda value: f"{value:.1%}", "count": lambda value: f"{value:,}"}
    return env.get_template("profile.html.j2")


def write(
    path: Path,
    shown: Sequence[Shown],
    *,
    program: Profiled | None = None,
    pair: Sequence[Profiled] = (),
) -> None:
    """Write the page of one profile, of a program's launches, or of a pair side by side."""
    items = [one.found for one in shown]
    timelines = [_timeline(one, len(shown)) for one in shown]
    if pair:
        end = max(timeline["end"] for timeline in timelines)  # one scale, to compare lengths
        for timeline in timelines:
            timeline["end"] = end
    letters = ["A", "B"] if pair else [""] * len(items)
    named = [program] if program is not None else pair or items
    files.write(
        path,
        _template().render(
            title=" and ".join(item.title for item in named),
            parts=[
                _part(one, timeline, letter)
                for one, timeline, letter in zip(shown, timelines, letters, strict=True)
            ],
            compared=compare_rows(pair) if pair else [],
            sensitivity_headings=HEADINGS,
            program=_program(program) if program is not None else None,
            roofline=Markup(plot.roofline(items)) if pair else None,
            plots=[],
            swept=[],
            data=_embedded(timelines),
        )
        + "\n",
        "--html",
    )


def _program(program: Profiled) -> Json:
    return {
        "facts": [(label, words) for label, words in facts(program) if label in _OF_ALL],
        "headings": LAUNCH_HEADINGS,
        "rows": launch_rows(program),
        "count": len(program.launches),
    }


def write_sweep(path: Path, items: Sequence[Profiled]) -> None:
    """Write the page of a row of shapes."""
    files.write(
        path,
        _template().render(
            title=items[0].family,
            parts=[],
            compared=[],
            program=None,
            roofline=None,
            plots=[Markup(svg) for svg in plot.sweep(items)],
            swept=items,
            data=_embedded([]),
        )
        + "\n",
        "--html",
    )


def _embedded(timelines: Sequence[Json]) -> Markup:
    text = json.dumps(timelines, separators=(",", ":"))
    # The one thing that ends a script element early.
    return Markup(text.replace("<", "\\u003c"))


def _part(one: Shown, timeline: Json, letter: str) -> Json:
    found = one.found
    return {
        "letter": letter,
        "roofline": None if letter else Markup(plot.roofline([found])),
        "found": found,
        "facts": facts(found),
        "warnings": warnings(found),
        "advice": one.advice,
        "sensitivity": deciding(found),
        "pipes": _pipe_bars(found),
        "lines": _line_rows(found),
        "instructions": _instruction_rows(found),
        "cores": Markup(plot.core_bars(found)),
        "timeline": timeline,
        "absent": one.absent,
        "buffers": [(core["core"], buffers.rows(core, timeline["end"])) for core in timeline["ub"]],
    }


def _pipe_bars(found: Profiled) -> list[tuple[str, float, float, float]]:
    """Per pipe the shares of the time in which it works, waits, or has nothing to do; in the mean
    of the cores that run.
    """
    kernel = found.kernel
    rows = []
    for key, lane in pipes_of(kernel).items():
        works = min(1.0, pipe_share(kernel, key))
        waits = min(pipe_share(kernel, f"{key}Wait"), 1 - works)
        rows.append((lane, works, waits, 1 - works - waits))
    return rows


def _line_rows(found: Profiled) -> list[Json]:
    total = max(sum(core["cycles"] for core in found.kernel["cores"]), 1.0)
    working = [row for row in found.lines if row["cycles"]]
    rows = sorted(working, key=lambda row: -float(row["cycles"]))[:_MOST_ROWS]
    return [{**row, "share": row["cycles"] / total} for row in rows]


def _instruction_rows(found: Profiled) -> list[Json]:
    total = max(sum(core["cycles"] for core in found.kernel["cores"]), 1.0)
    sums: dict[tuple[str, str, bool], Json] = {}
    for row in found.lines:
        key = row["instruction"], row["pipe"], row["waits"]
        into = sums.setdefault(
            key,
            {"instruction": key[0], "pipe": key[1], "waits": key[2], "count": 0, "cycles": 0.0,
             "bytes": 0},
        )  # fmt: skip
        for name in ("count", "cycles", "bytes"):
            into[name] += row[name]
    rows = sorted(sums.values(), key=lambda row: -float(row["cycles"]))[:_MOST_ROWS]
    return [{**row, "share": row["cycles"] / total} for row in rows]


# --- timeline ------------------------------------------------------------------------------------


@dataclass
class _Slice:
    start: float
    end: float
    kind: int
    name: str
    code: str
    bytes: int = 0
    count: int = 1
    busy: float = 0.0  # cycles of work
    longest: float = 0.0


def _timeline(one: Shown, of: int) -> Json:
    """Slices of each lane in cycles, as the page's script reads them: names and places by number,
    and where there are too many for one of so many timelines, neighbours drawn as one.
    """
    mhz, most = one.found.kernel["mhz"], MOST_SLICES // of
    lanes = _lanes(one.events, mhz)
    total = sum(map(len, lanes.values()))
    end = max((item.end for items in lanes.values() for item in items), default=1.0)
    if total > most:
        lanes = _fit(lanes, most, end)
    words: dict[str, int] = {}

    def number(word: str) -> int:
        return words.setdefault(word, len(words))

    packed = [
        {
            "core": core,
            "lane": lane,
            "slices": [
                [round(s.start), round(s.end - s.start), s.kind, number(s.name), number(s.code),
                 s.bytes, s.count, round(s.busy)]
                for s in items
            ],
        }
        for (core, lane), items in lanes.items()
    ]  # fmt: skip
    kept = sum(map(len, lanes.values()))
    return {
        "title": one.found.title,
        "mhz": mhz,
        "end": round(end),
        "total": total,
        "kept": kept,
        "lanes": packed,
        "arrows": [[*rest, number(name)] for *rest, name in arrows(one.events, list(lanes), mhz)],
        "ub": buffers.over_time(one.ub, mhz, buffers.MOST_USES // of),
        "words": list(words),
    }


def _lanes(events: Sequence[Mapping[str, Any]], mhz: float) -> dict[tuple[str, str], list[_Slice]]:
    found: dict[tuple[str, str], list[_Slice]] = {}
    open_waits: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for event in events:
        if event["ph"] == "M" and event["name"] == "thread_sort_index":
            found[event["pid"], event["tid"]] = []
            continue
        key = event["pid"], event.get("tid", "")
        if event["ph"] == "X":
            args = event["args"]
            start = event["ts"] * mhz
            name = args["detail"] if event["name"] == "BAR" else event["name"]
            kind = WAIT if event["name"] == "BAR" else WORK
            item = _Slice(
                start, start + event["dur"] * mhz, kind, name, short_path(args["code"]),
                int(args.get("process_bytes", 0)), 1, event["dur"] * mhz if kind == WORK else 0.0,
            )  # fmt: skip
        elif event["ph"] == "B" and event["name"] == "WAIT_FLAG":
            open_waits[(*key, event["id"])] = event
            continue
        elif event["ph"] == "E" and event["name"] == "WAIT_FLAG":
            begin = open_waits.pop((*key, event["id"]))
            start, end = begin["ts"] * mhz, event["ts"] * mhz
            args = begin["args"]
            name = f"WAIT_FLAG ({args['detail']})"
            item = _Slice(start, end, WAIT, name, short_path(args["code"]))
        else:
            continue
        if item.end > item.start:
            item.longest = item.busy
            found[key].append(item)
    order = {lane: index for index, lane in enumerate(LANES)}
    cores = list(dict.fromkeys(core for core, _ in found))
    return {
        key: found[key]
        for key in sorted(found, key=lambda key: (cores.index(key[0]), order[key[1]]))
    }


def _fit(
    lanes: dict[tuple[str, str], list[_Slice]], most: int, end: float
) -> dict[tuple[str, str], list[_Slice]]:
    """Merge what is shorter than the least width with which all lanes fit."""
    width = end / most
    while True:
        fitted = {key: _merge(items, width) for key, items in lanes.items()}
        if sum(map(len, fitted.values())) <= most or width > end:
            return fitted
        width *= 2


def _merge(items: Sequence[_Slice], width: float) -> list[_Slice]:
    """Neighbours that are short together become one slice, which keeps the name of the longest one
    that works.
    """
    merged: list[_Slice] = []
    for item in items:
        last = merged[-1] if merged else None
        if last is None or item.end - item.start >= width or item.end - last.start >= width:
            merged.append(replace(item))
            continue
        if (last.kind, item.kind) != (WAIT, WAIT):
            last.kind = MERGED
        last.end = item.end
        last.bytes += item.bytes
        last.count += item.count
        last.busy += item.busy
        if item.busy > last.longest:
            last.longest, last.name, last.code = item.busy, item.name, item.code
    return merged
