# SPDX-License-Identifier: Apache-2.0
"""The sweep over a library of operators: every end that a kernel can have is seen and shown."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from aclgrad.runtime import Device

pytestmark = [pytest.mark.journey, pytest.mark.plants_faults]

LIBRARY = Path(__file__).parents[1] / "projects"
SCRIPT = Path(__file__).parents[3] / "scripts" / "compatibility.py"
sys.path.insert(0, str(SCRIPT.parent))
import compatibility  # noqa: E402

KERNEL = "op_kernel/square.cpp"
EDITS = {
    "wrong": (KERNEL, "Mul(value, value, value", "Add(value, value, value"),
    "faulty": (KERNEL, "DataCopyPad(target, value", "DataCopyPad(target[8], value"),
    "broken": (KERNEL, "Mul(value, value, value", "NoSuchInstruction(value"),
    "later": ("op_host/square_def.cpp", '"ascend910b"', '"ascend950"'),
}  # fmt: skip


@pytest.fixture(scope="module")
def cache(new_cache: Callable[[], Path], session_device: Device) -> Path:
    """One cache for all tests here."""
    assert session_device.kind == "sim"
    return new_cache()


def plant(library: Path, category: str) -> Path:
    """A copy of the operator with a mistake, in a category of its own; returns its folder."""
    folder = library / category / "square"
    shutil.copytree(LIBRARY / "math" / "square", folder)
    if category in EDITS:
        path, old, new = EDITS[category]
        text = (folder / path).read_text()
        assert old in text
        (folder / path).write_text(text.replace(old, new))
    return folder


def sweep(library: Path, cache: Path, *words: str) -> str:
    """Run the script; returns what it prints."""
    command = [
        sys.executable,
        str(SCRIPT),
        str(library),
        "--cache",
        str(cache),
        "--no-unit-tests",
        *words,
    ]
    environment = {**os.environ, "PYTHONPATH": ""}
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout


def test_every_end_of_a_kernel_is_seen(cache: Path, tmp_path: Path) -> None:
    """Matched, mismatched, with a finding, not built, left out; a second run knows them all."""
    library = tmp_path / "lib"
    shutil.copytree(LIBRARY / "common", library / "common")
    for category in ("math", *EDITS):
        plant(library, category)
    page = tmp_path / "page.md"
    printed = sweep(library, cache, "--doc", str(page), "--revision", "lib=abc123")
    assert "4 kernels, 0 known, 4 to try" in printed
    text = page.read_text()
    lines = text.splitlines()
    assert "lib abc123: 4 vector kernels for Atlas A2. Tried: all of them." in lines
    assert any(line.startswith("* lib/broken/square: ‘NoSuchInstruction’ was") for line in lines)
    found = lines[lines.index("* 2: not looked into yet:") + 1 :][:2]
    assert found[0] == "    * lib/faulty/square: gm-out-of-bounds square.cpp:23"
    assert found[1].startswith("    * lib/wrong/square: mismatched: y: ")
    assert "elements are further off than" in found[1]
    assert "* 1: not defined for Atlas A2 or A3" in lines and "lib/math/square" not in text
    for figure in (
        "| op_host and kernel build | 3 | 75 % |",
        "| ran without a finding | 2 | 50 % |",
        "| ran or ended with a finding | 1 |",
        "| results matched | 1 |",
        "| results did not match | 1 |",
    ):
        assert figure in text
    assert "4 kernels, 4 known, 0 to try" in sweep(library, cache)
    sweep(library, cache, "--known", "--sample", "2", "--short", "--doc", str(page))
    text = page.read_text()
    assert "Tried: 2 of them, drawn at random (--sample 2 --seed 0)." in text and len(text) < 2000


@pytest.mark.parametrize(
    ("cases", "verdict"),
    [
        ([("passed", "golden"), ("passed", "none")], "matched by its unit test"),
        ([("passed", "in the test")], "matched by its unit test"),
        ([("failed", "in the test")], "mismatched: its unit test t0 failed: EXPECT_EQ"),
        ([("passed", "golden"), ("passed", "mismatch")], "mismatched: its unit test t1: 3 differ"),
        ([("passed", "none"), ("crashed", "none")], ""),
    ],
    ids=["golden", "in C++", "failed", "mismatch", "nothing compared"],
)
def test_what_a_unit_test_says(cases: list[tuple[str, str]], verdict: str) -> None:
    """Without a reference by name an operator's own unit test says whether results are right."""
    detail = {"mismatch": "3 differ", "in the test": "EXPECT_EQ"}
    listed = [
        {"test": f"t{at}", "status": status, "match": kind, "detail": detail.get(kind, "")}
        for at, (status, kind) in enumerate(cases)
    ]
    assert compatibility.verdict_of(listed) == verdict


def test_unit_tests_that_say_nothing_are_counted() -> None:
    """A page shows how many results might have been compared."""
    built = {**compatibility.nothing(), "kernel": True}
    results = {
        "a/late": {**built, "unit test": compatibility.LATE},
        "a/other": {**built, "unit test": "2 none"},
        "a/right": {**built, "match": "matched"},
    }
    lines = dict(compatibility.Figures.of(results).lines)
    assert lines["- of these with a unit test that gave no result in 60 s"] == 1
    assert "- of these without a unit test, or with one that was not tried" not in lines
    lines = dict(compatibility.Figures.of({**results, "a/untested": built}).lines)
    assert lines["- of these without a unit test, or with one that was not tried"] == 1


def test_why_each_took_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside what the operator says there is what somebody has found out."""
    known = {"a/one": {"kind": "input", "where": "one.cpp:1", "what": "wants a table of blocks"}}
    monkeypatch.setattr(compatibility, "faults", lambda: known)
    refused = {"kernel": True, "ran": "refused", "why": "not of rank 3", "finding": "", "match": ""}
    results = {name: {**compatibility.nothing(), **refused} for name in ("a/one", "a/two")}
    text = compatibility.document(results, 2, {}, {"a": "1234"}, unit="matrix")
    assert "* a/one: not of rank 3 (wants a table of blocks)\n* a/two: not of rank 3\n" in text


def test_a_part_of_a_kernel_is_none(tmp_path: Path) -> None:
    """A source that the one beside it includes is compiled with it."""
    source = plant(tmp_path / "lib", "math") / KERNEL
    part = source.with_name("square_part.cpp")
    part.write_text("template <int way>\n__global__ __aicore__ void square_part(GM_ADDR x) {}\n")
    names = [["lib/math/square", "lib/math/square_part"], ["lib/math/square"]]
    for include, want in zip(("", '#include "square_part.cpp"\n'), names, strict=True):
        source.write_text(include + source.read_text())
        kernels, left_out = compatibility.kernels_of(tmp_path / "lib")
        assert [kernel.name for kernel in kernels] == want
    assert left_out == {"lib/math/square_part": "a part of the kernel's source beside it"}


def test_cells_are_the_same_on_every_machine() -> None:
    text = "k.h:87: src starts at 0x7fdfb84520e0 | /home/me/ops-nn/k.h: 0xffffffff\nmore"
    assert compatibility.escape(text) == "k.h:87: src starts at 0x... \\| ops-nn/k.h: 0xffffffff"


@pytest.mark.parametrize(
    ("kernel", "host", "uses"),
    [
        ('#include "lib/matmul_intf.h"\nAdd(x, y, z, 8);', "", False),
        ("// Mmad makes the sums\nAdd(x, y, z, 8);", "", False),
        ('#include "lib/matmul_intf.h"\nMatmul<A, B, C> mm;', "", True),
        ("LoadDataWithTranspose(l0, l1, params);", "", True),
        ("TBuf<AscendC::TPosition::CO1> sums;", "", True),
        ("load_cbuf_to_ca(a, b, 0, 1, 1, 0, 0, false);", "", True),
        ("Nomad(x); x.mad = 1;", "", False),
        ("run(tiling);", "TCubeTiling cube;", True),
        ("run(tiling);", "/* TCubeTiling */ int cube;", False),
    ],
)  # fmt: skip
def test_which_kernels_use_matrix_units(kernel: str, host: str, uses: bool) -> None:
    """Names count, and neither a header that brings them nor what a comment says."""
    assert compatibility.uses_matrix_units(kernel, host) is uses


def test_more_libraries_are_pages_that_have_no_sentence_of_their_own(tmp_path: Path) -> None:
    """Pages that the introduction links are no more libraries, whatever their names end with."""
    page = tmp_path / "compatibility.md"
    linked = ("attention", "catlass", "catlass_950", "examples_matrix_950", "matrix")
    for name in (*linked, "ops_cv"):
        page.with_name(f"compatibility_{name}.md").write_text("")
    assert compatibility._others(page) == "[ops-cv](compatibility_ops_cv.md)"
