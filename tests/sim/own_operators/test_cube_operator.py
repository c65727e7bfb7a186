# SPDX-License-Identifier: Apache-2.0
"""An operator project whose kernel runs on cube cores: built, called through aclnn, tested against
its golden, and profiled.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from aclgrad.running import operator_call
from chrome_trace import problems
from test_own_operator import aclgrad, copied

pytestmark = pytest.mark.usefixtures("no_packages")

LINEAR = Path(__file__).parents[1] / "projects" / "math" / "linear"
LANES = {"SCALAR", "MTE1", "MTE2", "MTE3", "CUBE", "FIXP"}
SHAPES = ("400x500:fp16", "300x500:fp16")  # 35 tiles for 24 cores
WRONG = "wrong: every element"
PIPES = ("cube", "scalar", "mte1", "mte2", "mte3", "fixpipe")


def replaced(file: Path, old: str, new: str) -> None:
    """Plants a fault."""
    text = file.read_text("utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (130, 70, 100), (65, 300, 17)])
def test_called_through_aclnn(dtype: Any, m: int, n: int, k: int) -> None:
    rng = np.random.default_rng(m)
    x, weight = (rng.uniform(-1, 1, shape).astype(dtype) for shape in ((m, k), (n, k)))
    y = operator_call.run(LINEAR, [[x], [weight]]).outputs["y"]
    assert y.dtype == np.float32
    want = x.astype(np.float64) @ weight.astype(np.float64).T
    np.testing.assert_allclose(y.astype(np.float64), want, rtol=0, atol=1e-6 * k)


def test_its_cases_are_green(tmp_path: Path) -> None:
    """Ragged M, N and K of both dtypes, at three scales of data, with the standard's rule."""
    text = aclgrad("test", LINEAR, "--json", cwd=tmp_path)
    cases = json.loads(text[text.index("{") :].splitlines()[0])["cases"]
    assert all(case["passed"] for case in cases)
    names = {case["name"] for case in cases}
    assert {"fp16-100x130x70", "bf16-1x300x65", "fp16-strided", "bf16-empty"} <= names


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "mmad.k = k;",
            "mmad.k = kRows;",
            "wrong: every element",
        ),  # the rest of a tile is not summed
        ("at == 0;", "true;", WRONG),  # nor are the tiles before
        ("  b2_.EnQue(to);", "", "queue-empty"),
        ("PipeBarrier<PIPE_M>();", "", "race-write-after-write"),
    ],
    ids=["short-k", "first-always", "no-enqueue", "no-barrier"],
)
@pytest.mark.plants_faults
def test_planted_faults_are_found(place: Path, old: str, new: str, said: str) -> None:
    linear = copied(LINEAR, place)
    replaced(linear / "op_kernel" / "linear.cpp", old, new)
    text = aclgrad("test", "-k", "100x130x70", cwd=linear, status=1)
    assert said in text, text


def test_without_its_kernel_type(tmp_path: Path) -> None:
    """The kernel runs on the cores that its code is for."""
    linear = copied(LINEAR, tmp_path)
    replaced(
        linear / "op_kernel" / "linear.cpp",
        "  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);\n",
        "",
    )
    x = np.ones((16, 16), np.float16)
    ran = operator_call.run(linear, [[x], [x]])
    assert not ran.findings
    np.testing.assert_array_equal(next(iter(ran.outputs.values())), np.full((16, 16), 16.0))


def test_profile_has_the_pipes_of_cube_cores(tmp_path: Path) -> None:
    trace, folder = tmp_path / "trace.json", tmp_path / "csv"
    words = (LINEAR, *SHAPES, "--json", "--trace", trace, "--csv", folder)
    text = aclgrad("profile", *words, cwd=tmp_path)
    launch = json.loads(text[text.index("{") :].splitlines()[0])["launches"][0]
    assert (launch["coreKind"], len(launch["cores"]), launch["aicCores"]) == ("cube", 24, 24)
    for core in launch["cores"]:
        assert all(0 < core[pipe] <= core["cycles"] for pipe in PIPES if pipe != "mte3"), core
        assert core["vec"] == core["mte3"] == 0
    # Of half the unit multiplies 16 x 16 x 16 in a cycle; tails of fractals count as whole ones.
    assert launch["flopsPerCycle"] == 2 * 16**3
    cycles = sum(row["cycles"] for row in launch["instructions"] if row["pipe"] == "CUBE")
    mmads = sum(row["count"] for row in launch["instructions"] if row["name"] == "Mmad")
    assert launch["flops"] == pytest.approx((cycles - 21 * mmads) * 2 * 16**3, rel=1e-3)
    # Each pipe works as long as its instructions take.
    for pipe, lane in (("cube", "CUBE"), ("mte1", "MTE1")):
        rows = [row for row in launch["instructions"] if row["pipe"] == lane]
        busy = sum(core[pipe] for core in launch["cores"])
        assert sum(row["cycles"] for row in rows) == pytest.approx(busy, rel=1e-3)
    events = json.loads(trace.read_text())["traceEvents"]
    assert problems(events) == []
    assert {event["tid"] for event in events if event["name"] == "thread_sort_index"} == LANES
    slices = {(event["tid"], event["name"]) for event in events if event["ph"] == "X"}
    assert {
        ("CUBE", "Mmad"),
        ("MTE1", "LoadData (L1 to L0A)"),
        ("FIXP", "Fixpipe (L0C to GM)"),
    } <= slices
    assert all(".cubecore0" in event["pid"] for event in events)
    with (folder / "PipeUtilization.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24 and {row["sub_block_id"] for row in rows} == {"cube0"}
    for pipe in PIPES:
        assert f"aic_{pipe}_time(us)" in rows[0] and f"aic_{pipe}_ratio" in rows[0]
    assert not any(name.startswith("aiv_") for name in rows[0])


def test_profile_on_the_terminal_and_as_a_page(tmp_path: Path) -> None:
    page = tmp_path / "profile.html"
    text = aclgrad("profile", LINEAR, *SHAPES, "--html", page, cwd=tmp_path)
    for word in ("24 of 24", "aic_cube_time(us)", "aic_fixpipe_ratio", "linear.cpp:"):
        assert word in text, text
    assert "aiv_" not in text
    html = page.read_text("utf-8")
    assert all(f">{lane}<" in html for lane in LANES)
    assert "matrix unit 354 TFLOPS" in html  # 24 AICs of Ascend910B2 at 1.8 GHz
