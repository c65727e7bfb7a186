# SPDX-License-Identifier: Apache-2.0
"""Every choice of the kernels is listed, and its verdict follows from times, costs and errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aclgrad.errors import ToolkitError
from aclgrad.ops import find
from aclgrad.profiling.alternatives import call_of, changed, load, others
from choices import Gain, Judged, Times, judge, summary
from driver import choice_list
from driver.choice_list import DECLARED, ROOT, alternatives, parse_call, random_calls, spread

LISTED = load(ROOT)
ALTERNATIVES = list(alternatives(LISTED))
TREES = ("op_host", "op_kernel")


def unlisted(path: str, names: set[str]) -> set[str]:
    """Constants of a file that the list neither varies nor calls a fact."""
    known = {*LISTED["constants"].get(path, ()), *LISTED["facts"][path.partition("/")[0]].split()}
    return names - known


def test_every_constant_is_a_choice_or_a_fact() -> None:
    missing, seen = [], dict.fromkeys(TREES, "")
    for tree in TREES:
        for path in sorted((ROOT / tree).rglob("*.*")):
            place = str(path.relative_to(ROOT))
            names = set(choice_list.declared(place))
            seen[tree] += " ".join(["", *names, ""])
            missing += [f"{place}: {name}" for name in sorted(unlisted(place, names))]
    assert not missing, "Next: list them in benchmarks/choices.toml, under constants or facts"
    for tree in TREES:
        gone = [name for name in LISTED["facts"][tree].split() if f" {name} " not in seen[tree]]
        assert not gone, f"facts of {tree} that are no longer there"


def test_a_new_constant_is_seen() -> None:
    path = "op_host/common/tuning.h"
    assert unlisted(path, {"kNear"}) == set()
    assert unlisted(path, {"kNew"}) == {"kNew"}
    assert unlisted("op_kernel/common/vector_ops.h", {"kBlockElements", "kNew"}) == {"kNew"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("constexpr int64_t kNew = 4;", "4"),
        ("  static constexpr uint32_t kNew = 2 * kOld;", "2 * kOld"),
        ("constexpr Overlap kNew{0.91, 0.90};", "{0.91, 0.90}"),
        ("constexpr Sharing kNew[] = {{4, 1},\n  {5, 2}};", "{{4, 1},\n  {5, 2}}"),
        ("const std::array<int, 2> kNew = {1, 2};", "{1, 2}"),
        ("constexpr bool kNew = true;", ""),
        ("if constexpr (kNew) {", ""),
        ("constexpr uint64_t UsableUb(uint64_t bytes) {", ""),
    ],
)
def test_what_a_constant_is(text: str, value: str) -> None:
    found = DECLARED.search(text)
    assert (found and (found[1], found[2])) == (("kNew", value) if value else None)


@pytest.mark.parametrize("one", ALTERNATIVES, ids=lambda one: one.name)
def test_each_alternative_changes_one_place_of_each_file(one: choice_list.Alternative) -> None:
    for change in one.changes:
        text = (ROOT / change["file"]).read_text("utf-8")
        assert changed(text, change, one.name) != text
    assert one.plans or one.calls, "a change of op_kernel alone names its calls"
    for name in one.calls:
        assert name in LISTED["cases"]


def test_a_constant_that_is_gone_is_named() -> None:
    constants = {"op_host/common/soc_facts.h": {"kGone": {"other": [1]}}}
    with pytest.raises(ToolkitError, match=r"soc_facts.h has no constant kGone. Next: drop it"):
        list(alternatives({"alternatives": {}, "constants": constants}))


def test_each_tiling_key_has_another_path() -> None:
    text = (ROOT / "op_host/common/row_reduce_data.h").read_text("utf-8")
    keys = re.findall(r"#define ROW_REDUCE_[A-Z_]+ (\d+)", text)
    assert len(keys) == 7
    paths = {change["path"] for change in LISTED["alternatives"].values()}
    assert paths == {0, *map(int, keys)}


def test_calls_are_spread_over_paths() -> None:
    calls = random_calls(300)
    assert calls == random_calls(300)
    few = spread(calls, lambda call: call.case.op, 5)
    assert len({(call.case.op, call.case.alias) for call in few}) == 5
    assert {call.soc for call in few} == {"Ascend910B2"}
    assert spread(calls, lambda call: "1", 0) == []
    own = parse_call("softmax_grad 16x8 fp16 dim=0 Ascend310P3")
    assert own.key == "softmax_grad 16x8 fp16 dim=0 Ascend310P3"
    assert own.facts == "r 1 16 8 2 8 262144 16777216 8 1 0"


@pytest.mark.parametrize(
    ("op", "attrs", "want"),
    [
        ("softmax_grad", ["dim=1"], "4x8x2:fp16 4x8x2:fp16 --attr axes=[1] --op SoftmaxGrad"),
        ("log_softmax_grad", [], "4x8x2:fp16 4x8x2:fp16 --attr axis=[-1] --op LogSoftmaxGrad"),
        (
            "scaled_masked_softmax_grad_v2",
            ["scale=2"],
            "4x8x2:fp16 4x8x2:fp16 4x8x2:bool --attr scale=2.0 --attr fixed_triu_mask=false"
            " --op ScaledMaskedSoftmaxGradV2",
        ),
    ],
)
def test_calls_of_the_sources(op: str, attrs: list[str], want: str) -> None:
    assert " ".join(call_of(find(op), "4x8x2", "fp16", attrs)) == want


def test_only_row_reductions_have_choices() -> None:
    assert others(find("log_sigmoid_grad"), "4x8", "fp16", [], "Ascend910B2", print) == {}


COST = {"a": (9.0, 11.0)}


@pytest.mark.parametrize(
    ("chosen", "other", "want"),
    [
        (Times(10, COST, 0.15), Times(12, COST, 0.15), "earns 20%, above the error"),
        (Times(10, COST, 0.15), Times(12, COST, 0.25), "below the error: the simpler one will do"),
        (Times(12, COST, 0.1), Times(10, COST, 0.1), "costs 17%, above the error"),
        # The choice rests on a cost that the alternative does not have, or the other way round.
        (Times(10, {"b": (9, 15)}, 0.15), Times(12, COST, 0.15), "depends on b doubled"),
        (Times(10, COST, 0.15), Times(11, {"b": (10, 14)}, 0.15), "depends on b doubled"),
        (Times(11, {"b": (9, 14)}, 0.15), Times(11.2, COST, 0.15), "depends on b doubled"),
        (Times(10, {}, 0.15), Times(10.05, {}, 0.15), "below the error: the simpler one will do"),
    ],
)  # fmt: skip
def test_verdict(chosen: Times, other: Times, want: str) -> None:
    found = judge("call", chosen, other)
    assert found is not None
    assert found.verdict.startswith(want)


def test_what_changes_nothing_has_no_effect() -> None:
    times = Times(10, COST, 0.15, 1)
    assert judge("call", times, times) is None
    assert judge("call", times, Times(10, COST, 0.15, 3)) is not None  # another path
    assert Judged("x", [], 2, False).verdict == "no effect"
    assert Judged("x", [], 0, False).verdict == "no effect: planned alike on all shapes"
    assert Judged("x", [], 2, False, "ub-overflow").verdict == "no other: ub-overflow"


def test_the_call_at_stake_decides() -> None:
    def gain(now: float, least: float, error: float) -> Gain:
        return Gain("call", 1, 10.0, now, (least, "a halved"), (now, ""), error)

    small, large = gain(0.1, 0.1, 0.35), gain(0.2, 0.1, 0.15)
    assert Judged("x", [small, large], 2, False).verdict == "earns 20%, above the error"
    # One call is below the error, the other one rests on a cost.
    both = Judged("x", [gain(0.1, 0.1, 0.15), gain(0.05, -0.2, 0.15)], 2, False)
    assert both.verdict == "depends on a halved"
    assert both.deciding is not None


def test_an_alternative_is_put_back(tmp_path: Path) -> None:
    one = ALTERNATIVES[-1]
    for change in one.changes:
        path = tmp_path / change["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((ROOT / change["file"]).read_text("utf-8"))
    with one.applied(tmp_path):
        for change in one.changes:
            assert change["to"] in (tmp_path / change["file"]).read_text()
    for change in one.changes:
        assert (tmp_path / change["file"]).read_bytes() == (ROOT / change["file"]).read_bytes()


def test_what_is_summed_up() -> None:
    gain = Gain("call", 1, 10.0, 0.2, (0.1, "a halved"), (0.3, "a doubled"), 0.15)
    found = [
        Judged("kFew = 4", [], 0, False),
        Judged("kMany = 4", [], 2, False, "ub-overflow"),
        Judged("kBest = 4", [gain], 1, True),
    ]
    first, whole = summary(found)
    line = ["kBest", "4", "call (random)", "1", "10.0", "+20.0%", "+10.0% a halved"]
    line += ["+30.0% a doubled", "15%", "1 of 1", "earns 20%, above the error"]
    assert list(first.lines) == [line]
    assert whole.below == "3 lines: 1 no effect, 1 no other, 1 earns."


@pytest.mark.parametrize(
    ("other", "verdict"),
    [
        (150.0, "not decided: vector functions"),
        (70.0, "not decided: vector functions"),
        (110.0, "below the error: the simpler one will do"),
        (1000.0, "earns 900%, above the error"),
    ],
)
def test_what_no_rule_decides_earns_nothing(other: float, verdict: str) -> None:
    reasons = ["vector functions"]
    found = judge("call", Times(us=100, error=0.25), Times(us=other, error=0.2, undecided=reasons))
    assert found is not None
    assert found.verdict == verdict
    decided = judge("call", Times(us=100, error=0.25), Times(us=other, error=0.2))
    assert decided is not None
    assert not decided.verdict.startswith("not decided")
