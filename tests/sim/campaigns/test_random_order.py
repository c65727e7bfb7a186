# SPDX-License-Identifier: Apache-2.0
"""The quick suite in random order. The nightly campaign names twenty seeds, of which it runs
several at a time: an order that fails is repeated by its seed.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SEED = "ACLGRAD_TESTS_ORDER"


@pytest.mark.skipif(SEED not in os.environ, reason="the nightly campaign sets the seed")
def test_quick_suite() -> None:
    root = Path(__file__).resolve().parents[3]
    words = ["--quick", "-q", f"--random-order-seed={os.environ[SEED]}"]
    environment = {name: value for name, value in os.environ.items() if name != SEED}
    done = subprocess.run(
        [root / "scripts/test.sh", *words],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, f"scripts/test.sh {' '.join(words)}\n{done.stdout[-8000:]}"
