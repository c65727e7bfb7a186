# SPDX-License-Identifier: Apache-2.0
"""What the build of a foreign operator starts from: its files, its names, the compiler's runs."""

from __future__ import annotations

import glob
import os
import re
import secrets
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from aclgrad.common import rebuild
from aclgrad.common.files import text_of
from aclgrad.common.locks import alone
from aclgrad.errors import ToolkitError
from aclgrad.project import toolchain
from aclgrad.project.toolchain import Toolchain
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
    """The text of a source without its comments, each line where it was."""
    if file.is_dir() or not os.access(file, os.R_OK):
        return ""
    return without_comments(text_of(file))


@lru_cache(maxsize=4096)
def without_comments(text: str) -> str:
    """A source's text without comments, each line where it was."""

    def blank(found: re.Match[str]) -> str:
        return " " + "\n" * found[0].count("\n")

    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.DOTALL)


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


_DIAGNOSES: tuple[tuple[str, str], ...] = (
    ("header", r"fatal error: (\S+): No such file"),
    ("member", r"has no member named ‘([^’]+)’"),
    ("api", r"static assertion failed: (\S+) is not in this simulator"),
    ("api", r"static assertion failed: (\S+) exists on architectures"),
    ("api", r"‘([^’]+)’ was not declared in this scope"),
    ("api", r"‘([^’]+)’ has not been declared"),
    ("api", r"‘([^’]+)’ is not a member of ‘"),
    ("api", r"‘([^’]+)’ in namespace ‘[^’]+’ does not name"),
    ("api", r"‘([^’]+)’ does not name a (?:type|template type)"),
    ("api", r"‘([^’]+)’ is not a (?:type|template)"),
    ("api", r"no member named ‘([^’]+)’"),
    ("api", r"no declaration matches ‘([^’]+)’"),
    ("form", r"no matching function for call to ‘([^’(<]+)"),
    ("form", r"(?:too many|too few|invalid) (?:arguments|argument|conversion)[^‘]*‘([^’]+)’"),
    ("form", r"template argument.*invalid"),
    ("api", r"there are no arguments to ‘([^’]+)’"),
    ("symbol", r"undefined reference to `([^']+)'"),
)


def diagnose(text: str) -> Missing:
    """Find the first error in a compiler's output and what it lacks."""
    for line in text.splitlines():
        match = re.match(r"(.*?):(\d+):\d+: (?:fatal )?error: (.*)", line)
        link = re.search(r"undefined reference to .*", line)
        if match is None and link is None:
            continue
        place = f"{match[1]}:{match[2]}" if match else line.split(": undefined", maxsplit=1)[0]
        message = match[3] if match else line
        for kind, pattern in _DIAGNOSES:
            found = re.search(pattern, line)
            if found:
                name = found[1] if found.groups() else ""
                return Missing(kind, name, place, message)
        return Missing("other", "", place, message)
    lines = text.strip().splitlines() or ["no output"]
    # Without a place: a full disk, a compiler that was killed.
    return Missing("other", "", "", next((line for line in lines if "error: " in line), lines[-1]))


@dataclass(frozen=True)
class Sources:
    """The files that a build takes; `aclgrad.project.layout` finds them."""

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


@dataclass(frozen=True)
class Step:
    """One run of the compiler; done again when anything that it depends on has changed."""

    output: Path
    command: tuple[str, ...]
    tools: Toolchain

    @property
    def depfile(self) -> Path:
        """What the compiler writes with -MD: the toolkit's headers are among its inputs."""
        return self.output.with_name(self.output.name + ".d")

    def _key(self) -> str:
        return toolchain.key(self.command, self.tools)

    def fresh(self) -> bool:
        """Whether the output is there and what a run would give."""
        return rebuild.fresh(self.output, self._key())

    def run(self) -> str | None:
        """Compile unless fresh. Returns the compiler's output when it fails."""
        if self.fresh():
            return None
        with alone(rebuild.lock_of(self.output)):
            # Whoever had the lock may have made it.
            return None if self.fresh() else self._make()

    def _make(self) -> str | None:
        """Compile aside: others may be reading what is there, and the compiler of a run that was
        killed may still be writing its own file.
        """
        for old in self.output.parent.glob(f"{glob.escape(self.output.name)}.*.part*"):
            old.unlink(missing_ok=True)
        part = self.output.with_name(f"{self.output.name}.{secrets.token_hex(4)}.part")
        listed = part.with_name(part.name + ".d")
        aside = {str(self.output): str(part), str(self.depfile): str(listed)}
        command = [aside.get(word, word) for word in self.command]

        def compile_aside() -> str | None:
            listed.unlink(missing_ok=True)
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", check=False
            )
            status = f"{command[0]} ended with status {done.returncode}"
            return (done.stderr or done.stdout or status) if done.returncode else None

        def keep() -> None:
            if listed.is_file():
                listed.replace(self.depfile)
            part.replace(self.output)

        try:
            return rebuild.make(
                self.output,
                self._key(),
                rebuild.Inputs(toolchain.named_inputs(self.command, self.tools)),
                compile_aside,
                lambda since: toolchain.inputs_of(self.command, self.tools, listed, since),
                keep=keep,
            )
        finally:
            part.unlink(missing_ok=True)
            listed.unlink(missing_ok=True)


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


def snake_case(op_type: str) -> str:
    """File stem of an operator type as CANN spells it: AddRmsNormV2 -> add_rms_norm_v2, but
    AccumulateNV2 -> accumulate_nv2.
    """
    text = re.sub(r"([A-Z0-9]+)([A-Z][a-z])", r"\1_\2", op_type)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", text).lower()


def simulator_stem(op_type: str) -> str:
    """The folder and entry that the simulator looks for: every capital starts a word."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", op_type).lower()
