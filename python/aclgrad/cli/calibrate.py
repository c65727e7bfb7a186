# SPDX-License-Identifier: Apache-2.0
"""``aclgrad calibrate``: where the simulator is wrong, by a board."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import TaskID

from aclgrad.cli.common import ERR, OUT, progress
from aclgrad.cli.options import Device, DeviceName, Soc


def calibrate_command(
    device: Device = DeviceName.sim,
    soc: Soc = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File of the board, or its folder.")
    ] = Path("board.json"),
    number: Annotated[int, typer.Option("--number", min=0, help="Which of several devices.")] = 0,
    msprof: Annotated[
        str,
        typer.Option(
            "--msprof",
            metavar="DIR",
            help="Folder of the probes' times by msprof, measured if it is missing. auto: if the"
            " environment has msprof. off: never.",
        ),
    ] = "auto",
    read: Annotated[
        Path | None,
        typer.Option("--read", help="Show where a board's file and the simulator differ."),
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="With --read: a page of it.")] = None,
    adopt: Annotated[
        Path | None,
        typer.Option(
            "--adopt", help="Print settings that make the simulator behave as this board."
        ),
    ] = None,
) -> None:
    """Measure on a board what the documents leave open and what the timing model assumes."""
    from aclgrad.profiling.calibration import board as boards
    from aclgrad.profiling.calibration import measure, page

    def warn(text: str) -> None:
        ERR.print(f"warning: {text}", markup=False)

    if adopt is not None:
        measure.check(boards.read(adopt))
        file = os.path.abspath(boards.file_of(adopt))
        print(f"export ACLGRAD_CALIBRATION={shlex.quote(file)}")
        return
    if read is not None:
        found = boards.read(read)
        OUT.print(page.text(found), markup=False)
        if html is not None:
            page.write(found, html)
        return
    if html is not None:
        raise ValueError(
            "--html goes with --read. Next: aclgrad calibrate --read board.json --html board.html"
        )
    output = boards.file_of(output)
    with progress(ERR) as shown:
        tasks: dict[str, TaskID] = {}

        def told(what: str, done: int, count: int) -> None:
            if what not in tasks:
                tasks[what] = shown.add_task(what, total=count)
            shown.update(tasks[what], completed=done)

        found = measure.calibrate(
            device.value, output, soc=soc, device=number, under=msprof, told=told, warn=warn
        )
    boards.write(found, output)
    measure.finish(output)
    OUT.print(page.text(found), markup=False)
    OUT.print(f"wrote {output}. Next: aclgrad calibrate --read {output} --html board.html")
