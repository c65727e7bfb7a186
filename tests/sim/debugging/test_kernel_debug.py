# SPDX-License-Identifier: Apache-2.0
"""PRINTF, DumpTensor and ASSERT work in every build; gdb stops inside a kernel."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gdb_session import outputs
from instructions.bench import HERE, KernelError, Runtime, compile_kernel


@pytest.fixture(scope="module")
def runtime(toolkit: Path) -> Runtime:
    """The simulator's runtime."""
    return Runtime(toolkit)


def values(first: float) -> np.ndarray[tuple[int], np.dtype[np.float16]]:
    """The kernel's tensor."""
    return np.array([first, 2, -3, 4, *range(28)], np.float16)


@pytest.mark.parametrize("mode", ["checked", "fast"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_print_and_dump(
    toolkit: Path,
    runtime: Runtime,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    mode: str,
    level: str,
) -> None:
    """One piece of text per call, whole lines even with many cores."""
    library = ctypes.CDLL(str(compile_kernel(toolkit, tmp_path, "debug_aids", "-g", level)))
    with runtime.options(mode=mode):
        runtime.launch(library["debug_kernel"], [values(1.5)], block_dim=4)
    text = capfd.readouterr().out
    for core in range(4):
        assert f"core {core} of 4: first 1.500000\n" in text
        assert f"DumpTensor: core {core}, desc 7, UB, half[4]:\n  2 2.5 -2.5 4.5\n" in text
        assert f"DumpTensor: core {core}, desc 8, GM, half[2]:\n  1.5 2\n" in text
    assert text.count("no arguments\n") == 4


BARE = """
#include "utils/debug/asc_assert.h"
#include "utils/debug/asc_dump.h"
#include "utils/debug/asc_printf.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void dumped(GM_ADDR gm) {
  auto* from = reinterpret_cast<__gm__ half*>(gm);
  GlobalTensor<half> global;
  global.SetGlobalBuffer(from);
  LocalTensor<half> a1(TPosition::A1, 1024, 64);
  DataCopy(a1, global, 16);
  auto* at = reinterpret_cast<__cbuf__ half*>(a1.GetPhyAddr());
  printf("half %g and int %d\\n", global.GetValue(0), 5);
  asc_dump_gm(from, 1, 2);
  asc_dump_l1buf(at, 2, 3);
  asc_dump<half>(from, 3, 1);
  asc_dump<half>(at, 4, 1);
  DumpTensor(a1, 5, 2);
  assert(true, "%d", 1);
  @
}
"""
CUBE = "-D__DAV_C220_CUBE__"


def test_dumps_of_addresses(
    toolkit: Path, runtime: Runtime, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The functions of a memory each, and the one of any; a tensor says where it lies."""
    text = BARE.replace("@", "")
    path = compile_kernel(toolkit, tmp_path, "dumped", "-O1", "-g", CUBE, text=text)
    runtime.launch(ctypes.CDLL(str(path))["dumped"], [values(1.5)])
    lines = [
        line.removeprefix("DumpTensor: core 0, ") for line in capfd.readouterr().out.split("\n")
    ]
    assert lines[:-1] == [
        "half 1.5 and int 5",
        *("desc 1, GM, half[2]:", "  1.5 2", "desc 2, L1, half[3]:", "  1.5 2 -3"),
        *("desc 3, GM, half[1]:", "  1.5", "desc 4, L1, half[1]:", "  1.5"),
        *("desc 5, L1, half[2]:", "  1.5 2"),
    ]


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        ("asc_dump_cbuf(at, 9, 1);", "ub-out-of-bounds", "no address of L0C but of L1"),
        ("asc_dump_ubuf(from, 9, 1);", "ub-out-of-bounds", "no address of UB"),
        ("asc_dump_gm(at, 9, 1);", "ub-out-of-bounds", "no address of GM but of L1"),
        ("asc_dump_l1buf(at, 9, 1 << 20);", "ub-out-of-bounds", "from byte 1024 of L1 on"),
        ("asc_dump(from, 9, 1 << 20);", "gm-out-of-bounds", "asc_dump"),
        ('assert(gm == nullptr, "%s %d", "planted", 7);', "assert", "planted 7"),
    ],
)
def test_wrong_dumps_of_addresses(
    toolkit: Path, runtime: Runtime, tmp_path: Path, call: str, kind: str, says: str
) -> None:
    """An address of another memory, more elements than there are, and an assertion with a text."""
    text = BARE.replace("@", call)
    path = compile_kernel(toolkit, tmp_path, "dumped", "-O1", "-g", CUBE, text=text)
    with pytest.raises(KernelError, match=rf"\[{kind}\][\s\S]*{says}"):
        runtime.launch(ctypes.CDLL(str(path))["dumped"], [values(1.5)])


def test_dumps_of_narrow_types(
    toolkit: Path, runtime: Runtime, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Numbers, and not their bits: 1.5 and -2 in each type, powers of two where it has those."""
    kinds = {
        "fp8_e4m3fn_t": 0xC03C,
        "fp8_e5m2_t": 0xC03E,
        "hifloat8_t": 0x900C,
        "fp8_e8m0_t": 0x8180,
    }
    body = "".join(
        f"GlobalTensor<{kind}> of{i}; of{i}.SetGlobalBuffer((__gm__ {kind}*)(gm + {2 * i}));"
        f"DumpTensor(of{i}, {i}, 2);\n"
        for i, kind in enumerate(kinds)
    )
    body += (
        "GlobalTensor<double> d; d.SetGlobalBuffer((__gm__ double*)(gm + 8)); DumpTensor(d, 9, 1);"
    )
    text = '#include "kernel_operator.h"\nusing namespace AscendC;\n'
    text += f'extern "C" __global__ __aicore__ void narrow(GM_ADDR gm) {{ {body} }}'
    path = compile_kernel(toolkit, tmp_path, "narrow", text=text, soc="ascend950")
    given = np.array(list(kinds.values()), "<u2").tobytes() + np.array([0.75]).tobytes()
    with runtime.options(soc="Ascend950PR_9589"):
        runtime.launch(ctypes.CDLL(str(path))["narrow"], [np.frombuffer(given, np.uint8)])
    lines = capfd.readouterr().out.split("\n")
    assert lines[1::2] == ["  1.5 -2", "  1.5 -2", "  1.5 -2", "  2 4", "  0.75"]


@pytest.mark.plants_faults
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_assert(toolkit: Path, runtime: Runtime, tmp_path: Path, level: str) -> None:
    """A false condition ends the kernel with its text and line."""
    library = ctypes.CDLL(str(compile_kernel(toolkit, tmp_path, "debug_aids", "-g", level)))
    with pytest.raises(KernelError) as caught:
        runtime.launch(library["debug_kernel"], [values(99)])
    source = (HERE / "debug_aids.cpp").read_text().splitlines()
    line = next(i for i, text in enumerate(source, 1) if "ASSERT(" in text)
    text = str(caught.value)
    assert "[assert]" in text
    assert "planted" in text
    assert f"debug_aids.cpp:{line}" in text


def test_gdb_stops_in_a_kernel(toolkit: Path, tmp_path: Path) -> None:
    """A plain breakpoint on a kernel line, with the locals in view."""
    program = tmp_path / "debug"
    command = ["g++", "-std=c++17", "-O0", "-g", "-DMAIN", f"-I{toolkit}/include"]
    command += [
        str(HERE / "debug_aids.cpp"),
        "-o",
        str(program),
        f"-L{toolkit}/lib64",
        "-lascendcl",
    ]
    subprocess.run([*command, f"-Wl,-rpath,{toolkit}/lib64"], check=True)
    source = (HERE / "debug_aids.cpp").read_text().splitlines()
    line = next(i for i, text in enumerate(source, 1) if "BREAK" in text)
    script = [f"break debug_aids.cpp:{line}", "run", "info locals", "backtrace 1", "continue"]
    printed = "".join(outputs(program, script, {}))
    assert re.search(rf"hit Breakpoint 1, .*debug_kernel .*debug_aids.cpp:{line}", printed), printed
    assert "bits = 15360" in printed  # the half 1.0
    assert "exited normally" in printed
