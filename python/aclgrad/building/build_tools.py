# SPDX-License-Identifier: Apache-2.0
"""Where the compiler and the build tools of this machine are."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from aclgrad.errors import ToolkitError


def find_tool(name: str) -> str | None:
    """Return a build tool of this Python's environment, or else of PATH."""
    beside = Path(sys.prefix) / "bin" / name
    return str(beside) if beside.is_file() else shutil.which(name)


def find_compiler() -> str | None:
    """Return the C++ compiler that CMake would take."""
    wanted = os.environ.get("CXX")
    return (
        shutil.which(wanted)
        if wanted
        else next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    )


def need_tool(name: str) -> str:
    """Return a build tool. Raises `ToolkitError` that says how to install it."""
    tool = find_tool(name)
    if tool is None:
        raise ToolkitError(f"{name} is not installed. Next: {sys.executable} -m pip install {name}")
    return tool
