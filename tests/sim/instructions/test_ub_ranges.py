# SPDX-License-Identifier: Apache-2.0
"""The checks take UB by ranges; they find what a look at each block finds."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instructions.bench import TO_DEVICE, Runtime, compile_kernel

pytestmark = pytest.mark.plants_faults

LOAD, STORE, READS, WRITES, REPEATS, FIRST, SECOND, THIRD, BACK = range(9)
Step = tuple[int, int, int, int]  # kind, first block, count, stride in blocks
Span = tuple[int, int]  # blocks
BLOCKS = 2048
MTE2, VECTOR, MTE3 = range(3)
PIPES = {LOAD: MTE2, STORE: MTE3, READS: VECTOR, WRITES: VECTOR, REPEATS: VECTOR}
ORDERS = {
    FIRST: (MTE2, VECTOR),
    SECOND: (MTE2, VECTOR),
    THIRD: (VECTOR, MTE3),
    BACK: (MTE3, VECTOR),
}
NAMES = {
    LOAD: "DataCopy (GM to UB)",
    STORE: "DataCopy (UB to GM)",
    READS: "LoadAlign",
    WRITES: "StoreAlign",
    REPEATS: "Adds",
}
SOC = "Ascend950PR_9599"
SIZE = BLOCKS * 32


@pytest.fixture(scope="module")
def kernel(
    toolkit: Path, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """ub_ranges.cpp."""
    folder = tmp_path_factory.mktemp("ub_ranges")
    path = compile_kernel(toolkit, folder, "ub_ranges", soc="ascend950")
    with runtime.options(soc=SOC):
        yield ctypes.CDLL(str(path)).ub_ranges


def findings(runtime: Runtime, kernel: Any, steps: Sequence[Step]) -> list[dict[str, Any]]:
    """What the checks say of a program."""
    packed, count = np.array(steps, np.int32), np.array([len(steps)], np.uint32)
    sizes = (SIZE, 32 * SIZE, packed.nbytes, count.nbytes)
    blocks = [(runtime.malloc(size), size) for size in sizes]
    inputs = (np.zeros(SIZE, np.uint8), None, packed, count)
    for (address, size), array in zip(blocks, inputs, strict=True):
        if array is not None:
            runtime.copy(address, array.ctypes.data, size, TO_DEVICE)
    runtime.lib.aclsimClearFindings()
    runtime.enqueue("ub_ranges", kernel, runtime.stream, blocks, 1)
    if runtime.lib.aclrtSynchronizeStream(runtime.stream) != 0:
        runtime.lib.aclrtDestroyStream(runtime.stream)
        runtime.stream = runtime.new_stream()
    found: list[dict[str, Any]] = json.loads(runtime.lib.aclsimFindings().decode())
    for address, _ in blocks:
        runtime.free(address)
    return found


def accesses(step: Step) -> Iterator[list[tuple[bool, list[Span]]]]:
    """The instructions of a step: whether each access writes, and its pieces of UB."""
    kind, first, count, stride = step
    if kind in (LOAD, STORE):
        yield [(kind == LOAD, [(first, first + count)])]
    elif kind == REPEATS:
        pieces = [(first + r * stride, first + r * stride + 5) for r in range(count)]
        if stride == 5:
            pieces = [(first, first + 5 * count)]
        yield [(True, pieces), (False, pieces)]
    else:
        for r in range(count):
            yield [(kind == WRITES, [(first + 8 * r, first + 8 * r + 8)])]


def races(steps: Sequence[Step]) -> dict[tuple[str, str], int]:
    """Instructions that race, the later one first, and where the first of each two begins."""
    done = [1 if pipe == VECTOR else 0 for pipe in range(3)]
    known = [[1 if other == VECTOR else 0 for other in range(3)] for _ in range(3)]
    touched, wrote = np.zeros((3, BLOCKS), int), np.zeros((3, BLOCKS), int)
    kinds: list[dict[int, int]] = [{}, {}, {}]
    found: dict[tuple[str, str], int] = {}
    for step in steps:
        if step[0] in ORDERS:
            source, target = ORDERS[step[0]]
            told = [*known[source]]
            told[source] = done[source]
            known[target] = [max(pair) for pair in zip(known[target], told, strict=True)]
            continue
        pipe = PIPES[step[0]]
        for instruction in accesses(step):
            for writes, pieces in instruction:
                for other in range(3):
                    if other == pipe and (pipe == VECTOR or not writes):
                        continue  # in order
                    marks = (touched if writes and other != pipe else wrote)[other]
                    most = [int(marks[begin:end].max()) for begin, end in pieces]
                    if max(most) > known[pipe][other]:
                        begin = pieces[most.index(max(most))][0] * 32
                        earlier = NAMES[kinds[other][max(most)]]
                        found.setdefault((NAMES[step[0]], earlier), begin)
            done[pipe] += 1
            kinds[pipe][done[pipe]] = step[0]
            for writes, pieces in instruction:
                for begin, end in pieces:
                    touched[pipe, begin:end] = done[pipe]
                    if writes:
                        wrote[pipe, begin:end] = done[pipe]
        if step[0] in (READS, WRITES):
            done[VECTOR] += 1  # the end of the function
    return found


def program(seed: int) -> list[Step]:
    """Steps that often lie side by side, and sometimes on groups of blocks that marks share."""
    rng = np.random.default_rng(seed)
    unit = int(rng.choice([1, 8, 16]))
    steps: list[Step] = []
    for _ in range(int(rng.integers(4, 30))):
        if rng.random() < 0.5:
            steps.append((int(rng.choice([FIRST, SECOND, THIRD, BACK])), 0, 0, 0))
            continue
        kind = int(rng.choice([LOAD, STORE, READS, WRITES, REPEATS]))
        first = int(rng.integers(1024 // unit)) * unit
        count, stride = int(rng.integers(1, 65)), 0
        if kind == REPEATS:
            stride = int(rng.choice([5, 6, 8, 12]))
        elif kind in (LOAD, STORE):
            count = int(rng.integers(1, 65)) * int(rng.choice([1, 8]))
        steps.append((kind, first, count, stride))
    return steps


@pytest.mark.parametrize("seed", range(80))
def test_as_block_by_block(runtime: Runtime, kernel: Any, seed: int) -> None:
    """Races, and where the first of two lines begins, are those of a model without ranges."""
    steps = program(seed)
    got = {
        (found["at"]["instruction"], found["related"][0]["instruction"]): found["begin"]
        for found in findings(runtime, kernel, steps)
        if found["kind"].startswith("race") and found["space"] == "UB"
    }
    assert got == races(steps)


@pytest.mark.parametrize("place", [0, 1, 30, 31])
def test_one_piece_is_not_there(runtime: Runtime, kernel: Any, place: int) -> None:
    """Of the registers of one loop, one that a copy behind the flag brings."""
    steps = [(LOAD, 0, 256, 0), (FIRST, 0, 0, 0), (LOAD, 8 * place, 8, 0), (READS, 0, 32, 0)]
    found = [one for one in findings(runtime, kernel, steps) if one["severity"] == "error"]
    assert [(one["kind"], one["begin"]) for one in found[1:]] == [
        ("race-read-after-write", 256 * place)
    ]


@pytest.mark.parametrize("last", [False, True])
def test_a_flag_for_the_last_piece(runtime: Runtime, kernel: Any, last: bool) -> None:
    """Two flags of which the second one orders nothing but the last register of a loop."""
    steps = [(LOAD, 0, 248, 0), (FIRST, 0, 0, 0), (LOAD, 248, 8, 0), (SECOND, 0, 0, 0)]
    steps.append((READS, 0, 32 if last else 31, 0))
    hints = [one for one in findings(runtime, kernel, steps) if one["kind"] == "sync-redundant"]
    assert len([hint for hint in hints if "WaitFlag" in hint["detail"]]) == (0 if last else 1)
