# SPDX-License-Identifier: Apache-2.0
"""Vector functions with one fault each, which is named at its line, and right ones beside them."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import HERE, Bench, Call, KernelError, Runtime, area, compile_kernel
from instructions.register_faults import CASES, source

SOC = "Ascend950PR_9599"
SOURCE, LINES = source(HERE / "bench.h")


@pytest.fixture(scope="module")
def kernels(
    toolkit: Path, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bench]:
    """A kernel for each case."""
    folder = tmp_path_factory.mktemp("register_faults")
    path = compile_kernel(
        toolkit, folder, "register_faults", "-O0", "-g", soc="ascend950", text=SOURCE
    )
    with runtime.options(soc=SOC):
        yield Bench(runtime, {"faults": ctypes.CDLL(str(path))})


@pytest.mark.plants_faults
@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name for case in CASES])
def test_case(kernels: Bench, number: int) -> None:
    """The fault of a case is the first that is named, at its line; a right case has none."""
    areas = [area(np.arange(8192, dtype=np.float32)) for _ in range(3)]
    if CASES[number].fault is None:
        kernels.run(f"faults:case_{number}", Call(), *areas)
        return
    with pytest.raises(KernelError) as failed:
        kernels.run(f"faults:case_{number}", Call(), *areas)
    text = str(failed.value)
    assert re.findall(r" \[([a-z-]+)\] in ", text)[:1] == [CASES[number].fault], text
    lines = [int(line) for line in re.findall(r"register_faults\.cpp:(\d+)", text)]
    assert lines[:1] == [LINES[number]], text
