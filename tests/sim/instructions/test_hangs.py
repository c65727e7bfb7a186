# SPDX-License-Identifier: Apache-2.0
"""Loops of kernels that never end are reported with their line, honest ones are left alone."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instructions.bench import HERE, KernelError, Runtime, compile_kernel
from sanitizers import ENDS_BY_SIGNAL

pytestmark = pytest.mark.plants_faults

_SOURCE = (HERE / "hangs.cpp").read_text().splitlines()
_LIMIT = (
    "0.4"  # many times what a slow kernel needs between two signs of life, on a busy machine too
)


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """hangs.cpp, optimised."""
    return ctypes.CDLL(str(compile_kernel(toolkit, tmp_path_factory.mktemp("hangs"), "hangs")))


def _launch(runtime: Runtime, entry: Any, cores: int = 1, **options: str) -> np.ndarray:
    with runtime.options(**{"hang_limit": _LIMIT, **options}):
        gm = np.zeros(100 * 16, np.int32)
        return runtime.launch(entry, [gm], block_dim=cores)[0]


@pytest.mark.parametrize("options", [{"mode": "fast"}, {"profile": "on"}], ids=str)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("all_spin", marks=ENDS_BY_SIGNAL),
        pytest.param("one_spins", marks=ENDS_BY_SIGNAL),
        "all_poll",
        "all_poll_slowly",
    ],
)
def test_hang(runtime: Runtime, library: ctypes.CDLL, name: str, options: dict[str, str]) -> None:
    """One finding with the line, however many cores there are, and the process goes on."""
    runtime.lib.aclsimClearFindings()
    with pytest.raises(KernelError, match=r"\[hang\]") as caught:
        _launch(runtime, library[name], cores=8, threads="2", **options)
    assert caught.value.code == 507035
    found = [entry for entry in json.loads(runtime.lib.aclsimFindings()) if entry["kind"] == "hang"]
    assert len(found) == 1, str(caught.value)
    line = 1 + next(i for i, text in enumerate(_SOURCE) if text.endswith(f"// HANG {name}"))
    assert (Path(found[0]["at"]["file"]).name, found[0]["at"]["line"]) == ("hangs.cpp", line)
    assert found[0]["core"] == (2 if name == "one_spins" else 0)
    assert "ACLGRAD_SIM_HANG_LIMIT" in found[0]["advice"]
    assert ("GlobalTensor::GetValue" in found[0]["detail"]) == name.startswith("all_poll")
    assert _launch(runtime, library["slow_scalars"])[16] == 1


@pytest.mark.parametrize("name", ["slow_scalars", "slow_instructions"])
def test_slow_kernel_is_no_hang(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    """Much longer than the limit, with progress in between; to a launch all memory is new."""
    for _ in range(2):
        _launch(runtime, library[name], threads="1")


@ENDS_BY_SIGNAL
def test_limit_is_an_option(runtime: Runtime, library: ctypes.CDLL) -> None:
    """The same loop under a limit, and without one."""
    with pytest.raises(KernelError, match=r"\[hang\]"):
        _launch(runtime, library["slow_thought"])
    _launch(runtime, library["slow_thought"], hang_limit="0")
    assert runtime.option("hang_limit") == "20"
    for wrong in (b"", b"-1", b"1e9", b"nan", b"2s"):
        assert runtime.lib.aclsimSetOption(b"hang_limit", wrong) == 100000
        assert "want 0 (off) or up to 1e+06 seconds" in runtime.message()


@pytest.mark.parametrize("limit", ["0", "2", "20"])
def test_polling_waits_for_cores_that_have_not_begun(
    runtime: Runtime, library: ctypes.CDLL, limit: str
) -> None:
    """On one host thread every core polls for a flag of the next one; hardware runs all at once.

    That does not take a part of the limit, which may be none: with one of 2 s of processor time it
    would be seen.
    """
    options = {"threads": "1", "mode": "fast", "hang_limit": limit}
    got = _launch(runtime, library["all_wait"], cores=8, **options)
    assert got[: 8 * 16 : 16].tolist() == [1] * 8
