# SPDX-License-Identifier: Apache-2.0
"""Operators that come as sources from elsewhere: a folder in ops-nn's layout, or one kernel file.

A build makes an operator package of its own in a cache folder, laid out like the toolkit's: the
host library from op_host, one kernel library per dtype combination from op_kernel, and the aclnn
functions that CANN would generate from the definition. Nothing in the operator's folder is
touched.
"""

from __future__ import annotations

import concurrent.futures
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aclgrad.building import compile_commands
from aclgrad.building.aclnn_library import ApiBuilder
from aclgrad.building.compile_step import diagnose
from aclgrad.building.compiler import demangle, demangle_all, undefined_symbols
from aclgrad.codegen.render import render, write_if_different
from aclgrad.common import files, rebuild
from aclgrad.common.locks import alone
from aclgrad.reading import definition_rules
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import Kernel, Missing, Sources, SourcesError, numpy_name
from aclgrad.spec import definition
from aclgrad.spec.definition import Definition, Registered
from aclgrad.spec.soc import Family, family_of

_HOST_HEADERS = (
    "algorithm",
    "cmath",
    "iostream",
    "map",
    "set",
    "sstream",
    "string",
    "vector",
    "graph/utils/type_utils.h",
    "log/log.h",
    "register/op_def_registry.h",
    "register/op_impl_registry.h",
    "register/tilingdata_base.h",
    "tiling/platform/platform_ascendc.h",
    "util/math_util.h",
)
HOST_LIBRARIES = (
    ("-laclgrad_tiling", "-lregister"),
    # Its functions are this library's own: another package may have those of another version.
    ("-Wl,--exclude-libs,libaclgrad_tiling.a",),
)
"""What op_host is linked with, and how."""


def _host_libraries(objects: Sequence[Path]) -> tuple[Sequence[str], Sequence[str]]:
    """What to link objects of op_host with. CANN has definitions in another library than tiling: a
    function that a header of both defines may be in each.
    """
    libraries, words = HOST_LIBRARIES
    apart = {"_def." in path.name for path in objects}
    return libraries, (*words, "-Wl,-z,muldefs") if len(apart) == 2 else words


_LOG_WORDS = ('-DOPS_UTILS_LOG_SUB_MOD_NAME="OP_TILING"', '-DOPS_UTILS_LOG_PACKAGE_TYPE=""')
"""What the build of public op_host sources gives to their headers for logging."""

_OTHER_ARCHITECTURES_HEADER = r"(^|/)atvoss/"
"""Headers of the template library that operators use for architecture 3510 only."""


@dataclass
class Builder(ApiBuilder):
    """Builds one operator for one SoC family. ``progress`` is told how many kernels of how many are
    compiled.
    """

    progress: Callable[[int, int], None] = lambda done, total: None
    host_words: tuple[str, ...] = ()  # of compiles and links of op_host
    host_objects: list[Path] = field(default_factory=list, init=False)
    left_out: dict[Path, str] = field(default_factory=dict, init=False)  # reasons by source

    def build_host(self) -> Registered:
        """Build the host library and return what it registers."""
        if self.sources.alone:
            kernel = self.sources.kernels[0]
            if self.sources.program:
                raise SourcesError(
                    f"{self.sources}: a program makes its own inputs. Next: aclgrad run"
                    f" {kernel}, which has all checks"
                )
            if text := definition_rules.unregistered((*self.sources.host, *self.sources.helpers)):
                raise SourcesError(text)
            raise SourcesError(
                f"{self.sources}: no OP_ADD in op_host, so nothing says what its inputs are. Next:"
                f" aclgrad run {kernel} --inputs ... --outputs ..."
            )
        self.seen_parsed.clear()
        # Inline functions stay the operator's own, whichever packages one process loads.
        words = ["-DLOG_CPP", "-fno-strict-aliasing", *self.own_symbols, *self.host_words]
        words += _LOG_WORDS
        extra = [*words, *self._parsed("host", _HOST_HEADERS, words)]
        extra += self.sources.defines
        includes = self.sources.host_includes
        needed, rest = self.sources.host_for(self.soc.npu_arch)

        def compile_needed() -> list[Path]:
            steps = [self._object(source, includes, extra) for source in needed]
            return self._compile(steps, "op_host", spare=_OTHER_ARCHITECTURES_HEADER)

        objects = self.with_headers(compile_needed)
        rest += self.common.files
        while True:
            others = {source: self._object(source, includes, extra) for source in rest}
            ended = {source: step.run() for source, step in others.items()}
            failed = {source: error for source, error in ended.items() if error is not None}
            for source in {*failed} & {*self.common.files}:
                self.common.drop(source)
            own = {*failed} & {*self.sources.helpers}
            self.left_out.update({source: diagnose(failed[source]).message for source in own})
            made = [step.output for source, step in others.items() if source not in failed]
            rest = self._link_host([*objects, *made])
            if not rest:
                return self.describe()
            rest = [*others, *rest]

    def _link_host(self, objects: list[Path]) -> list[Path]:
        """Link op_host. Returns sources of the repository that define what is missing; functions
        that no source defines become functions that say so.
        """
        with alone(self.folder / "op_host.lock"):  # one library by two commands
            return self._link_host_alone(objects)

    def _link_host_alone(self, objects: list[Path]) -> list[Path]:
        libraries, link_words = _host_libraries(objects)
        needed = (libraries, (*link_words, *self.host_words))
        link = self._link(self.host_library, objects, *needed)
        self.host_objects = objects
        if link.fresh():
            return []
        stubs = self.folder / "gen" / "missing.cpp"
        stub_object = self.folder / "obj" / "missing.o"
        with_stubs = self._link(self.host_library, [*objects, stub_object], *needed)
        if with_stubs.fresh():
            self.host_objects = [*objects, stub_object]
            return []
        self._compile([link], "op_host")
        missing = sorted(undefined_symbols(self.host_library))
        if not missing:
            return []
        names = [demangle(symbol) for symbol in missing]
        more = self.common.find_sources(names)
        if more:
            # Those may not build: what is linked now must not pass for whole then.
            self.host_library.unlink()
            return more
        items = list(zip(missing, names, strict=True))
        write_if_different(
            stubs, render("project/missing.cpp.j2", op=self.sources.name, items=items)
        )
        flags = self._flags(stub_object, [], ("-c", str(stubs), "-o", str(stub_object)))
        self._compile([self.step(stub_object, flags)], "op_host")
        self._compile([with_stubs], "op_host")
        self.host_objects = [*objects, stub_object]
        return []

    def describe(self) -> Registered:
        """What the host library registers."""
        output = self.folder / f"describe-{self.soc.name}.json"
        libraries = [self.host_library, self.toolkit / "lib64" / "libregister.so"]
        libraries.append(self.toolkit / "lib64" / "libascendcl.so")
        inputs = rebuild.Inputs(dict.fromkeys(map(str, libraries), ""))
        if not rebuild.fresh(output, _DESCRIBE):
            with alone(rebuild.lock_of(output)):
                if not rebuild.fresh(output, _DESCRIBE) and not rebuild.restore(output, _DESCRIBE):
                    rebuild.make(
                        output,
                        _DESCRIBE,
                        inputs,
                        lambda: files.write(output, self._asked(), "file"),
                        lambda _: inputs,
                    )
        described = definition.registered(output.read_text())
        self.registered = {op.type for op in described.ops}
        return described

    def _asked(self) -> str:
        """What the host library says that it registers, if that can be built."""
        done = ask(self.toolkit, self.host_library, self.soc.name)
        if done.returncode:
            reason = (
                done.stderr.strip() or f"it ended with status {done.returncode}"
            ).splitlines()[-1]
            missing = re.search(r"undefined symbol: (\S+)", reason)
            name = demangle(missing[1]) if missing else ""
            raise SourcesError(
                f"{self.sources.name}: op_host does not load: {demangle_all(reason)}\n"
                f"Next: nm -uC {self.host_library}",
                Missing("symbol", name, "", reason) if missing else None,
            )
        for op in definition.registered(done.stdout).ops:
            # Folders, files and functions are called after it.
            if not re.fullmatch(r"[A-Za-z_]\w*", op.type, re.ASCII):
                raise SourcesError(
                    f"{self.sources.name}: op_host registers {op.type!r}, want the name of a C++"
                    " type. Next: OP_ADD(Name)"
                )
        return done.stdout

    # -- kernels --------------------------------------------------------------------------------

    def combinations(self, op: Definition) -> list[tuple[str, ...]]:
        """The dtype columns of an operator: a row of the definition's table each."""
        return op.rows()

    def kernel_named(self, text: str) -> Kernel | None:
        """The kernel whose file a message says is missing."""
        for op in (op for op in self.describe().ops if op.here):
            for row in self.combinations(op) if f"{op.type}_" in text else ():
                kernel = self.kernel(op, row)
                if f"/{kernel.output.name}" in text:
                    return kernel
        return None

    def drop_stale(self, op: Definition) -> None:
        """Delete kernels of an operator that were built from other sources or for dtypes that it no
        longer has: nothing asks for them today, but an aclnn function by hand may launch them.
        """
        if not self.package.is_relative_to(self.folder):
            return  # somebody else's package
        rows = {self.kernel(op, row).output for row in self.combinations(op)}

        def stale(path: Path) -> bool:
            return path not in rows or not rebuild.unchanged(path)

        for folder in {path.parent for path in rows}:
            for path in filter(stale, folder.glob("*.so")):
                # Another command may be making it: its record is written last.
                with alone(rebuild.lock_of(path)):
                    if stale(path):
                        path.unlink(missing_ok=True)
                        rebuild.record_of(path).unlink(missing_ok=True)

    def build_missing(self, text: str) -> Path | None:
        """Build what a message of an aclnn function by hand says is not there, and return its file:
        a kernel, or the package of a neighbour whose kernel it launches.
        """
        if kernel := self.kernel_named(text):
            self.build_all([kernel], self.describe())
            return kernel.output
        for name, folder in self.beside.items():
            if not re.search(rf"\b{name}(?![a-z])", text):
                continue
            builder = Builder(locate(folder), self.soc, jobs=self.jobs, cache=self.cache)
            try:
                return builder.build_beside(text)
            except SourcesError as error:
                what, _, _ = str(error).partition("\nNext: ")
                raise SourcesError(
                    f"{self.sources.name}: its aclnn function launches {builder.sources.name}:"
                    f" {what}\nNext: aclgrad build {folder}"
                ) from None
        return None

    def build_beside(self, text: str) -> Path | None:
        """The same for a neighbour, whose package is not known to this process yet."""
        described = self.build_host()
        packages = os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":")
        if str(self.package) not in packages:
            ops = [op for op in described.ops if op.here]
            kernels = [self.kernel(op, row) for op in ops for row in self.combinations(op)]
            # Its sources may have changed since.
            self.build_all([one for one in kernels if one.output.is_file()], described)
            os.environ["ASCEND_CUSTOM_OPP_PATH"] = ":".join([*packages, str(self.package)])
            return self.host_library
        kernel = self.kernel_named(text)
        if kernel is None:
            return None
        self.build_all([kernel], described)
        return kernel.output

    def build_kernels(
        self, op: Definition, rows: Sequence[tuple[str, ...]], described: Registered
    ) -> None:
        """Compile the kernel libraries of dtype combinations."""
        self.build_all([self.kernel(op, row) for row in rows], described)
        self.drop_stale(op)

    def build_all(self, kernels: Sequence[Kernel], described: Registered) -> None:
        """Compile kernel libraries side by side. A kernel that does not build ends it for the other
        dtypes of its operator; other operators are built before the error is raised.
        """
        errors: dict[str, SourcesError] = {}
        self.seen_parsed.clear()

        def make(kernel: Kernel) -> None:
            op = kernel.op.type
            if op not in errors:
                try:
                    self.build_kernel(kernel, described)
                except SourcesError as error:
                    errors.setdefault(op, error)

        # Two more than cores, as Ninja does: three dtypes on two cores would take two rounds.
        jobs = self.jobs or (os.cpu_count() or 1) + 2
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for done, _ in enumerate(pool.map(make, kernels), 1):
                self.progress(done, len(kernels))
        if errors:
            raise _all_of(errors, [kernel.op.type for kernel in kernels])


def _all_of(errors: Mapping[str, SourcesError], ops: Sequence[str]) -> SourcesError:
    """The errors of operators as one, which also names the operators that were built."""
    first = next(iter(errors.values()))
    built = [op for op in dict.fromkeys(ops) if op not in errors]
    if len(errors) == 1 and not built:
        return first
    # An operator that is built can be run by its name.
    text = f"built: {', '.join(built) or 'none'}. Not built: {', '.join(errors)}"
    return SourcesError("\n".join([text, *map(str, errors.values())]), first.missing)


def ask(toolkit: Path, host_library: Path, soc: str) -> subprocess.CompletedProcess[str]:
    """What a host library registers for a SoC family, as JSON; its code is a guest, so it is loaded
    in another process.
    """
    command = [sys.executable, "-I", "-c", _DESCRIBE]
    command += [str(toolkit / "lib64" / "libregister.so"), str(host_library), soc]
    return subprocess.run(command, capture_output=True, text=True, check=False)


_DESCRIBE = """
import ctypes, sys
register = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[2], mode=ctypes.RTLD_LOCAL)
register.aclsimDescribeOps.restype = ctypes.c_char_p
sys.stdout.write(register.aclsimDescribeOps(sys.argv[3].encode()).decode())
"""


@dataclass(frozen=True)
class Built:
    """What a build has made."""

    package: Path
    ops: tuple[str, ...]
    headers: tuple[Path, ...]
    kernels: tuple[Path, ...]
    left_out: Mapping[Path, str]  # sources of op_host that need not build, and why they do not


def _named(why: str) -> str:
    """A SoC of the family that a definition is for."""
    only = re.search(r"only for (\w+)", why)
    return {"ascend950": " Ascend950PR_9589", "ascend310p": " Ascend310P3"}.get(
        only[1] if only else "", ""
    )


def runnable(described: Registered, sources: Sources, soc: Family) -> list[Definition]:
    """The operators of a host library that this SoC has."""
    ops = [op for op in described.ops if op.defined]
    ops = [op for op in ops if not sources.types or op.type in sources.types]
    chosen = [op for op in ops if op.here]
    for op in chosen:
        definition_rules.check(op, sources)
    if not any(op.defined for op in described.ops) and (
        text := definition_rules.unregistered((*sources.host, *sources.helpers))
    ):
        raise SourcesError(text)
    if not chosen:
        why = "; ".join(f"{op.type}: {op.why or 'it has no OpDef'}" for op in described.ops)
        raise SourcesError(
            f"{sources.name}: no operator for {soc.name}: {why or 'op_host registers nothing'}."
            f" Next: --soc{_named(why)}"
        )
    return chosen


def build(
    word: str | Path | Sources,
    *,
    soc: str,
    dtypes: Sequence[str] = (),
    jobs: int = 0,
    commands: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Built:
    """Build an operator from its sources: all dtype combinations, or the one asked for. Editors
    are told how, in ``commands`` or in the project if it asks for that; also where a build fails.
    """
    builder = Builder(locate(word), family_of(soc), jobs=jobs, progress=progress)
    try:
        return _build(builder, dtypes)
    finally:
        made = compile_commands.entries(builder.commands, builder.folder)
        place = commands or compile_commands.wanted_in(builder.sources.root, made)
        if place is not None and made:
            compile_commands.write(place, made, "--compile-commands")


def _build(builder: Builder, dtypes: Sequence[str]) -> Built:
    described = builder.build_host()
    ops = runnable(described, builder.sources, builder.soc)
    wanted = []
    for op in ops:
        rows = builder.combinations(op)
        chosen = [
            row
            for row in rows
            if not dtypes or [*map(numpy_name, row)][: len(dtypes)] == list(dtypes)
        ]
        if not chosen:
            offered = "; ".join(",".join(map(numpy_name, row)) for row in rows)
            raise SourcesError(
                f"{op.type}: no dtype combination {','.join(dtypes)}; its definition has {offered}"
            )
        wanted += [builder.kernel(op, row) for row in chosen]
    builder.build_all(wanted, described)
    headers = builder.build_api(ops)
    return Built(
        builder.package,
        tuple(op.type for op in ops),
        tuple(headers),
        tuple(kernel.output for kernel in wanted),
        builder.left_out,
    )
