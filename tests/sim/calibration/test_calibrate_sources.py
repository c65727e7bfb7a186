# SPDX-License-Identifier: Apache-2.0
"""``aclgrad calibrate`` by each source of times: events, msprof's summary, the core's counter. A
simulator with other costs plays the board.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from aclgrad.errors import ToolkitError
from aclgrad.profiling.calibration import measure, msprof, register
from aclgrad.profiling.calibration.board import AS_MODELLED, DIFFERS
from aclgrad.profiling.calibration.fit import Fit, Fitted
from aclgrad.profiling.calibration.probes import EMPTY, plan
from aclgrad.profiling.calibration.runner import Answer, Launch, Model, Overlay
from aclgrad.profiling.calibration.sources import (
    COUNTER,
    DISAGREE,
    EVENTS,
    MSPROF,
    TICKS,
    Clock,
    ticks_of,
)
from sanitizers import RUNS_CMAKE

pytestmark = RUNS_CMAKE

SOC, ARCH = "Ascend910B2", 2201
HIDDEN = {
    "scalar.issue": 0.7,
    "scalar.sync": 1.6,
    "vector.leastCycles": 1.3,
    "copies.2201.readLatency": 1.4,
    "instructions.2201.vadd.repeat32": 1.5,
    "instructions.2201.vexp.repeat16": 0.6,
    "instructions.2201.vcadd.wait": 1.8,
    "instructions.2201.vmrgsort4.repeat32": 1.3,
}
FACTS = next(row for row in register.socs() if row["name"] == SOC)
COSTS = [cost for cost in register.costs(SOC, ARCH, FACTS["l2Bytes"]) if cost.id in HIDDEN]
TIMINGS = plan(FACTS["vecCores"], FACTS["l2Bytes"], FACTS["ubTilingBytes"]).timings
LAUNCHES = list(
    {
        launch.name: launch
        for cost in COSTS
        for launch in (*TIMINGS[cost.probe or ""].launches, EMPTY)
    }.values()
)
TRUE = {cost.id: cost.value * HIDDEN[cost.id] for cost in COSTS}
Board = Mapping[str, Answer]


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(SOC)


@pytest.fixture(scope="module")
def board(model: Model) -> Board:
    """Each launch once: events and ticks."""
    answers = model.run(LAUNCHES, Overlay(TRUE))
    return {name: replace(one, durations=()) for name, one in answers.items()}


def noisy(board: Board, us: float) -> Board:
    """Events as a busy host makes them: later by what it takes to launch, and uneven."""
    rng = random.Random(1)
    return {
        name: replace(
            one,
            times=tuple(one.times[0] + 7 + rng.uniform(-us, us) for _ in range(9)),
            ticks=one.ticks * 9,
        )
        for name, one in board.items()
        if one.times
    }


def summary(board: Board, folder: Path, *, slow: str = "", factor: float = 1.0) -> Path:
    """A folder as msprof leaves it, where a kernel takes longer by a factor."""
    lines = ["Op Name,OP Type,Task Start Time(us),Task Duration(us)", "x,Cast,0.5,9.0"]
    for launch in LAUNCHES:
        time = board[launch.name].times[0] * (factor if launch.kernel == slow else 1)
        kernel = f"{launch.kernel}_0_mix_aiv"
        lines += [f"{kernel},{kernel},{len(lines)},{time}" for _ in range(1 + msprof.TIMES)]
    path = folder / "PROF_1" / "op_summary_1.csv"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")  # by no order
    return folder


def with_msprof(board: Board, folder: Path, launches: list[Launch] = LAUNCHES) -> Board:
    found = msprof.read(folder, launches)
    return {name: replace(one, durations=found.get(name, ())) for name, one in board.items()}


def fitted(board: Board, model: Model) -> dict[str, Fitted]:
    return Fit(COSTS, TIMINGS, board, model.run, Clock(TICKS[ARCH], board)).solve()


def test_events(board: Board, model: Model) -> None:
    found = fitted({name: replace(one, ticks=()) for name, one in board.items()}, model)
    assert {name: one.value for name, one in found.items()} == pytest.approx(TRUE, rel=0.05)
    assert {one.source for one in found.values()} == {EVENTS}


def test_the_counter_where_events_are_uneven(board: Board, model: Model) -> None:
    found = fitted(noisy(board, 0.5), model)
    assert {name: one.value for name, one in found.items()} == pytest.approx(TRUE, rel=0.05)
    assert {one.source for one in found.values()} == {COUNTER}
    blind = {name: replace(one, ticks=()) for name, one in noisy(board, 0.5).items()}
    assert any(one.value is None for one in fitted(blind, model).values())


def test_msprof_rather_than_events(board: Board, model: Model, tmp_path: Path) -> None:
    blind = {name: replace(one, ticks=()) for name, one in noisy(board, 0.5).items()}
    found = fitted(with_msprof(blind, summary(board, tmp_path)), model)
    assert {name: one.value for name, one in found.items()} == pytest.approx(TRUE, rel=0.05)
    assert {one.source for one in found.values()} == {MSPROF}


def test_sources_that_disagree_decide_nothing(board: Board, model: Model, tmp_path: Path) -> None:
    folder = summary(board, tmp_path, slow="probe_vector", factor=1.2)
    found = fitted(with_msprof(board, folder), model)
    for cost in COSTS:
        one = found[cost.id]
        if TIMINGS[cost.probe or ""].launches[0].kernel == "probe_vector":
            assert one.value is None and f"{COUNTER} and {MSPROF} {DISAGREE}" in one.why, cost.id
        else:
            assert one.value == pytest.approx(TRUE[cost.id], rel=0.05)


def test_summaries_of_something_else_are_refused(board: Board, tmp_path: Path) -> None:
    folder = summary(board, tmp_path / "whole")
    with pytest.raises(ToolkitError, match=r"launches of probe_scalar, .* Next: --msprof off"):
        msprof.read(folder, [*LAUNCHES, EMPTY])
    path = next(folder.rglob("*.csv"))
    path.write_text(path.read_text().replace("Task Duration(us)", "Duration"))
    with pytest.raises(ToolkitError, match="has no Task Duration"):
        msprof.read(folder, LAUNCHES)


@pytest.mark.parametrize(("soc", "arch"), [(SOC, ARCH), ("Ascend950PR_9589", 3510)])
def test_the_counter_tells_the_models_time(soc: str, arch: int) -> None:
    launches = TIMINGS["vector vadd float"].launches + TIMINGS["read-latency"].launches
    answers = Model(soc).run(launches, Overlay())
    # Kernels differ in what they do before they read the counter: InitBuffer, first runs.
    assert ticks_of(answers) == pytest.approx(TICKS[arch], rel=0.005)
    for few, many in (launches[:2], launches[2:]):
        counted = answers[many.name].ticks[0] - answers[few.name].ticks[0]
        took = answers[many.name].times[0] - answers[few.name].times[0]
        assert abs(counted / TICKS[arch] - took) <= 2 / TICKS[arch]


def test_a_counter_of_another_rate_differs(board: Board) -> None:
    assert measure._counter(50.0, board).verdict == AS_MODELLED
    found = measure._counter(100.0, board)
    assert found.verdict == DIFFERS and found.measured == pytest.approx(50, rel=0.01)
