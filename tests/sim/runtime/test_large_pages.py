# SPDX-License-Identifier: Apache-2.0
"""The runtime's memory on a host with pages of 64 KB, as some of AArch64 have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]


@pytest.mark.skipif("san.so" in os.environ.get("LD_PRELOAD", ""), reason="sanitizers map at 4 KB")
def test_pages_of_64_kb(toolkit: Path, tmp_path: Path) -> None:
    """Kernels, guards of blocks, watched copies and mapped memory work as with 4 KB. The C
    library is told of 64 KB, and calls that would fail there fail here.
    """
    preload = tmp_path / "large_pages.so"
    source = HERE / "programs" / "large_pages.c"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", preload, source, "-ldl"], check=True)
    names = ("host_misuse", "acl_runtime", "acl_virtual_memory")
    files = [str(HERE / "runtime" / f"test_{name}.py") for name in names]
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-n", "0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *files],
        cwd=HERE.parents[1],
        env={**os.environ, "LD_PRELOAD": str(preload)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    assert "no multiple of 64 KB" not in done.stdout
