# SPDX-License-Identifier: Apache-2.0
"""``aclgrad doctor`` and ``config``: this installation, and how C++ programs are built with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aclgrad.cli.common import OUT, print_json
from aclgrad.cli.options import Device, DeviceName, Json


def doctor_command(
    device: Device = DeviceName.sim,
    python: Annotated[
        str | None,
        typer.Option(
            "--python",
            metavar="PATH",
            help="The Python whose torch and torch_npu to look at. [default: the one of aclgrad]",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check compiler, libraries, package, SoC and environment; name the fix for each problem."""
    from aclgrad.cli.installation import examine

    findings = examine(device.value, python or sys.executable)
    problems = [finding for finding in findings if finding.status == "problem"]
    if as_json:
        print_json({"ok": not problems, "findings": [finding.as_dict() for finding in findings]})
    else:
        colours = {"ok": "green", "note": "yellow", "problem": "red"}
        for finding in findings:
            OUT.print(f"{finding.status:8}", style=colours[finding.status], end="")
            OUT.print(f"{finding.what}: {finding.value}", markup=False)
            if finding.fix:
                OUT.print(f"        fix: {finding.fix}", markup=False)
        OUT.print(f"{len(problems)} problem{'s' * (len(problems) != 1)}")
    if problems:
        raise typer.Exit(1)


def config_command(
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="[PATH]",
            help="Operator project that the program calls, which is built. [default: the operators"
            " of aclgrad]",
        ),
    ] = None,
    cflags: Annotated[bool, typer.Option("--cflags", help="Print -I flags.")] = False,
    libs: Annotated[
        bool, typer.Option("--libs", help="Print -L, -l and -Wl,-rpath flags.")
    ] = False,
    opp_path: Annotated[
        bool,
        typer.Option("--opp-path", help="Print the operator package, for ASCEND_CUSTOM_OPP_PATH."),
    ] = False,
    cmake: Annotated[
        bool,
        typer.Option(
            "--cmake", help="Print the folder for cmake -Daclgrad_DIR or CMAKE_PREFIX_PATH."
        ),
    ] = False,
    op_library: Annotated[
        bool,
        typer.Option(
            "--op-library",
            help="Print the folder of aclgrad/*.h, which operators of yours may use.",
        ),
    ] = False,
    set_env: Annotated[
        bool,
        typer.Option(
            "--set-env",
            help="Print a script to source: programs then find the simulator in place of CANN.",
        ),
    ] = False,
    device: Device = DeviceName.sim,
    as_json: Json = False,
) -> None:
    """Print compiler flags for a C++ program: g++ prog.cpp $(aclgrad config --cflags --libs)."""
    from aclgrad.runtime import config, environment, find_toolkit
    from aclgrad.runtime.toolkit import sim_root

    toolkit = find_toolkit(device.value)
    package = None if path is None else _package(path, device)
    # The linker takes the first libcust_opapi that it finds.
    first = (
        ([], [])
        if package is None
        else (
            [f"-I{package / 'op_api/include'}"],
            [f"-L{package / 'op_api/lib'}", f"-Wl,-rpath,{package / 'op_api/lib'}"],
        )
    )
    chosen = {
        "cflags": first[0] + config.cflags(toolkit) if cflags or as_json else [],
        "libs": first[1] + config.libs(toolkit) if libs or as_json else [],
        "opp_path": [str(package or toolkit.opp)] if opp_path or as_json else [],
        "cmake": [str(config.cmake(toolkit))] if cmake else [],
        "op_library": [str(sim_root() / "op_library")] if op_library or as_json else [],
        "set_env": [str(environment.set_env(find_toolkit("sim")))] if set_env or as_json else [],
    }
    if as_json:
        cmake_dir = str(config.cmake(toolkit)) if device is DeviceName.sim else None
        folders = {name: chosen[name][0] for name in ("opp_path", "op_library", "set_env")}
        print_json({**chosen, **folders, "cmake": cmake_dir})
        return
    words = [word for group in chosen.values() for word in group]
    if not words:
        raise ValueError("nothing asked for. Next: aclgrad config --cflags --libs")
    print(" ".join(words))


def _package(path: str, device: DeviceName) -> Path:
    """The package of an operator project, built for the simulator."""
    from aclgrad.building.operator_build import build
    from aclgrad.cli import sources
    from aclgrad.reading.command_words import soc_name

    sources.refuse_names(path, "config")
    if device is DeviceName.npu:
        raise ValueError(
            f"--device npu: {path} is built for the simulator. Next: docs/cann_build.md builds with"
            " CANN"
        )
    return build(path, soc=soc_name(None)).package
