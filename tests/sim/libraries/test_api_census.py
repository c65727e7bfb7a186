# SPDX-License-Identifier: Apache-2.0
"""The device API that public kernels use compiles, name by name: programs/api_census.txt."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).parents[1] / "programs" / "api_census.txt"
PROLOGUE = """
#include "kernel_operator.h"
#include "ascendc/host_api/tiling/template_argument.h"
#pragma GCC diagnostic ignored "-Wunused"
using namespace AscendC;
#define ACLSIM_EVENT_OF(from, to) HardEvent::from##_##to
struct Tiling { uint32_t count; };
"""
# What a usage may name.
PARAMETERS = (
    "TPipe& pipe, TQue<TPosition::VECIN, 1>& que, TBuf<>& buf, GM_ADDR gm, uint32_t count, "
    "LocalTensor<float> f, LocalTensor<float> f0, LocalTensor<float> f1, LocalTensor<half> h, "
    "LocalTensor<half> h0, LocalTensor<int16_t> s, LocalTensor<int16_t> s0, "
    "LocalTensor<uint16_t> w, LocalTensor<uint16_t> w0, LocalTensor<int32_t> i, "
    "LocalTensor<int32_t> i0, LocalTensor<int32_t> i1, LocalTensor<uint32_t> u, "
    "LocalTensor<uint32_t> u0, LocalTensor<uint8_t> b, GlobalTensor<float> gf, uint64_t* bits, "
    "uint64_t* list, __ubuf__ float* pf, __ubuf__ half* ph, __ubuf__ int32_t* pi, "
    "__ubuf__ uint8_t* pb"
)


@dataclass(frozen=True)
class Usage:
    """One name of the API and what a kernel writes to use it."""

    section: str
    name: str
    code: str


def read_list() -> list[Usage]:
    """The committed list."""
    usages = []
    section = ""
    for line in LIST.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, _, code = line.partition(" :: ")
            usages.append(Usage(section, name, code))
    return usages


def missing(usages: Iterable[Usage], toolkit: Path, folder: Path) -> dict[str, str]:
    """The names whose usage does not compile, with the compiler's first words on each."""
    usages = list(usages)
    lines = [PROLOGUE]
    for number, usage in enumerate(usages, 1):
        lines.append(f'#line {number} "usages"')
        inside = f"void Usage{number}({PARAMETERS}) {{ {usage.code} }}"
        lines.append(usage.code[2:] if usage.code.startswith("@ ") else inside)
    source = folder / "census.cpp"
    source.write_text("\n".join(lines) + "\n")
    command = ["g++", "-std=c++17", "-fsyntax-only", "-fmax-errors=0", f"-I{toolkit}/include"]
    command += ["-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220", str(source)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
    )
    found: dict[str, str] = {}
    required: Usage | None = (
        None  # an error inside a template names the usage on the lines before it
    )
    for line in done.stderr.splitlines():
        place = re.match(r"usages:(\d+):", line)
        if place and " error: " not in line:
            required = usages[int(place[1]) - 1]
        if " error: " in line:
            culprit = usages[int(place[1]) - 1] if place else required
            assert culprit is not None, line
            found.setdefault(culprit.name, line.split(" error: ")[1])
            required = None
    assert bool(done.returncode) == bool(found), done.stderr
    return found


def test_every_name_compiles(toolkit: Path, tmp_path: Path) -> None:
    """Nothing of the list is missing."""
    usages = read_list()
    assert len({usage.name for usage in usages}) == len(usages) > 300
    assert missing(usages, toolkit, tmp_path) == {}


def test_a_missing_name_is_found(toolkit: Path, tmp_path: Path) -> None:
    """A name that nobody declares, a form that does not exist and one that refuses to compile."""
    usages = [
        Usage("", "fine", "Add(f, f0, f1, 64);"),
        Usage("", "name", "NoSuchInstruction(f, f0);"),
        Usage("", "form", "Add(f, f0);"),
        Usage("", "refused", "SyncAll<false>();"),
        Usage("", "macro", "@ NO_SUCH_MACRO(1);"),
    ]
    assert set(missing(usages, toolkit, tmp_path)) == {"name", "form", "refused", "macro"}
