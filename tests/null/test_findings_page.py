# SPDX-License-Identifier: Apache-2.0
"""The page of findings: both ends of a race by their times, and a page that stays small."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from aclgrad.findings import Result, Run, from_json, merge, read_report
from aclgrad.findings.finding import Place, finding_from_json
from aclgrad.reporting import findings_page
from aclgrad.reporting.pictures.race_times import drawn

PLACE = {"pipe": "VECTOR", "instruction": "Div", "note": "reads", "file": "", "line": 0, "text": ""}
OTHER = PLACE | {"pipe": "MTE2", "instruction": "DataCopyPad", "note": "wrote"}
TIMELINE: dict[str, Any] = {
    "mhz": 1000,
    "begin": 0,
    "end": 1000,
    "lanes": [[0, "SCALAR"], [0, "MTE2"], [0, "VECTOR"], [0, "MTE3"]],
    "ends": [[2, 600, 700], [1, 100, 500]],
    "slices": [
        [1, 100, 500, 0, "DataCopyPad", "k.cpp:7", 1],
        [2, 0, 600, 1, "DeQue", "k.cpp:9", 1],
        [2, 600, 700, 0, "Div", "k.cpp:9", 3],
    ],
    "arrows": [[1, 2, 500, 600, "EnQue<b>"]],
}
RACE: Any = {
    "kind": "race-read-after-write", "severity": "error", "op": "Op", "core": 0, "blockDim": 2,
    "space": "UB", "buffer": "x", "begin": 0, "end": 64, "at": PLACE, "related": [OTHER],
    "detail": "nothing orders the two", "advice": "EnQue and DeQue", "soc": "Ascend910B2",
    "tiling": "", "tilingKey": 0, "count": 1, "text": "", "timeline": TIMELINE,
}  # fmt: skip


def page_of(*entries: Any) -> str:
    run = Run("case", "aclgrad check op", tuple(map(from_json, entries)))
    return findings_page.page(Result(tuple(merge([run])), 1), Path("/nowhere"))


def test_a_condition_is_said_once() -> None:
    run = Run("case", "aclgrad check op", (from_json(RACE),))
    assumed = {"soc": "Ascend910B2", "autosync": "on", "why": "the default of CANN"}
    text = findings_page.page(Result(tuple(merge([run])), 1, conditions=assumed), Path("/nowhere"))
    assert text.count("the default of CANN") == 1 and "<dd>on: the default of CANN</dd>" in text


def moved(**changed: Any) -> Any:
    entry = deepcopy(RACE)
    entry["timeline"] |= changed
    return entry


def test_ends_stand_where_the_model_has_them() -> None:
    shown = drawn(from_json(RACE))
    assert shown is not None
    ends = {bar.letter: bar for lane in shown.lanes for bar in lane.bars if bar.letter}
    assert [lane.name for lane in shown.lanes] == ["MTE2", "VECTOR"]  # nothing is on the others
    assert (ends["A"].left, ends["A"].width) == (60, 10)
    assert (ends["B"].left, ends["B"].width) == (10, 40)
    assert (shown.band.left, shown.band.width) == (50, 10)
    assert "A begins 0.10 us after the end of B, by luck" in shown.words
    assert [row.name for row in shown.rows] == ["DeQue waits", "B DataCopyPad", "A Div", "Div"]


def test_ends_at_the_same_time() -> None:
    shown = drawn(from_json(moved(ends=[[2, 400, 700], [1, 100, 500]])))
    assert shown is not None and shown.words.endswith("at the same time.")
    assert (shown.band.left, shown.band.width) == (40, 10)


def test_ends_on_one_pipe() -> None:
    shown = drawn(from_json(moved(ends=[[2, 600, 700], [2, 500, 600]])))
    assert shown is not None
    assert shown.words.endswith("but nothing makes A wait for the results of B.")


def test_times_come_from_another_process_too() -> None:
    found = from_json(RACE)
    sent = finding_from_json(json.loads(json.dumps(asdict(found))))
    assert sent == found and sent.timeline == found.timeline  # the first leaves the times out


def test_two_cores_are_told_apart() -> None:
    lanes = [[0, "MTE3"], [3, "MTE3"]]
    shown = drawn(from_json(moved(lanes=lanes, ends=[[0, 1, 2], [1, 1, 2]], slices=[], arrows=[])))
    assert shown is not None
    assert [lane.name for lane in shown.lanes] == ["core 0 MTE3", "core 3 MTE3"]


def test_the_page_draws_them_and_escapes_names() -> None:
    html = page_of(RACE)
    assert re.findall(r'class="bar end (\w)" style="left:([\d.]+)%', html) == [
        ("B", "10.0"),
        ("A", "60.0"),
    ]
    assert "EnQue&lt;b&gt;" in html and "EnQue<b>" not in html
    assert '<svg class="pipes"' not in html
    without = {name: value for name, value in RACE.items() if name != "timeline"}
    assert '<svg class="pipes"' in page_of(without) and "figure class" not in page_of(without)


@pytest.mark.parametrize(
    "changed", [{"mhz": 0}, {"ends": [[9, 1, 2], [1, 1, 2]]}, {"end": -1}, {"slices": [[1]]}]
)
def test_a_damaged_timeline_is_refused(changed: dict[str, Any], tmp_path: Path) -> None:

    file = tmp_path / "found.jsonl"
    file.write_text(json.dumps(moved(**changed)) + "\n")
    with pytest.raises(ValueError, match="want a finding as a line of JSON"):
        read_report(file)


def test_a_page_of_ten_thousand_findings_stays_small() -> None:
    """As many as the simulator keeps."""
    many = [RACE | {"op": f"Op{number}"} for number in range(10_000)]
    html = page_of(*many)
    assert len(html.encode()) < 3_000_000
    told = html.count("<article")
    assert told > 200 and f"<p>{10_000 - told:d} more, in short" in html
    assert len(set(re.findall(r'id="(finding-\d+)"', html))) == told + 4000
    assert f"and {10_000 - told - 4000} that are not on this page" in html
    assert "in short" not in page_of(RACE)


def test_one_source_is_shown_once(tmp_path: Path) -> None:
    """Both ends on one line, or on lines near each other; lines far apart are two sources."""
    path = tmp_path / "k.cpp"
    path.write_text("".join(f"line {number};\n" for number in range(1, 60)))

    def shown(first: int, second: int) -> list[tuple[str, list[int], list[int]]]:
        places = [
            Place("VECTOR", "Add", "", str(path), line, f"line {line};") for line in (first, second)
        ]
        return [
            (part.letters, [n for n, _, here in part.lines if here], [n for n, *_ in part.lines])
            for part in findings_page.excerpts(places, tmp_path)
        ]

    assert shown(20, 20) == [("A and B", [20], [*range(15, 26)])]
    assert shown(20, 24) == [("A and B", [20, 24], [*range(15, 30)])]
    assert [letters for letters, *_ in shown(10, 40)] == ["A", "B"]
    path.unlink()
    findings_page._lines.cache_clear()
    assert shown(20, 20) == [("A and B", [20], [20])]
    assert shown(20, 21) == [("A", [20], [20]), ("B", [21], [21])]
