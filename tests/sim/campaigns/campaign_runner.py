# SPDX-License-Identifier: Apache-2.0
"""What a child of tests/sim/campaigns/test_campaign.py runs: items that end it in every way."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any


class Runner:
    """Runs nothing but items named after what they do."""

    def __init__(self, document: Any, folder: str) -> None:
        self.folder = Path(folder)

    def about(self, item: str) -> dict[str, Any]:
        return {"index": 0, "name": item}

    def __call__(self, item: str) -> dict[str, Any]:
        if item == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if item == "hang":
            time.sleep(3600)
        if item == "raise":
            raise RuntimeError("no such thing")
        if item == "crash once":
            marker = self.folder / "crashed"
            if not marker.exists():
                marker.touch()
                os._exit(7)
        print("operators print")
        return {**self.about(item), "verdict": "passed", "pid": os.getpid()}
