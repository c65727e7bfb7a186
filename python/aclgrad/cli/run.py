# SPDX-License-Identifier: Apache-2.0
"""``aclgrad run``, ``ut``, ``tiling`` and ``profile``: one operator, or sources of your own."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from aclgrad.cli import sources
from aclgrad.cli.common import (
    OUT,
    Attrs,
    AutoSync,
    Blocks,
    Chaos,
    Checks,
    Definitions,
    Device,
    DeviceName,
    Dim,
    Dtype,
    EntryName,
    Includes,
    Json,
    KeepGoing,
    LayoutKind,
    OnlyOp,
    Op,
    Outputs,
    PartialOutputs,
    Soc,
    Switch,
    Tiling,
    TilingKey,
    Workspace,
    allow_partial,
    open_device,
)
from aclgrad.common.files import check_output
from aclgrad.findings import consequence, errors_of
from aclgrad.golden.precision import Report, compare
from aclgrad.ops import find
from aclgrad.project import request as project_request
from aclgrad.project.auto_sync import assume
from aclgrad.spec import dtypes
from aclgrad.spec.op_spec import OpSpec
from aclgrad.testing import user_data


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
    keep_going: KeepGoing = None,
    partial_output: PartialOutputs = None,
    layout: LayoutKind = None,
    only: OnlyOp = None,
    entry: EntryName = None,
    include: Includes = None,
    define: Definitions = None,
    as_json: Json = False,
) -> None:
    """Run an operator on your own tensors: one of this package, sources (a folder, a kernel file)
    or a program (.asc).
    """
    allow_partial(partial_output)
    files = [*([inputs_first] if inputs_first else []), *(files or [])]
    kernel = project_request.KernelOptions(blocks, tiling, tiling_key, workspace)
    sources.find([op], layout, only, entry, include, define, quiet=as_json or op.endswith(".asc"))
    chosen_sync = autosync.value if autosync else None
    if op.endswith(".asc"):
        if golden:
            raise ValueError("--golden: a program has no golden. Next: leave --golden out")
        status = _run_program(
            Path(op),
            files,
            kernel,
            device,
            soc,
            check,
            chosen_sync,
            chaos,
            keep_going,
            output,
            as_json,
        )
        raise typer.Exit(status)
    if project_request.is_path(op):
        simulated = device is DeviceName.sim
        assumed = assume(op, project_request.soc_name(soc), chosen_sync) if simulated else None
        switch = Switch(assumed.value) if assumed else autosync
        wrong = sources.run(
            op,
            files,
            attr or [],
            OUT,
            lambda: open_device(device, soc, check, switch, chaos, keep_going),
            soc=soc,
            dtype=dtype,
            outputs=outputs,
            save=output,
            as_json=as_json,
            kernel=kernel,
            assumed=assumed,
            golden=golden,
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
    check_output(output)
    opened = open_device(device, soc, check, autosync, chaos, keep_going)
    opened.clear_findings()
    result = opened.run(spec, inputs, attrs, out)
    user_data.save(output, result)
    verdict = _judge(spec, inputs, attrs, result) if golden else None
    found = errors_of(opened.findings())
    faults = sum(bool(finding.goes_on) for finding in found)
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
            if faults:
                document["golden"]["note"] = consequence(faults)
        if faults:
            document["after_faults"] = faults
        if found:
            document["findings"] = [finding.text for finding in found]
        print(json.dumps(document))
    else:
        OUT.print(f"{output}: {result.dtype.name} {list(result.shape)}", markup=False)
        if faults:
            OUT.print(consequence(faults), markup=False)
        if verdict is not None:
            OUT.print(str(verdict), markup=False)
        for finding in found:
            OUT.print(finding.text, markup=False)
    if found or (verdict is not None and not verdict.passed):
        raise typer.Exit(1)


def _run_program(
    source: Path,
    words: Sequence[str],
    kernel: project_request.KernelOptions,
    device: DeviceName,
    soc: str | None,
    check: bool | None,
    autosync: str | None,
    chaos: int | None,
    keep_going: bool | None,
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
    assumed = assume(source, project_request.soc_name(soc), autosync)
    chosen = {
        "ACLGRAD_SOC": soc,
        "ACLGRAD_SIM_MODE": None if check is None else "checked" if check else "fast",
        "ACLGRAD_SIM_AUTOSYNC": assumed.value,
        "ACLGRAD_SIM_CHAOS": None if chaos is None else str(chaos),
        "ACLGRAD_SIM_KEEP_GOING": None if keep_going is None else str(int(keep_going)),
    }
    environment = {name: value for name, value in chosen.items() if value is not None}
    return sources.run_program(
        source, words, OUT, environment, soc=soc, as_json=as_json, assumed=assumed
    )


def _judge(spec: OpSpec, inputs: Any, attrs: Any, result: Any) -> Report:
    dtype = next(iter(inputs.values())).dtype
    terms = spec.magnitudes(inputs, attrs)
    return compare(result, spec.evaluate(inputs, attrs), dtype, terms=terms)


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
    autosync: AutoSync = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Parallel compilations.")] = 0,
    keep_going: KeepGoing = None,
    as_json: Json = False,
) -> None:
    """Build and run gtest unit tests written for CANN's CPU twin (tikicpulib), unchanged, with all
    of the simulator's checks; results are compared with the tests' golden files whatever the tests
    say themselves.
    """
    ok = sources.unit_tests(
        path,
        OUT,
        soc=soc,
        definitions=define or [],
        pattern=filter_,
        python=str(python) if python else None,
        jobs=jobs,
        keep_going=keep_going,
        as_json=as_json,
        autosync=autosync.value if autosync else None,
    )
    if not ok:
        raise typer.Exit(1)


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
    as_json: Json = False,
) -> None:
    """Show how an operator would split a shape over the cores, without running it."""
    op, shapes = _op_and_shapes(words)
    shape = " ".join(shapes)
    if project_request.is_path(op):
        from aclgrad.cli import cases

        given = [*(attr or []), *([f"dim={dim}"] if dim is not None else [])]
        plan = cases.tiling(op, shapes, dtype, given, soc)
        _show_plan(plan, f"{op} {shape} {dtype}", as_json)
        return
    if len(shapes) > 1:
        raise ValueError(f"{shapes[1]}: {op} has one shape. Next: aclgrad tiling {op} {shapes[0]}")
    spec = find(op)
    dims = user_data.parse_shape(shape)
    attrs = user_data.parse_attrs(spec, attr or [], dim)
    user_data.check_dims(spec, dims, attrs)
    for name, value in attrs.items():
        # The wrapper hands the kernel a dim counted from the front.
        if any(getattr(step, "attr", None) == name for step in spec.lowering) and value < 0:
            attrs[name] = value + max(len(dims), 1)
    opened = open_device(DeviceName.sim, soc)
    by_name = {arg.name: dims for arg in spec.tensors}
    plan = opened.tiling(spec, by_name, dtypes.parse(dtype), attrs)
    _show_plan(plan, f"{spec.op} {shape} {dtype}", as_json)


def _op_and_shapes(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Words without an operator are about the project that one stands in."""
    if project_request.is_shape(words[0]) and (here := project_request.here(None)):
        return here[0], words
    if len(words) < 2:
        raise ValueError(f"{words[0]}: a shape is missing. Next: aclgrad tiling {words[0]} 8x64")
    return words[0], words[1:]


def _show_plan(plan: dict[str, Any], title: str, as_json: bool) -> None:
    if as_json:
        print(json.dumps(plan))
        return
    table = Table(
        title=f"{title} on {plan.get('soc', '')}",
        title_justify="left",
        show_header=False,
    )
    for key, value in plan.items():
        for name, item in value.items() if isinstance(value, dict) else [(key, value)]:
            table.add_row(f"{key}.{name}" if isinstance(value, dict) else key, str(item))
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
    blocks: Blocks = None,
    tiling: Tiling = None,
    tiling_key: TilingKey = None,
    workspace: Workspace = None,
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
    plot: Annotated[
        Path | None, typer.Option(metavar="SVG", help="Picture: over shapes, or the roofline.")
    ] = None,
    keep_going: KeepGoing = None,
    layout: LayoutKind = None,
    only: OnlyOp = None,
    entry: EntryName = None,
    include: Includes = None,
    define: Definitions = None,
    as_json: Json = False,
) -> None:
    """Estimate an operator's or a program's time on an NPU, and where it goes."""
    from aclgrad.cli import profile
    from aclgrad.profiling.request import Request, parse_cores

    if project_request.is_shape(op) and (here := project_request.here(None)):
        op, shape = here[0], [op, *(shape or [])]
    assumed = None
    sources.find([op], layout, only, entry, include, define, quiet=as_json)
    if project_request.is_path(op) or op.endswith(".asc"):
        chosen_sync = autosync.value if autosync else None
        assumed = assume(op, project_request.soc_name(soc), chosen_sync)
    switch = Switch(assumed.value) if assumed else autosync
    # Profiles come from the fast mode, but what a kernel does after a fault is no measure of it.
    asked = os.environ.get("ACLGRAD_SIM_KEEP_GOING") in ("1", "on")
    going = asked if keep_going is None else keep_going
    device = lambda: open_device(DeviceName.sim, None, autosync=switch, keep_going=going)  # noqa: E731
    request = Request(
        op, tuple(shape or ()), dtype, project_request.soc_name(soc), tuple(attr or ()), dim, None,
        tuple(map(str, inputs or ())), tuple((outputs or "").split()),
        project_request.KernelOptions(blocks, tiling, tiling_key, workspace), assumed=assumed,
        keep_going=going,
    )  # fmt: skip
    wanted = parse_cores(cores)
    output = profile.Output(as_json, csv, trace, html, plot, wanted)
    if profile.run(request, output, OUT, device, compare=compare, sweep=sweep):
        raise typer.Exit(1)
