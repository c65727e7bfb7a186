# SPDX-License-Identifier: Apache-2.0
"""PyTorch's NPU backend on the simulator. scripts/torch_npu.sh runs these: elsewhere torch_npu is
not there, and nothing is collected.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from npu_programs import Program

LIMIT = float(os.environ.get("ACLGRAD_TESTS_SECONDS", "240"))
"""After how many seconds a program hangs; on a machine that does other work it may be slow."""

if importlib.util.find_spec("torch_npu") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def quiet_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs on the CPU is not what a test is about, unless it says so."""
    monkeypatch.setenv("ACLGRAD_TORCH_FALLBACK", "silent")


@pytest.fixture(autouse=True)
def device_afterwards() -> Iterator[None]:
    """No test leaves work behind that fails later."""
    yield
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.npu.synchronize()


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Run lines of Python in a process of their own, with further variables in its environment;
    None takes one away.
    """

    def run(text: str, **variables: str | None) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "program.py"
        path.write_text(text, encoding="utf-8")
        changed = {**os.environ, **{k: v for k, v in variables.items() if v is not None}}
        for name, value in variables.items():
            if value is None:
                changed.pop(name, None)
        return subprocess.run(
            [sys.executable, str(path)],
            capture_output=True,
            text=True,
            env=changed,
            timeout=LIMIT,
            check=False,
        )

    return run
