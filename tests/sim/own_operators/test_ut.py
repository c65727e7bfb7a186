# SPDX-License-Identifier: Apache-2.0
"""gtest unit tests of CANN's CPU twin, built and run unchanged: ``aclgrad ut``, and find_package.

Every test in projects passes for googletest; what matters is what is said of it here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import commands
from aclgrad.building.operator_build import Builder
from aclgrad.reading.sources import SourcesError
from aclgrad.runtime import Device
from aclgrad.spec.soc import family_of
from aclgrad.unit_tests import cmake_lists
from aclgrad.unit_tests import gtest as unit_tests_gtest
from aclgrad.unit_tests.oracle import Verdict
from aclgrad.unit_tests.test_files import find_tests

pytestmark = [pytest.mark.journey, pytest.mark.plants_faults]

Planted = dict[str, dict[str, Any]]
LIBRARY = Path(__file__).parents[1] / "projects"
MATH = LIBRARY / "math"


@pytest.fixture(scope="module")
def gtest(session_device: Device) -> None:
    """Skip where googletest is absent: it is no part of the package."""
    assert session_device.kind == "sim"
    sources = find_tests(MATH / "planted")[0].sources
    try:
        unit_tests_gtest.find_gtest(Builder(sources, family_of("Ascend910B2")))
    except SourcesError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def cache(new_cache: Callable[[], Path], gtest: None) -> Path:
    """One cache, so that a file is compiled once; what is run lies there."""
    return new_cache()


def ut(
    cache: Path, *words: str | Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Call the command."""
    return commands.run(
        "ut", *words, environment={"ACLGRAD_CACHE": str(cache), **(environment or {})}
    )


@pytest.fixture(scope="module")
def planted(cache: Path) -> Planted:
    """What is said of each test with a planted fault."""
    done = ut(cache, MATH / "planted", "--json")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert not document["ok"]
    (file,) = (one for one in document["files"] if one["file"].endswith("/test_planted.cpp"))
    return {result["test"]: result for result in file["tests"]}


@pytest.mark.parametrize(
    ("test", "ok", "match", "kinds"),
    [
        ("Right", True, "golden", ()),
        ("WrongAndSaid", False, "mismatch", ()),
        ("WrongAndNotSeen", False, "mismatch", ()),
        ("RightAndNotSeen", True, "own golden", ()),
        ("CompareBroken", False, "mismatch", ()),
        ("NoResult", False, "broken", ()),
        ("DataBroken", False, "broken", ()),
        ("Race", False, "golden", ("race-read-after-write",)),
        ("Bounds", False, "mismatch", ("gm-out-of-bounds",)),
        ("HostMemory", False, "none", ("host-wrong-memory",)),
        ("HostWritesPastTheEnd", False, "none", ("gm-overrun",)),
        ("UnknownKey", False, "none", ("tiling-key-unknown",)),
        ("PlainElse", True, "golden", ()),
        ("NothingToRead", True, "own golden", ()),
        ("GoldenForgotten", False, "broken", ()),
        ("FirstOfTwo", False, "mismatch", ()),
        ("NoSuchScript", False, "mismatch", ()),
    ],
)
def test_verdict(planted: Planted, test: str, ok: bool, match: str, kinds: tuple[str, ...]) -> None:
    """A wrong kernel, a race, a script that cannot fail: found, though googletest is content."""
    result = planted[f"Planted.{test}"]
    assert result["status"] == "passed"
    assert (result["ok"], result["match"], tuple(result["kinds"])) == (ok, match, kinds), result


def test_both_kinds_of_cores(cache: Path) -> None:
    """The program has the kernel twice: the AIC works for what the AIVs call, by whichever name.

    A workspace without room is found where an AIV asks.
    """
    done = ut(cache, MATH / "matmul_leaky_relu")
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("function", "lambda"):
        assert f"ok     MatmulLeakyReluTest.{name}: passed, compared in C++" in done.stdout
    done = ut(cache, MATH / "matmul_leaky_relu", "-D", "ROOM=1024")
    assert done.returncode == 1
    assert "[matmul-use] in matmul_leaky_relu, AIV 0 of 2 AI cores" in done.stdout


def test_scripts_that_could_not_be_copied(planted: Planted) -> None:
    """Nobody looked at the results, and the reason is the shell's own."""
    result = planted["Copied.FromNowhere"]
    assert (result["status"], result["ok"], result["match"]) == ("passed", False, "broken"), result
    assert "no compare script has run: cp: cannot stat" in result["detail"]


def test_every_comparison_is_said(planted: Planted) -> None:
    """Not only the last one's."""
    said = planted["Planted.FirstOfTwo"]["comparisons"]
    assert [one["match"] for one in said] == ["mismatch", "golden"]
    assert {one["script"] for one in said} == {"compare_says.py"}


def test_words_of_a_failure(cache: Path, planted: Planted) -> None:
    """The cause comes first, and no line says that a test passed and is wrong."""
    assert planted["Planted.Bounds"]["after_a_finding"]
    assert not planted["Planted.WrongAndSaid"]["after_a_finding"]
    chosen = "Planted.Bounds:Planted.WrongAndSaid:Planted.NoResult:Planted.Race:Planted.FirstOfTwo"
    done = ut(cache, MATH / "planted", "--filter", chosen)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    heads = dict(line.split(": ", 1) for line in lines if line.startswith("FAILED"))
    assert heads == {
        "FAILED Planted.WrongAndSaid": "MISMATCH; googletest saw nothing wrong",
        "FAILED Planted.NoResult": "NOT JUDGED; googletest saw nothing wrong",
        "FAILED Planted.Race": "1 finding and matches its golden; googletest saw nothing wrong",
        "FAILED Planted.Bounds": (
            "1 finding, and with that MISMATCH; googletest saw nothing wrong"
        ),
        "FAILED Planted.FirstOfTwo": "MISMATCH; googletest saw nothing wrong",
    }
    cause = next(number for number, line in enumerate(lines) if "past the end by 32 B" in line)
    after = next(number for number, line in enumerate(lines) if "after the above: " in line)
    assert cause < after
    first = lines.index("FAILED Planted.FirstOfTwo: MISMATCH; googletest saw nothing wrong")
    assert "compare_says.py: MISMATCH" in lines[first + 1]
    assert "compare_says.py: matches its golden" in lines[first + 2]


def test_keep_going(cache: Path, planted: Planted) -> None:
    """The finding says what was done; numbers that are right all the same are no mismatch."""
    words = (MATH / "planted", "--filter", "Planted.Bounds", "--keep-going")
    done = ut(cache, *words)
    assert done.returncode == 1
    head = "FAILED Planted.Bounds: 1 finding and matches its golden; googletest saw nothing wrong"
    assert head in done.stdout.splitlines()
    how = "keep-going: the 32 bytes outside the tensor were read as 0"
    assert how in done.stdout
    (one,) = json.loads(ut(cache, *words, "--json").stdout)["files"][0]["tests"]
    assert (one["ok"], one["match"], one["kinds"]) == (False, "golden", ["gm-out-of-bounds"])
    assert how in one["findings"][0]
    assert how not in planted["Planted.Bounds"]["findings"][0]
    by_environment = ut(cache, *words[:3], environment={"ACLGRAD_SIM_KEEP_GOING": "1"})
    assert how in by_environment.stdout
    ended = ut(cache, *words[:3], "--no-keep-going", environment={"ACLGRAD_SIM_KEEP_GOING": "1"})
    assert how not in ended.stdout


def test_what_cmake_lists_do(cache: Path) -> None:
    """Options with semicolons and variables, a header before everything, copies in four ways."""
    folder = MATH / "planted" / "tests" / "ut" / "op_kernel" / "listed"
    done = ut(cache, folder / "test_listed.cpp", "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    tests = {one["test"]: one for one in json.loads(done.stdout)["files"][0]["tests"]}
    said = tests["Listed.Right"]["comparisons"]
    assert [one["script"] for one in said] == [
        "compare_each.py",
        "compare_sum.py",
        "compare_count.py",
    ]
    assert tests["Listed.Right"]["ok"], tests["Listed.Right"]
    assert [one["match"] for one in tests["Listed.FirstScriptObjects"]["comparisons"]] == [
        "mismatch",
        "golden",
        "mismatch",  # it looks at the size only, so that golden and result are compared here
    ]
    assert not tests["Listed.FirstScriptObjects"]["ok"]
    assert not (MATH / "touched").exists()


def test_launch_of_the_programs_own_kernel(planted: Planted) -> None:
    """aclsim/launch.h on a stream: googletest compares there."""
    result = planted["Launch.OnStream"]
    assert (result["ok"], result["match"]) == (True, "in the test"), result


def test_crash(planted: Planted) -> None:
    """A test that ends its process is not the end of the others."""
    assert planted["Planted.Crash"]["status"] == "crashed"
    assert not planted["Planted.Crash"]["ok"]


def test_finding_names_argument_and_line(planted: Planted) -> None:
    """By the words of the test, and with the kernel's line."""
    (text,) = planted["Planted.Bounds"]["findings"]
    assert "of x, which has 256: past the end by 32 B" in text
    assert "op_kernel/planted.cpp:" in text
    assert "DataCopy(value, source, kRead);" in text


def test_options_of_the_cmake_list(cache: Path) -> None:
    """The SoC and the macros of AddOpTestCase and of --define, helpers of the library."""
    folder = MATH / "scale_add" / "tests" / "ut" / "op_kernel"
    done = ut(cache, folder, "--filter", "*.lambda", "-D", "SCALE_ADD_ELEMENTS=512")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["ok     ScaleAddTest.lambda: passed, matches its golden"]
    kept = cache.glob("scale_add-*/ut/test_scale_add/run/ScaleAddTest.lambda/scripts/*/golden.bin")
    assert [path.stat().st_size for path in kept] == [512 * 4]


def test_contexts_that_tests_make(cache: Path) -> None:
    """A test that takes the tiling from the operator itself, by what the library's tests share."""
    folder = MATH / "clip_rows" / "tests" / "ut" / "op_kernel"
    done = ut(cache, folder / "test_clip_rows_tiling.cpp")
    assert done.returncode == 0, done.stdout + done.stderr
    tests = ("RunsTheKernel", "PlatformIsAsItWasSet", "Inference", "WhatDoesNotFitIsSaid")
    said = done.stdout.splitlines()
    assert said == [f"ok     ClipRowsTiling.{name}: passed, compared in C++" for name in tests]


def test_nothing_is_written_to_the_library(cache: Path, planted: Planted) -> None:
    """Tests copy their scripts and run them elsewhere."""
    assert planted
    assert not list(MATH.glob("**/*.bin"))
    assert not list(LIBRARY.glob("**/build"))


def test_missing_googletest(cache: Path, tmp_path: Path) -> None:
    """An error that says what to install."""
    compiler = tmp_path / "g++"
    compiler.write_text('#!/bin/sh\ncase "$*" in *gtest*) exit 1;; esac\nexec c++ "$@"\n')
    compiler.chmod(0o755)
    done = ut(cache, MATH / "planted", environment={"CXX": str(compiler)})
    assert done.returncode != 0
    assert "googletest is not installed" in done.stderr
    assert "Next: apt-get install libgtest-dev" in done.stderr


def test_usage_errors(cache: Path, tmp_path: Path) -> None:
    """No such path, no kernel above it, no test that the filter leaves."""
    for words, wanted in (
        ((tmp_path / "none",), "no such file or folder"),
        ((tmp_path,), "no folder above it has op_kernel"),
        ((MATH / "planted", "--filter", "Nobody.*"), "no test that matches 'Nobody.*'"),
    ):
        done = ut(cache, *words)
        assert done.returncode != 0
        assert wanted in " ".join(done.stderr.split())


def test_cmake_project(gtest: None, session_device: Device, tmp_path: Path) -> None:
    """aclgrad_add_kernel_test: findings fail the tests of a project of one's own."""
    assert session_device.kind == "sim"
    config = subprocess.run(
        [sys.executable, "-m", "aclgrad", "config", "--cmake"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    project, build = tmp_path / "project", tmp_path / "build"
    project.mkdir()
    folder = MATH / "planted" / "tests" / "ut" / "op_kernel"
    helpers = LIBRARY / "tests" / "ut" / "op_kernel"
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\n"
        "project(kernel_tests LANGUAGES CXX)\n"
        "find_package(aclgrad REQUIRED)\n"
        f"aclgrad_add_kernel_test(planted SOC Ascend910B2\n"
        f"  SOURCES {folder}/test_planted.cpp {helpers}/data_io.cpp)\n"
        f"target_include_directories(planted PRIVATE {helpers})\n"
    )
    for command in (
        ["cmake", "-S", project, "-B", build, f"-Daclgrad_DIR={config}"],
        ["cmake", "--build", build],
    ):
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    work = tmp_path / "library" / "build" / "tests" / "ut"
    work.mkdir(parents=True)
    (tmp_path / "library" / "math").symlink_to(MATH)
    ran = subprocess.run(
        [str(build / "planted"), "--gtest_filter=Planted.PlainElse:Planted.Race"],
        cwd=work,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 1
    assert "[       OK ] Planted.PlainElse" in ran.stdout
    assert "[  FAILED  ] Planted.Race" in ran.stdout
    assert "race-read-after-write" in ran.stderr


def test_verdicts_that_fail() -> None:
    """Only these count against a test."""
    kinds = ("golden", "own golden", "in the test", "none", "mismatch", "broken")
    assert [kind for kind in kinds if Verdict(kind).wrong] == ["mismatch", "broken"]


def test_each_test_runs_on_the_soc_that_its_list_names(tmp_path: Path) -> None:
    """Whatever it is called, and wherever it lies below the folder."""
    tests = tmp_path / "tests/ut/op_kernel"
    for folder in (tmp_path / "op_kernel", tests / "arch35"):
        folder.mkdir(parents=True)
    entry = 'extern "C" __global__ __aicore__ void twice(GM_ADDR x, GM_ADDR tiling) {}\n'
    for name in ("twice", "twice_apt"):
        (tmp_path / "op_kernel" / f"{name}.cpp").write_text(entry)
    for name in ("test_twice", "test_twice_apt", "arch35/test_twice"):
        (tests / f"{name}.cpp").write_text("TEST(Twice, one) {}\n")
    found = {str(test.path.relative_to(tests)): test for test in find_tests(tmp_path)}
    plain, apt, below = (found.pop(f"{name}.cpp") for name in (
        "test_twice", "test_twice_apt", "arch35/test_twice"))  # fmt: skip
    assert not found
    for words, soc, later in (
        ('"ascend910B1"', "Ascend910B1", "Ascend910B1"),
        ('"ascend950pr_9599"', "Ascend950PR_9599", "Ascend950PR_9599"),
        ('"ascend910B1;ascend950pr_957b"', "Ascend910B1", "Ascend950PR_957b"),
        ('"ascend950;ascend310p"', "Ascend310P3", "Ascend950PR_9589"),
        ('""', None, "Ascend950PR_9589"),
    ):
        (tests / "CMakeLists.txt").write_text(f'AddOpTestCase(twice {words} "-DDTYPE_X=float")\n')
        for test, wanted in ((plain, soc), (apt, later), (below, later)):
            assert cmake_lists.read(test.path, test.sources, tmp_path / "lists").soc == wanted, (
                words
            )
    (tests / "CMakeLists.txt").write_text('AddOpTestCase(twice "ascend310b1" "-DX")\n')
    with pytest.raises(SourcesError, match="the test is for ascend310b1, which is not simulated"):
        assert cmake_lists.read(plain.path, plain.sources, tmp_path / "lists").soc
    assert [test.kernel_for(2201).stem for test in (plain, below)] == ["twice", "twice"]
    assert [test.kernel_for(3510).stem for test in (plain, apt, below)] == ["twice_apt"] * 3
