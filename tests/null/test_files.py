# SPDX-License-Identifier: Apache-2.0
"""Files that users name: nothing of theirs is lost, whatever lies there or goes wrong."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aclgrad.common import files
from aclgrad.common.files import FileError


def refused(path: Path, match: str) -> None:
    """Nothing is written; the error names the place and the next step."""
    for attempt in (lambda: files.check_output(path), lambda: files.write(path, "new")):
        with pytest.raises(FileError, match=match) as caught:
            attempt()
        assert str(path) in str(caught.value) and "Next: " in str(caught.value)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write(tmp_path / "out", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "out").read_text() == "text"
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640
    assert names(tmp_path) == {"out"}


def test_old_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("old")
    out.chmod(0o604)
    os.link(out, tmp_path / "other name")
    files.write(out, b"new")
    assert out.read_text() == "new" and stat.S_IMODE(out.stat().st_mode) == 0o604
    assert (tmp_path / "other name").read_text() == "old"


@pytest.mark.parametrize("suffix", [".part", ".tmp", ".lock", "~"])
def test_files_beside_are_left_alone(suffix: str, tmp_path: Path) -> None:
    """A temporary name that can be guessed would follow the link or replace the file."""
    victim, planted = tmp_path / "victim", tmp_path / f"out.npy{suffix}"
    victim.write_text("precious")
    planted.symlink_to(victim)
    files.write(tmp_path / "out.npy", "new")
    assert planted.is_symlink() and victim.read_text() == "precious"
    planted.unlink()
    planted.write_text("mine")
    files.write(tmp_path / "out.npy", "newer")
    assert planted.read_text() == "mine"


def test_temporary_file_is_made_exclusively(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even one who guesses the name gains nothing."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(files.secrets, "token_hex", lambda count: "0")
    (tmp_path / ".aclgrad-0.part").symlink_to(victim)
    with pytest.raises(FileError, match="File exists"):
        files.write(tmp_path / "out", "new")
    assert victim.read_text() == "precious" and names(tmp_path) == {"victim", ".aclgrad-0.part"}


def test_own_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    target, link = tmp_path / "results" / "run1.npy", tmp_path / "latest.npy"
    target.write_text("old")
    link.symlink_to(Path("results") / "run1.npy")
    files.write(link, "new")
    assert link.is_symlink() and target.read_text() == "new"
    target.unlink()
    files.write(link, "again")
    assert link.is_symlink() and target.read_text() == "again"


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    refused(tmp_path / "a", "links")


@pytest.mark.skipif(os.geteuid() != 0, reason="files of another user: root only")
@pytest.mark.parametrize("mode", [0o1777, 0o777])
@pytest.mark.parametrize("kind", ["link", "file", "pipe", "folder"])
def test_what_others_have_planted_is_refused(kind: str, mode: int, tmp_path: Path) -> None:
    shared, victim = tmp_path / "shared", tmp_path / "victim"
    shared.mkdir()
    shared.chmod(mode)
    victim.write_text("precious")
    planted = shared / "out.npy"
    if kind == "link":
        planted.symlink_to(victim)
    elif kind == "file":
        planted.write_text("theirs")
    elif kind == "folder":
        (tmp_path / "mine").mkdir()
        planted.symlink_to(tmp_path / "mine")
    else:
        os.mkfifo(planted)
    os.lchown(planted, 12345, 12345)
    refused(planted / "out.npy" if kind == "folder" else planted, "another user")
    assert victim.read_text() == "precious"
    # A file of one's own there is fine.
    files.write(shared / "mine", "new")


@pytest.fixture
def special(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes what is no regular file."""
    sockets = []

    def make(kind: str) -> Path:
        path = tmp_path / kind
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "socket":
            sockets.append(socket.socket(socket.AF_UNIX))
            sockets[-1].bind(str(path))
        return path

    yield make
    for item in sockets:
        item.close()


@pytest.mark.parametrize("kind", ["folder", "socket"])
def test_what_is_no_file_is_refused_and_stays(
    kind: str, special: Callable[[str], Path], tmp_path: Path
) -> None:
    path = special(kind)
    before = path.lstat()
    refused(path, f"is a {kind}")
    link = tmp_path / "link"
    link.symlink_to(path)
    refused(link, f"is a {kind}")
    assert path.lstat().st_ino == before.st_ino and names(tmp_path) == {kind, "link"}


def test_pipe_without_a_reader_is_refused_at_once(special: Callable[[str], Path]) -> None:
    path = special("pipe")
    with pytest.raises(FileError, match="nobody reads"):
        files.write(path, "new")
    assert stat.S_ISFIFO(path.lstat().st_mode)


def test_pipe_with_a_reader_is_written_to(special: Callable[[str], Path]) -> None:
    path = special("pipe")
    got: list[bytes] = []
    opened = threading.Event()

    def read() -> None:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        opened.set()
        os.set_blocking(number, True)
        with os.fdopen(number, "rb") as file:
            while not (data := file.read()):
                pass
            got.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    opened.wait()
    data = bytes(range(256)) * 1000  # more than a pipe holds
    files.write(path, data)
    reader.join()
    assert got == [data] and stat.S_ISFIFO(path.lstat().st_mode)


def test_devices_are_written_to() -> None:
    for path in (Path("/dev/null"), Path("/dev/zero")):
        before = path.stat()
        files.check_output(path)
        files.write(path, "new")
        assert stat.S_ISCHR(path.stat().st_mode) and path.stat().st_ino == before.st_ino
    with pytest.raises(FileError, match="No space left"):
        files.write(Path("/dev/full"), "new")


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("into", ["pipe", "file"])
def test_standard_output(name: str, into: str, tmp_path: Path) -> None:
    code = (
        "import pathlib, sys; from aclgrad.common import files;"
        "print('before', flush=True); files.write(pathlib.Path(sys.argv[1]), 'data\\n')"
    )
    command = [sys.executable, "-c", code, name]
    environment = {**os.environ, "PYTHONPATH": str(Path(files.__file__).parents[1])}
    out = tmp_path / "out"
    if into == "file":
        with out.open("wb") as file:
            subprocess.run(command, stdout=file, env=environment, check=True)
        text = out.read_text()
    else:
        done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=True)
        text = done.stdout.decode()
    assert text == "before\ndata\n"


def test_error_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("old")
    for error in (KeyboardInterrupt, ValueError):
        with pytest.raises(error), files.writing(out) as file:
            file.write(b"half")
            raise error
    assert out.read_text() == "old" and names(tmp_path) == {"out"}


def test_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    script = """
import pathlib, resource, sys
from aclgrad.common import files
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
files.write(pathlib.Path(sys.argv[1]), b"x" * 5000)
"""
    out = tmp_path / "out"
    out.write_text("old")
    done = subprocess.run(
        [sys.executable, "-c", script, str(out)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(files.__file__).parents[1])},
    )
    assert (
        done.returncode and "File too large; what was there is unchanged. Next: df" in done.stderr
    )
    assert out.read_text() == "old" and names(tmp_path) == {"out"}


def test_places_that_cannot_be(tmp_path: Path) -> None:
    refused(tmp_path / "none" / "out", "there is no folder")
    refused(tmp_path / ("x" * 300), "too long")
    refused(tmp_path / "nul\0", "null")
    (tmp_path / "file").write_text("")
    refused(tmp_path / "file" / "out", "ot a directory|no folder")
    # A name that is as long as can be leaves no room for an ending.
    files.write(tmp_path / ("x" * 255), "new")


@pytest.mark.parametrize("name", ["-o", " ", "a\nb", "$(touch x)", "ü😀", "..npy", "a'b\"c"])
def test_odd_names(name: str, tmp_path: Path) -> None:
    files.write(tmp_path / name, "new")
    assert (tmp_path / name).read_text() == "new" and names(tmp_path) == {name}


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "nothing"])
def test_inputs_are_regular_files(kind: str, special: Callable[[str], Path]) -> None:
    path = special(kind)
    with pytest.raises(FileError, match="Next: do that"), files.reading(path, "x", "do that"):
        pass
    zero = Path("/dev/zero")
    with pytest.raises(FileError, match="is a device"), files.reading(zero, "x", "do that"):
        pass
