# SPDX-License-Identifier: Apache-2.0
"""``aclgrad profile``: one call, two of them, or a row of shapes."""

from __future__ import annotations

import difflib
import json
import math
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aclgrad import dtypes, files, peer_cli, profile_text, user_data
from aclgrad.errors import AclnnError
from aclgrad.ops import find
from aclgrad.profile import (
    Profiled,
    ProfileError,
    as_json,
    from_json,
    peer_inputs,
    profile_op,
    profile_peer,
)
from aclgrad.profile_advice import advise
from aclgrad.profile_program import LIMIT, endless, profile_program

if TYPE_CHECKING:
    from rich.console import Console

    from aclgrad.auto_sync import Assumed
    from aclgrad.findings import Finding
    from aclgrad.runtime.device import Device

_MOST_SHAPES = 64
_MOST_SECONDS = 900


@dataclass(frozen=True)
class Request:
    """What to profile: an operator or a path, on shapes or files."""

    word: str
    shapes: tuple[str, ...]
    dtype: str
    soc: str
    attrs: tuple[str, ...] = ()
    dim: int | None = None
    cores: int | None = None
    files: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    kernel: peer_cli.KernelOptions = field(default_factory=peer_cli.KernelOptions)
    shown: tuple[int, ...] | None = ()  # cores of trace, page and CSV; None: none of these
    assumed: Assumed | None = None  # of the device compiler, for a path
    keep_going: bool = False
    faults: list[Finding] = field(default_factory=list)  # that kernels went on after; filled here


@dataclass(frozen=True)
class Output:
    """Where the result goes, besides the terminal."""

    as_json: bool = False
    csv: Path | None = None
    trace: Path | None = None
    html: Path | None = None
    plot: Path | None = None
    cores: tuple[int, ...] = field(default=())

    @property
    def shown(self) -> tuple[int, ...] | None:
        """Cores that are shown one by one; None when nothing shows any."""
        wanted = (self.csv, self.trace, self.html)
        return self.cores if any(path is not None for path in wanted) else None


def parse_cores(text: str | None) -> tuple[int, ...]:
    """``0,5`` -> (0, 5)."""
    if text is None:
        return ()
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise ValueError(f"--cores {text}: want numbers joined by commas. Next: e.g. --cores 0,5")
    return tuple(dict.fromkeys(map(int, text.split(","))))


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
        # Of words that other commands take as well.
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


def _check_soc(device: Device, soc: str) -> None:
    names = device.soc_names()
    if soc in names:
        return
    near = difflib.get_close_matches(soc, names, 4, 0.5) or names[:4]
    raise ProfileError(
        f"--soc {soc}: unknown; of {len(names)} names near it are {', '.join(near)}. Next: --soc"
        f" {near[0]}"
    )


def profile(device: Device, request: Request, *, quiet: bool = False) -> Profiled:
    """Profile one request; quiet keeps what a program prints to itself."""
    _check_soc(device, request.soc)
    if request.word.endswith(".asc"):
        return _program(request, quiet)
    device.set_option("soc", request.soc)
    before = device.option("cores")
    if request.cores is not None:
        device.set_option("cores", str(request.cores))
    try:
        with _limited(request.word):
            return _profile(device, request)
    finally:
        if request.cores is not None and before is not None:
            device.set_option("cores", before)


def _program(request: Request, quiet: bool) -> Profiled:
    given = [
        *request.kernel.given(),
        *(["--inputs"] if request.files else []),
        *(["--outputs"] if request.outputs else []),
        *(["--attr"] if request.attrs else []),
        *(["--dim"] if request.dim is not None else []),
    ]
    if given:
        raise ProfileError(
            f"{given[0]}: {request.word} is a program, which makes its own data. Next: leave it"
            f" out; aclgrad profile {request.word} -- WORDS hands words to the program"
        )
    found = profile_program(
        Path(request.word), request.shapes, soc=request.soc, cores=request.shown,
        vector_cores=request.cores, quiet=quiet, seconds=_seconds(), assumed=request.assumed,
        keep_going=request.keep_going,
    )  # fmt: skip
    request.faults.extend(found.faults)
    cores = f"cores={request.cores}" if request.cores is not None else ""
    found.note = " ".join(filter(None, (found.note, cores, _after(found.faults))))
    return found


def _failed(what: str, error: AclnnError, wanted: str, again: str) -> ProfileError:
    """One line on a call that returned a code: the kernel's fault, or parameters it refuses."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    _, faulty, fault = lines[0].partition("kernel fault ")
    if faulty:
        return ProfileError(f"{what}: kernel fault {fault}. Next: {again} shows the whole report")
    return ProfileError(f"{what}: {'; '.join(lines).rstrip('.')}. Next: {wanted}")


def _seconds() -> int:
    """How long one call or program may take."""
    text = os.environ.get(LIMIT, str(_MOST_SECONDS))
    if not re.fullmatch(r"[1-9]\d*", text):
        raise ProfileError(f"{LIMIT}={text}: want seconds. Next: export {LIMIT}={_MOST_SECONDS}")
    return int(text)


@contextmanager
def _limited(what: str) -> Iterator[None]:
    """End the process when a kernel loops without end. Neither Python nor the simulator gets a
    word in then; for the same reason Ctrl-C has to end it right away.
    """
    seconds = _seconds()

    def end() -> None:
        sys.stderr.write(f"error: {endless(what, seconds)}\n")
        sys.stderr.flush()
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.SIG_DFL) if in_main else None
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if in_main:
            signal.signal(signal.SIGINT, before)


def _profile(device: Device, request: Request) -> Profiled:
    note = f"cores={request.cores}" if request.cores is not None else ""
    kind = dtypes.parse(request.dtype)
    if peer_cli.is_path(request.word):
        from aclgrad import peer_run

        if request.dim is not None:
            raise ProfileError(
                f"--dim {request.dim}: is for this package's operators. Next: --attr"
                f" NAME={request.dim}"
            )
        if request.files:
            # Words behind --inputs FILE are its next values to whoever writes them.
            shapes = [word for word in request.shapes if not Path(word).is_file()]
            if shapes:
                raise ProfileError(
                    f"{shapes[0]}: no such file, and --inputs has the shapes. Next: either files or"
                    " shapes"
                )
            inputs = [peer_run.load(name, kind) for name in (*request.files, *request.shapes)]
        elif request.shapes:
            inputs = peer_inputs(request.word, request.shapes, kind, request.soc)
        else:
            raise ProfileError(
                f"{request.word}: no shape. Next: aclgrad profile {request.word} 1024x1024, or"
                " --inputs a.npy b.npy"
            )
        launch = {k: v for k, v in vars(request.kernel).items() if v is not None}
        try:
            found = profile_peer(
                request.word,
                inputs,
                request.attrs,
                soc=request.soc,
                outputs=request.outputs,
                device=device,
                **launch,
            )
        except AclnnError as error:
            raise _failed(
                request.word,
                error,
                "SHAPE[:DTYPE] for each input in the order of its definition, - for one that is"
                " absent",
                f"aclgrad run {request.word} --inputs ...",
            ) from None
    else:
        spec = find(request.word)
        given = [*request.kernel.given()]
        given += [
            f"--{name}"
            for name, there in (("inputs", request.files), ("outputs", request.outputs))
            if there
        ]
        if given:
            raise ProfileError(
                f"{spec.op}: {given[0]} is for operators that come as sources. Next: leave it out"
                " and give a shape"
            )
        if len(request.shapes) != 1:
            raise ProfileError(
                f"{spec.op}: got {len(request.shapes)} shapes, want one. Next: aclgrad profile"
                f" {spec.op} 4096x4096"
            )
        shape = user_data.parse_shape(request.shapes[0])
        attrs = user_data.parse_attrs(spec, request.attrs, request.dim)
        user_data.check_dims(spec, shape, attrs)
        try:
            found = profile_op(device, spec, shape, kind, attrs)
        except AclnnError as error:
            raise _failed(
                f"{spec.op} {request.shapes[0]} {request.dtype} on {request.soc}",
                error,
                "a shape, dtype or attribute that it takes; aclgrad tiling shows what it makes of"
                " them",
                f"aclgrad check {spec.op} --shape {request.shapes[0]} --dtype {request.dtype}",
            ) from None
    request.faults.extend(found.faults)
    found.note = " ".join(filter(None, (found.note, note, _after(found.faults))))
    return found


def _after(faults: Sequence[Finding]) -> str:
    return f"(after {len(faults)} faults)" if faults else ""


def _one(request: Request, output: Output, console: Console, device: Device) -> None:
    request = replace(request, shown=output.shown)
    found = profile(device, request, quiet=output.as_json)
    _check_cores(found, output.cores)
    advice = advise(found)
    made = []
    if output.csv is not None:
        made += profile_text.write_csv(output.csv, found, output.cores)
    if output.trace is not None:
        made += _write_traces(output.trace, found, output.cores)
    if output.html is not None:
        from aclgrad import profile_page

        program = found if len(found.floors) > 1 else None
        parts = profile_page.launches_of(found, output.cores)
        profile_page.write(output.html, parts, program=program)
        made.append(output.html)
    made += _plot(output.plot, [found])
    if output.as_json:
        document = as_json(found, [item.as_dict() for item in advice])
        if request.assumed is not None:
            document["autosync"] = request.assumed.as_json()
        print(json.dumps(document))
        return
    profile_text.show(console, found, advice)
    if request.assumed is not None:
        print(request.assumed.line, file=sys.stderr)
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
    from aclgrad import profile_plot

    plots = profile_plot.sweep(items) if over_shapes else [profile_plot.roofline(items)]
    if over_shapes:
        titles = [f"{items[0].family}, estimated"]
    else:
        letters = ["A: ", "B: "] if len(items) > 1 else [""]
        titles = [f"{letter}{item.title}" for letter, item in zip(letters, items, strict=True)]
    files.write(path, profile_plot.picture(titles, plots), "--plot")
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


def other(request: Request, word: str) -> Request:
    """The request that ``--compare`` means: NAME=VALUE changes one thing, else another operator."""
    name, equals, value = word.partition("=")
    if not equals:
        return replace(request, word=word)
    if name in ("dtype", "soc"):
        return replace(request, **{name: value})  # type: ignore[arg-type]
    if name == "shape":
        return replace(request, shapes=tuple(value.split()))
    if name == "tiling":
        return replace(request, kernel=replace(request.kernel, tiling=value))
    if name in ("dim", "cores", "blocks", "tiling_key"):
        if not re.fullmatch(r"-?\d+", value):
            raise ValueError(f"--compare {word}: want a number. Next: --compare {name}=1")
        number: dict[str, Any] = {name: int(value)}
        if name == "dim":
            number["attrs"] = tuple(attr for attr in request.attrs if not attr.startswith("dim="))
        if name in ("blocks", "tiling_key"):
            return replace(request, kernel=replace(request.kernel, **number))
        return replace(request, **number)
    others = tuple(attr for attr in request.attrs if attr.partition("=")[0] != name)
    return replace(request, attrs=(*others, word))


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
            from aclgrad import profile_page

            # Before the next one runs: the device forgets this one's instructions then.
            shown.append(profile_page.Shown.of(found, found.main, output.cores))
    if output.html is not None:
        profile_page.write(output.html, shown, pair=pair)
    made = [*([output.html] if output.html else []), *_plot(output.plot, pair)]
    if output.as_json:
        documents = [as_json(item, [a.as_dict() for a in advise(item)]) for item in pair]
        ratio = round(pair[1].us / pair[0].us, 4)
        print(json.dumps({"a": documents[0], "b": documents[1], "ratio": ratio}))
        return
    profile_text.show_compare(console, pair)
    _say(console, made)


def _check_saved(found: Profiled, name: str) -> None:
    """A file of somebody's may lack what is shown, or hold something else."""
    try:
        profile_text.facts(found)
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
    items = [profile(device, replace(request, shapes=(shape,))) for shape in sweep_shapes(text)]
    if output.html is not None:
        from aclgrad import profile_page

        profile_page.write_sweep(output.html, items)
    made = [*([output.html] if output.html else [])]
    made += _plot(output.plot, items, over_shapes=True)
    if output.as_json:
        print(json.dumps([as_json(item, []) for item in items]))
        return
    profile_text.show_sweep(console, items)
    _say(console, made)
