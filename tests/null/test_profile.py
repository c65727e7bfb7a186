# SPDX-License-Identifier: Apache-2.0
"""What is derived from a profile: the bound, the error band, advice; on numbers made by hand."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from aclgrad.cli import profile as cli_profile
from aclgrad.cli.profile import sweep_shapes
from aclgrad.profiling.advice import advise, below_error, decides, excess
from aclgrad.profiling.estimate import bandwidth_bound, bound_by, estimate
from aclgrad.profiling.profiled import Profiled, ProfileError, from_json
from aclgrad.profiling.request import Request, other, parse_cores
from aclgrad.profiling.text import facts, warnings

CORES = 4
CYCLES = 100_000.0


def core(index: int) -> dict[str, Any]:
    """A core that copies all the time and computes half of it."""
    return {
        "block_id": index, "start": 0.0, "cycles": CYCLES,
        "scalar": 5e3, "vec": 5e4, "mte2": 9.8e4, "mte3": 3e4,
        "scalarWait": 9e4, "vecWait": 4e4, "mte2Wait": 0.0, "mte3Wait": 6e4, "vecDrain": 1e3,
        "conflict": 0.0, "bankGroupConflict": 0.0, "bankConflict": 0.0,
        "readBytes": 6_400_000, "writeBytes": 3_200_000, "reads": 100,
        "writes": 50, "blocks": 150, "unalignedBlocks": 0, "steps": 1000,
        "queue": 0.0, "cold": 0.0,
    }  # fmt: skip


def kernel(**changes: Any) -> dict[str, Any]:
    """A launch that is bound by memory, without a fault; changes to all cores by core_<name>."""
    found: dict[str, Any] = {
        "op": "Some", "soc": "Ascend910B2", "npuArch": 2201, "blockDim": CORES, "tilingKey": 0,
        "tiling": "", "cycles": CYCLES, "microseconds": 103.0, "launchMicroseconds": 3.0,
        "kernelStart": 0.0,
        "mhz": 1000, "memoryBytesPerCycle": 270.0, "l2BytesPerCycle": 1000.0,
        "l2Capacity": 1_000_000_000, "writeBack": 1.5, "earlyWriteBack": 0.0,
        "memoryBytes": 25_600_000, "l2Bytes": 38_400_000,
        "readBytes": 25_600_000, "hitBytes": 0, "gmReadBytes": 25_600_000,
        "gmWriteBytes": 12_800_000, "conflictCycles": 0.0, "vectorBytes": 100_000_000,
        "alignment": 512, "ubPeakBytes": 100_000, "ubBytes": 196_352, "vecCores": CORES,
        "evidence": "board", "socEvidence": "board", "band": [0.1, 0.15, 0.3], "assumed": [],
        "uncounted": False, "rowSums": 0.0, "grounds": {"board": ["Mul"]}, "shown": [0],
        "cores": [core(index) for index in range(CORES)], "instructions": [],
    }  # fmt: skip
    for name, value in changes.items():
        if name.startswith("core_"):
            for each in found["cores"]:
                each[name.removeprefix("core_")] = value
        else:
            assert name in found
            found[name] = value
    return found


LINES = [
    {"code": "k.h:1", "text": "DataCopy(a, b);", "addr": "0x1", "instruction": "DataCopy (in)",
     "pipe": "MTE2", "waits": False, "count": 400, "cycles": 3.9e5, "issue": 2e3,
     "bytes": 25_600_000, "blocks": 400, "unaligned": 0},
    {"code": "k.h:2", "text": "Mul(a, b, c);", "addr": "0x2", "instruction": "Mul",
     "pipe": "VECTOR", "waits": False, "count": 400, "cycles": 2e5, "issue": 2e3, "bytes": 0,
     "blocks": 0, "unaligned": 0},
    {"code": "k.h:3", "text": "PipeBarrier<PIPE_V>();", "addr": "0x3", "instruction": "PipeBarrier",
     "pipe": "VECTOR", "waits": True, "count": 400, "cycles": 1e5, "issue": 1e3, "bytes": 0,
     "blocks": 0, "unaligned": 0},
    {"code": "k.h:4", "text": "x = t.GetValue(0);", "addr": "0x4", "instruction": "GetValue",
     "pipe": "SCALAR", "waits": False, "count": 400, "cycles": 4e3, "issue": 0, "bytes": 0,
     "blocks": 0, "unaligned": 0},
    {"code": "k.h:5", "text": "DataCopy(b, a);", "addr": "0x5", "instruction": "DataCopy (out)",
     "pipe": "MTE3", "waits": False, "count": 200, "cycles": 1.2e5, "issue": 1e3,
     "bytes": 12_800_000, "blocks": 200, "unaligned": 0},
]  # fmt: skip


def profiled(
    *launches: dict[str, Any], lines: Any = LINES, changes: Any = (), floor: int = 12_800_000
) -> Profiled:
    """A call whose floor is what the clean launch moves, or less."""
    return Profiled(
        "some", "4x4", "fp32", "Ascend910B2", list(launches), 2 * floor, floor,
        copy.deepcopy(lines), changes=list(changes),
    )  # fmt: skip


def change(rule: str, us: float, **more: Any) -> dict[str, Any]:
    """What the model says of one change."""
    place = {**LINES[1], "weight": 1e5}
    return {"rule": rule, "microseconds": us, "places": [place, place], **more}


FAR = 1_000_000
"""A floor that the bandwidth bound is far from."""


def test_bandwidth_bound() -> None:
    """The definition of docs/profiling.md, by hand."""
    some = kernel(mhz=1000, memoryBytesPerCycle=100.0, l2BytesPerCycle=400.0, l2Capacity=1_500_000)
    # Reads alone: 2 MB at 100 bytes a cycle of a nanosecond.
    assert bandwidth_bound(some, 2_000_000, 1_000_000) == pytest.approx(3 + 20)
    # L2 holds 1.5 of the 2 MB that are written; the rest may go past it.
    assert bandwidth_bound(some, 4_000_000, 2_000_000) == pytest.approx(3 + 40 + 5)
    # A tenth of what it holds goes to memory at once.
    early = {**some, "earlyWriteBack": 0.1}
    assert bandwidth_bound(early, 2_000_000, 1_000_000) == pytest.approx(3 + 20 + 1)
    assert bandwidth_bound(early, 4_000_000, 2_000_000) == pytest.approx(3 + 40 + 1.5 + 5)
    # Few reads, many writes that stay in L2: its own bandwidth counts.
    assert bandwidth_bound(some, 0, 1_000_000) == pytest.approx(3 + 2.5)
    assert bandwidth_bound(some, 0, 0) == 3


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({}, "memory"),
        ({"memoryBytes": 1e6, "l2Bytes": 8e7}, "l2"),
        ({"memoryBytes": 1e6}, "mte2"),
        ({"memoryBytes": 1e6, "core_mte2": 1e4, "core_vec": 9e4}, "vector"),
        ({"memoryBytes": 1e6, "core_mte2": 1e4, "core_scalar": 9e4}, "scalar"),
        ({"memoryBytes": 1e6, "core_mte2": 1e4, "core_mte3": 9e4}, "mte3"),
        ({"memoryBytes": 1e6, "core_mte2": 4e4}, "waits"),
        ({"microseconds": 5.0}, "launch"),
        ({"microseconds": 110.0, "kernelStart": 6e4}, "launch"),
        ({"core_vec": 9.4e4}, "memory"),
        ({"core_vec": 9.7e4}, "vector"),
    ],
)
def test_bound_by(changes: dict[str, Any], key: str) -> None:
    assert bound_by(kernel(**changes)).key == key


def uneven(**changes: Any) -> dict[str, Any]:
    found = kernel(**changes)
    for each in found["cores"][1:]:
        each["cycles"] = CYCLES / 2
    return found


def test_uneven_cores() -> None:
    some = uneven(memoryBytes=1e6)
    assert bound_by(some).key == "imbalance"
    assert [item.rule for item in advise(profiled(some, floor=FAR))][0] == "imbalance"


def test_what_no_rule_decides_is_named() -> None:
    rows = [
        {"name": "vector function", "pipe": "VECTOR", "count": 1, "cycles": 6e4},
        {"name": "Mul", "pipe": "VECTOR", "count": 1, "cycles": 3e4},
        {"name": "DataCopy", "pipe": "MTE2", "count": 1, "cycles": 9e9},
    ]
    bound = {"memoryBytes": 1e6, "core_mte2": 1e4, "core_vec": 9e4}
    functions = kernel(instructions=rows, **bound)
    assert estimate([functions]).evidence == "not decided"
    assert profiled(functions).rests_on("not decided")[0].startswith("vector functions (order")
    assert estimate([kernel(instructions=rows)]).evidence == "board"  # memory decides
    rows[1]["cycles"] = 7e4
    assert estimate([kernel(instructions=rows, **bound)]).evidence == "board"
    assert estimate([kernel(rowSums=0.2, **bound)]).evidence == "not decided"
    assert estimate([kernel(rowSums=0.05, **bound)]).evidence == "board"


def test_band_follows_the_bound_and_the_evidence() -> None:
    bandwidth = estimate([kernel()])
    assert (bandwidth.low, bandwidth.high) == pytest.approx((103 * 0.85, 103 * 1.15))
    vector = estimate([kernel(memoryBytes=1e6, core_mte2=1e4, core_vec=9e4)])
    assert vector.high == pytest.approx(103 * 1.1)
    short = estimate([kernel(microseconds=5.0)])
    assert (short.low, short.high) == (3.0, 7.0)
    # Memory to 95 %; the vector pipe as near as a small error, or nearer.
    assert estimate([kernel(band=[0.2, 0.15, 0.3], core_vec=8e4)]).high == pytest.approx(103 * 1.15)
    assert estimate([kernel(band=[0.2, 0.15, 0.3], core_vec=9e4)]).high == pytest.approx(103 * 1.2)
    rows = estimate([kernel(rowSums=0.2, core_vec=9e4)])
    assert (rows.low, rows.high) == pytest.approx((103 * 0.85, 3 + 2 * 90))
    assert estimate([kernel(rowSums=0.05, core_vec=9e4)]).high == pytest.approx(3 + 1.5 * 90)
    assert estimate([kernel(rowSums=0.2, core_vec=4e4)]).high == pytest.approx(103 * 1.15)
    assumed = estimate([kernel(assumed=["Odd"])])
    assert assumed.high == pytest.approx(103 * 1.5)
    assert assumed.evidence == "assumed"
    partly = estimate([kernel(evidence="extrapolated")])
    assert not partly.ranking_only
    assert partly.high == pytest.approx(103 * 1.5)
    ranked = estimate([kernel(evidence="extrapolated", socEvidence="extrapolated")])
    assert ranked.ranking_only
    assert "extrapolated: ranking only" in ranked.words
    assert estimate([kernel(), kernel()]).us == pytest.approx(206)


def test_what_is_assumed_is_named() -> None:
    """Never a silent zero: the name, what was assumed instead, what to do."""
    (odd,) = warnings(profiled(kernel(assumed=["Odd"], grounds={"assumed": ["Odd"]})))
    assert odd.startswith("Odd: no cost is known; assumed four dependent instructions")
    assert "Next: " in odd
    grounds = {"board": ["Mul"], "extrapolated": ["Exp", "Sin"]}
    partly = profiled(kernel(evidence="extrapolated", grounds=grounds))
    (borrowed,) = warnings(partly)
    assert "no cost of this architecture is known for Exp, Sin; assumed A2's cycles" in borrowed
    assert ("evidence", "extrapolated: Exp, Sin; all other costs are known better") in facts(partly)
    grounds = {"fitted": ["Sum"], "assumed": ["SyncAll"]}
    mixed = profiled(kernel(evidence="fitted", grounds=grounds))
    words = "fitted: Sum; known less, but no twentieth of the time: SyncAll"
    assert ("evidence", words) in facts(mixed)
    left_out = profiled(kernel(uncounted=True))
    assert "the estimate has nothing" in warnings(left_out)[0]
    assert left_out.estimate.high == pytest.approx(103 * 1.5)
    half = kernel(gmReadBytes=12_800_000)
    assert "the kernel leaves some of them alone" in warnings(profiled(half))[0]
    assert warnings(profiled(kernel())) == []


def test_nothing_to_advise() -> None:
    assert advise(profiled(kernel())) == []


@pytest.mark.parametrize(
    ("rule", "changes", "where"),
    [
        ("launch", {"microseconds": 5.0}, ""),
        ("unaligned", {"core_unalignedBlocks": 150}, "k.h:1"),
        (
            "bank-conflicts",
            {"conflictCycles": 1e5, "memoryBytes": 1e6, "core_mte2": 1e4, "core_vec": 9.5e4},
            "k.h:2",
        ),
        ("idle-cores", {"vecCores": 48, "memoryBytes": 1e6}, ""),
        (
            "barriers",
            {"core_vecDrain": 4e4, "core_vec": 9.5e4, "core_mte2": 1e4, "memoryBytes": 1e6},
            "k.h:3",
        ),
    ],
)
def test_advice(rule: str, changes: dict[str, Any], where: str) -> None:
    """Each fault leads to its own advice first, and names the line."""
    lines = copy.deepcopy(LINES)
    lines[0]["unaligned"] = 400 if "core_unalignedBlocks" in changes else 0
    given = advise(profiled(kernel(**changes), lines=lines, floor=FAR))
    assert given == sorted(given, key=lambda item: -item.gain)
    first = given[0]
    assert first.rule == rule
    assert first.where.startswith(where)
    assert 0 < first.gain <= 1


def test_no_gain_beyond_the_bound() -> None:
    """What is at the bandwidth bound has nothing to gain from aligned copies."""
    lines = [{**LINES[0], "unaligned": 400}]
    far = profiled(kernel(core_unalignedBlocks=150), lines=lines, floor=FAR)
    assert advise(far)[0].gain > 0.2
    assert advise(profiled(kernel(core_unalignedBlocks=150), lines=lines)) == []


CHANGES = [
    change("tiles", 60.0, factor=2, bytes=64, turns=9, scattered=False),
    change("tiles", 50.0, factor=4, bytes=64, turns=9, scattered=False),
    change("rows", 80.0),
    change("fold", 81.0),
    change("casts", 82.0),
    change("scalar", 83.0),
    change("registers", 84.0),
    change("depth", 85.0, bytes=64, queues=["inX"]),
    change("traffic", 100.0, bytes=64, tensor="x"),
]


def test_changes_become_advice() -> None:
    """The best of each rule, what saves most first, nothing within the model's error of 15 %."""
    found = profiled(kernel(gmReadBytes=51_200_000), changes=CHANGES)
    given = advise(found)
    rules = ["tiles", "rows", "fold", "casts", "scalar", "registers", "depth"]
    assert [item.rule for item in given] == rules
    assert given[0].gain == pytest.approx(1 - 50 / 103)
    assert "4 times as much" in given[0].text
    assert {item.where for item in given} == {"k.h:2  Mul(a, b, c);"}
    assert [item.rule for item in below_error(found)] == []
    assert excess(found) == "; most again: x at k.h:2  Mul(a, b, c);"
    assert excess(profiled(kernel(), changes=CHANGES)) == ""
    unsure = profiled(kernel(assumed=["Odd"]), changes=CHANGES)
    assert [item.rule for item in advise(unsure)] == ["tiles"]
    assert [item.rule for item in below_error(unsure)] == rules[1:]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "DataCopy (in): 67% of the bytes; k.h:1  DataCopy(a, b);"),
        (
            {"memoryBytes": 1e6, "core_mte2": 1e4, "core_vec": 9e4},
            "Mul: 50% of the time, VECTOR; k.h:2  Mul(a, b, c);",
        ),
        (
            {"memoryBytes": 1e6, "core_mte2": 1e4, "core_scalar": 9e4},
            "GetValue: 1% of the time, SCALAR; k.h:4  x = t.GetValue(0);",
        ),
        (
            {"memoryBytes": 1e6, "core_mte2": 4e4},
            "PipeBarrier: 25% of the time, VECTOR waits there; k.h:3  PipeBarrier<PIPE_V>();",
        ),
    ],
)
def test_what_decides(changes: dict[str, Any], words: str) -> None:
    """The line that the kernel's bound comes from, or its busiest pipe's longest wait."""
    assert decides(profiled(kernel(**changes))) == words


def test_sweep_shapes() -> None:
    assert sweep_shapes("4096x128,4096x1024") == ["4096x128", "4096x1024"]
    assert sweep_shapes("8..32x4") == ["8x4", "16x4", "32x4"]
    assert sweep_shapes("8..33") == ["8", "16", "32"]
    for wrong in ("", "4x", "0x4", "8..4", "2x1..9x1..99999999999", "x"):
        with pytest.raises(ValueError, match=r"--sweep .*(e\.g\.)"):
            sweep_shapes(wrong)


def test_compare_words() -> None:
    some = Request("softmax_grad", ("4x4",), "fp32", "Ascend910B2")
    assert other(some, "dtype=fp16").dtype == "fp16"
    assert other(some, "soc=Ascend910B4").soc == "Ascend910B4"
    assert other(some, "shape=8x8").shapes == ("8x8",)
    assert other(some, "dim=0").dim == 0
    assert other(some, "scale=2").attrs == ("scale=2",)
    both = Request("x", ("4x4",), "fp32", "Ascend910B2", ("scale=1", "dim=1"))
    assert other(both, "scale=2").attrs == ("dim=1", "scale=2")
    assert (other(both, "dim=0").attrs, other(both, "dim=0").dim) == (("scale=1",), 0)
    assert other(some, "log_softmax_grad").word == "log_softmax_grad"
    with pytest.raises(ValueError, match="want a number"):
        other(some, "cores=many")


def test_core_lists() -> None:
    assert parse_cores("0,5,0") == (0, 5)
    with pytest.raises(ValueError, match="--cores"):
        parse_cores("0-5")


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "[" * 100_000, '{"name": 1}', "\0",
        json.dumps({"name": "x", "shape": "1", "dtype": "fp32", "soc": "s", "launches": [],
                    "readFloorBytes": 0, "writeFloorBytes": 0, "lines": [], "note": "",
                    "floors": []}),
        json.dumps({"name": "x", "shape": "1", "dtype": "fp32", "soc": "s", "launches": [{}],
                    "readFloorBytes": "1", "writeFloorBytes": None, "lines": [1], "note": 5,
                    "floors": [[1, 2]]}),
    ],
)  # fmt: skip
def test_saved_profiles_of_anybody(text: str, tmp_path: Path) -> None:
    """An error with the next step, whatever the file holds."""
    path = tmp_path / "saved.json"
    path.write_text(text)
    with pytest.raises(ProfileError, match="Next: aclgrad profile"):
        cli_profile._check_saved(from_json(path), str(path))
