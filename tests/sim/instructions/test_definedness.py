# SPDX-License-Identifier: Apache-2.0
"""A bit that one operand of And or Or decides alone is defined, whatever the other has; padding."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import HERE, KernelError, Runtime, compile_kernel

pytestmark = [pytest.mark.sim_only, pytest.mark.plants_faults]


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of definedness.cpp."""
    flags = ("-O1", "-gdwarf-4", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
    folder = tmp_path_factory.mktemp("definedness")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "definedness", *flags)))


@pytest.mark.parametrize(
    ("name", "first", "others"), [("and_with_zeros", 5, 0), ("or_with_ones", 0xFF, 0xFFFF)]
)
def test_decided_by_one(
    runtime: Runtime, library: ctypes.CDLL, name: str, first: int, others: int
) -> None:
    """Lanes that nobody wrote play no part where the mask decides."""
    (got,) = runtime.launch(library[name], [np.zeros(128, np.uint16)])
    assert (got[:16] == first).all()
    assert (got[16:] == others).all()


@pytest.mark.parametrize("name", ["and_with_a_one", "or_with_a_zero"])
def test_one_open_bit(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    """One bit that the mask leaves open is enough."""
    lines = (HERE / "definedness.cpp").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if f" {name}(" in line)
    line = next(i for i in range(first, len(lines)) if lines[i].endswith("// FOUND")) + 1
    with pytest.raises(KernelError) as caught:
        runtime.launch(library[name], [np.zeros(128, np.uint16)])
    assert "[undefined-read]" in str(caught.value)
    assert f"definedness.cpp:{line}\n" in str(caught.value)


def test_padding_that_a_scalar_takes(runtime: Runtime, library: ctypes.CDLL) -> None:
    """It says what the copy wrote, which value was taken and how to make that defined."""
    with pytest.raises(KernelError) as caught:
        runtime.launch(library["padding_divided"], [np.zeros(16, np.int32)])
    said = str(caught.value)
    assert "[undefined-padding]" in said
    assert "the value at byte 44 of " in said
    assert "wrote 44 of the row's 64 bytes, and not this one" in said
    assert "End the loop at the elements that were copied" in said
    assert "set isPad, rightPadding and paddingValue" in said
