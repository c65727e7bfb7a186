# SPDX-License-Identifier: Apache-2.0
"""CMake and Ninja, which go by time stamps, build what has another content, and only that."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from aclgrad.building.build_tools import find_compiler
from aclgrad.checkout import cmake_build, ninja_by_content
from aclgrad.errors import ToolkitError


class Checkout:
    """A library of two sources and a header, a generated one, and a program."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root / "source", root / "build"
        self.folder.mkdir()
        self.write(
            "CMakeLists.txt",
            (
                "cmake_minimum_required(VERSION 3.21)\nproject(own LANGUAGES CXX)\n"
                "include(word.cmake)\n"
                "add_custom_command(OUTPUT made.inc DEPENDS made.txt\n"
                "  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/made.txt made.inc)\n"
                "add_library(part STATIC part.cpp ${CMAKE_CURRENT_BINARY_DIR}/made.inc)\n"
                "target_include_directories(part PRIVATE ${CMAKE_CURRENT_BINARY_DIR})\n"
                "add_executable(one one.cpp)\ntarget_link_libraries(one part)\n"
                "target_compile_definitions(one PRIVATE WORD=${word})\n"
                "add_executable(two two.cpp)\ntarget_link_libraries(two part)\n"
            ),
        )
        self.write("word.cmake", "set(word 0)\n")
        self.write("made.txt", "#define MADE 0\n")
        self.write("value.h", "#define VALUE 1\n")
        self.write(
            "part.cpp",
            '#include "value.h"\n#include "made.inc"\nint Part() { return VALUE + MADE; }\n',
        )
        self.write(
            "one.cpp",
            "#ifndef FLAG\n#define FLAG 0\n#endif\n"
            "int Part();\nint main() { return Part() + WORD + FLAG; }\n",
        )
        self.write(
            "two.cpp",
            '#include "value.h"\nint Part();\nint main() { return Part() * 10 + VALUE; }\n',
        )

    def write(self, name: str, text: str, old: bool = False) -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        if old:
            os.utime(path, (10**9, 10**9))
        time.sleep(0.03)  # else it may count as written during the build

    def build(self, *ops: str) -> int:
        """Build and return the number of steps."""
        shared: Any = cmake_build._SHARED_TARGETS
        cmake_build._SHARED_TARGETS = ()  # type: ignore[assignment]
        try:
            made = cmake_build._build(
                self.root, self.folder, ops, False, None, 2, lambda done, total, text: None
            )
        finally:
            cmake_build._SHARED_TARGETS = shared
        return made.steps

    def says(self, program: str = "one") -> int:
        return subprocess.run([self.folder / program], check=False).returncode


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    for name in ("CXX", "CXXFLAGS", "LDFLAGS", "CPATH"):
        monkeypatch.delenv(name, raising=False)
    made = Checkout(tmp_path)
    assert made.build() > 3
    assert (made.says(), made.says("two")) == (1, 11)
    assert made.build() == 0
    return made


def test_put_back_with_an_old_time(checkout: Checkout) -> None:
    """Headers, sources, what custom commands read, and what CMake includes."""
    for name, text, one, two in (
        ("value.h", "#define VALUE 2\n", 2, 22),
        ("part.cpp", "int Part() { return 3; }\n", 3, 32),
        ("part.cpp", '#include "made.inc"\nint Part() { return 4 + MADE; }\n', 4, 42),
        ("made.txt", "#define MADE 1\n", 5, 52),
        ("word.cmake", "set(word 10)\n", 15, 52),
        ("value.h", "#define VALUE 1\n", 15, 51),
    ):
        checkout.write(name, text, old=True)
        assert checkout.build() > 0, name
        assert (checkout.says(), checkout.says("two")) == (one, two), name
        assert checkout.build() == 0, name


def test_new_times_of_another_folder(checkout: Checkout) -> None:
    """Files keep their times when a folder is exchanged."""
    other = checkout.root.parent / "other"
    shutil.copytree(checkout.root, other)
    (other / "value.h").write_text("#define VALUE 5\n")
    os.utime(other / "value.h", (10**9, 10**9))
    checkout.root.rename(other.parent / "kept")
    other.rename(checkout.root)
    checkout.build()
    assert (checkout.says(), checkout.says("two")) == (5, 55)


def test_part_of_it_is_built(checkout: Checkout) -> None:
    """What is not built with a change is not fresh later, when the file has an old time again."""
    checkout.write("value.h", "#define VALUE 2\n")
    checkout.build("one")
    assert checkout.says() == 2
    checkout.write("value.h", "#define VALUE 2\n", old=True)
    checkout.build("two")
    assert checkout.says("two") == 22


def test_build_that_fails(checkout: Checkout) -> None:
    checkout.write("two.cpp", "int main() { return }\n", old=True)
    with pytest.raises(ToolkitError, match=r"two\.cpp"):
        checkout.build()
    with pytest.raises(ToolkitError, match=r"two\.cpp"):
        checkout.build()
    checkout.write("two.cpp", "int main() { return 7; }\n", old=True)
    checkout.build()
    assert checkout.says("two") == 7


def test_flags_and_another_compiler(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXXFLAGS", "-DFLAG=20")
    checkout.build()
    assert checkout.says() == 21
    monkeypatch.delenv("CXXFLAGS")
    checkout.build()
    assert checkout.says() == 1
    real = find_compiler()
    wrapper = checkout.root.parent / "cxx"
    wrapper.write_text(f'#!/bin/sh\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CXX", str(wrapper))
    checkout.build()
    assert checkout.says() == 1
    old = wrapper.stat()
    wrapper.write_text(f'#!/bin/sh\nexec {real} -DFLAG=30 "$@"\n')
    os.utime(wrapper, ns=(old.st_atime_ns, old.st_mtime_ns))
    checkout.build()
    assert checkout.says() == 31
    assert checkout.build() == 0


def test_killed_before_anything_is_written_down(checkout: Checkout) -> None:
    """Without sums, or with those of an earlier build, what was written since is made again."""
    manifest = checkout.folder / ninja_by_content.MANIFEST
    whole = manifest.read_bytes()
    checkout.write("value.h", "#define VALUE 2\n", old=True)
    manifest.unlink()
    checkout.build()
    assert (checkout.says(), checkout.says("two")) == (2, 22)
    checkout.write("value.h", "#define VALUE 3\n", old=True)
    manifest.write_bytes(whole[: len(whole) // 2])
    checkout.build()
    assert (checkout.says(), checkout.says("two")) == (3, 33)
    manifest.unlink()
    assert checkout.build() == 0


def test_what_differs_is_named(checkout: Checkout) -> None:
    assert ninja_by_content.changed_since(checkout.folder, checkout.root) == []
    checkout.write("value.h", "#define VALUE 2\n", old=True)
    assert ninja_by_content.changed_since(checkout.folder, checkout.root) == [
        checkout.root / "value.h"
    ]
