# SPDX-License-Identifier: Apache-2.0
"""What CANN's headers need and a checkout does not have, made in a cache folder.

An installation has links, generated headers and ``stub_fun.h``, and its device compiler has
instructions, types and address spaces built in. What is absent is found by asking the compiler, so
nothing here repeats a header: instructions that only the device compiler knows are declared to take
any arguments, except for the vector arithmetic, whose operand types are checked.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aclgrad.codegen.render import write_if_different
from aclgrad.common.files import text_of
from aclgrad.errors import ToolkitError
from aclgrad.headers import built_in
from aclgrad.headers.trees import HeaderSet
from aclgrad.spec.soc import ARCHITECTURE_WORDS, Family

CPU, DEVICE = "cpu", "device"

# Operand types of vector arithmetic: number of tensors that must agree, and their types.
_ALL4 = ("half", "float", "int16_t", "int32_t")
_FLOATS = ("half", "float")
_TYPED = {
    **dict.fromkeys(("vadd", "vsub", "vmul", "vmax", "vmin"), (3, _ALL4)),
    "vdiv": (3, _FLOATS),
    **dict.fromkeys(("vand", "vor"), (3, ("int16_t", "uint16_t"))),
    **dict.fromkeys(("vexp", "vln", "vsqrt", "vrsqrt", "vrec", "vabs"), (2, _FLOATS)),
    "vrelu": (2, (*_FLOATS, "int32_t")),
    "vnot": (2, ("int16_t", "uint16_t")),
    **dict.fromkeys(("vadds", "vmuls", "vmaxs", "vmins"), (2, _ALL4)),
}
_CONVERSION = re.compile(r"vconv_(bf16|[fsu]\d+)2(bf16|[fsu]\d+)[a-z]*")
_LANES = {
    "f16": "half", "f32": "float", "bf16": "bfloat16_t", "s8": "int8_t", "u8": "uint8_t",
    "s16": "int16_t", "u16": "uint16_t", "s32": "int32_t", "u32": "uint32_t", "s64": "int64_t",
}  # fmt: skip

# An instruction's name has no capitals; what stands behind a type is a declaration.
_CALL = re.compile(r"(?<![\w.:>~])(?:::)?([a-z_][a-z0-9_]{2,})\s*(?:<[^;(){}<>]*>)?\s*\(")
_DECLARED = re.compile(r"\b(?!return\b|else\b|throw\b|case\b)[\w>]+[\s&*]+([a-z_]\w*)\s*\(")
_NOT_CODE = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|#\s*(?:pragma|error|warning)[^\n]*", re.DOTALL
)
_SCOPED = re.compile(r"(?<![\w>])::([A-Z]\w*)")
# g++ in a function and in a template, clang++
_UNDECLARED = re.compile(
    r"error: (?:there are no arguments to )?‘(\w+)’ (?:was not declared in this scope|that depend)"
    r"|error: use of undeclared identifier '(\w+)'"
)
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_MEMBER = re.compile(r"\b(\w+)::(\w+)")


@dataclass(frozen=True)
class StandIns:
    """Compiler and options for the kernels of one architecture, in one branch of the headers."""

    headers: HeaderSet
    family: Family
    branch: str
    compiler: str
    folder: Path
    common: Path

    @property
    def command(self) -> list[str]:
        """Compiler with its options."""
        words = ARCHITECTURE_WORDS[self.family.npu_arch]
        defines = {
            "__CCE_AICORE__": self.family.cce_aicore,
            "__NPU_ARCH__": self.family.npu_arch,
            "ASCENDC_TPL_KERNEL": 1,
        }
        includes: list[Path] = [self.folder]
        if self.branch == CPU:
            defines |= {words[0]: 1, "__CCE_KT_TEST__": 1, "ASCENDC_CPU_DEBUG": 1}
            defines["ASCENDC_DEBUG"] = 1
            includes.append(self.headers.cpu_debug)
        else:
            defines |= dict.fromkeys((*words, "__DAV_VEC__"), 1)
        includes += [self.common, *self.headers.kernel]
        return [
            *compile_words(self.compiler, "-std=c++17"),
            *(f"-D{name}={value}" for name, value in defines.items()),
            *(f"-I{path}" for path in includes),
        ]

    @property
    def prelude(self) -> str:
        """What every source of this kind starts with; its header may be compiled ahead."""
        return '#include "aclgrad_prelude.h"\n'

    def precompile(self) -> None:
        """Parse the headers once for all sources; g++ only, and only headers without errors."""
        header = self.folder / "aclgrad_prelude.h"
        if "clang" not in Path(self.compiler).name:
            words = [word for word in self.command if word != "-fsyntax-only"]
            made = f"{header}.gch"
            command = [*words, "-x", "c++-header", str(header), "-o", made]
            subprocess.run(command, capture_output=True, check=False)

    def _prelude(self) -> str:
        first = '#include "aclgrad_device.h"\n' if self.branch == DEVICE else ""
        return f'#pragma once\n{first}#include "kernel_operator.h"\n#include "aclgrad_tiling.h"\n'

    def prepare(self) -> None:
        """Write the stand-ins; the instructions that are absent are asked for."""
        write_if_different(self.folder / "aclgrad_prelude.h", self._prelude())
        tiling = built_in.TILING if self.branch == CPU else built_in.DEVICE_TILING
        write_if_different(self.folder / "aclgrad_tiling.h", tiling)
        write_if_different(self.folder / "aclgrad_any.h", built_in.ANY)
        write_if_different(self.folder / "kernel_tiling.h", "")
        absent = self.folder / "aclgrad_absent.h"
        write_if_different(absent, "")
        real = self.headers.instructions
        wrapped = ""
        if real is not None:
            # A link: the real one includes what lies beside it, which is not meant here.
            _link(self.folder / "real_stub_fun.h", real)
            wrapped = '#include "real_stub_fun.h"\n'
        # CANN's headers include this name in the CPU-debug branch.
        write_if_different(
            self.folder / "stub_fun.h",
            f'#pragma once\n#include "stub_def.h"\n{wrapped}#include "aclgrad_absent.h"\n',
        )
        if self.branch == DEVICE:
            for name in ("stub_def.h", "kernel_fp16.h", "kernel_bf16.h"):
                write_if_different(self.folder / name, "")
            write_if_different(self.folder / "aclgrad_device.h", _device_prelude())
        text = _included_text(self)
        declared = _declare(self, text)
        write_if_different(absent, declared)
        complaints = self.compile(self.prelude, "alone.cpp").stderr
        more = _undeclared({one or other for one, other in _UNDECLARED.findall(complaints)}, text)
        # The declarations at hand are those of other SoCs.
        more += [_function(name, typed=False) for name in sorted(self._loose(text, complaints))]
        write_if_different(absent, "\n".join([declared, *more, ""]))

    def _loose(self, text: str, complaints: str) -> set[str]:
        """Instructions whose declarations the headers alone do not get along with."""
        real = self.headers.instructions
        if real is None:
            return set()
        known = text_of(real)
        names = set(_CALL.findall(text)) & set(re.findall(r"\b(\w+)\(", known))
        refused = set(re.findall(r"for call to [‘']([a-z_]\w*)", complaints)) & names
        return names if refused and self.family.regbase else refused

    def compile(self, text: str, name: str) -> subprocess.CompletedProcess[str]:
        """Compile a source of a few lines."""
        source = self.folder / name
        write_if_different(source, text)
        return subprocess.run(
            [*self.command, str(source)],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )


def compile_words(compiler: str, standard: str) -> list[str]:
    """Options of a compilation that only checks; messages without source lines."""
    clang = "clang" in Path(compiler).name
    own = (
        ["-ferror-limit=0", "-fno-caret-diagnostics", "-Wno-everything", "-fno-color-diagnostics"]
        if clang
        else ["-fmax-errors=0", "-fno-diagnostics-show-caret", "-w", "-fdiagnostics-color=never"]
    )
    return [compiler, "-fsyntax-only", standard, *own]


def prepare_common(headers: HeaderSet, folder: Path) -> None:
    """Links and generated headers that both sides of an installation have."""
    write_if_different(folder / "aclgrad_securec" / "securec.h", built_in.SECUREC)
    if headers.installed:
        # A copy as plain files has lost its links.
        root = headers.devkit / "include"
        for name, target in (
            ("ascendc/host_api", "highlevel_api"),
            ("tiling", "highlevel_api/tiling"),
        ):
            if (root / target).is_dir():
                _link(folder / name, root / target)
        return
    api = headers.devkit / "include" / "adv_api"
    made = folder / "kernel_tiling" / "kernel_tiling.h"
    script = headers.devkit / "impl/adv_api/cmake/scripts/gen_kernel_tiling_data_def.py"
    if script.is_file() and not made.is_file():
        made.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [sys.executable, str(script), str(api), str(made)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ToolkitError(
                f"--headers: {script} failed: {done.stderr.strip()[-300:]}. Next: update the"
                " checkout of asc-devkit"
            )
    elif not made.is_file():
        write_if_different(made, "")
    if api.is_dir():
        for child in sorted(api.iterdir()):
            if child.is_dir():
                _link(folder / "tiling" / child.name, child)
                # Names of the libraries in 8.x, which an installation of 9.x has too.
                _link(folder / "lib" / child.name, child)
                for header in child.glob("*_intf.h"):
                    _link(folder / "lib" / header.name, header)
    _link(folder / "tiling" / "platform", headers.devkit / "include/utils/tiling/platform")


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_symlink():
        link.unlink()
    link.symlink_to(target)


def _device_prelude() -> str:
    lines = ["#pragma once", *(f"#define _GLIBCXX_{name} 1" for name in built_in.HOST_LIBRARY)]
    lines += [f"#include <{name}>" for name in ("cmath", "cstddef", "cstdint", "type_traits")]
    lines += [
        f"#define __{name}__ __attribute__((address_space({number})))"
        for number, name in enumerate(built_in.SPACES, 1)
    ]
    lines += [f"#define __{name}__" for name in built_in.EMPTY_WORDS]
    lines += [f"#define __{name}__(...)" for name in ("mix", "inout_pipe", "in_pipe", "out_pipe")]
    lines += ["#define LAUNCH_BOUND(...)"]
    lines += ["typedef _Float16 half;", "typedef __bf16 bfloat16_t;"]
    lines += [f"struct {name} {{}};" for name in built_in.REGISTERS]
    lines += [f"struct {name} {{ uint8_t data; }};" for name in built_in.NARROW]
    lines += ["struct vector_address { vector_address(); explicit vector_address(int64_t); };"]
    lines += ["extern int64_t block_idx, block_num;", "extern uint64_t g_tilingKey;"]
    lines += ["#define TILING_KEY_VAR g_tilingKey"]
    lines += ['#include "stub_fun.h"', ""]
    return "\n".join(lines)


def _included_text(stand_ins: StandIns) -> str:
    """Text of all headers of CANN that a kernel includes."""
    source = stand_ins.folder / "probe_includes.cpp"
    write_if_different(source, stand_ins.prelude)
    words = [word for word in stand_ins.command if word != "-fsyntax-only"]
    done = subprocess.run(
        [*words, "-M", str(source)], capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
        raise ToolkitError(
            f"--headers: kernel_operator.h cannot be read for {stand_ins.family.npu_arch}: {first}."
            " Next: update the checkouts to versions that belong together"
        )
    paths = {Path(word).resolve() for word in done.stdout.replace("\\\n", " ").split()[1:]}
    texts = (text_of(path) for path in sorted(paths) if stand_ins.headers.owns(path))
    return _NOT_CODE.sub(" ", "\n".join(texts))


def _absent(stand_ins: StandIns, names: Iterable[str]) -> set[str]:
    """Return those names that the headers use and nothing declares at global scope."""
    wanted = sorted(names)
    lines: list[str] = []
    for name in wanted:
        lines += [f"#ifndef {name}", f"using ::{name};", "#endif"]
    header = stand_ins.folder / "probe_names.h"
    write_if_different(header, "\n".join([*lines, ""]))
    done = stand_ins.compile(f'{stand_ins.prelude}#include "{header}"\n', "probe_names.cpp")
    numbers = re.findall(rf"^{re.escape(str(header))}:(\d+):\d+: error", done.stderr, re.MULTILINE)
    return {wanted[(int(number) - 1) // 3] for number in numbers}


def _declare(stand_ins: StandIns, text: str) -> str:
    calls = set(_CALL.findall(text)) - set(_DECLARED.findall(text)) - built_in.KEYWORDS
    calls = {name for name in calls if not name.endswith("__")}
    scoped = set(_SCOPED.findall(text)) - set(re.findall(r"\bnamespace\s+(\w+)", text))
    words = set(_WORD.findall(text))
    inside: dict[str, set[str]] = {}
    for scope, member in set(_MEMBER.findall(text)):
        inside.setdefault(scope, set()).add(member)
    members = {
        enum: sorted(
            inside.get(enum, set()) | {word for word in words if re.fullmatch(pattern, word)}
        )
        for enum, pattern in built_in.ENUMS.items()
        if enum in words
    }
    enumerators = {name for names in members.values() for name in names}
    absent = _absent(stand_ins, {*calls, *scoped, *members, *enumerators} - built_in.KEYWORDS)
    lines = ["#pragma once", '#include "aclgrad_any.h"']
    done: set[str] = set()
    for enum, names in members.items():
        if enum in absent:
            own = [name for name in names if name in absent and name not in done]
            done |= {enum, *own}
            lines.append(f"enum {enum} {{ {', '.join(own)} }};")
    for name in sorted((scoped & absent) - done - calls):
        values = sorted(inside.get(name, set()))
        lines.append(f"enum class {name} {{ {', '.join(values)} }};")
        done.add(name)
    # Those of vector functions have other operands.
    typed = stand_ins.headers.instructions is None and not stand_ins.family.regbase
    for name in sorted((calls & absent) - done):
        lines.append(_function(name, typed=typed))
    return "\n".join([*lines, ""])


def _undeclared(names: set[str], text: str) -> list[str]:
    """Declare what the headers alone complain about: functions, and constants of no known type."""
    called = {name for name in names if re.search(rf"\b{name}\s*(?:<[^;(){{}}<>]*>)?\s*\(", text)}
    constants = ", ".join(sorted(names - called))
    # Arguments of an unnamed type are an error of their own.
    lines = [f"enum aclgrad_constants {{ {constants} }};"] if constants else []
    return [*lines, *(_function(name, typed=False) for name in sorted(called))]


def _function(name: str, *, typed: bool) -> str:
    """Declare an instruction: with the types of its operands where they are known."""
    head = "inline __aicore__ void"
    if typed and name in _TYPED:
        tensors, types = _TYPED[name]
        operands = ", ".join(["__ubuf__ T*"] * tensors)
        test = f"std::enable_if_t<aclgrad_headers::kOneOf<T, {', '.join(types)}>>"
        scalar = ", T" if name.endswith("s") and name != "vabs" else ""
        generic = f"template <class T, class... A, class = {test}>"
        return f"{generic} {head} {name}({operands}{scalar}, A...);"
    if typed and (found := _CONVERSION.fullmatch(name)):
        source, result = found.groups()
        if source in _LANES and result in _LANES:
            operands = f"__ubuf__ {_LANES[result]}*, __ubuf__ {_LANES[source]}*"
            return f"template <class... A> {head} {name}({operands}, A...);"
    return f"template <auto... V, class... A> inline __aicore__ aclgrad_headers::Any {name}(A...);"
