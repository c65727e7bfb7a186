# SPDX-License-Identifier: Apache-2.0
"""All of tests/sim on instrumented builds. The nightly campaign names sanitizer and part, of
which it runs several at a time.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import tiers

SANITIZER, PART = "ACLGRAD_TESTS_SANITIZER", "ACLGRAD_TESTS_PART"
PARTS = 24
ROOT = Path(__file__).resolve().parents[3]
_OWN = Path(__file__).resolve().relative_to(ROOT)


def files() -> list[str]:
    """Files of tests/sim, but for the journeys, which build their operators themselves."""
    found = (path for path in sorted((ROOT / "tests/sim").rglob("test_*.py")))
    ordinary = (path.relative_to(ROOT) for path in found if tiers.belongs(path, "ordinary"))
    return [str(path) for path in ordinary if path != _OWN]


def part(number: int) -> list[str]:
    """Every 24th file; each file is in one part."""
    return files()[number - 1 :: PARTS]


def test_each_file_is_in_one_part() -> None:
    """The plan of the nightly campaign has all parts."""
    assert sorted(name for one in range(PARTS) for name in part(one + 1)) == files()
    plan = (ROOT / "campaigns/nightly.toml").read_text(encoding="utf-8")
    assert f"{PART} = [{', '.join(str(one + 1) for one in range(PARTS))}]" in plan


@pytest.mark.skipif(PART not in os.environ, reason="the nightly campaign sets the part")
def test_part() -> None:
    environment = {name: text for name, text in os.environ.items() if name not in (SANITIZER, PART)}
    # Parts run beside one another.
    environment["PYTEST_XDIST_AUTO_NUM_WORKERS"] = "1"
    words = ["--sanitize", os.environ[SANITIZER], "-q", *part(int(os.environ[PART]))]
    done = subprocess.run(
        [ROOT / "scripts/test.sh", *words],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, f"scripts/test.sh {' '.join(words)}\n{done.stdout[-8000:]}"
