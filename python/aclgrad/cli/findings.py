# SPDX-License-Identifier: Apache-2.0
"""``aclgrad findings``: shows what a run wrote to ACLGRAD_SIM_REPORT. ``check`` shows alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from aclgrad import findings
from aclgrad.cli import progress_lines
from aclgrad.cli.common import ERR, OUT
from aclgrad.common import files
from aclgrad.findings import HINT, Result


class Format(str, Enum):
    """Forms of the list of findings."""

    text = "text"
    json = "json"
    sarif = "sarif"


@dataclasses.dataclass(frozen=True)
class Shown:
    """Which findings are shown, in which form and where."""

    hints: Annotated[
        bool, typer.Option("--hints/--no-hints", help="List barriers and flags that order nothing.")
    ] = True
    form: Annotated[Format, typer.Option("--format", help="text, json or sarif.")] = Format.text
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the findings.")
    ] = None
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="PAGE", help="Page: sources, both ends of races, pipes."),
    ] = None

    def check_outputs(self) -> None:
        """Raise an error for a file that cannot be written, before anything runs."""
        if self.output is not None:
            files.check_output(self.output)
        if self.html is not None:
            files.check_output(self.html, "--html")


def findings_command(
    report: Annotated[
        Path, typer.Argument(metavar="FILE", help="File that ACLGRAD_SIM_REPORT named.")
    ],
    *,
    shown: Shown,
) -> None:
    """Show the findings that a program's run has written to the file of ACLGRAD_SIM_REPORT. Nothing
    runs. Exit status 1: there is an error.
    """
    shown.check_outputs()
    with progress_lines.telling(f"reading {report}"):
        found = findings.merge([findings.Run("", "", tuple(findings.read_report(report)))])
    # A report may name any file; what its lines say is no reason to show it.
    below = files.repository(Path.cwd())
    result = Result(tuple(found))
    show(result, shown, title=f"Findings of {report}", below=below)
    if result.errors:
        raise typer.Exit(1)


def show(
    result: Result,
    shown: Shown,
    *,
    title: str,
    notes: Sequence[str] = (),
    below: Path | None = None,
) -> None:
    """Print findings, or write them. The page shows sources in the folder `below` alone."""
    if not shown.hints:
        kept = [item for item in result.found if item.finding.severity != HINT]
        result = dataclasses.replace(result, found=tuple(kept))
    if shown.output is not None:
        files.write(shown.output, findings.render(result, shown.form.value))
        OUT.print(f"{shown.output}: {result.verdict}", markup=False)
    elif shown.form is Format.text:
        findings.print_text(result, OUT)
    else:
        print(findings.render(result, shown.form.value), end="")
    for note in notes:
        (OUT if shown.form is Format.text else ERR).print(note, markup=False)
    if shown.html is not None:
        from aclgrad.reporting import findings_page

        files.write(shown.html, findings_page.page(result, title=title, below=below), "--html")
        ERR.print(f"page: {shown.html}", markup=False)
