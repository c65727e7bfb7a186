# SPDX-License-Identifier: Apache-2.0
"""Operator projects of a user's own: what `aclgrad new` writes is green, and what golden files get
wrong is named.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import commands

pytestmark = pytest.mark.journey

ROOT = Path(__file__).resolve().parents[3]

SQUARE = Path(__file__).parents[1] / "projects" / "math" / "square"


def aclgrad(*words: object, cwd: Path, status: int = 0) -> str:
    """Output of a command of aclgrad."""
    done = commands.run(*words, cwd=cwd)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout if status == 0 else done.stdout + done.stderr


def copied(project: Path, place: Path) -> Path:
    """A copy of a project that a test may change, where another test had its own."""
    copy = place / project.name
    shutil.rmtree(copy, ignore_errors=True)
    return Path(shutil.copytree(project, copy))


@pytest.mark.parametrize(
    ("name", "like", "layout", "dtype"),
    [
        ("my_op", "elementwise", "operator", "fp16"),
        ("my_op", "row-reduction", "msopgen", "fp32"),
        ("sqrt", "blank", "operator", "fp16"),  # C has a function of that name
    ],
)
def test_what_new_writes_is_green(
    name: str, like: str, layout: str, dtype: str, tmp_path: Path
) -> None:
    aclgrad("new", name, "project", "--like", like, "--layout", layout, cwd=tmp_path)
    project = tmp_path / "project"
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    chosen = ("--dtype", dtype, "--fast")
    said = json.loads(aclgrad("test", *chosen, "--json", cwd=project))
    assert said["passed"] and len(said["cases"]) > 15
    assert {case["name"].partition("-")[0] for case in said["cases"]} == {dtype}
    checked = aclgrad(*("check", "--autosync", "off", "--chaos", "1", *chosen), cwd=project)
    assert checked.startswith("0 errors") or "\n0 errors" in checked
    plan = json.loads(aclgrad("tiling", "8x1000", "--dtype", dtype, "--json", cwd=project))
    assert plan["op"] in ("MyOp", "Sqrt") and plan["blockDim"] > 1 and plan["tiling"]
    shutil.rmtree(project / "report")
    after = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert after == before
    # Nothing that is there is ever overwritten.
    text = aclgrad("new", name, "project", cwd=tmp_path, status=1)
    assert "exists already, nothing was written. Next: " in text


@pytest.mark.parametrize("soc", ["Ascend910B2", "Ascend950PR_9599"])
def test_the_row_reduction_of_the_examples_is_green_and_its_golden_notices(
    soc: str, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples/row_reduction_operator", project)
    chosen = ("--soc", soc, "--dtype", "fp32")
    said = json.loads(aclgrad("test", *chosen, "--json", cwd=project))
    assert said["passed"] and len(said["cases"]) > 40
    kernel = project / "op_kernel/softmax_cross_entropy_grad.cpp"
    text = kernel.read_text()
    assert "Sub(dst, sy, f, " in text
    kernel.write_text(text.replace("Sub(dst, sy, f, ", "Sub(dst, f, sy, "))
    text = aclgrad("test", *chosen, "--json", cwd=project, status=1)
    said, _ = json.JSONDecoder().raw_decode(text)
    assert not said["passed"]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("HuberGrad", "aclgrad new huber_grad"),
        ("huber-grad", "aclgrad new huber_grad"),
        ("double", "keyword of C++"),
        ("lambda", "keyword of C++ or Python"),
        ("memcpy", "C library"),
        ("2d", "words of a-z"),
        ("../x", "words of a-z"),
        ("", "words of a-z"),
    ],
)
def test_names_that_are_refused(name: str, wanted: str, tmp_path: Path) -> None:
    assert wanted in aclgrad("new", name, cwd=tmp_path, status=1)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def square(tmp_path: Path) -> Path:
    """A copy of a project that has no golden."""
    return Path(shutil.copytree(SQUARE, tmp_path / "square"))


@pytest.fixture(scope="module")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy whose golden file is written anew by each test, so that its kernel is built once."""
    return Path(shutil.copytree(SQUARE, tmp_path_factory.mktemp("once") / "square"))


GOLDENS = {
    "def golden(y):\n    return y\n": ("want golden(x)", 1),
    "def golden():\n    return 1\n": ("no parameter for x", 1),
    "def golden(x)\n    return x\n": ("SyntaxError", 1),
    "import nothing_of_that_name\n": ("ModuleNotFoundError", 1),
    "def other(x):\n    return x\n": ("no function golden", 1),
    "def golden(x):\n\n    return x / unknown\n": ("NameError", 3),
    "def golden(x):\n    return x[..., None]\n": ("the operator's shape inference says", 1),
    "def golden(x):\n    return 'x'\n": ("want numbers", 1),
    "def golden(x):\n    return x, x\n": ("2 results", 1),
    "def golden(x):\n    return None\n": ("nothing would be compared", 1),
    "def golden(x):\n    return x\n\n\ndef terms(y):\n    return y\n": ("want terms(x)", 5),
    "def golden(x):\n    return x\n\n\ndef cases():\n    return []\n": ("yields no case", 5),
    "def golden(x):\n    return x\n\n\ndef cases():\n    yield 1\n": ("yields int", 5),
}
_CASES = {
    "(64,), attrs={'k': 1}": "no attribute k",
    "{'z': (64,)}": "no input z",
    "(64,), dtypes='int8'": "no kernel for int8",
    "(64,), dtypes='fp17'": "got 'fp17'",
    "(64,), layout='diagonal'": "layout: got 'diagonal'",
    "(64,), values='odd'": "values: got 'odd'",
    "(-1,)": "shapes: got (-1,)",
    "(3, 64)": "x must not be a matrix",
}
for _words, _wanted in _CASES.items():
    GOLDENS[
        "from aclgrad.testing import case\n\n\ndef golden(x):\n    return x * x\n\n\n"
        f"def cases():\n    yield case({_words})\n"
    ] = (_wanted, 9)


@pytest.mark.parametrize("text", GOLDENS)
def test_faults_of_a_golden_file_are_named(text: str, built_once: Path) -> None:
    wanted, line = GOLDENS[text]
    path = built_once / "square_golden.py"
    path.write_text(text)
    said = aclgrad("test", built_once, cwd=built_once, status=1)
    assert wanted in said and f"{path}:{line}" in said and "Square" in said.title()
    assert "Traceback" not in said and ("Next: " in said or "repeat: " in said)


def test_run_compares_with_the_golden(square: Path) -> None:
    np.save(square / "x.npy", np.arange(64, dtype=np.float32))
    command = ("run", square, "x.npy", "--golden")
    text = aclgrad(*command, cwd=square, status=1)
    assert "no golden to compare with" in text and "Next: aclgrad new --from" in text
    aclgrad("new", "--from", square, cwd=square)
    path = square / "square_golden.py"
    assert "NotImplementedError" in aclgrad("test", cwd=square, status=1)
    path.write_text("def golden(x):\n    return x * x\n")
    assert "passed: 64/64 elements match" in aclgrad(*command, cwd=square)
    path.write_text("def golden(x):\n    return x * x + (x == 5)\n")
    wrong = aclgrad(*command, cwd=square, status=1)
    assert "[5] got 25, want 26" in wrong
    # ULPs of float32 at 10^7 are 1, so an error of a millionth of one is none of the arithmetic's.
    near = "def golden(x):\n    return x * x + 1e-6\n"
    found = []
    for text in (near, near + "\n\ndef terms(x):\n    return 0 * x - 1e7\n"):
        path.write_text(text)
        found.append(json.loads(aclgrad(*command, "--json", cwd=square))["golden"])
    assert (
        found[0]["passed"]
        and found[0]["max_ulp_of_scale"] > 1e-3 > 1e-5 > found[1]["max_ulp_of_scale"]
    )


def test_a_folder_without_an_operator(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for verb in ("build", "test", "check"):
        said = aclgrad(verb, f"{tmp_path}/empty", cwd=tmp_path, status=1)
        assert "Next: " in said and "empty" in said
