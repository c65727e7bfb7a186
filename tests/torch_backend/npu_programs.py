# SPDX-License-Identifier: Apache-2.0
"""What the tests of PyTorch's NPU backend share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
Program = Callable[..., subprocess.CompletedProcess[str]]
