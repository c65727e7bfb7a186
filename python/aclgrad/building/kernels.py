# SPDX-License-Identifier: Apache-2.0
"""Builds kernels: one library per dtype combination from op_kernel, with the words that CANN's op
compiler passes to a kernel.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path

from aclgrad.building.compile_step import Step
from aclgrad.building.compiler import DEVICE_CODE, Compiler
from aclgrad.building.tiling_structs import tiling_classes, tiling_structs
from aclgrad.codegen.render import render, write_if_different
from aclgrad.common import files
from aclgrad.common.files import text_of
from aclgrad.common.locks import alone
from aclgrad.reading.cpp_text import without_comments, without_launches
from aclgrad.reading.definition_rules import check_kernel_file
from aclgrad.reading.kernel_entry import (
    Entry,
    Instance,
    TemplateParam,
    entries,
    instances_of,
    with_closed_asserts,
    with_keys_at_run_time,
)
from aclgrad.reading.sources import DEVICE_TYPES, Kernel, Missing, SourcesError, numpy_name
from aclgrad.spec.definition import Definition, Registered
from aclgrad.spec.naming import kernel_stem, simulator_stem, snake_case
from aclgrad.spec.soc import architecture_words

_KERNEL_HEADERS = ("kernel_operator.h",)
_LISTING = ("-DACLSIM_TPL_LIST", "-E", "-P")
"""Keeps the words that say what an entry is."""

_OF_CUBES = r"KERNEL_TYPE_(AIC_ONLY|MIX_AIC_1_0)\b|\b__cube__\b|\b__mix__\(\s*1\s*,\s*0\s*\)"
_OF_VECTORS = (
    r"KERNEL_TYPE_(AIV_ONLY|MIX_AIV_1_0|MIX_AIC_1_[12])\b|\b__vector__\b"
    r"|\b__mix__\(\s*\d\s*,\s*[12]\s*\)"
)
_OF_HALVES = ("-DACLSIM_HALVES",)
"""The words of a source that is compiled for cube cores and for vector cores."""
_NARROW = "-DACLSIM_NARROW_FIELDS"
"""Gives fields of parameters the widths that they have on the device: ascendc/cube_params.h."""
_OF_HEADERS = (*_OF_HALVES, _NARROW)
"""What headers that are parsed already depend on, beside the architecture."""
_WIDE_FIELD = re.compile(
    r"detail::(Field16|Field8|ColumnsOfNd|PitchOfNd)\b"
    r"|conflicting types .*\(‘unsigned int’ and ‘(short unsigned int|unsigned char)’\)"
    r"|conflicting types .*\(‘(short unsigned int|unsigned char)’ and ‘unsigned int’\)"
)
"""What the compiler says where the width of such a field decides between types."""
_TWICE = r"error: (?:redefinition of ‘(?:struct|class) (\w+)’|reference to ‘(\w+)’ is ambiguous)"


def _is_of_language(missing: Missing | None) -> bool:
    """Whether a compiler refuses what a source says, rather than misses something that it names."""
    if missing is None or missing.kind != "other" or not missing.place:
        return False
    return not missing.message.startswith("static assertion failed")


@dataclass(frozen=True)
class _Chosen:
    """The entry of a kernel, and of a template its instances with their parameters."""

    entry: Entry
    instances: list[Instance] | None = None
    params: list[TemplateParam] = field(default_factory=list)


def runs_on_cubes(source: Path) -> bool:
    """Whether a kernel file says that its kernels run on the cube cores of a split chip alone."""
    text = without_comments(text_of(source))
    return re.search(_OF_CUBES, text) is not None and re.search(_OF_VECTORS, text) is None


@dataclass
class KernelBuilder(Compiler):
    """Builds the kernels of one operator for one SoC family."""

    def kernel(self, op: Definition, dtypes: tuple[str, ...]) -> Kernel:
        """The kernel library of one dtype combination, in its place in the package."""
        stem = simulator_stem(op.type)
        name = kernel_stem(op.type, map(numpy_name, dtypes)) + ".so"
        return Kernel(
            op, dtypes, self.package / "op_impl/ai_core/tbe/kernel" / self.soc.name / stem / name
        )

    def kernel_source(self, op: Definition) -> Path:
        """The source file of an operator type: what its definition names, or the only one."""
        named = op.config.get("opFile.value")
        stems = [*filter(None, [named]), snake_case(op.type), self.sources.name]
        wanted = [each for stem in stems for each in (f"{stem}_apt", stem)]
        if self.soc.npu_arch != 3510:
            wanted = stems
        files = self.sources.kernels_for(self.soc.npu_arch)
        by_stem = {path.stem: path for path in reversed(files)}
        for stem in wanted:
            if stem in by_stem:
                check_kernel_file(op, self.sources, by_stem[stem], _cann_stems(op))
                return by_stem[stem]
        if len(files) == 1:
            check_kernel_file(op, self.sources, files[0], _cann_stems(op))
            return files[0]
        if not files and self.sources.kernels:
            raise SourcesError(
                f"{op.type}: its kernels ({', '.join(p.name for p in self.sources.kernels)}) are"
                f" for Ascend950 alone, got {self.soc.name}. Next: --soc Ascend950PR_9589"
            )
        if not files:
            raise SourcesError(
                f"{op.type}: no kernel found: want {self.sources.root}/op_kernel/"
                f"{wanted[0]}.cpp with a __global__ function"
            )
        raise SourcesError(
            f"{op.type}: which kernel is its source? op_kernel has"
            f" {', '.join(sorted(by_stem))}, want"
            f" {' or '.join(wanted)}. Next: give one file: aclgrad build"
            f" {self.sources.root}/op_kernel/<file>.cpp"
        )

    def kernel_includes(self, source: Path) -> list[Path]:
        """Include path of a kernel.

        Kernels are installed next to each other, one folder per operator with the common headers in
        ``inc``, and some include each other that way; a folder of links gives them the same view,
        of the operators that are there now.
        """
        repository, root = self.sources.repository, self.sources.root
        common = repository / "common" / "inc"
        wanted = [source.parent, repository, common, common / "op_kernel"]
        if root == repository:
            return self._there([*wanted, root, *self.sources.roots])
        return [
            *self._there([*wanted, root.parent]),
            *self._installed_view(),
            *self._there([root, *self.sources.roots]),
        ]

    @staticmethod
    def _there(paths: Iterable[Path]) -> list[Path]:
        return [path for path in dict.fromkeys(paths) if path.is_dir()]

    def _installed_view(self) -> list[Path]:
        part = self.sources.part
        halves = [part] if part == self.sources.repository else [part, self.sources.repository]
        kernels = [folder for half in halves for folder in sorted(half.glob("*/*/op_kernel"))]
        links = {folder.parent.name: folder for folder in reversed(kernels)}
        common = self.sources.repository / "common" / "inc" / "op_kernel"
        if common.is_dir():
            links["inc"] = common
        tree = self.cache / f"view-{hashlib.sha256(str(part).encode()).hexdigest()[:10]}"
        inside = tree / "op" / "sub"
        wanted = {name: str(folder) for name, folder in links.items() if name != "op"}
        if not _has_links(tree, wanted):
            with alone(self.cache / f"{tree.name}.lock"):
                inside.mkdir(parents=True, exist_ok=True)
                _make_links(tree, wanted)
        return [tree / "op", inside]

    def defines(
        self, op: Definition | None, dtypes: Sequence[str], *, cube: bool = False
    ) -> list[str]:
        """The words that the operator compiler passes to a kernel, of cube cores or of others."""
        words = [
            f"-D__NPU_ARCH__={self.soc.npu_arch}",
            f"-D__CCE_AICORE__={self.soc.cce_aicore}",
            "-D__CCE__=1",
            *(f"-D{name}" for name in architecture_words(self.soc.npu_arch, cube=cube)),
        ]
        if op is None:
            return words
        words += self.sources.defines
        for param, dtype in zip([*op.inputs, *op.outputs], dtypes, strict=True):
            name = param.name.upper()
            formats = param.formats or ["ND"]
            layout = formats[0].removeprefix("FORMAT_")
            words += [
                f"-DDTYPE_{name}={DEVICE_TYPES.get(dtype, 'void')}",
                f"-DORIG_DTYPE_{name}={dtype}",
                f"-DFORMAT_{name}=FORMAT_{layout}",
            ]
        return words

    def tiling_header(
        self, op: Definition, described: Registered, without: Collection[str] = ()
    ) -> Path | None:
        """Write the kernel's view of tiling data that op_host declares field by field.

        The default struct is the macro ACLSIM_DEFAULT_TILING where keys have structs of their own.
        ``without`` names structs that the kernel brings itself.
        """
        if not described.tiling_data:
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
            "project/tiling.h.j2", op=op.type, structs=list(structs.values()), default=default
        )
        # By what it lacks: who builds at the same time may be a step behind.
        lacks = hashlib.sha256(" ".join(sorted(without)).encode()).hexdigest()[:8]
        suffix = f"_without_{lacks}" if without else ""
        path = self.folder / "gen" / f"{simulator_stem(op.type)}_tiling{suffix}.h"
        write_if_different(path, text)
        return path

    def build_kernel(self, kernel: Kernel, described: Registered) -> None:
        """Compile one kernel library."""
        own: set[str] = set()

        def work(builder: KernelBuilder, narrow: Sequence[str]) -> None:
            builder.with_headers(partial(builder._build_kernel, kernel, described, own, narrow))

        def new(error: SourcesError) -> bool:
            # Structs that op_host declares and the kernel as well, if in a namespace that it uses:
            # the kernel's own count.
            twice = {"".join(names) for names in re.findall(_TWICE, error.output)} - own
            own.update(twice)
            return bool(twice)

        self._with_retries(work, new)

    def _with_retries(
        self,
        work: Callable[[KernelBuilder, Sequence[str]], None],
        again: Callable[[SourcesError], bool] = lambda error: False,
    ) -> None:
        """Compile a kernel, and once more where the device compiler may take what g++ refuses: with
        fields of parameters in the device's widths, and by clang++, as that compiler is a clang. A
        kernel that clang++ refuses, too, has g++'s error.
        """
        narrow: list[str] = []
        builder, log = self, self.folder / "error.log"
        first: SourcesError | None = None
        told = ""
        while True:
            try:
                with builder.of_kernels():
                    return work(builder, narrow)
            except SourcesError as error:
                if not narrow and _WIDE_FIELD.search(error.output):
                    narrow.append(_NARROW)
                elif error.missing is not None and again(error):
                    pass
                elif _is_of_language(error.missing) and (other := builder.by_clang()):
                    builder, first, told = other, error, log.read_text(errors="replace")
                elif first is None:
                    raise
                else:
                    files.write(log, told, "log")
                    raise first from None

    def _build_kernel(
        self,
        kernel: Kernel,
        described: Registered,
        own: Collection[str],
        narrow: Sequence[str],
    ) -> None:
        source = self.kernel_source(kernel.op)
        includes = self.kernel_includes(source)
        cube = runs_on_cubes(source)
        words = [*self.defines(kernel.op, kernel.dtypes, cube=cube), *narrow]
        tiling = self.tiling_header(kernel.op, described, own)
        if tiling is not None:
            words += ["-include", str(tiling)]
        own_words = (*self._flags(source, includes, words), "-c", str(source))
        self.commands.setdefault(source, {})[kernel.dtypes] = own_words
        stem = simulator_stem(kernel.op.type)
        gen = self.folder / "gen" / kernel.output.stem
        entry = self._entry(source, kernel, includes, words)
        # Workspace and tiling data follow; an output whose shape the kernel computes adds shapes.
        tensors = len(kernel.op.inputs) + len(kernel.op.outputs)
        if entry.entry.arity not in (tensors + 2, tensors + 3):
            raise SourcesError(
                f"{kernel.title}: {entry.entry.name} takes {entry.entry.arity} arguments,"
                f" CANN's op compiler passes {tensors + 2} ({source}). Next: the inputs and outputs"
                " of the definition in its order, then workspace and tiling"
            )
        classes = tiling_classes(kernel.op, described)
        text = text_of(source)
        if len(classes) < 2 or entry.instances is not None or "GET_TILING_DATA(" not in text:
            classes = {}
        named = entry.entry.name
        written = source
        source, on_host = self.for_host(source, gen.name, entry.entry)
        # The compiler reads a changed copy: a word that names the source makes it an input too.
        of_source = [f"-DACLSIM_WRITTEN_AS={written}"] if source != written else []
        entry = replace(entry, entry=on_host)
        wanted = kernel.op.config.get("opInterface.value") or snake_case(kernel.op.type)
        wanted = entry.entry.name if wanted == named else wanted
        title = f"kernel {kernel.title}"
        # The wrapper says which keys the kernel has, and the code behind it is looked at below.
        keys, types, is_open = self._front_end(
            source, f"{kernel.output.stem}.source", includes, words, title, wanted
        )
        # With a struct of its own for each key the kernel is compiled apart from the wrapper.
        structs = list(classes)

        def told() -> list[str]:
            return [f"-DACLSIM_DEFAULT_TILING={name}" for name in structs[:1]]

        def wrapped(
            name: str, types: str, variants: Sequence[tuple[str | None, list[int]]]
        ) -> Path:
            text = render(
                "project/kernel.cpp.j2",
                op=kernel.title,
                kernel=source,
                symbol=stem,
                keys=keys,
                types=types,
                variants=variants,
                **vars(entry),
            )
            write_if_different(gen.with_name(name), text)
            return gen.with_name(name)

        if is_open:
            whole = wrapped(f"{gen.name}_cores.cpp", "", [])
            types = self._types_by_code(
                whole, f"{kernel.output.stem}.cores", includes, [*words, *told()], title, wanted
            )
        words += _OF_HALVES if types else []
        parsed = self._kernel_headers(words, cube=cube)
        variants, objects = self._variants(
            kernel, source, entry.entry.name, classes, includes, [*parsed, *words]
        )
        wrapper = wrapped(
            f"{gen.name}.cpp", types, list(zip(variants, classes.values(), strict=True))
        )
        checked = [(kernel.output.stem, words, cube)]
        if types:
            of_cubes = self._for_cubes(words)
            checked.append((f"{kernel.output.stem}.cubes", of_cubes, True))
            parsed_of_cubes = self._kernel_headers(of_cubes, cube=True)
            _, theirs = self._variants(
                kernel,
                source,
                entry.entry.name,
                classes,
                includes,
                [*parsed_of_cubes, *of_cubes],
                suffix="_cubes",
            )
            objects = [
                *objects,
                self._cube_half(
                    wrapper, kernel.output.stem, includes, [*parsed_of_cubes, *of_cubes], theirs
                ),
            ]
        built = self._object_at(
            wrapper, kernel.output, includes, [*parsed, *words, *of_source], objects
        )
        self._compile([built], title)
        structs = [name for made, name in zip(variants, classes, strict=True) if made]
        one = told()
        for name, own, of_cubes_too in checked:
            code = self._device_code(
                source if one else wrapper,
                name,
                includes,
                [*own, *one],
                title,
                cube=of_cubes_too,
            )
            self._front_end(source, name, includes, own, title, wanted, code)

    def _kernel_headers(self, words: Sequence[str], *, cube: bool) -> list[str]:
        """Words that start a compile of a kernel from headers which are parsed already."""
        own = [word for word in words if word in _OF_HEADERS]
        return self._parsed("kernel", _KERNEL_HEADERS, [*self.defines(None, (), cube=cube), *own])

    def _for_cubes(self, words: Sequence[str]) -> list[str]:
        """The words of a compile for vector cores, for cube cores."""
        other = dict(
            zip(
                self.defines(None, ()),
                self.defines(None, (), cube=True),
                strict=True,
            )
        )
        return [other.get(word, word) for word in words]

    def _cube_half(
        self,
        wrapper: Path,
        name: str,
        includes: Iterable[Path],
        words: Iterable[str],
        objects: Sequence[Path] = (),
    ) -> Path:
        """What a library of both kinds of cores has for its cube cores."""
        output = self.folder / "obj" / f"{name}.cubes.o"
        flags = self._flags(output, includes, words)
        step = self.step(output, (*flags, "-c", str(wrapper), "-o", str(output)))
        self._compile([step], f"the cube cores' half of {name}")
        return self.cube_half([output, *objects], name)

    def _device_code(
        self,
        source: Path,
        name: str,
        includes: Iterable[Path],
        words: Iterable[str],
        title: str,
        *,
        cube: bool,
    ) -> Path:
        words = [*words]
        chosen = [word for word in words if word in _OF_HEADERS]
        own = [*self.defines(None, (), cube=cube), *chosen, *DEVICE_CODE]
        parsed = self._parsed("device", _KERNEL_HEADERS, own)
        return self.device_assembly(source, name, includes, [*parsed, *words], title)

    def _types_by_code(
        self,
        wrapper: Path,
        name: str,
        includes: Iterable[Path],
        words: Sequence[str],
        title: str,
        entry: str,
    ) -> str:
        """What a kernel that names no type runs on: the op compiler compiles it for vector cores
        and for cube cores, and looks at what either has.
        """
        vectors = self._device_code(wrapper, name, includes, words, title, cube=False)
        cubes = self._device_code(
            wrapper,
            f"{name}.cubes",
            includes,
            self._for_cubes(words),
            f"{title}, which names no KERNEL_TASK_TYPE_DEFAULT: its code for cube cores",
            cube=True,
        )
        return self.kernel_cores(vectors, cubes, name, entry)

    def for_host(self, source: Path, name: str, entry: Entry) -> tuple[Path, Entry]:
        """A kernel source as a host's compiler takes it, and its entry there: without launches,
        with a semicolon behind each ASSERT, tiling keys as a choice at run time, and with a name of
        its own where C has a function of that name.
        """
        text = text_of(source)
        changed = without_launches(text) if "<<<" in text else text
        changed = with_keys_at_run_time(with_closed_asserts(changed))
        if entry.extern_c and _is_of_c(entry.name):
            pattern = rf"(__global__[^;{{}}]*?\bvoid\s+(?:__aicore__\s+)?){entry.name}(?=\s*\()"
            renamed, count = re.subn(pattern, rf"\g<1>aclsim_{entry.name}", changed)
            if count:
                changed, entry = renamed, replace(entry, name=f"aclsim_{entry.name}")
        if changed == text:
            return source, entry
        device = self.folder / "gen" / f"{name}_device.cpp"
        write_if_different(device, f'#line 1 "{source}"\n{changed}')
        return device, entry

    def _variants(
        self,
        kernel: Kernel,
        source: Path,
        entry: str,
        classes: Iterable[str],
        includes: Iterable[Path],
        words: Iterable[str],
        suffix: str = "",
    ) -> tuple[list[str | None], list[Path]]:
        """One compile per tiling struct, so that GET_TILING_DATA means that of the key.

        None stands for a struct that the kernel does not compile with: it belongs to keys of
        another architecture.
        """
        names: list[str | None] = []
        objects: list[Path] = []
        failure: SourcesError | None = None
        for name in classes:
            output = self.folder / "obj" / f"{kernel.output.stem}_{name}{suffix}.o"
            variant = f"{entry}_{name}"
            own = [f"-D{entry}={variant}", f"-DACLSIM_DEFAULT_TILING={name}"]
            flags = self._flags(output, includes, [*words, *own, *self.own_symbols])
            step = self.step(output, (*flags, "-c", str(source), "-o", str(output)))
            try:
                self._compile([step], f"kernel {kernel.title}")
            except SourcesError as error:
                failure = failure or error
                names.append(None)
                continue
            names.append(variant)
            objects.append(self.isolated([output], output.stem, f"*{variant}*"))
        if failure is not None and not objects:
            raise failure
        return names, objects

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
            # With ThreadSanitizer's library behind libascendcl, ld looks for atexit before libc.
            "-lc",
            "-Wl,-z,defs",
        )
        return self.step(output, command)

    def preprocessed(self, source: Path) -> str:
        """A kernel file that comes without op_host, after the preprocessor."""
        words = [*self.defines(None, (), cube=runs_on_cubes(source)), *self.sources.defines]

        def listing() -> str:
            output = self.folder / "gen" / f"{source.stem}-{self.soc.npu_arch}.i"
            flags = self._flags(output, self.kernel_includes(source), words)
            step = self.step(output, (*flags, *_LISTING, str(source), "-o", str(output)))
            self._compile([step], f"kernel file {source.name}")
            return output.read_text(errors="replace")

        with self.of_kernels():
            return self.with_headers(listing)

    def build_file(
        self, source: Path, included: Path, wrapper: Path, output: Path, entry: str
    ) -> None:
        """Compile the library of a kernel file that comes without op_host; wrapper includes it."""
        self._with_retries(
            lambda builder, narrow: builder._build_file(
                source, included, wrapper, output, entry, narrow
            )
        )

    def _build_file(
        self,
        source: Path,
        included: Path,
        wrapper: Path,
        output: Path,
        entry: str,
        narrow: Sequence[str],
    ) -> None:
        cube = runs_on_cubes(source)
        words = [*self.defines(None, (), cube=cube), *self.sources.defines, *narrow]
        includes = self.kernel_includes(source)
        title = f"kernel file {source.name}"
        _, types, is_open = self.with_headers(
            lambda: self._front_end(
                included, f"{output.stem}.source", includes, words, title, entry
            )
        )
        if is_open:
            types = self._types_by_code(
                wrapper, f"{output.stem}.cores", includes, words, title, entry
            )
        if types:
            words += [*_OF_HALVES, f"-DACLSIM_KERNEL_TYPES={types}"]
        parsed = self._kernel_headers(words, cube=cube)
        objects = []
        if types:
            of_cubes = self._for_cubes(words)
            of_cubes = [*self._kernel_headers(of_cubes, cube=True), *of_cubes]
            objects = [self._cube_half(wrapper, output.stem, includes, of_cubes)]
        self.with_headers(
            lambda: self._compile(
                [self._object_at(wrapper, output, includes, [*parsed, *words], objects)], title
            )
        )
        code = self._device_code(wrapper, output.stem, includes, words, title, cube=cube)
        self._front_end(included, output.stem, includes, words, title, assembly=code)

    def _entry(
        self, source: Path, kernel: Kernel, includes: Iterable[Path], words: Sequence[str]
    ) -> _Chosen:
        wanted = [
            kernel.op.config.get("opInterface.value"),
            snake_case(kernel.op.type),
            source.stem,
        ]
        plain = entries(text_of(source))
        chosen = next((plain[name] for name in wanted if name in plain), None)
        # The preprocessor chooses one of two definitions.
        if chosen is not None and chosen.extern_c and chosen.alone:
            return _Chosen(chosen)
        listing = self.folder / "gen" / f"{kernel.output.stem}.i"
        step = self.step(
            listing,
            (
                *self._flags(listing, includes, words),
                *_LISTING,
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
            raise SourcesError(
                f"{kernel.title}: {source} has no entry {' or '.join(filter(None, wanted))}; its"
                " __global__ functions are"
                f" {', '.join(found) or 'none'}. Next: name the entry like the operator"
            )
        if not chosen.template:
            return _Chosen(chosen)
        params, instances = instances_of(text, chosen, kernel)
        if not instances:
            raise SourcesError(
                f"{kernel.title}: the entry {chosen.name} is a template without ASCENDC_TPL_SEL,"
                " so nothing says which"
                f" instances exist ({source}). Next: add ASCENDC_TPL_ARGS_DECL and ASCENDC_TPL_SEL"
            )
        return _Chosen(chosen, instances, params)


def _has_links(folder: Path, wanted: Mapping[str, str]) -> bool:
    """Whether a folder has these links and no others."""
    try:
        found = {name: os.readlink(folder / name) for name in os.listdir(folder) if name != "op"}
    except OSError:
        return False
    return found == wanted


def _make_links(folder: Path, wanted: Mapping[str, str]) -> None:
    """Turn the links of a folder, each in one step: others may be reading through them."""
    for name in {*os.listdir(folder)} - {"op", *wanted}:
        (folder / name).unlink()
    for name, target in wanted.items():
        link = folder / name
        if not link.is_symlink() or os.readlink(link) != target:
            part = folder / f"{name}.part"
            part.unlink(missing_ok=True)
            part.symlink_to(target)
            part.replace(link)


def _cann_stems(op: Definition) -> list[str]:
    """Names without suffix that CANN's builds look for a kernel under."""
    stem = op.config.get("opFile.value") or snake_case(op.type)
    return [f"{stem}_apt", stem]


@lru_cache
def _is_of_c(name: str) -> bool:
    return any(hasattr(ctypes.CDLL(library), name) for library in (None, "libm.so.6"))
