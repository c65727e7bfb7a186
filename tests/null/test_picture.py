# SPDX-License-Identifier: Apache-2.0
"""Pictures of wrong results: they mark what was planted, and nothing else."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import numpy as np
import pytest

from aclgrad.golden.precision import measure
from aclgrad.ops import find
from aclgrad.reporting import history, html, report
from aclgrad.reporting.conditions import Conditions
from aclgrad.reporting.groups import groups_of
from aclgrad.reporting.pictures import picture_svg, picture_text
from aclgrad.testing.picture import Picture, draw, from_json
from aclgrad.testing.run import Outcome
from aclgrad.testing.writers import Writers
from test_report import parsed

HERE = Conditions("sim", "Ascend910B2", "checked", finished="2026-01-02 03:04 UTC")
SHAPE = (32, 96)
CORES = np.repeat(np.arange(4, dtype=np.int32), 8 * 96)
TILES = np.arange(32 * 96, dtype=np.int64) // 192  # two rows each
WRITERS = Writers(CORES, TILES)


def drawn(
    plant: Any,
    shape: tuple[int, ...] = SHAPE,
    writers: Writers | None = WRITERS,
    **given: object,
) -> Picture:
    """A result that is right but where `plant` is."""
    golden = np.linspace(1.0, 2.0, int(np.prod(shape))).reshape(shape)
    result = golden.astype(np.float32)
    result[plant] += 3.0
    picture = draw(measure(result, golden), result, None, writers)
    assert picture is not None
    return picture


@pytest.mark.parametrize(
    ("plant", "where"),
    [
        (np.s_[:], "every element"),
        (np.s_[:, -5:], "the last 5 lanes of each row"),
        (np.s_[:, :2], "the first 2 lanes of each row"),
        (np.s_[:, 3:96:8], "every 8th column of each row, from 3 on"),
        (np.s_[8:16], "all of core 1 of 4 cores"),
        (np.s_[24:], "all of core 3, the last of 4 cores"),
        (np.s_[10:12], "one tile (what one copy writes), of core 1"),
        (np.s_[np.r_[6:8, 14:16, 22:24, 30:32]], "the last tile of each core"),
        (np.s_[5, 7], "one element"),
        (np.s_[17], "row 17"),
        (np.s_[17, 20:31], "row 17, columns 20 to 30"),
    ],
)
def test_pattern_is_named_and_the_picture_marks_exactly_that(plant: Any, where: str) -> None:
    picture = drawn(plant)
    assert picture.where == where
    marks = np.array([list(row) for row in picture.marks])
    assert (picture.row_bin, picture.column_bin) == (1, 2)
    planted = np.zeros(SHAPE, bool)
    planted[plant] = True
    wanted = planted.reshape(32, 48, 2).any(axis=2)
    assert ((marks >= "c") == wanted).all()
    assert len(picture.cells) == wanted.sum() and picture.wrong == planted.sum()
    assert sum(cell.wrong for cell in picture.cells.values()) == planted.sum()
    assert from_json(json.loads(json.dumps(dataclasses.asdict(picture)))) == picture


def test_borders_are_where_cores_and_tiles_change() -> None:
    picture = drawn(np.s_[0, 0])
    assert picture.core_lines == tuple((0, row, 96, row) for row in (8, 16, 24))
    assert picture.tile_lines == tuple((0, row, 96, row) for row in range(2, 32, 2))
    text = picture_svg.svg(picture, 0)
    assert text.count('class="line-core"') == text.count('class="line-tile"') == 1
    assert 'role="img"' in text and 'tabindex="0"' in text and "Where it is wrong: one" in text


def test_nan_and_unwritten_are_told_apart() -> None:
    golden = np.ones(SHAPE)
    result = golden.astype(np.float32)
    result[3], result[9] = np.nan, np.nan
    result.view(np.uint32)[9] = 0xFFFFFFFF
    cores = CORES.reshape(SHAPE).copy()
    cores[9] = -1
    picture = draw(measure(result, golden), result, None, Writers(cores.ravel(), TILES))
    assert picture is not None
    assert set(picture.marks[3]) == {"n"} and set(picture.marks[9]) == {"u"}
    # The same bits, written by a core, are a NaN.
    picture = draw(measure(result, golden), result, None, WRITERS)
    assert picture is not None and set(picture.marks[9]) == {"n"}


def test_a_long_row_is_folded_by_its_copies() -> None:
    flat = Writers(np.zeros(4096, np.int32), np.arange(4096, dtype=np.int64) // 128)
    picture = drawn(np.s_[256:384], (4096,), flat)
    assert picture.folded and picture.columns == 128 and picture.where.startswith("one tile")
    assert [set(row) for row in picture.marks[1:4]] == [{"a"}, {"e"}, {"a"}]
    assert drawn(np.s_[5], (4096,), None).columns == 64


def test_large_results_show_the_worst_of_a_bin() -> None:
    picture = drawn(np.s_[1000, 900], (2048, 1024), None)
    assert picture.size == (40, 64) and len(picture.cells) == 1
    (cell,) = picture.cells.values()
    assert cell.index == (1000, 900) and cell.wrong == 1


def test_text_has_sixteen_lines_at_most_and_names_the_cores() -> None:
    for plant in (np.s_[:], np.s_[8:16], np.s_[:, -5:]):
        lines = picture_text.lines(drawn(plant))
        assert len(lines) <= 16 and max(map(len, lines)) <= 100
        assert all(line.isascii() for line in lines)
    lines = picture_text.lines(drawn(np.s_[8:16]))
    marked = [line for line in lines if "#" * 48 in line]
    assert [line.split()[-1] for line in marked] == ["1", "1"]


def outcomes(count: int, plant: Any = np.s_[:, -5:]) -> list[Outcome]:
    spec = find("softmax_grad")
    cases = list(spec.cases(spec, True))[:count]
    golden = np.ones(SHAPE)
    result = golden.astype(np.float32)
    result[plant] += 1e4
    measured = measure(result, golden)
    from aclgrad.golden.precision import judge

    judged, picture = judge(measured), draw(measured, result, None, WRITERS)
    return [Outcome(case, False, str(judged), 0.1, judged, picture=picture) for case in cases]


def test_a_page_of_ten_thousand_failures_stays_below_3_mb() -> None:
    """With as many pictures as there may be, each as large as it gets."""
    random = np.random.default_rng(0)
    (like,) = outcomes(1)
    golden = random.standard_normal((512, 512))
    result = golden.astype(np.float32)
    result[random.random(golden.shape) < 0.03] *= 1e4
    result[::13, ::7] = np.nan
    picture = draw(measure(result, golden), result, None, None)
    assert picture is not None
    causes = [dataclasses.replace(picture, cause=f"cause {at}") for at in range(20)]
    items = [dataclasses.replace(like, picture=causes[at % 20]) for at in range(10_000)]
    text = html.page(items, HERE)
    assert text.count('<svg class="where"') == 8
    assert 2_000_000 < len(text.encode()) < 3_000_000
    assert "The worst 4000; all are in the report as JSON" in text


def test_failures_of_one_cause_are_one_box_with_one_command(tmp_path: object) -> None:
    items = [*outcomes(30), *outcomes(3, np.s_[8:16])]
    groups = groups_of(items)
    assert [len(group.outcomes) for group in groups] == [30, 3]
    text = html.page(items, HERE)
    parsed(text)
    failures = text[text.index('id="failures"') : text.index('id="summary"')]
    assert failures.count('class="failure"') == failures.count('class="command"') == 2
    assert failures.count('<svg class="where"') == failures.count("got against want") == 2
    assert failures.count("30 cases") == 2 and "the last 5 lanes of each row" in failures
    (pictures,) = re.findall(r'id="pictures">(.*?)</script>', text)
    data = json.loads(pictures)
    assert len(data) == 2 and data[0]["cells"]
    assert report.as_json(items, HERE)["causes"][1]["where"] == "all of core 1 of 4 cores"


def test_history_keeps_fifty_runs_and_shows_those_alike(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    items = outcomes(2)
    (folder / history.FILE).write_text("no JSON")
    report.write_formats(folder, ("html",), items, HERE)
    assert 'id="history"' not in (folder / "precision.html").read_text()
    other = dataclasses.replace(HERE, soc="Ascend310P3")
    report.write_formats(folder, ("html",), items, other)
    assert 'id="history"' not in (folder / "precision.html").read_text()
    report.write_formats(folder, ("html",), items[:1], HERE)
    text = (folder / "precision.html").read_text()
    parsed(text)
    assert 'id="history"' in text and "failed: 2, 1" in text
    runs = history.read(folder) * 30
    (folder / history.FILE).write_text(json.dumps(runs))
    report.write_formats(folder, ("json",), items, HERE)
    assert len(json.loads((folder / history.FILE).read_text())) == history.KEPT
