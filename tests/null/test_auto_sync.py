# SPDX-License-Identifier: Apache-2.0
"""What a project's own build says about the device compiler's synchronisation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aclgrad.reading.auto_sync import ENVIRONMENT, Assumed, assume

SOC = "Ascend910B2"
OFF = "--cce-auto-sync=off"


def _spelled(text: str) -> str:
    """With the option for @on and @off."""
    return text.replace("@", "--cce-auto-sync=")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)


@pytest.fixture
def operator(tmp_path: Path) -> Path:
    """The operator FooBar in a project."""
    folder = tmp_path / "project" / "math" / "foo"
    (folder / "op_host").mkdir(parents=True)
    (folder / "op_kernel").mkdir()
    (folder / "op_host" / "foo_def.cpp").write_text("class FooBar {};\nOP_ADD(FooBar);\n")
    (folder / "op_kernel" / "foo.cpp").write_text("")
    (tmp_path / "project" / ".git").mkdir()
    return folder


def _config(operator: Path, **entry: Any) -> None:
    folder = operator.parents[1] / "scripts/kernel/binary_config"
    folder.mkdir(parents=True)
    entries = [{"name": "Other", "auto_sync": True}, {"name": "FooBar", **entry}]
    text = "[\n" + ",\n".join(map(json.dumps, entries)) + "\n]\n"
    (folder / "ascendc_config.json").write_text(text)


def test_default(operator: Path) -> None:
    """CANN's builds switch it on."""
    assert assume(operator, SOC) == Assumed(
        True, "CANN's default, no build file of the project says otherwise"
    )


def test_the_option_wins(operator: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--autosync before the environment before the build."""
    _config(operator, auto_sync=False)
    assert assume(operator, SOC, "on") == Assumed(True, "--autosync", chosen=True)
    monkeypatch.setenv(ENVIRONMENT, "on")
    assert assume(operator, SOC) == Assumed(True, ENVIRONMENT)


@pytest.mark.parametrize(
    ("entry", "on"),
    [
        ({"auto_sync": False}, False),
        ({"auto_sync": True}, True),
        ({"auto_sync": False, "compute_units": ["ascend910b", "ascend310p"]}, False),
        ({"auto_sync": False, "compute_units": ["ascend950"]}, None),
        ({"auto_sync": {"ascend910b": False, "ascend950": True}}, False),
        ({"auto_sync": {"ascend950": False}}, None),
        ({"compile_options": {"ascend910b": [OFF]}}, False),
        ({"auto_sync": True, "compile_options": {"ascend910b": [OFF]}}, False),
        ({"auto_sync": True, "compile_options": {"ascend950": [OFF]}}, True),
        ({"impl_mode": "high_performance"}, None),
    ],
)
def test_config(operator: Path, entry: dict[str, Any], on: bool | None) -> None:
    """Entries of ascendc_config.json, by operator and compute unit."""
    _config(operator, **entry)
    found = assume(operator / "op_kernel" / "foo.cpp", SOC)
    assert found.on is (on is not False)
    named = "scripts/kernel/binary_config/ascendc_config.json:3 says so of FooBar on ascend910b"
    assert (found.why == named) is (on is not None)


def test_broken_config(operator: Path) -> None:
    """What cannot be read is not passed over."""
    _config(operator)
    file = operator.parents[1] / "scripts/kernel/binary_config/ascendc_config.json"
    file.write_text("[{")
    with pytest.raises(ValueError, match=r"ascendc_config.json: not JSON: .*Next: fix it"):
        assume(operator, SOC)


@pytest.mark.parametrize(
    ("place", "text", "on"),
    [
        ("op_host", "add_ops_compile_options(OP_NAME FooBar OPTIONS @off -Werror)", 0),
        ("op_host", 'add_ops_compile_options("FooBar" OPTIONS @off)', 0),
        ("op_host", "add_ops_compile_options(OP_NAME Other OPTIONS @off)", None),
        ("op_host", "add_ops_compile_options(ALL OPTIONS @on)", 1),
        ("op_kernel", "add_ops_compile_options(ALL COMPUTE_UNIT ascend950 OPTIONS @off)", None),
        ("op_kernel", "add_ops_compile_options(ALL COMPUTE_UNIT ascend910b OPTIONS @off)", 0),
        ("../..", "npu_op_kernel_options(kernels ALL OPTIONS -g @off)", 0),
        ("../..", "npu_op_kernel_options(kernels Other OPTIONS @off)", None),
        ("op_kernel", "add_kernel_sources(\n  KERNEL_SRC foo.cpp\n  AUTO_SYNC false\n)", 0),
        ("op_kernel", "add_kernel_sources(COMPUTE_UNITS ascend950 AUTO_SYNC false)", None),
        ("op_kernel", "add_kernel_sources(AUTO_SYNC false OPTIONS @on)", 1),
        ("op_kernel", "ascendc_compile_options(kernels PRIVATE @off)", 0),
        (".", "# add_compile_options(@off)", None),
        (".", "set(FLAGS -O2 @off)\nadd_compile_options(${FLAGS})", 0),
        ("..", "add_compile_options(@off)", 0),
        (".", "add_compile_options(--cce-auto-sync-log=a.txt)", None),
    ],
)  # fmt: skip
def test_cmake(operator: Path, place: str, text: str, on: int | None) -> None:
    """Compile options and AUTO_SYNC of CMake lists, the operator's own and those above it."""
    _config(operator, auto_sync=True)
    file = (operator / place).resolve() / "CMakeLists.txt"
    file.write_text(_spelled(f"cmake_minimum_required(VERSION 3.16)\n{text}\n"))
    found = assume(operator, SOC)
    if on is None:
        assert found.on and "ascendc_config.json" in found.why
    else:
        assert found.on is bool(on)
        assert file.relative_to(operator.parents[1]).as_posix() in found.why


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("add_executable(demo a.asc)\ntarget_compile_options(demo PRIVATE\n"
         "  $<$<COMPILE_LANGUAGE:ASC>:--npu-arch=dav-2201 @off>)", False),
        ("add_executable(demo b.asc)\ntarget_compile_options(demo PRIVATE @off)", True),
        ("ascendc_library(k SHARED ${CMAKE_CURRENT_SOURCE_DIR}/a.asc)\n"
         "ascendc_compile_options(k PRIVATE @off)", False),
        ('set(CMAKE_ASC_FLAGS "${CMAKE_ASC_FLAGS} @off")', False),
        ("set_source_files_properties(a.asc PROPERTIES COMPILE_OPTIONS @off)", False),
        ("set_source_files_properties(b.asc PROPERTIES COMPILE_OPTIONS @off)", True),
    ],
)  # fmt: skip
def test_single_file(tmp_path: Path, text: str, on: bool) -> None:
    """A program or kernel file: by the target that it belongs to."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.asc").write_text("")
    (tmp_path / "CMakeLists.txt").write_text(_spelled(text))
    assert assume(tmp_path / "a.asc", SOC).on is on
