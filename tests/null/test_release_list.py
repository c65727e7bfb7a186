# SPDX-License-Identifier: Apache-2.0
"""scripts/release_check.py: the list of docs/release.md, and that each step can fail."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import address  # noqa: E402
import docs_hooks  # noqa: E402
import release_check  # noqa: E402

FILES = (
    "pyproject.toml",
    "python/aclgrad/__init__.py",
    "CITATION.cff",
    "CHANGELOG.md",
)


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


def without_address(root: Path) -> Path:
    """A tree's pyproject.toml, whether or not it has an address today."""
    project = root / "pyproject.toml"
    project.write_text(re.sub(r"\[project\.urls\]\n(?:.+\n)*", "", project.read_text()))
    return project


def test_a_tree_without_an_address_says_what_to_set(root: Path) -> None:
    without_address(root)
    assert not address.repository(root)
    problem = release_check.one_address(root)
    assert problem.startswith("there is none. Next: Repository = ") and "[project.urls]" in problem
    assert "repository-code" not in address.citation(root)


def test_the_address_is_one_setting(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CITATION.cff is derived from pyproject.toml, and so is the site's head."""
    project = without_address(root)
    project.write_text(
        f'{project.read_text()}\n[project.urls]\nRepository = "https://x.example/a/b/"\n'
    )
    assert "CITATION.cff does not name https://x.example/a/b." in release_check.one_address(root)
    (root / "CITATION.cff").write_text(address.citation(root))
    assert "\nrepository-code: https://x.example/a/b\n" in (root / "CITATION.cff").read_text()
    assert not release_check.one_address(root) and address.citation(root).count("x.example") == 1

    config = SimpleNamespace(repo_url=None, repo_name=None)
    monkeypatch.setattr(address, "repository", partial(address.repository, root))
    docs_hooks.on_config(config)
    assert (config.repo_url, config.repo_name) == ("https://x.example/a/b", "a/b")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="tutorial/x.md"))
    linked = docs_hooks.on_page_markdown("[y](../../op_host/y.h)", page=page, config=config)
    assert linked == "[y](https://x.example/a/b/blob/main/op_host/y.h)"

    project.write_text(project.read_text().replace("https://x.example/a/b/", "somewhere"))
    monkeypatch.undo()
    assert "got 'somewhere', want https://" in release_check.one_address(root)


def test_changelog(root: Path) -> None:
    version = release_check.versions(root)["pyproject.toml"]
    log = root / "CHANGELOG.md"
    log.write_text("# Changelog\n\n## Unreleased\n\n- new\n\n## 0.0.1 (2020-01-01)\n")
    assert "no heading" in release_check.changelog(root)
    log.write_text(f"# Changelog\n\n## Unreleased\n\n- new\n\n## {version} (2020-01-01)\n\n- old\n")
    assert "Unreleased" in release_check.changelog(root)
    log.write_text(f"# Changelog\n\n## Unreleased\n\n## {version} (2020-01-01)\n\n- old\n")
    assert "CITATION.cff" in release_check.changelog(root)
    (root / "CITATION.cff").write_text(f"version: {version}\ndate-released: 2020-01-01\n")
    assert not release_check.changelog(root)


def test_the_walk_goes_on_and_leaves_the_long_steps_for_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = []

    def step(name: str, problem: str = "") -> Callable[[], str]:
        def walk() -> str:
            tried.append(name)
            return problem

        return walk

    long = step("long")
    steps = {"a": step("a", "not yet"), "b": step("b"), "c": long}
    monkeypatch.setattr(release_check, "STEPS", steps)
    monkeypatch.setattr(release_check, "LONG", (long,))
    monkeypatch.setattr(sys, "argv", ["release_check"])
    with pytest.raises(SystemExit, match="not done: 1"):
        release_check.main()
    assert tried == ["a", "b"]
    assert capsys.readouterr().out == "1. a: not yet\n2. b: yes\n3. c: not tried\n"
    monkeypatch.setattr(sys, "argv", ["release_check", "--step", "3"])
    release_check.main()
    assert tried == ["a", "b", "long"]
