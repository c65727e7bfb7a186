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


KNOWN = """
[[known]]
kind = "flag-leak"
file = "norm.h"
reason = "issue 12"
until = {until}

[[known]]
kind = "stream-race"
reason = "issue 13"
until = 2999-01-01

[[known]]
kind = "gm-out-of-bounds"
op = "MyOp"
reason = "issue 14"
until = 2999-01-01
"""


@pytest.mark.parametrize(
    ("until", "shown", "want"),
    [
        ("2999-01-01", "", "flag-leak@norm.h=warn,stream-race=warn"),
        ("2999-01-01", "warn", "flag-leak@norm.h=warn,stream-race=warn,warn"),
        ("2001-01-01", "", "stream-race=warn"),
    ],
)
def test_known_findings_are_warnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: str, shown: str, want: str
) -> None:
    """Those whose day has not passed, before what the caller says; all are named."""
    (tmp_path / "aclgrad-known.toml").write_text(KNOWN.format(until=until))
    monkeypatch.chdir(tmp_path)
    done = run('echo "$ACLGRAD_FINDINGS"', shown=shown)
    assert done.returncode == 0 and done.stdout.strip() == want, done.stderr
    assert ("known: flag-leak norm.h: expired on 2001-01-01" in done.stderr) == ("2001" in until)
    assert "known until 2999-01-01: stream-race: issue 13" in done.stderr
    assert "known: gm-out-of-bounds MyOp: exec knows no operators" in done.stderr


def test_a_wrong_file_of_known_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused before the program runs."""
    (tmp_path / "aclgrad-known.toml").write_text('[[known]]\nkind = "none"\n')
    monkeypatch.chdir(tmp_path)
    done = run("echo ran")
    assert done.returncode == 1 and "ran" not in done.stdout
    assert "aclgrad-known.toml: entry 1" in done.stderr


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
