# SPDX-License-Identifier: Apache-2.0
"""scripts/pictures.py: the finding that the README shows comes from the tutorial's steps."""

from __future__ import annotations

import re
import shutil
import struct
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

import pictures  # noqa: E402

pytestmark = pytest.mark.plants_faults


def size_of(picture: Path) -> tuple[int, int]:
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return width, height


def test_pictures_are_as_large_as_they_are_made() -> None:
    for name, picture in pictures.MADE.items():
        assert size_of(ROOT / "docs/pictures" / name) == (pictures.WIDTH, picture.height)


def test_page_of_the_finding(
    toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = pictures.finding(tmp_path)
    html = page.read_text("utf-8")
    readme = (ROOT / "README.md").read_text()
    (end, other) = re.findall(r"^  at (op_kernel/hard_swish.cpp:\d+)$", readme, re.M)
    assert re.findall(r'<span class="mono">(op_kernel/[^<]+)</span>', html)[:2] == [end, other]
    assert "at the same time." in html  # as the picture's words in the README have it
    if shutil.which("chromium") is None:
        pytest.skip("no chromium to show it in")
    # The browser does not start with a sanitizer in it.
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    picture = pictures.MADE["finding.png"]
    pictures.shoot(page, picture, tmp_path / "made.png")
    assert size_of(tmp_path / "made.png") == (pictures.WIDTH, picture.height)
    assert (tmp_path / "made.png").stat().st_size > 50_000  # no empty page
