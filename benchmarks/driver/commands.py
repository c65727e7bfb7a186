# SPDX-License-Identifier: Apache-2.0
"""What small things cost: a call from Python, a command, the build of a new project."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import aclgrad
from aclgrad.common import files
from aclgrad.runtime import open_device

Row = dict[str, Any]
_CALLS = 500


def _call(mode: str) -> float:
    """Milliseconds of processor time of one call on 4 x 8."""
    grad, output = np.ones((4, 8), np.float32), np.full((4, 8), 0.125, np.float32)
    with open_device().with_option("mode", mode):
        for _ in range(3):
            aclgrad.softmax_backward(grad, output)
        begin = time.process_time()
        for _ in range(_CALLS):
            aclgrad.softmax_backward(grad, output)
        return (time.process_time() - begin) / _CALLS * 1e3


def _command(folder: Path, environment: dict[str, str], *words: str) -> float:
    """Seconds of processor time, of the compilers and tools that it starts as well."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(Path(sys.executable).with_name("aclgrad")), *words]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _row(what: str, unit: str, limit: float, rounds: int, once: Callable[[], float]) -> Row:
    return {"what": what, "unit": unit, "limit": limit, "least": min(once() for _ in range(rounds))}


def measure(rounds: int) -> Iterator[Row]:
    """Processor time, which other work on the machine adds little to; the least of each kind."""
    for mode in ("checked", "fast"):
        yield _row(f"call on 4x8, {mode} mode", "ms", 0.1, rounds, lambda mode=mode: _call(mode))  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "CCACHE_DISABLE": "1", "ACLGRAD_CACHE": f"{name}/cache"}
        environment["PYTHONPYCACHEPREFIX"] = f"{name}/compiled"  # as of an installed package
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def command(*words: str) -> float:
            return _command(folder, environment, *words)

        command("--help")
        yield _row("aclgrad --help", "s", 0.2, rounds, lambda: command("--help"))
        profile = ("profile", "softmax_grad", "8x16")
        command(*profile)
        yield _row("aclgrad profile softmax_grad 8x16", "s", 0.5, rounds, lambda: command(*profile))
        command("new", "huber_grad")
        folder /= "huber_grad"
        yield _row("first build of a new project", "s", 25.0, 1, lambda: command("build"))
        yield _row("build with nothing to do", "s", 1.0, rounds, lambda: command("build"))
        source = folder / "op_kernel" / "huber_grad.cpp"

        def touched() -> float:
            files.write(source, source.read_text() + "\n", "kernel")
            return command("build")

        yield _row("build with its kernel edited", "s", 3.0, 2, touched)
