# SPDX-License-Identifier: Apache-2.0
"""Programs with threads: handles that others share, and that others destroy."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from compile_once import compile_once
from fuzz.threads import compile_line, run


@pytest.mark.no_thread_sanitizer("its threads use each other's handles without an order")
@pytest.mark.parametrize("threads", [2, 8])
def test_handles_that_another_thread_destroys(
    toolkit: Path, tmp_path: Path, threads: int, seed: int
) -> None:
    """Errors and right results, no crash: without HoldHandles two of three runs are one."""
    program = compile_once(tmp_path, "threads", compile_line(toolkit))
    for one in (seed, seed + 1):
        assert not run(program, threads, 500, one)


@pytest.mark.skipif(
    "ACLGRAD_TESTS_SANITIZER" not in os.environ, reason="the nightly campaign has it built"
)
def test_nothing_for_the_sanitizer() -> None:
    """The runtime's tests, the threads and the fuzzer, under ACLGRAD_TESTS_SANITIZER."""
    root = Path(__file__).resolve().parents[3]
    words = ["--sanitize", os.environ["ACLGRAD_TESTS_SANITIZER"], "--op", "softmax_grad"]
    words += ["--steps", "3000", "--count", "3000"]
    if words[1] == "thread":
        words.append("--runtime")
    done = subprocess.run(
        [root / "scripts/fuzz.sh", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
