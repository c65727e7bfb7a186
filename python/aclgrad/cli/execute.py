# SPDX-License-Identifier: Apache-2.0
"""``aclgrad exec``: a program with the simulator in CANN's place."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from aclgrad.cli.options import Soc


def exec_command(
    program: Annotated[
        list[str],
        typer.Argument(metavar="-- PROGRAM WORDS...", help="The program and its words."),
    ],
    soc: Soc = None,
    devices: Annotated[
        int | None, typer.Option("--devices", min=1, help="How many NPUs there are; default 1.")
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Without the checks of the simulator.")
    ] = False,
) -> None:
    """Run a program with the simulator in CANN's place: aclgrad exec -- python train.py. It may be
    the Python of another environment, where aclgrad is not installed.
    """
    from aclgrad.runtime import find_toolkit
    from aclgrad.runtime.environment import variables
    from aclgrad.spec.soc import family_of

    if soc is not None:
        family_of(soc)
    changed = variables(find_toolkit("sim"), os.environ, soc)
    if devices is not None:
        changed["ACLGRAD_DEVICES"] = str(devices)
    if fast:
        changed["ACLGRAD_SIM_MODE"] = "fast"
    found = shutil.which(program[0], path=changed.get("PATH"))
    if found is None:
        what = "is not executable" if Path(program[0]).exists() else "is no program"
        raise ValueError(f"exec: {program[0]} {what}. Next: aclgrad exec -- python {program[0]}")
    os.execve(found, program, changed)
