# SPDX-License-Identifier: Apache-2.0
"""tests/quick.txt and tests/journeys.txt, the lists of scripts/test.sh."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def listed(name: str) -> list[str]:
    """The lines of a list that name something."""
    lines = (ROOT / "tests" / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", ["quick.txt", "journeys.txt"])
def test_names_what_exists(name: str) -> None:
    paths = listed(name)
    assert len(paths) == len(set(paths)) > 5
    for path in paths:
        assert (ROOT / path.removeprefix("--ignore=")).exists(), f"tests/{name}: no {path}"


def test_script_reads_them() -> None:
    script = (ROOT / "scripts" / "test.sh").read_text()
    assert "quick.txt" in script and "journeys.txt" in script
    done = subprocess.run(
        ["bash", ROOT / "scripts" / "test.sh", "--help"], capture_output=True, text=True, check=True
    )
    assert "--quick" in done.stdout and "--all" in done.stdout


def test_ci_leaves_nothing_out() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    (whole,) = re.findall(r"^  all\)\n(.*?)^    ;;\n", script, re.DOTALL | re.MULTILINE)
    assert "ACLGRAD_WERROR=1 scripts/test.sh --all --torch " in whole
