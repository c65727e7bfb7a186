# SPDX-License-Identifier: Apache-2.0
"""Builds: an unchanged tree rebuilds nothing, a kernel rebuilds its operator, the wheel works by
itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from aclgrad.build import find_tool
from aclgrad.runtime.toolkit import checkout

pytestmark = pytest.mark.sim_only
ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "sim"
in_checkout = pytest.mark.skipif(
    checkout() is None or not (BUILD / "build.ninja").is_file() or "ACLGRAD_TOOLKIT" in os.environ,
    reason="not run from a checkout that aclgrad build has built",
)


def ninja(*words: str) -> str:
    """Answer of one of Ninja's query tools."""
    tool = find_tool("ninja")
    assert tool is not None
    command = [tool, "-C", str(BUILD), "-t", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout


@in_checkout
def test_unchanged_tree_rebuilds_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", "build"], capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("up to date: nothing rebuilt")


@in_checkout
def test_changed_kernel_rebuilds_its_operator_only() -> None:
    libraries = [path.relative_to(BUILD) for path in (BUILD / "toolkit").rglob("*.so")]
    source = "op_kernel/softmax_grad/softmax_grad.cpp"
    affected = [path.name for path in libraries if source in ninja("inputs", str(path))]
    own = [path.name for path in libraries if path.name.startswith("SoftmaxGrad_")]
    assert own and len(own) < len(libraries)
    assert sorted(affected) == sorted(own)

    header = "op_kernel/softmax_grad/softmax_grad.h"
    users = [block.split(":")[0] for block in ninja("deps").split("\n\n") if header in block]
    assert len(users) == len(own)
    assert all(user.startswith("CMakeFiles/softmax_grad_ascend") for user in users)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a fresh virtual environment that the wheel is installed into."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        str(ROOT),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    wheel = next(folder.glob("aclgrad-*.whl"))
    assert "-any.whl" not in wheel.name
    venv.create(folder / "venv", with_pip=True)
    done = subprocess.run(
        [folder / "venv/bin/python", "-m", "pip", "install", "-q", str(wheel)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "venv"


@pytest.mark.timeout_s(1200)
def test_wheel_works_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    clean = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("ACLGRAD", "ASCEND", "LD_", "PYTHON"))
    }

    def run(*command: object) -> str:
        done = subprocess.run(
            [*map(str, command)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=clean,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    python, command = installed / "bin/python", installed / "bin/aclgrad"
    code = (
        "import numpy as np, aclgrad; x = np.ones((2, 3), np.float32); print(aclgrad.__file__,"
        " aclgrad.softmax_backward(x, x)[0, 0])"
    )
    text = run(python, "-c", code)
    assert text.startswith(str(installed)) and text.split()[-1] == "-2.0"
    words = run(command, "config", "--cflags", "--libs").split()
    assert all(str(installed) in word for word in words if word[:2] in ("-I", "-L"))
    run("g++", ROOT / "examples/aclnn_softmax_backward.cpp", *words, "-o", tmp_path / "program")
    assert run(tmp_path / "program").startswith("-0.312500")
    assert "package with its toolkit inside" in run(command, "doctor")
    assert "fp16" in run(command, "test", "--fast", "--dtype", "fp16")
