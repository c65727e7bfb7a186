# SPDX-License-Identifier: Apache-2.0
"""The documentation as a whole: every page is in the site, derived pages are up to date, and the
pages in Chinese say what the English ones say.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from aclgrad.findings import KINDS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAIRS = sorted(
    (path.with_name(path.name.replace(".zh.md", ".md")), path)
    for path in [*DOCS.rglob("*.zh.md"), ROOT / "README.zh.md"]
)
FENCE = re.compile(r"^```[^\n]*\n.*?^```$", re.M | re.S)


def script(name: str) -> ModuleType:
    """A module of scripts/."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        found = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
        assert found is not None and found.loader is not None
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)


def test_derived_pages_are_up_to_date() -> None:
    """What `scripts/reference.py` would write is what is there, but for the breaking of lines. The
    help of commands is typer's, in the words of the version that is locked.
    """
    reference = script("reference")
    assert reference.address.citation() == (ROOT / "CITATION.cff").read_text()
    locked = re.findall(r"^typer==(\S+)", (ROOT / "requirements/locked.txt").read_text(), re.M)
    for name, made in reference.PAGES.items():
        if name == "commands.md" and importlib.metadata.version("typer") not in locked:
            continue
        kept = (DOCS / "reference" / name).read_text()
        assert kept.split() == made().split(), f"{name}: run scripts/reference.py"


def test_pictures_are_made_by_a_script_and_shown() -> None:
    made = set(
        re.findall(r'^    "([\w.]+)": Picture\(', (ROOT / "scripts/pictures.py").read_text(), re.M)
    )
    assert {path.name for path in (DOCS / "pictures").glob("*.png")} == made
    pages = "".join(path.read_text() for path in [ROOT / "README.md", *DOCS.rglob("*.md")])
    assert made == set(re.findall(r"!\[[^\]]+\]\([./\w]*pictures/([\w.]+png)\)", pages))


def test_docs_script_finds_the_maker_of_derived_pages() -> None:
    (line,) = re.findall(
        r'^"\$venv/bin/python" (.*reference\.py)$', (ROOT / "scripts/docs.sh").read_text(), re.M
    )
    words = [sys.executable, *line.split(), "--help"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_page_is_in_the_site() -> None:
    listed = set(re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M))
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    assert listed == {page for page in pages if not page.endswith(".zh.md")}
    index = (DOCS / "index.md").read_text()
    linked = set(re.findall(r"\]\(([\w/-]+\.md)", index))
    assert listed - {"index.md"} == linked, "docs/index.md links every page"


def shape(text: str) -> dict[str, list[str]]:
    """What a translation keeps: levels of headings, blocks, rows of tables, targets of links."""
    prose = FENCE.sub("", text)
    return {
        "headings": re.findall(r"^(#+) ", prose, re.M),
        "blocks": FENCE.findall(text),
        "tables": [str(line.count("|")) for line in prose.splitlines() if line.startswith("|")],
        "links": sorted(
            link.replace(".zh.md", ".md") for link in re.findall(r"\]\(([^)#]*)", prose)
        ),
    }


def differences(english: str, chinese: str) -> list[str]:
    """What of one page the other has not."""
    one, other = shape(english), shape(chinese)
    return [kind for kind in one if one[kind] != other[kind]]


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=lambda path: path.name)
def test_chinese_is_in_step(english: Path, chinese: Path) -> None:
    text = chinese.read_text()
    assert not differences(english.read_text(), text), f"{chinese.name}: not as {english.name}"
    words = re.sub(r"[`|#*\[\]()\s]|https?:\S+", "", FENCE.sub("", text))
    assert len(re.findall(r"[\u4e00-\u9fff]", words)) > len(words) / 5, "that is not Chinese"


def test_every_kind_of_finding_has_a_line_in_chinese() -> None:
    """The same kinds in the same order; test_chinese_is_in_step counts rows alone."""
    pages = (DOCS / "reference/kinds.md", DOCS / "reference/kinds.zh.md")
    english, chinese = (re.findall(r"^\| `([^`]+)` \|", page.read_text(), re.M) for page in pages)
    assert english == chinese == [*KINDS]


def test_a_difference_is_seen() -> None:
    page = "# A\n\n```\nrun this\n```\n\n| a | b |\n|---|---|\n\n[x](y.md)\n"
    assert not differences(page, page.replace("# A", "# 甲"))
    assert differences(page, page.replace("run this", "run that")) == ["blocks"]
    assert differences(page, page.replace("# A", "## A")) == ["headings"]
    assert differences(page, page.replace("|---|---|", "|---|---|\n| 1 | 2 |")) == ["tables"]
    assert differences(page, page.replace("y.md", "z.md")) == ["links"]
