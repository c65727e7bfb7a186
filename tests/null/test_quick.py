# SPDX-License-Identifier: Apache-2.0
"""tests/quick.txt, the list of scripts/test.sh --quick."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_names_what_exists() -> None:
    lines = (ROOT / "tests" / "quick.txt").read_text().splitlines()
    paths = [line for line in lines if line and not line.startswith("#")]
    assert "tests/null" in paths
    for path in paths:
        assert (ROOT / path.removeprefix("--ignore=")).exists(), f"tests/quick.txt: no {path}"


def test_script_reads_it() -> None:
    script = (ROOT / "scripts" / "test.sh").read_text()
    assert "tests/quick.txt" in script
    done = subprocess.run(
        ["bash", ROOT / "scripts" / "test.sh", "--help"], capture_output=True, text=True, check=True
    )
    assert "--quick" in done.stdout
