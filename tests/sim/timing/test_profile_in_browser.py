# SPDX-License-Identifier: Apache-2.0
"""The profile page as a browser has it: keys reach the timeline and tell what a pointer would."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from test_pages_in_browser import CHROMIUM, CLASHES, NARROW, WIDE, Browser, nameless

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
MOST_BYTES = 3_000_000


@pytest.fixture(scope="module")
def page(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("profile") / "page.html"
    cores = ",".join(map(str, range(48)))
    words = ["softmax_grad", "2048x4096", "--cores", cores, "--compare", "dtype=fp16"]
    command = [sys.executable, "-m", "aclgrad", "profile", *words, "--html", str(made)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return made


@pytest.fixture
def browser() -> Iterator[Browser]:
    made = Browser()
    yield made
    made.close()


def test_everything_has_a_name_and_fits(page: Path, browser: Browser) -> None:
    """Of all cores, twice: as large as pages get."""
    assert page.stat().st_size < MOST_BYTES
    for width in (WIDE, NARROW):
        browser.show(page, width)
        browser.tell("for (const each of document.querySelectorAll('details')) each.open = true")
        assert not nameless(browser.tree())
        assert browser.tell(CLASHES) == []
        assert browser.tell("document.documentElement.scrollWidth") <= width


def test_plots_of_a_row_of_shapes(toolkit: Path, browser: Browser, tmp_path: Path) -> None:
    """Their labels keep apart, from tiny shapes on and of a single one."""
    for number, shapes in enumerate(("1x8..1024", "1x1", "64x64..65536")):
        page = tmp_path / f"{number}.html"
        words = ["log_sigmoid_grad", "--sweep", shapes, "--html", str(page)]
        subprocess.run([sys.executable, "-m", "aclgrad", "profile", *words], check=True)
        for width in (WIDE, NARROW):
            browser.show(page, width)
            assert browser.tell("document.querySelectorAll('svg.plot circle').length") >= 3
            assert browser.tell(CLASHES) == []


def test_keys_walk_the_timeline(page: Path, browser: Browser) -> None:
    browser.show(page, WIDE)
    for _ in range(40):
        browser.press("Tab")
        if browser.tell("document.activeElement.tagName") == "CANVAS":
            break
    assert browser.tell("document.activeElement.tagName") == "CANVAS"
    told = "document.getElementById('tip').innerText"
    browser.press("ArrowDown")
    first = browser.tell(told)
    assert first.startswith("core") and " cycles, " in first
    browser.press(".")
    second = browser.tell(told)
    assert second != first and second.splitlines()[0] == first.splitlines()[0]
    browser.press("ArrowDown")
    assert browser.tell(told).splitlines()[0] != first.splitlines()[0]
    browser.press("Escape")
    assert browser.tell("document.getElementById('tip').style.display") == "none"
