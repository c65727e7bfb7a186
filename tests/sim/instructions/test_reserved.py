# SPDX-License-Identifier: Apache-2.0
"""UB that the toolchain keeps may be allocated, as long as nothing lives where it works."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import HERE, KernelError, Runtime, compile_kernel

pytestmark = pytest.mark.plants_faults


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of reserved.cpp."""
    flags = ("-O1", "-gdwarf-4", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
    folder = tmp_path_factory.mktemp("reserved")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "reserved", *flags)))


@pytest.mark.parametrize("mode", ["checked", "fast"])
@pytest.mark.parametrize(
    "name", ["with_a_scalar", "with_a_tensor", "filled_afterwards", "behind_the_scratch"]
)
def test_allocated_is_not_used(
    runtime: Runtime, library: ctypes.CDLL, name: str, mode: str
) -> None:
    """All of UB is one buffer, and every second lane is selected."""
    with runtime.options(mode=mode):
        (got,) = runtime.launch(library[name], [np.zeros(64, np.float32)])
    np.testing.assert_array_equal(got, np.tile(np.array([1, 3], np.float32), 32))


@pytest.mark.parametrize("name", ["lives_across", "is_a_source", "decides"])
def test_lost_values(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    """The report names the Select that overwrites."""
    lines = (HERE / "reserved.cpp").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if f" {name}(" in line)
    line = next(i for i in range(first, len(lines)) if lines[i].endswith("// FOUND")) + 1
    with pytest.raises(KernelError) as caught:
        runtime.launch(library[name], [np.ones(64, np.float32)])
    text = str(caught.value)
    assert "[ub-scratch]" in text
    assert f"reserved.cpp:{line}\n" in text
    assert "works in the toolchain's part of UB, from byte 188416 on" in text


def test_lost_values_without_checks(runtime: Runtime, library: ctypes.CDLL) -> None:
    """Without checks the numbers show it."""
    with runtime.options(mode="fast"):
        (got,) = runtime.launch(library["lives_across"], [np.ones(64, np.float32)])
    assert np.isnan(got[:32]).all()
    assert (got[32:] == 1).all()
