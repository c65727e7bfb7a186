# SPDX-License-Identifier: Apache-2.0
"""Parts of the profile page that need no simulator: arrows and buffers."""

from __future__ import annotations

from typing import Any

from aclgrad.profiling.pages import buffers
from aclgrad.profiling.pages.arrows import arrows

LANES = [("core0", "MTE2"), ("core0", "VECTOR")]


def event(phase: str, lane: str, at: float, flag: str, name: str = "", detail: str = "") -> Any:
    return {
        "ph": phase, "pid": "core0", "tid": lane, "ts": at, "id": flag, "name": name,
        "args": {"detail": detail},
    }  # fmt: skip


def test_arrows_join_a_set_with_its_wait() -> None:
    events = [
        event("B", "MTE2", 1.0, "1", "SET_FLAG", "EnQue, inserted"),
        event("s", "MTE2", 1.0, "1", "flow"),
        event("B", "VECTOR", 0.5, "1", "WAIT_FLAG", "DeQue"),
        event("t", "VECTOR", 2.0, "1", "flow"),
        event("t", "VECTOR", 3.0, "9", "flow"),  # nobody set it
    ]
    assert arrows(events, LANES, 1000.0) == [(0, 1, 1000, 2000, "EnQue to DeQue")]
    assert arrows(events, LANES[:1], 1000.0) == []


def test_buffers_of_a_queue_are_numbered_and_short_uses_merged() -> None:
    core = {
        "pid": "core0",
        "bytes": 1000,
        "buffers": [["in_", 64, 32], ["in_", 96, 32], ["out_", 0, 64]],
        "uses": [[at % 2, at, at + 1.5] for at in range(100)] + [[2, 0.0, 1.0], [2, 99.0, 100.0]],
    }
    (all_of_it,) = buffers.over_time([core], 10.0, 200)
    assert [row[0] for row in all_of_it["rows"]] == ["out_", "in_ 1", "in_ 2"]
    assert all_of_it["uses"][:2] == [[1, 0, 15], [2, 10, 15]] and not all_of_it["merged"]
    (few,) = buffers.over_time([core], 10.0, 8)
    assert few["merged"] and len(few["uses"]) == 4
    shares = [(row["times"], row["share"]) for row in buffers.rows(all_of_it, 1000)]
    assert shares == [(2, 0.02), (50, 0.75), (50, 0.75)]
