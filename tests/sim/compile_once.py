# SPDX-License-Identifier: Apache-2.0
"""Compiles what tests load, once for all processes of a run of pytest."""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path


def compile_once(folder: Path, name: str, command: Sequence[str]) -> Path:
    """Run a command that makes ``name`` unless a process of this run has.

    ``folder`` is any folder of the test's own: pytest-xdist gives each of its processes one beside
    the others'.
    """
    run = next((p.parent for p in folder.parents if p.name.startswith("popen-gw")), folder)
    key = hashlib.sha256("\0".join(command).encode()).hexdigest()[:16]
    target = run / "compiled" / key / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with (target.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            part = target.with_name(f"{name}.part")
            subprocess.run([*command, "-o", str(part)], check=True)
            part.rename(target)
    return target
