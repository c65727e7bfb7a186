# SPDX-License-Identifier: Apache-2.0
"""Files that the environment names, and what is no regular file in their place."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

# Calls an operator with a wrong kernel launch: one finding of an error.
PROGRAM = """
import ctypes, signal
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
from aclgrad.runtime import open_device
device = open_device("sim")
acl = device.libraries.acl
for size in (16, 32):
    memory = ctypes.c_void_p()
    assert acl.aclrtMalloc(ctypes.byref(memory), ctypes.c_size_t(size), 0) == 0
    acl.aclrtFree(memory)
    acl.aclrtFree(memory)
print(len(device.findings()))
"""


def run(report: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "ACLGRAD_SIM_REPORT": report},
        **more,  # type: ignore[call-overload]
    )


def test_regular_file_gets_each_finding(tmp_path: Path) -> None:
    report = tmp_path / "findings"
    report.write_text("")
    done = run(str(report))
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in report.read_text().splitlines()]
    assert len(found) == int(done.stdout) >= 1
    run(str(report))
    assert len(report.read_text().splitlines()) == 2 * len(found)


@pytest.mark.parametrize("kind", ["pipe", "folder", "planted", "/dev/full", "/no/such/folder/x"])
def test_all_else_is_said_once(kind: str, tmp_path: Path) -> None:
    """A pipe without a reader would wait for ever."""
    path, victim = tmp_path / "report", tmp_path / "victim"
    why = {"pipe": "nobody reads", "folder": "directory", "planted": "another user"}.get(kind, "No")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "planted":
        if os.geteuid() != 0:
            pytest.skip("a link of another user needs root")
        tmp_path.chmod(0o1777)
        victim.write_text("precious")
        path.symlink_to(victim)
        os.lchown(path, 12345, 12345)
    else:
        path = Path(kind)
    done = run(str(path))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("ACLGRAD_SIM_REPORT") == 1 and why in done.stderr, done.stderr
    assert "Next: name a regular file" in done.stderr
    if kind == "planted":
        assert victim.read_text() == "precious"


def test_standard_error_as_the_report() -> None:
    done = run("/dev/stderr")
    assert done.returncode == 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("{")]
    assert len(lines) == int(done.stdout) and all(json.loads(line)["kind"] for line in lines)


def test_reader_that_has_gone_ends_nothing() -> None:
    read, write = os.pipe()
    os.close(read)
    done = run(f"/dev/fd/{write}", pass_fds=(write,), restore_signals=True)
    os.close(write)
    assert done.returncode == 0, done.stderr
    assert "ACLGRAD_SIM_REPORT" in done.stderr


def test_configuration_that_is_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "acl.json"
    os.mkfifo(pipe)
    code = (
        "import ctypes, sys; from aclgrad.runtime.toolkit import find_toolkit;"
        "acl = ctypes.CDLL(str(find_toolkit('sim').libraries[0]));"
        "print(acl.aclInit(sys.argv[1].encode()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(pipe)], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0 and int(done.stdout) != 0
    assert stat.S_ISFIFO(pipe.stat().st_mode)
