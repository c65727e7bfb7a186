# SPDX-License-Identifier: Apache-2.0
"""``aclgrad headers``: sources against CANN's own headers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from aclgrad.cli import lookup
from aclgrad.cli.common import ERR, print_json, progress
from aclgrad.cli.options import Json, Ops, Shipped
from aclgrad.testing import selection


def headers_command(
    ops: Ops = None,
    shipped: Shipped = False,
    cann: Annotated[
        list[Path] | None,
        typer.Option(
            "--cann",
            metavar="DIR",
            help="A CANN installation, or a checkout of its headers; repeatable.",
        ),
    ] = None,
    as_json: Json = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Parallel compilations.")] = 0,
) -> None:
    """Type-check the sources of operators against CANN's headers. Nothing runs."""
    if not cann:
        raise ValueError(
            "headers: --cann is missing. Next: aclgrad headers --cann DIR [--cann DIR]"
        )
    check(lookup.named(ops, shipped=shipped), cann, as_json, jobs)


def check(words: Sequence[str], folders: Sequence[Path], as_json: bool, jobs: int) -> None:
    """Among the words, an operator project is checked itself; any other folder is one more of
    CANN's.
    """
    from aclgrad.headers import check as header_check
    from aclgrad.headers import projects
    from aclgrad.headers import report as header_report

    known = {spec.op for spec in selection.operators([])}
    halves = ("op_kernel", "op_host")
    own = [
        word
        for word in words
        if word not in known and any((Path(word) / half).is_dir() for half in halves)
    ]
    more = [word for word in words if word not in {*known, *own} and Path(word).is_dir()]
    rest = [word for word in words if word not in {*own, *more}]
    if own and rest:
        raise ValueError(
            f"headers: {rest[0]} and {own[0]}: an operator of this package and a project of its"
            " own. Next: one call for each"
        )
    with progress(ERR) as bar:
        task = bar.add_task("checking", total=None)

        def step(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, description=f"{text[:60]:60}")

        every = [*folders, *map(Path, more)]
        if own:
            result = projects.check(every, own, jobs=jobs, progress=step)
        else:
            specs = selection.operators(rest)
            result = header_check.check(every, specs, jobs=jobs, progress=step)
    if as_json:
        print_json(result.as_json())
    else:
        header_report.show(result)
    if result.failed or result.refused or any(item.needed for item in result.skipped):
        raise typer.Exit(1)
