# SPDX-License-Identifier: Apache-2.0
"""`aclgrad exec`: the program's exit status, unless the simulator has found errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ERROR = json.dumps({"kind": "flag-leak", "severity": "error"})
HINT = json.dumps({"kind": "sync-redundant", "severity": "hint"})
EXEC = (sys.executable, "-m", "aclgrad", "exec")


def run(
    script: str, *words: str, report: Path | None = None, shown: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a script of bash under exec; ``shown`` is ACLGRAD_FINDINGS."""
    environment = {**os.environ, "ACLGRAD_FINDINGS": shown}
    environment.pop("ACLGRAD_SIM_REPORT", None)
    if report is not None:
        environment["ACLGRAD_SIM_REPORT"] = str(report)
    return subprocess.run(
        [*EXEC, *words, "--", "bash", "-c", script],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def says(line: str) -> str:
    """A script that reports a finding as the simulator does."""
    return f"echo '{line}' >> \"${{ACLGRAD_SIM_REPORT:-/dev/null}}\""


def test_a_finding_fails_a_program_that_ends_with_0() -> None:
    done = run(says(ERROR))
    assert done.returncode == 1
    assert "bash ended with 0, and the simulator found errors: 1 flag-leak. Next:" in done.stderr
    assert "--allow-findings" in done.stderr


@pytest.mark.parametrize(
    ("script", "words", "shown", "status"),
    [
        (says(HINT), (), "", 0),
        (says(ERROR), ("--allow-findings",), "", 0),
        (says(ERROR), (), "flag-leak=off", 0),
        (says(ERROR), (), "off", 0),
        (says(ERROR), (), "stream-race=off", 1),
        (f"{says(ERROR)}; exit 7", (), "", 7),
        ("exit 3", (), "", 3),
    ],
)
def test_status(script: str, words: tuple[str, ...], shown: str, status: int) -> None:
    assert run(script, *words, shown=shown).returncode == status


def test_an_older_report_is_not_this_program_s(tmp_path: Path) -> None:
    report = tmp_path / "found"
    report.write_text(f"{ERROR}\n")
    assert run("true", report=report).returncode == 0
    assert run(says(ERROR), report=report).returncode == 1
    assert report.read_text() == f"{ERROR}\n" * 2


def test_signals() -> None:
    """A program that a signal ends, and one whose exec gets it."""
    assert run("kill -KILL $$").returncode == -signal.SIGKILL
    with subprocess.Popen(
        [*EXEC, "--", "bash", "-c", "trap 'exit 9' TERM; echo up; while :; do sleep 0.05; done"],
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None and program.stdout.readline() == "up\n"
        time.sleep(0.1)
        program.terminate()
        assert program.wait(20) == 9
