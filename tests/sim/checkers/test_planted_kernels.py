# SPDX-License-Identifier: Apache-2.0
"""Faults planted in the kernels of `aclgrad new` fail in each dtype and at each scale of data, and
what a golden file and a command line say of precision is heard.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from test_own_operator import SQUARE, aclgrad

pytestmark = pytest.mark.journey

LANES = """
    AscendC::PipeBarrier<PIPE_V>();
    uint64_t one[2] = {1ULL << 5, 0};
    const auto zero = static_cast<TYPE>(0);
    if (FAULT == 41) AscendC::Muls(DST, DST, zero, COUNT);
    if (FAULT == 42) AscendC::Muls(DST, DST, zero, one, 1, AscendC::UnaryRepeatParams(1, 1, 8, 8));
    if (FAULT == 43) AscendC::Muls(DST[16], DST[16], zero, 16);
    if (FAULT == 44) AscendC::Duplicate(DST, static_cast<TYPE>(1), COUNT);
    if (FAULT == 45) AscendC::Adds(DST[32], DST[16], zero, 13);
"""

FAULTS = {41: "zeros", 42: "lane", 43: "block", 44: "constant", 45: "tail", 46: "term"}
"""A lane and a block of each tile, a tail that is its neighbour's."""


def planted(text: str, behind: str, **names: str) -> str:
    """A kernel with the faults behind one of its lines."""
    assert behind in text
    lines = LANES
    for name, word in names.items():
        lines = lines.replace(name, word)
    return text.replace(behind, behind + lines)


def cases(project: Path, *words: object, status: int = 0) -> list[dict[str, Any]]:
    """What `aclgrad test` says of each case."""
    text = aclgrad("test", *words, "--json", cwd=project, status=status)
    assert "{" in text, f"{project}: no JSON in {text!r}"
    return list(json.loads(text[text.index("{") :].splitlines()[0])["cases"])


@pytest.mark.parametrize("like", ["blank", "elementwise"])
def test_planted_faults_fail_in_each_dtype_and_scale(like: str, tmp_path: Path) -> None:
    aclgrad("new", "my_op", "project", "--like", like, cwd=tmp_path)
    project = tmp_path / "project"
    path = project / "op_kernel" / "my_op.cpp"
    text = path.read_text()
    golden = project / "my_op_golden.py"
    wanted = golden.read_text()
    if like == "elementwise":
        # By an attribute of which the golden knows nothing.
        line = "    AscendC::Add(dst, dst, x, count);\n"
        text = planted(text, line, COUNT="count", DST="dst", TYPE="float", FAULT="fault")
        dropped = "    if (fault == 46) AscendC::Adds(dst, x, 0.0F, count);\n"
        text = text.replace(line, line + dropped)
        line = "    const AscendC::LocalTensor<float>& x = in[0];\n"
        text = text.replace(line, line + "    const int32_t fault = static_cast<int32_t>(slope);\n")
        text = text.replace("dst, dst, slope, count", "dst, dst, slope - fault, count")
        wanted = wanted.replace("return", "slope %= 1\n    return")
        faults = [40, *FAULTS]
        listed = [f"case((64, 1000), attrs={{'slope': {n}.25}}, name='n{n}')" for n in faults]
    else:
        # By the size of the tensor.
        line = "    AscendC::Muls(y, x, static_cast<T>(1), static_cast<int32_t>(lanes));\n"
        words = {"COUNT": "static_cast<int32_t>(lanes)", "DST": "y", "TYPE": "T"}
        text = planted(text, line, FAULT="total_ - 64000", **words)
        text = text.replace(": tile_(tiling.tile)", ": tile_(tiling.tile), total_(tiling.total)")
        text = text.replace(
            "  const int64_t tile_;\n", "  const int64_t tile_;\n  const int64_t total_;\n"
        )
        faults = [40, *list(FAULTS)[:-1]]
        listed = [f"case((64{n:03},), name='n{n}')" for n in faults]
    path.write_text(text)
    yields = "\n".join(f"    yield {item}" for item in listed)
    golden.write_text(f"{wanted}\n\nfrom aclgrad.testing import case\n\n\ndef cases():\n{yields}\n")
    found = cases(project, "--no-check", status=1)
    # float16 has no room for 2^-20.
    scales = {"fp32": 3, "fp16": 2, **({"bf16": 3} if like == "elementwise" else {})}
    for dtype, count in scales.items():
        assert sum(case["dtype"] == dtype for case in found) == count * len(faults)
    assert {case["dtype"] for case in found} == set(scales)
    for case in found:
        assert case["passed"] == ("-n40" in case["name"]), case
        assert not case["golden_of_zeros"]
    zeros = next(case for case in found if case["name"] == "fp32-n41-2^-20")
    assert "every element is 0" in zeros["message"]
    assert zeros["public_standard"] == "passed"
    assert "the public standard alone would pass it" in zeros["message"]


def test_a_dropped_term_of_a_row_reduction_fails(tmp_path: Path) -> None:
    aclgrad("new", "my_op", "project", "--like", "row-reduction", cwd=tmp_path)
    project = tmp_path / "project"
    path = project / "op_kernel" / "my_op.cpp"
    text = path.read_text()
    line = "AscendC::Sub(dst, f, sy, static_cast<int32_t>(count));"
    assert line in text
    path.write_text(text.replace(line, "AscendC::Adds(dst, f, 0.0F, static_cast<int32_t>(count));"))
    found = cases(project, "--no-check", "--fast", status=1)
    assert {case["dtype"] for case in found} == {"fp32", "fp16", "bf16"}
    for case in found:
        if case["passed"]:
            assert case["golden_of_zeros"], case
    assert sum(case["passed"] for case in found) < len(found) / 5


@pytest.fixture(scope="module")
def square(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose golden file is written anew by each test: its kernel is built once."""
    return Path(shutil.copytree(SQUARE, tmp_path_factory.mktemp("precision") / "square"))


GOLDEN = """from aclgrad.testing import case


def golden(x):
    return x * x * (1 + {error} * 2**-23)


def cases():
    yield case((64,), values=(-1, 1), name="plain"{words})
"""


def test_a_tolerance_is_heard_and_shown(square: Path) -> None:
    path = square / "square_golden.py"
    path.write_text(GOLDEN.format(error=300, words=""))
    assert [case["passed"] for case in cases(square, status=1)] == [False] * 3
    for words in ("1000", "fp32=1000", "fp16=8, fp32=1000"):
        found = cases(square, "--tolerance", words)
        assert all(case["passed"] and case["tolerance_given"] for case in found)
        assert {case["bound_in_ulp_of_scale"] for case in found} == {1000}
        assert "--tolerance" in found[0]["repro"]
    path.write_text(GOLDEN.format(error=300, words=", tolerance={'fp32': 700}"))
    assert {case["bound_in_ulp_of_scale"] for case in cases(square)} == {700}
    text = aclgrad("test", cwd=square)
    assert "3 cases have a tolerance of their own: 700 ULP of the scale" in text
    # The command's comes first, and can be stricter.
    assert not any(case["passed"] for case in cases(square, "--tolerance", "8", status=1))


@pytest.mark.parametrize("word", ["0", "-1", "nan", "inf", "x", "", "fp17=8", "fp16=8,9", "fp16="])
def test_tolerances_that_are_refused(word: str, square: Path) -> None:
    said = aclgrad("test", "--tolerance", word, cwd=square, status=1)
    assert "--tolerance: got" in said and "Next: " in said and "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (", tolerance=0", "case: tolerance: got 0"),
        (", tolerance='much'", "case: tolerance: got 'much'"),
        (", tolerance={'fp17': 8}", "fp17"),
        (", tolerance={}", "case: tolerance: got {}"),
        (", scale='z'", "scale of z, the inputs are x"),
        (", scale=3", "scale: got 3"),
    ],
)
def test_words_of_a_case_that_are_refused(words: str, wanted: str, square: Path) -> None:
    path = square / "square_golden.py"
    path.write_text(GOLDEN.format(error=0, words=words))
    said = aclgrad("test", cwd=square, status=1)
    assert wanted in said and f"{path}:9" in said and "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("", ["plain", "plain-2^-10", "plain-2^-20"]),
        (", scale='x'", ["plain", "plain-2^-10", "plain-2^-20"]),
        (", scale=None", ["plain"]),
        (", scale=()", ["plain"]),
    ],
)
def test_the_scales_of_a_case(words: str, names: list[str], square: Path) -> None:
    path = square / "square_golden.py"
    path.write_text(GOLDEN.format(error=0, words=words))
    found = cases(square)
    assert [case["name"] for case in found] == [f"fp32-{name}" for name in names]
    assert all(case["passed"] and case["public_standard"] == "passed" for case in found)
    (one,) = cases(square, "--case", found[-1]["name"])
    assert one["name"] == found[-1]["name"]


def test_values_that_must_not_get_smaller_are_left(square: Path) -> None:
    path = square / "square_golden.py"
    for values in ("(1, 2)", "'zero'", "'nan'", "{'x': __import__('numpy').ones(64)}"):
        path.write_text(GOLDEN.format(error=0, words="").replace("(-1, 1)", values))
        assert [case["name"] for case in cases(square)] == ["fp32-plain"]
    text = GOLDEN.format(error=0, words="").replace("(-1, 1)", "'zero'")
    path.write_text(text)
    assert "1 case has a golden of zeros" in aclgrad("test", cwd=square)
