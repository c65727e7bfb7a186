# SPDX-License-Identifier: Apache-2.0
"""Each TPipe hands out UB and event ids from the start, whatever others have."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import KernelError, Runtime, compile_kernel


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of several_pipes.cpp."""
    folder = tmp_path_factory.mktemp("several_pipes")
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "several_pipes")))


@pytest.mark.parametrize("chaos", ["0", "5"])
@pytest.mark.parametrize(
    "name",
    [
        "declared_together",
        "in_scopes",
        "used_again",
        "within_one_another",
        "given_by_value",
        "queue_of_a_copy",
    ],
)
def test_one_after_the_other(runtime: Runtime, library: ctypes.CDLL, name: str, chaos: str) -> None:
    """Every pipe has all of UB; each kernel adds three in all."""
    values = np.arange(64, dtype=np.float32)
    with runtime.options(chaos=chaos):
        (got,) = runtime.launch(library[name], [values])
    np.testing.assert_array_equal(got, values + 3)


def test_a_fixed_address_before_a_pipe(runtime: Runtime, library: ctypes.CDLL) -> None:
    values = np.arange(64, dtype=np.float32)
    (got,) = runtime.launch(library["fixed_before"], [values])
    np.testing.assert_array_equal(got, values + 1)


def test_event_ids_of_a_copy(runtime: Runtime, library: ctypes.CDLL) -> None:
    (got,) = runtime.launch(library["copied_event_ids"], [np.zeros(16, np.int32)])
    assert got[:2].tolist() == [1, 1]


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("overlapping", "undefined-read", "kept"),
        ("too_much_for_the_second", "ub-overflow", "197376 B wanted in all"),
        ("stale_queue", "queue-not-initialised", "AllocTensor"),
    ],
)
def test_faults(runtime: Runtime, library: ctypes.CDLL, name: str, kind: str, text: str) -> None:
    """What overlaps, and what one pipe has too much of, is still found."""
    with pytest.raises(KernelError) as caught:
        runtime.launch(library[name], [np.zeros(64, np.float32)])
    assert f"[{kind}]" in str(caught.value)
    assert text in str(caught.value)
