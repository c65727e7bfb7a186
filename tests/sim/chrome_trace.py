# SPDX-License-Identifier: Apache-2.0
"""What a viewer takes for granted in a Chrome trace; viewers drop silently what breaks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Event = Mapping[str, Any]


def nanoseconds(microseconds: float) -> int:
    """Time as Perfetto has it."""
    return round(microseconds * 1000)


def problems(events: Sequence[Event]) -> list[str]:
    """All that is wrong: order, nesting of slices, ends of arrows."""
    return [*_order(events), *_nesting(events), *_arrows(events)]


def _order(events: Sequence[Event]) -> Iterator[str]:
    last: dict[Any, float] = {}
    for event in events:
        if event["ph"] == "M":
            continue
        lane = event["pid"], event["tid"]
        if event["ts"] < last.get(lane, 0.0):
            yield f"time goes back in {lane}: {event}"
        last[lane] = event["ts"]


def _nesting(events: Sequence[Event]) -> Iterator[str]:
    """In whole nanoseconds, ends first: B and E by name on a stack, X within what is open."""
    rank = {"E": 0, "X": 1, "B": 2}
    timed = [
        (nanoseconds(event["ts"]), rank[event["ph"]], index)
        for index, event in enumerate(events)
        if event["ph"] in rank
    ]
    stacks: dict[Any, list[tuple[str, int | None]]] = {}  # name, end; None: a B without its E yet
    for at, _, index in sorted(timed):
        event = events[index]
        stack = stacks.setdefault((event["pid"], event["tid"]), [])
        while stack and (end := stack[-1][1]) is not None and end <= at:
            stack.pop()
        if event["ph"] == "E":
            if not stack or stack[-1] != (event["name"], None):
                yield f"an end of nothing: {event}"
            else:
                stack.pop()
        elif event["ph"] == "B":
            stack.append((event["name"], None))
        else:
            end = at + nanoseconds(event["dur"])
            ends = [other for _, other in stack if other is not None]
            if ends and end > min(ends):
                yield f"a slice reaches out of the one around it: {event}"
            stack.append((event["name"], end))
    for lane, stack in stacks.items():
        for name, end in stack:
            if end is None:
                yield f"{name} of {lane} has no end"


def _arrows(events: Sequence[Event]) -> Iterator[str]:
    starts: dict[str, Event] = {}
    ended: set[str] = set()
    for index, event in enumerate(events):
        if event["ph"] not in ("s", "t"):
            continue
        name = event["id"]
        if not name.isdigit():
            yield f"an id that is no number: {event}"
        if not _inside(events, index):
            yield f"an arrow that ends in no slice: {event}"
        if event["ph"] == "s":
            if name in starts:
                yield f"two arrows with one id: {event}"
            starts[name] = event
        elif name not in starts or starts[name]["ts"] > event["ts"]:
            yield f"an arrow's end before its start: {event}"
        ended |= {name} if event["ph"] == "t" else set()
    yield from (f"an arrow without an end: {starts[name]}" for name in starts.keys() - ended)


def _inside(events: Sequence[Event], index: int) -> bool:
    """Whether a pair with the arrow's id is open around it."""
    arrow = events[index]
    key = arrow["pid"], arrow["tid"], arrow["id"]
    open_at: float | None = None
    for event in events[:index]:
        if (event["pid"], event.get("tid"), event.get("id")) == key and event["ph"] in "BE":
            open_at = event["ts"] if event["ph"] == "B" else None
    return open_at is not None and open_at <= arrow["ts"]
