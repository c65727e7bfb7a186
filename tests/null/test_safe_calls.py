# SPDX-License-Identifier: Apache-2.0
"""Calls that have one place each, so that what was mended there stays mended: files that users name
are written by `aclgrad.common.files` and `ReportFile`, nothing of others is evaluated, and no
Python is started that would look for modules in the current folder.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ("python/aclgrad", "scripts", "benchmarks")

OWN_PLACES = {
    # What is written there lies in a build folder, the cache or a temporary folder of one's own.
    "python/aclgrad/checkout/cann_build.py",
    "python/aclgrad/campaign/workers/child.py",
    "python/aclgrad/campaign/workers/cluster.py",
    "python/aclgrad/campaign/run_campaign.py",
    "python/aclgrad/campaign/workers/packing.py",
    "benchmarks/campaign.py",
    "benchmarks/timing/validate.py",
    "python/aclgrad/profiling/calibration/runner.py",
    "python/aclgrad/common/files.py",
    "python/aclgrad/common/rebuild.py",
    "python/aclgrad/headers/check.py",
    "python/aclgrad/headers/op_compiler.py",
    "python/aclgrad/headers/op_compiler_child.py",
    "python/aclgrad/packaging/archive.py",
    "python/aclgrad/packaging/package.py",
    "python/aclgrad/packaging/self_test.py",
    "python/aclgrad/packaging/tested.py",
    "python/aclgrad/building/compiler.py",
    "python/aclgrad/checks/host_sanitizer.py",
    "python/aclgrad/checks/host_sanitizer_child.py",
    "python/aclgrad/checkout/ninja_by_content.py",
    "python/aclgrad/unit_tests/oracle.py",
    "python/aclgrad/unit_tests/record.py",
    "python/aclgrad/reading/sources.py",
    "python/aclgrad/unit_tests/gtest.py",
    "python/aclgrad/packaging/sbom.py",
    "python/aclgrad/packaging/signing.py",
    "benchmarks/driver/choice_list.py",
    "scripts/audit.py",
    "scripts/compatibility.py",
    "scripts/cuda_stand_ins.py",
    "scripts/example_folders.py",
    "scripts/licenses.py",
    "scripts/lock.py",
    "scripts/npu_kernel_bench.py",
    "scripts/sgl_kernel_npu_tests.py",
    "scripts/torch_npu_tests.py",
    "scripts/torch_versions.py",
    "scripts/vllm_ascend_tests.py",
    "scripts/wheel_proof.py",
}
WRITES = re.compile(
    r"\.write_(?:text|bytes)\(|\bopen\([^)]*[\"'][wax]|np\.save[zt]?\w*\((?!file\b)|\.tofile\("
)
EVALUATES = re.compile(
    r"(?<![.\w])(?:eval|exec)\(|\bpickle\b\.load|yaml\.load\(|shell=True|os\.system\(|allow_pickle=True"
)
STARTS = re.compile(r"sys\.executable,\s*[\"']-[cm]")
LOADS = re.compile(r"\bnp\.load\(")
REPORTS = re.compile(r"\bfopen\(|\bofstream\b")


def found(folders: tuple[str, ...], endings: tuple[str, ...], pattern: re.Pattern[str]) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in endings and pattern.search(path.read_text(errors="replace"))
    }


def test_outputs_have_one_writer() -> None:
    assert found(PYTHON, (".py",), WRITES) - OWN_PLACES == set()


def test_nothing_is_evaluated_or_unpickled() -> None:
    assert found((*PYTHON, "simulator"), (".py",), EVALUATES) == set()
    # That one reads what it has just saved itself.
    assert found(PYTHON, (".py",), LOADS) == {"python/aclgrad/packaging/tested.py"}


def test_python_is_started_apart_from_the_current_folder() -> None:
    assert found(PYTHON, (".py",), STARTS) == set()
    shell = re.compile(r"python3?\"? -[cm] (?!pytest|fuzz)")
    texts = [*(ROOT / "scripts").glob("*.sh"), ROOT / ".ci/run", *(ROOT / "docs/ci").glob("*.yml")]
    assert [path.name for path in texts if shell.search(path.read_text())] == []
    cmake = [*ROOT.glob("cmake/**/*.cmake"), *ROOT.glob("**/CMakeLists.txt")]
    starts = re.compile(r"COMMAND[^)]*(?:PYTHON|Python3_EXECUTABLE)\}\s+-[cm]\b")
    own = [path for path in cmake if path.relative_to(ROOT).parts[0] in ("cmake", "simulator")]
    assert own and [path.name for path in own if starts.search(path.read_text())] == []


def test_reports_of_the_simulator_have_one_writer() -> None:
    assert found(("simulator/src",), (".cpp", ".h"), REPORTS) == {"simulator/src/asc/ascc.cpp"}


@pytest.mark.parametrize("folder", ["python", "scripts", "cmake", "simulator/src", ".ci"])
def test_no_fixed_names_in_folders_of_all(folder: str) -> None:
    texts = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    named = [
        path.relative_to(ROOT).as_posix()
        for path in texts
        if path.suffix != ".pyc" and re.search(rb"/(?:var/)?tmp/|/dev/shm/", path.read_bytes())
    ]
    assert named == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (WRITES, 'path.write_text("x")'),
        (WRITES, 'with open(path, "w") as file:'),
        (WRITES, 'path.open("ab")'),
        (WRITES, "np.savez(path, a)"),
        (EVALUATES, "int(eval(text))"),
        (EVALUATES, "pickle.load(file)"),
        (STARTS, '[sys.executable, "-c", code]'),
        (LOADS, "np.load(path)"),
        (REPORTS, 'std::fopen(path, "w")'),
    ],
)
def test_the_patterns_see_what_they_are_for(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)
