# SPDX-License-Identifier: Apache-2.0
"""Cases of the tiling's choices name their alternatives; a verdict sees every cost."""

from __future__ import annotations

from typing import Any

import pytest

from aclgrad.ops import find
from aclgrad.profiling.alternatives import call_of, load, others
from choices import ROOT, Times, judge, judge_sharing


def test_cases_name_alternatives() -> None:
    listed, used = load(ROOT), set[str]()
    for case in listed["cases"]:
        used |= set(case["against"])
    assert used == set(listed["alternatives"])


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


@pytest.mark.parametrize(
    ("chosen", "other", "want"),
    [
        (Times(10.0), Times(12.0), (10 / 12, 10 / 12, "")),
        # It rests on a cost that the alternative does not have.
        (Times(10, {"a": (9, 15)}), Times(12), (10 / 12, 15 / 12, "a doubled")),
        # And the alternative on one that it has itself.
        (Times(10, {"a": (9, 15)}), Times(12, {"b": (6, 13)}), (10 / 12, 10 / 6, "b halved")),
        (Times(10, {"a": (5, 20)}), Times(12, {"a": (6, 24)}), (10 / 12, 10 / 12, "")),
    ],
)
def test_verdict(chosen: Times, other: Times, want: tuple[Any, ...]) -> None:
    found = judge(chosen, other)
    assert (found.ratio, found.worst) == pytest.approx(want[:2])
    assert found.where == want[2]
    assert found.holds == (want[1] <= 1.15)


@pytest.mark.parametrize(("slow", "holds"), [(8.9, True), (9.1, False)])
def test_sharing_has_to_earn_a_tenth_with_slow_flags(slow: float, holds: bool) -> None:
    found = judge_sharing(Times(8.0), Times(slow), Times(10.0))
    assert (found.ratio, found.worst) == pytest.approx((0.8, slow / 10))
    assert found.holds == holds
