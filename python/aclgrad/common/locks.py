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
