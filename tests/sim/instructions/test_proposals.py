# SPDX-License-Identifier: Apache-2.0
"""Region proposals of architectures 1001 and 2002 against a NumPy model, bit for bit."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from aclgrad.spec.soc import family
from instructions.bench import (
    AREA,
    DTYPES,
    FLOAT,
    HALF,
    HERE,
    Array,
    Bench,
    Call,
    KernelError,
    Runtime,
    area,
    compile_kernel,
)
from instructions.test_sort import after, order_of, scores_of

SCORE = 4


@pytest.fixture(scope="module")
def kernels(toolkit: Path, runtime: Runtime, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The kernels of proposals.cpp, compiled for 2002."""
    folder = tmp_path_factory.mktemp("proposals")
    path = compile_kernel(toolkit, folder, "proposals", soc="ascend310p")
    return Bench(runtime, {"proposals": ctypes.CDLL(str(path))})


@pytest.fixture
def bench(kernels: Bench) -> Iterator[Bench]:
    """The same on their SoC."""
    with kernels.runtime.options(soc="Ascend310P3"):
        yield kernels


def proposals_of(dtype: int, seed: int, scores: Array) -> Array:
    """Proposals with these scores and other fields that tell them apart."""
    made = np.random.default_rng(seed).normal(0, 8, (scores.size, 8)).astype(DTYPES[dtype])
    made[:, SCORE] = scores
    return made


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize("field", range(6))
def test_fields(bench: Bench, dtype: int, field: int) -> None:
    """One field goes in, and comes out; all other bytes stay."""
    dst = np.full(AREA, 0xA5, np.uint8)
    kind = np.dtype(DTYPES[dtype])
    for repeat in (1, 3, AREA // (128 * kind.itemsize)):
        values = scores_of(dtype, repeat, 16 * repeat)
        want = dst.copy()
        want[: 128 * repeat * kind.itemsize].view(kind).reshape(-1, 8)[:, field] = values
        call = Call(op=0, dtype=dtype, mode=field, repeat=repeat)
        assert (bench.run("proposals:proposals", call, dst, area(values)) == want).all()
        made = proposals_of(dtype, field, values)
        call = Call(op=1, dtype=dtype, mode=field, repeat=repeat)
        got = bench.run("proposals:proposals", call, dst, area(made))
        assert (got == after(dst, 0, np.ascontiguousarray(made[:, field]))).all()
    for op in (0, 1, 2):
        call = Call(op=op, dtype=dtype, mode=field, repeat=0)
        assert (bench.run("proposals:proposals", call, dst, dst) == dst).all()


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize("in_place", [False, True])
def test_sort(bench: Bench, dtype: int, in_place: bool) -> None:
    """Whole proposals move, 16 by 16; of equal scores the first stays first."""
    for repeat in (1, 2, 7):
        made = proposals_of(dtype, repeat, scores_of(dtype, repeat, 16 * repeat))
        order = np.concatenate(
            [start + order_of(made[start : start + 16, SCORE]) for start in range(0, len(made), 16)]
        )
        dst = area(made) if in_place else np.full(AREA, 0xA5, np.uint8)
        call = Call(op=3 if in_place else 2, dtype=dtype, repeat=repeat)
        got = bench.run("proposals:proposals", call, dst, area(made))
        assert (got == after(dst, 0, made[order].reshape(-1))).all()


@pytest.mark.parametrize("dtype", [FLOAT, HALF])
@pytest.mark.parametrize(
    ("valid", "lengths", "repeat"),
    [
        (15, (16, 16, 16, 16), 1),
        (15, (32, 32, 32, 32), 3),
        (7, (5, 40, 12, 0), 1),
        (3, (100, 1, 0, 0), 1),
        (15, (0, 7, 64, 3), 1),
    ],
)
def test_merge(bench: Bench, dtype: int, valid: int, lengths: tuple[int, ...], repeat: int) -> None:
    """Heads of the queues, the largest first; suspension ends with the first empty queue."""
    dst = np.full(AREA, 0xA5, np.uint8)
    rounds, stops = [], []
    source = []
    for r in range(repeat):
        queues = []
        for q, length in enumerate(lengths):
            made = proposals_of(dtype, q, scores_of(dtype, 10 * r + q, length))
            queues.append(made[order_of(made[:, SCORE])])
        source += queues
        flat = np.concatenate(queues)
        order = order_of(flat[:, SCORE])
        rounds.append(flat[order])
        owner = np.repeat(np.arange(4), lengths)[order]
        left = list(lengths[: valid.bit_length()])
        stop = 0
        while min(left) > 0:
            left[owner[stop]] -= 1
            stop += 1
        stops.append((stop, np.bincount(owner[:stop], minlength=4)))
    raw = area(np.concatenate(source).reshape(-1))
    call = Call(dtype=dtype, mode=valid, repeat=repeat, extra=lengths)
    got = bench.run("proposals:merge", call, dst, raw)
    assert (got == after(dst, 0, np.concatenate(rounds).reshape(-1))).all()
    if repeat > 1:
        return
    stop, shares = stops[0]
    want = after(dst, 0, rounds[0][:stop].reshape(-1))
    want = after(want, AREA - 32, shares.astype(np.uint32))
    call = Call(op=1, dtype=dtype, mode=valid, extra=lengths)
    assert (bench.run("proposals:merge", call, dst, raw) == want).all()


@pytest.mark.plants_faults
def test_fields_without_a_value(bench: Bench) -> None:
    """The scores of proposals may have values while their labels have none."""
    scores = scores_of(HALF, 3, 64)
    entry = bench.libraries["proposals"]["only_scores"]
    out = np.zeros(64, np.float16)
    (got,) = bench.runtime.launch(entry, [out, scores, Call(mode=SCORE).pack()])
    assert (got.view(np.uint16) == scores[order_of(scores)].view(np.uint16)).all()
    with pytest.raises(KernelError, match="undefined-read"):
        bench.runtime.launch(entry, [out, scores, Call(mode=5).pack()])


MISUSES = {
    "proposals:proposals": [
        (Call(op=0, dtype=HALF, mode=6), r"proposal-field(.|\n)*modeNumber 6"),
        (Call(op=1, dtype=HALF, mode=-1), r"proposal-field(.|\n)*modeNumber -1"),
        (Call(op=0, dtype=HALF, repeat=256), r"repeat-range(.|\n)*repeatTime 256"),
        (Call(op=1, dtype=HALF, repeat=129), r"ub-out-of-bounds(.|\n)*src covers bytes \[0, 33024"),
        (Call(op=0, dtype=FLOAT, repeat=65), r"ub-out-of-bounds(.|\n)*dst covers bytes \[0, 33280"),
        (Call(op=2, dtype=HALF, extra=(8,)), r"ub-misaligned(.|\n)*src"),
        (Call(op=3, dtype=HALF, repeat=2, extra=(128,)), r"overlap(.|\n)*dst at UB byte 0"),
    ],
    "proposals:merge": [
        (Call(mode=5, dtype=HALF, extra=(8, 8, 8, 8)), r"merge-queues(.|\n)*validBit 5"),
        (Call(mode=15, dtype=HALF, repeat=0, extra=(8, 8, 8, 8)), r"repeatTime 0, legal are 1"),
        (Call(mode=3, dtype=HALF, extra=(2000, 2000)), r"ub-out-of-bounds(.|\n)*src2"),
    ],
}  # fmt: skip


@pytest.mark.plants_faults
@pytest.mark.parametrize("kernel", MISUSES)
def test_misuse(bench: Bench, kernel: str) -> None:
    """Fields that do not exist, operands past their ends, misaligned or in each other's way."""
    zeros = np.zeros(AREA, np.uint8)
    for call, text in MISUSES[kernel]:
        with pytest.raises(KernelError, match=text):
            bench.run(kernel, call, zeros, zeros)


@pytest.mark.plants_faults
def test_other_cores(kernels: Bench) -> None:
    """910 has half only and no count of a suspended merge; a 910B has none of it."""
    zeros = np.zeros(AREA, np.uint8)
    with kernels.runtime.options(soc="Ascend910A"):
        made = proposals_of(HALF, 1, scores_of(HALF, 1, 16))
        got = kernels.run("proposals:proposals", Call(op=2, dtype=HALF), zeros, area(made))
        assert (got == after(zeros, 0, made[order_of(made[:, SCORE])].reshape(-1))).all()
        with pytest.raises(KernelError, match=r"RpSort16 has no float form on Ascend910A"):
            kernels.run("proposals:proposals", Call(op=2, dtype=FLOAT), zeros, zeros)
        with pytest.raises(KernelError, match="GetMrgSortResult does not exist on Ascend910A"):
            call = Call(op=1, dtype=HALF, mode=3, extra=(8, 8))
            kernels.run("proposals:merge", call, zeros, zeros)
    with (
        kernels.runtime.options(soc="Ascend910B2"),
        pytest.raises(KernelError, match="RpSort16 does not exist on Ascend910B2"),
    ):
        kernels.run("proposals:proposals", Call(op=2, dtype=HALF), zeros, zeros)


@pytest.mark.parametrize("soc", ["ascend910b", "ascend950"])
def test_newer_architectures_refuse(toolkit: Path, soc: str) -> None:
    """At compile time, by name."""
    arch = family(soc)
    command = ["g++", "-std=c++17", "-fsyntax-only", f"-I{toolkit}/include"]
    command += [f"-D__NPU_ARCH__={arch.npu_arch}", f"-D__CCE_AICORE__={arch.cce_aicore}"]
    done = subprocess.run(
        [*command, str(HERE / "proposals.cpp")], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    for name in ("ProposalConcat", "ProposalExtract", "RpSort16", "MrgSort4"):
        assert f"{name} exists on architectures 1001 and 2002 only" in done.stderr
