# SPDX-License-Identifier: Apache-2.0
"""What the commands share: options, terminals, progress bars, and how a device is opened."""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from aclgrad import runtime
from aclgrad.project.layout import Kind
from aclgrad.spec.soc import family_of

OUT = Console(highlight=False, soft_wrap=True)
ERR = Console(stderr=True, highlight=False, soft_wrap=True)


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
    str | None,
    typer.Option(
        help="With a path: shapes of the results, e.g. '2x8:fp32', then =0 or =FILE to begin with."
    ),
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


def _of_paths(*names: str, metavar: str, text: str) -> tuple[Any, Any]:
    """An option of paths, for commands about these and, out of sight, for the others."""
    return (
        typer.Option(*names, metavar=metavar, help=text),
        typer.Option(*names, metavar=metavar, help=text, hidden=True),
    )


_LAYOUT = _of_paths(
    "--layout",
    metavar="KIND",
    text="With a path: operator, msopgen, launch, kernel, program. [default: as it looks]",
)
_ONLY = _of_paths("--op", metavar="NAME", text="With a path of several operators: one.")
_ENTRY = _of_paths("--entry", metavar="NAME", text="Kernel file: __global__ function.")
_INCLUDE = _of_paths("--include", "-I", metavar="DIR", text="With a path: folder of headers.")
_DEFINE = _of_paths("--define", "-D", metavar="NAME[=VALUE]", text="With a path: macro.")

LayoutShown = Annotated[Kind | None, _LAYOUT[0]]
OnlyOpShown = Annotated[str | None, _ONLY[0]]
EntryShown = Annotated[str | None, _ENTRY[0]]
IncludesShown = Annotated[list[Path] | None, _INCLUDE[0]]
DefinitionsShown = Annotated[list[str] | None, _DEFINE[0]]
LayoutKind = Annotated[Kind | None, _LAYOUT[1]]
OnlyOp = Annotated[str | None, _ONLY[1]]
EntryName = Annotated[str | None, _ENTRY[1]]
Includes = Annotated[list[Path] | None, _INCLUDE[1]]
Definitions = Annotated[list[str] | None, _DEFINE[1]]


class Switch(str, Enum):
    """On or off."""

    on = "on"
    off = "off"


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


KeepGoing = Annotated[
    bool | None,
    typer.Option(
        "--keep-going/--no-keep-going",
        help="Go on after faults. [default: if --no-check]",
    ),
]
PartialOutputs = Annotated[
    list[str] | None,
    typer.Option(
        "--partial-output",
        metavar="NAME",
        help="Output that may stay unwritten in part.",
    ),
]
_PARTIAL = "ACLGRAD_SIM_PARTIAL_OUTPUTS"


def allow_partial(names: list[str] | None) -> None:
    """Have this process, and programs that it starts, expect no more of these outputs."""
    if names:
        os.environ[_PARTIAL] = ",".join(names)


def progress(console: Console) -> Progress:
    """A bar that is seen on a terminal only, and gone when its work is done."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip


def open_device(
    device: DeviceName,
    soc: str | None,
    check: bool | None = None,
    autosync: Switch | None = None,
    chaos: int | None = None,
    keep_going: bool | None = None,
) -> Any:
    """Open the device that the options name; what they leave out stays as it is. Commands show what
    the checks found, so that faults which a kernel went on after are no exceptions.
    """
    if soc is not None:
        if device is DeviceName.npu:
            raise ValueError(
                "--soc names a simulated SoC; an NPU is what it is. Next: leave --soc out"
            )
        family_of(soc)
    opened = runtime.open_device(device.value)
    if soc is not None:
        opened.set_option("soc", soc)
    if check is not None:
        opened.set_option("mode", "checked" if check else "fast")
    if autosync is not None:
        opened.set_option("autosync", autosync.value)
    if chaos is not None:
        opened.set_option("chaos", str(chaos))
    if keep_going is not None:
        opened.set_option("keep_going", "on" if keep_going else "off")
    opened.takes_faults = True
    if _PARTIAL in os.environ:
        opened.set_option("partial_outputs", os.environ[_PARTIAL])
    return opened
