# SPDX-License-Identifier: Apache-2.0
"""The site of the documentation: it builds without a warning, and what is dead ends the build."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from test_pages_in_browser import CHROMIUM, NARROW, Browser

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.many_processes,
    pytest.mark.skipif(
        importlib.util.find_spec("mkdocs") is None,
        reason="mkdocs is not installed: scripts/docs.sh",
    ),
]


def build(
    folder: Path, docs: Path, site: Path, nav: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Build ``docs`` into ``site`` by the checkout's mkdocs.yml, with another ``nav`` if given."""
    text = (ROOT / "mkdocs.yml").read_text()
    text = text.replace("scripts/docs_hooks.py", str(ROOT / "scripts/docs_hooks.py"))
    text = text.replace("paths: [python]", f"paths: [{ROOT / 'python'}]")
    text = text.replace("docs_dir: docs", f"docs_dir: {docs}")
    text = text.replace("site_dir: build/site", f"site_dir: {site}")
    config = folder / "mkdocs.yml"
    config.write_text(text if nav is None else text.partition("nav:\n")[0] + nav)
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config)]
    return subprocess.run(words, capture_output=True, text=True)


def cut_tables(pages: Iterable[Path]) -> list[str]:
    """Pages with a table that reaches beyond a narrow window, or that are wider than it."""
    far = (
        "[...document.querySelectorAll('article table')].map(t => t.getBoundingClientRect().right)"
    )
    found = []
    browser = Browser()
    try:
        for page in pages:
            browser.show(page, NARROW)
            widest = browser.tell(f"Math.max(document.documentElement.scrollWidth, ...{far})")
            found += [page.name] if widest > NARROW else []
    finally:
        browser.close()
    return found


def test_site_builds_and_no_table_is_cut(tmp_path: Path) -> None:
    """As scripts/docs.sh builds it, and no table is cut on a narrow screen."""
    site = tmp_path / "site"
    done = build(tmp_path, ROOT / "docs", site)
    assert done.returncode == 0, done.stderr
    assert "Your first kernel" in (site / "tutorial/first_kernel.html").read_text()
    assert "softmax_backward" in (site / "reference/python.html").read_text()
    assert "https://fonts" not in (site / "index.html").read_text()
    if CHROMIUM is not None:
        assert cut_tables(sorted(site.rglob("*.html"))) == []
        (site / "assets/tables.js").write_text("")
        assert cut_tables([site / "operators.html"]) == ["operators.html"]


def test_dead_links_end_a_build(tmp_path: Path) -> None:
    """A dead link, a dead anchor and a page too many are each named."""
    pages = tmp_path / "pages"
    (pages / "assets").mkdir(parents=True)
    (pages / "index.md").write_text("# Home\n\n[a](nowhere.md) [b](extra.md#nowhere)\n")
    (pages / "extra.md").write_text("# Extra\n")
    done = build(tmp_path, pages, tmp_path / "site", nav="nav: [index.md]\n")
    assert done.returncode != 0
    for words in ("nowhere.md", "#nowhere", "extra.md"):
        assert words in done.stderr, done.stderr
