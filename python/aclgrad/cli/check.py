# SPDX-License-Identifier: Apache-2.0
"""``aclgrad test`` and ``check``: the case grid, its numbers and what the checks find."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from aclgrad.cli import lookup, operators, progress_lines
from aclgrad.cli.common import ERR, OUT, allow_partial, progress
from aclgrad.cli.options import (
    AllowRefusals,
    Attrs,
    Checked,
    Dim,
    Json,
    OfPathUnseen,
    Ops,
    Running,
)
from aclgrad.common import files
from aclgrad.common.display.terminal import Terminal
from aclgrad.testing import selection
from aclgrad.testing import tolerance as tolerances

if TYPE_CHECKING:
    from aclgrad.reporting.conditions import Conditions
    from aclgrad.reporting.groups import Group
    from aclgrad.testing.run import Outcome

OnlyDtype = Annotated[str | None, typer.Option(help="Only this dtype: fp32, fp16 or bf16.")]
Fast = Annotated[
    bool, typer.Option("--fast", help="Shorter grid: fewer lengths around blocks, no long rows.")
]


def test_command(
    ops: Ops = None,
    listed: Annotated[
        str | None, typer.Option("--ops", metavar="A,B", help="Operators as a list.")
    ] = None,
    dtype: OnlyDtype = None,
    case: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this case, as the report names it; repeatable."),
    ] = None,
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
        typer.Option(metavar="DIR|FORMATS", help="Folder, or formats like --format."),
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
            help="Go on: build and test again what changes, on the shorter grid of --fast.",
        ),
    ] = False,
) -> None:
    """Run the standard case grid against golden data and print the precision table."""
    if watching:
        from aclgrad.cli import watch

        place = _report_place(report, formats, out, case)[0]
        watch.watch_words(ops or [], listed, running.soc, place)
        return
    from aclgrad.reporting import report as reports

    allow_partial(running.partial_output)
    folder, kinds = _report_place(report, formats, out, case)
    if folder.is_dir():
        for kind in kinds:
            files.check_output(folder / reports.FORMATS[kind], "report")
    bound = None if tolerance is None else tolerances.parse(tolerance)
    asked = operators.Asked(dtype, case or (), fast, tolerance=bound)
    ran = operators.Ran()
    with progress(ERR if as_json else OUT) as bar:
        for found in lookup.find(ops, of_path, listed, quiet=as_json):
            done = found.test(asked, running, seed, bar)
            ran.outcomes += done.outcomes
            ran.refused += done.refused
            ran.in_force = done.in_force
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
    _report(ran, conditions, folder, kinds, bool(case), as_json, allow_refusals)


def _report(
    ran: operators.Ran,
    conditions: Conditions,
    folder: Path,
    kinds: Sequence[str],
    named: bool,
    as_json: bool,
    allow_refusals: bool,
) -> None:
    """Write the report, show what failed, or every case that was asked for by name."""
    from aclgrad.reporting import report as reports
    from aclgrad.testing import refusals

    outcomes, refused = ran.outcomes, ran.refused
    paths = reports.write_formats(folder, kinds, outcomes, conditions, refused)
    failed = [outcome for outcome in outcomes if not outcome.passed]
    hollow = refusals.too_many(refused, [outcome.case.op for outcome in outcomes])
    if as_json:
        print(json.dumps(reports.as_json(outcomes, conditions, refused)))
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
        counts = (len(outcomes) - len(failed), len(failed), len(refused))
        OUT.print("{} passed, {} failed, {} refused".format(*counts), markup=False)
    if hollow and not allow_refusals:
        raise ValueError(hollow)
    if failed:
        raise typer.Exit(1)


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


class FindingsFormat(str, Enum):
    """Forms of the list of findings."""

    text = "text"
    json = "json"
    sarif = "sarif"


def check_command(
    ops: Ops = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SHAPE", help="This shape, e.g. 4096x512, instead of the case grid; repeatable."
        ),
    ] = None,
    dtype: OnlyDtype = None,
    dim: Dim = None,
    attr: Attrs = None,
    case: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this case of the grid; repeatable."),
    ] = None,
    *,
    checked: Checked,
    chaos: Annotated[
        str | None,
        typer.Option(
            metavar="SEEDS",
            help="Repeat with every pipe as late as its synchronisation allows, e.g. 1,2 or 1-20;"
            " the result must be the same.",
        ),
    ] = None,
    sanitize_host: Annotated[
        bool,
        typer.Option(
            "--sanitize-host",
            help="Also run definition, inference and tiling of the cases under AddressSanitizer and"
            " UndefinedBehaviorSanitizer, and for tensors of more than 2^31 elements.",
        ),
    ] = False,
    fast: Fast = False,
    allow_refusals: AllowRefusals = False,
    seed: Annotated[int, typer.Option(help="Other random values.")] = 0,
    of_path: OfPathUnseen,
    hints: Annotated[
        bool, typer.Option("--hints/--no-hints", help="List barriers and flags that order nothing.")
    ] = True,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Run nothing, show ACLGRAD_SIM_REPORT's file.",
        ),
    ] = None,
    form: Annotated[
        FindingsFormat, typer.Option("--format", help="text, json or sarif.")
    ] = FindingsFormat.text,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the findings.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="PAGE", help="Page: sources, both ends of races, pipes."),
    ] = None,
    headers: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR [DIR...]",
            help="Run nothing, type-check the sources against CANN's headers in these folders;"
            " operators go before it.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="With --headers: print JSON.")] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=0, help="With --headers: parallel compilations.")
    ] = 0,
) -> None:
    """Look for faults: memory, queues and flags, pipes and cores that nothing orders, rules of
    instructions. Exit status 1 when there is an error; a warning rests on inputs that check had to
    invent.
    """
    from aclgrad import findings

    allow_partial(checked.partial_output)
    hollow = ""
    if headers is not None:
        if shape or dtype or attr or case or chaos or report or output or html or dim is not None:
            raise ValueError(
                "--headers: compiles the sources and runs nothing. Next: leave out everything but"
                " operators, --json and --jobs"
            )
        _check_headers(ops or [], headers, as_json, jobs)
        return
    if as_json or jobs:
        raise ValueError("--json and --jobs: go with --headers. Next: --format json for findings")
    if output is not None:
        files.check_output(output)
    if html is not None:
        files.check_output(html, "--html")
    if report is not None:
        if ops or shape or case or chaos:
            raise ValueError(
                "--report: shows a file and runs nothing. Next: leave out operators, --shape,"
                " --case and --chaos"
            )
        with progress_lines.telling(f"reading {report}"):
            found = findings.merge([findings.Run("", "", tuple(findings.read_report(report)))])
        result = findings.Result(tuple(found))
    else:
        if shape and case:
            raise ValueError("--shape and --case: both choose what is run; keep one")
        if (attr or dim is not None) and not shape:
            raise ValueError("--attr and --dim: the cases have their own. Next: give a --shape too")
        attrs = [*(attr or []), *([f"dim={dim}"] if dim is not None else [])]
        asked = operators.Asked(dtype, case or (), fast, shape or (), attrs)
        running = Running(**vars(checked), check=True, chaos=0)
        looked = operators.Looked()
        with _race_times(html is not None), progress(ERR) as bar:
            for one in lookup.find(ops, of_path):
                done = one.check(asked, running, seed, chaos, bar)
                looked.runs += done.runs
                if sanitize_host:
                    looked.runs += one.sanitize(asked, running, seed)
                looked.conditions |= done.conditions
                looked.refused += done.refused
                looked.notes += done.notes
                hollow = hollow or done.hollow
        conditions = {**looked.conditions, **({"chaos": chaos} if chaos else {})}
        result = findings.Result(
            tuple(findings.merge(looked.runs)),
            len(looked.runs),
            conditions,
            tuple(looked.refused),
            tuple(looked.notes),
        )
    if not hints:
        kept = [item for item in result.found if item.finding.severity != findings.HINT]
        result = dataclasses.replace(result, found=tuple(kept))
    if output is not None:
        files.write(output, findings.render(result, form.value))
        OUT.print(f"{output}: {result.verdict}", markup=False)
    elif form is FindingsFormat.text:
        findings.print_text(result, OUT)
    else:
        print(findings.render(result, form.value), end="")
    if html is not None:
        from aclgrad.reporting import findings_page

        title = f"Findings of {', '.join(ops)}" if ops else "Findings"
        # A report may name any file; what its lines say is no reason to show it.
        below = None if report is None else files.repository(Path.cwd())
        files.write(html, findings_page.page(result, title=title, below=below), "--html")
        ERR.print(f"page: {html}", markup=False)
    if hollow and not allow_refusals:
        raise ValueError(hollow)
    if result.errors:
        raise typer.Exit(1)


@contextmanager
def _race_times(wanted: bool) -> Iterator[None]:
    """With times for the ends of races, also in processes that are started."""
    name = "ACLGRAD_SIM_RACE_TIMES"
    if not wanted or name in os.environ:
        yield
        return
    os.environ[name] = "on"
    try:
        yield
    finally:
        del os.environ[name]


def _check_headers(words: Sequence[str], first: Path, as_json: bool, jobs: int) -> None:
    """What stands beside --headers and is a folder is an operator project, or one more of its
    folders.
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
            f"check --headers: {rest[0]} and {own[0]}: an operator of this package and a project of"
            " its own. Next: one call for each"
        )
    with progress(ERR) as bar:
        task = bar.add_task("checking", total=None)

        def step(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, description=f"{text[:60]:60}")

        folders = [first, *map(Path, more)]
        if own:
            result = projects.check(folders, own, jobs=jobs, progress=step)
        else:
            specs = selection.operators(rest)
            result = header_check.check(folders, specs, jobs=jobs, progress=step)
    if as_json:
        print(json.dumps(result.as_json()))
    else:
        header_report.show(result)
    if result.failed or result.refused or any(item.needed for item in result.skipped):
        raise typer.Exit(1)
