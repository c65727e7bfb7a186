# SPDX-License-Identifier: Apache-2.0
"""Temporary folders: gone at the end, and after a kill by the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from aclgrad.common import temporary

HOLDER = """
import sys, time
from pathlib import Path
from aclgrad.common import temporary
with temporary.folder(Path(sys.argv[1])) as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    temporary._remove_left.cache_clear()


def holder(place: Path) -> tuple[subprocess.Popen[str], Path]:
    words = [sys.executable, "-c", HOLDER, str(place)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_the_next_one_removes_what_a_killed_process_left(tmp_path: Path, fresh: None) -> None:
    (alive, kept), (dead, left) = holder(tmp_path), holder(tmp_path)
    try:
        dead.send_signal(signal.SIGKILL)
        dead.wait()
        assert left.is_dir()
        (tmp_path / "aclgrad-run-notours!").mkdir()
        (tmp_path / "aclgrad-run-abcdefgh").symlink_to(tmp_path.parent)
        with temporary.folder(tmp_path) as own:
            assert own.is_dir() and own.stat().st_mode & 0o777 == 0o700
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {kept.name, "aclgrad-run-notours!", "aclgrad-run-abcdefgh"}
        assert (kept / "file").is_file()
    finally:
        alive.kill()
        alive.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_folders_of_others_stay(tmp_path: Path, fresh: None) -> None:
    theirs = tmp_path / "aclgrad-run-abcdefgh"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    with temporary.folder(tmp_path):
        assert theirs.is_dir()


def test_all_of_the_package_is_made_here() -> None:
    """A folder that is made otherwise stays after a kill."""
    package = Path(temporary.__file__).parents[1]
    made = [
        path.relative_to(package)
        for path in package.rglob("*.py")
        if "tempfile." in path.read_text("utf-8").replace("tempfile.TemporaryFile", "")
    ]
    assert made == [Path("common/temporary.py")], tempfile.__name__
