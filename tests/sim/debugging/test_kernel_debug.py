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
