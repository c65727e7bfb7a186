# SPDX-License-Identifier: Apache-2.0
"""Scripts that run tests under torch: how they read what pytest leaves behind, without torch."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import cuda_stand_ins  # noqa: E402
import sgl_kernel_npu_tests  # noqa: E402
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


def test_folders_of_the_machine_are_left_out(tmp_path: Path) -> None:
    """A page that others read names a program, not where it lay."""
    file = tmp_path / "it.xml"
    for said, wanted in (
        ("E: Command [/opt/a.b/bin/python, /tmp/x-0/p.py]", "E: Command [python, p.py]"),
        ("https://a.org/b/c.html, Math/Neg, 1/2", "https://a.org/b/c.html, Math/Neg, 1/2"),
    ):
        message = f"<error message='{said}'/>"
        file.write_text(f"<a><testcase classname='c' name='n'>{message}</testcase></a>")
        assert outcomes(file) == Outcomes({"c::n"}, {"c::n": wanted})


def test_table_of_vllm_ascend() -> None:
    """Builds of operators stand below the tests; what the time limit cut is not called skipped."""
    cut = "Skipped: over the time limit of the file"
    results = {
        "test_a.py": {"x": ("passed", ""), "y": ("skipped", cut), "z": ("skipped", "no board")},
        "test_b.py": {"(import)": ("failed", "No module named 'vllm_ascend.ops'")},
        "csrc/norm": {"(build)": ("passed", "vendor")},
        "csrc/gate": {"(build)": ("failed", "x | y")},
    }
    assert vllm_ascend_tests.table(results).splitlines() == [
        "| file | tests | passed | skipped by themselves | why others fail |",
        "|---|---|---|---|---|",
        "| test_a.py | 1 | 1 | 1 | not run: over the time limit of the file (1) |",
        "| test_b.py | 1 | 0 | 0 | vllm-ascend's Python, which needs vllm (1) |",
        "| all of these | 2 | 1 | 1 | |",
        "",
        "1 of 2 operators build: norm.",
        "",
        "| operator | why it does not build |",
        "|---|---|",
        "| gate | x \\| y |",
    ]


def test_operators_of_vllm_ascend(tmp_path: Path) -> None:
    """The lists of other SoCs are not those of ascend910b."""
    (tmp_path / "csrc").mkdir()
    lists = "".join(
        f'elif [[ "$SOC_VERSION" =~ ^{soc} ]]; then\n    CUSTOM_OPS_ARRAY=(\n{names}    )\n'
        for soc, names in (
            ("ascend310", '        "one"\n'),
            ("ascend910b", '        "two"\n        "three"\n'),
            ("ascend950", '        "four"\n'),
        )
    )
    (tmp_path / "csrc" / "build_aclnn.sh").write_text(lists)
    assert vllm_ascend_tests.operators(tmp_path) == ["two", "three"]


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
        "| what fails | torch_npu |",
        "|---|---|",
        "| import torch_npu: ImportError: no | 2.7.1.post8 |",
        "| test_a: x \\| y | 2.8.0, 2.9.0.post2 |",
    ]


def test_a_table_by_version_keeps_other_versions() -> None:
    """A run of one version replaces what the page says of that version, and nothing else."""
    works: torch_versions.Row = {file: (3, {}) for file in torch_versions.TESTS}
    worse = {**works, "fallback": (4, {"test_fallback::test_a": "x | y"})}
    start = {"": (1, {"import torch_npu": "ImportError: no"})}
    old = {"2.7.1, 2.7.1.post8": start, "2.10.0, 2.10.0": worse, "2.10.0, 2.10.0.post7": worse}
    before = torch_versions.table(old)
    assert torch_versions.table({}, before) == before
    new = {"2.9.0, 2.9.0": worse, "2.10.0, 2.10.0": works}
    text = torch_versions.table(new, before)
    assert sorted(text.splitlines()) == sorted(torch_versions.table({**old, **new}).splitlines())
    assert "| test_a: x \\| y | 2.9.0, 2.10.0.post7 |" in text


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


def test_what_needs_triton_is_found(tmp_path: Path) -> None:
    """A file needs what it imports, and what the package's modules that it imports do."""
    package = tmp_path / "kernels"
    (package / "norm").mkdir(parents=True)
    (package / "__init__.py").write_text("import os\n")
    (package / "plain.py").write_text("def later():\n    import triton\n")
    (package / "norm" / "__init__.py").write_text("")
    (package / "norm" / "scale.py").write_text(
        "try:\n    import triton.language as tl\nfinally:\n    pass\n"
    )
    for text, wanted in (
        ("import triton\n", True),
        ("from kernels.norm.scale import scale\n", True),
        ("import kernels.plain\n", False),
        ("import tritonclient\n", False),
    ):
        file = tmp_path / "test_file.py"
        file.write_text(text)
        assert sgl_kernel_npu_tests.needs(file, "triton", tmp_path) is wanted, text


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("print(1)\n", True),
        ("def test_op(x):\n    pass\nif __name__ == '__main__':\n    test_op(1)\n", True),
        ("def test_a():\n    pass\n", False),
        ("def test_a():\n    pass\nif __name__ == '__main__':\n    pytest.main()\n", False),
        ("class A(unittest.TestCase):\n    pass\nif __name__ == '__main__':\n    main()\n", False),
    ],
)
def test_programs_are_told_from_tests(tmp_path: Path, text: str, program: bool) -> None:
    (tmp_path / "test_file.py").write_text(text)
    assert sgl_kernel_npu_tests.is_program(tmp_path / "test_file.py") is program


def test_table_of_sgl_kernel_npu(tmp_path: Path) -> None:
    (tmp_path / "test_norm.py").write_text("def test_a():\n    pass\ndef test_b():\n    pass\n")
    results = {
        "test_b.py": {"(program)": ("failed", "Summary: pass=3, fail=1"), "x": ("skipped", "")},
        "test_a.py": {"A::x": ("passed", ""), "A::y": ("failed", "aclgrad finding")},
    }
    text = sgl_kernel_npu_tests.table(results, {"a | b": [tmp_path / "test_norm.py"]})
    assert text.splitlines() == [
        "| file | tests | passed | skipped by themselves | why others fail |",
        "|---|---|---|---|---|",
        "| test_a.py | 2 | 1 | 0 | a finding in a kernel (1) |",
        "| test_b.py | 1 | 0 | 1 | differs from the test's values (1) |",
        "| all of these | 3 | 1 | 1 | |",
        "",
        "| not run, as they need | files | test functions |",
        "|---|---|---|",
        "| a \\| b | 1 | 2 |",
    ]


def test_stand_ins_say_that_there_is_no_device(tmp_path: Path) -> None:
    """A library that wants a version of CUDA's loads with the stand-in, whose functions say 100."""
    place = tmp_path / "torch" / "lib"
    place.mkdir(parents=True)
    cuda = place / "libcudart.so.12"
    cuda_stand_ins.make(cuda.name, {"libcudart.so.12": {"cudaGetDeviceCount"}}, place)
    source = tmp_path / "user.c"
    source.write_text(
        "int cudaGetDeviceCount(void);\nint ask(void) { return cudaGetDeviceCount(); }\n"
    )
    user = place / "libtorch_cuda.so"
    build: list[str | Path] = ["cc", "-shared", "-fPIC", "-o", user, source, cuda]
    subprocess.run([*build, "-Wl,-rpath,$ORIGIN"], check=True)
    cuda.unlink()
    assert cuda_stand_ins.wanted([user]) == {cuda.name: {cuda.name: {"cudaGetDeviceCount"}}}
    setting = b"..pinned_reserve_segment_size_mb.."
    (place / "libc10_cuda.so").write_bytes(user.read_bytes() + setting)
    with pytest.raises(OSError, match="libcudart"):
        ctypes.CDLL(str(user))
    cuda_stand_ins.put_in(tmp_path)
    assert ctypes.CDLL(str(user)).ask() == 100
    assert b"xinned_reserve_segment_size_mb" in (place / "libc10_cuda.so").read_bytes()
