# SPDX-License-Identifier: Apache-2.0
"""Single files: a program of kernels and host code (.asc), and a kernel (.cpp) without op_host."""

from __future__ import annotations

import ctypes as c
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclgrad.codegen.render import render, write_if_different
from aclgrad.common.files import reading
from aclgrad.project import building
from aclgrad.project.entry import Entry, entries
from aclgrad.project.layout import locate
from aclgrad.project.running import Result
from aclgrad.project.sources import SourcesError, Step
from aclgrad.project.words import Param, parse_outputs
from aclgrad.runtime import open_device as open_sim
from aclgrad.runtime.device import Device
from aclgrad.runtime.memory import Buffer
from aclgrad.spec import dtypes
from aclgrad.spec.soc import Family, family_of

DEFAULT_ARCH = "dav-2201"
DEFAULT_WORKSPACE = 16 << 20
_MOST_TILING = 16 << 20
_SYMBOL = "aclgrad_kernel_file"


def find(word: str | Path) -> Path | None:
    """The file when a word names one that is no part of an operator's folder."""
    path = Path(word).expanduser()
    if not path.is_file() or (path.suffix != ".asc" and locate(path).host):
        return None
    return path.resolve()


def build(source: Path, soc: Family, *, optimise: str = "-O2") -> Path:
    """Compile a single file: a program, or a kernel's library."""
    if source.suffix == ".asc":
        return build_program(source, soc, optimise=optimise)
    return build_kernel(source, soc, optimise=optimise).library


def compiler(toolkit: Path) -> Path:
    """The compiler of .asc files."""
    path = toolkit / "bin" / "ascc"
    if not path.is_file():
        raise SourcesError(f"the simulator is not built: no {path}. Next: aclgrad build")
    return path


def build_program(
    source: Path, soc: Family, *, optimise: str = "-O2", flags: Sequence[str] = ()
) -> Path:
    """Compile an .asc file with its main function; returns the program."""
    builder = building.Builder(locate(source), soc, optimise=optimise)
    output = builder.folder / f"{source.stem}-{soc.npu_arch}"
    command = (
        str(compiler(builder.toolkit)),
        f"--npu-arch=dav-{soc.npu_arch}",
        f"--host-compiler={builder.compiler}",
        optimise,
        "-fmax-errors=20",
        "-fdiagnostics-color=never",
        *flags,
        str(builder.sources.kernels[0]),
        "-MD",
        "-MF",
        f"{output}.d",
        "-MT",
        str(output),
        "-o",
        str(output),
    )
    step = Step(output, command)
    error = step.run()
    if error is not None:
        raise builder.failure(f"program {source.name}", error, step)
    return output


@dataclass(frozen=True)
class Ended:
    """How a program ended, and what the checks found meanwhile."""

    status: int
    output: str
    findings: tuple[Mapping[str, Any], ...]

    @property
    def errors(self) -> tuple[str, ...]:
        """Texts of the findings that are errors."""
        return tuple(str(one["text"]) for one in self.findings if one["severity"] == "error")


def run_program(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    capture: bool = True,
    timeout: float | None = None,
) -> Ended:
    """Run a program that uses the simulator and collect its findings."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "findings"
        done = subprocess.run(
            list(command),
            cwd=folder,
            env={**os.environ, **(environment or {}), "ACLGRAD_SIM_REPORT": str(report)},
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.STDOUT if capture else None,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
        lines = report.read_text().splitlines() if report.is_file() else []
    return Ended(done.returncode, done.stdout or "", tuple(json.loads(line) for line in lines))


# -- a kernel alone -----------------------------------------------------------------------------


_TILING_TYPES = {
    **{f"{sign}{bits}": f"{sign}{bits // 8}" for sign in "iu" for bits in (8, 16, 32, 64)},
    "f32": "f4",
    "f64": "f8",
}


def parse_tiling(word: str) -> NDArray[np.uint8]:
    """Tiling data: a file, or ``u32:2048,4 f32:0.5``, each value aligned as in a C struct."""
    if not re.match(r"[a-z]\d+:", word):
        advice = "a file, or values such as 'u32:2048,4 f32:0.5'"
        with reading(Path(word), f"--tiling {word}", advice) as file:
            data_of_file = file.read(_MOST_TILING + 1)
        if len(data_of_file) > _MOST_TILING:
            raise SourcesError(f"--tiling {word}: more than {_MOST_TILING} bytes. Next: {advice}")
        return np.frombuffer(data_of_file, np.uint8)
    data = bytearray()
    for group in word.split():
        name, _, values = group.partition(":")
        if name not in _TILING_TYPES:
            raise SourcesError(
                f"--tiling {group}: unknown type {name}; it has {', '.join(_TILING_TYPES)}. Next:"
                " e.g. u32:2048,4"
            )
        kind = np.dtype(_TILING_TYPES[name])
        for value in values.split(","):
            try:
                one = np.array(float(value) if name[0] == "f" else int(value, 0)).astype(kind)
                if name[0] != "f" and int(one) != int(value, 0):
                    raise ValueError
            except (ValueError, OverflowError):
                raise SourcesError(
                    f"--tiling {group}: {value!r} is no {name}. Next: e.g. {name}:1"
                ) from None
            data += bytes(-len(data) % kind.itemsize)
            data += one.tobytes()
    return np.frombuffer(bytes(data), np.uint8)


def output_specs(words: Sequence[str]) -> list[tuple[tuple[int, ...], dtypes.DType]]:
    """``float32[8,2048]`` or ``8x2048:fp32`` -> shapes and dtypes."""
    found: list[tuple[tuple[int, ...], dtypes.DType]] = []
    for word in words:
        bracketed = re.fullmatch(r"(\w+)\[([\d,\s]*)\]", word)
        if bracketed:
            dims = tuple(int(dim) for dim in bracketed[2].split(",") if dim.strip())
            found.append((dims, dtypes.parse(bracketed[1])))
            continue
        for shape, dtype in parse_outputs([word]):
            if dtype is None:
                raise SourcesError(
                    f"--outputs {word}: its dtype is missing; a kernel alone says nothing of it."
                    " Next: e.g. 'float32[8,2048]'"
                )
            found.append((shape, dtype))
    return found


def _entry(source: Path) -> Entry:
    found = entries(source.read_text(errors="replace"))
    chosen = found.get(source.stem) or next(iter(found.values()), None)
    if chosen is None or (len(found) > 1 and chosen.name != source.stem):
        names = ", ".join(found) or "none"
        raise SourcesError(
            f"{source}: want one __global__ function, or one named {source.stem}; it has {names}."
            " Next: rename the entry, or write a main function and give the file the ending .asc"
        )
    if chosen.template:
        raise SourcesError(
            f"{source}: the entry {chosen.name} is a template, so nothing says which instance to"
            " run. Next: write a main function that launches one, and give the file the ending .asc"
        )
    return chosen


@dataclass(frozen=True)
class KernelFile:
    """A kernel alone, compiled."""

    library: Path
    entry: Entry


def build_kernel(source: Path, soc: Family, *, optimise: str = "-O2") -> KernelFile:
    """Compile a kernel file that comes without op_host."""
    builder = building.Builder(locate(source), soc, optimise=optimise)
    kernel = builder.sources.kernels[0]
    entry = _entry(kernel)
    wrapper = builder.folder / "gen" / f"{kernel.stem}.cpp"
    write_if_different(
        wrapper, render("project/file.cpp.j2", kernel=kernel, entry=entry, symbol=_SYMBOL)
    )
    output = builder.folder / f"{kernel.stem}-{soc.npu_arch}.so"
    builder.build_file(wrapper, output)
    return KernelFile(output, entry)


def _arguments(entry: Entry, given: int, tiling: bool, workspace: int | None) -> tuple[bool, bool]:
    """Whether workspace and tiling data are among the arguments, by their number."""
    rest = entry.arity - given
    if rest == 1 + tiling or (rest == 1 and workspace is not None and not tiling):
        return True, tiling
    if rest == int(tiling) and workspace is None:
        return False, tiling
    raise SourcesError(
        f"{entry.name} takes {entry.arity} arguments: inputs, outputs, then workspace and tiling"
        f" data if it has them; got {given} inputs and outputs"
        f"{', --tiling' if tiling else ''}{', --workspace' if workspace is not None else ''}."
        " Next: --inputs, --outputs, --workspace and --tiling for each of them"
    )


def run_kernel(
    source: Path,
    inputs: Sequence[Param],
    outputs: Sequence[str],
    *,
    soc: str,
    blocks: int = 1,
    tiling: str | None = None,
    tiling_key: int = 0,
    workspace: int | None = None,
    optimise: str = "-O2",
    open_device: Callable[[], Device] = open_sim,
) -> Result:
    """Run a kernel file on arrays. Its arguments are inputs, outputs, workspace, tiling data."""
    shapes = output_specs(outputs)
    arrays = [array for param in inputs for array in param]
    if not shapes:
        raise SourcesError(
            f"{source}: --outputs is missing; a kernel alone says nothing of its results. Next:"
            " e.g. --outputs 'float32[8,2048]'"
        )
    data = parse_tiling(tiling) if tiling is not None else None
    built = build_kernel(source, family_of(soc), optimise=optimise)
    has_workspace, _ = _arguments(
        built.entry, len(arrays) + len(shapes), data is not None, workspace
    )
    device = open_device()
    device.set_option("soc", soc)
    device.clear_findings()
    buffers: list[Buffer] = []
    try:
        buffers += [device.upload(np.ascontiguousarray(array)) for array in arrays]
        results = [
            device.buffer(int(np.prod(shape, dtype=np.int64)) * dtype.numpy.itemsize)
            for shape, dtype in shapes
        ]
        buffers += results
        if has_workspace:
            buffers.append(device.buffer(DEFAULT_WORKSPACE if workspace is None else workspace))
        if data is not None:
            buffers.append(device.upload(data))
        for index, (buffer, (_, dtype)) in enumerate(zip(results, shapes, strict=True)):
            _expect(device, buffer, dtype, f"out{index}")
        _launch(device, built, blocks, tiling_key, buffers)
        device.synchronize()
        found = {
            f"out{index}": buffer.read(dtype.numpy).reshape(shape)
            for index, (buffer, (shape, dtype)) in enumerate(zip(results, shapes, strict=True))
        }
        errors = tuple(item for item in device.findings() if item.severity == "error")
        return Result(built.entry.name, found, errors)
    finally:
        for buffer in buffers:
            buffer.free()


def _expect(device: Device, buffer: Buffer, dtype: dtypes.DType, name: str) -> None:
    expect = device.libraries.acl.aclsimExpectOutput
    expect.argtypes = [c.c_void_p, c.c_uint64, c.c_uint32, c.c_char_p]
    expect.restype = c.c_int32
    code = expect(buffer.address, buffer.nbytes, dtype.numpy.itemsize, name.encode())
    device.libraries.check(code, "aclsimExpectOutput")


def _launch(
    device: Device, built: KernelFile, blocks: int, tiling_key: int, buffers: Sequence[Buffer]
) -> None:
    library = c.CDLL(str(built.library))
    entry = c.cast(getattr(library, _SYMBOL), c.c_void_p)
    count = len(buffers)
    launch = device.libraries.acl.aclsimLaunchKernel
    launch.argtypes = [
        c.c_char_p,
        c.c_void_p,
        c.c_uint32,
        c.c_uint64,
        c.POINTER(c.c_void_p),
        c.POINTER(c.c_uint64),
        c.c_size_t,
        c.c_void_p,
    ]
    launch.restype = c.c_int32
    code = launch(
        built.entry.name.encode(),
        entry,
        blocks,
        tiling_key,
        (c.c_void_p * count)(*(buffer.address for buffer in buffers)),
        (c.c_uint64 * count)(*(buffer.nbytes for buffer in buffers)),
        count,
        device.stream,
    )
    device.libraries.check(code, built.entry.name)
