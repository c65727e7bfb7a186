# SPDX-License-Identifier: Apache-2.0
"""The line on a terminal about a launch that takes more than two seconds."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from instructions.bench import compile_kernel

CORES, FLOATS = 12, 4096
_PROGRAM = """
import ctypes, sys
from pathlib import Path
from raw_simulator import RawSimulator

cores, size = int(sys.argv[3]), int(sys.argv[4])
simulator = RawSimulator(Path(sys.argv[1]))
stream = simulator.new_stream()
block = simulator.malloc(size)
kernel = ctypes.CDLL(sys.argv[2]).slow_cores
simulator.enqueue("slow_cores", kernel, stream, [(block, size)], cores)
simulator.ok(simulator.lib.aclrtSynchronizeStream(stream))
"""
Run = Callable[..., str]


@pytest.fixture(scope="module")
def run(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs slow_cores.cpp in a process of its own, some cores at a time; returns its error stream,
    which is a terminal or a pipe.
    """
    kernel = compile_kernel(toolkit, tmp_path_factory.mktemp("slow"), "slow_cores")

    def run(cores: int = CORES, *, terminal: bool = True, progress: str = "") -> str:
        ours, theirs = pty.openpty() if terminal else os.pipe()
        size = CORES * FLOATS * 4
        with subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, toolkit, kernel, str(cores), str(size)],
            env={
                **os.environ,
                "ACLGRAD_SIM_THREADS": "1",
                "ACLGRAD_SIM_PROGRESS": progress,
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            stderr=theirs,
        ) as process:
            os.close(theirs)
            text = b""
            try:
                while piece := os.read(ours, 4096):
                    text += piece
            except OSError:  # of a terminal that nobody has open any more
                pass
            os.close(ours)
        assert process.returncode == 0, text
        return text.decode()

    return run


def test_on_a_terminal(run: Run) -> None:
    """It is rewritten as cores end and bytes move, and nothing is left of it."""
    text = run()
    assert "\n" not in text
    assert text.startswith("\r")
    *states, erased, end = text.split("\r")[1:]
    found = [
        re.fullmatch(
            r"slow_cores: (\d+) of 12 cores done, 0 MB moved, the tensors have 0 MB, (\d+) s *",
            state,
        )
        for state in states
    ]
    assert all(found), text
    done = [int(match[1]) for match in found if match]
    assert len(states) > 1
    assert done == sorted(done)
    assert done[0] < done[-1] <= CORES
    assert all(int(match[2]) >= 2 for match in found if match)
    assert (erased.strip(), end) == ("", "")
    assert len(erased) == len(states[-1].rstrip())


def test_a_short_launch_has_none(run: Run) -> None:
    """What takes less than two seconds says nothing."""
    assert run(1) == ""


@pytest.mark.parametrize(("terminal", "progress"), [(False, ""), (True, "off")])
def test_silent(run: Run, terminal: bool, progress: str) -> None:
    """Nothing without a terminal, and nothing where it is not wanted."""
    assert run(terminal=terminal, progress=progress) == ""


def test_asked_for(run: Run) -> None:
    """A pipe gets it on request."""
    assert "slow_cores: " in run(terminal=False, progress="on")


def test_under_pytest() -> None:
    """The plugin keeps it away from pytest's own lines."""
    assert os.environ["ACLGRAD_SIM_PROGRESS"] == "off"
