# SPDX-License-Identifier: Apache-2.0
"""Operators that come as sources from elsewhere: a folder in ops-nn's layout, or one kernel file.

A build makes an operator package of its own in a cache folder, laid out like the toolkit's: the
host library from op_host, one kernel library per dtype combination from op_kernel, and the aclnn
functions that CANN would generate from the definition. Nothing in the operator's folder is
touched.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aclgrad.codegen.render import render, write_if_different
from aclgrad.peer_api import api_context
from aclgrad.peer_compile import Compiler, demangle, demangle_all
from aclgrad.peer_entry import entries, instances_of
from aclgrad.peer_sources import (
    DEVICE_TYPES,
    Kernel,
    Missing,
    PeerError,
    Sources,
    Step,
    locate,
    numpy_name,
    simulator_stem,
    snake_case,
)
from aclgrad.peer_tiling import tiling_classes, tiling_structs
from aclgrad.soc import ARCHITECTURE_WORDS, Family, family_of

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
_KERNEL_HEADERS = ("kernel_operator.h",)
_API_HEADERS = (
    "array",
    "utility",
    "vector",
    "aclnn_kernels/contiguous.h",
    "opdev/common_types.h",
    "opdev/make_op_executor.h",
    "opdev/op_dfx.h",
    "opdev/op_errno.h",
    "opdev/op_executor.h",
    "opdev/op_log.h",
    "opdev/tensor_view_utils.h",
)
"""What nearly every source includes: parsed once."""

_OTHER_ARCHITECTURES_HEADER = r"(^|/)atvoss/"
"""Headers of the template library that operators use for architecture 3510 only."""


@dataclass
class Builder(Compiler):
    """Builds one operator for one SoC family."""

    def build_host(self) -> dict[str, Any]:
        """Build the host library and return what it registers."""
        if not self.sources.host:
            raise PeerError(
                f"{self.sources.root}: no op_host/*_def.cpp, so there is no operator to run."
                " Next: give the operator's folder, or build the kernel file alone"
            )
        words = ["-DLOG_CPP", "-fno-strict-aliasing"]
        extra = [*words, *self._parsed("host", _HOST_HEADERS, words)]
        includes = self.sources.host_includes
        steps = [self._object(source, includes, extra) for source in self.sources.host]
        others = [self._object(source, includes, extra) for source in self.sources.other_host]
        # Tiling for other architectures is part of the operator's build, but nobody asks it here.
        objects = self._compile(steps, "op_host", spare=_OTHER_ARCHITECTURES_HEADER)
        objects += [step.output for step in others if step.run() is None]
        self._link_host(objects)
        return self.describe()

    def _link_host(self, objects: list[Path]) -> None:
        """Link op_host. Functions that no source defines become functions that say so."""
        link = self._link(self.host_library, objects, ("-lregister",))
        if link.fresh():
            return
        stubs = self.folder / "gen" / "missing.cpp"
        stub_object = self.folder / "obj" / "missing.o"
        with_stubs = self._link(self.host_library, [*objects, stub_object], ("-lregister",))
        if with_stubs.fresh():
            return
        self._compile([link], "op_host")
        done = subprocess.run(
            ["ldd", "-r", str(self.host_library)], capture_output=True, text=True, check=False
        )
        missing = sorted(set(re.findall(r"undefined symbol: (\w+)", done.stdout + done.stderr)))
        if not missing:
            return
        names = [demangle(symbol) for symbol in missing]
        items = list(zip(missing, names, strict=True))
        write_if_different(stubs, render("peer_missing.cpp.j2", op=self.sources.name, items=items))
        flags = self._flags(stub_object, [], ("-c", str(stubs), "-o", str(stub_object)))
        self._compile([Step(stub_object, flags)], "op_host")
        self._compile([with_stubs], "op_host")

    def describe(self) -> dict[str, Any]:
        """What the host library registers; asked in another process, as its code is a guest."""
        stamp = self.folder / f"describe-{self.soc.name}.json"
        if stamp.is_file() and stamp.stat().st_mtime_ns >= self.host_library.stat().st_mtime_ns:
            return dict(json.loads(stamp.read_text()))
        done = subprocess.run(
            [
                sys.executable,
                "-I",
                "-c",
                _DESCRIBE,
                str(self.toolkit / "lib64" / "libregister.so"),
                str(self.host_library),
                self.soc.name,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            reason = (
                done.stderr.strip() or f"it ended with status {done.returncode}"
            ).splitlines()[-1]
            missing = re.search(r"undefined symbol: (\S+)", reason)
            name = demangle(missing[1]) if missing else ""
            raise PeerError(
                f"{self.sources.name}: op_host does not load: {demangle_all(reason)}\n"
                f"Next: nm -uC {self.host_library}",
                Missing("symbol", name, "", reason) if missing else None,
            )
        described = dict(json.loads(done.stdout))
        for op in described["ops"]:
            # Folders, files and functions are called after it.
            if not re.fullmatch(r"[A-Za-z_]\w*", op["type"], re.ASCII):
                raise PeerError(
                    f"{self.sources.name}: op_host registers {op['type']!r}, want the name of a C++"
                    " type. Next: OP_ADD(Name)"
                )
        write_if_different(stamp, done.stdout)
        os.utime(stamp)
        return described

    # -- kernels --------------------------------------------------------------------------------

    def combinations(self, op: Mapping[str, Any]) -> list[tuple[str, ...]]:
        """The dtype columns of an operator: a row of the definition's table each."""
        params = [*op["inputs"], *op["outputs"]]
        columns = max((len(param["dtypes"]) for param in params if not param["anyOf"]), default=1)
        found: list[tuple[str, ...]] = []
        free = [param["dtypes"] if param["anyOf"] else [None] for param in params]
        for choice in itertools.islice(itertools.product(*free), 64):
            for column in range(columns):
                row = tuple(
                    chosen
                    or (param["dtypes"] or ["DT_FLOAT"])[min(column, len(param["dtypes"]) - 1)]
                    for chosen, param in zip(choice, params, strict=True)
                )
                if row not in found:
                    found.append(row)
        return found

    def kernel(self, op: Mapping[str, Any], dtypes: tuple[str, ...]) -> Kernel:
        """The kernel library of one dtype combination, in its place in the package."""
        stem = simulator_stem(op["type"])
        name = "_".join([op["type"], *map(numpy_name, dtypes)]) + ".so"
        return Kernel(
            op, dtypes, self.package / "op_impl/ai_core/tbe/kernel" / self.soc.name / stem / name
        )

    def kernel_source(self, op: Mapping[str, Any]) -> Path:
        """The source file of an operator type: what its definition names, or the only one."""
        named = op.get("config", {}).get("opFile.value")
        wanted = [named] if named else []
        wanted += [snake_case(op["type"]), self.sources.name]
        by_stem = {path.stem: path for path in self.sources.kernels}
        for stem in wanted:
            if stem in by_stem:
                return by_stem[stem]
        if len(self.sources.kernels) == 1:
            return self.sources.kernels[0]
        raise PeerError(
            f"{op['type']}: which kernel is its source? op_kernel has"
            f" {', '.join(sorted(by_stem))}, want"
            f" {' or '.join(wanted)}. Next: give one file: aclgrad build"
            f" {self.sources.root}/op_kernel/<file>.cpp"
        )

    def kernel_includes(self, source: Path) -> list[Path]:
        """Include path of a kernel.

        Kernels are installed next to each other, one folder per operator with the common headers in
        ``inc``, and some include each other that way; a folder of links gives them the same view.
        """
        common = self.sources.repository / "common" / "inc"
        wanted = [
            source.parent,
            self.sources.repository,
            common,
            common / "op_kernel",
            self.sources.root.parent,
        ]
        return [*(path for path in wanted if path.is_dir()), *self._installed_view()]

    def _installed_view(self) -> list[Path]:
        part = self.sources.part
        key = hashlib.sha256(str(part).encode()).hexdigest()[:10]
        tree = self.cache / f"view-{key}"
        inside = tree / "op" / "sub"
        if not inside.is_dir():
            # Made aside and moved: other processes may want it at the same time.
            fresh = tree.with_name(f"{tree.name}.{os.getpid()}")
            (fresh / "op" / "sub").mkdir(parents=True, exist_ok=True)
            halves = [part] if part == self.sources.repository else [part, self.sources.repository]
            kernels = [folder for half in halves for folder in sorted(half.glob("*/*/op_kernel"))]
            links = {folder.parent.name: folder for folder in reversed(kernels)}
            common = self.sources.repository / "common" / "inc" / "op_kernel"
            if common.is_dir():
                links["inc"] = common
            for name, folder in links.items():
                if not (fresh / name).exists():
                    (fresh / name).symlink_to(folder)
            try:
                fresh.rename(tree)
            except OSError:
                shutil.rmtree(fresh, ignore_errors=True)
        return [tree / "op", inside]

    def defines(self, op: Mapping[str, Any] | None, dtypes: Sequence[str]) -> list[str]:
        """The words that the operator compiler passes to a kernel."""
        words = [
            f"-D__NPU_ARCH__={self.soc.npu_arch}",
            f"-D__CCE_AICORE__={self.soc.cce_aicore}",
            *(f"-D{name}" for name in ARCHITECTURE_WORDS.get(self.soc.npu_arch, ())),
        ]
        if op is None:
            return words
        for param, dtype in zip([*op["inputs"], *op["outputs"]], dtypes, strict=True):
            name = param["name"].upper()
            formats = param["formats"] or ["ND"]
            layout = formats[0].removeprefix("FORMAT_")
            words += [
                f"-DDTYPE_{name}={DEVICE_TYPES.get(dtype, 'void')}",
                f"-DORIG_DTYPE_{name}={dtype}",
                f"-DFORMAT_{name}=FORMAT_{layout}",
            ]
        return words

    def tiling_header(
        self, op: Mapping[str, Any], described: Mapping[str, Any], without: Collection[str] = ()
    ) -> Path | None:
        """Write the kernel's view of tiling data that op_host declares field by field.

        The default struct is the macro ACLSIM_DEFAULT_TILING where keys have structs of their own.
        ``without`` names structs that the kernel brings itself.
        """
        if not described["tilingData"]:
            return None
        kernel_tiling = self.toolkit / "include/kernel_tiling/kernel_tiling.h"
        structs = tiling_structs(described, kernel_tiling.read_text())
        for name in without:
            structs.pop(name, None)
        classes = tiling_classes(op, described)
        default = next(iter(classes), None)
        if default is not None and default in without:
            default = None
        text = render(
            "peer_tiling.h.j2", op=op["type"], structs=list(structs.values()), default=default
        )
        path = self.folder / "gen" / f"{simulator_stem(op['type'])}_tiling.h"
        write_if_different(path, text)
        return path

    def build_kernel(self, kernel: Kernel, described: Mapping[str, Any]) -> None:
        """Compile one kernel library."""
        own: set[str] = set()
        while True:
            try:
                return self._build_kernel(kernel, described, own)
            except PeerError as error:
                if error.missing is None:
                    raise
                # Structs that op_host declares and the kernel as well: the kernel's own count.
                log = (self.folder / "error.log").read_text(errors="replace")
                twice = set(re.findall(r"error: redefinition of ‘struct (\w+)’", log)) - own
                if not twice:
                    raise
                own |= twice

    def _build_kernel(
        self, kernel: Kernel, described: Mapping[str, Any], own: Collection[str]
    ) -> None:
        source = self.kernel_source(kernel.op)
        includes = self.kernel_includes(source)
        words = self.defines(kernel.op, kernel.dtypes)
        tiling = self.tiling_header(kernel.op, described, own)
        if tiling is not None:
            words += ["-include", str(tiling)]
        stem = simulator_stem(kernel.op["type"])
        gen = self.folder / "gen" / kernel.output.stem
        entry = self._entry(source, kernel, includes, words)
        # Workspace and tiling data follow; an output whose shape the kernel computes adds shapes.
        tensors = len(kernel.op["inputs"]) + len(kernel.op["outputs"])
        if entry["entry"].arity not in (tensors + 2, tensors + 3):
            raise PeerError(
                f"{kernel.title}: {entry['entry'].name} takes {entry['entry'].arity} arguments,"
                f" CANN's op compiler passes {tensors + 2} ({source}). Next: the inputs and outputs"
                " of the definition in its order, then workspace and tiling"
            )
        classes = tiling_classes(kernel.op, described)
        text = source.read_text(errors="replace")
        if len(classes) < 2 or entry["instances"] is not None or "GET_TILING_DATA(" not in text:
            classes = {}
        if "<<<" in text:
            device = gen.with_name(gen.name + "_device.cpp")
            write_if_different(device, f'#line 1 "{source}"\n{without_launches(text)}')
            source = device
        parsed = self._parsed("kernel", _KERNEL_HEADERS, self.defines(None, ()))
        variants, objects = self._variants(
            kernel, source, entry["entry"].name, classes, includes, [*parsed, *words]
        )
        wrapper = gen.with_name(gen.name + ".cpp")
        write_if_different(
            wrapper,
            render(
                "peer_kernel.cpp.j2",
                op=kernel.title,
                kernel=source,
                symbol=stem,
                variants=list(zip(variants, classes.values(), strict=True)),
                **entry,
            ),
        )
        built = self._object_at(wrapper, kernel.output, includes, [*parsed, *words], objects)
        self._compile([built], f"kernel {kernel.title}")
        wanted = kernel.op.get("config", {}).get("opInterface.value") or snake_case(
            kernel.op["type"]
        )
        title = f"kernel {kernel.title}"
        self._front_end(source, kernel.output.stem, includes, words, title, wanted)

    def _variants(
        self,
        kernel: Kernel,
        source: Path,
        entry: str,
        classes: Iterable[str],
        includes: Iterable[Path],
        words: Iterable[str],
    ) -> tuple[list[str | None], list[Path]]:
        """One compile per tiling struct, so that GET_TILING_DATA means that of the key.

        None stands for a struct that the kernel does not compile with: it belongs to keys of
        another architecture.
        """
        names: list[str | None] = []
        objects: list[Path] = []
        failure: PeerError | None = None
        for name in classes:
            output = self.folder / "obj" / f"{kernel.output.stem}_{name}.o"
            variant = f"{entry}_{name}"
            own = [f"-D{entry}={variant}", f"-DACLSIM_DEFAULT_TILING={name}", "-fno-gnu-unique"]
            flags = self._flags(output, includes, [*words, *own])
            step = Step(output, (*flags, "-c", str(source), "-o", str(output)))
            try:
                self._compile([step], f"kernel {kernel.title}")
            except PeerError as error:
                failure = failure or error
                names.append(None)
                continue
            names.append(variant)
            objects.append(self._isolate(output, variant))
        if failure is not None and not objects:
            raise failure
        return names, objects

    def _isolate(self, compiled: Path, entry: str) -> Path:
        """An object in which all but the entry is its own: inline functions too, which linkers
        merge by name.
        """
        merged, own = compiled.with_suffix(".merged.o"), compiled.with_suffix(".own.o")
        group = ("-r", "-nostdlib", "-Wl,--force-group-allocation")
        keep = ("--wildcard", f"--keep-global-symbol=*{entry}*")
        for output, command in (
            (merged, (self.compiler, *group, str(compiled), "-o", str(merged))),
            (own, ("objcopy", *keep, str(merged), str(own))),
        ):
            self._compile([Step(output, command)], entry)
        return own

    def _object_at(
        self,
        source: Path,
        output: Path,
        includes: Iterable[Path],
        words: Iterable[str],
        objects: Iterable[Path] = (),
    ) -> Step:
        lib64 = self.toolkit / "lib64"
        command = (
            *self._flags(output, includes, words),
            "-shared",
            str(source),
            *map(str, objects),
            "-o",
            str(output),
            f"-L{lib64}",
            f"-Wl,-rpath,{lib64}",
            "-lascendcl",
            "-Wl,-z,defs",
        )
        return Step(output, command)

    def build_file(self, wrapper: Path, output: Path) -> None:
        """Compile the library of a kernel file that comes without op_host; wrapper includes it."""
        source = self.sources.kernels[0]
        words = self.defines(None, ())
        includes = self.kernel_includes(source)
        step = self._object_at(wrapper, output, includes, words)
        self._compile([step], f"kernel file {source.name}")
        self._front_end(source, output.stem, includes, words, f"kernel file {source.name}")

    def _entry(
        self, source: Path, kernel: Kernel, includes: Iterable[Path], words: Sequence[str]
    ) -> dict[str, Any]:
        wanted = [
            kernel.op.get("config", {}).get("opInterface.value"),
            snake_case(kernel.op["type"]),
            source.stem,
        ]
        plain = entries(source.read_text(errors="replace"))
        chosen = next((plain[name] for name in wanted if name in plain), None)
        # Of two definitions the preprocessor chooses one.
        if chosen is not None and chosen.extern_c and chosen.alone:
            return {"entry": chosen, "instances": None, "params": []}
        listing = self.folder / "gen" / f"{kernel.output.stem}.i"
        step = Step(
            listing,
            (
                *self._flags(listing, includes, words),
                "-DACLSIM_TPL_LIST",
                "-E",
                "-P",
                str(source),
                "-o",
                str(listing),
            ),
        )
        self._compile([step], f"kernel {kernel.title}")
        text = listing.read_text(errors="replace")
        found = entries(text)
        chosen = next((found[name] for name in wanted if name in found), None)
        if chosen is None and len(found) == 1:
            chosen = next(iter(found.values()))
        if chosen is None:
            raise PeerError(
                f"{kernel.title}: {source} has no entry {' or '.join(filter(None, wanted))}; its"
                " __global__ functions are"
                f" {', '.join(found) or 'none'}. Next: name the entry like the operator"
            )
        if not chosen.template:
            return {"entry": chosen, "instances": None, "params": []}
        params, instances = instances_of(text, chosen, kernel)
        if not instances:
            raise PeerError(
                f"{kernel.title}: the entry {chosen.name} is a template without ASCENDC_TPL_SEL,"
                " so nothing says which"
                f" instances exist ({source}). Next: add ASCENDC_TPL_ARGS_DECL and ASCENDC_TPL_SEL"
            )
        return {"entry": chosen, "instances": instances, "params": params}

    # -- aclnn ----------------------------------------------------------------------------------

    def build_api(self, ops: Sequence[Mapping[str, Any]]) -> list[Path]:
        """Generate and build aclnn<OpType> of each operator; returns the headers."""
        include = self.package / "op_api" / "include"
        headers, objects = [], []
        for op in ops:
            context = api_context(op)
            header = include / "aclnnop" / context["header"]
            write_if_different(header, render("peer_aclnn.h.j2", **context))
            source = self.folder / "gen" / f"aclnn_{snake_case(op['type'])}.cpp"
            write_if_different(source, render("peer_aclnn.cpp.j2", **context))
            output = self.folder / "obj" / f"{source.stem}.o"
            words = ["-fvisibility=hidden"]
            flags = (
                *self._flags(
                    output, [include], [*self._parsed("api", _API_HEADERS, words), *words]
                ),
                "-c",
                str(source),
                "-o",
                str(output),
            )
            headers.append(header)
            objects.append(Step(output, flags))
        self._compile(objects, "aclnn functions")
        link = self._link(
            self.api_library,
            [step.output for step in objects],
            ("-lnnopbase", "-lregister", "-lascendcl"),
        )
        self._compile([link], "aclnn functions")
        return headers


_DESCRIBE = """
import ctypes, sys
register = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[2], mode=ctypes.RTLD_LOCAL)
register.aclsimDescribeOps.restype = ctypes.c_char_p
sys.stdout.write(register.aclsimDescribeOps(sys.argv[3].encode()).decode())
"""


def without_launches(text: str) -> str:
    """A kernel source with nothing in place of ``kernel<<<...>>>(...)``, which host code says."""

    def empty(match: re.Match[str]) -> str:
        return "static_cast<void>(0)" + "\n" * match[0].count("\n")

    return re.sub(r"\b\w+(?:<[^<>;{}]*>)?\s*<<<[^;{}]*?>>>\s*\([^;{}]*\)(?=\s*;)", empty, text)


@dataclass(frozen=True)
class Built:
    """What a build has made."""

    package: Path
    ops: tuple[str, ...]
    headers: tuple[Path, ...]
    kernels: tuple[Path, ...]


def runnable(
    described: Mapping[str, Any], sources: Sources, soc: Family
) -> list[Mapping[str, Any]]:
    """The operators of a host library that this SoC has."""
    ops = [op for op in described["ops"] if op["defined"]]
    chosen = [op for op in ops if "inputs" in op]
    if not chosen:
        why = "; ".join(
            f"{op['type']}: {op.get('why', 'it has no OpDef')}" for op in described["ops"]
        )
        raise PeerError(
            f"{sources.name}: no operator for {soc.name}: {why or 'op_host registers nothing'}."
            " Next: --soc"
        )
    return chosen


def build(
    word: str | Path, *, soc: str, dtypes: Sequence[str] = (), jobs: int = 0, optimise: str = "-O2"
) -> Built:
    """Build an operator from its sources: all dtype combinations, or the one asked for."""
    builder = Builder(locate(word), family_of(soc), optimise=optimise, jobs=jobs)
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
            raise PeerError(
                f"{op['type']}: no dtype combination {','.join(dtypes)}; its definition has"
                f" {offered}"
            )
        wanted += [builder.kernel(op, row) for row in chosen]
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        list(pool.map(lambda kernel: builder.build_kernel(kernel, described), wanted))
    headers = builder.build_api(ops)
    return Built(
        builder.package,
        tuple(op["type"] for op in ops),
        tuple(headers),
        tuple(kernel.output for kernel in wanted),
    )
