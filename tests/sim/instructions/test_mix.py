# SPDX-License-Identifier: Apache-2.0
"""MIX kernels: cores' places, flags between AICs and AIVs in all modes, and each mistake as what it
is; any number of host threads comes to an end.
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from instructions.bench import KernelError, Runtime
from instructions.mix_library import mixed_library

ONE, TWO, CUBES, VECTORS = 11, 12, 10, 1  # tiling keys of mix.cpp
CHAOS = ["0", "1", "2", "3", "9", "17"]
ELEMENTS = 256
Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of mix.cpp."""
    return mixed_library(toolkit, tmp_path_factory.mktemp("mix"), "mix")


def exchange(cores: int, key: int) -> list[Array]:
    """Numbers, workspace and outputs of the kernels that pass numbers on."""
    count = cores * ELEMENTS * (key % 10)
    numbers = np.arange(count, dtype=np.int32)
    return [numbers, np.zeros(2 * count, np.int32), np.zeros(count, np.int32)]


@pytest.mark.parametrize("key", [ONE, TWO])
@pytest.mark.parametrize("blocks", [1, 5, 20])
def test_each_core_knows_its_place(
    runtime: Runtime, library: ctypes.CDLL, key: int, blocks: int
) -> None:
    vectors = key % 10
    out = np.zeros((blocks * (1 + vectors), 8), np.int64)
    with runtime.options(mode="checked"):
        (got,) = runtime.launch(library["places"], [out], block_dim=blocks, key=key)
    for block in range(blocks):
        assert list(got[block]) == [block, blocks, 0, 1, 1, block, 1, 1]
        for sub in range(vectors):
            index = block * vectors + sub
            want = [index, blocks, sub, vectors, vectors, block, 2, 2]
            assert list(got[blocks + index]) == want


@pytest.mark.parametrize("key", [CUBES, VECTORS])
def test_a_key_may_have_one_kind_of_core(runtime: Runtime, library: ctypes.CDLL, key: int) -> None:
    out = np.zeros((6, 8), np.int64)
    (got,) = runtime.launch(library["places"], [out], block_dim=3, key=key)
    first = 0 if key == CUBES else 3
    kind = 1 if key == CUBES else 2
    for block in range(3):
        assert list(got[first + block]) == [block, 3, 0, 1, 1, block, kind, kind]


@pytest.mark.parametrize("chaos", CHAOS)
@pytest.mark.parametrize("threads", ["1", "2", "7"])
@pytest.mark.parametrize("key", [ONE, TWO])
def test_numbers_go_there_and_back(
    runtime: Runtime, library: ctypes.CDLL, key: int, threads: str, chaos: str
) -> None:
    arrays = exchange(20, key)
    with runtime.options(chaos=chaos, threads=threads):
        (got,) = runtime.launch(library["right"], arrays, outputs=[2], block_dim=20, key=key)
    np.testing.assert_array_equal(got, arrays[0] + 1)


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("key", [ONE, TWO])
def test_sync_all(runtime: Runtime, library: ctypes.CDLL, key: int, threads: str) -> None:
    """SyncAll<false> is of all cores, SyncAll() of the AIVs."""
    blocks, cores = 4, 4 * (1 + key % 10)
    words = np.zeros((cores, 8), np.int64)
    with runtime.options(threads=threads):
        got, _ = runtime.launch(
            library["meet_all"], [words, words], outputs=[1, 0], block_dim=blocks, key=key
        )
        assert set(got[:, 0]) == {cores * (cores + 1) // 2}
        got, _ = runtime.launch(
            library["meet_vectors"], [words, words], outputs=[1, 0], block_dim=blocks, key=key
        )
    assert set(got[blocks:, 0]) == {sum(range(blocks + 1, cores + 1))}


@pytest.mark.parametrize("chaos", CHAOS)
def test_flags_among_one_kind(runtime: Runtime, library: ctypes.CDLL, chaos: str) -> None:
    words = np.zeros((8, 64), np.int32)
    with runtime.options(chaos=chaos):
        (got,) = runtime.launch(library["peers"], [words, words], outputs=[1], block_dim=4, key=TWO)
        assert list(got[:, 0]) == [2, 1, 4, 3, 6, 5, 8, 7]
        (got,) = runtime.launch(library["kinds"], [words, words], outputs=[1], block_dim=4, key=TWO)
    assert list(got[:, 63]) == [2, 3, 4, 5, 6, 7, 8, 1]


@pytest.mark.parametrize("chaos", CHAOS)
@pytest.mark.parametrize("key", [ONE, TWO])
def test_own_writes_behind_an_answer(
    runtime: Runtime, library: ctypes.CDLL, key: int, chaos: str
) -> None:
    """The AIC has waited for the AIV's copy and says so: the AIV may read what it has written."""
    words = np.zeros((4 * (key % 10), 64), np.int32)
    with runtime.options(chaos=chaos, mode="checked"):
        (got,) = runtime.launch(library["again"], [words, words], outputs=[1], block_dim=4, key=key)
    assert list(got[:, 0]) == list(range(1, len(words) + 1))


@pytest.mark.plants_faults
@pytest.mark.parametrize("name", ["again_early", "again_other_pipe"])
def test_own_writes_behind_another_answer(
    runtime: Runtime, library: ctypes.CDLL, name: str
) -> None:
    """An answer that is no answer to the copy orders nothing."""
    words = np.zeros((4, 64), np.int32)
    with pytest.raises(KernelError, match=r"race-read-after-write.* AIV \d of 2 AI cores"):
        runtime.launch(library[name], [words, words], outputs=[1], block_dim=2, key=TWO)


@pytest.mark.parametrize(("times", "every"), [(15, 0), (150, 15), (100, 1), (16, 8)])
def test_answers_keep_a_counter_low(
    runtime: Runtime, library: ctypes.CDLL, times: int, every: int
) -> None:
    numbers = np.array([times, every], np.int32)
    runtime.launch(library["counts"], [numbers], outputs=[], block_dim=3, key=TWO)


WRITTEN = r"AIC 0 writes and AIV 0 reads bytes \[0, 1024\) of argument 1"
FAULTS = {
    "no_set": ("deadlock", r"CrossCoreWaitFlag of flag 3 on AIV \d, which neither AIC \d \(mode 2"),
    "no_answer": ("deadlock", r"CrossCoreWaitFlag of flag 4 on AIC \d, which neither AIV"),
    "one_answer": (
        "deadlock",
        r"flag 4 on AIC (0 waits for AIV 1|1 waits for AIV 3), which has set it 0 times",
    ),
    "early_return": ("deadlock", r"AIC \d waits for AIV \d, .* and has left the kernel"),
    "aic_returns": (
        "deadlock",
        r"AIC \d: DataCopy \(L1 to GM\), which is the last it did in the kernel\n  at .*mix.cpp:",
    ),
    "no_wait": (
        "cross-core-flag",
        r"AIC 0 sets flag 3 1 times with mode 2, and AIV 0 waits for it 0",
    ),
    "reserved": ("cross-core-flag", "flag 12 is set by the kernel, and is one of SyncAll's"),
    "reserved_behind": ("cross-core-flag", "flag 12 is set by the kernel, and is one of SyncAll's"),
    "id_16": ("cross-core-flag", r"of flag 16; there are flags 0\.\.15"),
    "mode_4": ("cross-core-flag", "mode 4; architecture 2201 has modes 0, 1 and 2"),
    "set_before_write": ("gm-conflict", WRITTEN),
    "set_by_other_pipe": ("gm-conflict", WRITTEN),
    "answer_before_write": ("gm-conflict", r"AIC 0 reads and AIV 0 writes bytes \[4096, 5120\)"),
    "read_before_wait": ("gm-conflict", WRITTEN),
}


@pytest.mark.plants_faults
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("name", FAULTS)
def test_mistake(runtime: Runtime, library: ctypes.CDLL, name: str, threads: str) -> None:
    kind, text = FAULTS[name]
    with runtime.options(threads=threads), pytest.raises(KernelError) as caught:
        runtime.launch(library[name], exchange(2, TWO), outputs=[2], block_dim=2, key=TWO)
    said = str(caught.value)
    assert f"[{kind}]" in said and "mix.cpp:" in said and re.search(text, said), said


@pytest.mark.parametrize("way", [1, 3])
def test_modes_of_a_flag_in_turn(runtime: Runtime, library: ctypes.CDLL, way: int) -> None:
    runtime.launch(library["two_modes"], [np.array([way], np.int32)], [], block_dim=3, key=TWO)


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("way", "text"),
    [
        (
            0,
            r"AIV \d sets flag 5 with mode 2 after 1 sets with mode 1; it has waited for 0",
        ),
        (2, r"AIV \d sets flag 5 with mode 1 after 1 sets with mode 2; as far as it knows, AIC 0"),
    ],
)
def test_modes_of_a_flag_that_meet(
    runtime: Runtime, library: ctypes.CDLL, way: int, text: str
) -> None:
    with pytest.raises(KernelError, match=text) as caught:
        runtime.launch(library["two_modes"], [np.array([way], np.int32)], [], block_dim=1, key=TWO)
    assert "[cross-core-flag]" in str(caught.value)


@pytest.mark.plants_faults
def test_mode_1_needs_two_aivs(runtime: Runtime, library: ctypes.CDLL) -> None:
    with pytest.raises(KernelError, match="mode 1 on AIV 0 of a kernel of 1 AIC and 1 AIV"):
        runtime.launch(library["mode_1"], exchange(1, ONE), outputs=[2], block_dim=1, key=ONE)


@pytest.mark.plants_faults
@pytest.mark.parametrize(("times", "every"), [(16, 0), (40, 16), (32, 20)])
def test_counter_overflows(runtime: Runtime, library: ctypes.CDLL, times: int, every: int) -> None:
    numbers = np.array([times, every], np.int32)
    with pytest.raises(KernelError, match=r"sets flag 5 \(mode 2\) for the 16th time") as caught:
        runtime.launch(library["counts"], [numbers], outputs=[], block_dim=1, key=TWO)
    assert "[cross-core-flag]" in str(caught.value)


@pytest.mark.plants_faults
def test_more_ai_cores_than_there_are(runtime: Runtime, library: ctypes.CDLL) -> None:
    words = np.zeros((90, 8), np.int64)
    with pytest.raises(KernelError, match="SyncAll of 30 AI cores, Ascend910B2 has 24"):
        runtime.launch(library["meet_all"], [words, words], outputs=[1], block_dim=30, key=TWO)


@pytest.mark.plants_faults
@pytest.mark.parametrize("half", ["aiv", "aic"])
def test_each_half_is_checked(runtime: Runtime, library: ctypes.CDLL, half: str) -> None:
    arrays = [np.zeros((4, 64), np.int32)] * (2 if half == "aic" else 1)
    with pytest.raises(
        KernelError, match=f"race-read-after-write.* {half.upper()} 0 of 2 AI cores"
    ):
        runtime.launch(library[f"no_order_on_{half}"], arrays, outputs=[0], block_dim=2, key=TWO)


@pytest.mark.plants_faults
def test_flags_of_a_kernel_of_one_kind(runtime: Runtime, library: ctypes.CDLL) -> None:
    with pytest.raises(KernelError, match=r"a cube kernel has mode 0.*(.|\n)*KERNEL_TYPE_MIX_AIC"):
        runtime.launch(library["right"], exchange(1, ONE), outputs=[2], block_dim=1, key=CUBES)
    words = np.zeros((8, 8), np.int64)
    with pytest.raises(KernelError, match="SyncAll<false> in a kernel of one kind of core"):
        runtime.launch(library["meet_all"], [words, words], outputs=[1], block_dim=2, key=VECTORS)
