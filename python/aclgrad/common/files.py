# SPDX-License-Identifier: Apache-2.0
"""Files that a user names. A result replaces what is there in one step or not at all, and only
where a regular file is; a link, a device or a pipe that somebody else has put there leads nowhere.

What ``-o PATH`` means:

* nothing there, or a regular file: a new file takes its place when all of it is written. It keeps
  the mode of the old one.
* a link of one's own: the file that it names is replaced, the link stays.
* a character device or a pipe that somebody reads (``/dev/null``, ``/dev/stdout``, ``>(gzip)``): it
  is written to.
* all else is refused: folders, sockets, block devices, pipes without a reader, and what another
  user has put into a folder that all may write to.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from aclgrad.common import temporary
from aclgrad.errors import AclgradError

UNFINISHED = ".aclgrad-*.part"
"""Files that a killed process was writing."""

MOST = 64 << 20
"""Bytes of a file that is read whole, unless its reader knows better."""

_MOST_LINKS = 40
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a block device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a link",
}


class FileError(AclgradError):
    """A place that cannot be read or written; the text names it and the next step."""


def _kind(mode: int) -> str:
    """What a mode says that something is."""
    return _KINDS.get(stat.S_IFMT(mode), "a regular file")


def check_output(path: Path, what: str = "--output") -> None:
    """Refuse a place that cannot be written, before anything is computed for it."""
    _Target(path, what)


@contextmanager
def placing(path: Path, what: str = "--output") -> Iterator[tuple[BinaryIO, Path]]:
    """A new file, open and with its name for those who open it again. It becomes ``path`` when the
    block ends without an error; otherwise nothing is changed.
    """
    target = _Target(path, what)
    try:
        with _handed_on(target) if target.direct else _replacing(target) as (file, part):
            yield file, part
    except OSError as error:
        # The error is of the file that is written, or of none in particular: a full disk.
        if error.filename is not None and Path(os.fsdecode(error.filename)).parent != target.folder:
            raise
        kept = "" if target.direct else "; what was there is unchanged"
        raise FileError(
            f"{what} {path}: {error.strerror or error}{kept}. Next: df -h {target.folder}, then run"
            " this again or name another place"
        ) from None


@contextmanager
def writing(path: Path, what: str = "--output") -> Iterator[BinaryIO]:
    """`placing` for those who write the file here."""
    with placing(path, what) as (file, _):
        yield file


def write(path: Path, data: str | bytes, what: str = "--output") -> None:
    """Write a whole file."""
    with writing(path, what) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def make_folder(path: Path, what: str = "--output") -> None:
    """Make a folder for results."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "is a file" if isinstance(error, FileExistsError) else str(error.strerror)
        raise FileError(
            f"{what} {path}: {why}. Next: name a folder in a place that can be written"
        ) from None


def repository(folder: Path) -> Path:
    """The repository that a folder belongs to, or the folder."""
    folder = folder.resolve()
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def read(
    path: Path, what: str, advice: str, *, most: int = MOST, below: Sequence[Path] = ()
) -> bytes:
    """The bytes of a regular file that is no longer than ``most`` and, where another file has named
    it, lies in one of the folders ``below``, wherever links lead.
    """
    with reading(path, what, advice) as file:
        place = Path(os.readlink(f"/proc/self/fd/{file.fileno()}"))
        if below and not any(place.is_relative_to(folder.resolve()) for folder in below):
            folders = " or ".join(map(str, below))
            raise FileError(f"{what}: lies outside {folders}. Next: {advice}")
        try:
            data = file.read(most + 1)
        except (OSError, MemoryError) as error:
            why = "not enough memory for it" if isinstance(error, MemoryError) else error.strerror
            raise FileError(f"{what}: {why}. Next: {advice}") from None
    if len(data) > most:
        raise FileError(f"{what}: is longer than {most:,} bytes. Next: {advice}")
    return data


def text_of(path: Path) -> str:
    """A source or list of a project, which may be a link to a device or a pipe as well."""
    advice = "replace or remove it"
    return read(path, str(path), advice).decode("utf-8", "replace").replace("\r\n", "\n")


def check_regular(paths: Iterable[Path], advice: str = "replace or remove it") -> None:
    """Refuse devices, pipes, sockets and endless files among those that a compiler or Python is to
    open, which waits for a pipe and reads a device without an end. Links count as what they lead
    to.
    """
    for path in paths:
        with suppress(OSError):
            status = path.stat()
            mode = status.st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise FileError(f"{path}: is {_kind(mode)}, want a regular file. Next: {advice}")
            if stat.S_ISREG(mode) and status.st_size > MOST:
                raise FileError(f"{path}: is longer than {MOST:,} bytes. Next: {advice}")


@contextmanager
def reading(path: Path, what: str, advice: str) -> Iterator[BinaryIO]:
    """Open a regular file to read. Never waits for whoever would write to a pipe, and opens no
    device.
    """
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise FileError(f"{what}: is {_kind(mode)}, want a regular file. Next: {advice}")
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else str(error.strerror)
        raise FileError(f"{what}: {why}. Next: {advice}") from None
    except ValueError as error:
        raise FileError(f"{what}: {error}. Next: {advice}") from None
    mode = os.fstat(number).st_mode
    if not stat.S_ISREG(mode):
        os.close(number)
        raise FileError(f"{what}: is {_kind(mode)}, want a regular file. Next: {advice}")
    with os.fdopen(number, "rb") as file:
        yield file


class _Target:
    """Where an output goes: ``place`` in ``folder``, which both are free of links. ``direct``: what
    is there is written to, as it is no file to replace.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path, self.what = path, what
        self.direct = False
        self.old: os.stat_result | None = None  # of the file that is replaced
        try:
            self.place = self._follow()
            self.folder = self.place.parent
            self._look()
        except (OSError, ValueError) as error:
            why = str(error.strerror) if isinstance(error, OSError) else str(error)
            raise self.refusal(why, "name another place") from None

    def refusal(self, why: str, advice: str) -> FileError:
        return FileError(f"{self.what} {self.path}: {why}. Next: {advice}")

    def _follow(self) -> Path:
        place = Path(os.path.abspath(self.path))
        for _ in range(_MOST_LINKS):
            # Links of the kernel lead to what this process has open already.
            if place.is_relative_to("/proc") or place.is_relative_to("/dev/fd"):
                self.direct = True
                return place
            for above in place.parents:
                if above.is_symlink():
                    self._refuse_planted(above, above.lstat())
            folder = Path(os.path.realpath(place.parent))
            if folder != place.parent:
                place = folder / place.name
                continue
            try:
                found = place.lstat()
            except FileNotFoundError:
                return place
            self._refuse_planted(place, found)
            if not stat.S_ISLNK(found.st_mode):
                return place
            place = Path(os.path.abspath(folder / os.readlink(place)))
        raise self.refusal("too many links", "name the file itself")

    def _look(self) -> None:
        try:
            found = self.place.stat()
        except FileNotFoundError:
            if self.direct:
                raise
            self._look_at_folder()
            return
        if stat.S_ISREG(found.st_mode):
            if not self.direct:
                self.old = found
                self._look_at_folder()
            return
        if stat.S_ISDIR(found.st_mode):
            raise self.refusal(
                "is a folder, want a file name", f"a name such as {self.path / 'out.npy'}"
            )
        if not (stat.S_ISCHR(found.st_mode) or stat.S_ISFIFO(found.st_mode)):
            raise self.refusal(f"is {_kind(found.st_mode)}, want a file name", "name another place")
        self.direct = True

    def _look_at_folder(self) -> None:
        if not self.folder.is_dir():
            raise self.refusal(
                f"there is no folder {self.folder}", f"make it with mkdir -p {self.folder}"
            )
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise self.refusal(f"folder {self.folder} cannot be written", "choose another one")

    def _refuse_planted(self, place: Path, found: os.stat_result) -> None:
        """What the kernel does for links in folders with the sticky bit, for all and everywhere."""
        folder = place.parent.stat()
        own = found.st_uid in (os.geteuid(), folder.st_uid)
        if folder.st_mode & stat.S_IWOTH and not own and not stat.S_ISCHR(found.st_mode):
            raise self.refusal(
                f"{place} is {_kind(found.st_mode)} of another user, in a folder that all may write"
                " to",
                "name a place in a folder of your own",
            )


@contextmanager
def _replacing(target: _Target) -> Iterator[tuple[BinaryIO, Path]]:
    """A file in the target's folder, made here and by nobody else, which is renamed at the end."""
    part = target.folder / UNFINISHED.replace("*", secrets.token_hex(8))
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    # 0666 less the umask: the mode of any new file.
    with os.fdopen(os.open(part, flags, 0o666), "w+b") as file:
        try:
            if target.old is not None:
                if os.geteuid() == 0:
                    os.fchown(file.fileno(), target.old.st_uid, target.old.st_gid)
                os.fchmod(file.fileno(), target.old.st_mode & 0o777)
            yield file, part
            file.close()
            part.replace(target.place)
        except BaseException:
            with suppress(OSError):
                file.close()
            part.unlink(missing_ok=True)
            raise


@contextmanager
def _handed_on(target: _Target) -> Iterator[tuple[BinaryIO, Path]]:
    """A temporary file that is copied at the end: devices and pipes are written in order."""
    with temporary.folder() as folder:
        made = folder / "output"
        with made.open("w+b") as file:
            yield file, made
        with _open_to_write(target) as out, made.open("rb") as file:
            shutil.copyfileobj(file, out)


def _open_to_write(target: _Target) -> BinaryIO:
    try:
        number = os.open(
            target.place, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        )
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise target.refusal("is a pipe that nobody reads", "start its reader first") from None
    os.set_blocking(number, True)
    return os.fdopen(number, "wb")
