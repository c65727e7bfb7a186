# SPDX-License-Identifier: Apache-2.0
"""The project's own CI: lanes of the workflow are those of .ci/run, and owners own something."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_lanes_of_the_workflow_are_those_of_the_script() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    job = workflow["jobs"]["lane"]
    script = (ROOT / ".ci/run").read_text()
    (known,) = re.findall(r"^  all \| (.*?)\) ;;$", script, re.M)
    assert job["strategy"]["matrix"]["lane"] == known.split(" | ")
    assert any(step.get("run") == ".ci/run ${{ matrix.lane }}" for step in job["steps"])
    assert all("@" in step["uses"] for step in job["steps"] if "uses" in step)


def test_an_unknown_lane_is_refused_before_anything_is_installed() -> None:
    done = subprocess.run([ROOT / ".ci/run", "lnt"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "got lnt, want lint, simulator" in done.stderr


def test_owners_own_something() -> None:
    for line in (ROOT / ".github/CODEOWNERS").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, owner = line.split()
            assert owner.startswith("@") and (pattern == "*" or [*ROOT.glob(pattern.strip("/"))]), (
                line
            )
