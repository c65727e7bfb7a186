# SPDX-License-Identifier: Apache-2.0
"""``aclgrad check --sanitize-host``: definition, inference and tiling of an operator, compiled with
AddressSanitizer and UndefinedBehaviorSanitizer and run on the shapes of its cases. No kernel runs.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aclgrad.building import operator_build
from aclgrad.common import temporary
from aclgrad.common.files import FileError, text_of
from aclgrad.errors import ToolkitError
from aclgrad.findings import Finding, Place, Run
from aclgrad.findings.finding import finding_from_json
from aclgrad.reading.sources import Sources
from aclgrad.spec.definition import Definition, Registered
from aclgrad.spec.soc import Family

FLAGS = (
    "-O1",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    # A null pointer ends in a signal, which the simulator names with its line.
    "-fno-sanitize=null,vptr,object-size",
    "-fsanitize-recover=undefined",
)
_SECONDS = 300.0
_ELEMENTS = (2**29 + 3, 2**31 + 5, 2**32 + 7)
"""Sizes of tensors around which 32-bit numbers of bytes and of elements end. None has data."""

_MOST_CASES = 40


@dataclass
class SanitizedBuilder(operator_build.Builder):
    """Builds the host library of an operator for the sanitizers, beside the ordinary build."""

    @cached_property
    def folder(self) -> Path:
        """A place of its own: the two builds have the same names."""
        ordinary = operator_build.Builder(self.sources, self.soc, cache=self.cache).folder
        return ordinary / "sanitized"

    def describe(self) -> Registered:
        """Nothing: it loads only where its sanitizers do, and the ordinary build is described."""
        return Registered()


@dataclass(frozen=True)
class HostTensor:
    """A tensor of which inference and tiling see the shape, and the values where they ask."""

    shape: tuple[int, ...]
    dtype: str  # as the definition spells it
    values: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class HostCase:
    """A call without data: tensors by input, none where it is absent."""

    label: str
    row: tuple[str, ...]
    inputs: tuple[tuple[HostTensor, ...], ...]
    attrs: Mapping[str, Any]

    def as_json(self) -> dict[str, object]:
        """For the child."""
        return {
            "row": self.row,
            "inputs": [[vars(tensor) for tensor in param] for param in self.inputs],
            "attrs": dict(self.attrs),
        }


def reads_values(op: Definition, index: int) -> bool:
    """Whether inference or tiling may read an input's values."""
    listed = {*op.inference_reads, *op.tiling_reads}
    return bool(op.inputs[index].value_depend) or index in listed


def grown(cases: Sequence[HostCase], op: Definition) -> Iterator[HostCase]:
    """Cases with their first dim so long that numbers of 32 bits no longer hold the size."""
    plain = [
        case
        for case in cases
        if case.inputs and case.inputs[0] and case.inputs[0][0].shape and _size(case) > 0
    ]
    if not plain:
        return
    case = max(plain, key=_size)
    first = case.inputs[0][0].shape[0]
    rest = _size(case) // first
    for elements in _ELEMENTS:
        rows = -(-elements // rest)
        inputs = tuple(
            tuple(
                HostTensor((rows, *tensor.shape[1:]), tensor.dtype)
                if tensor.shape[:1] == (first,) and tensor.values is None
                else tensor
                for tensor in param
            )
            for param in case.inputs
        )
        shape = "x".join(map(str, inputs[0][0].shape))
        yield HostCase(f"{shape} of {case.label}", case.row, inputs, case.attrs)


def _size(case: HostCase) -> int:
    return math.prod(case.inputs[0][0].shape)


def chosen(cases: Sequence[HostCase], op: Definition) -> list[HostCase]:
    """Cases that differ in what host code sees, no more than that takes a few seconds."""
    different: dict[object, HostCase] = {}
    for case in cases:
        different.setdefault(json.dumps(case.as_json(), default=str), case)
    kept = [*different.values()]
    step = max(1, -(-len(kept) // _MOST_CASES))
    return [*kept[::step], *grown(kept, op)]


def runtimes(compiler: str) -> str:
    """The sanitizers' libraries, which have to be loaded before Python's own code."""
    found = []
    for name in ("libasan.so", "libubsan.so"):
        asked = [compiler, f"-print-file-name={name}"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        path = Path(done.stdout.strip())
        if done.returncode or not path.is_absolute():
            raise ToolkitError(
                f"--sanitize-host: {compiler} has no {name}. Next: apt-get install g++, and set"
                " CXX=g++"
            )
        found.append(str(path))
    return ":".join(found)


def sanitize(
    sources: Sources,
    family: Family,
    op: Definition,
    made: Sequence[HostCase],
    *,
    soc: str,
    repro: str,
    headers: Sequence[Path] = (),
) -> list[Run]:
    """Build the host code of an operator for the sanitizers and run the shapes of cases. A report
    that ends the process ends one case, and the next process goes on with the rest. Lines of
    ``headers`` and of the toolkit are not the operator's.
    """
    builder = SanitizedBuilder(sources, family, host_words=FLAGS)
    builder.build_host()
    package, library, compiler = builder.package, builder.host_library, builder.compiler
    headers = (*headers, builder.toolkit / "include")
    cases = chosen(made, op)
    preload = runtimes(compiler)
    runs: list[Run] = []
    while len(runs) < len(cases):
        left = cases[len(runs) :]
        with temporary.folder() as folder:
            asked, answers, said = (folder / n for n in ("asked", "answers", "said"))
            asked.write_text(
                json.dumps(
                    {
                        "op": op.as_json(),
                        "soc": soc,
                        "package": str(package),
                        "library": str(library),
                        "cases": [case.as_json() for case in left],
                    },
                    default=str,
                )
            )
            _child(preload, asked, answers, said)
            done = answers.read_text().splitlines() if answers.is_file() else []
            reports = _by_case(said.read_text(errors="replace"), len(left))
        for case, answer, text in zip(left, done, reports, strict=False):
            said_of = (*_reports(text, op, headers), *map(finding_from_json, json.loads(answer)))
            runs.append(Run(case.label, repro, said_of, launched=False))
        if len(done) < len(left):
            case = left[len(done)]
            found = [*_reports(reports[len(done)], op, headers)]
            if not found:
                if not done:
                    last = (reports[0].strip().splitlines() or ["it ended without a word"])[-1]
                    raise ToolkitError(
                        f"--sanitize-host: {op.type}, {case.label}: the instrumented process"
                        f" ended: {last[:300]}. Next: aclgrad check without --sanitize-host"
                    )
                continue  # The process ended before the case began.
            runs.append(Run(case.label, repro, tuple(found), launched=False))
    return runs


def _child(preload: str, asked: Path, answers: Path, said: Path) -> None:
    environment = os.environ | {
        "LD_PRELOAD": " ".join([preload, *os.environ.get("LD_PRELOAD", "").split()]),
        # The simulator names signals; the interpreter never frees everything.
        "ASAN_OPTIONS": ":".join(
            [
                "halt_on_error=1:detect_leaks=0:handle_segv=0:handle_abort=0",
                "handle_sigfpe=0:handle_sigill=0:handle_sigbus=0",
            ]
        ),
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=0",
    }
    command = [
        sys.executable,
        "-I",
        "-m",
        "aclgrad.checks.host_sanitizer_child",
        asked,
        answers,
    ]
    with said.open("wb") as out:
        try:
            subprocess.run(
                [*map(str, command)],
                stdout=out,
                stderr=out,
                env=environment,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            out.write(b"\nit did not end within the time limit\n")


MARK = "@@ aclgrad case"
"""Before the output of each case."""


def _by_case(text: str, count: int) -> list[str]:
    """What was printed while the library was loaded and in the first case, then in each other."""
    before, *parts = re.split(rf"^{MARK} \d+\n", text, flags=re.MULTILINE)
    parts = parts or [""]
    parts[0] = before + parts[0]
    return [*parts, *[""] * (count + 1 - len(parts))]


_UNDEFINED = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):\d+: runtime error: (?P<what>.*)\n"
    r"(?P<stack>(?:\s+#\d+ .*\n)*)",
    re.MULTILINE,
)
_ADDRESS = re.compile(
    r"ERROR: AddressSanitizer: (?P<what>[\w-]+)[^\n]*\n(?P<rest>.*?)(?=^SUMMARY|\Z)",
    re.MULTILINE | re.DOTALL,
)
_FRAME = re.compile(
    r"^\s+#\d+ 0x[0-9a-f]+ in (?P<name>.*?) (?P<file>/[^\n]*?):(?P<line>\d+)(?::\d+)?$", re.M
)
_ADVICE = (
    "On a host with an NPU the same code decides the launch: wrong numbers of tiles and cores, or a"
    " crash of the process. "
)
_BOUND = "Next: bound the index by the size of the array."
_WIDEN = "Next: compute with int64_t, and return GRAPH_FAILED for what does not fit."


def _reports(text: str, op: Definition, headers: Sequence[Path]) -> Iterator[Finding]:
    named: set[tuple[str, int]] = set()
    for match in _ADDRESS.finditer(text):
        frames = [place for place in _frames(match["rest"]) if _is_users(place, headers)]
        at = frames[0] if frames else Place("host")
        access = re.search(r"^(READ|WRITE) of size \d+", match["rest"], re.MULTILINE)
        variable = re.search(
            r"'(\w+)'(?: \(line (\d+)\))? <== Memory access at offset (-?\d+) (.*)", match["rest"]
        )
        detail = match["what"] + (f", {access[0]}" if access else "")
        if variable:
            line = f" of line {variable[2]}" if variable[2] else ""
            detail += (
                f": {variable[4].removesuffix(' this variable')} the array {variable[1]}{line}"
            )
        named.add((at.file, at.line))
        yield _finding("host-address", op, at, detail, _ADVICE + _BOUND)
    for match in _UNDEFINED.finditer(text):
        own = Place("host", "", "", match["file"], int(match["line"]))
        places = [own, *_frames(match["stack"])]
        at = next((place for place in places if _is_users(place, headers)), own)
        outside = "out of bounds" in match["what"]
        if (at.file, at.line) in named and outside:
            continue  # the two sanitizers say the same
        kind, remedy = ("host-address", _BOUND) if outside else ("host-undefined", _WIDEN)
        yield _finding(kind, op, at, match["what"], _ADVICE + remedy)


def _frames(text: str) -> list[Place]:
    return [
        Place("host", "", "", match["file"], int(match["line"])) for match in _FRAME.finditer(text)
    ]


def _is_users(place: Place, headers: Sequence[Path]) -> bool:
    file = place.file
    system = "/include/c++/" in file or "/sanitizer" in file or file.startswith("/usr/include/")
    return not system and not any(Path(file).is_relative_to(folder) for folder in headers)


def _finding(kind: str, op: Definition, at: Place, detail: str, advice: str) -> Finding:
    try:
        text = text_of(Path(at.file)).splitlines()[at.line - 1].strip()
    except (FileError, IndexError):
        text = ""
    place = Place("host", "host code", "", at.file, at.line, text)
    where = f"\n  at {at.file}:{at.line}\n     {text}" if at.file else ""
    said = f"error [{kind}] in {op.type}{where}\n  {detail}\n  {advice}"
    return Finding(kind, op=op.type, at=place, detail=detail, advice=advice, text=said)


def of_arrays(
    label: str,
    op: Definition,
    row: Sequence[str],
    shapes: Sequence[Sequence[tuple[int, ...]]],
    attrs: Mapping[str, object],
    values: Sequence[Sequence[Any]] | None = None,
) -> HostCase:
    """A case of the shapes of its inputs, and of the arrays of those whose values are read."""
    inputs = tuple(
        tuple(
            HostTensor(
                tuple(map(int, shape)),
                row[index],
                tuple(values[index][place].ravel().tolist())
                if values is not None and reads_values(op, index)
                else None,
            )
            for place, shape in enumerate(param)
        )
        for index, param in enumerate(shapes)
    )
    return HostCase(label, tuple(row), inputs, attrs)
