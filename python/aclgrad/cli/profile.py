# SPDX-License-Identifier: Apache-2.0
"""``aclgrad profile``: one call, two of them, or a row of shapes."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aclgrad.cli import progress_lines
from aclgrad.cli.common import print_json
from aclgrad.common import files
from aclgrad.common.display.visible import visible
from aclgrad.errors import AclnnError
from aclgrad.profiling import against_board, sensitivity
from aclgrad.profiling import text as profiling_text
from aclgrad.profiling.advice import advise
from aclgrad.profiling.profiled import (
    Profiled,
    ProfileError,
    as_json,
    from_json,
)
from aclgrad.profiling.request import Request, other, profile

if TYPE_CHECKING:
    from rich.console import Console

    from aclgrad.runtime.device import Device

_MOST_SHAPES = 64


@dataclass(frozen=True)
class Output:
    """Where the result goes, besides the terminal."""

    as_json: bool = False
    csv: Path | None = None
    trace: Path | None = None
    html: Path | None = None
    plot: Path | None = None
    board: Path | None = None
    cores: tuple[int, ...] = field(default=())

    @property
    def shown(self) -> tuple[int, ...] | None:
        """Cores that are shown one by one; None when nothing shows any."""
        wanted = (self.csv, self.trace, self.html)
        return self.cores if any(path is not None for path in wanted) else None


def run(
    request: Request,
    output: Output,
    console: Console,
    open_device: Callable[[], Device],
    *,
    compare: str | None = None,
    sweep: str | None = None,
) -> bool:
    """Profile what is asked for and show it; returns whether kernels had faults."""
    try:
        _run(request, output, console, open_device, compare, sweep)
    except ValueError as error:
        # The error is about words that other commands take as well.
        if "Next: " in str(error):
            raise
        raise ValueError(f"{error}. Next: aclgrad profile --help") from None
    for finding in request.faults:
        print(finding.text, file=sys.stderr)
    return bool(request.faults)


def _run(
    request: Request,
    output: Output,
    console: Console,
    open_device: Callable[[], Device],
    compare: str | None,
    sweep: str | None,
) -> None:
    if compare is not None and sweep is not None:
        raise ValueError("--compare and --sweep: both say what to profile besides; keep one")
    if request.sensitivity and (compare is not None or sweep is not None):
        raise ValueError("--sensitivity: is of one profile. Next: leave out --compare and --sweep")
    single = (("--trace", output.trace), ("--html", output.html), ("--plot", output.plot))
    for option, path in single:
        if path is not None:
            files.check_output(path, option)
    if output.plot is not None and output.plot.suffix != ".svg":
        raise ValueError(f"--plot {output.plot}: want a picture as .svg. Next: --plot profile.svg")
    if output.csv is not None and output.csv.exists() and not output.csv.is_dir():
        raise ValueError(f"--csv {output.csv}: is a file. Next: name a folder")
    if sweep is not None:
        _sweep(request, output, console, open_device(), sweep)
    elif compare is not None:
        _compare(request, output, console, open_device(), compare)
    else:
        _one(request, output, console, open_device())


def _one(request: Request, output: Output, console: Console, device: Device) -> None:
    request = replace(request, shown=output.shown)
    found = profile(device, request, quiet=output.as_json)
    _check_cores(found, output.cores)
    advice = advise(found)
    made = []
    if output.csv is not None:
        made += profiling_text.write_csv(output.csv, found, output.cores)
    if output.trace is not None:
        made += _write_traces(output.trace, found, output.cores)
    if output.html is not None:
        from aclgrad.profiling.pages import page

        program = found if len(found.floors) > 1 else None
        parts = page.launches_of(found, output.cores)
        page.write(output.html, parts, program=program)
        made.append(output.html)
    made += _plot(output.plot, [found])
    if output.as_json:
        document = as_json(found, [item.as_dict() for item in advice])
        if request.assumed is not None:
            document["autosync"] = request.assumed.as_json()
        print_json(document)
        return
    profiling_text.show(console, found, advice)
    if request.sensitivity:
        sensitivity.show(console, found)
    if output.board is not None:
        against_board.show(console, found, output.board)
    if request.assumed is not None:
        print(visible(request.assumed.line), file=sys.stderr)
    _say(console, made)


def _write_traces(path: Path, found: Profiled, asked: Sequence[int]) -> list[Path]:
    """The longest launch's trace, and those of the others beside it."""
    assert found.by is not None  # what was profiled here
    made = []
    for launch in sorted(found.kept, key=lambda launch: launch != found.main):
        target = path
        if launch != found.main:
            target = path.with_name(f"{path.stem}.launch{launch + 1}{path.suffix}")
        with files.placing(target, "--trace") as (_, part):
            try:
                found.by.write_trace(launch, found.cores(launch, asked), part)
            except AclnnError:
                raise ProfileError(
                    f"--trace {target}: it cannot be written. Next: df -h {target.parent}"
                ) from None
        made.append(target)
    return made


def _plot(path: Path | None, items: Sequence[Profiled], *, over_shapes: bool = False) -> list[Path]:
    if path is None:
        return []
    from aclgrad.profiling.pages import plot as profiling_plot
    from aclgrad.reporting.pictures import charts

    plots = profiling_plot.sweep(items) if over_shapes else [profiling_plot.roofline(items)]
    if over_shapes:
        titles = [f"{items[0].family}, estimated"]
    else:
        letters = ["A: ", "B: "] if len(items) > 1 else [""]
        titles = [f"{letter}{item.title}" for letter, item in zip(letters, items, strict=True)]
    files.write(path, charts.picture(titles, plots, *profiling_plot.SIZE), "--plot")
    return [path]


def _say(console: Console, made: Sequence[Path]) -> None:
    for path in made[:2] if len(made) > 3 else made:
        console.print(f"written: {path}", markup=False)
    if len(made) > 3:
        console.print(f"and {len(made) - 2} more files beside", markup=False)


def _check_cores(found: Profiled, asked: Sequence[int]) -> None:
    there = len(found.kernel["cores"])
    wrong = [core for core in asked if not 0 <= core < there]
    if wrong:
        raise ProfileError(
            f"--cores {wrong[0]}: {found.title} runs on {there} cores. Next: numbers from 0 to"
            f" {there - 1}"
        )


# --- comparing -----------------------------------------------------------------------------------


def _compare(request: Request, output: Output, console: Console, device: Device, word: str) -> None:
    if output.csv is not None or output.trace is not None:
        raise ValueError("--csv and --trace: are of one profile. Next: leave out --compare")
    request = replace(request, shown=output.shown)
    pair: list[Profiled] = []
    shown = []
    for which in (None, word):
        if which is not None and which.endswith(".json"):
            found = from_json(Path(which))
            _check_saved(found, which)
        else:
            changed = other(request, which) if which else request
            found = profile(device, changed, quiet=output.as_json)
        _check_cores(found, output.cores)
        pair.append(found)
        if output.html is not None:
            from aclgrad.profiling.pages import page

            # Before the next one runs: the device forgets this one's instructions then.
            shown.append(page.Shown.of(found, found.main, output.cores))
    if output.html is not None:
        page.write(output.html, shown, pair=pair)
    made = [*([output.html] if output.html else []), *_plot(output.plot, pair)]
    if output.as_json:
        documents = [as_json(item, [a.as_dict() for a in advise(item)]) for item in pair]
        ratio = round(pair[1].us / pair[0].us, 4)
        print_json({"a": documents[0], "b": documents[1], "ratio": ratio})
        return
    profiling_text.show_compare(console, pair)
    _say(console, made)


def _check_saved(found: Profiled, name: str) -> None:
    """A file of somebody's may lack what is shown, or hold something else."""
    try:
        profiling_text.facts(found)
        advise(found)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise ProfileError(
            f"{name}: not what aclgrad profile --json writes. Next: aclgrad profile OP SHAPE --json"
            f" > {name}"
        ) from None


# --- sweeping ------------------------------------------------------------------------------------


def sweep_shapes(text: str) -> list[str]:
    """``4096x128,4096x1024`` or, with a dim that doubles, ``4096x128..1024``."""
    found = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        options = []
        for dim in re.split("[xX]", word):
            match = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", dim)
            if not match or int(match[1]) < 1 or int(match[2] or match[1]) < int(match[1]):
                raise ValueError(
                    f"--sweep {word}: want shapes joined by commas, e.g. 4096x128,4096x1024, or a"
                    " dim that doubles, e.g. 4096x128..8192"
                )
            first, last = int(match[1]), int(match[2] or match[1])
            options.append([first << i for i in range(int(math.log2(last / first)) + 1)])
        shapes: list[list[int]] = [[]]
        for dims in options:
            shapes = [[*shape, dim] for shape in shapes for dim in dims]
        found += ["x".join(map(str, shape)) for shape in shapes]
    found = list(dict.fromkeys(found))
    if not found or len(found) > _MOST_SHAPES:
        raise ValueError(
            f"--sweep {text}: got {len(found)} shapes, want 1 to {_MOST_SHAPES}. Next: e.g."
            " --sweep 4096x128..8192"
        )
    return found


def calls(compare: str | None, sweep: str | None) -> int:
    """How many calls `run` profiles."""
    try:
        return len(sweep_shapes(sweep)) if sweep else 2 if compare else 1
    except ValueError:
        return 1  # `run` says so


def _sweep(request: Request, output: Output, console: Console, device: Device, text: str) -> None:
    if output.csv is not None or output.trace is not None:
        raise ValueError("--csv and --trace: are of one profile. Next: give SHAPE without --sweep")
    if request.shapes or request.files:
        raise ValueError("--sweep: has the shapes. Next: leave SHAPE and --inputs out")
    if request.word.endswith(".asc"):
        raise ValueError(
            f"--sweep: {request.word} is a program, which makes its own data. Next: --compare"
            " shape='WORDS' runs it again with other words"
        )
    items: list[Profiled] = []
    shapes = sweep_shapes(text)
    for shape in shapes:
        progress_lines.tell(f"profiling {request.word} {shape}", len(items), len(shapes))
        items.append(profile(device, replace(request, shapes=(shape,))))
    if output.html is not None:
        from aclgrad.profiling.pages import page

        page.write_sweep(output.html, items)
    made = [*([output.html] if output.html else [])]
    made += _plot(output.plot, items, over_shapes=True)
    if output.as_json:
        print_json([as_json(item, []) for item in items])
        return
    profiling_text.show_sweep(console, items)
    _say(console, made)
