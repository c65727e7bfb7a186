# SPDX-License-Identifier: Apache-2.0
"""Flags of pipes that one half of a MIX kernel lacks do nothing there, and order nothing."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import KernelError, Runtime
from instructions.test_cube_950 import SOC
from instructions.test_mix import WORDS, mixed_library
from instructions.test_mix_matmul_950 import WORDS as WORDS_950

ONE_AND_TWO = 12  # AIC and AIVs of an AI core, in the key


@pytest.fixture(scope="module", params=["2201", "3510"])
def arch(request: pytest.FixtureRequest) -> str:
    """The architecture."""
    return str(request.param)


@pytest.fixture(scope="module")
def library(arch: str, toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of other_half.cpp."""
    words, dav = (WORDS_950, "C310") if arch == "3510" else (WORDS, "C220")
    return mixed_library(toolkit, tmp_path_factory.mktemp("half"), "other_half", words, dav)


@pytest.fixture(autouse=True)
def on_its_soc(arch: str, runtime: Runtime) -> Iterator[None]:
    """A SoC of that architecture."""
    with runtime.options(**({"soc": SOC} if arch == "3510" else {})):
        yield


def launch(runtime: Runtime, library: ctypes.CDLL, name: str) -> None:
    """Run a kernel that adds one."""
    x = np.arange(64, dtype=np.float32)
    arrays = [x, np.zeros_like(x)]
    (got,) = runtime.launch(library[name], arrays, outputs=[1], key=ONE_AND_TWO)
    np.testing.assert_array_equal(got, x + 1)


@pytest.mark.parametrize("chaos", ["0", "2"])
def test_waits_for_flags_of_the_other_half_pass(
    runtime: Runtime, library: ctypes.CDLL, chaos: str
) -> None:
    with runtime.options(chaos=chaos):
        launch(runtime, library, "no_waits")


def test_flags_between_cores_of_a_pipe_that_is_not_there(
    runtime: Runtime, library: ctypes.CDLL, arch: str
) -> None:
    if arch == "3510":
        launch(runtime, library, "told_by_aivs")


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("wrong_flag", "race-read-after-write", "MTE2_V"),
        ("raw_flag", "event-id-range", "MTE1_M> on an AIV, which has no pipe M"),
    ],
)
def test_mistake(runtime: Runtime, library: ctypes.CDLL, name: str, kind: str, text: str) -> None:
    with pytest.raises(KernelError) as caught:
        launch(runtime, library, name)
    assert f"[{kind}]" in str(caught.value) and text in str(caught.value), caught.value


@pytest.mark.plants_faults
def test_set_without_effect_is_told_of(runtime: Runtime, library: ctypes.CDLL, arch: str) -> None:
    if arch == "3510":
        text = (
            r"(?s)\[deadlock\].*On an AIC of Ascend 950 a set by PIPE_V or PIPE_MTE3 does nothing"
        )
        with pytest.raises(KernelError, match=text):
            launch(runtime, library, "told_by_no_pipe")
