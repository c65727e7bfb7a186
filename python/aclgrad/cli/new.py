# SPDX-License-Identifier: Apache-2.0
"""``aclgrad new``: a new operator project."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from aclgrad.cli.common import OUT
from aclgrad.cli.options import Soc
from aclgrad.projects.scaffold import Like, Shape, from_sources, new
from aclgrad.reading.command_words import soc_name
from aclgrad.reading.layout import check_compilable


def new_command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of the operator, e.g. my_op.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="Folder to write. [default: NAME]")
    ] = None,
    like: Annotated[
        Like,
        typer.Option(
            help="Start from a working operator on one input, on three, on rows, on rows and a"
            " number for each row, on an index, on matrices, on queries, keys and values, or from"
            " a hand-written copy."
        ),
    ] = Like.elementwise,
    layout: Annotated[
        Shape, typer.Option(help="Files of one operator as in ops-nn, or a project of msopgen.")
    ] = Shape.operator,
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="PATH", help="Add golden and cases to the sources of an operator."
        ),
    ] = None,
    editor: Annotated[
        bool,
        typer.Option("--vscode/--no-vscode", help="With .vscode: tasks, gdb session, settings."),
    ] = True,
    soc: Soc = None,
) -> None:
    """Write an operator project that builds and passes its tests at once."""
    if source is not None:
        if name is not None:
            raise ValueError(f"new: {name} and --from {source}: keep one")
        made = from_sources(source, soc_name(soc))
        for path in made.files:
            OUT.print(f"wrote {path}", markup=False)
        OUT.print(
            f"next: write down golden and cases in it, then aclgrad test {shlex.quote(source)}",
            markup=False,
        )
        return
    if name is None:
        raise ValueError("new: a name is missing. Next: aclgrad new my_op")
    check_compilable((folder or Path(name)).resolve())
    made = new(name, folder, like, layout, editor=editor)
    for path in made.files:
        OUT.print(f"wrote {path}", markup=False)
    for note in made.notes:
        OUT.print(note, markup=False)
    where = shlex.quote(str(made.folder))
    step = "" if os.path.samefile(made.folder, ".") else f"cd {where} && "
    OUT.print(f"next: {step}aclgrad test", markup=False)
