# SPDX-License-Identifier: Apache-2.0
"""What the build of a foreign operator starts from: its files and its names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aclgrad.common.files import text_of
from aclgrad.errors import ToolkitError
from aclgrad.reading.cpp_text import active
from aclgrad.spec.definition import Definition

DEVICE_TYPES = {
    "DT_FLOAT": "float",
    "DT_FLOAT16": "half",
    "DT_BF16": "bfloat16_t",
    "DT_INT8": "int8_t",
    "DT_INT16": "int16_t",
    "DT_INT32": "int32_t",
    "DT_INT64": "int64_t",
    "DT_UINT8": "uint8_t",
    "DT_UINT16": "uint16_t",
    "DT_UINT32": "uint32_t",
    "DT_UINT64": "uint64_t",
    "DT_DOUBLE": "double",
    "DT_BOOL": "bool",
    "DT_INT4": "AscendC::int4b_t",
    "DT_COMPLEX32": "complex32",
    "DT_COMPLEX64": "complex64",
}
"""What the operator compiler puts behind DTYPE_<INPUT>."""

NUMPY_NAMES = {
    "DT_FLOAT": "float32",
    "DT_FLOAT16": "float16",
    "DT_BF16": "bfloat16",
    "DT_DOUBLE": "float64",
}
"""Names that are not simply the lower-case ones."""


OTHER_ARCHITECTURE = re.compile(r"arch35|regbase|_apt\.(?:cpp|cc)$|arch3510|950")
"""Names of files for architecture 3510."""

_FORMER = re.compile(r"(?:^|/)arch(?:13|20|22|32)(?:/|$)")
"""Folders of files for the architectures before it."""


def code(file: Path) -> str:
    """The text of a source without comments and what ``#if 0`` drops, each line where it was."""
    if file.is_dir() or not os.access(file, os.R_OK):
        return ""
    return active(text_of(file))


class SourcesError(ToolkitError):
    """An operator that cannot be built or run, with what is missing."""

    def __init__(self, text: str, missing: Missing | None = None, output: str = "") -> None:
        super().__init__(text)
        self.missing = missing
        self.output = output  # the compiler's, whole


@dataclass(frozen=True)
class Missing:
    """The first thing that a compile asked for in vain."""

    kind: str  # header | api | form | other
    name: str
    place: str  # file:line
    message: str


@dataclass(frozen=True)
class Sources:
    """The files that a build takes; `aclgrad.reading.layout` finds them."""

    root: Path
    name: str
    kernels: tuple[Path, ...]
    host: tuple[Path, ...]
    repository: Path
    helpers: tuple[Path, ...] = ()  # the rest of op_host: built when they can be
    roots: tuple[Path, ...] = ()  # of headers for more than this operator
    defines: tuple[str, ...] = ()
    types: tuple[str, ...] = ()  # the operators wanted of those that op_host registers
    api: tuple[Path, ...] = ()
    word: str = ""
    alone: bool = False  # kernels without op_host, or a program
    program: bool = False
    entry: str = ""
    only: str = ""  # the operator asked for
    debug: bool = False  # for gdb: not optimised, and in the process of the command

    def __str__(self) -> str:
        return self.word or str(self.root)

    @property
    def part(self) -> Path:
        """The folder of the categories: the repository, or its experimental half."""
        experimental = self.repository / "experimental"
        return experimental if experimental in self.root.parents else self.repository

    def kernels_for(self, arch: int) -> list[Path]:
        """Kernel sources of an architecture, the ones that count first."""
        plain = [path for path in self.kernels if not self._later(path)]
        return [*filter(self._later, self.kernels), *plain] if arch == 3510 else plain

    def host_for(self, arch: int) -> tuple[list[Path], list[Path]]:
        """Sources of op_host for an architecture: those that must build, and the rest."""
        needed, rest = [], list(self.helpers)
        news = [path for path in self.host if self._later(path)]
        for path in self.host:
            folder = path.relative_to(self.root).parent if self._own(path) else Path()
            if arch == 3510 and news and _FORMER.search(str(folder)):
                continue
            if path not in news:
                needed.append(path)
            elif arch == 3510 or not OTHER_ARCHITECTURE.search(str(folder)):
                # Tiling for another architecture is part of the operator's build as well.
                (needed if arch == 3510 else rest).append(path)
        return needed, rest

    def _own(self, path: Path) -> bool:
        return path.is_relative_to(self.root)

    def _later(self, path: Path) -> bool:
        below = path.relative_to(self.root) if self._own(path) else Path(path.name)
        return bool(OTHER_ARCHITECTURE.search(str(below)))

    @property
    def host_includes(self) -> list[Path]:
        """Include path of op_host sources, as the repository's own build sets it."""
        common = self.repository / "common" / "inc"
        wanted = [self.repository, common, common / "op_host", self.root / "op_host", self.root]
        if self.root != self.repository:
            category = self.root.parent
            wanted += [category, category.parent, self.repository / "vfusion"]
            wanted += sorted(category.glob("*_utils/op_host"))
            wanted += sorted(category.glob("*common*/op_host"))
        return [path for path in dict.fromkeys([*wanted, *self.roots]) if path.is_dir()]


def shared_files(path: Path, files: Iterable[Path]) -> set[Path]:
    """Sources of neighbours that register tiling or inference of this operator."""
    text = "".join(text_of(file) for file in files)
    types = set(re.findall(r"\bOP_ADD\(\s*(\w+)", text))
    shared: set[Path] = set()
    for macro in ("IMPL_OP_OPTILING", "IMPL_OP_INFERSHAPE"):
        own = set(re.findall(rf"\b(?:{macro}|IMPL_OP)\(\s*(\w+)", text))
        if re.search(r"\bSetTiling\(", text) and macro == "IMPL_OP_OPTILING":
            continue
        wanted = types - own
        if not wanted:
            continue
        pattern = re.compile(rf"\b(?:{macro}|IMPL_OP)\(\s*(?:{'|'.join(sorted(wanted))})\s*\)")
        for file in sorted(path.parent.glob("*/op_host/**/*.cpp")):
            elsewhere = path not in file.parents and "op_api" not in file.parts
            if elsewhere and file.is_file() and pattern.search(text_of(file)):
                shared.add(file)
    return shared


@dataclass
class Kernel:
    """One kernel library: an operator type, a dtype combination and the source that has it."""

    op: Definition
    dtypes: tuple[str, ...]
    output: Path

    @property
    def title(self) -> str:
        """For messages: Relu(float32 -> float32)."""
        names = [numpy_name(dtype) for dtype in self.dtypes]
        count = len(self.op.inputs)
        return f"{self.op.type}({', '.join(names[:count])} -> {', '.join(names[count:])})"


def numpy_name(dtype: str) -> str:
    """DT_FLOAT16 -> float16, as kernel files spell it."""
    return NUMPY_NAMES.get(dtype) or dtype.removeprefix("DT_").lower()
