# SPDX-License-Identifier: Apache-2.0
"""The gdb session of docs/debugging.md, command by command."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from aclgrad.runtime import Toolkit, config
from gdb_session import outputs
from test_docs import ROOT, matches

_ALONE = {"ACLGRAD_SIM_THREADS": "1"}


def session() -> list[tuple[str, str]]:
    """Commands of the page, each with the output that it shows."""
    page = (ROOT / "docs" / "debugging.md").read_text()
    (body,) = re.findall(r"^```gdb\n(.*?)^```$", page, re.M | re.S)
    parts = re.split(r"^\(gdb\) ", body, flags=re.M)[1:]
    split = [part.partition("\n") for part in parts]
    return [(command, output) for command, _, output in split]


@pytest.fixture(scope="module")
def program(toolkit_info: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """examples/own_kernel as the page builds it."""
    folder = tmp_path_factory.mktemp("own_kernel")
    package = config.cmake(toolkit_info)
    command = ["cmake", "-S", str(ROOT / "examples" / "own_kernel"), "-B", str(folder)]
    for step in (
        [*command, "-DCMAKE_BUILD_TYPE=Debug", f"-Daclgrad_DIR={package}"],
        ["cmake", "--build", str(folder)],
    ):
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "run_scale"


@pytest.mark.no_thread_sanitizer("it has a thread of its own, and the page counts threads")
def test_session_of_the_page(program: Path) -> None:
    steps = session()
    printed = outputs(program, [command for command, _ in steps], _ALONE)
    assert len(printed) == len(steps)
    for (command, want), got in zip(steps, printed, strict=True):
        assert matches(want, got), f"(gdb) {command}\nwant:\n{want}\ngot:\n{got}"
    assert any("info locals" in command for command, _ in steps)


def test_breakpoint_stops_every_core(program: Path) -> None:
    """One process: each core passes the same breakpoint, seven times in all."""
    line = next(command for command, _ in session() if command.startswith("break "))
    stop = ["set breakpoint pending on", line, "run"]
    printed = outputs(program, [*stop, *["print start", "continue"] * 7], _ALONE)
    starts = [int(text.split("=")[1]) for text in printed[len(stop) :: 2]]
    assert starts == [143 * core for core in range(7)]
    assert "1000 values doubled" in printed[-1]
