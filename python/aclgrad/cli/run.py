# SPDX-License-Identifier: Apache-2.0
"""``aclgrad run``, ``ut``, ``tiling`` and ``profile``: one operator, or sources of your own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from aclgrad.cli import errors, lookup, operators, sources
from aclgrad.cli.common import ERR, OUT, allow_partial, open_device, print_json, progress
from aclgrad.cli.options import (
    Attrs,
    DeviceName,
    Dim,
    Dtype,
    Json,
    KeepGoing,
    KernelFile,
    OfPathUnseen,
    Op,
    Outputs,
    Running,
    Soc,
    Switch,
)
from aclgrad.common import files as common_files
from aclgrad.findings import consequence
from aclgrad.reading import command_words as project_request
from aclgrad.reading.auto_sync import assume

if TYPE_CHECKING:
    from aclgrad.runtime.host_functions import Choice, TilingPlan


def run_command(
    op: Op,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES...",
            help="Inputs (.npy) in the order of the C function; with an .asc file the program's"
            " arguments, after --.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", "--save", help="File for the result (.npy; .npz for all)."),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help=".npy of an input, before FILES; repeatable."),
    ] = None,
    outputs: Outputs = None,
    *,
    kernel: KernelFile,
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
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Page of this comparison; with --golden.")
    ] = None,
    running: Running,
    of_path: OfPathUnseen,
    as_json: Json = False,
) -> None:
    """Run an operator on your own tensors: one of this package, sources (a folder, a kernel file)
    or a program (.asc).
    """
    allow_partial(running.partial_output)
    files = [*(inputs or []), *(files or [])]
    program = op.endswith(".asc")
    if html is not None:
        if not golden:
            raise ValueError("--html: the page compares with the golden. Next: add --golden")
        common_files.check_output(html, "--html")
    operator = lookup.one(op, of_path, quiet=as_json or program)
    if program:
        if golden:
            raise ValueError("--golden: a program has no golden. Next: leave --golden out")
        raise typer.Exit(_run_program(Path(op), files, kernel, running, output, as_json))
    given = operators.Given(
        files, _attrs(attr, dim), dtype, out_dtype, outputs or (), kernel, golden
    )

    def work() -> bool:
        computed = operator.run(given, running, output, as_json)
        if html is not None:
            _write_page(computed, html)
        if as_json:
            print_json(_document(computed, output))
        else:
            _show(computed, output)
        return bool(computed.errors) or not (computed.report is None or computed.report.passed)

    errors.in_child(work, op, here=running.device is DeviceName.npu)


def _write_page(computed: operators.Computed, path: Path) -> None:
    from aclgrad.reporting import run_page

    faults = _faults(computed)
    facts = [
        (name, f"{array.dtype.name} {' x '.join(map(str, array.shape))}")
        for name, array in computed.outputs.items()
    ]
    findings = [finding.text for finding in computed.errors]
    text = run_page.page(
        f"{computed.op} beside its golden", facts, computed.report, computed.verdict,
        computed.picture, findings, consequence(faults) if faults else "",
    )  # fmt: skip
    common_files.write(path, text, "--html")


def _attrs(words: list[str] | None, dim: int | None) -> list[str]:
    return [*(words or []), *([f"dim={dim}"] if dim is not None else [])]


def _faults(computed: operators.Computed) -> int:
    return sum(bool(finding.goes_on) for finding in computed.errors)


def _document(computed: operators.Computed, output: Path | None) -> dict[str, object]:
    outputs = {
        name: {"shape": list(array.shape), "dtype": array.dtype.name}
        for name, array in computed.outputs.items()
    }
    faults, report = _faults(computed), computed.report
    document: dict[str, Any] = {
        "op": computed.op,
        "outputs": outputs,
        "output": str(output) if output else None,
        "save": str(output) if output else None,
        "after_faults": faults,
        "findings": [finding.text for finding in computed.errors],
        "hints": [finding.text for finding in computed.hints],
    }
    if len(outputs) == 1:
        document |= next(iter(outputs.values()))
    if computed.autosync is not None:
        document["autosync"] = computed.autosync
    if report is not None:
        document["golden"] = {
            "passed": report.passed,
            "max_ulp_of_scale": report.max_ulp_of_scale,
            "bound_in_ulp_of_scale": report.bound,
            "public_standard": report.public_standard,
            "max_abs": report.max_abs,
        }
        if faults:
            document["golden"]["note"] = consequence(faults)
    return document


def _show(computed: operators.Computed, output: Path | None) -> None:
    if faults := _faults(computed):
        OUT.print(consequence(faults), markup=False)
    for name, array in computed.outputs.items():
        OUT.print(f"{computed.op} {name}: {array.dtype.name} {list(array.shape)}", markup=False)
    if output is not None:
        OUT.print(f"saved {output}", markup=False)
    for finding in (*computed.errors, *computed.hints):
        OUT.print(finding.text, markup=False)
    if computed.verdict:
        OUT.print(computed.verdict, markup=False)
    if computed.picture is not None:
        from aclgrad.reporting.pictures import picture_text

        picture_text.show(computed.picture, OUT)


def _run_program(
    source: Path,
    words: Sequence[str],
    kernel: KernelFile,
    running: Running,
    output: Path | None,
    as_json: bool,
) -> int:
    if running.device is DeviceName.npu:
        raise ValueError(
            "--device npu: aclgrad builds .asc files for the simulator only. Next:"
            " find_package(ASC) of CANN"
        )
    if kernel.given() or output is not None:
        raise ValueError(
            f"{(kernel.given() or ['--save'])[0]} is for a kernel file; {source} has its own main"
            " function. Next: leave it out"
        )
    chosen_sync = running.autosync.value if running.autosync else None
    assumed = assume(source, project_request.soc_name(running.soc), chosen_sync)
    check, chaos, keep_going = running.check, running.chaos, running.keep_going
    chosen = {
        "ACLGRAD_SOC": running.soc,
        "ACLGRAD_SIM_MODE": None if check is None else "checked" if check else "fast",
        "ACLGRAD_SIM_AUTOSYNC": assumed.value,
        "ACLGRAD_SIM_CHAOS": None if chaos is None else str(chaos),
        "ACLGRAD_SIM_KEEP_GOING": None if keep_going is None else str(int(keep_going)),
    }
    environment = {name: value for name, value in chosen.items() if value is not None}
    return sources.run_program(
        source, words, OUT, environment, soc=running.soc, as_json=as_json, assumed=assumed
    )


def tiling_command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[OP] SHAPE...",
            help="Operator or path, then the shape of the tensors, e.g. 2x8192; 'scalar' for rank"
            " 0. With a path: SHAPE[:DTYPE] per input, or one for all.",
        ),
    ],
    dtype: Dtype = "fp32",
    dim: Dim = None,
    attr: Attrs = None,
    soc: Soc = None,
    *,
    of_path: OfPathUnseen,
    as_json: Json = False,
    why: Annotated[
        bool,
        typer.Option(
            "--why", help="Explain the choice: which layouts were tried, and the time of each."
        ),
    ] = False,
) -> None:
    """Show how an operator would split a shape over the cores, without running it."""
    op, shapes = _op_and_shapes(words)
    if why and as_json:
        raise ValueError("--why goes without --json. Next: aclgrad profile --sensitivity --json")
    plan = lookup.one(op, of_path, quiet=True).tiling(shapes, dtype, _attrs(attr, dim), soc)
    _show_plan(plan, f"{op} {' '.join(shapes)} {dtype}", as_json)
    if why:
        _show_choices(plan.get("choices", []))
        _show_why(op, shapes, dtype, _attrs(attr, dim), plan["soc"])


def _show_why(op: str, shapes: Sequence[str], dtype: str, attrs: Sequence[str], soc: str) -> None:
    from aclgrad.ops import find
    from aclgrad.profiling import alternatives

    options = [word for attr in attrs for word in ("--attr", attr)]
    with progress(ERR) as bar:
        task = bar.add_task("estimating", total=None)

        def told(name: str) -> None:
            bar.update(task, description=f"estimating: {name}")

        own = alternatives.estimate([op, *shapes, "--dtype", dtype, *options, "--soc", soc])
        found: dict[str, float] = {}
        if not project_request.is_path(op):
            found = alternatives.others(find(op), shapes[0], dtype, attrs, soc, told)
    alternatives.show(OUT, own, found)


def _op_and_shapes(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Words without an operator are about the project in the current directory."""
    if project_request.is_shape(words[0]) and (here := project_request.here(None)):
        return here[0], words
    if len(words) < 2:
        raise ValueError(f"{words[0]}: a shape is missing. Next: aclgrad tiling {words[0]} 8x64")
    return words[0], words[1:]


def _show_plan(plan: TilingPlan, title: str, as_json: bool) -> None:
    if as_json:
        print_json(plan)
        return
    table = Table(
        title=f"{title} on {plan.get('soc', '')}",
        title_justify="left",
        show_header=False,
    )
    for key, value in plan.items():
        if key != "choices":
            for name, item in value.items() if isinstance(value, dict) else [(key, value)]:
                table.add_row(f"{key}.{name}" if isinstance(value, dict) else key, str(item))
    OUT.print(table)


def _show_choices(choices: Sequence[Choice]) -> None:
    """The layouts that the tiling asked in turn, of which it took the last one."""
    table = Table("layout", "taken", "when it is")
    for choice in choices:
        table.add_row(choice["layout"], "yes" if choice["taken"] else "no", choice["when"])
    if choices:
        OUT.print(table)


def profile_command(
    op: Annotated[
        str,
        typer.Argument(metavar="OP", help="Operator, or a path: sources or .asc."),
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
    *,
    kernel: KernelFile,
    soc: Soc = None,
    # Hidden: it changes what is checked, and a profile runs without the checks of order.
    autosync: Annotated[Switch | None, typer.Option("--autosync", hidden=True)] = None,
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
        typer.Option(metavar="A,B", help="Cores to show. [default: three of them]"),
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
        typer.Option(metavar="SHAPES", help="Row of shapes, e.g. 4096x128..8192."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="SVG", help="Draw the times of a sweep, or the roofline.")
    ] = None,
    sensitivity: Annotated[
        bool,
        typer.Option("--sensitivity", help="Show the time with each cost halved and doubled."),
    ] = False,
    board: Annotated[
        Path | None,
        typer.Option(
            "--compare-board", metavar="DIR", help="Show the estimate beside what msprof measured."
        ),
    ] = None,
    keep_going: KeepGoing = None,
    of_path: OfPathUnseen,
    as_json: Json = False,
) -> None:
    """Estimate an operator's or a program's time on an NPU, and where it goes."""
    from aclgrad.cli import profile
    from aclgrad.profiling.program import endless
    from aclgrad.profiling.request import Request, most_seconds, parse_cores
    from aclgrad.running.operand_words import output_words

    if project_request.is_shape(op) and (here := project_request.here(None)):
        op, shape = here[0], [op, *(shape or [])]
    assumed = None
    sources.choose([op], of_path, quiet=as_json)
    if project_request.is_path(op) or op.endswith(".asc"):
        chosen_sync = autosync.value if autosync else None
        assumed = assume(op, project_request.soc_name(soc), chosen_sync)
    switch = Switch(assumed.value) if assumed else autosync
    # Profiles come from the fast mode, but what a kernel does after a fault is no measure of it.
    asked = os.environ.get("ACLGRAD_SIM_KEEP_GOING") in ("1", "on")
    going = asked if keep_going is None else keep_going
    device = lambda: open_device(Running(autosync=switch, keep_going=going))  # noqa: E731
    request = Request(
        op, tuple(shape or ()), dtype, project_request.soc_name(soc), tuple(attr or ()), dim, None,
        tuple(map(str, inputs or ())), tuple(output_words(outputs or ())),
        kernel, assumed=assumed,
        keep_going=going, sensitivity=sensitivity,
    )  # fmt: skip
    wanted = parse_cores(cores)
    output = profile.Output(as_json, csv, trace, html, plot, board, wanted)

    def work() -> bool:
        return profile.run(request, output, OUT, device, compare=compare, sweep=sweep)

    seconds = most_seconds()
    errors.in_child(
        work,
        op,
        here=op.endswith(".asc") and compare is None,  # a process of its own anyway
        seconds=seconds * profile.calls(compare, sweep),
        late=lambda: endless(op, seconds),
    )
