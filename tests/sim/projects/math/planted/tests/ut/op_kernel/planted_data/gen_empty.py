# SPDX-License-Identifier: Apache-2.0
"""Makes a golden file without elements."""

from pathlib import Path

Path("float32_golden.bin").write_bytes(b"")
