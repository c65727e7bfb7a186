# SPDX-License-Identifier: Apache-2.0
"""The page of a campaign: maps that show which shapes are worse, in wide and in narrow windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aclgrad.campaign.results.page import heat_map, render
from test_pages_in_browser import CHROMIUM, NARROW, WIDE, Browser, nameless


def group() -> dict[str, Any]:
    """18 x 12 bins, of which one has a failure. Shares are near each other, as of large shapes."""
    bins = [
        {
            "last": last, "rest": rest, "worstUlp": (last + rest) / 10,
            "share": 0.9 + last / 1000, "cases": 3, "bad": int((last, rest) == (9, 4)),
        }
        for last in range(18) for rest in range(12) if last + rest < 22
    ]  # fmt: skip
    return {
        "operator": "softmax_grad", "dtype": "fp32", "bins": bins, "cases": 600, "passed": 599,
        "refused": 0, "bad": 1, "worstUlp": 2.1, "worstUlpShape": "8x8", "leastShare": 0.9,
        "leastShareShape": "1x1",
    }  # fmt: skip


def page() -> str:
    return render(
        {
            "title": "night", "bad": 1, "rows": 600, "cases": 600, "file": "night.toml",
            "store": "night", "version": "0", "retries": 0, "verdicts": {"pass": 599, "fail": 1},
            "groups": [group()], "causes": [], "moreCauses": 0,
        }
    )  # fmt: skip


def test_shades_span_what_a_map_has() -> None:
    found = heat_map(group(), "share")
    assert found is not None and found.columns[:3] == ("1", "2", "4")
    cells = [cell for _, line in found.lines for cell in line if cell is not None]
    assert {cell.text for cell in cells} >= {"90%", "91%", "92%"}
    assert (min(cell.heat for cell in cells), max(cell.heat for cell in cells)) == (0, 100)
    assert all(
        cell.heat == 100 for cell in cells if cell.text == "90%" and "last dim 1," in cell.told
    )
    ulps = heat_map(group(), "ulp")
    assert ulps is not None
    (failed,) = [cell for _, line in ulps.lines for cell in line if cell is not None and cell.bad]
    assert failed.told == "last dim 512 to 1023, others 16 to 31: 1.30 ULP, 3 cases, 1 failed"
    assert heat_map({**group(), "bins": []}, "ulp") is None


def test_a_field_has_its_figure_and_says_what_it_is() -> None:
    text = page()
    assert text.count('<td class="fail"') == 2 and ">90%</td>" in text
    assert "so 100% is the best share" in text and "1 case failed" in text


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_maps_fit(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page())
    browser = Browser()
    try:
        for width in (WIDE, NARROW):
            browser.show(file, width)
            assert not nameless(browser.tree())
            assert browser.tell("document.documentElement.scrollWidth") <= width
        colours = browser.tell(
            "[...document.querySelectorAll('table.map td[title]')]"
            ".map(cell => getComputedStyle(cell).backgroundColor)"
        )
        assert len(set(colours)) > 10
    finally:
        browser.close()
