# SPDX-License-Identifier: Apache-2.0
"""Kernel-launch projects with their own CMake lists, by the toolkit's ascendc.cmake."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent / "launch_project"


def cmake(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["cmake", *map(str, words)]
    whole = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=whole)


@pytest.mark.parametrize(
    ("kind", "generator"),
    [("STATIC", "Ninja"), ("SHARED", "Unix Makefiles"), ("OBJECT", "Unix Makefiles")],
)
def test_project_of_kernel_launches(
    toolkit: Path, tmp_path: Path, kind: str, generator: str
) -> None:
    """Launches in the kernel's file and by aclrtlaunch_*.h; what is said of the library after it
    is made counts.
    """
    folder = tmp_path / "build"
    words = ["-S", PROJECT, "-B", folder, f"-DKERNEL_LIBRARY_KIND={kind}", "-G", generator]
    made = cmake(*words, ASCEND_HOME_PATH=str(toolkit))
    assert made.returncode == 0, made.stdout + made.stderr
    assert "CMP" not in made.stderr, made.stderr
    built = cmake("--build", folder)
    assert built.returncode == 0, built.stdout + built.stderr
    run = subprocess.run([folder / "launches"], capture_output=True, text=True, check=False)
    # 1.5 * 10 * 2 + 1, then * 0.5 * 2 + 1
    assert (run.returncode, run.stdout) == (0, "0 0 32 32\n"), run.stderr
    assert (
        "ninja: no work" in (again := cmake("--build", folder)).stdout or "[100%]" in again.stdout
    )


CUBES = """\
#include "kernel_operator.h"

extern "C" __global__ __cube__ void of_cubes(GM_ADDR x) {
  AscendC::CrossCoreSetFlag<0x0, PIPE_MTE3>(0);
}
"""


def test_vector_kernels_beside_a_kernel_of_cubes(toolkit: Path, tmp_path: Path) -> None:
    """A kernel runs on the cores that its own source says, whatever else its library has."""
    shutil.copytree(PROJECT, tmp_path / "project")
    (tmp_path / "project" / "kernels" / "of_cubes.cpp").write_text(CUBES)
    folder = tmp_path / "build"
    words = ["-S", tmp_path / "project", "-B", folder, "-DKERNEL_LIBRARY_KIND=SHARED"]
    made = cmake(*words, ASCEND_HOME_PATH=str(toolkit))
    assert made.returncode == 0, made.stdout + made.stderr
    built = cmake("--build", folder)
    assert built.returncode == 0, built.stdout + built.stderr
    library = next(folder.rglob("liblaunches_kernels.so"))
    symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True)
    assert " aclsimCubeCode" in symbols.stdout
    run = subprocess.run([folder / "launches"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "0 0 32 32\n"), run.stdout + run.stderr


def test_other_places_and_words(toolkit: Path, tmp_path: Path) -> None:
    """CANN's older place; what is wrong names the call."""
    assert (toolkit / "compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake").is_file()
    shutil.copytree(PROJECT, tmp_path / "project")
    lists = tmp_path / "project" / "CMakeLists.txt"
    text = lists.read_text()
    words = ["-S", tmp_path / "project", "-B", tmp_path / "build"]
    words += [f"-DASCEND_CANN_PACKAGE_PATH={toolkit}"]
    for old, new, message in (
        ("${KERNEL_FILES})", "none.cpp)", "none.cpp is missing"),
        (
            "ascendc_include_directories(launches_kernels",
            "ascendc_include_directories(others",
            r"ascendc_include_directories(others): no such target",
        ),
        ('"Ascend910B2"', '"Ascend77"', "want a name such as Ascend910B2"),
    ):
        lists.write_text(text.replace(old, new))
        made = cmake(*words)
        plain = " ".join(made.stderr.split())
        assert made.returncode != 0 and message in plain, made.stderr
        shutil.rmtree(tmp_path / "build", ignore_errors=True)


def test_parameters_with_the_names_of_the_launch(toolkit: Path, tmp_path: Path) -> None:
    """The function of a launch has two parameters of its own, which step aside."""
    shutil.copytree(PROJECT, tmp_path / "project")
    kernel = sorted((tmp_path / "project" / "kernels").glob("*.cpp"))[0]
    with kernel.open("a") as file:
        file.write(
            'extern "C" __global__ __aicore__ void named(GM_ADDR y, uint32_t blockDim,\n'
            "    uint32_t numBlocks, uint32_t stream) { y[0] = blockDim + numBlocks + stream; }\n"
        )
    folder = tmp_path / "build"
    made = cmake("-S", tmp_path / "project", "-B", folder, ASCEND_HOME_PATH=str(toolkit))
    assert made.returncode == 0, made.stdout + made.stderr
    built = cmake("--build", folder)
    assert built.returncode == 0, built.stdout + built.stderr
    (header,) = folder.rglob("aclrtlaunch_named.h")
    assert (
        "uint32_t _numBlocks, aclrtStream _stream, void* y, uint32_t blockDim" in header.read_text()
    )


def test_one_unreadable_source_blocks_no_other_library(toolkit: Path, tmp_path: Path) -> None:
    """A header that is not there is said when CMake runs, and stops its own target alone."""
    shutil.copytree(PROJECT, tmp_path / "project")
    lists = tmp_path / "project" / "CMakeLists.txt"
    other = tmp_path / "project" / "other.cpp"
    other.write_text('#include "kernel_operator.h"\n#include "not_there.h"\n')
    with lists.open("a") as file:
        file.write("ascendc_library(others STATIC other.cpp)\n")
    folder = tmp_path / "build"
    made = cmake("-S", tmp_path / "project", "-B", folder, ASCEND_HOME_PATH=str(toolkit))
    assert made.returncode == 0, made.stdout + made.stderr
    said = " ".join(made.stderr.split())
    assert "other.cpp does not get through the preprocessor" in said and "not_there.h" in said
    alone = cmake("--build", folder, "--target", "launches")
    assert alone.returncode == 0, alone.stdout + alone.stderr
    built = cmake("--build", folder, "--target", "others")
    assert built.returncode != 0 and "not_there.h" in built.stdout + built.stderr
    # The kernels of a file that can be read by now have no launches yet.
    other.with_name("not_there.h").touch()
    again = cmake("--build", folder, "--target", "others")
    assert again.returncode != 0 and "Next: run cmake again" in again.stdout + again.stderr
    assert cmake("-S", tmp_path / "project", "-B", folder).returncode == 0
    assert cmake("--build", folder, "--target", "others").returncode == 0


LEFT_OUT = """\
#include "kernel_operator.h"
#include "not_there.h"
extern "C" __global__ __aicore__ void left(GM_ADDR x, uint32_t count) { *x = NotThere(count); }
"""
CALLER = """\
#include <cstdio>
#include <exception>
#include "aclrtlaunch_left.h"

int main() {
  try {
    return ACLRT_LAUNCH_KERNEL(left)(1, nullptr, nullptr, 3);
  } catch (const std::exception& error) {
    std::puts(error.what());
  }
  return 0;
}
"""


def test_a_source_that_is_left_out(toolkit: Path, tmp_path: Path) -> None:
    """The rest links, and a launch of its kernel says why there is none."""
    (tmp_path / "left.cpp").write_text(LEFT_OUT)
    (tmp_path / "main.cpp").write_text(CALLER)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.19)\nproject(left CXX)\n"
        "include($ENV{ASCEND_HOME_PATH}/tools/tikcpp/ascendc_kernel_cmake/ascendc.cmake)\n"
        "ascendc_library(kernels STATIC left.cpp)\nadd_executable(program main.cpp)\n"
        "target_link_libraries(program PRIVATE kernels)\n"
    )
    for words, status in (((), 2), (("-DACLGRAD_LEAVE_OUT=left.cpp",), 0)):
        folder = tmp_path / f"build{status}"
        made = cmake("-S", tmp_path, "-B", folder, *words, ASCEND_HOME_PATH=str(toolkit))
        assert made.returncode == 0, made.stdout + made.stderr
        assert cmake("--build", folder).returncode == status
    ran = subprocess.run([folder / "program"], capture_output=True, text=True, check=True)
    assert ran.stdout == (
        f"left: its source is left out of this build, {tmp_path}/left.cpp."
        " Next: take left.cpp out of ACLGRAD_LEAVE_OUT\n"
    )
