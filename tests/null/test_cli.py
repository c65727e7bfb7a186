# SPDX-License-Identifier: Apache-2.0
"""The command line where nothing is built: clear refusals, no traceback, useful doctor."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import ml_dtypes
import numpy as np
import pytest
from typer.testing import CliRunner

from aclgrad.cli import app
from aclgrad.common.files import FileError
from aclgrad.runtime import device

pytestmark = pytest.mark.many_processes

COMMANDS = sorted(str(command.name) for command in app.registered_commands)


def _environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "ASCEND_HOME_PATH"}
    return {**kept, "ACLGRAD_TOOLKIT": "/nonexistent/toolkit", **more}


def aclgrad(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aclgrad", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=600,
        env=_environment(**environment),
    )


def in_process(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The same without a new Python, of which there would be hundreds; a traceback is raised."""
    out, err = io.StringIO(), io.StringIO()
    status: object = 0
    with (
        patch.dict(os.environ, _environment(**environment), clear=True),
        # A new Python has no device open, whatever ran before in this one.
        patch.dict(device._open, clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            app([str(word) for word in words])
        except SystemExit as end:
            status = end.code
    assert isinstance(status, int)
    return subprocess.CompletedProcess([*map(str, words)], status, out.getvalue(), err.getvalue())


def refused(*words: object, match: str, status: int = 1, **environment: str) -> None:
    done = in_process(*words, **environment)
    assert done.returncode == status, done.stdout + done.stderr
    assert match in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def arrays(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "g.npy", tmp_path / "y.npy"
    for path in paths:
        np.save(path, np.ones((2, 3), np.float32))
    return paths


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_short(command: str) -> None:
    done = CliRunner().invoke(app, [command, "--help"])
    assert done.exit_code == 0 and command in done.stdout and len(done.stdout.splitlines()) < 50


def test_version_and_bare_call() -> None:
    assert aclgrad("--version").stdout.startswith("aclgrad ")
    bare = aclgrad()
    assert all(command in bare.stdout + bare.stderr for command in COMMANDS)
    wrong = aclgrad("frobnicate")
    assert wrong.returncode == 2 and "No such command" in wrong.stderr


def test_explain() -> None:
    done = aclgrad("explain", 561002)
    assert done.returncode == 0 and "TILING" in done.stdout and "aclgrad tiling" in done.stdout
    named = json.loads(in_process("explain", 161001, "--json").stdout)
    assert named["name"] == "ACLNN_ERR_PARAM_NULLPTR"
    assert in_process("explain", "acl_error_rt_context_null").stdout.startswith("107002 ")
    refused("explain", 7, match="neither an aclnn", status=2)
    refused("explain", 561999, match="in no public table", status=2)
    refused("explain", "x", match="want a kind of finding", status=2)


def test_doctor_helps_when_nothing_is_built() -> None:
    done = aclgrad("doctor")
    assert done.returncode == 1
    assert "problem" in done.stdout and "fix: aclgrad build" in done.stdout
    report = json.loads(in_process("doctor", "--json", ACLGRAD_SOC="Ascend123").stdout)
    assert report["ok"] is False
    assert any(
        f["what"] == "simulated SoC" and f["status"] == "problem" for f in report["findings"]
    )
    assert any(f["what"] == "ACLGRAD_SOC" for f in report["findings"])


def test_missing_toolkit_is_one_message(arrays: tuple[Path, Path], tmp_path: Path) -> None:
    for words in (
        ["test"],
        ["config", "--cflags"],
        ["tiling", "softmax_grad", "2x3"],
        ["run", "softmax_grad", *arrays, "-o", tmp_path / "o.npy"],
    ):
        refused(*words, match="Next: aclgrad build")


def test_npu_without_cann() -> None:
    refused("test", "--device", "npu", match="ASCEND_HOME_PATH is not set")
    refused("test", "--device", "npu", "--soc", "Ascend910B2", match="leave --soc out")
    refused("test", "--device", "gpu", match="'gpu'", status=2)


def test_run_refuses_bad_files(arrays: tuple[Path, Path], tmp_path: Path) -> None:
    good, other = arrays
    out = tmp_path / "o.npy"
    text = tmp_path / "text.npy"
    text.write_text("no array")
    void = tmp_path / "void.npy"
    np.save(void, np.ones(4, ml_dtypes.bfloat16))
    archive = tmp_path / "archive.npy"
    with archive.open("wb") as file:
        np.savez(file, a=np.ones(2))
    pickled = tmp_path / "pickled.npy"
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)

    refused(
        "run",
        "softmax_grad",
        good,
        "-o",
        out,
        match="got 1 files, want 2: grad_output.npy output.npy",
    )
    refused("run", "softmax_grad", good, tmp_path / "none.npy", "-o", out, match="no such file")
    refused("run", "softmax_grad", good, text, "-o", out, match="not a NumPy .npy file")
    refused("run", "softmax_grad", good, pickled, "-o", out, match="not a NumPy .npy file")
    refused("run", "softmax_grad", good, archive, "-o", out, match=".npz archive")
    refused("run", "softmax_grad", void, void, "-o", out, match="add --dtype bf16")
    refused("run", "softmax_grad", good, other, "-o", out, "--dtype", "bf16", match="want bfloat16")
    refused(
        "run", "softmax_grad", good, other, "-o", out, "--dtype", "fp8", match="want one of fp32"
    )
    refused("run", "softmax_grad", good, other, "-o", tmp_path / "no" / "o.npy", match="mkdir -p")
    refused("run", "softmax_grad", good, other, "-o", tmp_path, match="is a folder")
    refused("run", "softmax_grad", good, other, "--outputs", "2x3", match="--outputs is for a kern")
    refused("run", "softmax_grad", good, other, "--debug", match="--debug: goes with a path")
    refused("tiling", "softmax_grad", "2x8", "--op", "X", match="--op: goes with a path")
    refused("test", "softmax_grad", "--layout", "msopgen", match="--layout: goes with a path")
    refused("run", "softmin_grad", good, other, "-o", out, match="want one of")
    refused(
        "run",
        "softmax_grad",
        good,
        other,
        "-o",
        out,
        "--attr",
        "dim=x",
        match="want a 64-bit integer",
    )
    refused("run", "softmax_grad", good, other, "-o", out, "--attr", "axis=1", match="one of dim")
    refused("run", "softmax_grad", good, other, "-o", out, "--dim", 2**70, match="64-bit")
    # bf16 files get as far as the missing toolkit.
    refused(
        "run", "softmax_grad", void, void, "-o", out, "--dtype", "bf16", match="Next: aclgrad build"
    )
    assert not out.exists()


def test_tiling_refuses_bad_shapes() -> None:
    for shape in ("2x", "x", "2x-1", "2*3", ""):
        refused("tiling", "softmax_grad", shape, match="want dims joined by x")
    refused("tiling", "softmax_grad", "99999999999", match="below 2147483648")
    refused("tiling", "softmax_grad", "2x3", "--dim", 2, match="want a value in [-2, 1]")
    refused("tiling", "softmax_grad", "2x3", "--soc", "Ascend1", match="belongs to no known family")


@pytest.mark.parametrize("name", ["precision.html", "precision.json", "junit.xml"])
def test_report_that_cannot_be_written_is_said_before_the_run(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    formats = ("--format", "html,json,junit", "--out", tmp_path)
    refused("test", "softmax_grad", *formats, match=f"{name}: is a folder")


def test_unwritable_report_folder_is_one_message(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    from aclgrad.reporting import report

    with pytest.raises(FileError, match="report .*Next: "):
        report.write(file / "sub", {})


def test_build_without_a_compiler_says_so(tmp_path: Path) -> None:
    refused("build", match="no C++ compiler found", CXX=str(tmp_path / "no-such-compiler"))
