# SPDX-License-Identifier: Apache-2.0
"""Plots: what each mark tells, that their bytes are the same each time, who loads the library."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from aclgrad.reporting import history
from aclgrad.reporting.html import environment
from aclgrad.reporting.pictures import charts, scatter
from aclgrad.testing.picture import Cell
from test_pages_in_browser import CHROMIUM, CLASHES, NARROW, WIDE, Browser
from test_picture import drawn


def runs(failed: list[int]) -> str:
    return history.svg([{"finished": "now", "cases": 200, "failed": each} for each in failed])


def test_each_mark_tells_of_itself() -> None:
    root = ElementTree.fromstring(runs([0, 3, 133]))
    assert root.get("role") == "img" and root.get("aria-label")
    told = [group.findtext("title") for group in root.iter("g") if group.find("rect") is not None]
    assert len([text for text in told if text]) >= 3


def test_nothing_but_marks_and_texts_is_left() -> None:
    """Colours are the page's, so that they turn dark with it; no number has needless digits."""
    for svg in (runs([0, 3, 133]), runs([5])):
        assert not {"script", "style", "defs", "desc"} & {
            each.tag for each in ElementTree.fromstring(svg).iter()
        }
        for word in (" id=", "#", "http", "pygal", "<!--"):
            assert word not in svg
        assert max(len(part.split('"')[0]) for part in svg.split('="')) < 80


def test_the_same_bytes_each_time_from_any_thread() -> None:
    with ThreadPoolExecutor(4) as pool:
        assert len({*pool.map(lambda _: runs([1, 9] * 25), range(8)), runs([1, 9] * 25)}) == 1


def test_scatter_of_the_largest_and_of_equal_values() -> None:
    for got, want in (("-3e38", "3e38"), ("1", "1"), ("0", "0")):
        cells = {"0": Cell((0, 0), got, want, "1", 1)}
        svg = scatter.svg(dataclasses.replace(drawn(np.s_[0]), cells=cells), "plot")
        assert "nan" not in svg and "inf" not in svg
        assert svg.count("<circle") == 1


def test_ticks_have_room() -> None:
    assert charts.decades(0.03, 4) == [0.05, 0.1, 0.2, 0.5, 1, 2]
    assert charts.decades(0.3, 3000) == [1, 10, 100, 1000]
    assert charts.decades(1e-9, 1e9) == [1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9]


def test_who_draws_nothing_loads_nothing() -> None:
    script = (
        "import sys, aclgrad.reporting.report, aclgrad.profiling.pages.page, aclgrad.cli as cli\n"
    )
    script += "print([name for name in sys.modules if 'pygal' in name])"
    assert subprocess.check_output([sys.executable, "-c", script]) == b"[]\n"


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_labels_keep_apart(tmp_path: Path) -> None:
    style = "".join(
        environment().get_template(f"{name}.css.j2").render() for name in ("base", "plots")
    )
    page = tmp_path / "page.html"
    plots = (runs([1, 9] * 25), runs([10, 133] * 25), runs([3]))
    page.write_text(f"<style>{style}</style>{''.join(plots)}")
    browser = Browser()
    try:
        for width in (WIDE, NARROW):
            browser.show(page, width)
            assert browser.tell("document.querySelectorAll('svg.plot').length") == len(plots)
            assert browser.tell(CLASHES) == []
    finally:
        browser.close()
