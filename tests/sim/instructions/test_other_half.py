# SPDX-License-Identifier: Apache-2.0
"""Flags of pipes that one half of a MIX kernel lacks do nothing there, and order nothing."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import KernelError, Runtime
from instructions.mix_library import A2, A5, mixed_library

ONE_AND_TWO = 12  # AIC and AIVs of an AI core, in the key
pytestmark = pytest.mark.usefixtures("on_its_soc")


@pytest.fixture(scope="module")
def library(arch: str, toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of other_half.cpp."""
    return mixed_library(toolkit, tmp_path_factory.mktemp("half"), "other_half", arch)


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


@pytest.mark.parametrize("arch", [A5], indirect=True)  # mode 4 is there alone
def test_flags_between_cores_of_a_pipe_that_is_not_there(
    runtime: Runtime, library: ctypes.CDLL
) -> None:
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
@pytest.mark.parametrize("arch", [A5], indirect=True)
def test_set_without_effect_is_told_of(runtime: Runtime, library: ctypes.CDLL) -> None:
    text = r"(?s)\[deadlock\].*On an AIC of Ascend 950 a set by PIPE_V or PIPE_MTE3 does nothing"
    with pytest.raises(KernelError, match=text):
        launch(runtime, library, "told_by_mte3")


@pytest.mark.parametrize("arch", [A2], indirect=True)
def test_set_by_mte3_of_an_aic(runtime: Runtime, library: ctypes.CDLL) -> None:
    launch(runtime, library, "told_by_mte3")
