# SPDX-License-Identifier: Apache-2.0
"""``aclgrad test`` and ``check``: the case grid, its numbers and what the checks find."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from aclgrad import findings
from aclgrad.cli import kernel_file, known, lookup, operators, progress_lines
from aclgrad.cli.common import ERR, OUT, allow_partial, print_json, progress
from aclgrad.cli.options import (
    AllowRefusals,
    Attrs,
    Checked,
    Dim,
    Json,
    KernelFile,
    OfPathUnseen,
    Ops,
    Running,
    Shipped,
)
from aclgrad.common import files
from aclgrad.common.data import parse_json
from aclgrad.common.display.terminal import Terminal
from aclgrad.findings import HINT, Result
from aclgrad.reading.command_words import soc_name
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


class FindingsFormat(str, Enum):
    """Forms of the list of findings."""

    text = "text"
    json = "json"
    sarif = "sarif"


def check_command(
    ops: Ops = None,
    shipped: Shipped = False,
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
    inputs: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Kernel file: .npy of an input; repeatable."),
    ] = None,
    outputs: Annotated[
        str | None, typer.Option(help="Kernel file: shapes of the results, e.g. '2x8:fp32'.")
    ] = None,
    kernel: Annotated[KernelFile, "unseen"],
    hints: Annotated[
        bool, typer.Option("--hints/--no-hints", help="List barriers and flags that order nothing.")
    ] = True,
    recorded: Annotated[
        Path | None,
        typer.Option(
            "--show", metavar="FILE", help="Run nothing, show the file of ACLGRAD_SIM_REPORT."
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(hidden=True)] = None,  # the former --show
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
    headers: Annotated[Path | None, typer.Option(hidden=True)] = None,  # now aclgrad headers
    as_json: Annotated[bool, typer.Option("--json", hidden=True)] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, hidden=True)] = 0,
) -> None:
    """Find bugs that an NPU would have: memory, queues and flags, races between pipes and cores,
    rules of instructions. Exit status 1: there is an error. A warning depends on inputs that check
    had to invent. aclgrad-known.toml lists findings that are left for now.
    """
    allow_partial(checked.partial_output)
    attrs = [*(attr or []), *([f"dim={dim}"] if dim is not None else [])]
    report = recorded or report
    if headers is not None:
        if shape or dtype or attrs or case or chaos or report or output or html:
            raise ValueError(
                "--headers: compiles the sources and runs nothing. Next: leave out everything but"
                " operators, --json and --jobs"
            )
        from aclgrad.cli.headers import check as check_headers

        check_headers(ops or [], [headers], as_json, jobs)
        return
    if as_json or jobs:
        raise ValueError("--json and --jobs: go with --headers. Next: --format json for findings")
    if output is not None:
        files.check_output(output)
    if html is not None:
        files.check_output(html, "--html")
    notes: list[str] = []
    hollow = ""
    if report is not None:
        result = _of_report(report, ops or shape or case or chaos)
    else:
        kernels = ops is not None and any(word.endswith((".cpp", ".cc", ".asc")) for word in ops)
        _one_choice(shape, case, attrs, kernels)
        asked = operators.Asked(dtype, case or (), fast, shape or (), attrs)
        given = kernel_file.Given(inputs or (), outputs, attrs, kernel, of_path, checked)
        words = lookup.named(ops, shipped=shipped)
        with _race_times(html is not None):
            looked = _look(words, asked, given, seed, chaos, sanitize_host)
        result, hollow = _result(looked, chaos), looked.hollow
        if (place := Path(known.NAME)).is_file():
            today = datetime.now(timezone.utc).date()
            result, notes = known.apply(result, known.read(place), today)
    if not hints:
        kept = [item for item in result.found if item.finding.severity != HINT]
        result = dataclasses.replace(result, found=tuple(kept))
    _show(result, notes, form, output)
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


def _one_choice(
    shapes: list[str] | None, names: list[str] | None, attrs: list[str], kernels: bool
) -> None:
    """Refuse options that choose cases in two ways."""
    if shapes and names:
        raise ValueError("--shape and --case: both choose what is run; keep one")
    if attrs and not shapes and not kernels:
        raise ValueError("--attr and --dim: the cases have their own. Next: give a --shape too")


def _of_report(report: Path, given: object) -> Result:
    """What a file of ACLGRAD_SIM_REPORT holds."""
    if given:
        raise ValueError(
            "--show: shows a file and runs nothing. Next: leave out operators, --shape,"
            " --case and --chaos"
        )
    with progress_lines.telling(f"reading {report}"):
        found = findings.merge([findings.Run("", "", tuple(findings.read_report(report)))])
    return Result(tuple(found))


def _look(
    words: list[str],
    asked: operators.Asked,
    given: kernel_file.Given,
    seed: int,
    chaos: str | None,
    sanitize_host: bool,
) -> operators.Looked:
    """Run the cases of operators, or a kernel file."""
    checked = given.checked
    alone = kernel_file.alone(words, given.of_path)
    if (given.inputs or given.outputs or given.kernel.given()) and not alone:
        option = (*given.kernel.given(), "--outputs" if given.outputs else "--inputs")[0]
        raise ValueError(f"{option}: goes with a kernel file. Next: leave it out")
    looked = operators.Looked()
    with progress(ERR) as bar:
        if alone:
            task = bar.add_task(f"running {alone}", total=None)
            chosen = asked.shapes or asked.dtype or asked.names
            looked.runs += kernel_file.check(alone, given, chaos, chosen)
            looked.conditions = {"soc": soc_name(checked.soc)}
            bar.advance(task)
            return looked
        running = Running(**vars(checked), check=True, chaos=0)
        for one in lookup.find(words, given.of_path, shipped=not words):
            done = one.check(asked, running, seed, chaos, bar)
            looked.runs += done.runs
            if sanitize_host:
                looked.runs += one.sanitize(asked, running, seed)
            looked.conditions |= done.conditions
            looked.refused += done.refused
            looked.notes += done.notes
            looked.hollow = looked.hollow or done.hollow
    return looked


def _result(looked: operators.Looked, chaos: str | None) -> Result:
    return Result(
        tuple(findings.merge(looked.runs)),
        len(looked.runs),
        {**looked.conditions, **({"chaos": chaos} if chaos else {})},
        tuple(looked.refused),
        tuple(looked.notes),
    )


def _show(result: Result, notes: Sequence[str], form: FindingsFormat, output: Path | None) -> None:
    """Print findings, or write them."""
    if output is not None:
        files.write(output, findings.render(result, form.value))
        OUT.print(f"{output}: {result.verdict}", markup=False)
    elif form is FindingsFormat.text:
        findings.print_text(result, OUT)
    else:
        print(findings.render(result, form.value), end="")
    for note in notes:
        (OUT if form is FindingsFormat.text else ERR).print(note, markup=False)


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
