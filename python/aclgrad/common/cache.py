# SPDX-License-Identifier: Apache-2.0
"""Where builds of other people's operators are kept: code that is loaded again, so nobody else may
write there.
"""

from __future__ import annotations

import os
import pwd
import stat
from contextlib import suppress
from pathlib import Path

from aclgrad.errors import ToolkitError

_OTHER = "export ACLGRAD_CACHE=DIR with a folder of your own"


def root() -> Path:
    """``$ACLGRAD_CACHE``, else ``aclgrad`` in the user's cache folder; made on demand. Never a
    folder of this package or of the project that it works on.
    """
    path = place()
    if ":" in str(path):
        raise ToolkitError(f"cache: {path} has a colon, which ends a path in lists. Next: {_OTHER}")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.stat()
    except OSError as error:
        why = "is no folder" if isinstance(error, FileExistsError) else str(error.strerror)
        raise ToolkitError(f"cache: cannot make {path}: {why}. Next: {_OTHER}") from None
    if found.st_uid != os.geteuid():
        raise ToolkitError(
            f"cache: {path} belongs to user {found.st_uid}, and what is built there is run. Next:"
            f" {_OTHER}"
        )
    others = stat.S_IWOTH if found.st_gid == os.getegid() else stat.S_IWOTH | stat.S_IWGRP
    if found.st_mode & others:
        raise ToolkitError(
            f"cache: other users may write {path}, and what is built there is run. Next: look what"
            f" they put there, then chmod go-w {path}, or {_OTHER}"
        )
    if not os.access(path, os.W_OK | os.X_OK):
        raise ToolkitError(f"cache: cannot write {path}. Next: {_OTHER}")
    return path


def place() -> Path:
    """Where `root` would be; nothing is made or checked."""
    try:
        if chosen := os.environ.get("ACLGRAD_CACHE"):
            return Path(chosen).expanduser().resolve()
        shared = os.environ.get("XDG_CACHE_HOME", "")
        # A relative one is to be ignored, says its specification: it would lie in any project.
        folder = Path(shared) if os.path.isabs(shared) else _home() / ".cache"
        return folder.resolve() / "aclgrad"
    except (RuntimeError, OSError, KeyError) as error:
        raise ToolkitError(f"cache: {error}. Next: {_OTHER}") from None


def mark_used(path: Path) -> None:
    """Record that a file of the cache is used now, for `drop_unused`. Its own times stay: what was
    made from it is compared with them.
    """
    with suppress(OSError):
        _used(path).touch()


def drop_unused(folder: Path, pattern: str, limit: int) -> None:
    """Delete the files in ``folder`` that were used longest ago, until the others have at most
    ``limit`` bytes. Whoever needs one later makes it again.
    """
    found: list[tuple[float, int, Path]] = []
    for path in folder.glob(pattern):
        with suppress(OSError):
            times = (_used(path).stat() if _used(path).exists() else path.stat()).st_mtime
            found.append((times, path.stat().st_size, path))
    total = 0
    for _, size, path in sorted(found, reverse=True):
        total += size
        if total > limit:
            for each in (path, _used(path)):
                with suppress(OSError):
                    each.unlink()


def _used(path: Path) -> Path:
    return path.with_name(path.name + ".used")


def _home() -> Path:
    """As the system has it where HOME says nothing: a relative one would lie in any project."""
    home = os.environ.get("HOME", "")
    return Path(home) if os.path.isabs(home) else Path(pwd.getpwuid(os.getuid()).pw_dir)
