# SPDX-License-Identifier: Apache-2.0
"""Temporary folders. One that a killed process has left is removed by the next process that makes
one at the same place: the kernel gives up the lock on a folder when its holder dies.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from aclgrad.common.locks import is_at

_PREFIX = "aclgrad-run-"
_NAME = re.compile(re.escape(_PREFIX) + r"[a-z0-9_]{8}")


def tell_children() -> None:
    """Put the place that Python chose into TMPDIR, where one is named that nobody can write to:
    Python goes on in /tmp, a compiler fails.
    """
    if os.environ.get("TMPDIR"):
        with suppress(FileNotFoundError):  # no place at all: whoever needs one says so
            os.environ["TMPDIR"] = tempfile.gettempdir()


@contextmanager
def folder(within: Path | None = None) -> Iterator[Path]:
    """A folder of one's own, in the system's place for them unless another is named."""
    made = Folder(within)
    try:
        yield made.path
    finally:
        made.remove()


class Folder:
    """A folder until `remove`."""

    def __init__(self, within: Path | None = None) -> None:
        place = Path(within or tempfile.gettempdir())
        _remove_left(place)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
            try:
                self._lock = _locked(self.path)
            except (BlockingIOError, FileNotFoundError):
                continue  # another took it for one that was left
            except OSError:
                self._lock = -1  # no locks on that file system: nobody removes what is left
            return

    def remove(self) -> None:
        """Remove it with what it holds."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _locked(path: Path) -> int:
    """The open folder, locked. Raises OSError where another holds it, or has removed it."""
    number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not is_at(number, path):
            raise FileNotFoundError(path)
    except OSError:
        os.close(number)
        raise
    return number


@cache
def _remove_left(place: Path) -> None:
    """Remove this user's folders that nobody holds; once in a process."""
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if not _NAME.fullmatch(entry.name):
                continue
            with suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid != os.geteuid():
                    continue
                number = _locked(Path(entry.path))
                shutil.rmtree(entry.path, ignore_errors=True)
                os.close(number)
