# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have, each said once. Those that go together are the fields of a
group, which a command takes as one argument.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Annotated, get_args, get_type_hints

import typer

from aclgrad.reading.command_words import KernelOptions
from aclgrad.reading.layout import Kind
from aclgrad.spec.soc import full_name


class DeviceName(str, Enum):
    """Where operators run."""

    sim = "sim"
    npu = "npu"


class Switch(str, Enum):
    """On or off."""

    on = "on"
    off = "off"


def full_soc(name: str | None) -> str | None:
    """The SoC of an option that names one, or a family."""
    return None if name is None else full_name(name)


def full_socs(names: list[str] | None) -> list[str] | None:
    """The same of a list, whose words may be lists themselves."""
    if names is None:
        return None
    return [full_soc(name) or "" for word in names for name in word.replace(",", " ").split()]


Device = Annotated[DeviceName, typer.Option(help="Where operators run.")]
Soc = Annotated[
    str | None,
    typer.Option(
        callback=full_soc,
        help="Simulated SoC or family, e.g. ascend910b. [default: $ACLGRAD_SOC or Ascend910B2]",
    ),
]
Shipped = Annotated[
    bool, typer.Option("--shipped", help="The five operators of aclgrad, wherever this is called.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Ops = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[OPS]...",
        help="Paths, or operators of aclgrad by name. [default: the current directory]",
    ),
]
Dtype = Annotated[str, typer.Option(help="fp32, fp16 or bf16.")]
OnlyDtype = Annotated[str | None, typer.Option(help="Only this dtype: fp32, fp16 or bf16.")]
Fast = Annotated[
    bool, typer.Option("--fast", help="Shorter grid: fewer lengths around blocks, no long rows.")
]
Op = Annotated[str, typer.Argument(metavar="OP", help="Operator or path, e.g. softmax_grad.")]
Attrs = Annotated[
    list[str] | None,
    typer.Option(
        "--attr", "--attrs", metavar="NAME=VALUE", help="Attribute as NAME=VALUE; repeatable."
    ),
]
Dim = Annotated[int | None, typer.Option(help="Short for --attr dim=DIM.")]

AllowRefusals = Annotated[
    bool,
    typer.Option(
        "--allow-refusals", help="Do not fail when an operator refuses more cases than it takes."
    ),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SHAPES",
        help="With a path: shapes of the results, e.g. '2x8:fp32', then =0 or =FILE for their"
        " contents before the run; repeatable.",
    ),
]
KeepGoing = Annotated[
    bool | None,
    typer.Option(
        "--keep-going/--no-keep-going",
        help="Go on after faults. [default: with --no-check]",
    ),
]
AutoSync = Annotated[
    Switch | None,
    typer.Option(
        "--autosync",
        "--auto-sync",
        metavar="on|off",
        help="Assume the compiler's own synchronisation. [default: $ACLGRAD_SIM_AUTOSYNC or on]",
    ),
]


@dataclass(frozen=True)
class KernelFile(KernelOptions):
    """How to launch a kernel file."""

    blocks: Annotated[int | None, typer.Option(min=1, help="Kernel file: cores. [default: 1]")] = (
        None
    )
    tiling: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|VALUES",
            help="Kernel file: tiling data, or values such as 'u32:2048,4 f32:0.5'.",
        ),
    ] = None
    tiling_key: Annotated[
        int | None, typer.Option(min=0, help="Kernel file: key. [default: 0]")
    ] = None
    workspace: Annotated[
        int | None, typer.Option(min=0, help="Kernel file: bytes of workspace. [default: 16 MiB]")
    ] = None


@dataclass(frozen=True)
class OfPath:
    """What a command line says of paths, over what is found there."""

    layout: Annotated[
        Kind | None,
        typer.Option(
            metavar="KIND",
            help="With a path: operator, msopgen, launch, kernel, program. [default: detected]",
        ),
    ] = None
    only: Annotated[
        str | None,
        typer.Option("--op", metavar="NAME", help="With a path of several operators: one."),
    ] = None
    entry: Annotated[
        str | None, typer.Option(metavar="NAME", help="Kernel file: __global__ function.")
    ] = None
    include: Annotated[
        list[Path] | None,
        typer.Option("--include", "-I", metavar="DIR", help="With a path: folder of headers."),
    ] = None
    define: Annotated[
        list[str] | None,
        typer.Option("--define", "-D", metavar="NAME[=VALUE]", help="With a path: macro."),
    ] = None
    debug: Annotated[
        bool, typer.Option("--debug", help="Compile without optimisation, for gdb.")
    ] = False


OfPathUnseen = Annotated[OfPath, "unseen"]
"""The same for commands whose help has no room for them."""


@dataclass(frozen=True)
class Checked:
    """On what operators run, and what is looked for besides faults."""

    soc: Soc = None
    autosync: AutoSync = None
    keep_going: KeepGoing = None
    partial_output: Annotated[
        list[str] | None,
        typer.Option(
            "--partial-output", metavar="NAME", help="Output that may stay unwritten in part."
        ),
    ] = None


@dataclass(frozen=True)
class Running(Checked):
    """How operators run."""

    device: Device = DeviceName.sim
    check: Annotated[
        bool | None,
        typer.Option(
            "--check/--no-check",
            help="Run with all checks, or without. [default: $ACLGRAD_SIM_MODE or --check]",
        ),
    ] = None
    chaos: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="SEED",
            help="Run every pipe as late as its synchronisation allows; 0: off.",
        ),
    ] = None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each field of its groups, which are keywords of it."""
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    groups: dict[str, type] = {}
    parameters = []
    for parameter in signature.parameters.values():
        hint = hints[parameter.name]
        kind, *notes = get_args(hint) if "unseen" in getattr(hint, "__metadata__", ()) else [hint]
        if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
            parameters.append(parameter.replace(annotation=hint))
            continue
        groups[parameter.name] = kind
        own = get_type_hints(kind, include_extras=True)
        for field in dataclasses.fields(kind):
            hint = _unseen(own[field.name]) if notes else own[field.name]
            parameters.append(
                inspect.Parameter(
                    field.name, parameter.kind, default=field.default, annotation=hint
                )
            )

    @wraps(command)
    def call(**given: object) -> None:
        for name, kind in groups.items():
            names = [field.name for field in dataclasses.fields(kind)]
            given[name] = kind(**{field: given.pop(field) for field in names})
        command(**given)

    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {item.name: item.annotation for item in parameters}
    return call


def _unseen(hint: object) -> object:
    kind, option = get_args(hint)
    unseen = copy(option)
    unseen.hidden = True
    return Annotated[kind, unseen]
