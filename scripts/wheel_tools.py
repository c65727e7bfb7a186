# SPDX-License-Identifier: Apache-2.0
"""What the parts of scripts/wheel.sh share: commands with progress, errors, compilers."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(sys.executable).parent


class WheelError(Exception):
    """A message for the user."""


def say(text: str) -> None:
    """One line of progress."""
    print(text, flush=True)


def run(words: Iterable[object], *, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command, with a line every ten seconds; its output comes out when it fails."""
    command = [*map(str, words)]
    where = {"PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}", **environment}
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        process = subprocess.Popen(
            command, cwd=cwd, env=os.environ | where, stdout=log, stderr=subprocess.STDOUT
        )
        while True:
            try:
                status = process.wait(timeout=10)
                break
            except subprocess.TimeoutExpired:
                last = _last_line(log.fileno())
                say(f"  after {time.monotonic() - started:.0f} s: {last[:100]}")
        log.seek(0)
        text = log.read()
    if status:
        raise WheelError(f"{' '.join(command[:4])} ... failed:\n{text[-4000:]}")
    return text


def _last_line(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    data = os.pread(descriptor, 400, max(0, size - 400)).decode("utf-8", "replace")
    return data.strip().splitlines()[-1] if data.strip() else ""


def compiler_of(arch: str) -> str:
    """The C++ compiler that makes programs of a machine."""
    return os.environ.get("CXX", "g++") if arch == platform.machine() else f"{arch}-linux-gnu-g++"
