# SPDX-License-Identifier: Apache-2.0
"""``aclgrad build`` and ``package``: from sources to what can be installed."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from aclgrad import __version__
from aclgrad.checkout.instrumented_build import Sanitizer
from aclgrad.cli import lookup, sources
from aclgrad.cli.common import OUT, print_json, progress
from aclgrad.cli.options import (
    Device,
    DeviceName,
    Json,
    OfPath,
    Ops,
    Shipped,
    full_soc,
    full_socs,
)
from aclgrad.reading import command_words as project_request
from aclgrad.testing import selection

_NAMED = 10  # of the libraries that were built, so that a log stays short


def build_command(  # noqa: C901
    ops: Ops = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=0, help="Parallel compilations; 0 lets Ninja choose.")
    ] = 0,
    device: Device = DeviceName.sim,
    soc: Annotated[
        str | None,
        typer.Option(
            callback=full_soc, help="With --device npu or a path: the SoC to compile for."
        ),
    ] = None,
    only_dtypes: Annotated[
        str | None,
        typer.Option("--dtypes", help="With a path: dtypes of the first inputs, e.g. fp32,fp32."),
    ] = None,
    *,
    of_path: OfPath,
    sanitizer: Annotated[
        Sanitizer | None,
        typer.Option(
            "--sanitize",
            help="A separate build with AddressSanitizer and UBSan, or with ThreadSanitizer.",
        ),
    ] = None,
    commands: Annotated[
        Path | None,
        typer.Option(
            "--compile-commands",
            metavar="FILE",
            help="With a path: write how its sources are compiled, for clangd and editors.",
        ),
    ] = None,
) -> None:
    """Build the simulator and the operators of a source checkout; with --device npu the operators
    for one SoC, with the CANN toolkit of ASCEND_HOME_PATH; with a path (an operator's folder with
    op_kernel and op_host, or a kernel file) that operator for the simulator.
    """
    if device is DeviceName.sim and sanitizer is None:
        ops = project_request.here(ops) or None
    if sanitizer and (device is DeviceName.npu or any(map(project_request.is_path, ops or []))):
        raise ValueError(
            "--sanitize: the simulator and this project's operators are built so. Next: leave out"
            " --device npu and paths"
        )
    if device is DeviceName.npu:
        _build_npu(ops, of_path.debug, soc, jobs)
        return
    if ops and any(map(project_request.is_path, ops)):
        sources.choose(ops, of_path)
        with progress(OUT) as bar:
            names = ", ".join(Path(op).resolve().name for op in ops)
            task = bar.add_task(f"building {names}"[:80], total=None)

            def compiled(done: int, total: int) -> None:
                bar.update(
                    task, completed=done, total=total, description=f"kernels of {names}"[:80]
                )

            sources.build(
                ops,
                OUT,
                soc=soc,
                dtypes=only_dtypes,
                jobs=jobs,
                commands=commands,
                progress=compiled,
            )
        return
    sources.choose([], replace(of_path, debug=False))
    if commands is not None:
        raise ValueError(
            "--compile-commands: this project's own is build/sim/compile_commands.json, which the"
            " build writes. Next: leave it out, or give a path"
        )
    if soc is not None:
        raise ValueError(
            "--soc: the simulator's build holds the kernels of every SoC. Next: leave --soc out;"
            " aclgrad test --soc chooses one"
        )
    from aclgrad.checkout.cmake_build import build

    with progress(OUT) as bar:
        task = bar.add_task("building", total=None)

        def step(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, description=f"building {text[:60]:60}")

        result = build(
            [spec.op for spec in selection.operators(ops)] if ops else [],
            debug=of_path.debug,
            sanitizer=sanitizer,
            jobs=jobs,
            progress=step,
        )
    from aclgrad.checkout import spec_differences

    if sanitizer is None:  # its libraries load into an instrumented process only
        spec_differences.check(selection.operators(ops or []), result.folder / "toolkit")
    if result.rebuilt:
        OUT.print(f"rebuilt {len(result.rebuilt)} libraries in {result.folder}:")
        for name in result.rebuilt[:_NAMED]:
            OUT.print(f"  {name}")
        if len(result.rebuilt) > _NAMED:
            OUT.print(f"  and {len(result.rebuilt) - _NAMED} more")
    elif result.steps:
        OUT.print(f"{result.steps} build steps in {result.folder}, no library changed")
    else:
        OUT.print(f"up to date: nothing rebuilt in {result.folder}")
    if sanitizer:
        OUT.print(
            "to run a program with it: python -m aclgrad.checkout.instrumented_build"
            f" {sanitizer.value} COMMAND"
        )


def _build_npu(ops: list[str] | None, debug: bool, soc: str | None, jobs: int) -> None:
    from aclgrad.checkout.cann_build import build_npu

    if ops or debug:
        raise ValueError(
            "build --device npu builds all operators, optimised. Next: leave out --debug and names"
            " of operators"
        )
    vendor = build_npu(soc, jobs=jobs, progress=lambda step: OUT.print(step, markup=False))
    OUT.print(f"built {vendor}", markup=False)
    OUT.print(f"next: export ASCEND_CUSTOM_OPP_PATH={shlex.quote(str(vendor))}", markup=False)


def package_command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH]...",
            help="Operator projects to pack. [default: the current directory]",
        ),
    ] = None,
    shipped: Shipped = False,
    soc: Annotated[
        list[str] | None,
        typer.Option(
            callback=full_socs, help="Only kernels for this SoC, e.g. Ascend910B2; repeatable."
        ),
    ] = None,
    vendor: Annotated[
        str | None,
        typer.Option(help="Vendor folder of the package. [default: aclgrad; customize of a PATH]"),
    ] = None,
    package_version: Annotated[
        str, typer.Option(metavar="VERSION", help="Version that --upgrade compares.")
    ] = __version__,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the .run file.")] = Path(
        "dist"
    ),
    device: Device = DeviceName.sim,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Vendor folder to pack instead of the build's."),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="Sign it with this private key (PEM, RSA or EC)."),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=0, help="With a path: parallel compilations.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Make custom_opp_<vendor>_linux-<arch>.run, an installer of the built operators, or of
    operator projects, whose kernels it builds for every SoC family of their definitions.
    """
    from aclgrad.packaging.package import package

    if not paths:
        paths = [] if source else lookup.named(None, shipped=shipped)
    for path in paths:
        sources.refuse_names(path, "package")
    socs = soc or []
    made = package(
        output,
        paths=paths,
        vendor=vendor,
        version=package_version,
        socs=socs,
        device=device.value,
        source=source,
        key=sign,
        jobs=jobs,
    )
    if as_json:
        print_json(made.as_dict())
        return
    OUT.print(
        f"{made.path}: {made.bytes / 1e6:.1f} MB, {made.files} files, kernels for"
        f" {' '.join(made.socs)}\nsha256 {made.sha256}, in {made.sums}\n"
        + "".join(f"signature {path}\n" for path in made.signatures)
        + "".join(f"not in its self-test: {op}: {why}\n" for op, why in made.untested.items())
        + "".join(
            f"its self-test compares {op} with today's run of the simulator: it has no golden\n"
            for op in made.without_golden
        )
        + f"install: bash {shlex.quote(made.path)} --install-path=DIR",
        markup=False,
    )
