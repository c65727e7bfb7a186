# SPDX-License-Identifier: Apache-2.0
"""A bit that one operand of And or Or decides alone is defined, whatever the other has; padding."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import HERE, KernelError, Runtime, compile_kernel

pytestmark = pytest.mark.plants_faults


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


def test_the_operand_that_decides(runtime: Runtime, library: ctypes.CDLL) -> None:
    """What is to blame is the operand whose lanes reach the output."""
    with pytest.raises(KernelError) as caught:
        runtime.launch(library["second_operand"], [np.zeros(32, np.float32)])
    assert "Add reads UB bytes from 0 of second on" in str(caught.value)


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


# Device memory of three ranges of addresses, because the process may have few more than it has
# (a sanitizer takes terabytes at its start).
RANGES = """
import ctypes, resource, sys
from pathlib import Path
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (3 << 30), used + (3 << 30)))
from raw_simulator import RawSimulator
simulator = RawSimulator(Path(sys.argv[1]))
entry = ctypes.CDLL(sys.argv[2]).add_one
stream = simulator.new_stream()
blocks = [simulator.malloc(120 << 20) for _ in range(3)]
words = (ctypes.c_float * 64)(*range(64))
for block in blocks:
    at = block + (119 << 20)
    simulator.copy(at, ctypes.addressof(words), 256, 1)
    simulator.enqueue("add_one", entry, stream, [(at, 256), (at + 256, 256)], 1)
    simulator.ok(simulator.lib.aclrtSynchronizeStream(stream))
    simulator.copy(ctypes.addressof(words), at + 256, 256, 2)
print(words[5])
for block in blocks:
    simulator.enqueue("add_one", entry, stream, [(block, 256), (block + 256, 256)], 1)
    print(simulator.lib.aclrtSynchronizeStream(stream), repr(simulator.message()))
    stream = simulator.new_stream()
"""


def test_every_range_of_device_memory(toolkit: Path, library: ctypes.CDLL, tmp_path: Path) -> None:
    """Written bytes are told from others wherever a block lies."""
    folders = (HERE.parent, *filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", RANGES, toolkit, library._name],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))},
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    value, *found = done.stdout.splitlines()
    assert value == "8.0"
    assert [line.count("kernel fault [undefined-read]") for line in found] == [1, 1, 1], found
