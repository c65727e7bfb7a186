# SPDX-License-Identifier: Apache-2.0
"""Builds the aclnn functions of operators: those that somebody wrote by hand, with what they need
of their repository, and for operators without one the functions that CANN would generate from the
definition.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from aclgrad.building.common_code import CommonCode
from aclgrad.building.compiler import demangle, undefined_symbols
from aclgrad.building.kernels import KernelBuilder
from aclgrad.codegen.render import render, write_if_different
from aclgrad.common import rebuild
from aclgrad.common.locks import alone
from aclgrad.reading import handwritten_functions
from aclgrad.reading.aclnn_functions import Function, generated, signature_of
from aclgrad.reading.sources import SourcesError
from aclgrad.spec.definition import Definition
from aclgrad.spec.naming import snake_case

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


_LIBRARIES = ("-lnnopbase", "-lregister", "-lascendcl")
_EXPORTS = "{ global: aclnn*; local: *; };\n"
"""A level-0 function of the sources is theirs, also where the simulator has one of its name."""


@dataclass
class ApiBuilder(KernelBuilder):
    """Builds the library of aclnn functions."""

    api_objects: list[Path] = field(default_factory=list, init=False)
    functions: dict[str, Function] = field(default_factory=dict, init=False)
    registered: set[str] = field(default_factory=set, init=False)
    """Operator types of op_host."""

    def function_of(self, op: Definition) -> Function:
        """What computes an operator."""
        return self.functions.get(op.type) or generated(op)

    def build_api(self, ops: Sequence[Definition]) -> list[Path]:
        """Build the function of each operator; returns the headers."""
        by_hand = self._build_by_hand()
        names = handwritten_functions.names(self.sources.api) if by_hand else set()
        include = self.package / "op_api" / "include"
        place = self.folder / "obj" / ("by_hand" if by_hand else "")
        headers, steps = [], []
        for op in ops:
            self.functions[op.type] = function = self._function(op, names)
            output = place / f"aclnn_{snake_case(op.type)}.o"
            if function.by_hand:
                output.unlink(missing_ok=True)
                continue
            made = signature_of(op, function.name.removesuffix(op.type))
            header = include / "aclnnop" / made.header
            write_if_different(header, render("project/aclnn.h.j2", **vars(made)))
            source = self.folder / "gen" / f"aclnn_{snake_case(op.type)}.cpp"
            write_if_different(source, render("project/aclnn.cpp.j2", **vars(made)))
            # The toolkit may have a function of that name, and then a header too.
            words = ["-iquote", str(include), *self._api_words()]
            flags = self._flags(output, [include], words)
            headers.append(header)
            steps.append(self.step(output, (*flags, "-c", str(source), "-o", str(output))))
        place.mkdir(parents=True, exist_ok=True)
        self.api_objects = [*by_hand, *self._compile(steps, "aclnn functions")]
        with alone(self.folder / "op_api.lock"):
            # With those that others have asked for: they are about to load the library.
            named = {f"aclnn_{snake_case(name)}.o" for name in self.registered}
            there = sorted(
                path
                for path in place.glob("aclnn_*.o")
                if path.name in named and (path in self.api_objects or rebuild.unchanged(path))
            )
            exports = self.folder / "gen" / "op_api.map"
            write_if_different(exports, _EXPORTS)
            # By that name programs find it once their framework has loaded it by its path.
            soname = f"-Wl,-soname,{self.api_library.name}"
            how = (f"-Wl,--version-script={exports}", soname)
            link = self._link(self.api_library, [*by_hand, *there], _LIBRARIES, how)
            self._compile([link], "aclnn functions")
        for op in ops:
            function = self.functions[op.type]
            if not exported(self.api_library, [function]):
                raise SourcesError(
                    f"{op.type}: {function.by_hand} defines {function.name} for C++ alone, want"
                    f' a C function. Next: include a header that declares it in extern "C" {{ }}'
                )
        return [*headers, *(self._own_headers(include) if by_hand else ())]

    def _api_words(self) -> list[str]:
        words = self.own_symbols
        return [*self._parsed("api", _API_HEADERS, words), *words]

    def _function(self, op: Definition, names: set[str]) -> Function:
        """The function by hand that fits a definition, else the generated one."""
        if not names:
            return generated(op)
        fit, others = handwritten_functions.functions(op, self.sources.api)
        if fit:
            return fit[0]
        # One of that name may be among those by hand.
        name = f"aclnn{op.type}"
        function = generated(op, "aclnnInner" if name in names else "aclnn")
        for api, argument in others[:1]:
            self._tell(
                f"{op.type}: {api} of op_api has {argument}, which its definition does not"
                f" tell; {function.name} as CANN generates it is called"
            )
        return function

    def _own_headers(self, include: Path) -> list[Path]:
        """Install the headers of the functions by hand."""
        found = []
        for folder in dict.fromkeys(file.parent for file in self.sources.api):
            for header in sorted(folder.glob("aclnn*.h")):
                target = include / "aclnnop" / header.name
                target.parent.mkdir(parents=True, exist_ok=True)
                if not target.is_file() or target.read_bytes() != header.read_bytes():
                    shutil.copyfile(header, target)
                found.append(target)
        return found

    # -- by hand --------------------------------------------------------------------------------

    @cached_property
    def api_common(self) -> CommonCode:
        """What op_api takes from elsewhere in its repository."""
        return CommonCode(self.folder / "common_api.json", self.sources, api=True)

    @property
    def beside(self) -> dict[str, Path]:
        """The neighbours whose kernels op_api launches: operator types, and where they are."""
        found = {}
        own = handwritten_functions.launched(self.sources.api)
        for file in self.api_common.files:
            places = [folder for folder in file.parents if (folder / "op_host").is_dir()]
            for name in sorted(handwritten_functions.launched([file]) - own) if places else ():
                found[name] = places[0]
        return found

    def _build_by_hand(self) -> list[Path]:
        """Compile op_api; nothing, with a line that says why, when something is missing for it."""
        if not self.sources.api:
            return []
        try:
            return self._linked(list(self.sources.api))
        except SourcesError as error:
            lacks = str(error).splitlines()[0].partition(": ")[2]
            self._tell(f"{self.sources.name}: {lacks}; aclnn functions as CANN generates them run")
            return []

    def _linked(self, sources: list[Path]) -> list[Path]:
        """Objects of op_api with all that they call of their repository."""
        library = self.folder / "obj" / "by_hand" / "probe.so"
        library.parent.mkdir(parents=True, exist_ok=True)
        while True:
            wanted = list(dict.fromkeys([*sources, *self.api_common.files]))
            objects = self._compile_by_hand(wanted)
            with alone(self.folder / "op_api.lock"):
                self._compile([self._link(library, objects, _LIBRARIES)], "op_api")
                missing = undefined_symbols(library)
            if not missing:
                return objects
            names = [demangle(symbol) for symbol in missing]
            found = self.api_common.find_sources(names)
            foreign = handwritten_functions.launched(found) - {
                *handwritten_functions.launched(sources),
                *self.beside,
            }
            if not found or foreign:
                for file in found:
                    self.api_common.drop(file)
                lack = f"the kernel of {min(foreign)}" if foreign else names[0]
                raise SourcesError(f"{self.sources.name}: op_api needs {lack}, which is not here")

    def _compile_by_hand(self, sources: Sequence[Path]) -> list[Path]:
        looked: set[str] = set()
        words = self._api_words()
        while True:
            folders = [self.sources.root / "op_api", *(file.parent for file in sources)]
            includes = [*dict.fromkeys(folders), *self.sources.host_includes]
            steps = []
            for source in sources:
                made = self._object(source, [*includes, *self.api_common.roots], words)
                name = made.output.name
                output = self.folder / "obj" / "by_hand" / f"own_{name}"
                command = (word.replace(str(made.output), str(output)) for word in made.command)
                steps.append(self.step(output, tuple(command)))
            try:
                return self._compile(steps, "op_api")
            except SourcesError as error:
                missing = error.missing
                if missing is None or missing.kind != "header" or missing.name in looked:
                    raise
                looked.add(missing.name)
                if not self.api_common.find_header(missing.name):
                    raise

    def _tell(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


def exported(library: Path, functions: Iterable[Function]) -> list[Function]:
    """The functions that a library has."""
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=False
    )
    names = {line.split()[-1] for line in done.stdout.splitlines() if line.strip()}
    return [each for each in functions if f"{each.name}GetWorkspaceSize" in names]
