# SPDX-License-Identifier: Apache-2.0
"""One at a time, among all threads of all processes."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(path: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a lock file, which is made and stays; ``waiting`` is called when another has it.

    The kernel gives the lock back when its holder dies.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        # Said, and not left to close: a forked child may have the same open file.
        fcntl.flock(number, fcntl.LOCK_UN)
        os.close(number)


@contextmanager
def if_free(path: Path) -> Iterator[bool]:
    """Hold a lock file as `alone` does, without waiting. False: another has it, or there is no
    place for it.
    """
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = True
        except OSError:
            held = False
        yield held
    finally:
        fcntl.flock(number, fcntl.LOCK_UN)  # without effect where another has it
        os.close(number)


class BusyError(Exception):
    """Another process holds it; the text is what that one has said of itself."""


@contextmanager
def at_once(path: Path, about: str) -> Iterator[int]:
    """Hold a lock file, which is made and removed, or raise `BusyError` when another has it.
    ``about`` is for the others. The open file is handed on, for those who look whether the file at
    the path is still this one.
    """
    while True:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not is_at(number, path):  # its holder removed it meanwhile
                os.close(number)
                continue
        except BlockingIOError:
            with os.fdopen(number, "r", encoding="utf-8", errors="replace") as file:
                raise BusyError(file.read(1000).strip()) from None
        except OSError as error:
            os.close(number)
            raise OSError(error.errno, error.strerror, str(path)) from None
        break
    try:
        os.ftruncate(number, 0)
        os.write(number, about.encode("utf-8", "replace"))
        yield number
    finally:
        if is_at(number, path):
            path.unlink()
        os.close(number)


def is_at(number: int, path: Path) -> bool:
    """Whether a path leads to an open file."""
    try:
        return os.path.samestat(os.fstat(number), os.lstat(path))
    except FileNotFoundError:
        return False
