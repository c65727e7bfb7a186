# SPDX-License-Identifier: Apache-2.0
"""scripts/release_check.py: the list of docs/release.md, and that each step can fail."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import release_check  # noqa: E402

FILES = ("pyproject.toml", "python/aclgrad/__init__.py", "CITATION.cff", "CHANGELOG.md")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_page_lists_the_steps() -> None:
    page = (ROOT / "docs" / "release.md").read_text()
    assert re.findall(r"^\| \d\. ([^|]+?) \|", page, re.M) == [
        title.replace("CHANGELOG.md", "`CHANGELOG.md`") for title in release_check.STEPS
    ]


def test_versions_agree(root: Path) -> None:
    assert not release_check.one_version(root)
    (root / "CITATION.cff").write_text("version: 9.9\n")
    assert "CITATION.cff: 9.9" in release_check.one_version(root)


def test_changelog(root: Path) -> None:
    version = release_check.versions(root)["pyproject.toml"]
    log = root / "CHANGELOG.md"
    log.write_text("# Changelog\n\n## Unreleased\n\n- new\n\n## 0.0.1 (2020-01-01)\n")
    assert "no heading" in release_check.changelog(root)
    log.write_text(f"# Changelog\n\n## Unreleased\n\n- new\n\n## {version} (2020-01-01)\n\n- old\n")
    assert "Unreleased" in release_check.changelog(root)
    log.write_text(f"# Changelog\n\n## Unreleased\n\n## {version} (2020-01-01)\n\n- old\n")
    assert not release_check.changelog(root)
