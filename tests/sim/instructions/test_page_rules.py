# SPDX-License-Identifier: Apache-2.0
"""Rules that pages of the device API state: each is found at its line, and right kernels are
quiet.
"""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import HERE, Runtime, compile_kernel
from raw_simulator import TO_DEVICE

pytestmark = pytest.mark.plants_faults

_SOURCE = (HERE / "page_rules.cpp").read_text().splitlines()
_RULE = re.compile(r"// (FINDS|HINT): ([\w-]+)$")


@dataclass(frozen=True)
class Kernel:
    """What page_rules.cpp says about one of its kernels."""

    name: str
    soc: str
    blocks: int
    line: int
    severity: str
    kind: str


def _kernels() -> list[Kernel]:
    found = []
    starts = [
        (match.group(1), i)
        for i, text in enumerate(_SOURCE)
        if (match := re.match(r'extern "C" __global__ void (\w+)\(', text))
    ]
    for (name, first), (_, end) in zip(starts, [*starts[1:], ("", len(_SOURCE))], strict=True):
        body = _SOURCE[first:end]
        soc = re.search(r"SOC: (\w+)", body[0])
        blocks = re.search(r"BLOCKS: (\d+)", body[0])
        rules = [(first + i, match) for i, text in enumerate(body) if (match := _RULE.search(text))]
        assert len(rules) == (0 if name.startswith("right_") else 1), name
        line, severity, kind = 0, "FINDS", ""
        if rules:
            line, (severity, kind) = rules[0][0] + 1, rules[0][1].groups()
        found.append(
            Kernel(
                name,
                soc.group(1) if soc else "",
                int(blocks.group(1)) if blocks else 1,
                line,
                {"FINDS": "error", "HINT": "hint"}[severity],
                kind,
            )
        )
    return found


_KERNELS = _kernels()


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """page_rules.cpp."""
    flags = ("-g", "-O1", "-fno-omit-frame-pointer", "-Wno-unused-parameter")
    return ctypes.CDLL(
        str(compile_kernel(toolkit, tmp_path_factory.mktemp("rules"), "page_rules", *flags))
    )


@pytest.mark.parametrize("kernel", _KERNELS, ids=lambda kernel: kernel.name)
def test_rule(runtime: Runtime, library: ctypes.CDLL, kernel: Kernel) -> None:
    """One finding of the kind, at the line; a right kernel has none, of either severity."""
    memory = np.zeros(4096, np.uint8)
    block = runtime.malloc(memory.nbytes)
    runtime.copy(block, memory.ctypes.data, memory.nbytes, TO_DEVICE)
    stream = runtime.new_stream()
    runtime.lib.aclsimClearFindings()
    with runtime.options(soc=kernel.soc or runtime.option("soc")):
        runtime.enqueue(
            "kernel", library[kernel.name], stream, [(block, memory.nbytes)], kernel.blocks
        )
        code = runtime.lib.aclrtSynchronizeStream(stream)
    found = json.loads(runtime.lib.aclsimFindings().decode())
    runtime.lib.aclrtDestroyStream(stream)
    runtime.free(block)
    found = [one for one in found if one["kind"] != "sync-redundant"]
    told = [(one["kind"], one["severity"], one["at"]["line"]) for one in found]
    texts = [one["text"] for one in found]
    if not kernel.kind:
        assert told == [] and code == 0, texts
        return
    assert (kernel.kind, kernel.severity, kernel.line) in told, texts
    assert {kind for kind, severity, _ in told if severity == "error"} <= {kernel.kind}, texts
    assert (code != 0) == (kernel.severity == "error")


def test_count_without_a_mask(runtime: Runtime, library: ctypes.CDLL) -> None:
    """The mask that SetVectorMask left decides, as the page of Muls says."""
    memory = np.zeros(1024, np.float32)
    (got,) = runtime.launch(library.right_count_without_a_mask, [memory])
    assert got[:64].tolist() == [2.0] * 20 + [7.0] * 44


@pytest.mark.parametrize(("dtype", "compiles"), [("int64_t", True), ("half", False)])
def test_scalars_past_the_cache(toolkit: Path, tmp_path: Path, dtype: str, compiles: bool) -> None:
    """WriteGmByPassDCache and ReadGmByPassDCache have integers only."""
    for call in (f"WriteGmByPassDCache(at, {dtype}(1));", "ReadGmByPassDCache(at);"):
        source = tmp_path / "scalars.cpp"
        source.write_text(
            '#include "kernel_operator.h"\nusing namespace AscendC;\n'
            f"void Kernel(__gm__ {dtype}* at) {{ {call} }}\n"
        )
        command = ["g++", "-std=c++17", "-fsyntax-only", f"-I{toolkit}/include"]
        command += ["-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == compiles, done.stderr
        if not compiles:
            assert f"{call.split('(')[0]} has integers only" in done.stderr
