# SPDX-License-Identifier: Apache-2.0
"""Runs a program under gdb, command by command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

_MARK = "==== command"


def outputs(program: Path, commands: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """What gdb prints for each command. Skips the test where there is no gdb, or no tracing."""
    gdb = shutil.which("gdb")
    if gdb is None:
        pytest.skip("gdb is not installed; apt-get install gdb")
    environment = {**os.environ, **variables}
    # What is to be loaded first is for the program: gdb hangs with AddressSanitizer in it.
    first = environment.pop("LD_PRELOAD", "")
    arguments = ["-ex", "set width 0", "-ex", "set startup-with-shell off"]
    if first:
        arguments += ["-ex", f"set environment LD_PRELOAD {first}"]
    for command in commands:
        arguments += ["-ex", f"echo {_MARK}\\n", "-ex", command]
    done = subprocess.run(
        [gdb, "-batch", "-nx", *arguments, str(program)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
        env=environment,
    )
    if re.search(r"ptrace.*not permitted|Couldn't get registers", done.stdout):
        pytest.skip("this machine does not let gdb trace")
    return done.stdout.split(f"{_MARK}\n")[1:]
