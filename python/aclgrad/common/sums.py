# SPDX-License-Identifier: Apache-2.0
"""What files hold, as sums. A file is read once, and again when its status no longer proves that it
is the one that was read: docs/decisions/0002-rebuild-by-content.md.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

Status = tuple[int, int, int, int, int]
"""Device, inode, size, and the times of content and status: the last one nobody can set."""

INTERFACE = "interface:"
"""Starts the sum of what a shared library offers, whatever its code does."""

_TICK = 20_000_000
"""The kernel's clock of files goes in steps of at most 10 ms."""
_COARSE_TICK = 2_000_000_000
"""The tick of file systems that keep whole seconds."""

_known: dict[tuple[str, str, Status], str] = {}


def now() -> int:
    """The clock that files are compared with."""
    return time.time_ns()


def status_of(path: str) -> Status:
    """The status of a file or folder behind all links. Raises OSError."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def settled(status: Status, seen: int) -> bool:
    """Whether a later change would show in the status: the last one was long enough before the
    file was ``seen``. A change in the same tick of the clock would not, and neither is anything
    proven by a status from the future.
    """
    changed = status[4]
    return changed + (_TICK if changed % 1_000_000_000 else _COARSE_TICK) < seen


def sum_of(path: str, kind: str = "") -> tuple[str, Status]:
    """The sum of a file's content and the status that it had then. Raises OSError."""
    status = status_of(path)
    found = _known.get((path, kind, status))
    if found is not None:
        return found, status
    while True:
        seen = now()
        with open(path, "rb") as file:
            digest = hashlib.sha256()
            while data := file.read(1 << 20):
                digest.update(data)
        after = status_of(path)
        if after == status:
            break
        status = after
    text = digest.hexdigest()
    if kind == INTERFACE:
        text = INTERFACE + _interface(path, text)
    if settled(status, seen):
        _known[path, kind, status] = text
    return text, status


def remember(path: str, kind: str, status: Status, text: str) -> None:
    """Take a sum over from a record that has proven to hold: precompiled headers have 80 MB."""
    _known[path, kind, status] = text


def content(paths: Iterable[str | Path]) -> str:
    """One sum of several files, with their names; of a missing one its name alone."""
    digest = hashlib.sha256()
    for path in map(str, paths):
        try:
            found = sum_of(path)[0]
        except OSError:
            found = ""
        digest.update(f"{path}\0{found}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def kind_of(path: str) -> str:
    """What of a file a linker takes into its output: of a shared library the interface."""
    return INTERFACE if ".so" in os.path.basename(path) else ""


def _interface(path: str, whole: str) -> str:
    """The names that a shared library defines, and the sizes of its variables."""
    tool = shutil.which("nm")
    if tool is None:
        return whole
    done = subprocess.run(
        [tool, "-D", "--defined-only", "-P", path], capture_output=True, check=False
    )
    if done.returncode or not done.stdout:
        return whole  # a script of the linker
    names = []
    for line in done.stdout.splitlines():
        name, _, rest = line.partition(b" ")
        words = rest.split()
        is_variable = words[:1] and words[0] in b"BDGRSV"
        names.append(name + (b" " + words[-1] if is_variable else b""))
    return hashlib.sha256(b"\n".join(sorted(names))).hexdigest()
