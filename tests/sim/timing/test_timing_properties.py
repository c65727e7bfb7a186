# SPDX-License-Identifier: Apache-2.0
"""What must hold for any kernel, whatever the constants of the timing model are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cycle_model
import validate
from aclgrad.profiling.estimate import before_us
from aclgrad.runtime import open_device
from board import APART, PING_PONG, BoardCase, Parameters
from chrome_trace import problems
from cycle_model import Tensor
from validate import RECORDED, Row, Runner, beyond, drifted, turned

A2, A5 = "Ascend910B1", "Ascend950PR_9589"
SOCS = [A2, A5, "Ascend910B4"]
MIB = 1 << 20
START = 10  # cycles between the starts of two cores


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    device = open_device("sim")
    kept = {name: device.option(name) or "" for name in ("soc", "mode", "autosync")}
    made = Runner(device, tmp_path_factory.mktemp("timing"))
    yield made
    for buffer in made.buffers.values():
        buffer.free()
    for name, value in kept.items():
        device.set_option(name, value)


def case(kernel: str, soc: str = A2, cores: int = 1, **words: int | tuple[int, ...]) -> BoardCase:
    """A launch on a few MiB."""
    parameters = replace(Parameters(), **words)  # type: ignore[arg-type]
    return BoardCase("", "", soc, kernel, cores, parameters, {}, 24 * MIB, 24 * MIB, 24 * MIB)


def cycles(runner: Runner, one: BoardCase, offset: int = 0) -> float:
    """The estimate of the whole launch, without the start of the kernel."""
    found = runner.profile(one, offset)
    return float(found["cycles"] - found["kernelStart"])


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("kernel", ["copy_in", "copy_out"])
@pytest.mark.parametrize("moves", [True, False], ids=["memory", "L2"])
@pytest.mark.parametrize("waits", [True, False])
def test_more_bytes_take_no_less(
    kernel: str, soc: str, moves: bool, waits: bool, runner: Runner
) -> None:
    took = [
        cycles(
            runner,
            case(
                kernel, soc, tile=size, times=8, shift=0 if waits else 1,
                stride=(size if moves else 0, 0),
            ),
        )
        for size in (32, 128, 512, 1024, 4096, 8192, 12288, 16384, 24576, 32768, 65536, 131072)
    ]  # fmt: skip
    assert took == sorted(took)


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("kernel", ["add_single", "add_double"])
def test_more_work_takes_longer(kernel: str, soc: str, runner: Runner) -> None:
    took = [
        cycles(runner, case(kernel, soc, 8, rows=rows, columns=8192, tile=8192))
        for rows in (8, 16, 64, 256)
    ]
    assert took == sorted(took)
    assert took[-1] > 3 * took[-2]


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("kernel", ["add_single", "add_double", "read_tiles"])
def test_more_cores_take_no_longer(kernel: str, soc: str, runner: Runner) -> None:
    counts = (1, 2, 4, 8, 16, 32)
    took = [
        cycles(runner, case(kernel, soc, cores, rows=512, columns=8192, tile=8192))
        for cores in counts
    ]
    for i in range(1, len(counts)):
        assert took[i] <= took[i - 1] + START * (counts[i] - counts[i - 1])


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("tile", [1024, 4096, 16256])
@pytest.mark.parametrize("cores", [1, 6, 40])
@pytest.mark.parametrize("bypass", [0, 1])
def test_double_buffering_is_no_slower(
    soc: str, tile: int, cores: int, bypass: int, runner: Runner
) -> None:
    words = {"rows": 480, "columns": 8192, "tile": tile, "bypass": bypass}
    single = cycles(runner, case("add_single", soc, cores, at=PING_PONG, **words))
    double = cycles(runner, case("add_double", soc, cores, at=PING_PONG, **words))
    assert double <= single * 1.001


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("kernel", ["copy_in", "copy_out"])
@pytest.mark.parametrize("size", [128, 4096, 65536])
def test_without_barriers_is_no_slower(soc: str, kernel: str, size: int, runner: Runner) -> None:
    words: dict[str, Any] = {"tile": size, "times": 20, "stride": (size, 0)}
    assert cycles(runner, case(kernel, soc, shift=1, **words)) <= cycles(
        runner, case(kernel, soc, shift=0, **words)
    )


def test_without_the_compilers_barriers_is_no_slower(runner: Runner) -> None:
    one = case("bank", times=20, at=(0, 0x10100, 0x20000, 0, 0, 0), stride=(1, 8))
    waits = cycles(runner, one)
    runner.device.set_option("autosync", "off")
    try:
        assert cycles(runner, one) < waits
    finally:
        runner.device.set_option("autosync", "on")


@pytest.mark.parametrize("soc", [A2, A5])
@pytest.mark.parametrize("kernel", ["add_double", "read_tiles", "read_same"])
def test_does_not_depend_on_where_tensors_lie(kernel: str, soc: str, runner: Runner) -> None:
    one = case(kernel, soc, 8, rows=1024, columns=4096, tile=2048, tile_rows=4)
    want = cycles(runner, one)
    for offset in (512, 7 * 512, MIB + 512):
        assert cycles(runner, one, offset) == want


def test_bank_conflicts_cost(runner: Runner) -> None:
    words = {"rows": 480, "columns": 8192, "tile": 16256}
    ugly, fine = (
        runner.profile(case("add_double", A2, 8, at=at, **words)) for at in (PING_PONG, APART)
    )
    assert ugly["conflictCycles"] > 0 == fine["conflictCycles"]
    assert ugly["cores"][0]["vec"] > 1.5 * fine["cores"][0]["vec"]


@pytest.mark.parametrize(
    ("at", "stride", "groups", "banks"),
    [
        ((0, 0x10100, 0x20000), (1, 8), 0, 0),
        ((0, 0x10000, 0x20100), (1, 8), 1, 0),  # sources in one group
        ((0, 0x10100, 0x04020), (1, 8), 0, 1),  # the result a block behind a source
        ((0, 0x10000, 0x04020), (1, 8), 1, 1),
        ((0, 0x10100, 0x20000), (16, 0), 1, 0),  # all blocks of an operand in one group
    ],
)
def test_conflicts_have_a_cause(
    at: tuple[int, ...], stride: tuple[int, int], groups: int, banks: int, runner: Runner
) -> None:
    found = runner.profile(case("bank", times=20, at=(*at, 0, 0, 0), stride=stride))
    (core,) = found["cores"]
    assert (core["bankGroupConflict"] > 0) == groups
    assert (core["bankConflict"] > 0) == banks
    assert core["conflict"] == core["bankGroupConflict"] + core["bankConflict"]


@pytest.mark.parametrize("soc", [A2, A5])
def test_nothing_beats_the_bound(soc: str, runner: Runner) -> None:
    for cores in (8, 48):
        found = runner.profile(case("add_double", soc, cores, rows=480, columns=8192, tile=8192))
        assert found["launchMicroseconds"] < found["boundMicroseconds"] <= found["microseconds"]


@pytest.mark.parametrize("shift", [0, 1], ids=["atomic", "SyncAll"])
def test_what_boards_do_not_tell_is_assumed(shift: int, runner: Runner) -> None:
    assert runner.profile(case("atomics", A2, 4, tile=64, shift=shift))["evidence"] == "assumed"
    assert runner.profile(case("copy_in", A2, 4, tile=64))["evidence"] != "assumed"


@pytest.mark.parametrize("cores", [1, 8])
def test_loads_overlap_the_wait_for_other_cores(cores: int, runner: Runner, tmp_path: Path) -> None:
    after, between, never = (
        runner.profile(case("rounds", A2, cores, tile=32768, times=4, shift=shift))
        for shift in range(3)
    )
    load = (after["cycles"] - never["cycles"]) / 4
    assert load > 500
    # The load ends while the core waits.
    assert between["cycles"] <= never["cycles"] + 0.1 * load
    assert between["evidence"] == "assumed"
    for found in (after, between, never):
        assert all(core["scalarWait"] >= 4 * 1000 for core in found["cores"])
    runner.device.write_trace(0, [0], tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert problems(events) == []
    flags = [(event["name"], event["tid"]) for event in events if event.get("ph") == "B"]
    assert sorted(flags) == [("SET_FLAG", "MTE3")] * 4 + [("WAIT_FLAG", "SCALAR")] * 4


WAYS_TO_WAIT = {
    "IBWait": case("chain", A2, 48, shift=0, times=640),
    "WaitPreBlock": case("chain", A2, 48, shift=1, times=640),
    "past the cache": case("chain", A2, 48, shift=2, times=640),
    "through the cache": case("chain", A2, 48, shift=4, times=640),
    "by copies": case("chain", A2, 48, shift=5, times=640),
    "by a queue": case("chain_by_queue", A2, 48, times=640),
}
each_way_to_wait = pytest.mark.parametrize("way", WAYS_TO_WAIT)


@each_way_to_wait
def test_cores_that_wait_for_each_other_take_turns(way: str, runner: Runner) -> None:
    words = {"times": 640}
    one = cycles(runner, case("chain", A2, 1, shift=3, **words))
    together = cycles(runner, case("chain", A2, 48, shift=3, **words))
    found = runner.profile(WAYS_TO_WAIT[way])
    assert one > 40_000
    assert together < 1.1 * one
    assert 48 * one < found["cycles"] - found["kernelStart"] < 50 * one
    # Named, but of 41,500 cycles each core's marks are no twentieth.
    assert ("assumed" in found["grounds"]) == (way not in ("by copies", "by a queue"))
    assert found["evidence"] == "board"
    ends = [core["cycles"] for core in found["cores"]]
    assert ends == sorted(ends)


@each_way_to_wait
def test_how_often_a_core_looks_is_the_hosts_affair(way: str, runner: Runner) -> None:
    """One host thread runs core after core, and none has to look twice; with eight they spin."""
    before = runner.device.option("threads") or ""
    try:
        runner.device.set_option("threads", "1")
        want = runner.profile(WAYS_TO_WAIT[way])
        runner.device.set_option("threads", "8")
        found = runner.profile(WAYS_TO_WAIT[way])
    finally:
        runner.device.set_option("threads", before)
    if way == "by a queue":
        # Which buffer comes next depends on how often it has looked.
        assert found["cycles"] == pytest.approx(want["cycles"], rel=1e-3)
        assert found["evidence"] == want["evidence"]
    else:
        assert found == want


@pytest.mark.parametrize("times", [0, 30_000])
def test_scalar_code_is_not_silently_free(times: int, runner: Runner) -> None:
    """30 million additions and multiplications, or none."""
    found = runner.profile(case("scalar_loop", times=times, tile=3))
    assert found["uncounted"] == (times > 0)
    assert (found["grounds"].get("assumed") == ["scalar code"]) == (times > 0)
    assert (found["evidence"] == "assumed") == (times > 0)


def sensitivity(runner: Runner, one: BoardCase) -> dict[str, tuple[float, float]]:
    """Ratios of a launch's time, without its start, by cost: halved, doubled."""
    runner.device.set_option("sensitivity", "on")
    try:
        found = runner.profile(one)
    finally:
        runner.device.set_option("sensitivity", "off")
    start = before_us(found)
    us = found["microseconds"] - start
    return {
        row["cost"]: ((row["halved"] - start) / us, (row["doubled"] - start) / us)
        for row in found["sensitivity"]
    }


def test_sensitivity_finds_what_decides(runner: Runner) -> None:
    vector = sensitivity(runner, case("gather", times=160))
    for name in ("all vector instructions", "Gather"):
        halved, doubled = vector[name]
        assert halved < 0.75
        assert doubled > 1.5
    for name, (halved, doubled) in vector.items():
        if "(" in name and "Cycles" not in name:  # costs of copies and of cores that wait
            assert (halved, doubled) == pytest.approx((1, 1), abs=1e-3), name
    turns = sensitivity(runner, case("stores", A2, 48, tile=8, times=20))
    assert turns["a line's turn (lineTurn)"] == pytest.approx((0.5, 2), rel=0.1)
    waits = sensitivity(runner, case("rounds", A2, 8, tile=32768, times=4, shift=2))
    halved, doubled = waits["SyncAll and flags between cores (meet)"]
    assert halved == pytest.approx(0.5, abs=0.2)
    assert doubled - 1 == pytest.approx(2 * (1 - halved), rel=1e-3)


@pytest.mark.parametrize("soc", [A2, A5])
def test_a_block_of_a_copy_takes_a_cycle(soc: str, runner: Runner) -> None:
    blocks = {"rows": 8192, "columns": 16, "tile_rows": 2048}
    assert cycles(runner, case("read_tiles", soc, tile=2, **blocks)) >= 8192
    assert cycles(runner, case("read_tiles", soc, tile=4, **blocks)) >= 8192


@pytest.mark.parametrize("shift", [0, 1], ids=["stores", "atomic"])
def test_stores_into_one_line_take_turns(shift: int, runner: Runner) -> None:
    words = {"tile": 8, "times": 50, "shift": shift}
    apart = cycles(runner, case("stores", A2, 48, stride=(512, 0), **words))
    beside, same = (
        cycles(runner, case("stores", A2, 48, stride=(step, 0), **words)) for step in (32, 0)
    )
    assert same > 10 * apart
    assert beside > 3 * apart  # 16 cores each in three lines


def test_rows_to_be_turned_in_one_bank_group_take_longer(runner: Runner) -> None:
    crowded, spread = (
        cycles(runner, case("turn_rows", times=100, stride=(step, 0))) for step in (512, 544)
    )
    assert crowded - spread == 100 * 14
    halves = cycles(runner, case("turn_rows", times=100, stride=(64, 0)))
    assert halves == spread  # two blocks of a group in two cycles


def test_the_scalar_pipe_waits_for_no_more_than_the_kernel_says(runner: Runner) -> None:
    """The compiler's own wait is for all copies before it, if the kernel has none."""
    waits, compiler, alone = (
        cycles(runner, case("read_early", tile=131072, shift=shift, times=times))
        for shift, times in ((1, 40), (0, 40), (1, 0))
    )
    work = 40 * 4096 / 64
    assert compiler > alone + 0.9 * work
    assert waits < alone + 0.1 * work


def test_a_gather_takes_as_long_as_its_results(runner: Runner) -> None:
    """The table that it reads from may be much longer."""
    few, many = (cycles(runner, case("gather", times=times)) for times in (1, 41))
    assert 12 <= (many - few) / 40 <= 13


def test_a_cleaned_line_is_read_again(runner: Runner) -> None:
    kept, cleaned = (
        runner.profile(case("read_line", tile=0, shift=shift, times=20)) for shift in range(2)
    )
    assert cleaned["cycles"] > kept["cycles"] + 19 * 200
    assert (kept["evidence"], cleaned["evidence"]) != ("assumed", "board")
    assert cleaned["evidence"] == "assumed"


def test_drift_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = case("bank")
    rows = [Row(one, "aiv", 100.0, 103.0), Row(one, "vec", 10.0, 10.0)]
    recorded = tmp_path / RECORDED.name
    monkeypatch.setattr("validate.RECORDED", recorded)
    recorded.write_text(f'{{"{rows[0].key}": 2.5, "{rows[1].key}": 1.5, "gone": 0}}')
    lines = drifted(rows)
    assert len(lines) == 2
    assert rows[1].key in lines[0]
    assert lines[1].startswith("gone")


def test_errors_beyond_their_band_are_noticed() -> None:
    """Of whole launches: what a pipe does while it waits is no time that an estimate states."""
    bank, copy = case("bank"), replace(case("read_tiles"), group="copy fp16")
    rows = [
        Row(bank, "aiv", 100.0, 117.0, "vector", 20.0),
        Row(bank, "task", 100.0, 79.0, "vector", 20.0),
        Row(bank, "mte3", 100.0, 30.0, "vector", 20.0),
        Row(copy, "mte2", 100.0, 60.0, "l2", 35.0),
    ]
    lines = beyond(rows)
    assert [line.partition(":")[0] for line in lines] == [rows[1].key, rows[3].key]


@pytest.mark.parametrize(
    ("first", "second", "undecided", "wrong"),
    [
        (90.0, 100.0, True, 1),  # it says that it cannot tell, and yet ranks them
        (100.0, 100.0, True, 0),
        (100.0, 100.0, False, 1),
        (120.0, 100.0, False, 0),
    ],
)
def test_variants_are_ranked_or_left_open(
    first: float, second: float, undecided: bool, wrong: int
) -> None:
    one = replace(case("bank"), group="banks")
    rows = [
        Row(replace(one, name=name), "inside", board, model, undecided=undecided)
        for name, board, model in (("slow", 120.0, first), ("fast", 100.0, second))
    ]
    assert len(turned(rows)) == wrong


def test_scratch_takes_no_time_and_types_nobody_has_timed_are_named(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    softmax = next(one for one in cycle_model.kernels() if one.name == "SoftMax")
    more = replace(softmax, name="More", rooms=[Tensor("uint8_t", 65536)])
    adds = [
        replace(
            softmax,
            name=name,
            into=[tensor],
            out=[tensor],
            rooms=[],
            call="Adds(z0, x0, x0.GetValue(0), n)",
        )
        for name, tensor in (("Real", Tensor("float", 64)), ("Whole", Tensor("int32_t", 64)))
    ]
    monkeypatch.setattr(validate, "SOURCES", {"950": ()})
    monkeypatch.setattr(cycle_model, "kernels", lambda: [softmax, more, *adds])
    own = Runner(runner.device, tmp_path)
    try:
        found = [own.profile(case(one.symbol, cycle_model.SOC)) for one in (softmax, more, *adds)]
    finally:
        for buffer in own.buffers.values():
            buffer.free()
    assert found[0]["cycles"] == found[1]["cycles"]
    named = ["Adds of int32_t" in words["grounds"].get("assumed", []) for words in found]
    assert named == [False, False, False, True]
