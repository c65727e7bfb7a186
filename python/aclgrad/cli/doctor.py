# SPDX-License-Identifier: Apache-2.0
"""``aclgrad doctor``, ``config`` and ``explain``: this installation, and what its codes mean."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from aclgrad import errors
from aclgrad.cli.common import ERR, OUT
from aclgrad.cli.options import Device, DeviceName, Json


def doctor_command(device: Device = DeviceName.sim, as_json: Json = False) -> None:
    """Check compiler, libraries, package, SoC and environment; name the fix for each problem."""
    from aclgrad.cli.installation import examine

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
            OUT.print(f"{finding.status:8}", style=colours[finding.status], end="")
            OUT.print(f"{finding.what}: {finding.value}", markup=False)
            if finding.fix:
                OUT.print(f"        fix: {finding.fix}", markup=False)
        OUT.print(f"{len(problems)} problem{'s' * (len(problems) != 1)}")
    if problems:
        raise typer.Exit(1)


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
            help="Print a script to be sourced: the simulator in CANN's place for all programs.",
        ),
    ] = False,
    device: Device = DeviceName.sim,
    as_json: Json = False,
) -> None:
    """Print what a C++ program needs: g++ prog.cpp $(aclgrad config --cflags --libs) -o prog."""
    from aclgrad.runtime import config, environment, find_toolkit
    from aclgrad.runtime.toolkit import sim_root

    toolkit = find_toolkit(device.value)
    chosen = {
        "cflags": config.cflags(toolkit) if cflags or as_json else [],
        "libs": config.libs(toolkit) if libs or as_json else [],
        "opp_path": [str(toolkit.opp)] if opp_path or as_json else [],
        "cmake": [str(config.cmake(toolkit))] if cmake else [],
        "op_library": [str(sim_root() / "op_library")] if op_library or as_json else [],
        "set_env": [str(environment.set_env(find_toolkit("sim")))] if set_env or as_json else [],
    }
    if as_json:
        cmake_dir = str(config.cmake(toolkit)) if device is DeviceName.sim else None
        folders = {name: chosen[name][0] for name in ("opp_path", "op_library", "set_env")}
        print(json.dumps({**chosen, **folders, "cmake": cmake_dir}))
        return
    words = [word for group in chosen.values() for word in group]
    if not words:
        raise ValueError("nothing asked for. Next: aclgrad config --cflags --libs")
    print(" ".join(words))


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
        ERR.print(f"error: {error}", style="red", markup=False)
        raise typer.Exit(2) from None
    if as_json:
        print(json.dumps(known.__dict__))
        return
    OUT.print(f"{known.code} {known.name}\n{known.meaning}", markup=False)
    if known.causes:
        OUT.print(f"usual causes: {known.causes}", markup=False)
    if known.next_step:
        OUT.print(f"next: {known.next_step}", markup=False)
