# SPDX-License-Identifier: Apache-2.0
"""What a command line asks to profile, and the run that answers it."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aclgrad.errors import AclnnError
from aclgrad.ops import find
from aclgrad.profiling.calls import profile_op, profile_sources, sources_inputs
from aclgrad.profiling.profiled import Profiled, ProfileError
from aclgrad.profiling.program import LIMIT, profile_program
from aclgrad.reading import command_words as project_request
from aclgrad.spec import dtypes
from aclgrad.testing import user_data

if TYPE_CHECKING:
    from aclgrad.findings import Finding
    from aclgrad.reading.auto_sync import Assumed
    from aclgrad.runtime.device import Device


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
    kernel: project_request.KernelOptions = field(default_factory=project_request.KernelOptions)
    shown: tuple[int, ...] | None = ()  # cores of trace, page and CSV; None: none of these
    assumed: Assumed | None = None  # of the device compiler, for a path
    keep_going: bool = False
    sensitivity: bool = False  # by each cost of the model
    faults: list[Finding] = field(default_factory=list)  # that kernels went on after; filled here


def parse_cores(text: str | None) -> tuple[int, ...]:
    """``0,5`` -> (0, 5)."""
    if text is None:
        return ()
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise ValueError(f"--cores {text}: want numbers joined by commas. Next: e.g. --cores 0,5")
    return tuple(dict.fromkeys(map(int, text.split(","))))


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
    with device.keeping("sensitivity", "cores"):
        if request.cores is not None:
            device.set_option("cores", str(request.cores))
        if request.sensitivity:
            device.set_option("sensitivity", "on")
        return _profile(device, request)


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
        vector_cores=request.cores, quiet=quiet, seconds=most_seconds(), assumed=request.assumed,
        keep_going=request.keep_going, sensitivity=request.sensitivity,
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


def most_seconds() -> int:
    """How long one call or program may take."""
    text = os.environ.get(LIMIT, str(_MOST_SECONDS))
    if not re.fullmatch(r"[1-9]\d*", text):
        raise ProfileError(f"{LIMIT}={text}: want seconds. Next: export {LIMIT}={_MOST_SECONDS}")
    return int(text)


def _profile(device: Device, request: Request) -> Profiled:
    note = f"cores={request.cores}" if request.cores is not None else ""
    kind = dtypes.parse(request.dtype)
    if project_request.is_path(request.word):
        from aclgrad.running import operand_words

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
            inputs = [operand_words.load(name, kind) for name in (*request.files, *request.shapes)]
        elif request.shapes:
            inputs = sources_inputs(request.word, request.shapes, kind, request.soc)
        else:
            raise ProfileError(
                f"{request.word}: no shape. Next: aclgrad profile {request.word} 1024x1024, or"
                " --inputs a.npy b.npy"
            )
        launch = {k: v for k, v in vars(request.kernel).items() if v is not None}
        try:
            found = profile_sources(
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
        dim = [] if request.dim is None else [f"dim={request.dim}"]
        attrs = user_data.parse_attrs(spec, [*request.attrs, *dim])
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
    return f"(after {len(faults)} fault{'s' * (len(faults) > 1)})" if faults else ""


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
