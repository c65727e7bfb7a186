# SPDX-License-Identifier: Apache-2.0
"""What a device build of CANN's headers accepts compiles here, and means the same."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import HERE, KernelError, Runtime, compile_kernel

pytestmark = pytest.mark.plants_faults


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of device_forms.cpp, as C++17."""
    folder = tmp_path_factory.mktemp("device_forms")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "device_forms")))


def test_templates_are_found_by_their_arguments(runtime: Runtime, library: ctypes.CDLL) -> None:
    (got,) = runtime.launch(library["by_arguments"], [np.arange(64, dtype=np.float32)])
    assert got[0] == np.arange(1, 65).sum()


def test_parameters_in_braces(runtime: Runtime, library: ctypes.CDLL) -> None:
    values = np.arange(64, dtype=np.float32)
    (got,) = runtime.launch(library["by_braces"], [np.concatenate([values, np.zeros_like(values)])])
    assert got.tolist() == [*values, *values]


def test_assertions_that_hold(runtime: Runtime, library: ctypes.CDLL) -> None:
    """As a statement, behind a value, which stays as it was, and as an expression."""
    (got,) = runtime.launch(library["assertions"], [np.zeros(16, np.uint32)])
    assert got[0] == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fails_in_a_function", "ASSERT(sizes.tileNum > none) failed"),
        ("fails_with_a_text", "the limit is 1.5"),
        ("fails_as_an_expression", "it is 7"),
    ],
)
def test_assertions_that_fail(runtime: Runtime, library: ctypes.CDLL, name: str, text: str) -> None:
    """The report has the condition, its line and the text."""
    lines = (HERE / "device_forms.cpp").read_text().splitlines()
    line = next(i for i, row in enumerate(lines, 1) if row.endswith(f"// {name}"))
    with pytest.raises(KernelError) as caught:
        runtime.launch(library[name], [np.zeros(16, np.uint32)])
    assert "[assert]" in str(caught.value)
    assert text in str(caught.value)
    assert f"device_forms.cpp:{line}" in str(caught.value)


def test_atomics_by_their_type(runtime: Runtime, library: ctypes.CDLL) -> None:
    """SetAtomicType adds where no operation is set, and keeps a maximum."""
    values = np.arange(1, 33, dtype=np.float32)
    there = np.full(32, np.float32(16).view(np.int32), np.int32)
    got = runtime.launch(
        library["atomics_by_their_type"], [np.concatenate([values, there.view(np.float32)])]
    )[0]
    np.testing.assert_array_equal(got[:32], 2 * values)
    expected = np.maximum(there, values.view(np.int32))
    np.testing.assert_array_equal(got[32:].view(np.int32), expected)


def test_saturation_is_refused(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Numbers that overflow are Inf and NaN here, so that the other mode of hardware is named."""
    with pytest.raises(KernelError) as caught:
        runtime.launch(library["saturates"], [np.zeros(16, np.uint32)])
    assert "SetOverflow: got 0, want 1" in str(caught.value)


def test_names_of_the_implementation(runtime: Runtime, library: ctypes.CDLL) -> None:
    source = np.arange(64, dtype=np.float32)
    (got,) = runtime.launch(library["of_the_implementation"], [source])
    rows = source.reshape(8, 8)
    np.testing.assert_array_equal(got[:8], rows.sum(1))
    np.testing.assert_array_equal(got[8:16], rows.max(1))
    assert got[16] == source.sum()
    np.testing.assert_array_equal(got[24:32], source[:8])


@pytest.mark.parametrize(
    "use",
    [
        "AscendC::Hccl<AscendC::HCCL_SERVER_TYPE_AICPU> hccl;",
        "AscendC::Hccl<> hccl;",
        "auto context = AscendC::GetHcclContext<AscendC::HCCL_GROUP_ID_0>();",
    ],
)
@pytest.mark.parametrize("header", ["kernel_operator.h", "lib/hccl/hccl.h", "adv_api/hccl/hccl.h"])
def test_communication_is_a_compile_error(
    toolkit: Path, tmp_path: Path, header: str, use: str
) -> None:
    """It says that there is none, and what to do."""
    source = tmp_path / "kernel.cpp"
    source.write_text(
        f'#include "{header}"\nextern "C" __global__ __aicore__ void f(GM_ADDR) {{ {use} }}\n'
    )
    command = ["g++", "-std=c++17", "-fsyntax-only", f"-I{toolkit}/include", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "HCCL in kernels is not simulated" in done.stderr
    assert "Next: " in done.stderr


def test_tensors_that_are_placed_by_hand(runtime: Runtime, library: ctypes.CDLL) -> None:
    """InitBuffer, and a position before, after or never."""
    source = np.arange(64, dtype=np.float32)
    (got,) = runtime.launch(library["placed_by_hand"], [source])
    np.testing.assert_array_equal(got, source + 1)
    with pytest.raises(KernelError, match=r"ub-out-of-bounds"):
        runtime.launch(library["placed_past_the_end"], [source])
