# SPDX-License-Identifier: Apache-2.0
"""On each road a source that is put back with its old time is what runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from aclgrad.building import operator_build
from aclgrad.building.build_tools import need_tool
from aclgrad.checkout.cmake_build import is_current
from aclgrad.cli import installation
from aclgrad.common import rebuild
from aclgrad.common.locks import alone
from aclgrad.reading.layout import locate
from aclgrad.running import kernel_file
from aclgrad.runtime import packages
from aclgrad.spec.soc import family_of
from sanitizers import RUNS_CMAKE

HERE = Path(__file__).parents[1]
SOC = "Ascend910B2"


def edited(path: Path, old: str, new: str, look: Callable[[], object]) -> None:
    """Build an edit, put the file back as it was, and see what was built before."""
    before = look()
    kept = path.with_suffix(".kept")
    shutil.copy2(path, kept)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    times = path.stat()
    os.utime(path, (10**9, 10**9))
    assert look() != before
    kept.rename(path)
    assert path.stat().st_mtime < times.st_mtime
    assert look() == before
    assert look() == before


@pytest.fixture
def project(tmp_path: Path, new_cache: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ACLGRAD_CACHE", str(new_cache()))
    source = HERE / "projects"
    return Path(shutil.copytree(source, tmp_path / "library")) / "math" / "clip_rows"


def test_kernel_definition_and_tiling(project: Path) -> None:
    """The kernel's library, what op_host registers, and the library of tiling."""

    def look() -> tuple[object, ...]:
        built = operator_build.build(project, soc=SOC)
        builder = operator_build.Builder(locate(project), family_of(SOC))
        described = builder.describe()
        return built.kernels[0].read_bytes(), str(described), builder.host_library.read_bytes()

    kernel = project / "op_kernel" / "clip_rows.cpp"
    edited(kernel, "data.limits.high, columns", "0.0f, columns", look)


def test_kernel_that_nobody_asks_for(project: Path) -> None:
    """One that was built before an edit is not there for an aclnn function to launch."""
    (built,) = operator_build.build(project, soc=SOC).kernels
    other = built.with_name("ClipRows_float16_float16_float16.so")  # of an earlier definition
    shutil.copy(built, other)
    builder = operator_build.Builder(locate(project), family_of(SOC))
    (op,) = builder.build_host().ops
    builder.drop_stale(op)
    assert built.exists() and not other.exists()
    kernel = project / "op_kernel" / "clip_rows.cpp"
    kernel.write_text(kernel.read_text().replace("data.limits.high, columns", "0.0f, columns"))
    os.utime(kernel, (10**9, 10**9))
    builder.drop_stale(op)
    assert not built.exists()


@pytest.mark.parametrize(
    "file", ["op_kernel/clip_rows.cpp", "op_host/clip_rows_tiling.h", "include/kernel_operator.h"]
)
def test_exec_and_doctor_name_a_package_that_its_sources_have_left_behind(
    file: str, project: Path, toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs load a package as it is, unlike `aclgrad run`, which builds it again before. A
    header of the toolkit is another one in another version of the simulator.
    """
    package = operator_build.build(project, soc=SOC).package
    monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", str(package))
    root = tmp_path / "another simulator"
    shutil.copytree(toolkit / "include", root / "include", symlinks=True)
    assert not [*packages.outdated(toolkit)] and not [*packages.outdated(root)]

    path = (root if file.startswith("include/") else project) / file
    path.write_text(f"{path.read_text()}// edited\n")
    expected = f"{package} was built before {path} was changed. Next: aclgrad build {project}"
    assert [*packages.outdated(root)] == [expected]
    if path.is_relative_to(root):
        return
    program = [sys.executable, "-m", "aclgrad", "exec", "--", "true"]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stderr == f"warning: exec: {expected}\n"
    lines = [f"{line.value}. Next: {line.fix}" for line in installation.libraries("sim")]
    assert lines.count(expected) == 1
    operator_build.build(project, soc=SOC)
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_kernel_that_another_command_makes(project: Path) -> None:
    """Between its file and its record it looks stale, and is not."""
    (built,) = operator_build.build(project, soc=SOC).kernels
    builder = operator_build.Builder(locate(project), family_of(SOC))
    (op,) = builder.build_host().ops
    record = rebuild.record_of(built)
    text = record.read_bytes()
    with alone(rebuild.lock_of(built)):
        record.unlink()
        other = threading.Thread(target=builder.drop_stale, args=(op,))
        other.start()
        other.join(0.5)
        assert other.is_alive()  # it waits
        record.write_bytes(text)
    other.join()
    assert built.exists() and record.exists()


def test_program(
    tmp_path: Path, new_cache: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An .asc file, and a header beside it."""
    monkeypatch.setenv("ACLGRAD_CACHE", str(new_cache()))
    header, source = tmp_path / "value.h", tmp_path / "program.asc"
    header.write_text("#define VALUE 1\n")
    source.write_text('#include "value.h"\nint main() { return VALUE; }\n')

    def look() -> int:
        program = kernel_file.build_program(source, family_of(SOC))
        return kernel_file.run_program([str(program)]).status

    edited(header, "VALUE 1", "VALUE 2", look)
    edited(source, "VALUE;", "VALUE + 4;", look)


LISTS = """\
cmake_minimum_required(VERSION 3.19)
project(tiny CXX)
file(GLOB sources CONFIGURE_DEPENDS *.cpp)
add_library(tiny STATIC ${sources})
"""


@RUNS_CMAKE
def test_doctor_knows_a_build_that_is_current(tmp_path: Path) -> None:
    """Lists that collect their sources let Ninja look at the folder each time, which is no work."""
    build = tmp_path / "build"
    (tmp_path / "CMakeLists.txt").write_text(LISTS)
    (tmp_path / "one.cpp").write_text("int one() { return 1; }\n")

    def make() -> None:
        subprocess.run([need_tool("cmake"), "--build", build], check=True, capture_output=True)

    assert not is_current(build)
    words = [need_tool("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={need_tool('ninja')}"]
    subprocess.run([*words, "-S", tmp_path, "-B", build], check=True, capture_output=True)
    assert not is_current(build)
    make()
    assert is_current(build)
    for edit in (
        lambda: (tmp_path / "one.cpp").write_text("int one() { return 2; }\n"),
        lambda: (tmp_path / "two.cpp").write_text("int two() { return 2; }\n"),
        lambda: (tmp_path / "two.cpp").unlink(),
        lambda: (tmp_path / "CMakeLists.txt").write_text(f"{LISTS}# edited\n"),
    ):
        edit()
        assert not is_current(build) and not is_current(build)
        make()
        assert is_current(build)
