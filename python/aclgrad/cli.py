# SPDX-License-Identifier: Apache-2.0
"""The ``aclgrad`` command. Each command turns options into one call and prints the result."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from aclgrad import __version__, dtypes, errors, peer_cli, selection, user_data
from aclgrad.errors import AclgradError
from aclgrad.ops import find
from aclgrad.precision import Report, compare
from aclgrad.spec import OpSpec

if TYPE_CHECKING:
    from aclgrad.cases import Case
    from aclgrad.findings import Run
    from aclgrad.headers import Result as HeaderResult

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Backward operators for Ascend NPUs, on an NPU or on the built-in simulator.",
)
_out = Console(highlight=False, soft_wrap=True)
_err = Console(stderr=True, highlight=False, soft_wrap=True)


class DeviceName(str, Enum):
    """Where operators run."""

    sim = "sim"
    npu = "npu"


Device = Annotated[DeviceName, typer.Option(help="Simulator or NPU; no fallback.")]
Soc = Annotated[
    str | None, typer.Option(help="Simulated SoC. [default: $ACLGRAD_SOC or Ascend910B2]")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Ops = Annotated[
    list[str] | None,
    typer.Argument(metavar="[OPS]...", help="Operators, e.g. softmax_grad; all when left out."),
]
Dtype = Annotated[str, typer.Option(help="fp32, fp16 or bf16.")]
Op = Annotated[str, typer.Argument(metavar="OP", help="Operator, e.g. softmax_grad.")]
Attrs = Annotated[
    list[str] | None,
    typer.Option(
        "--attr", "--attrs", metavar="NAME=VALUE", help="Attribute as NAME=VALUE; repeatable."
    ),
]
Dim = Annotated[int | None, typer.Option(help="Short for --attr dim=DIM.")]

Outputs = Annotated[
    str | None, typer.Option(help="With a path: shapes of the results, e.g. '2x8:fp32'.")
]
Blocks = Annotated[int | None, typer.Option(min=1, help="Kernel file: cores. [default: 1]")]
Tiling = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|VALUES",
        help="Kernel file: tiling data, or values such as 'u32:2048,4 f32:0.5'.",
    ),
]
TilingKey = Annotated[int | None, typer.Option(min=0, help="Kernel file: key. [default: 0]")]
Workspace = Annotated[
    int | None, typer.Option(min=0, help="Kernel file: bytes. [default: 16 MiB if it has one]")
]


class Switch(str, Enum):
    """On or off."""

    on = "on"
    off = "off"


class FindingsFormat(str, Enum):
    """Forms of the list of findings."""

    text = "text"
    json = "json"
    sarif = "sarif"


Checks = Annotated[
    bool | None,
    typer.Option(
        "--check/--no-check",
        help="With all checks, or the fast path. [default: $ACLGRAD_SIM_MODE or --check]",
    ),
]
AutoSync = Annotated[
    Switch | None,
    typer.Option(
        "--autosync",
        "--auto-sync",
        metavar="on|off",
        help="Count on the compiler's synchronisation. [default: $ACLGRAD_SIM_AUTOSYNC or on]",
    ),
]
Chaos = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="SEED", help="Run every pipe as late as its synchronisation allows; 0: off."
    ),
]

F = TypeVar("F", bound=Callable[..., None])


def _command(name: str) -> Callable[[F], F]:
    """Register a command whose errors end in one message and status 1."""

    def decorate(function: F) -> F:
        @wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> None:
            try:
                function(*args, **kwargs)
            except (AclgradError, ValueError, TypeError, OSError) as error:
                text = (
                    f"{error.filename}: {error.strerror}"
                    if isinstance(error, OSError) and error.filename
                    else str(error)
                )
                _err.print(f"error: {text}", style="red", markup=False)
                raise typer.Exit(1) from None
            except KeyboardInterrupt:
                _err.print("interrupted")
                raise typer.Exit(130) from None

        app.command(name)(guarded)
        return function

    return decorate


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip


def _open(
    device: DeviceName,
    soc: str | None,
    check: bool | None = None,
    autosync: Switch | None = None,
    chaos: int | None = None,
) -> Any:
    from aclgrad.runtime import open_device
    from aclgrad.soc import family_of

    if soc is not None:
        if device is DeviceName.npu:
            raise ValueError(
                "--soc names a simulated SoC; an NPU is what it is. Next: leave --soc out"
            )
        family_of(soc)
    opened = open_device(device.value)
    if soc is not None:
        opened.set_option("soc", soc)
    if check is not None:
        opened.set_option("mode", "checked" if check else "fast")
    if autosync is not None:
        opened.set_option("autosync", autosync.value)
    if chaos is not None:
        opened.set_option("chaos", str(chaos))
    return opened


@_command("build")
def build_command(
    ops: Ops = None,
    debug: Annotated[
        bool, typer.Option("--debug", help="Compile without optimisation, for gdb.")
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=0, help="Parallel compilations; 0 lets Ninja choose.")
    ] = 0,
    device: Device = DeviceName.sim,
    soc: Annotated[
        str | None, typer.Option(help="With --device npu or a path: the SoC to compile for.")
    ] = None,
    only_dtypes: Annotated[
        str | None,
        typer.Option("--dtypes", help="With a path: dtypes of the first inputs, e.g. fp32,fp32."),
    ] = None,
) -> None:
    """Build the simulator and the operators of a source checkout; with --device npu the operators
    for one SoC, with the CANN toolkit of ASCEND_HOME_PATH; with a path (an operator's folder with
    op_kernel and op_host, or a kernel file) that operator for the simulator.
    """
    if device is DeviceName.npu:
        _build_npu(ops, debug, soc, jobs)
        return
    if ops and any(map(peer_cli.is_path, ops)):
        peer_cli.build(ops, _out, soc=soc, dtypes=only_dtypes, debug=debug, jobs=jobs)
        return
    if soc is not None:
        raise ValueError(
            "--soc: the simulator's build holds the kernels of every SoC. Next: leave --soc out;"
            " aclgrad test --soc chooses one"
        )
    from aclgrad.build import build

    with _progress(_out) as bar:
        task = bar.add_task("building", total=None)

        def step(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, description=f"building {text[:60]:60}")

        result = build(
            [spec.op for spec in selection.operators(ops)] if ops else [],
            debug=debug,
            jobs=jobs,
            progress=step,
        )
    if result.rebuilt:
        _out.print(f"rebuilt {len(result.rebuilt)} libraries in {result.folder}:")
        for name in result.rebuilt:
            _out.print(f"  {name}")
    elif result.steps:
        _out.print(f"{result.steps} build steps in {result.folder}, no library changed")
    else:
        _out.print(f"up to date: nothing rebuilt in {result.folder}")


def _build_npu(ops: list[str] | None, debug: bool, soc: str | None, jobs: int) -> None:
    from aclgrad.cann import build_npu

    if ops or debug:
        raise ValueError(
            "build --device npu builds all operators, optimised. Next: leave out --debug and names"
            " of operators"
        )
    vendor = build_npu(soc, jobs=jobs, progress=lambda step: _out.print(step, markup=False))
    _out.print(f"built {vendor}", markup=False)
    _out.print(f"next: export ASCEND_CUSTOM_OPP_PATH={vendor}", markup=False)


@_command("test")
def test_command(
    ops: Ops = None,
    listed: Annotated[
        str | None, typer.Option("--ops", metavar="A,B", help="Operators as a list.")
    ] = None,
    device: Device = DeviceName.sim,
    soc: Soc = None,
    dtype: Annotated[str | None, typer.Option(help="Only this dtype: fp32, fp16 or bf16.")] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this case, as the report names it; repeatable."),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Shorter grid: no long rows.")] = False,
    seed: Annotated[int, typer.Option(help="Other random values for the same grid.")] = 0,
    check: Checks = None,
    autosync: AutoSync = None,
    chaos: Chaos = None,
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
    as_json: Json = False,
) -> None:
    """Run the standard case grid against golden data and print the precision table."""
    from aclgrad import report as reports
    from aclgrad.run import run_cases
    from aclgrad.soc import family_of

    folder, kinds = _report_place(report, formats, out, case)
    specs = selection.operators(ops or [], listed)
    wanted = dtypes.parse(dtype) if dtype else None
    # Refuse wrong words before a device is opened.
    selection.choose(specs, fast=fast, dtype=wanted, names=case or ())
    opened = _open(device, soc, check, autosync, chaos)
    name = opened.option("soc") or "npu"
    family = family_of(name) if device is DeviceName.sim else None
    chosen = selection.choose(specs, fast=fast, dtype=wanted, names=case or (), family=family)
    outcomes = []
    with _progress(_err if as_json else _out) as bar:
        for spec, group in chosen.groups:
            task = bar.add_task(f"{spec.op} on {name}", total=len(group))
            for outcome in run_cases(opened, spec, group, seed):
                outcomes.append(outcome)
                bar.advance(task)
    conditions = reports.Conditions(
        device.value,
        name,
        opened.option("mode"),
        seed,
        fast,
        f"{datetime.now(timezone.utc):%F %R} UTC",
        opened.option("autosync"),
        opened.option("chaos") or "0",
    )
    paths = reports.write_formats(folder, kinds, outcomes, conditions)
    failed = [outcome for outcome in outcomes if not outcome.passed]
    if as_json:
        print(json.dumps(reports.as_json(outcomes, conditions)))
    else:
        _print_table(reports.rows(outcomes), f"precision on {name} ({device.value})")
        shown = outcomes if case else failed
        for outcome in shown[:5]:
            _out.print(f"\n{outcome.case.op} {outcome.case.name}\n{outcome.message}", markup=False)
            if not case:
                _out.print(f"repeat: {conditions.repro(outcome.case)}", markup=False)
        if len(shown) > 5:
            _out.print(f"\nand {len(shown) - 5} more cases, all in the report")
        if chosen.left_out:
            _out.print(f"{chosen.left_out} cases left out: not supported on {name}")
        if paths:
            _out.print(f"report: {', '.join(map(str, paths))}", markup=False)
    if failed:
        raise typer.Exit(1)


def _report_place(
    report: str | None, formats: str | None, out: Path | None, cases: list[str] | None
) -> tuple[Path, tuple[str, ...]]:
    from aclgrad import report as reports

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
    for heading in ("op", "dtype", "cases", "passed", "max error in ULP", "GM traffic / floor"):
        table.add_column(
            heading, justify="left" if heading in ("op", "dtype") else "right", no_wrap=True
        )
    for row in rows:
        style = None if row.passed == row.cases else "red"
        cells = (
            row.op,
            row.dtype,
            str(row.cases),
            str(row.passed),
            f"{row.max_ulp:.2f}",
            row.traffic_text,
        )
        table.add_row(*cells, style=style)
    Console(highlight=False, width=max(100, _out.width)).print(table)


@_command("check")
def check_command(
    ops: Ops = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SHAPE", help="This shape, e.g. 4096x512, instead of the case grid; repeatable."
        ),
    ] = None,
    dtype: Annotated[str | None, typer.Option(help="Only this dtype: fp32, fp16 or bf16.")] = None,
    dim: Dim = None,
    attr: Attrs = None,
    case: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this case of the grid; repeatable."),
    ] = None,
    soc: Soc = None,
    autosync: AutoSync = None,
    chaos: Annotated[
        str | None,
        typer.Option(
            metavar="SEEDS",
            help="Repeat with every pipe as late as its synchronisation allows, e.g. 1,2 or 1-20;"
            " the result must be the same.",
        ),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Shorter grid: no long rows.")] = False,
    seed: Annotated[int, typer.Option(help="Other random values for the same cases.")] = 0,
    hints: Annotated[
        bool, typer.Option("--hints/--no-hints", help="List barriers and flags that order nothing.")
    ] = True,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Run nothing, show a file that ACLGRAD_SIM_REPORT named.",
        ),
    ] = None,
    form: Annotated[
        FindingsFormat, typer.Option("--format", help="text, json or sarif.")
    ] = FindingsFormat.text,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the findings.")
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
    instructions. Exit status 1 when there is an error.
    """
    from aclgrad import findings
    from aclgrad.soc import family_of

    if headers is not None:
        if shape or dtype or attr or case or chaos or report or output or dim is not None:
            raise ValueError(
                "--headers: compiles the sources and runs nothing. Next: leave out everything but"
                " operators, --json and --jobs"
            )
        _check_headers(ops or [], headers, as_json, jobs)
        return
    if as_json or jobs:
        raise ValueError("--json and --jobs: go with --headers. Next: --format json for findings")
    if output is not None:
        user_data.check_output(output)
    if report is not None:
        if ops or shape or case or chaos:
            raise ValueError(
                "--report: shows a file and runs nothing. Next: leave out operators, --shape,"
                " --case and --chaos"
            )
        found = findings.merge([findings.Run("", "", tuple(findings.read_report(report)))])
        result = findings.Result(tuple(found))
    elif ops and any(map(peer_cli.is_path, ops)):
        if len(ops) > 1 or shape or case or chaos or attr or dim is not None:
            raise ValueError(
                "check PATH: one path, with inputs made from its definition. Next: only --dtype,"
                " --soc, --hints, --format and --output go with it"
            )
        result = peer_cli.check(ops[0], soc=soc, dtype=dtype)
    else:
        specs = selection.operators(ops or [])
        wanted = dtypes.parse(dtype) if dtype else None
        seeds = selection.seeds(chaos) if chaos else ()
        shapes = [user_data.parse_shape(text) for text in shape or ()]
        if shapes and case:
            raise ValueError("--shape and --case: both choose what is run; keep one")
        if (attr or dim is not None) and not shapes:
            raise ValueError("--attr and --dim: the grid has its own. Next: give a --shape too")
        if not shapes:
            # Refuse wrong words before a device is opened.
            selection.choose(specs, fast=fast, dtype=wanted, names=case or ())
        attrs = {spec: user_data.parse_attrs(spec, attr or [], dim) for spec in specs}
        opened = _open(DeviceName.sim, soc, True, autosync, 0)
        chosen = selection.to_check(
            attrs, shapes, family_of(opened.option("soc")), wanted, case or (), fast, bool(ops)
        )
        runs, conditions = _run_checks(opened, chosen, seed, seeds, chaos, fast)
        result = findings.Result(tuple(findings.merge(runs)), len(runs), conditions)
    if not hints:
        errors = [item for item in result.found if item.finding.severity == findings.ERROR]
        result = dataclasses.replace(result, found=tuple(errors))
    if output is not None:
        output.write_text(findings.render(result, form.value), "utf-8")
        _out.print(f"{output}: {result.verdict}", markup=False)
    elif form is FindingsFormat.text:
        findings.print_text(result, _out)
    else:
        print(findings.render(result, form.value), end="")
    if result.errors:
        raise typer.Exit(1)


def _check_headers(words: Sequence[str], first: Path, as_json: bool, jobs: int) -> None:
    """What stands beside --headers and is a folder is one more of its folders."""
    from aclgrad import headers

    known = {spec.op for spec in selection.operators([])}
    more = [word for word in words if word not in known and Path(word).is_dir()]
    specs = selection.operators([word for word in words if word not in more])
    with _progress(_err) as bar:
        task = bar.add_task("checking", total=None)

        def step(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, description=f"{text[:60]:60}")

        result = headers.check([first, *map(Path, more)], specs, jobs=jobs, progress=step)
    if as_json:
        print(json.dumps(result.as_json()))
    else:
        _print_headers(result)
    if result.failed or any(item.needed for item in result.skipped):
        raise typer.Exit(1)


def _print_headers(result: HeaderResult) -> None:
    for found in result.sets:
        columns, rows = result.cells(found.name)
        table = Table(title=f"type-checked against {found.name}", title_justify="left")
        for heading in ("operator", *columns):
            table.add_column(heading, no_wrap=True)
        for op, cells in rows:
            bad = any("error" in cell for cell in cells)
            table.add_row(op, *cells, style="red" if bad else None)
        Console(highlight=False, width=max(120, _out.width)).print(table)
        for name, path, commit in found.sources:
            _out.print(f"{name} {commit or path}", markup=False)
    for item in result.skipped:
        _out.print(f"not checked: {item.what}: {item.why}", markup=False)
    for note in result.notes:
        _out.print(note, markup=False)
    for outcome in result.failed:
        job = outcome.job
        _out.print(f"\n{job.op} {job.column} {job.label} ({job.headers})", markup=False)
        for problem in outcome.problems[:3]:
            _out.print(f"  {problem}", markup=False)
        if len(outcome.problems) > 3:
            _out.print(f"  and {len(outcome.problems) - 3} more")
    total = len(result.outcomes)
    _out.print(f"{total - len(result.failed)} of {total} compilations without an error")


def _run_checks(
    opened: Any,
    chosen: Sequence[tuple[OpSpec, Case, list[str]]],
    seed: int,
    seeds: Sequence[int],
    chaos: str | None,
    fast: bool,
) -> tuple[list[Run], dict[str, str]]:
    from aclgrad.report import Conditions
    from aclgrad.run import run_case

    soc, autosync = opened.option("soc"), opened.option("autosync")
    here = Conditions("sim", soc, None, seed, fast, autosync=autosync, chaos=chaos or "0")
    runs = []
    with _progress(_err) as bar:
        task = bar.add_task(f"checking on {soc}", total=len(chosen))
        for spec, case, words in chosen:
            outcome = run_case(opened, spec, case, seed, seeds)
            runs.append(outcome.run(here.repro(case, "check", words)))
            bar.advance(task)
    conditions = {"soc": soc, "autosync": autosync}
    return runs, {**conditions, "chaos": chaos} if chaos else conditions


@_command("run")
def run_command(
    op: Op,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES...",
            help="Inputs (.npy) in the order of the C function; with an .asc file the program's"
            " own words, behind --.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", "--save", help="File for the result (.npy; .npz for all)."),
    ] = None,
    inputs_first: Annotated[
        str | None,
        typer.Option("--inputs", metavar="FILE", help="Another way to write the first of FILES."),
    ] = None,
    outputs: Outputs = None,
    blocks: Blocks = None,
    tiling: Tiling = None,
    tiling_key: TilingKey = None,
    workspace: Workspace = None,
    dim: Dim = None,
    attr: Attrs = None,
    dtype: Annotated[
        str | None, typer.Option(help="Dtype of files that NumPy shows as V2.")
    ] = None,
    out_dtype: Annotated[
        str | None, typer.Option(help="Dtype of the result. [default: the input's]")
    ] = None,
    golden: Annotated[
        bool, typer.Option("--golden", help="Compare the result with the float64 golden.")
    ] = False,
    device: Device = DeviceName.sim,
    soc: Soc = None,
    check: Checks = None,
    autosync: AutoSync = None,
    chaos: Chaos = None,
    as_json: Json = False,
) -> None:
    """Run an operator on your own tensors: one of this package, sources (a folder, a kernel file)
    or a program (.asc).
    """
    files = [*([inputs_first] if inputs_first else []), *(files or [])]
    kernel = peer_cli.KernelOptions(blocks, tiling, tiling_key, workspace)
    if op.endswith(".asc"):
        status = _run_program(
            Path(op), files, kernel, device, soc, check, autosync, chaos, output, as_json
        )
        raise typer.Exit(status)
    if peer_cli.is_path(op):
        wrong = peer_cli.run(
            op,
            files,
            attr or [],
            _out,
            lambda: _open(device, soc, check, autosync, chaos),
            soc=soc,
            dtype=dtype,
            outputs=outputs,
            save=output,
            as_json=as_json,
            kernel=kernel,
        )
        if wrong:
            raise typer.Exit(1)
        return
    if kernel.given():
        raise ValueError(
            f"{kernel.given()[0]} is for a kernel file; {op} has its own tiling. Next: leave it out"
        )
    if output is None:
        raise typer.BadParameter(
            "is missing: a file for the result. Next: add -o out.npy", param_hint="--output"
        )
    spec = find(op)
    paths = [Path(name) for name in files]
    inputs = user_data.load_inputs(spec, paths, dtypes.parse(dtype) if dtype else None)
    attrs = user_data.parse_attrs(spec, attr or [], dim)
    from aclgrad.functions import result_desc

    out = result_desc(spec, inputs, dtypes.parse(out_dtype).numpy if out_dtype else None)
    user_data.check_output(output)
    opened = _open(device, soc, check, autosync, chaos)
    result = opened.run(spec, inputs, attrs, out)
    user_data.save(output, result)
    verdict = _judge(spec, inputs, attrs, result) if golden else None
    found = [finding for finding in opened.findings() if finding.severity == "error"]
    if as_json:
        document: dict[str, Any] = {
            "op": spec.op,
            "output": str(output),
            "shape": list(result.shape),
            "dtype": result.dtype.name,
        }
        if verdict is not None:
            document["golden"] = {
                "passed": verdict.passed,
                "max_ulp": verdict.max_ulp,
                "max_abs": verdict.max_abs,
            }
        if found:
            document["findings"] = [finding.text for finding in found]
        print(json.dumps(document))
    else:
        _out.print(f"{output}: {result.dtype.name} {list(result.shape)}", markup=False)
        if verdict is not None:
            _out.print(str(verdict), markup=False)
        for finding in found:
            _out.print(finding.text, markup=False)
    if found or (verdict is not None and not verdict.passed):
        raise typer.Exit(1)


def _run_program(
    source: Path,
    words: Sequence[str],
    kernel: peer_cli.KernelOptions,
    device: DeviceName,
    soc: str | None,
    check: bool | None,
    autosync: Switch | None,
    chaos: int | None,
    output: Path | None,
    as_json: bool,
) -> int:
    if device is DeviceName.npu:
        raise ValueError(
            "--device npu: aclgrad builds .asc files for the simulator only. Next:"
            " find_package(ASC) of CANN"
        )
    if kernel.given() or output is not None:
        raise ValueError(
            f"{(kernel.given() or ['--save'])[0]} is for a kernel file; {source} has its own main"
            " function. Next: leave it out"
        )
    chosen = {
        "ACLGRAD_SOC": soc,
        "ACLGRAD_SIM_MODE": None if check is None else "checked" if check else "fast",
        "ACLGRAD_SIM_AUTOSYNC": autosync and autosync.value,
        "ACLGRAD_SIM_CHAOS": None if chaos is None else str(chaos),
    }
    environment = {name: value for name, value in chosen.items() if value is not None}
    return peer_cli.run_program(source, words, _out, environment, soc=soc, as_json=as_json)


def _judge(spec: OpSpec, inputs: Any, attrs: Any, result: Any) -> Report:
    dtype = next(iter(inputs.values())).dtype
    terms = spec.magnitudes(inputs, attrs)
    return compare(result, spec.evaluate(inputs, attrs), dtype, terms=terms)


@_command("ut")
def ut_command(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="An operator's folder, its tests/ut/op_kernel, or a test_*.cpp."
        ),
    ],
    filter_: Annotated[
        str | None, typer.Option("--filter", help="Tests to run, as --gtest_filter takes them.")
    ] = None,
    define: Annotated[
        list[str] | None,
        typer.Option("--define", "-D", metavar="NAME=VALUE", help="Macro for the compiler."),
    ] = None,
    soc: Annotated[
        str | None, typer.Option(help="SoC in place of the one that the test's CMake list names.")
    ] = None,
    python: Annotated[
        Path | None,
        typer.Option(help="Python that runs the test's own scripts. [default: this one]"),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Parallel compilations.")] = 0,
    as_json: Json = False,
) -> None:
    """Build and run gtest unit tests written for CANN's CPU twin (tikicpulib), unchanged, with all
    of the simulator's checks; results are compared with the tests' golden files whatever the tests
    say themselves.
    """
    ok = peer_cli.unit_tests(
        path,
        _out,
        soc=soc,
        definitions=define or [],
        pattern=filter_,
        python=str(python) if python else None,
        jobs=jobs,
        as_json=as_json,
    )
    if not ok:
        raise typer.Exit(1)


@_command("tiling")
def tiling_command(
    op: Op,
    shape: Annotated[
        str,
        typer.Argument(
            metavar="SHAPE", help="Shape of the tensors, e.g. 2x8192; 'scalar' for rank 0."
        ),
    ],
    dtype: Dtype = "fp32",
    dim: Dim = None,
    attr: Attrs = None,
    soc: Soc = None,
    as_json: Json = False,
) -> None:
    """Show how an operator would split a shape over the cores, without running it."""
    spec = find(op)
    dims = user_data.parse_shape(shape)
    attrs = user_data.parse_attrs(spec, attr or [], dim)
    user_data.check_dims(spec, dims, attrs)
    for name, value in attrs.items():
        # The wrapper hands the kernel a dim counted from the front.
        if any(getattr(step, "attr", None) == name for step in spec.lowering) and value < 0:
            attrs[name] = value + max(len(dims), 1)
    opened = _open(DeviceName.sim, soc)
    shapes = {arg.name: dims for arg in spec.tensors}
    plan = opened.tiling(spec, shapes, dtypes.parse(dtype), attrs)
    if as_json:
        print(json.dumps(plan))
        return
    table = Table(
        title=f"{spec.op} {shape} {dtype} on {plan.get('soc', '')}",
        title_justify="left",
        show_header=False,
    )
    for key, value in plan.items():
        for name, item in value.items() if isinstance(value, dict) else [(key, value)]:
            table.add_row(f"{key}.{name}" if isinstance(value, dict) else key, str(item))
    _out.print(table)


@_command("profile")
def profile_command(
    op: Annotated[
        str, typer.Argument(metavar="OP", help="Operator, or the path of one that is sources.")
    ],
    shape: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SHAPE]...",
            help="Shape, e.g. 4096x4096. With a path: SHAPE[:DTYPE] per input, or one for all.",
        ),
    ] = None,
    dtype: Dtype = "fp32",
    dim: Dim = None,
    attr: Attrs = None,
    inputs: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="With a path: .npy of an input; repeatable."),
    ] = None,
    outputs: Outputs = None,
    blocks: Blocks = None,
    tiling: Tiling = None,
    tiling_key: TilingKey = None,
    workspace: Workspace = None,
    soc: Soc = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Page: timeline, roofline, lines, cores.")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Trace for Perfetto or MindStudio Insight.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="DIR", help="CSV files in msopprof's columns.")
    ] = None,
    cores: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Cores to show. [default: slowest, fastest, first]"),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            metavar="WORD",
            help="Compare with another operator or path, a saved --json file, or one change:"
            " dtype=, soc=, shape=, dim=, cores=, blocks=, tiling=, or an attribute's NAME=VALUE.",
        ),
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(metavar="SHAPES", help="Row of shapes, e.g. 4096x128,64x64 or 4096x128..8192"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Estimate how long an operator takes on an NPU, and show where the time goes."""
    from aclgrad import profile_cli

    device = lambda: _open(DeviceName.sim, soc)  # noqa: E731
    request = profile_cli.Request(
        op, tuple(shape or ()), dtype, peer_cli.soc_name(soc), tuple(attr or ()), dim, None,
        tuple(map(str, inputs or ())), tuple((outputs or "").split()),
        peer_cli.KernelOptions(blocks, tiling, tiling_key, workspace),
    )  # fmt: skip
    wanted = profile_cli.parse_cores(cores)
    output = profile_cli.Output(as_json, csv, trace, html, wanted)
    profile_cli.run(request, output, _out, device, compare=compare, sweep=sweep)


@_command("doctor")
def doctor_command(device: Device = DeviceName.sim, as_json: Json = False) -> None:
    """Check compiler, libraries, package, SoC and environment; name the fix for each problem."""
    from aclgrad.doctor import examine

    findings = examine(device.value)
    problems = [finding for finding in findings if finding.status == "problem"]
    if as_json:
        print(
            json.dumps(
                {"ok": not problems, "findings": [finding.as_dict() for finding in findings]}
            )
        )
    else:
        colours = {"ok": "green", "note": "yellow", "problem": "red"}
        for finding in findings:
            _out.print(f"{finding.status:8}", style=colours[finding.status], end="")
            _out.print(f"{finding.what}: {finding.value}", markup=False)
            if finding.fix:
                _out.print(f"        fix: {finding.fix}", markup=False)
        _out.print(f"{len(problems)} problem{'s' * (len(problems) != 1)}")
    if problems:
        raise typer.Exit(1)


@_command("config")
def config_command(
    cflags: Annotated[bool, typer.Option("--cflags", help="Print -I words.")] = False,
    libs: Annotated[
        bool, typer.Option("--libs", help="Print -L, -l and -Wl,-rpath words.")
    ] = False,
    opp_path: Annotated[
        bool, typer.Option("--opp-path", help="Print the operator package folder.")
    ] = False,
    cmake: Annotated[
        bool,
        typer.Option(
            "--cmake", help="Print the folder for cmake -Daclgrad_DIR or CMAKE_PREFIX_PATH."
        ),
    ] = False,
    device: Device = DeviceName.sim,
    as_json: Json = False,
) -> None:
    """Print what a C++ program needs: g++ prog.cpp $(aclgrad config --cflags --libs) -o prog."""
    from aclgrad import config
    from aclgrad.runtime import find_toolkit

    toolkit = find_toolkit(device.value)
    chosen = {
        "cflags": config.cflags(toolkit) if cflags or as_json else [],
        "libs": config.libs(toolkit) if libs or as_json else [],
        "opp_path": [str(toolkit.opp)] if opp_path or as_json else [],
        "cmake": [str(config.cmake(toolkit))] if cmake else [],
    }
    if as_json:
        cmake_dir = str(config.cmake(toolkit)) if device is DeviceName.sim else None
        print(json.dumps({**chosen, "opp_path": chosen["opp_path"][0], "cmake": cmake_dir}))
        return
    words = [word for group in chosen.values() for word in group]
    if not words:
        raise ValueError("nothing asked for. Next: aclgrad config --cflags --libs")
    print(" ".join(words))


@_command("package")
def package_command(
    soc: Annotated[
        list[str] | None,
        typer.Option(help="Only kernels for this SoC, e.g. Ascend910B2; repeatable."),
    ] = None,
    vendor: Annotated[str, typer.Option(help="Vendor folder of the package.")] = "aclgrad",
    output: Annotated[Path, typer.Option(help="Folder of the .run file.")] = Path("dist"),
    device: Device = DeviceName.sim,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Vendor folder to pack instead of the build's."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make custom_opp_<vendor>_linux-<arch>.run, an installer of the built operators."""
    from aclgrad.package import package

    socs = [name for words in soc or [] for name in words.replace(",", " ").split()]
    made = package(output, vendor=vendor, socs=socs, device=device.value, source=source)
    if as_json:
        print(json.dumps(made.as_dict()))
        return
    _out.print(
        f"{made.path}: {made.bytes / 1e6:.1f} MB, {made.files} files, kernels for"
        f" {' '.join(made.socs)}\nsha256 {made.sha256}\n"
        f"install: bash {made.path} --install-path=DIR",
        markup=False,
    )


@_command("explain")
def explain_command(
    code: Annotated[
        str,
        typer.Argument(
            metavar="CODE",
            help="Result code of an aclnn or acl function, e.g. 161002, or its name.",
        ),
    ],
    as_json: Json = False,
) -> None:
    """Say what a result code means, what usually causes it and what to do next. Exit status 2:
    the code is unknown.
    """
    try:
        known = errors.explain(code)
    except errors.UnknownCodeError as error:
        _err.print(f"error: {error}", style="red", markup=False)
        raise typer.Exit(2) from None
    if as_json:
        print(json.dumps(known.__dict__))
        return
    _out.print(f"{known.code} {known.name}\n{known.meaning}", markup=False)
    if known.causes:
        _out.print(f"usual causes: {known.causes}", markup=False)
    if known.next_step:
        _out.print(f"next: {known.next_step}", markup=False)


def _version(show: bool) -> None:
    if show:
        print(f"aclgrad {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the console script."""
    # A reader that closes the pipe early (head, grep -q) is no error.
    try:
        app()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
