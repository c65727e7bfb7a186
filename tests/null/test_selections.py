# SPDX-License-Identifier: Apache-2.0
"""The tiers of scripts/test.sh, by the marks of the files of tests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tiers

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tests").rglob("test_*.py"))


def of(tier: str) -> set[str]:
    """The files of a tier."""
    return {path.relative_to(ROOT).as_posix() for path in FILES if tiers.belongs(path, tier)}


def test_each_tier_has_its_files() -> None:
    every = of("all")
    assert len(every) == len(FILES)
    assert of("ordinary") | of("journeys") == every and not of("ordinary") & of("journeys")
    assert of("quick") < of("ordinary") and of("sanitized") < of("ordinary")
    assert len(of("journeys")) > 20 and len(of("quick")) > 50 and len(of("sanitized")) > 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pytestmark = pytest.mark.quick\n\npytest.mark.journey\n", {"quick"}),
        ("pytestmark = [\n    pytest.mark.skipif(x),\n    pytest.mark.journey,\n]\n", {"journey"}),
        ("# pytestmark = pytest.mark.journey\n", set()),
        ("", set()),
    ],
)  # fmt: skip
def test_marks_are_read(text: str, found: set[str], tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(text)
    assert tiers.marks(path) == found


def test_pytest_leaves_out_what_does_not_belong() -> None:
    folders = ["tests/sim/instructions", "tests/sim/projects"]
    words = [*folders, "--collect-only", "-q", "--tier", "quick"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert "test_basics.py" in done.stdout, done.stderr
    assert "test_cores.py" not in done.stdout
    assert "_golden.py" not in done.stdout  # whose operators would be built


CLOCK = re.compile(r"^\s+assert [^\n]*(time\.\w+\(\)|\bseconds\b)[^\n]* <", re.MULTILINE)


def test_nothing_asserts_that_something_is_fast() -> None:
    """A busy machine is ten times slower; what does not end is ended, see conftest.py."""
    others = [path for path in FILES if path != Path(__file__)]
    assert [path.name for path in others if CLOCK.search(path.read_text("utf-8"))] == []
    assert CLOCK.search("    assert time.monotonic() - begin < 3")
    assert CLOCK.search("    assert seconds < 1")
    assert not CLOCK.search("    assert time.monotonic() - start >= 0.2")


def test_script_has_the_tiers() -> None:
    script = (ROOT / "scripts" / "test.sh").read_text()
    for tier in ("quick", "ordinary", "sanitized"):
        assert f"--tier {tier}" in script
    assert "--tier journeys" in (ROOT / ".ci" / "run").read_text()
    done = subprocess.run(
        ["bash", ROOT / "scripts" / "test.sh", "--help"], capture_output=True, text=True, check=True
    )
    assert "--quick" in done.stdout and "--all" in done.stdout


def test_ci_leaves_nothing_out() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    (whole,) = re.findall(r"^  all\)\n(.*?)^    ;;\n", script, re.DOTALL | re.MULTILINE)
    assert "ACLGRAD_WERROR=1 scripts/test.sh --all --torch " in whole
