# SPDX-License-Identifier: Apache-2.0
"""tests/sim/commands.py: a forked command does what one does that is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import commands


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (("explain", "gm-conflict"), {"COLUMNS": "50"}),
        (("explain", "gm-conflict"), {"COLUMNS": "150"}),
        (("nothing", "of", "that name"), {}),
        (("run", "softmax_grad", "none.npy", "none.npy"), {"ACLGRAD_SOC": "Ascend310P3"}),
        (("tiling", "softmax_grad", "8x100", "--json"), {"PYTHONUTF8": "1"}),
        (("exec", "--", "sh", "-c", "cat; kill -9 $$"), {}),
    ],
)
def test_a_forked_command(words: tuple[str, ...], more: dict[str, str], tmp_path: Path) -> None:
    started = subprocess.run(
        [sys.executable, "-m", "aclgrad", *words],
        cwd=tmp_path,
        env={**os.environ, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    forked = commands.run(*words, cwd=tmp_path, environment=more)
    said = (forked.returncode, forked.stdout, forked.stderr)
    assert said == (started.returncode, started.stdout, started.stderr)
