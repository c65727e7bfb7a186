# SPDX-License-Identifier: Apache-2.0
"""``aclgrad check``: what the checks find in operators and kernel files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer

from aclgrad import findings
from aclgrad.cli import kernel_file, known, lookup, operators
from aclgrad.cli.common import ERR, allow_partial, progress
from aclgrad.cli.findings import Shown, show
from aclgrad.cli.options import (
    AllowRefusals,
    Attrs,
    Checked,
    Dim,
    Fast,
    KernelFile,
    OfPathUnseen,
    OnlyDtype,
    Ops,
    Running,
    Shipped,
)
from aclgrad.findings import Result
from aclgrad.reading.command_words import soc_name


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
        list[str] | None,
        typer.Option(
            metavar="SHAPES",
            help="Kernel file: shapes of the results, e.g. '2x8:fp32'; repeatable.",
        ),
    ] = None,
    kernel: Annotated[KernelFile, "unseen"],
    shown: Shown,
) -> None:
    """Find bugs that an NPU would have: memory, queues and flags, races between pipes and cores,
    rules of instructions. Exit status 1: there is an error. A warning depends on inputs that check
    had to invent. aclgrad-known.toml lists findings that are left for now.
    """
    allow_partial(checked.partial_output)
    attrs = [*(attr or []), *([f"dim={dim}"] if dim is not None else [])]
    shown.check_outputs()
    kernels = ops is not None and any(word.endswith((".cpp", ".cc", ".asc")) for word in ops)
    _one_choice(shape, case, attrs, kernels)
    asked = operators.Asked(dtype, case or (), fast, shape or (), attrs)
    given = kernel_file.Given(inputs or (), outputs or (), attrs, kernel, of_path, checked)
    words = lookup.named(ops, shipped=shipped)
    with _race_times(shown.html is not None):
        looked = _look(words, asked, given, seed, chaos, sanitize_host)
    result = _result(looked, chaos)
    notes: list[str] = []
    if (place := Path(known.NAME)).is_file():
        today = datetime.now(timezone.utc).date()
        result, notes = known.apply(result, known.read(place), today)
    show(result, shown, title=f"Findings of {', '.join(ops)}" if ops else "Findings", notes=notes)
    hollow = looked.hollow
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
