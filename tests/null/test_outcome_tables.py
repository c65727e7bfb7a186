# SPDX-License-Identifier: Apache-2.0
"""Scripts that run tests under torch: how they read what pytest leaves behind, without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import torch_versions  # noqa: E402
import vllm_ascend_tests  # noqa: E402
from pytest_outcomes import Outcomes, outcomes  # noqa: E402

TESTS = """
import pytest

@pytest.fixture
def broken():
    raise OSError("no board")

@pytest.fixture
def ends_badly():
    yield
    raise OSError("a pipe | broke")

def test_passes():
    pass

class TestOther:
    def test_passes(self):
        raise ValueError("one line\\nof two")

def test_fails_twice(ends_badly):
    raise ValueError("the body first")

def test_needs_a_board(broken):
    pass

def test_says_nothing():
    raise ValueError

@pytest.mark.skip
def test_is_skipped():
    pass
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """What pytest says of TESTS."""
    folder = tmp_path_factory.mktemp("tests")
    (folder / "test_it.py").write_text(TESTS)
    words = ["-q", "-p", "no:cacheprovider", "--junitxml=it.xml", "test_it.py"]
    run = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=folder, check=False)
    assert run.returncode == 1
    return outcomes(folder / "it.xml")


def test_each_test_counts_once(found: Outcomes) -> None:
    """Tests of one name in two classes are two; one that was skipped has not passed."""
    assert len(found.ran) == 5
    assert {name.rpartition("::")[2] for name in found.failed} == {
        "test_passes",
        "test_fails_twice",
        "test_needs_a_board",
        "test_says_nothing",
    }
    assert [name for name in found.failed if "TestOther" in name] == [
        "test_it.TestOther::test_passes"
    ]


def test_the_reason_is_the_first_line(found: Outcomes) -> None:
    reasons = {name.rpartition("::")[2]: reason for name, reason in found.failed.items()}
    assert reasons["test_passes"] == "ValueError: one line"
    assert reasons["test_fails_twice"] == "ValueError: the body first"
    assert "no board" in reasons["test_needs_a_board"]
    assert reasons["test_says_nothing"].startswith("ValueError")


def test_no_message(tmp_path: Path) -> None:
    file = tmp_path / "it.xml"
    file.write_text("<a><testcase classname='c' name='n'><error message=''/></testcase></a>")
    assert outcomes(file) == Outcomes({"c::n"}, {"c::n": "no message"})


def test_table_by_operator() -> None:
    """Equal reasons are one row; what would end a cell is escaped."""
    text = vllm_ascend_tests.table(
        {
            "a": Outcomes(
                {"t::0", "t::1", "t::2", "t::3"}, {"t::1": "x | y", "t::2": "x | y", "t::3": "z"}
            ),
            "b": Outcomes(set(), {}),
        }
    )
    assert text.splitlines() == [
        "| operator | tests | passed | share |",
        "|---|---|---|---|",
        "| a | 4 | 1 | 25.0% |",
        "| b | 0 | 0 | 0.0% |",
        "",
        "| reason of a failure | operator | tests |",
        "|---|---|---|",
        "| x \\| y | a | 2 |",
        "| z | a | 1 |",
    ]


def test_table_by_version() -> None:
    """A version that does not start has no figures, but a reason."""
    works: torch_versions.Row = {file: (3, {}) for file in torch_versions.TESTS}
    worse = {**works, "fallback": (4, {"test_fallback::test_a": "x | y"})}
    text = torch_versions.table(
        {
            "2.7.1, 2.7.1.post8": {"": (1, {"import torch_npu": "ImportError: no"})},
            "2.8.0, 2.8.0": worse,
            "2.9.0, 2.9.0.post2": worse,
            "2.10.0, 2.10.0": works,
        }
    )
    rows = [[cell.strip() for cell in line.split(" | ")] for line in text.splitlines()]
    column = 1 + torch_versions.TESTS.index("fallback")
    assert [row[column] for row in rows[2:6]] == ["-", "3 of 4", "3 of 4", "3 of 3"]
    assert text.splitlines()[6:] == [
        "",
        "| what fails | torch |",
        "|---|---|",
        "| import torch_npu: ImportError: no | 2.7.1 |",
        "| test_a: x \\| y | 2.8.0, 2.9.0 |",
    ]


def test_files_are_told_apart() -> None:
    names = {"tests.torch_backend.test_fallback::test_a", "tests.torch_backend.test_operators::b"}
    failed = {"tests.torch_backend.test_fallback::test_a": "no"}
    row = torch_versions.by_file(Outcomes(names, failed))
    assert row["fallback"] == (1, failed) and row["operators"] == (1, {})
    assert row["findings_are_exceptions"] == (0, {})


def test_each_torch_npu_has_its_torch() -> None:
    assert torch_versions.torch_of("2.7.1.post11") == "2.7.1"
    assert torch_versions.torch_of("2.13.0") == "2.13.0"
    names = ["2.10.0+cu128, 2.10.0", "2.9.0, 2.9.0.post2", "2.13.0+cpu, 2.13.0", "2.9.0, 2.9.0"]
    assert [name.partition(",")[0] for name in sorted(names, key=torch_versions.order)] == [
        "2.9.0",
        "2.9.0",
        "2.10.0+cu128",
        "2.13.0+cpu",
    ]


def test_files_of_versions_are_there() -> None:
    """The table of torch_npu's versions is of these files of tests/torch_backend."""
    for name in torch_versions.TESTS:
        assert (ROOT / "tests/torch_backend" / f"test_{name}.py").is_file(), name
