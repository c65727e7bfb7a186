# SPDX-License-Identifier: Apache-2.0
"""The checks take rows of a copy as one access; they find what a look at each byte finds."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from instructions.bench import TO_DEVICE, Runtime, compile_kernel

pytestmark = pytest.mark.plants_faults

LOAD, STORE, BARRIER, SYNC_ALL, FORWARD = range(5)
WIDTH = 512
ROWS = 24
SIZE = WIDTH * ROWS
Finding = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """A copy of rows of the matrix, or what orders copies; core -1 is all of them."""

    core: int
    kind: int
    offset: int = 0
    length: int = 0
    count: int = 0
    step: int = 0

    @property
    def bytes(self) -> set[int]:
        """The bytes of the matrix that it touches."""
        rows = range(self.offset, self.offset + self.count * self.step, self.step or 1)
        return {at for row in rows for at in range(row, row + self.length)}


def tile(core: int, kind: int, rows: range, columns: range) -> Step:
    """A tile of the matrix."""
    return Step(core, kind, rows.start * WIDTH + columns.start, len(columns), len(rows), WIDTH)


@pytest.fixture(scope="module")
def kernel(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """rows.cpp."""
    path = compile_kernel(toolkit, tmp_path_factory.mktemp("rows"), "rows")
    return ctypes.CDLL(str(path)).rows


def findings(
    runtime: Runtime,
    kernel: Any,
    steps: Sequence[Step],
    undefined: Step | None = None,
    *,
    whole: bool = False,
) -> list[Finding]:
    """What the checks say of a program, on a matrix that was written before, but for some bytes;
    whole: the second matrix is to be written by it from end to end.
    """
    packed = np.array(
        [(s.core, s.kind, s.offset, s.length, s.count, s.step) for s in steps], np.int32
    )
    count = np.array([len(steps)], np.uint32)
    blocks = [(runtime.malloc(size), size) for size in (SIZE, SIZE, packed.nbytes, count.nbytes)]
    defined = np.ones(SIZE, bool)
    if undefined is not None:
        defined[sorted(undefined.bytes)] = False
    edges = np.flatnonzero(np.diff(np.concatenate(([False], defined, [False])).astype(np.int8)))
    zeros = np.zeros(SIZE, np.uint8)
    for begin, end in edges.reshape(-1, 2):
        runtime.copy(blocks[0][0] + int(begin), zeros.ctypes.data, int(end - begin), TO_DEVICE)
    for (address, size), array in zip(blocks[2:], (packed, count), strict=True):
        runtime.copy(address, array.ctypes.data, size, TO_DEVICE)
    if whole:
        runtime.expect_output(blocks[1][0], SIZE, 1, "to")
    runtime.lib.aclsimClearFindings()
    cores = max(step.core for step in steps) + 1
    runtime.enqueue("rows", kernel, runtime.stream, blocks, max(cores, 1))
    if runtime.lib.aclrtSynchronizeStream(runtime.stream) != 0:
        runtime.lib.aclrtDestroyStream(runtime.stream)
        runtime.stream = runtime.new_stream()
    found: list[Finding] = json.loads(runtime.lib.aclsimFindings().decode())
    for address, _ in blocks:
        runtime.free(address)
    return [finding for finding in found if finding["severity"] == "error"]


def races(steps: Sequence[Step], core: int) -> dict[str, int]:
    """Kinds of races of one core and where the first of each begins, byte by byte."""
    done = {LOAD: 0, STORE: 0}
    complete = dict(done)
    touched = {kind: np.zeros(SIZE, int) for kind in done}
    found: dict[str, int] = {}
    for step in steps:
        if step.core not in (core, -1):
            continue
        if step.kind in (BARRIER, SYNC_ALL):
            complete = dict(done)
            continue
        at = np.array(sorted(step.bytes))
        for other, clocks in touched.items():
            if LOAD in (step.kind, other) and step.kind == other:
                continue
            latest = clocks[at].max()
            if latest > complete[other]:
                words = {LOAD: "read", STORE: "write"}
                kind = f"race-{words[step.kind]}-after-{words[other]}"
                found.setdefault(kind, int(at[clocks[at] == latest].min()))
        done[step.kind] += 1
        touched[step.kind][at] = done[step.kind]
    return found


def conflict(steps: Sequence[Step]) -> bool:
    """Whether cores touch the same bytes between two meetings, one of them to write."""
    since: list[Step] = []
    for step in [*steps, Step(-1, SYNC_ALL)]:
        if step.kind == SYNC_ALL:
            for i, a in enumerate(since):
                for b in since[:i]:
                    if a.core != b.core and STORE in (a.kind, b.kind) and a.bytes & b.bytes:
                        return True
            since = []
        elif step.kind != BARRIER:
            since.append(step)
    return False


def program(seed: int) -> list[Step]:
    """Copies of two cores: mostly tiles of a few columns, some of them shifted, cut, dense or of
    other steps; barriers and meetings between.
    """
    rng = np.random.default_rng(seed)
    shifted, others, clear = rng.random(3) * (0.3, 0.3, 1)
    stripe = int(rng.choice([64, 96, 128]))
    steps = []
    for _ in range(int(rng.integers(4, 14))):
        core = int(rng.integers(2))
        kind = LOAD if rng.random() < 0.4 else STORE
        column = int(rng.integers(WIDTH // stripe)) * stripe
        if rng.random() < clear:  # each core has stripes of its own
            column = min((column // stripe // 2 * 2 + core) * stripe, WIDTH - stripe)
        first = int(rng.integers(ROWS - 1))
        count = int(rng.integers(1, min(ROWS - first, 8) + 1))
        if rng.random() < shifted:
            column = int(rng.integers(WIDTH - stripe))
        if rng.random() < others:
            length = int(rng.integers(1, 200))
            step = length + int(rng.choice([0, 1, 56, 128, WIDTH - length]))
            last = SIZE - step * (count - 1) - length
            if last > 0:
                steps.append(Step(core, kind, int(rng.integers(last)), length, count, step))
            continue
        steps.append(tile(core, kind, range(first, first + count), range(column, column + stripe)))
        if rng.random() < 0.3:
            steps.append(Step(core, BARRIER))
        if rng.random() < 0.1:
            steps.append(Step(-1, SYNC_ALL))
    return [*steps, Step(1, BARRIER)]


@pytest.mark.parametrize("seed", range(60))
def test_as_byte_by_byte(runtime: Runtime, kernel: Any, seed: int) -> None:
    """Races within a core and conflicts between cores are those of a model that knows no rows."""
    steps = program(seed)
    found = findings(runtime, kernel, steps)
    want = {**races(steps, 1), **races(steps, 0)}  # of the lowest core
    got: dict[str, int] = {}
    for finding in found:
        if finding["kind"].startswith("race") and finding["space"] == "GM":
            got.setdefault(finding["kind"], finding["begin"])
    assert got == want
    assert any(finding["kind"] == "gm-conflict" for finding in found) == conflict(steps)


LEFT, RIGHT = range(128), range(128, WIDTH)
ALL = range(ROWS)


def test_tiles_side_by_side(runtime: Runtime, kernel: Any) -> None:
    """Cores with columns of their own have nothing to do with each other."""
    steps = [tile(0, STORE, ALL, LEFT), tile(1, STORE, ALL, RIGHT), tile(1, STORE, ALL, RIGHT)]
    assert [found["kind"] for found in findings(runtime, kernel, steps)] == [
        "race-write-after-write"
    ]


@pytest.mark.parametrize("row", [0, 11, ROWS - 1])
def test_a_shared_byte(runtime: Runtime, kernel: Any, row: int) -> None:
    """One byte of one row that another core writes as well."""
    steps = [
        tile(0, STORE, ALL, LEFT),
        tile(1, STORE, ALL, RIGHT),
        tile(1, STORE, range(row, row + 1), range(127, 128)),
    ]
    (found,) = findings(runtime, kernel, steps)
    at = row * WIDTH + 127
    assert (found["kind"], found["begin"], found["end"]) == ("gm-conflict", at, at + 1)


@pytest.mark.parametrize("row", [0, 7, ROWS - 1])
@pytest.mark.parametrize("column", [0, 5, 127])
def test_an_undefined_byte(runtime: Runtime, kernel: Any, row: int, column: int) -> None:
    """One byte that nobody has written, on its way through a tile into an output."""
    hole = tile(0, LOAD, range(row, row + 1), range(column, column + 1))
    steps = [
        tile(0, LOAD, ALL, LEFT),
        Step(0, BARRIER),
        tile(0, FORWARD, ALL, LEFT),
        tile(0, LOAD, ALL, RIGHT),
        Step(0, BARRIER),
        tile(0, FORWARD, ALL, RIGHT),
    ]
    (found,) = findings(runtime, kernel, steps, hole, whole=True)
    assert found["kind"] == "undefined-read"
    assert f"reaches argument 1 at byte {hole.offset}" in found["detail"]
    assert findings(runtime, kernel, steps, whole=True) == []


def test_an_unwritten_row(runtime: Runtime, kernel: Any) -> None:
    """A row that no tile has."""
    steps = [
        tile(0, LOAD, ALL, LEFT),
        Step(0, BARRIER),
        tile(0, FORWARD, ALL, LEFT),
        tile(0, LOAD, range(ROWS - 1), RIGHT),
        Step(0, BARRIER),
        tile(0, FORWARD, range(ROWS - 1), RIGHT),
    ]
    (found,) = findings(runtime, kernel, steps, whole=True)
    begin = (ROWS - 1) * WIDTH + RIGHT.start
    assert (found["kind"], found["begin"], found["end"]) == ("output-unwritten", begin, SIZE)
