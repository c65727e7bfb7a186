# SPDX-License-Identifier: Apache-2.0
"""CMake lists are read as CMake reads them: comments of any form are none of their calls."""

from __future__ import annotations

from pathlib import Path

from aclgrad.reading import auto_sync, cmake_text, launch_lists

LISTS = """\
# ascendc_library(one STATIC one.cpp)
#[[ ascendc_library(two STATIC
  two.cpp) ]]
#[==[ ]] ascendc_library(three STATIC three.cpp) ]==]
set(NAME "a # b" [[c ) # d]]) # set(NAME e)
if(NOT (A AND (B)))
  ascendc_library(four STATIC four.cpp)
endif()
"""


def test_calls_are_found_outside_of_comments() -> None:
    found = list(cmake_text.calls(LISTS))
    assert [(call.name, call.line) for call in found] == [
        ("set", 5),
        ("if", 6),
        ("ascendc_library", 7),
        ("endif", 8),
    ]
    assert found[0].arguments == 'NAME "a # b" [[c ) # d]]'
    assert found[1].arguments == "NOT (A AND (B))"
    assert cmake_text.without_comments(LISTS).count("\n") == LISTS.count("\n")


def test_a_bracket_that_stays_open_loses_no_call() -> None:
    text = "message(STATUS\nascendc_library(one STATIC one.cpp)\n"
    assert [call.name for call in cmake_text.calls(text)] == ["message", "ascendc_library"]


def test_what_is_commented_out_builds_nothing(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(LISTS)
    for name in ("one", "two", "three", "four"):
        (tmp_path / f"{name}.cpp").write_text("")
    said = launch_lists.read(tmp_path)
    assert said is not None
    assert [path.name for path in said.sources] == ["four.cpp"]


def test_what_is_commented_out_says_nothing_of_synchronisation(tmp_path: Path) -> None:
    (tmp_path / "op_host").mkdir()
    lists = tmp_path / "CMakeLists.txt"
    for text, want in (
        ("add_ops_compile_options(ALL OPTIONS --cce-auto-sync=off)\n", "off"),
        ("#[[\nadd_ops_compile_options(ALL OPTIONS --cce-auto-sync=off)\n]]\n", "on"),
    ):
        lists.write_text(text)
        assert auto_sync.assume(str(tmp_path), "Ascend910B2").value == want
