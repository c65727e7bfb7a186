# SPDX-License-Identifier: Apache-2.0
"""``aclgrad test``: the case grid against the golden, and its numbers."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from aclgrad.cli import lookup, operators
from aclgrad.cli.common import ERR, OUT, allow_partial, print_json, progress
from aclgrad.cli.options import (
    AllowRefusals,
    Fast,
    Json,
    OfPathUnseen,
    OnlyDtype,
    Ops,
    Running,
    Shipped,
)
from aclgrad.common import files
from aclgrad.common.data import parse_json
from aclgrad.common.display.terminal import Terminal
from aclgrad.testing import tolerance as tolerances

if TYPE_CHECKING:
    from aclgrad.reporting.conditions import Conditions
    from aclgrad.reporting.groups import Group
    from aclgrad.testing.run import Outcome


def test_command(
    ops: Ops = None,
    shipped: Shipped = False,
    listed: Annotated[
        str | None, typer.Option("--ops", metavar="A,B", help="Operators as a list.")
    ] = None,
    dtype: OnlyDtype = None,
    case: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this case, as the report names it; repeatable."),
    ] = None,
    keyword: Annotated[
        str,
        typer.Option(
            "-k", metavar="EXPR", help="Only cases whose names match, e.g. 'fp32 and not nan'."
        ),
    ] = "",
    first: Annotated[
        bool, typer.Option("-x", "--exitfirst", help="Stop at the first failure.")
    ] = False,
    last_failed: Annotated[
        bool, typer.Option("--lf", "--last-failed", help="Only cases that failed last time.")
    ] = False,
    only_list: Annotated[bool, typer.Option("--list", help="List the cases, run none.")] = False,
    fast: Fast = False,
    seed: Annotated[int, typer.Option(help="Other random values for the same grid.")] = 0,
    tolerance: Annotated[
        str | None,
        typer.Option(
            metavar="ULP|DTYPE=ULP,..",
            help="Bound in ULP of the scale: 8, or fp16=8. [default: fp32 128, fp16 4, bf16 2]",
        ),
    ] = None,
    *,
    running: Running,
    of_path: OfPathUnseen,
    report: Annotated[
        str | None,
        typer.Option(metavar="DIR|FORMATS", hidden=True, help="Former name of --out and --format."),
    ] = None,
    formats: Annotated[
        str | None,
        typer.Option("--format", metavar="LIST", help="Of html, json, junit. [default: html,json]"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the report. [default: report]")
    ] = None,
    allow_refusals: AllowRefusals = False,
    as_json: Json = False,
    watching: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Test again whenever a source changes, on the shorter grid of --fast.",
        ),
    ] = False,
) -> None:
    """Compare an operator with its golden, case by case, and print the precision table."""
    begin = time.monotonic()
    words = lookup.named(ops, listed, shipped=shipped)
    if watching:
        from aclgrad.cli import watch

        place = _report_place(report, formats, out, case)[0]
        watch.watch_words(ops or [], listed, running.soc, place)  # it reads the command line itself
        return
    from aclgrad.reporting import report as reports

    allow_partial(running.partial_output)
    folder, kinds = _report_place(report, formats, out, case)
    if folder.is_dir():
        for kind in kinds:
            files.check_output(folder / reports.FORMATS[kind], "report")
    bound = None if tolerance is None else tolerances.parse(tolerance)
    asked = operators.Asked(
        dtype, case or (), fast, tolerance=bound, keyword=keyword, first=first,
        failed=_failed(folder) if last_failed else None,
    )  # fmt: skip
    every = not words and listed is None
    subjects = lookup.find(words, of_path, listed, shipped=every, quiet=as_json or only_list)
    if only_list:
        for found in subjects:
            for name in found.cases(asked, running):
                print(name)
        return
    ran = operators.Ran()
    with progress(ERR if as_json else OUT) as bar:
        for found in subjects:
            done = found.test(asked, running, seed, bar)
            ran.outcomes += done.outcomes
            ran.refused += done.refused
            ran.in_force = done.in_force
            if first and not all(outcome.passed for outcome in ran.outcomes):
                break
    if not ran.outcomes and not ran.refused and (keyword or last_failed):
        option = f"-k {keyword!r}" if keyword else "--lf"
        raise ValueError(f"{option}: it chooses no case. Next: aclgrad test --list names all")
    _keep_failed(folder, ran)
    conditions = reports.Conditions(
        running.device.value,
        ran.in_force["soc"] or "npu",
        ran.in_force.get("mode"),
        seed,
        fast,
        f"{datetime.now(timezone.utc):%F %R} UTC",
        ran.in_force.get("autosync"),
        ran.in_force.get("chaos") or "0",
        running.keep_going,
        tolerance or "",
    )
    if (keyword or first or last_failed) and not (report or formats or out):
        kinds = ()  # part of a run does not replace the report of a whole one unless told to
    _report(ran, conditions, folder, kinds, bool(case), as_json, allow_refusals, begin)


def _report(
    ran: operators.Ran,
    conditions: Conditions,
    folder: Path,
    kinds: Sequence[str],
    named: bool,
    as_json: bool,
    allow_refusals: bool,
    begin: float,
) -> None:
    """Write the report, show what failed, or every case that was asked for by name."""
    from aclgrad.reporting import report as reports
    from aclgrad.testing import refusals

    outcomes, refused = ran.outcomes, ran.refused
    paths = reports.write_formats(folder, kinds, outcomes, conditions, refused)
    failed = [outcome for outcome in outcomes if not outcome.passed]
    hollow = refusals.too_many(refused, [outcome.case.op for outcome in outcomes])
    if as_json:
        print_json(reports.as_json(outcomes, conditions, refused))
    else:
        title = f"precision on {conditions.soc} ({conditions.device})"
        _print_table(reports.rows(outcomes), title)
        if named:
            for outcome in outcomes[:5]:
                _print_case(outcome, outcome.case.op)
            if len(outcomes) > 5:
                OUT.print(f"\nand {len(outcomes) - 5} more cases, all in the report")
        else:
            _print_causes(reports.groups_of(failed), conditions)
        for line in reports.remarks(outcomes):
            OUT.print(line, markup=False)
        for reason in refusals.reasons(refused):
            OUT.print(reason.line, markup=False)
        if paths:
            OUT.print(f"report: {', '.join(map(str, paths))}", markup=False)
        counts = {
            "failed": len(failed),
            "passed": len(outcomes) - len(failed),
            "refused": len(refused),
        }
        parts = [f"{count} {word}" for word, count in counts.items() if count or word == "passed"]
        seconds = time.monotonic() - begin
        style = "red" if failed else "green"
        OUT.print(f"{', '.join(parts)} in {seconds:.0f} s", style=style, markup=False)
    if hollow and not allow_refusals:
        raise ValueError(hollow)
    if failed:
        raise typer.Exit(1)


_FAILED = "last_failed.json"


def _failed(folder: Path) -> frozenset[str]:
    """The cases that failed last time, as "op case"."""
    path = folder / _FAILED
    names = parse_json(files.text_of(path)) if path.is_file() else []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{path}: not written by aclgrad test. Next: rm {path}")
    if not names:
        raise ValueError(f"--lf: {folder} knows of no failure. Next: leave --lf out")
    return frozenset(names)


def _keep_failed(folder: Path, ran: operators.Ran) -> None:
    """Keep for --lf what failed, and what failed before and was not run this time."""
    path = folder / _FAILED
    before = set(_failed(folder)) if path.is_file() and path.stat().st_size > 2 else set()
    names = {f"{outcome.case.op} {outcome.case.name}": outcome for outcome in ran.outcomes}
    failed = {name for name, outcome in names.items() if not outcome.passed}
    failed |= before - names.keys()
    if failed or path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        files.write(path, json.dumps(sorted(failed)), "report")


def _print_case(outcome: Outcome, head: str) -> None:
    OUT.print(f"\n{head} {outcome.case.name}\n{outcome.message}", markup=False)
    if outcome.picture is not None:
        from aclgrad.reporting.pictures import picture_text

        picture_text.show(outcome.picture, OUT)


def _print_causes(causes: Sequence[Group], conditions: Conditions) -> None:
    """The first case of each cause, and how many more have it."""
    for group in causes[:5]:
        first = group.first
        _print_case(first, group.op)
        OUT.print(f"repeat: {conditions.repro(first.case)}", markup=False)
        if more := len(group.outcomes) - 1:
            OUT.print(f"{more} more with this cause: {group.title}", markup=False)
    if rest := causes[5:]:
        cases = sum(len(group.outcomes) for group in rest)
        OUT.print(f"\nand {len(rest)} more causes, of {cases} cases, all in the report")


def _report_place(
    report: str | None, formats: str | None, out: Path | None, cases: list[str] | None
) -> tuple[Path, tuple[str, ...]]:
    from aclgrad.reporting import report as reports

    if report is not None and reports.is_formats(report):
        if formats is not None:
            raise ValueError(
                f"--report {report} and --format {formats}: both list formats; keep one"
            )
        formats, report = report, None
    if report is not None and out is not None:
        raise ValueError(f"--report {report} and --out {out}: both name the folder; keep one")
    # Single cases do not replace the report of a whole run unless told to.
    asked = report is not None or formats is not None or out is not None or not cases
    kinds = reports.parse_formats(formats or "html,json") if asked else ()
    return out or Path(report or "report"), kinds


def _print_table(rows: list[Any], title: str) -> None:
    table = Table(title=title, title_justify="left")
    for heading in (
        "op",
        "dtype",
        "cases",
        "passed",
        "ULP of scale (bound)",
        "public",
        "GM traffic / floor",
    ):
        table.add_column(
            heading, justify="left" if heading in ("op", "dtype") else "right", no_wrap=True
        )
    for row in rows:
        style = None if row.passed == row.cases else "red"
        cells = (
            row.op,
            row.dtype,
            str(row.cases),
            row.passed_text,
            row.error_text,
            row.public_text,
            row.traffic_text,
        )
        table.add_row(*cells, style=style)
    Terminal(width=max(120, OUT.width), soft_wrap=False).print(table)
