# SPDX-License-Identifier: Apache-2.0
"""Every named fault: its kind and the faulty line of the kernel, in debug and optimised builds."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from _pytest.mark import ParameterSet

from instructions.bench import HERE, KernelError, Runtime, compile_kernel
from sanitizers import ENDS_BY_SIGNAL

pytestmark = pytest.mark.plants_faults

_SOURCE = (HERE / "faults.cpp").read_text().splitlines()
# Faults that only the end of the kernel shows, so that no line is to blame.
_AT_THE_END = {"queue-leak", "tiling-key-unknown"}
_CALLS_NOTHING = {"endless_loop", "endless_count"}


class Planted:
    """What faults.cpp says about one of its kernels."""

    def __init__(self, name: str, first: int) -> None:
        """first: index of the kernel's first line."""
        self.name = name
        end = next(i for i in range(first, len(_SOURCE)) if _SOURCE[i] == "}")
        body = "\n".join(_SOURCE[first:end])
        soc = re.search(r"SOC: (\w+)", body)
        self.soc = soc.group(1) if soc else ""
        elsewhere = [i for i, text in enumerate(_SOURCE) if text.endswith(f" in {name}")]
        lines = elsewhere or [i for i in range(first, end) if "FAULT:" in _SOURCE[i]]
        assert len(lines) == 1, name
        self.line = lines[0] + 1
        found = re.search(r"FAULT: ([\w-]+)", _SOURCE[lines[0]])
        assert found is not None
        self.kind = found.group(1)


_PLANTED = [
    Planted(found.group(1), index)
    for index, text in enumerate(_SOURCE)
    if (found := re.match(r'extern "C" __global__ void (\w+)\(', text))
]


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def library(
    request: pytest.FixtureRequest, toolkit: Path, tmp_path_factory: pytest.TempPathFactory
) -> ctypes.CDLL:
    """faults.cpp, built for debugging and optimised."""
    folder = tmp_path_factory.mktemp("faults")
    flags = ("-g", request.param, "-Wno-unused-parameter")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "faults", *flags)))


def as_params(faults: Iterable[Planted]) -> list[ParameterSet]:
    """Cases of a test, by the names of their kernels."""
    return [
        pytest.param(one, id=one.name, marks=[ENDS_BY_SIGNAL] * (one.name in _CALLS_NOTHING))
        for one in faults
    ]


@pytest.mark.parametrize("planted", as_params(_PLANTED))
def test_fault(runtime: Runtime, library: ctypes.CDLL, planted: Planted) -> None:
    """The report names the kind, the line, the SoC and what hardware would do."""
    soc = planted.soc or runtime.option("soc")
    limit = "0.1" if planted.kind == "hang" else runtime.option("hang_limit")
    options = runtime.options(soc=soc, hang_limit=limit)
    with options, pytest.raises(KernelError) as caught:
        runtime.launch(library[planted.name], [np.zeros(4096, np.uint8)], key=7)
    text = str(caught.value)
    assert f"[{planted.kind}]" in text
    assert caught.value.code == 507035
    if planted.kind not in _AT_THE_END:
        assert f"faults.cpp:{planted.line}\n" in text
        assert _SOURCE[planted.line - 1].strip() in text
    assert f"soc {soc}" in text
    assert "core 0 of 1" in text


_HANDLER = """\
#include <signal.h>
static struct sigaction before;
static void PassOn(int number, siginfo_t* info, void* context) {
  before.sa_sigaction(number, info, context);
}
extern "C" void Install(void) {
  struct sigaction own = {};
  own.sa_sigaction = PassOn;
  own.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &own, &before);
}
extern "C" void Remove(void) { sigaction(SIGSEGV, &before, nullptr); }
"""


def test_a_fault_has_the_kernels_line_behind_the_handler_of_a_program(
    runtime: Runtime, library: ctypes.CDLL, tmp_path: Path
) -> None:
    """A program's handler that passes a signal on lies on the stack too, and is not the place."""
    (tmp_path / "handler.cpp").write_text(_HANDLER)
    words = ["g++", "-g", "-O0", "-shared", "-fPIC", "handler.cpp", "-o", "handler.so"]
    subprocess.run(words, cwd=tmp_path, check=True)
    handler = ctypes.CDLL(str(tmp_path / "handler.so"))
    planted = next(one for one in _PLANTED if one.name == "wild_pointer")
    handler.Install()
    try:
        with pytest.raises(KernelError) as caught:
            runtime.launch(library["wild_pointer"], [np.zeros(4096, np.uint8)], key=7)
    finally:
        handler.Remove()
    assert f"faults.cpp:{planted.line}\n" in str(caught.value)


_STOPS = {
    "trapped": "trap",
    "wild_pointer": "SIGSEGV at address 0x10\n",
    "aborted": "SIGABRT, of abort or assert",
    "divides_by_zero": "SIGFPE, a division by zero",
    "full_stack": "SIGSEGV, a stack that is full",
}


@pytest.mark.parametrize("name", _STOPS)
def test_runtime_goes_on_after_a_fault(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    """A fault ends its launch, not the process."""
    for _ in range(3):
        with pytest.raises(KernelError, match=_STOPS[name]):
            runtime.launch(library[name], [np.zeros(64, np.uint8)], block_dim=4)


def test_overflow_lists_the_buffers(runtime: Runtime, library: ctypes.CDLL) -> None:
    """The report of a UB overflow is the table of all buffers with their source lines."""
    with pytest.raises(KernelError) as caught:
        runtime.launch(library["too_much_ub"], [np.zeros(64, np.uint8)])
    text = str(caught.value)
    for wanted in (
        r"VECIN +TQue +2 x +65536 B .*InitBuffer\(in",
        r"TBuf +1 x +65568 B .*InitBuffer\(rest",
    ):
        assert re.search(wanted, text), text
    assert "196640 B wanted" in text


def test_bounds_report_names_the_buffer(runtime: Runtime, library: ctypes.CDLL) -> None:
    """By how much, of which buffer, where that comes from."""
    with pytest.raises(KernelError) as caught:
        runtime.launch(library["count_past_the_end"], [np.zeros(64, np.uint8)])
    text = str(caught.value)
    assert "dst covers bytes [0, 1028) of its buffer, which has 1024: past the end by 4 B" in text
    assert "pipe.InitBuffer(buffer, bytes)" in text


def test_first_core_reports(runtime: Runtime, library: ctypes.CDLL) -> None:
    """When every core fails the report is core 0's, whatever the host threads do."""
    for _ in range(5):
        with pytest.raises(KernelError, match="core 0 of 8"):
            runtime.launch(library["trapped"], [np.zeros(64, np.uint8)], block_dim=8)


@pytest.mark.parametrize(
    ("case", "text"),
    list(
        enumerate(
            [
                "CastDequant is not in this simulator yet",
                "MrgSort4 exists on architectures 1001 and 2002 only",
                "<false> waits for cube cores",
                "PipeBarrier<PIPE_S> does not exist",
                "an instruction of one pipe that is not the scalar one",
                "an instruction of one pipe that is not the scalar one",
                "SetCtrlSpr is not in this simulator yet",
            ]
        )
    ),
)
def test_absent_api_is_a_compile_error(toolkit: Path, case: int, text: str) -> None:
    """What is missing is named at compile time and never a silent no-op."""
    command = ["g++", "-std=c++17", "-fsyntax-only", f"-I{toolkit}/include", f"-DCASE={case}"]
    done = subprocess.run(
        [*command, str(HERE / "absent.cpp")], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert text in done.stderr


@pytest.fixture
def writers(toolkit: Path, tmp_path: Path) -> ctypes.CDLL:
    """Only an operator's launch knows its inputs, so these go through the engine itself."""
    sources = HERE.parents[2] / "simulator" / "src"
    target = tmp_path / "write_to_input.so"
    command = ["g++", "-std=c++20", "-g", "-O1", "-fPIC", "-shared", f"-I{toolkit}/include"]
    command += [f"-I{sources}", str(HERE / "write_to_input.cpp"), "-o", str(target)]
    command += [f"-L{toolkit}/lib64", "-lascendcl", f"-Wl,-rpath,{toolkit}/lib64"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


def test_write_to_input(writers: ctypes.CDLL, runtime: Runtime) -> None:
    report = ctypes.create_string_buffer(4096)
    writers.run_write_to_input(report, ctypes.c_size_t(4096))
    text = report.value.decode()
    lines = (HERE / "write_to_input.cpp").read_text().splitlines()
    line = next(i for i, row in enumerate(lines, 1) if row.endswith("// FAULT"))
    assert "[gm-write-to-input]" in text
    assert "dst writes into x, which is an input" in text
    assert f"write_to_input.cpp:{line}" in text


def test_an_operator_without_output_works_in_place(writers: ctypes.CDLL, runtime: Runtime) -> None:
    """As foreach operators do whose definition names inputs alone."""
    report = ctypes.create_string_buffer(4096)
    values = np.arange(8, dtype=np.float32)
    writers.run_in_place(values.ctypes.data_as(ctypes.c_void_p), report, ctypes.c_size_t(4096))
    assert report.value == b""
    assert (values == 2 * np.arange(8)).all()
