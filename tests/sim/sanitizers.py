# SPDX-License-Identifier: Apache-2.0
"""The sanitizer of this process, what programs need to load an instrumented build, and the marks of
tests that a sanitizer cannot run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from aclgrad.building.build_tools import find_tool

KINDS = {"address": "libasan", "thread": "libtsan"}
ENDS_BY_SIGNAL = pytest.mark.no_thread_sanitizer("it holds signals back until the next call")
"""A kernel that calls nothing is ended by a signal."""
RUNS_CMAKE = pytest.mark.no_thread_sanitizer("CMake is not told there that its compiler has ended")
"""The package runs the CMake of its own environment, not that of PATH."""


def loaded() -> str | None:
    """Its kind, or None."""
    first = os.environ.get("LD_PRELOAD", "")
    return next((kind for kind, library in KINDS.items() if library in first), None)


def variables() -> dict[str, str]:
    """The environment of a program that is to have nothing else of this process's."""
    if not loaded():
        return {}
    return {k: v for k, v in os.environ.items() if k == "LD_PRELOAD" or k.endswith("SAN_OPTIONS")}


def write_shield(folder: Path) -> None:
    """Write a cmake into a folder that runs CMake without ThreadSanitizer's library, with which
    CMake is never told that a program it started has ended.
    """
    cmake = str(find_tool("cmake"))
    shield = folder / "cmake"
    shield.write_text(
        f"#!{sys.executable} -I\nimport os, sys\ndel os.environ['LD_PRELOAD']\n"
        f"os.execv({cmake!r}, [{cmake!r}, *sys.argv[1:]])\n"
    )
    shield.chmod(0o755)
