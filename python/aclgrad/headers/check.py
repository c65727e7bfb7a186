# SPDX-License-Identifier: Apache-2.0
"""Type-checks the operators' sources against CANN's headers: nothing is linked or run."""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from aclgrad.building.build_tools import find_compiler
from aclgrad.codegen.render import Variant, generate, kernel_variants, write_if_different
from aclgrad.common import cache
from aclgrad.common.files import text_of
from aclgrad.common.sums import content
from aclgrad.errors import ToolkitError
from aclgrad.headers import op_compiler, standins, trees
from aclgrad.headers.op_compiler import Front
from aclgrad.headers.problems import Problem, _short, problems
from aclgrad.headers.standins import CPU, DEVICE, StandIns
from aclgrad.headers.trees import HeaderSet
from aclgrad.runtime.toolkit import checkout
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import Family

HOST, API = "op_host", "op_api"
COMMON = "common"
_CLANG = 19  # the first with native half arguments and __bf16 conversions


@dataclass(frozen=True)
class Job:
    """One compilation."""

    op: str
    headers: str
    column: str  # "2201 cpu", "op_host", ...
    label: str  # dtypes, or the source
    command: tuple[str, ...]
    source: Path


@dataclass(frozen=True)
class SourceChecked:
    """What one compilation found, without what the headers alone give."""

    job: Job
    problems: tuple[Problem, ...]
    seconds: float


@dataclass(frozen=True)
class Skipped:
    """Something that could not be checked, and what to do."""

    what: str
    why: str
    needed: bool = False  # the kernels went unchecked because headers are missing


@dataclass(frozen=True)
class HeadersChecked:
    """All outcomes."""

    sets: tuple[HeaderSet, ...]
    compilers: tuple[str, ...]
    outcomes: tuple[SourceChecked, ...]
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]
    seconds: float
    fronts: tuple[Front, ...] = ()  # the front end of CANN's op compiler, where it is at hand

    @property
    def refused(self) -> list[Front]:
        """Kernels that the op compiler's front end refuses."""
        return [front for front in self.fronts if front.errors]

    @property
    def failed(self) -> list[SourceChecked]:
        """Compilations with an error of our sources."""
        return [outcome for outcome in self.outcomes if outcome.problems]

    def cells(self, headers: str) -> tuple[list[str], list[tuple[str, list[str]]]]:
        """Columns of the table of one set, and a row per operator."""
        mine = [item for item in self.outcomes if item.job.headers == headers]
        columns = list(dict.fromkeys(item.job.column for item in mine))
        columns.sort(key=lambda name: name in (HOST, API))  # kernels first
        rows = []
        for op in dict.fromkeys(item.job.op for item in mine):
            row = []
            for column in columns:
                group = [i for i in mine if (i.job.op, i.job.column) == (op, column)]
                errors = sum(len(item.problems) for item in group)
                text = f"{errors} error{'s' * (errors > 1)}" if errors else f"ok ({len(group)})"
                row.append(text if group else "-")
            rows.append((op, row))
        return columns, rows

    def as_json(self) -> dict[str, object]:
        """Everything, for programs."""
        return {
            "headers": [
                {
                    "name": item.name,
                    "sources": [
                        {"name": name, "path": str(path), "commit": commit}
                        for name, path, commit in item.sources
                    ],
                }
                for item in self.sets
            ],
            "compilers": list(self.compilers),
            "results": [
                {
                    "op": item.job.op,
                    "headers": item.job.headers,
                    "check": item.job.column,
                    "source": item.job.label,
                    "ok": not item.problems,
                    "seconds": round(item.seconds, 2),
                    "errors": [
                        {"file": p.file, "line": p.line, "text": p.text, "from": p.origin}
                        for p in item.problems
                    ],
                }
                for item in self.outcomes
            ],
            "op_compiler": [front.as_json() for front in self.fronts],
            "skipped": [{"what": item.what, "why": item.why} for item in self.skipped],
            "notes": list(self.notes),
            "seconds": round(self.seconds, 1),
        }


def find_clang() -> str | None:
    """Return a clang++ that can compile the device branch."""
    names = ["clang++", *(f"clang++-{number}" for number in range(_CLANG, _CLANG + 12))]
    for path in filter(None, map(shutil.which, names)):
        done = subprocess.run([path, "-dumpversion"], capture_output=True, text=True, check=False)
        major = done.stdout.partition(".")[0].strip()
        if major.isdigit() and int(major) >= _CLANG:
            return path
    return None


def check(  # noqa: C901
    folders: Sequence[Path],
    specs: Sequence[OpSpec],
    *,
    root: Path | None = None,
    kernels_only: bool = False,
    jobs: int = 0,
    progress: Callable[[int, int, str], None] = lambda done, total, text: None,
) -> HeadersChecked:
    """Check operators; ``root`` in place of this checkout. Raises `ToolkitError` when headers or
    tools are missing.
    """
    start = time.monotonic()
    root = root or checkout()
    if root is None:
        raise ToolkitError(
            "headers: this package is installed, not a source checkout. Next: clone the"
            " repository and run scripts/build.sh"
        )
    sets = trees.find(folders)
    compiler = find_compiler()
    if compiler is None:
        raise ToolkitError("headers: no C++ compiler found. Next: apt-get install g++")
    clang = find_clang()
    skipped = []
    if clang is None:
        skipped.append(
            Skipped(
                "device branch",
                f"no clang++ of version {_CLANG} or later. Next: apt-get install clang-{_CLANG}",
            )
        )
    planned: list[tuple[Job, StandIns | None]] = []
    fronts: list[op_compiler.Kernel] = []
    notes: list[str] = []
    workers = jobs or os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for headers in sets:
            plan = _Plan(headers, tuple(specs), root, compiler, clang)
            standins.prepare_common(headers, plan.folder / "common")
            families = list({v.family.npu_arch: v.family for v in plan.variants()}.values())
            asked_for = [
                plan.stand_ins(family, b) for family in families for b in plan.branches(family)
            ]
            wanted = []
            ready = pool.map(_prepare, asked_for)
            for number, (stand_ins, count) in enumerate(zip(asked_for, ready, strict=True), 1):
                progress(number, len(asked_for), f"reading the headers of {headers.name}")
                name = f"{headers.name}, {stand_ins.family.npu_arch} {stand_ins.branch}"
                if count > _TOO_MANY:
                    why = f"the headers alone give {count} errors"
                    alone = headers.instructions is None
                    if alone:
                        why += "; there is no stub_fun.h. Next: give a CANN installation too"
                    skipped.append(Skipped(name, why, needed=alone))
                    continue
                wanted.append(stand_ins)
                if count:
                    notes.append(f"{name}: the headers alone give {count} errors, left out here")
            planned += plan.kernels(wanted)
            asked = op_compiler.sources_of(plan.specs, root)
            found_scripts = op_compiler.plan(headers, asked, compiler, plan.folder)
            if not found_scripts:
                notes.append(f"{headers.name}: the scripts of the op compiler are not there")
            fronts += found_scripts
            if not kernels_only:
                planned += [(job, None) for job in plan.host_side()]
            if any(family.regbase for family in families):
                notes.append(
                    f"{headers.name}, register-based SoCs: instructions take any operands here;"
                    " what is checked is the API above them"
                )
        running = [pool.submit(kernel.run) for kernel in fronts]
        futures = {pool.submit(_run, job, ins, root): i for i, (job, ins) in enumerate(planned)}
        found: dict[int, SourceChecked] = {}
        for future in concurrent.futures.as_completed(futures):
            number = futures[future]
            found[number] = future.result()
            progress(
                len(found), len(planned), f"{planned[number][0].op} {planned[number][0].column}"
            )
        ended = tuple(future.result() for future in running)
    return HeadersChecked(
        tuple(sets),
        tuple(filter(None, (_describe(compiler), _describe(clang) if clang else ""))),
        tuple(found[number] for number in sorted(found)),
        tuple(skipped),
        tuple(notes),
        time.monotonic() - start,
        ended,
    )


def folder_of(headers: HeaderSet, compiler: str, clang: str | None) -> Path:
    """Cache: another for other headers, compilers or stand-ins."""
    parts = [_describe(compiler), _describe(clang or compiler)]
    for name, path, commit in headers.sources:
        files = [path] if path.is_file() else sorted(path.rglob("*.h*"))
        parts += [name, str(path), commit, content(file for file in files if file.is_file())]
    for module in (standins, trees):
        parts.append(Path(str(module.__file__)).read_text(encoding="utf-8"))
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return cache.root() / "headers" / key


_TOO_MANY = 150  # behind so many errors of its own, a header hides those of others


def _describe(compiler: str) -> str:
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0]


@dataclass(frozen=True)
class _Plan:
    """The compilations of one header set."""

    headers: HeaderSet
    specs: tuple[OpSpec, ...]
    root: Path
    compiler: str
    clang: str | None

    def variants(self) -> Iterator[Variant]:
        for spec in self.specs:
            yield from kernel_variants(spec)

    def branches(self, family: Family) -> list[str]:
        # The device branch of register-based SoCs is built from compiler types that clang lacks.
        return [CPU, DEVICE] if self.clang and not family.regbase else [CPU]

    @cached_property
    def folder(self) -> Path:
        return folder_of(self.headers, self.compiler, self.clang)

    def stand_ins(self, family: Family, branch: str) -> StandIns:
        compiler = self.compiler if branch == CPU else self.clang
        assert compiler is not None
        folder = self.folder / f"{family.npu_arch}_{branch}"
        return StandIns(self.headers, family, branch, compiler, folder, self.folder / "common")

    @property
    def work(self) -> Path:
        """Where the sources of this checkout are made."""
        return self.folder / "sources" / hashlib.sha256(str(self.root).encode()).hexdigest()[:12]

    def kernels(self, ready: Sequence[StandIns]) -> list[tuple[Job, StandIns | None]]:
        return [
            (self._kernel(spec, variant, stand_ins), stand_ins)
            for spec in self.specs
            for stand_ins in ready
            for variant in kernel_variants(spec)
            if variant.family.npu_arch == stand_ins.family.npu_arch
        ]

    def host_side(self) -> Iterator[Job]:
        generated = self.work / "gen"
        generate(generated, generated / "include" / "aclnnop", self.specs)
        host, api = self._host(self.folder / "common", generated)
        for spec in self.specs:
            for path in sorted((self.root / "op_host" / spec.op).glob("*.cpp")):
                yield self._source(spec.op, HOST, path, host)
            for name in (f"aclnn_{spec.header}", spec.op):
                yield self._source(spec.op, API, generated / "op_api" / f"{name}.cpp", api)
        for path in sorted((self.root / "op_host" / COMMON).glob("*.cpp")):
            yield self._source(COMMON, HOST, path, host)

    def _kernel(self, spec: OpSpec, variant: Variant, stand_ins: StandIns) -> Job:
        kernel = self.root / "op_kernel" / spec.op / f"{spec.op}.cpp"
        lines = [stand_ins.prelude]
        lines += [f"#define {define.replace('=', ' ', 1)}\n" for define in variant.defines]
        column = f"{stand_ins.family.npu_arch} {stand_ins.branch}"
        source = self.work / f"{spec.op}_{column.replace(' ', '_')}_{variant.stem}.cpp"
        write_if_different(source, f'{"".join(lines)}#include "{kernel}"\n')
        include = [f"-I{self.root / name}" for name in ("op_kernel", "op_host")]
        command = (*stand_ins.command, *include)
        return Job(spec.op, self.headers.name, column, variant.stem, command, source)

    def _source(self, op: str, column: str, source: Path, options: Sequence[str]) -> Job:
        words = standins.compile_words(self.compiler, "-std=c++17")
        label = source.name
        return Job(op, self.headers.name, column, label, (*words, *options), source)

    def _host(self, common: Path, generated: Path) -> tuple[list[str], list[str]]:
        """Options of op_host and of op_api."""
        include = [*self.headers.host, common]
        if not any((path / "securec.h").is_file() for path in include):
            include.append(common / "aclgrad_securec")
        define = ["-DLOG_CPP"]
        if not any((path / "graph/operator_reg.h").is_file() for path in include):
            define.append("-DNO_OPERATOR_IMPL")
        include = [self.work / "compat", *self.headers.api, *include]
        ours = [self.root / "op_host", *(self.root / "op_host").rglob("*"), *generated.rglob("*")]
        self._compat(self.work / "compat", [path for path in ours if path.is_file()], include[1:])
        options = [*define, *(f"-I{path}" for path in include)]
        host = [f"-I{self.root / 'op_host'}", *options]
        api = [f"-I{generated / 'op_api'}", f"-I{generated / 'include'}", *options]
        return host, api

    def _compat(self, folder: Path, sources: Sequence[Path], include: Sequence[Path]) -> None:
        """Declarations that this toolkit lacks, as a build with it makes them
        (cmake/cann/common.cmake).
        """
        names = {
            name
            for path in sources
            for name in re.findall(r'^#include "([^"]+)"', text_of(path), re.M)
        }
        for name in sorted(names):
            for place in (self.root / "cmake/cann/compat", self.root / "simulator/include"):
                ours = place / name
                optional = name.split("/")[0] in ("level0", "aclnn_kernels", "log")
                if optional and ours.is_file() and not any((p / name).is_file() for p in include):
                    write_if_different(folder / name, ours.read_text(encoding="utf-8"))
                    break


def _prepare(stand_ins: StandIns) -> int:
    """Make what the headers need; return how many errors they give alone."""
    stamp = stand_ins.folder / "ready"
    if not stamp.is_file():
        stand_ins.folder.mkdir(parents=True, exist_ok=True)
        stand_ins.prepare()
        done = stand_ins.compile(stand_ins.prelude, "alone.cpp")
        own = problems(done.stderr, stand_ins.folder, stand_ins.headers)
        lines = "".join(f"{item.place}: {item.text}\n" for item in own)
        (stand_ins.folder / "alone.txt").write_text(lines, encoding="utf-8")
        if not own:
            stand_ins.precompile()
        stamp.touch()
    return len((stand_ins.folder / "alone.txt").read_text(encoding="utf-8").splitlines())


def _run(job: Job, stand_ins: StandIns | None, root: Path) -> SourceChecked:
    start = time.monotonic()
    done = subprocess.run(
        [*job.command, str(job.source)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    found = problems(done.stderr, root, stand_ins.headers if stand_ins else None)
    if stand_ins is not None:
        alone = (stand_ins.folder / "alone.txt").read_text(encoding="utf-8").splitlines()
        known = set(alone)
        found = [item for item in found if f"{item.place}: {item.text}" not in known]
    elif done.returncode and not found:
        found = [Problem(job.label, 0, done.stderr.strip()[-300:] or "the compiler failed")]
    shown = tuple(replace(item, file=_short(item.file, root)) for item in found)
    return SourceChecked(job, shown, time.monotonic() - start)
