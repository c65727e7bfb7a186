# SPDX-License-Identifier: Apache-2.0
"""Launches where the host gives no more threads: a shell's limits, a container's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from instructions.bench import compile_kernel

HERE = Path(__file__).parents[1]

# What is left: not enough for a thread's stack of 16 MB and its guard of 1 MB; or for those,
# but not for the UB of a core.
FEW_ADDRESSES = """
import ctypes, resource, sys
from pathlib import Path
import numpy as np
from instructions.bench import KernelError, Runtime

def limit(addresses):
    resource.setrlimit(resource.RLIMIT_AS, (addresses, resource.RLIM_INFINITY))

def run(cores):
    rows = np.arange(cores * 64, dtype=np.float32).reshape(cores, 64)
    given = [np.zeros_like(rows), rows, np.zeros_like(rows)]
    out, *_ = runtime.launch(library[sys.argv[3]], given, block_dim=cores)
    assert (out == rows[::-1]).all()

runtime, library = Runtime(Path(sys.argv[1])), ctypes.CDLL(sys.argv[2])
# The C library ends a process for which it cannot allocate a few bytes of its own.
libc = ctypes.CDLL(None)
M_TRIM_THRESHOLD, M_TOP_PAD = -1, -2
libc.mallopt(M_TRIM_THRESHOLD, 64 << 20)
libc.mallopt(M_TOP_PAD, 8 << 20)
kept = [libc.malloc(1000) for _ in range(2000)]
run(1)
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit(used + int(sys.argv[4]))
try:
    run(40)
except KernelError as error:
    print(error.code, error)
limit(resource.RLIM_INFINITY)
run(40)
print("went on")
"""


def launches(
    toolkit: Path, folder: Path, kernel: str, left: int, going_on: str
) -> subprocess.CompletedProcess[str]:
    """Launches with `left` bytes of addresses, then with all."""
    library = compile_kernel(toolkit, folder, "cores")
    return subprocess.run(
        [sys.executable, "-c", FEW_ADDRESSES, str(toolkit), str(library), kernel, str(left)],
        env={
            **os.environ,
            "PYTHONPATH": str(HERE),
            "ACLGRAD_SIM_KEEP_GOING": going_on,
            "ACLGRAD_SIM_THREADS": "2",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("kernel", ["exchange", "exchange_flag"])
@pytest.mark.parametrize("going_on", ["on", "off"])
def test_cores_that_wait_for_others_without_a_thread(
    toolkit: Path, tmp_path: Path, kernel: str, going_on: str
) -> None:
    """An error that says so, not a wait without an end; with threads the next launch works."""
    done = launches(toolkit, tmp_path, kernel, 10 << 20, going_on)
    assert done.stdout.endswith("went on\n"), done.stdout + done.stderr
    assert "1 of 40 cores wait for others that have not begun" in done.stdout
    assert "Next: raise its limit of threads (ulimit -u" in done.stdout
    assert done.stdout.count("\n") == 2, done.stdout


@pytest.mark.no_sanitizer("it ends a process that gets no memory")
@pytest.mark.parametrize("going_on", ["on", "off"])
def test_core_without_memory_for_its_ub(toolkit: Path, tmp_path: Path, going_on: str) -> None:
    done = launches(toolkit, tmp_path, "exchange", (17 << 20) + (200 << 10), going_on)
    assert done.stdout.endswith("went on\n"), done.stdout + done.stderr
    assert "for a core's UB. Next: raise the host's limit (ulimit -v)" in done.stdout
    assert done.stdout.count("\n") == 2, done.stdout
