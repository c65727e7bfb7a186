# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/first_hour.md, from the first to the last, on a stand-in for a machine with
an NPU: each prints what the page says of it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aclgrad.profiling.calibration import board as boards
from cann_standin.machine import make_machine
from hidden_board import hide, library, missed

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "first_hour.md"
STEP = re.compile(r"^## (\d+)\. .*?\n```bash\n(.*?)^```\n(.*?)(?=^## )", re.M | re.S)
# Step 2 is what a run of these tests began with.
DONE_BEFORE = "2"
SOME = "smoke or seed_program or prints_the_golden or refused"

pytestmark = [
    pytest.mark.journey,
    pytest.mark.skipif(library() is None, reason="needs the build folder of a checkout"),
    pytest.mark.skipif(
        Path(sys.prefix) != ROOT / ".venv", reason="scripts/test.sh uses the checkout's .venv"
    ),
]


def told(text: str) -> list[str]:
    """What the page promises of a step that goes well."""
    return re.findall(r"`([^`]+)`", text.partition("Expected:")[2].partition("If not")[0])


def test_the_hour(tmp_path: Path) -> None:
    libraries = library()
    assert libraries is not None
    hidden = hide(2, tmp_path, libraries)
    own = {path.name: path for path in libraries.iterdir()}
    changed = {
        name: hidden.environment[name] for name in ("ACLGRAD_TESTS_HIDDEN_BOARD", "ACLGRAD_SOC")
    }
    modes = {"ACLGRAD_SIM_PROFILE": "on", "ACLGRAD_SIM_MODE": "fast"}
    set_env = make_machine(tmp_path / "cann", own, changed | modes)
    results = tmp_path / "results"
    results.mkdir()
    steps = STEP.findall(PAGE.read_text())
    assert [number for number, _, _ in steps] == [str(number) for number in range(1, 10)]
    lines = [f"cd '{ROOT}'", f"export PATH='{ROOT}/.venv/bin':$PATH"]
    for number, commands, _ in steps:
        body = commands.replace("<CANN>/set_env.sh", f"'{set_env}'")
        body = body.replace("board.json", f"{tmp_path}/board.json")
        body = body.replace("board.html", f"{tmp_path}/board.html")
        body = body.replace("build/msprof", f"{tmp_path}/msprof")
        if number != DONE_BEFORE:
            lines += ["{", "set -e", body.rstrip(), "set +e", f"}} >'{results}/{number}' 2>&1"]
    outside = ("ASCEND_", "ACLGRAD_CALIBRATION", "LD_LIBRARY_PATH")
    env = {name: value for name, value in os.environ.items() if not name.startswith(outside)}
    # More processes would collect the suite as often.
    options = f"-k '{SOME}' -p no:cacheprovider"
    env |= {"PYTEST_ADDOPTS": options, "PYTEST_XDIST_AUTO_NUM_WORKERS": "1", "COLUMNS": "160"}
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], env=env, capture_output=True, text=True, timeout=1500
    )
    last = max(results.iterdir(), key=lambda path: int(path.name))
    assert done.returncode == 0, f"step {last.name}: {last.read_text()}{done.stderr}"
    for number, _, text in steps:
        if number != DONE_BEFORE:
            assert told(text), f"step {number} promises nothing"
            got = (results / number).read_text()
            for phrase in told(text):
                assert phrase in got, f"step {number}: {phrase!r} is not in\n{got}"
    assert " failed" not in (results / "6").read_text()
    assert missed(hidden, boards.read(tmp_path / "board.json")) == []
