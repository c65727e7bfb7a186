# SPDX-License-Identifier: Apache-2.0
"""Processes that use a device: with all that they start they end in time."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence


def run(
    words: Sequence[str], environment: Mapping[str, str], seconds: float
) -> tuple[int | None, str]:
    """Its return code, None where it was ended, and what it said."""
    with subprocess.Popen(
        words,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=seconds)
            return process.returncode, said
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            return None, said
