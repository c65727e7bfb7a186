# SPDX-License-Identifier: Apache-2.0
"""Single files: a program of kernels and host code (.asc), and a kernel (.cpp) without op_host."""

from __future__ import annotations

import ctypes as c
import json
import math
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from aclgrad.building import operator_build
from aclgrad.codegen.render import render, write_if_different
from aclgrad.common import temporary
from aclgrad.common.files import text_of
from aclgrad.findings.finding import Reported
from aclgrad.reading.kernel_entry import Entry, entries
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import Sources, SourcesError
from aclgrad.running.kernel_arguments import (
    Output,
    Parameter,
    output_specs,
    parse_tiling,
    values_of,
)
from aclgrad.running.operand_words import Tensors
from aclgrad.running.operator_call import Outputs, by_severity
from aclgrad.runtime import open_device as open_sim
from aclgrad.runtime.device import Device
from aclgrad.runtime.memory import Buffer
from aclgrad.spec import dtypes
from aclgrad.spec.dtypes import Array
from aclgrad.spec.soc import Family, family_of

DEFAULT_ARCH = "dav-2201"
DEFAULT_WORKSPACE = 16 << 20
_SYMBOL = "aclgrad_kernel_file"


def find(word: str | Path) -> Sources | None:
    """What a word names when it is no operator: a program, or kernels alone."""
    found = locate(word)
    return found if found.alone else None


def build(source: Path | Sources, soc: Family) -> Path:
    """Compile a single file: a program, or a kernel's library."""
    if locate(source).program:
        return build_program(source, soc)
    return build_kernel(source, soc).library


def compiler(toolkit: Path) -> Path:
    """The compiler of .asc files."""
    path = toolkit / "bin" / "ascc"
    if not path.is_file():
        raise SourcesError(f"the simulator is not built: no {path}. Next: aclgrad build")
    return path


def build_program(source: Path | Sources, soc: Family, *, flags: Sequence[str] = ()) -> Path:
    """Compile an .asc file with its main function; returns the program."""
    builder = operator_build.Builder(locate(source), soc)
    file = _only(builder.sources)
    output = builder.folder / f"{file.stem}-{soc.npu_arch}"
    command = (
        str(compiler(builder.toolkit)),
        f"--npu-arch=dav-{soc.npu_arch}",
        f"--host-compiler={builder.compiler}",
        builder.optimise,
        "-fmax-errors=20",
        "-fdiagnostics-color=never",
        *(f"-I{folder}" for folder in builder.sources.roots),
        *builder.sources.defines,
        *flags,
        str(file),
        "-MD",
        "-MF",
        f"{output}.d",
        "-MT",
        str(output),
        "-o",
        str(output),
    )
    step = builder.step(output, command)
    error = step.run()
    if error is not None:
        raise builder.failure(f"program {file.name}", error, step)
    return output


@dataclass(frozen=True)
class Ended:
    """How a program ended, and what the checks found meanwhile."""

    status: int
    output: str
    findings: tuple[Reported, ...]

    @property
    def errors(self) -> tuple[str, ...]:
        """Texts of the findings that are errors."""
        return tuple(str(one["text"]) for one in self.findings if one["severity"] == "error")

    @property
    def hints(self) -> tuple[str, ...]:
        """Texts of the other findings."""
        return tuple(str(one["text"]) for one in self._hints())

    @property
    def hints_of_values(self) -> tuple[str, ...]:
        """Those that are about results. That a barrier or flag orders nothing means little in one
        launch: `aclgrad check` lists those for which it holds in every launch.
        """
        kept = (one for one in self._hints() if one["kind"] != "sync-redundant")
        return tuple(str(one["text"]) for one in kept)

    def _hints(self) -> list[Reported]:
        return [one for one in self.findings if one["severity"] != "error"]


def run_program(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    capture: bool = True,
    timeout: float | None = None,
) -> Ended:
    """Run a program that uses the simulator and collect its findings."""
    with temporary.folder() as scratch:
        report = scratch / "findings"
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


def _entries(builder: operator_build.Builder, source: Path) -> dict[str, Entry]:
    """Entries of a kernel file, as they are written or, where macros make them, preprocessed."""
    text = text_of(source)
    found = entries(text)
    if len(found) == 1 and "##" not in text and "#if" not in text:
        return found
    return entries(builder.preprocessed(source)) or found


def _choose(source: Path, found: Mapping[str, Entry], wanted: str) -> Entry:
    names = ", ".join(found) or "none"
    base = wanted.partition("<")[0]
    if wanted and base not in found:
        raise SourcesError(
            f"--entry {wanted}: {source} has no such __global__ function; it has {names}. Next:"
            " --entry with one of them"
        )
    chosen = found.get(base or source.stem) or next(iter(found.values()), None)
    if chosen is None or (not wanted and len(found) > 1 and chosen.name != source.stem):
        advice = f"--entry {next(iter(found))}" if found else "give a file that holds a kernel"
        raise SourcesError(
            f"{source}: want one __global__ function, or one named {source.stem}; it has {names}."
            f" Next: {advice}"
        )
    if chosen.template and "<" not in wanted:
        raise SourcesError(
            f"{source}: the entry {chosen.name} is a template, so nothing says which instance to"
            f" run. Next: --entry '{chosen.name}<float>', or write a main function that launches"
            " one, and give the file the ending .asc"
        )
    return replace(chosen, name=wanted) if "<" in wanted else chosen


@dataclass(frozen=True)
class KernelFile:
    """A kernel alone, compiled."""

    library: Path
    entry: Entry

    @cached_property
    def parameters(self) -> list[Parameter]:
        """What the compiler made of its parameters."""
        call = getattr(c.CDLL(str(self.library)), f"{_SYMBOL}_parameters")
        call.restype = c.POINTER(_ParameterC)
        rows = call()
        names = self.entry.params
        return [
            Parameter(names[i], rows[i].kind.decode(), rows[i].bytes) for i in range(len(names))
        ]


class _ParameterC(c.Structure):
    _fields_ = [("bytes", c.c_uint64), ("kind", c.c_char)]


def build_kernel(source: Path | Sources, soc: Family, *, entry: str = "") -> KernelFile:
    """Compile a kernel file that comes without op_host."""
    sources = locate(source)
    builder = operator_build.Builder(sources, soc)
    kernel = _only(sources)
    chosen = _choose(kernel, _entries(builder, kernel), entry or sources.entry)
    name = re.sub(r"\W", "_", chosen.name)
    included, device = builder.for_host(kernel, f"{kernel.stem}-{name}", chosen)
    wrapper = builder.folder / "gen" / f"{kernel.stem}-{name}.cpp"
    write_if_different(
        wrapper, render("project/file.cpp.j2", kernel=included, entry=device, symbol=_SYMBOL)
    )
    output = builder.folder / f"{kernel.stem}-{name}-{soc.npu_arch}.so"
    builder.build_file(kernel, included, wrapper, output, device.name)
    return KernelFile(output, chosen)


def build_all(sources: Sources, soc: Family) -> list[Path]:
    """Compile everything that a path without op_host holds: programs, each entry of each kernel."""
    made = []
    for file in sources.kernels:
        own = sources if sources.kernels == (file,) else locate(file)
        if own.program:
            made.append(build_program(own, soc))
            continue
        found = _entries(operator_build.Builder(own, soc), file)
        plain = [name for name, entry in found.items() if not entry.template]
        for name in [own.entry] if own.entry or len(plain) < 2 else plain:
            made.append(build_kernel(own, soc, entry=name).library)
    return made


def _only(sources: Sources) -> Path:
    if len(sources.kernels) > 1:
        names = ", ".join(path.name for path in sources.kernels)
        raise SourcesError(
            f"{sources}: holds {len(sources.kernels)} kernel files: {names}. Next: give one of"
            f" them: {sources.kernels[0]}"
        )
    return sources.kernels[0]


def _arguments(entry: Entry, count: int, given: int, tiling: bool, workspace: int | None) -> bool:
    """Whether a workspace is among the addresses, by their number."""
    rest = count - given
    if rest == 1 + tiling or (rest == 1 and workspace is not None and not tiling):
        return True
    if rest == int(tiling) and workspace is None:
        return False
    raise SourcesError(
        f"{entry.name} takes {count} arguments: inputs, outputs, then workspace and tiling"
        f" data if it has them; got {given} inputs and outputs"
        f"{', --tiling' if tiling else ''}{', --workspace' if workspace is not None else ''}."
        f" Next: --inputs, --outputs, --workspace and --tiling for each of them:"
        f" {', '.join(entry.params)}"
    )


def run_kernel(
    source: Path | Sources,
    inputs: Sequence[Tensors],
    outputs: Sequence[str],
    attrs: Sequence[str] = (),
    *,
    soc: str,
    blocks: int = 1,
    tiling: str | None = None,
    tiling_key: int = 0,
    workspace: int | None = None,
    open_device: Callable[[], Device] = open_sim,
) -> Outputs:
    """Run a kernel file on arrays. Its addresses are inputs, outputs, workspace, tiling data in
    this order, but for outputs that name theirs; ``attrs`` are NAME=VALUE of the other arguments.
    """
    sources = locate(source)
    words = _only(sources).stem
    if not outputs:
        raise SourcesError(
            f"{sources}: --outputs is missing, and a kernel alone does not tell its results. Next:"
            f" e.g. --outputs 'float32[8,2048]'; an argument of {words} that it reads and writes:"
            " --outputs =FILE"
        )
    data = parse_tiling(tiling) if tiling is not None else None
    built = build_kernel(sources, family_of(soc))
    params = built.parameters
    addresses = [param.name for param in params if param.kind == "p"]
    wanted = output_specs(outputs, addresses)
    values = values_of(built.entry.name, params, attrs, tiling)
    if data is not None and any(param.kind == "s" for param in params):
        data = None
    arrays: list[Array | None] = [
        array for param in inputs for array in (*param, *([] if param else [None]))
    ]
    has_workspace = _arguments(
        built.entry, len(addresses), len(arrays) + len(wanted), data is not None, workspace
    )
    device = open_device()
    device.set_option("soc", soc)
    device.clear_findings()
    buffers: list[Buffer] = []

    def kept(buffer: Buffer) -> Buffer:
        buffers.append(buffer)
        return buffer

    try:
        ordered: list[Buffer | None] = [
            None if array is None else kept(device.upload(_in_memory(array))) for array in arrays
        ]
        results: dict[str, tuple[Buffer, Output]] = {}
        named: dict[str, Buffer] = {}
        for index, output in enumerate(wanted):
            if output.initial is None:
                buffer = kept(device.buffer(output.nbytes))
                _expect(device, buffer, output.dtype, output.name or f"out{index}")
            else:
                buffer = kept(device.upload(_in_memory(output.initial)))
            results[output.name or f"out{index}"] = (buffer, output)
            if output.name:
                named[output.name] = buffer
            else:
                ordered.append(buffer)
        if has_workspace:
            size = DEFAULT_WORKSPACE if workspace is None else workspace
            ordered.append(kept(device.buffer(size)))
        if data is not None:
            ordered.append(kept(device.upload(data)))
        rest = iter(ordered)
        at = {name: named[name] if name in named else next(rest) for name in addresses}
        _launch(device, built, blocks, tiling_key, [at.get(param.name) for param in params], values)
        device.synchronize()
        found = {
            name: buffer.values(output.dtype, math.prod(output.shape)).reshape(output.shape)
            for name, (buffer, output) in results.items()
        }
        return Outputs(built.entry.name, found, *by_severity(device.findings()))
    finally:
        for buffer in buffers:
            buffer.free()


def _in_memory(array: Array) -> Array:
    return dtypes.in_memory(np.ascontiguousarray(array))


def _expect(device: Device, buffer: Buffer, dtype: dtypes.DType, name: str) -> None:
    expect = device.libraries.acl.aclsimExpectOutput
    expect.argtypes = [c.c_void_p, c.c_uint64, c.c_uint32, c.c_char_p]
    expect.restype = c.c_int32
    code = expect(buffer.address, buffer.nbytes, dtype.numpy.itemsize, name.encode())
    device.libraries.check(code, "aclsimExpectOutput")


def _launch(
    device: Device,
    built: KernelFile,
    blocks: int,
    tiling_key: int,
    buffers: Sequence[Buffer | None],
    values: Mapping[str, bytes],
) -> None:
    library = c.CDLL(str(built.library))
    entry = c.cast(getattr(library, _SYMBOL), c.c_void_p)
    count = len(buffers)
    pointers = (c.c_void_p * count)(*(buffer.address if buffer else None for buffer in buffers))
    name = built.entry.name.encode()
    if not values and None not in buffers:
        launch = device.libraries.acl.aclsimLaunchKernel
        launch.restype = c.c_int32
        sizes = (c.c_uint64 * count)(*(buffer.nbytes for buffer in buffers if buffer))
        code = launch(
            name,
            entry,
            c.c_uint32(blocks),
            c.c_uint64(tiling_key),
            pointers,
            sizes,
            c.c_size_t(count),
            c.c_void_p(device.stream),
        )
        device.libraries.check(code, built.entry.name)
        return
    held = [c.create_string_buffer(values.get(param.name, b""), 16) for param in built.parameters]
    for index, param in enumerate(built.parameters):
        if param.name in values:
            held[index] = c.create_string_buffer(values[param.name], param.size)
    context = (c.c_void_p * count)(*(c.addressof(value) for value in held))
    launch = device.libraries.acl.aclsimLaunchBody
    launch.restype = c.c_int32
    code = launch(
        name,
        entry,
        c.cast(getattr(library, f"{_SYMBOL}_body"), c.c_void_p),
        context,
        None,
        c.c_uint32(blocks),
        c.c_uint64(tiling_key),
        pointers,
        c.c_size_t(count),
        c.c_void_p(device.stream),
    )
    device.libraries.check(code, built.entry.name)
    device.synchronize()  # until then it reads the values
