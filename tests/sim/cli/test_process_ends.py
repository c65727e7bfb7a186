# SPDX-License-Identifier: Apache-2.0
"""Host code that ends the process it runs in is an error of the command, whichever it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SQUARE = Path(__file__).parents[1] / "projects" / "math" / "square"
TILING = "op_host/square_tiling.cpp"
ENDS = """\
  if (shape.GetDim(0) == 3) std::exit(3);
  if (shape.GetDim(0) == 4) std::exit(0);
  if (shape.GetDim(0) == 5) kill(getpid(), SIGKILL);
"""
SAID = {
    3: "it ended the process with status 3. Next: ",
    4: "it ended the process with status 0. Next: ",
    5: "SIGKILL in ",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, toolkit: Path) -> Path:
    """Square, whose tiling ends the process for some lengths."""
    folder = tmp_path_factory.mktemp("ends") / "square"
    shutil.copytree(SQUARE, folder)
    source = (folder / TILING).read_text()
    at = source.index("  // Not for matrices")
    head = "#include <signal.h>\n#include <unistd.h>\n#include <cstdlib>\n"
    (folder / TILING).write_text(f"{head}{source[:at]}{ENDS}{source[at:]}")
    for length in (3, 4, 5, 6):
        np.save(folder / f"{length}.npy", np.arange(length, dtype=np.float32))
    return folder


def command(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command on the project."""
    return subprocess.run(
        [sys.executable, "-m", "aclgrad", *words],
        cwd=project,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def of(verb: str, length: int) -> list[str]:
    """The words of a command on a length."""
    return [verb, ".", f"{length}.npy" if verb == "run" else str(length)]


@pytest.mark.parametrize("verb", ["run", "profile", "tiling"])
def test_it_is_an_error(verb: str, project: Path) -> None:
    assert command(project, *of(verb, 6)).returncode == 0
    for length, said in SAID.items():
        done = command(project, *of(verb, length))
        assert done.returncode == 1, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1, done.stderr
        assert said in errors[0] and "Next: " in errors[0]


def test_what_was_there_stays(project: Path) -> None:
    """A call that does not end well leaves the file of an earlier one."""
    saved = project / "y.npy"
    assert command(project, *of("run", 6), "-o", "y.npy").returncode == 0
    before = saved.read_bytes()
    assert command(project, *of("run", 5), "-o", "y.npy").returncode == 1
    assert saved.read_bytes() == before
