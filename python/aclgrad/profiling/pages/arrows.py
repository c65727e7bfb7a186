# SPDX-License-Identifier: Apache-2.0
"""Flags and queues of a trace as arrows: who has told whom, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MOST = 4000
"""Arrows of a timeline: about 100 KB. Of more, the page has none."""

Event = Mapping[str, Any]


def arrows(
    events: Sequence[Event], lanes: Sequence[tuple[str, str]], mhz: float
) -> list[tuple[int, int, int, int, str]]:
    """From lane, to lane, cycles of the set and of the end of the wait, and both names."""
    number = {lane: at for at, lane in enumerate(lanes)}
    names: dict[tuple[str, str], dict[str, str]] = {}
    starts: dict[tuple[str, str], Event] = {}
    found = []
    for event in events:
        if event["ph"] == "B":
            ends = names.setdefault((event["pid"], event["id"]), {})
            ends[event["name"]] = str(event["args"]["detail"]).partition(",")[0]
        elif event["ph"] == "s":
            starts[event["pid"], event["id"]] = event
        elif event["ph"] == "t":
            key = event["pid"], event["id"]
            begin = starts.pop(key, None)
            if begin is None:
                continue
            of = [(each["pid"], each["tid"]) for each in (begin, event)]
            if not all(lane in number for lane in of) or of[0] == of[1]:
                continue
            told = names.get(key, {})
            words = " to ".join(told[name] for name in ("SET_FLAG", "WAIT_FLAG") if told.get(name))
            times = [round(each["ts"] * mhz) for each in (begin, event)]
            found.append((number[of[0]], number[of[1]], times[0], times[1], words))
    return found if len(found) <= MOST else []
