# SPDX-License-Identifier: Apache-2.0
"""Compiles operators that come as sources: their place in the cache, the compiler's words, its
errors.
"""

from __future__ import annotations

import concurrent.futures
import copy
import errno
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

from aclgrad.building.build_tools import find_compiler
from aclgrad.building.common_code import CommonCode
from aclgrad.building.compile_commands import Commands
from aclgrad.building.compile_step import Step, diagnose
from aclgrad.building.toolchain import Toolchain, toolchain
from aclgrad.codegen.render import write_if_different
from aclgrad.common import cache, files
from aclgrad.reading.sources import Missing, Sources, SourcesError
from aclgrad.runtime.toolkit import OPAPI, sim_root
from aclgrad.spec.soc import Family

_PACKAGES = {"nlohmann/json.hpp": "nlohmann-json3-dev"}
"""Libraries of others that op_host sources of public operators include, by header."""

DEVICE_CODE = ("-O0", "-g1", '-DACLSIM_KERNEL_VISIBILITY="protected"')
"""How the front end wants code compiled that it reads: simulator/src/asc/device_code.h."""

PRECOMPILED_LIMIT = 2_000_000_000
"""Bytes of precompiled headers in one cache: 25 files, where a build takes three."""

Made = TypeVar("Made")
_Own = TypeVar("_Own", bound="Compiler")
_parsing = threading.Lock()


_CUBE = re.compile(
    r"KERNEL_TYPE_(MIX_)?AIC|TCubeTiling|Matmul|REGIST_MATMUL|Mmad|Fixpipe|LoadData|Nd2Nz|LoadImageTo"
    r"|LoadUnzip|SetFixPipe|Gemm$|Conv[23][dD]|Get(Gemm|Conv2d)Tiling"
    r"|mad(_|$)|load_(gm|cbuf)_to_|img2col|copy_(gm|ubuf)_to_cbuf|copy_cbuf_to_|copy_matrix_cc_to_"
    r"|create_c(a|b|buf)_matrix|set_(fmatrix|fpc|nd_para|quant_pre|l1_3d_size|l3d_rpt)"
)
"""What kernels with matrix cores name: the API, and the device compiler's own instructions."""


OF_CLANG = re.compile(r"explicit specialization in non-namespace scope|changes meaning of ‘")
"""What g++ refuses and clang++ takes, as the device compiler does, which is a clang: members that
are specialised within their class (g++ takes them from 14 on), and names that a class declares
after it has used them.
"""


def _is_own_mistake(missing: Missing) -> bool:
    """Whether a name that the compiler does not know is a typing error rather than something of
    CANN's that the simulator lacks: the compiler has a better one, or CANN has no names like it.
    """
    name = missing.name.rpartition("::")[2]
    return "did you mean" in missing.message or not re.match(r"[A-Z]|_*[a-z]+_[a-z]", name)


def _first_instruction(output: str) -> Missing | None:
    """The first instruction of matrix units, by its name in the device compiler, that a compiler
    does not know. Words of its arguments (``inc``), which the compiler names before it, say less.
    """
    errors = (diagnose(line) for line in output.splitlines() if "error: " in line)
    unknown = (each for each in errors if each.kind == "api" and each.name.islower())
    return next((each for each in unknown if _CUBE.match(each.name)), None)


class Told(NamedTuple):
    """What the op compiler reads in the source of a kernel."""

    keys: list[str]
    """The tiling keys."""
    types: str
    """The cores that each key runs on, of a source with kernels of both kinds of cores, as numbers:
    how many keys, then key, AICs and AIVs of each.
    """
    open: bool
    """Whether the source names no kernel type and may have code for cube cores."""


def _types_of(lines: Iterable[list[str]]) -> str:
    types = [
        f"{2**64 - 1 if key == 'default' else key}U,{cubes},{vectors}"
        for word, key, cubes, vectors in (line for line in lines if len(line) == 4)
        if word == "type"
    ]
    return ",".join([str(len(types)), *types]) if types else ""


@dataclass
class Compiler:
    """Compiles and links the parts of one operator for one SoC family, each at most once."""

    sources: Sources
    soc: Family
    optimise: str = "-O2"
    debug: str = "-g"  # how much: -g1 is enough for the lines of findings
    jobs: int = 0
    cache: Path = field(default_factory=cache.root)
    toolkit: Path = field(default_factory=sim_root)
    commands: Commands = field(default_factory=dict, init=False)
    _thread: threading.local = field(default_factory=threading.local, init=False, repr=False)
    seen_parsed: set[Path] = field(default_factory=set, init=False)
    """Parsed headers that are up to date, for as long as one build takes: a look at all that they
    include takes as long as a third of a compile.
    """

    def __post_init__(self) -> None:
        if self.sources.debug:
            self.optimise = "-O0"
        compiler = find_compiler()
        if compiler is None:
            raise SourcesError("no C++ compiler found. Next: apt-get install g++, or set CXX")
        self.compiler = compiler
        if not (self.toolkit / "lib64" / "libnnopbase.so").is_file():
            raise SourcesError(
                f"the simulator is not built: no {self.toolkit / 'lib64' / 'libnnopbase.so'}."
                " Next: aclgrad build"
            )

    @cached_property
    def folder(self) -> Path:
        """The operator's place in the cache: same sources, same place."""
        named = f"{self.sources.root} {self.sources.only}{' debug' * self.sources.debug}".rstrip()
        key = hashlib.sha256(named.encode()).hexdigest()[:10]
        # The name goes into lists of paths and commands to copy.
        name = re.sub(r"[^\w.+-]", "_", self.sources.name, flags=re.ASCII)[:80]
        return self.cache / f"{name}-{key}"

    @cached_property
    def common(self) -> CommonCode:
        """What the operator takes from elsewhere in its repository."""
        return CommonCode(self.folder / "common.json", self.sources)

    def with_headers(self, work: Callable[[], Made]) -> Made:
        """Compile; what includes a header of the repository gets the folder of it."""
        looked: set[str] = set()
        while True:
            try:
                return work()
            except SourcesError as error:
                missing = error.missing
                if missing is None or missing.kind != "header" or missing.name in looked:
                    raise
                looked.add(missing.name)
                if not self.common.find_header(missing.name, kernels=self._of_kernels):
                    raise

    def by_clang(self: _Own) -> _Own | None:
        """The same with clang++ for compiler; None without one, and where it is chosen already."""
        clang = shutil.which("clang++")
        if clang is None or self._is_clang:
            return None
        other = copy.copy(self)
        other.compiler = clang
        vars(other).pop("tools", None)
        return other

    @property
    def _is_clang(self) -> bool:
        return "clang" in os.path.realpath(self.compiler)

    @cached_property
    def tools(self) -> Toolchain:
        """The compiler as it is now."""
        return toolchain(self.compiler)

    def step(self, output: Path, command: Sequence[str]) -> Step:
        """A run of the compiler, or of a tool beside it."""
        return Step(output, tuple(command), self.tools)

    @property
    def package(self) -> Path:
        """The vendor folder that the simulator loads."""
        return self.folder / "vendor"

    @property
    def host_library(self) -> Path:
        """Definition, inference and tiling."""
        machine = platform.machine()
        return (
            self.package
            / "op_impl/ai_core/tbe/op_tiling/lib/linux"
            / machine
            / "libcust_opmaster_rt2.0.so"
        )

    @property
    def api_library(self) -> Path:
        """The aclnn functions."""
        return self.package / "op_api" / "lib" / OPAPI

    def _compile(self, steps: Sequence[Step], what: str, spare: str | None = None) -> list[Path]:
        """Compile; a source that lacks a header with a name like ``spare`` is left out."""
        made = []
        with concurrent.futures.ThreadPoolExecutor(self.jobs or os.cpu_count() or 1) as pool:
            for step, error in zip(steps, pool.map(Step.run, steps), strict=True):
                if error is None:
                    made.append(step.output)
                    continue
                missing = diagnose(error)
                known = missing.kind == "header" and spare and re.search(spare, missing.name)
                if not known:
                    raise self.failure(what, error, step)
        return made

    def failure(self, what: str, output: str, step: Step | None = None) -> SourcesError:
        """What a compile lacked, where, and what to do."""
        missing = _first_instruction(output) or diagnose(output)
        log = self.folder / "error.log"
        self.folder.mkdir(parents=True, exist_ok=True)
        command = shlex.join(step.command) + "\n" if step else ""
        files.write(log, command + output, "log")
        lacks = {
            "header": f"no header {missing.name} in the simulator or around the operator",
            "api": f"{missing.name} is not known to the simulator",
            "member": f"{missing.name} is not known to the simulator",
            "form": f"this form of {missing.name} is not known to the simulator",
            "symbol": f"{missing.name} is declared but defined nowhere",
        }.get(missing.kind, missing.message)
        if missing.kind in ("api", "member", "form") and _is_own_mistake(missing):
            lacks = missing.message
            conflict = re.search(r"deduced conflicting types for parameter .*", output)
            lacks += f": {conflict[0]}" if conflict and missing.kind == "form" else ""
        if _CUBE.match(missing.name):
            lacks = (
                f"matrix units: {missing.name} is not simulated yet; docs/simulator.md says what is"
            )
        where = f"{missing.place}: " if missing.place else ""
        package = _PACKAGES.get(missing.name)
        first = f"apt-get install {package}; " if package else ""
        if os.strerror(errno.ENOSPC) in output:
            first = f"df -h {self.folder} {os.environ.get('TMPDIR') or '/tmp'}; "
        elif OF_CLANG.search(output) and not self._is_clang:
            first = "apt-get install clang, which takes it as the device compiler does; "
        elif "Killed signal" in output:
            first = "more memory, or fewer compilations at a time; "
        return SourcesError(
            f"{self.sources.name}: {what} does not build: {lacks}\n  {where}{missing.message}\n"
            f"Next: {first}the compiler's whole output is in {log}",
            missing,
            output,
        )

    @property
    def _of_kernels(self) -> bool:
        return getattr(self._thread, "of_kernels", False)

    @contextmanager
    def of_kernels(self) -> Iterator[None]:
        """What this thread compiles meanwhile is a kernel's."""
        before, self._thread.of_kernels = self._of_kernels, True
        try:
            yield
        finally:
            self._thread.of_kernels = before

    def _roots(self) -> list[Path]:
        """The folders that were found for headers."""
        return [*self.common.roots, *(self.common.kernel_roots if self._of_kernels else ())]

    def _flags(
        self, output: Path, includes: Iterable[Path], extra: Iterable[str]
    ) -> tuple[str, ...]:
        given = list(includes)
        paths = [self.toolkit / "include", *given, *(self._roots() if given else ())]
        paths.append(self.toolkit / "op_library")
        return (
            self.compiler,
            "-std=c++17",
            self.optimise,
            "-gdwarf-4",
            self.debug,
            "-fno-omit-frame-pointer",
            "-fno-optimize-sibling-calls",
            "-fstack-clash-protection",
            "-fno-var-tracking",  # no report asks where variables are; a quarter of the time
            "-fPIC",
            "-w",
            "-ffp-contract=off",
            "-fdiagnostics-color=never",
            "-fmax-errors=20",
            *(f"-I{path}" for path in paths),
            "-idirafter",
            str(self.toolkit / "include/aclsim/host_log"),
            *extra,
            "-MD",
            "-MF",
            f"{output}.d",
            "-MT",
            str(output),
        )

    def _parsed(self, kind: str, headers: Sequence[str], words: Sequence[str]) -> list[str]:
        """Words that start a compile from headers which are parsed already."""
        key = hashlib.sha256(
            repr((self.compiler, self.optimise, self.debug, self.toolkit, words, headers)).encode()
        )
        # Several caches may share what is parsed, by a link.
        folder = (self.cache / "parsed").resolve()
        header = folder / f"{kind}-{key.hexdigest()[:10]}.h"
        with _parsing:
            write_if_different(header, "".join(f"#include <{name}>\n" for name in headers))
            output = header.with_name(header.name + ".gch")
            flags = self._flags(output, [], words)
            step = self.step(output, (*flags, "-x", "c++-header", str(header), "-o", str(output)))
            error = None
            if output not in self.seen_parsed:
                cache.mark_used(output)
                if not step.fresh():
                    self._tell_of_parsed()
                    cache.drop_unused(folder, "*.gch", PRECOMPILED_LIMIT)
                    error = step.run()
            if error is None:
                self.seen_parsed.add(output)
        if error is not None:
            raise self.failure("the simulator's headers", error, step)
        return ["-include", str(header)]

    def _tell_of_parsed(self) -> None:
        """What lands in the user's cache, and how much: once in a cache."""
        try:
            (self.cache / "parsed" / "told").touch(exist_ok=False)
        except FileExistsError:
            return
        print(
            f"aclgrad: headers are precompiled once, about 250 MB in {self.cache}"
            " (ACLGRAD_CACHE); aclgrad doctor tells its size",
            file=sys.stderr,
            flush=True,
        )

    def _front_end(
        self,
        source: Path,
        name: str,
        includes: Iterable[Path],
        words: Iterable[str],
        what: str,
        entry: str = "",
        assembly: Path | None = None,
    ) -> Told:
        """Refuse what CANN's op compiler refuses in a kernel's source before it compiles it, and
        what its device compiler refuses in the code of ``assembly``. Return what the op compiler
        reads in the source.
        """
        output = self.folder / "obj" / f"{name}.keys"
        command = (
            str(self.toolkit / "bin" / "ascc"),
            "--front-end",
            f"--npu-arch=dav-{self.soc.npu_arch}",
            f"--host-compiler={self.compiler}",
            f"--entry={entry}",
            *([f"--assembly={assembly}"] if assembly else []),
            *(word for word in self._flags(output, includes, words)[1:] if word != "-w"),
            str(source),
            "-o",
            str(output),
        )
        self._compile([self.step(output, command)], what)
        lines = [line.split() for line in output.read_text(encoding="utf-8").splitlines()]
        keys = [key for key, *rest in lines if not rest]
        return Told(keys or ["0"], _types_of(lines), any(line[0] == "open" for line in lines))

    def kernel_cores(self, vectors: Path, cubes: Path, name: str, entry: str) -> str:
        """What a kernel runs on by the code that it has for each kind of core, as ``Told.types``:
        the op compiler finds the type of a kernel that names none in that way.
        """
        output = self.folder / "obj" / f"{name}.types"
        command = (
            str(self.toolkit / "bin" / "ascc"),
            "--kernel-cores",
            f"--entry={entry}",
            str(vectors),
            str(cubes),
            "-o",
            str(output),
        )
        self._compile([self.step(output, command)], name)
        text = output.read_text(encoding="utf-8")
        return _types_of([line.split() for line in text.splitlines()])

    def cube_half(self, objects: Sequence[Path], name: str, calls: str = "") -> Path:
        """One object of those that were compiled for AICs, whose symbols are none of the others.

        ``calls`` names the table of how the other half's launches call this one.
        """
        half = self.folder / "obj" / f"{name}.cube_half.o"
        command = (
            str(self.toolkit / "bin" / "ascc"),
            "--cube-half",
            f"--host-compiler={self.compiler}",
            *([f"--calls={calls}"] if calls else []),
            *map(str, objects),
            "-o",
            str(half),
        )
        self._compile([self.step(half, command)], name)
        return half

    def device_assembly(
        self,
        source: Path,
        name: str,
        includes: Iterable[Path],
        words: Iterable[str],
        what: str,
    ) -> Path:
        """Compile what includes a kernel without optimisation, for the rules of the device
        compiler: each call and each type of the source is in there.
        """
        output = self.folder / "obj" / f"{name}.device.s"
        flags = self._flags(output, includes, [*words, *DEVICE_CODE])
        self._compile([self.step(output, (*flags, "-S", str(source), "-o", str(output)))], what)
        return output

    def _object(self, source: Path, includes: Iterable[Path], extra: Iterable[str]) -> Step:
        name = re.sub(
            r"[^\w.]",
            "_",
            str(source.relative_to(self.sources.root))
            if source.is_relative_to(self.sources.root)
            else source.name,
        )
        output = self.folder / "obj" / f"{name}.o"
        words = (*self._flags(output, includes, extra), "-c", str(source))
        self.commands.setdefault(source, {})[()] = words
        return self.step(output, (*words, "-o", str(output)))

    @property
    def own_symbols(self) -> tuple[str, ...]:
        """Words for objects whose inline symbols no other library of a process shares; clang makes
        none that are shared.
        """
        return () if self._is_clang else ("-fno-gnu-unique",)

    def isolated(self, objects: Sequence[Path], name: str, visible: str = "") -> Path:
        """An object of others in which all but the symbols like ``visible`` are its own: inline
        functions too, which linkers merge by name.
        """
        merged = self.folder / "obj" / f"{name}.merged.o"
        own = merged.with_name(f"{name}.own.o")
        # The first link has found names that may not be defined twice.
        group = ("-r", "-nostdlib", "-Wl,--force-group-allocation", "-Wl,-z,muldefs")
        keep = ("--wildcard", f"--keep-global-symbol={visible or 'none at all'}")
        for output, command in (
            (merged, (self.compiler, *group, *map(str, objects), "-o", str(merged))),
            (own, ("objcopy", *keep, str(merged), str(own))),
        ):
            self._compile([self.step(output, command)], name)
        return own

    def _link(
        self,
        output: Path,
        objects: Iterable[Path],
        libraries: Iterable[str],
        extra: Iterable[str] = (),
    ) -> Step:
        lib64 = self.toolkit / "lib64"
        return self.step(
            output,
            (
                self.compiler,
                "-shared",
                *map(str, objects),
                "-o",
                str(output),
                f"-L{lib64}",
                f"-Wl,-rpath,{lib64}",
                *libraries,
                *extra,
            ),
        )


def undefined_symbols(library: Path) -> list[str]:
    """Symbols that neither a library nor what it is linked with defines, in their order."""
    # A library that the caller preloads, such as a sanitizer's, defines nothing for it; and bash,
    # which runs ldd, crashes with that of ThreadSanitizer.
    environment = {name: text for name, text in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(
        ["ldd", "-r", str(library)], capture_output=True, text=True, check=False, env=environment
    )
    found = re.findall(r"undefined symbol: (\w+)", done.stdout + done.stderr)
    return list(dict.fromkeys(found))


def demangle(symbol: str) -> str:
    """A symbol as C++ spells it."""
    done = subprocess.run(["c++filt", symbol], capture_output=True, text=True, check=False)
    return done.stdout.strip() or symbol


def demangle_all(text: str) -> str:
    """A text with all its symbols as C++ spells them."""
    return re.sub(r"_Z\w+", lambda match: demangle(match[0]), text)
