# SPDX-License-Identifier: Apache-2.0
"""Builds: an unchanged tree rebuilds nothing, a kernel rebuilds its operator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aclgrad.building.build_tools import find_tool
from aclgrad.runtime.toolkit import checkout

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build" / "sim"
in_checkout = pytest.mark.skipif(
    checkout() is None or not (BUILD / "build.ninja").is_file() or "ACLGRAD_TOOLKIT" in os.environ,
    reason="not run from a checkout that aclgrad build has built",
)


def ninja(*words: str) -> str:
    """Answer of one of Ninja's query tools."""
    tool = find_tool("ninja")
    assert tool is not None
    command = [tool, "-C", str(BUILD), "-t", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout


@in_checkout
def test_unchanged_tree_rebuilds_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", "build"], capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("up to date: nothing rebuilt")


@in_checkout
def test_changed_kernel_rebuilds_its_operator_only() -> None:
    libraries = [path.relative_to(BUILD) for path in (BUILD / "toolkit").rglob("*.so")]
    source = "op_kernel/softmax_grad/softmax_grad.cpp"
    affected = [path.name for path in libraries if source in ninja("inputs", str(path))]
    own = [path.name for path in libraries if path.name.startswith("SoftmaxGrad_")]
    assert own and len(own) < len(libraries)
    assert sorted(affected) == sorted(own)

    header = "op_kernel/scaled_masked_softmax_grad_v2/row_mask.h"
    users = [block.split(":")[0] for block in ninja("deps").split("\n\n") if header in block]
    assert users
    assert all(user.startswith("CMakeFiles/scaled_masked_softmax_grad") for user in users)
