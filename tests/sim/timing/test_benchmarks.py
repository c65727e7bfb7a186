# SPDX-License-Identifier: Apache-2.0
"""The benchmark driver: what it checks, what it measures, and when it fails."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import choices
import search
from aclgrad.errors import ToolkitError
from aclgrad.findings.finding import Finding, Place
from aclgrad.profiling.alternatives import load
from aclgrad.runtime import Device
from driver import (
    baseline,
    cases,
    choice_list,
    classes,
    cliffs,
    host,
    modelled,
    public_kernels,
    tables,
    tilings,
    values,
)
from driver.calls import Call, WrongNumbersError
from driver.cases import BenchmarkCase
from driver.choice_list import ROOT, Alternative

ROWS = BenchmarkCase("softmax_grad", (64, 64), "fp32")
COLUMNS = BenchmarkCase("log_softmax_grad", (3, 50, 7), "fp16", (("dim", 1),))
MASKED = BenchmarkCase("scaled_masked_softmax_grad_v2", (1, 2, 5, 64), "fp32", (("scale", 0.5),))
ELEMENTS = BenchmarkCase(
    "kl_div_loss_grad", (1000, 1100), "bf16", (("reduction", 0), ("logTarget", True))
)


@pytest.mark.parametrize("case", [ROWS, COLUMNS, MASKED, ELEMENTS], ids=lambda case: case.key)
def test_numbers_are_checked(case: BenchmarkCase, device: Device) -> None:
    """The inputs on the device are those that the golden is made of, and one wrong row is seen."""
    call = Call(device, case)
    call.launch()
    assert call.check().passed
    for arg in case.spec.kernel_args:
        held = call.buffers[case.spec.tensors.index(arg)].read(values.pool(case, arg.name).dtype)
        assert np.array_equal(held, values.whole(case, arg.name).reshape(-1))
    spoiled = call.output()
    spoiled[values.sample(case)[-1]] += 1000
    report = values.check(case, spoiled)
    assert not report.passed
    call.result.write(np.zeros_like(spoiled))
    with pytest.raises(WrongNumbersError, match=f"{case.op}.*not timed"):
        call.check()
    call.close()


def test_sample_is_spread() -> None:
    """Rows of every part of a tensor, as few as that takes; whole rows of the reduced dim."""
    case = BenchmarkCase("softmax_grad", (64, 1024, 256), "fp32", (("dim", 1),))
    places = values.sample(case)
    assert places.shape == (256, 1024)
    assert places[0, 0] == 0
    assert places[-1, -1] == case.size - 1
    assert np.all(np.diff(places, axis=1) == 256)
    assert len(set(places[:, 0] // (1024 * 256))) == 64
    assert values.sample(BenchmarkCase("softmax_grad", (128, 65536), "fp32")).shape == (64, 65536)


def test_one_core_in_place_of_all_is_seen(device: Device, tmp_path: Path) -> None:
    """Slower than recorded, and below its limit; without it the figures are the same again."""
    device.set_option("soc", cases.SOC)
    case = BenchmarkCase("log_sigmoid_grad", (2048, 2048), "fp32", limits={"share": 0.75})
    path = tmp_path / "baseline.json"
    baseline.write([modelled.measure(case)], path)
    recorded = baseline.read(path)
    row = modelled.measure(case)
    assert not baseline.drifted([(case, row)], recorded, whole=True)
    assert not baseline.lost(case, row, recorded[case.key])
    device.set_option("cores", "1")
    row = modelled.measure(case)
    drift = baseline.drifted([(case, row)], recorded, whole=False)
    assert any(": us " in line for line in drift)
    assert baseline.lost(case, row, recorded[case.key])[0].startswith(f"{case.key}: share ")


def test_drift_and_limits() -> None:
    """Both directions fail; a limit that was never met stays open."""
    case = BenchmarkCase("softmax_grad", (8, 8), "fp32", limits={"share": 0.9, "traffic": 1.001})
    was = {"us": 10.0, "share": 0.95, "traffic": 1.0}

    def drift(**now: float) -> list[str]:
        return baseline.drifted([(case, {**was, **now})], {case.key: was}, whole=True)

    assert not drift(us=10.01)
    assert drift(us=10.1) == [f"{case.key}: us 10.1, recorded 10.0 (+1.0%)"]
    assert drift(us=9.9)
    slow = {**was, "share": 0.8}
    assert baseline.lost(case, slow, was)
    assert not baseline.lost(case, slow, slow)
    assert not baseline.lost(case, slow, None)
    assert baseline.drifted([(case, was)], {}, whole=True) == [f"{case.key}: not recorded"]
    gone = baseline.drifted([], {case.key: was}, whole=True)
    assert gone == [f"{case.key}: recorded, but no longer a case"]
    limited = BenchmarkCase("softmax_grad", (8, 8), "fp32", limits={"fast": 1.5})
    assert baseline.over(limited, {"fast": 1.6}) == [f"{limited.key}: fast 1.6 is above 1.5"]
    assert not baseline.over(limited, {"fast": 1.4})


def test_case_list(tmp_path: Path) -> None:
    """Every target shape has all dtypes; a list with a slip is refused."""
    keys = {case.key for case in cases.load().modelled}
    for op in ("softmax_grad", "log_softmax_grad"):
        for shape in ("4096x4096", "16384x1024", "65536x128", "128x65536", "1048576x8"):
            assert {f"{op} {shape} {dtype}" for dtype in ("fp32", "fp16", "bf16")} <= keys
    assert {case.op for case in cases.load("fp16 64x64").modelled} >= {"softmax_grad"}
    with pytest.raises(ValueError, match="no case"):
        cases.load("fp17")
    path = tmp_path / "cases.toml"
    group = '[[modelled]]\nop = ["softmax_grad"]\nshape = ["8x8"]\ndtype = ["fp32"]\n'
    rest = "[[host]]\nop = []\n"
    path.write_text(group + group + rest)
    with pytest.raises(ValueError, match="twice"):
        cases.load(path=path)
    path.write_text(group + "sahre = 0.9\n" + rest)
    with pytest.raises(ValueError, match="sahre"):
        cases.load(path=path)
    path.write_text(group + "attrs = { scale = 2 }\n" + rest)
    with pytest.raises(ValueError, match="no attribute scale"):
        cases.load(path=path)


def test_classes_are_judged_by_their_worst_case() -> None:
    """The least share, the largest rise within one sweep, 16 bit by fp32 of the same shape."""
    wide = [BenchmarkCase("softmax_grad", (rows, 10), "fp32") for rows in (10, 20, 40)]
    sweep = (*wide, BenchmarkCase("softmax_grad", (10, 30), "fp32"), wide[0].in_dtype("fp16"))
    group = cases.CaseClass("a", cases.SOC, {"share": 0.5, "rise": 1.05, "by_fp32": 1.0}, sweep)
    numbers = {case.key: {"us": case.size / 10, "share": 0.9, "band": 0.15} for case in sweep}
    numbers[wide[1].key]["us"] *= 1.1
    numbers[sweep[3].key] = {"us": 900.0, "share": 0.4, "band": 0.25}
    numbers[sweep[4].key]["us"] *= 2
    found = {(one.alias, one.name): one for one in classes.judge([group], {"a": numbers})}
    assert set(found) == {
        ("fp32", "share"),
        ("fp32", "rise"),
        ("fp16", "share"),
        ("fp16", "by_fp32"),
    }
    share, rise = found["fp32", "share"], found["fp32", "rise"]
    assert (share.worst, share.median, share.where, share.met) == (0.4, 0.9, sweep[3].key, False)
    assert (rise.count, rise.where, rise.met) == (2, wide[1].key, False)
    assert found["fp16", "share"].met
    assert found["fp16", "by_fp32"].worst == pytest.approx(2)
    shown = tables.classes(list(found.values()), list(numbers.values())).markdown()
    line = (
        "| a | fp32 | share of the bound | 4 | 40%* | 90% | 50% | 15% to 25% | softmax_grad 10x30 |"
    )
    assert line in shown
    assert (share.within_error, rise.within_error) == (True, True)
    assert not found["fp16", "by_fp32"].within_error
    assert "4 lines, 3 miss what is wanted (marked *), 2 of them by less than" in shown


def test_each_class_has_its_share_and_its_error() -> None:
    """Also where nothing is wanted of the share."""
    case = BenchmarkCase("softmax_grad", (10, 10), "fp32")
    group = cases.CaseClass("a", cases.SOC, {"above": 0.1}, (case,))
    row = {"us": 3.0, "share": 0.3, "above": 0.4, "band": 0.35}
    share, above = classes.judge([group], {"a": {case.key: row}})
    assert (share.name, share.want, share.met) == ("share", None, True)
    assert (above.name, above.met, above.within_error) == ("above", False, False)
    shown = tables.classes([share, above], [row]).markdown()
    assert "| share of the bound | 1 | 30% | 30% |  | 35% | softmax_grad 10x10 |" in shown


def test_low_cases_are_told_by_what_limits_them() -> None:
    """Cases of three quarters and more are no part of it, and neither are wrong ones."""
    chosen = tuple(BenchmarkCase("softmax_grad", (rows, 10), "fp16") for rows in (10, 20, 30, 40))
    group = cases.CaseClass("a", cases.SOC, {"share": 0.5}, chosen)
    low: list[dict[str, Any]] = [{"share": 0.5, "limit": "vec", "of limit": 0.9, "outside": 0.4}]
    low += [{"share": 0.6, "limit": "vec", "of limit": 0.8, "outside": 0.3}]
    rows: list[dict[str, Any]] = [*low, {"share": 0.75}, {"error": "wrong"}]
    shown = tables.below([group], rows).markdown()
    assert "| a | 16 bit | VECTOR | 2 | 55% (50%) | 35% (30%) | 85% (80%) |" in shown
    assert "2 of 4 cases" in shown
    assert "1 of the 2: 1 of 2 by vec" in shown


def test_slices_of_a_pipe_may_lie_over_one_another() -> None:
    """Copies that are under way at once count once; a wait between them does not count."""
    slices = [(5.0, 1.0), (1.0, 2.0), (2.0, 2.0), (8.0, 0.5)]
    events = [{"ph": "X", "ts": start, "dur": took} for start, took in slices]
    assert modelled.span([*events, {"ph": "B", "ts": 0.0}]) == (1.0, 8.5, 4.5)
    assert modelled.span([]) == (0.0, 0.0, 0.0)


def test_the_limit_of_a_case_has_what_lies_before_and_behind_a_pipe() -> None:
    """A single row: nothing lies beside its load, its arithmetic and its store."""
    modelled.start(1)
    found = modelled.measure(BenchmarkCase("log_softmax_grad", (65536, 6), "fp16", (("dim", 0),)))
    assert found["share"] < modelled.LOW
    assert found["limit"] == "mte2"
    assert 0.5 < found["outside"] < found["of limit"] < 0.9  # the launch alone is 0.4


def test_cliffs_are_steps_that_a_longer_row_undercuts() -> None:
    """A step at the end of a sweep is none: no longer row is cheaper there."""
    sweep = [
        (length, BenchmarkCase("softmax_grad", (10, length), "fp32")) for length in range(8, 13)
    ]
    times = (8.0, 9.0, 14.0, 11.0, 20.0)
    figures: dict[str, dict[str, Any]] = {
        case.key: {"us": us} for (_, case), us in zip(sweep, times, strict=True)
    }
    (found,) = cliffs.find({"rows": sweep}, figures)
    assert (found.length, found.before, found.longer) == (10, 9, 11)
    assert found.jump == pytest.approx(1.4)
    steepest = cliffs.steepest({"rows": sweep}, figures)
    assert steepest == ["rows 1.67 (11 to 12)"]
    shown = tables.cliffs([found], steepest, 5).markdown()
    assert "1 of 5 lengths. The steepest steps: rows 1.67 (11 to 12)." in shown
    figures[sweep[3][1].key] = {"error": "wrong numbers"}
    assert not list(cliffs.find({"rows": sweep[:4]}, figures))


def test_classes_of_the_list() -> None:
    """Every class has all dtypes that its SoC has, and a slip in a limit is refused."""
    for group in cases.load().classes:
        assert group.limits
        if group.name != "batches across L2's size":
            assert {case.alias for case in group.cases} >= {"fp32", "fp16"}, group.key
    chosen = cases.load("tiny bf16").classes
    assert [group.name for group in chosen] == ["tiny tensors"]
    assert {case.alias for case in chosen[0].cases} == {"bf16"}
    with pytest.raises(ValueError, match="class.*has shere"):
        list(cases._classes([{"name": "a", "shere": 0.5}], ""))


def test_comparison_fails() -> None:
    """A faster public kernel, a low mean, wrong numbers; what did not run does not count."""
    good = {"case": "a", "class": "A", "ours": 10.0, "theirs": 25.0, "ratio": 2.5}
    near = {"case": "b", "class": "A", "ours": 10.0, "theirs": 11.0, "ratio": 1.1}
    fast = {"case": "c", "class": "A", "ours": 10.0, "theirs": 9.98, "ratio": 0.998}
    same = {"case": "c", "class": "B", "ours": 10.0, "theirs": 9.995, "ratio": 0.9995}
    out = {"case": "d", "class": "C", "ours": 10.0, "theirs": None, "ratio": None, "refused": "no"}
    dead = {"case": "d", "class": "C", "ours": 10.0, "theirs": None, "ratio": None}
    dead["died"] = "exit status 1: no room"
    failures, misses = public_kernels.failures, public_kernels.misses
    assert not failures([good, out]) + misses([good, out])
    assert public_kernels.mean([good, near, out]) == pytest.approx(np.sqrt(2.75))
    assert misses([good, near]) == ["geometric mean of the classes 1.66, want at least 2.2"]
    wide = {**good, "ratio": 100.0}
    assert misses([wide, fast]) == ["c: 10.0 us, theirs 9.98 us: slower"]
    assert not misses([wide, same])
    assert failures([out]) == ["no case ran on both sides"]
    assert "wrong" in failures([good, {**out, "error": "wrong"}])[0]
    assert failures([good, dead]) == ["d: theirs died: exit status 1: no room"]
    past = {**good, "case": "e", "finding": "gm-out-of-bounds at a.h:3: 28 bytes"}
    assert not failures([good, past]) + misses([good, past])
    shown = tables.against([good, out, fast, dead, past], "library").markdown()
    assert "| A | e | 10.0 | 25.0 | 2.50, with gm-out-of-bounds at a.h:3 |" in shown
    assert "| C | d | 10.0 |  | refused: no |" in shown
    assert "| C | d | 10.0 |  | died: exit status 1: no room |" in shown
    assert "| A | c | 10.0 | 9.980 | 0.998* |" in shown
    assert "3 of 5 ran" in shown


def test_each_class_has_one_vote() -> None:
    """A class of many rows of 8, each a hundred times as fast, moves the mean as one of one row."""
    rows = [{"case": "a", "class": "A", "ours": 1.0, "theirs": 100.0, "ratio": 100.0}] * 9
    rows.append({"case": "b", "class": "B", "ours": 1.0, "theirs": 1.0, "ratio": 1.0})
    assert public_kernels.mean_of_classes(rows) == pytest.approx(10)
    short = tables.against_summary(rows, "library").markdown()
    assert "| A | 9 of 9 | 100.00 | 100.00 | 100.00 |" in short
    assert "| all, one vote per class | 10 of 10 | 10.00 | 1.00 | 100.00 |" in short


def test_peers_of_the_list() -> None:
    """Every class whose SoCs have a public kernel is there, with small shapes and all dtypes."""
    listed = cases.load()
    groups: dict[str, list[cases.Peer]] = {}
    for peer in listed.peers:
        groups.setdefault(peer.group, []).append(peer)
    known = {soc for kernel in listed.public_kernels for soc in kernel.soc}
    for group in listed.classes:
        name = group.name
        if name.startswith("all "):  # of one SoC
            name = f"{name.removeprefix('all ')}, Ascend 950"
        assert name in groups or group.soc not in known, name
    for name, found in groups.items():
        if name == "batches across L2's size":
            continue
        assert {peer.case.alias for peer in found} == {"fp32", "fp16", "bf16"}, name
        elements = name == "elements, Ascend 950"
        assert len({peer.case.shape for peer in found}) >= (1 if elements else 3), name
    assert {peer.soc for peer in listed.peers} >= {"Ascend910B2", "Ascend910B3", "Ascend950DT_9571"}
    table = {"class": "a", "soc": ["Ascend310P3"], "op": ["softmax_grad"], "shape": ["8x8"],
             "dtype": ["fp32"]}  # fmt: skip
    with pytest.raises(ValueError, match="no .*public_kernel.* of Ascend310P3"):
        list(cases._peers([table], listed.public_kernels, ""))
    table["soc"] = [cases.SOC]
    with pytest.raises(ValueError, match="twice: softmax_grad 8x8 fp32"):
        list(cases._peers([table, table], listed.public_kernels, ""))


def test_results_are_kept_by_what_they_depend_on(tmp_path: Path) -> None:
    """A run that was stopped goes on; other kernels are measured anew, and so is a death."""
    path = tmp_path / "against.json"
    assert public_kernels.Store(path).get("a", "1", lambda: {"us": 1.0}) == {"us": 1.0}
    again = public_kernels.Store(path)
    assert again.get("a", "1", lambda: {"us": 2.0}) == {"us": 1.0}
    assert again.get("a", "2", lambda: {"us": 2.0}) == {"us": 2.0}
    assert again.get("b", "1", lambda: {"died": "SIGKILL"}) == {"died": "SIGKILL"}
    assert public_kernels.Store(path).get("b", "1", lambda: {"us": 3.0}) == {"us": 3.0}


DYING = """import os, sys
class Dying:
    def __init__(self, document, folder):
        pass
    def __call__(self, item):
        print("first\\nno space left for a tensor", file=sys.stderr, flush=True)
        os._exit(1)
"""


def test_a_death_says_why(tmp_path: Path) -> None:
    """A process that ends is a row with its status and the last line that it wrote."""
    (tmp_path / "dying.py").write_text(DYING)
    found = public_kernels.alone("dying:Dying", {}, tmp_path)
    assert found == {"died": "exit status 1: no space left for a tensor"}
    found = public_kernels.alone("not_there:Dying", {}, tmp_path)
    assert found == {"died": "error: ModuleNotFoundError: No module named 'not_there'"}


def test_findings_that_stop() -> None:
    """A read behind a tensor and a missing wait do not; a store there or what is left out does."""
    behind = Finding(
        "gm-out-of-bounds", at=Place("MTE2", "DataCopy (GM to UB)"), goes_on="read as 0"
    )
    wait = Finding("local-memory-order", at=Place("VECTOR", "LoadAlign"))
    store = Finding(
        "gm-out-of-bounds", at=Place("MTE3", "DataCopy (UB to GM)"), goes_on="not written"
    )
    left = Finding("ub-out-of-bounds", at=Place("VECTOR", "Brcb"), goes_on="left out")
    found = [public_kernels._harmless(finding) for finding in (behind, wait, store, left)]
    assert found == [True, True, False, False]


def test_summary_has_every_operator() -> None:
    """The median case and the worst, by dtype; one with wrong numbers has none."""
    shapes = [BenchmarkCase("softmax_grad", (rows, 8), "fp32") for rows in (1, 2, 3, 4)]
    other = shapes[0].in_dtype("bf16")
    figures: dict[str, dict[str, Any]] = {
        case.key: {"share": 0.1 * case.shape[0]} for case in (*shapes, other)
    }
    figures[shapes[3].key] = {"error": "wrong"}
    shown = tables.modelled_summary([*shapes, other], figures).markdown()
    assert "| softmax_grad | 4 | 20% (10%) |  | 10% (10%) |" in shown


def test_public_kernel_is_measured(device: Device) -> None:
    """An operator from sources runs on the case's inputs; what stops it is said in a line."""
    library = Path(__file__).parents[1] / "projects"
    where = ((cases.SOC,), "math/scale_add")
    public = cases.PublicKernel("log_sigmoid_grad", *where, ("gradOutput", "self"), ("scale=3",))
    row = public_kernels.measure(
        public, library, BenchmarkCase("log_sigmoid_grad", (8, 32), "fp32")
    )
    assert "further off" in row["wrong"]
    other = cases.PublicKernel("softmax_grad", *where, ("gradOutput", "output"), ("axis=1",))
    assert "axis=1" in public_kernels.measure(other, library, ROWS)["refused"]
    row = public_kernels.measure(other, library, COLUMNS)
    assert row["refused"] == "reduces the last dim only"


def test_work_of_all_host_threads_is_counted(device: Device) -> None:
    """And the longest thread has a part of it."""
    counted, done = threading.Event(), threading.Event()

    def count() -> None:
        assert sum(range(3 * 10**6))
        counted.set()
        done.wait()

    other = threading.Thread(target=count)
    other.start()
    counted.wait()
    assert host.thread_times()[str(other.native_id)] > 0.01
    done.set()
    other.join()
    for row in host.scaling(BenchmarkCase("softmax_grad", (2048, 1024), "fp32"), 1):
        assert row["work"][0] == 1 and min(row["path"]) >= 1
        assert len(row["ms"]) == len(row["path"]) == len(host.THREADS)


def test_calls_that_a_constant_reaches(tmp_path: Path) -> None:
    """Smaller copies reach short rows; a constant of shared axes reaches what is shared."""
    listed = {
        "constants": {
            "op_host/common/tuning.h": {
                "kPipelineCopyBytes": {"other": [8192]},
                "kNear": {"other": [0.0, "nothing"]},
            },
        },
        "alternatives": {},
    }
    tiles, near, wrong = choice_list.alternatives(listed)
    rows = choice_list.parse_call("softmax_grad 65536x10 fp32")
    long = choice_list.parse_call("softmax_grad 4096x4096 fp16 dim=0")
    masked = choice_list.parse_call("scaled_masked_softmax_grad_v2 32x16x197x197 fp16")
    elements = choice_list.parse_call("log_sigmoid_grad 64x1024 fp32")
    calls = [rows, long, masked, elements]
    planner = choice_list.Planner(tmp_path)
    assert planner.reached(tiles, calls) == [rows]
    assert planner.reached(near, calls) == [long]
    assert [planner.key(call) for call in calls] == ["5", "4", "1", "0"]
    with pytest.raises(ToolkitError, match="does not compile: .*nothing"):
        planner.reached(wrong, calls)


def test_times_of_unchanged_sources_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of the sources, of a cost or of the call is timed anew."""
    monkeypatch.setattr(choices, "WORK", tmp_path)
    call, other = map(choice_list.parse_call, ("softmax_grad 8x8 fp32", "softmax_grad 8x9 fp32"))
    change = next(one for one in choice_list.alternatives(load(ROOT)) if one.plans)
    asked: list[list[str]] = []

    def run(
        self: choices.Timer, folder: Path, calls: dict[choice_list.Call, float]
    ) -> list[dict[str, object]]:
        asked.append([one.key for one in calls])
        return [asdict(choices.Times(10.0 + len(asked))) for _ in calls]

    monkeypatch.setattr(choices.Timer, "_run", run)
    first = choices.Timer(1, "")
    before = first.times(choice_list.AS_IT_IS, {call: 0.0})
    first.keep()
    again = choices.Timer(1, "")
    assert again.times(choice_list.AS_IT_IS, {call: 0.0}) == before
    assert len(asked) == 1
    again.times(choice_list.AS_IT_IS, {call: 0.0, other: 0.0})
    assert asked[-1] == [other.key]
    assert again.times(change, {call: 0.0}) != before
    choices.Timer(1, "scalar.meet=4000").times(choice_list.AS_IT_IS, {call: 0.0})
    assert asked[2:] == [[call.key], [call.key]]


FEW = BenchmarkCase("softmax_grad", (2048, 49, 9), "fp16", (("dim", 1),))


def test_search_of_tilings(device: Device, tmp_path: Path) -> None:
    """The host's tiling takes as long as the operator; what a bad rule leaves is found."""
    program = tilings.build(tmp_path)
    own = tilings.search(FEW, cases.SOC, program, program, 30)
    assert own["us"] == pytest.approx(modelled.measure(FEW)["us"], rel=1e-3)
    assert 1 <= own["ratio"] < 1.05
    place = {"file": "op_host/common/row_reduce_tiling.cpp", "from": "cores = CoresFor(units);"}
    rule = Alternative("few cores", (place | {"to": "cores = CeilDiv(CoresFor(units), 8);"},), ())
    bad = tilings.search(FEW, cases.SOC, program, tilings.build(tmp_path, rule), 30)
    assert bad["us"] > 2 * own["us"] and bad["ratio"] > 2
    assert "cores" in bad["best"]


def test_search_within_some_minutes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """No case is begun behind the time; the table says how many of the drawn ones have a row."""
    row = {"class": "few", "alias": "fp32", "case": "a", "soc": cases.SOC, "share": 0.5}
    low = {"us": 3.0, "ratio": 1.1, "best": "", "tried": 5, "refused": 1, "band": 0.25}
    store = tmp_path / "search.json"
    monkeypatch.setattr(search, "STORE", store)
    monkeypatch.setattr(tilings, "build", lambda *_: tmp_path)
    monkeypatch.setattr(tilings, "state", lambda *_: "")
    drawn = list(search.drawn("", 1))[:4]
    monkeypatch.setattr(search, "drawn", lambda *_: drawn)
    key = hashlib.sha256(f" 48 {drawn[2]}".encode()).hexdigest()
    store.write_text(json.dumps({key: row | low}), "utf-8")
    monkeypatch.setattr(sys, "argv", ["search.py", "--minutes", "0"])
    assert search.main() == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "1 of 4 drawn cases are timed (25%). Of 1 low ones 4 tilings are tried" in shown
    assert len(json.loads(store.read_text("utf-8"))) == 1


def test_tilings_that_the_kernel_refuses(device: Device, tmp_path: Path) -> None:
    """Buffers that are too small, and rows that nobody computes, are no fast tilings."""
    listed = tilings.listed(tilings.build(tmp_path), FEW, cases.SOC)
    assert len(listed) > 100
    kernel = tilings.Kernel(FEW, cases.SOC)
    own = listed[0]
    us = kernel.us(own, float("inf"))
    lanes = tilings.FIELDS.index("tileLanes")
    units = tilings.FIELDS.index("coreUnits")

    def other(at: int, value: int) -> tilings.Tiling:
        return replace(own, fields=(*own.fields[:at], value, *own.fields[at + 1 :]))

    assert 0 < us < 100
    assert kernel.us(other(lanes, 64), us) == float("inf")
    assert kernel.us(other(units, own.fields[units] // 2), us) == float("inf")
    assert kernel.us(own, float("inf")) == us
    kernel.close()
