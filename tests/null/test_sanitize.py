# SPDX-License-Identifier: Apache-2.0
"""Instrumented builds: the words that name them, and what a program gets that runs with one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from aclgrad.building.build_tools import find_tool
from aclgrad.checkout import instrumented_build
from aclgrad.checkout.instrumented_build import Sanitizer, build_folder, command_line
from aclgrad.errors import ToolkitError

ROOT = Path(__file__).resolve().parents[2]


def call(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, words)], capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-m", "aclgrad", "build", "--sanitize", "memory"), "'address', 'thread'"),
        (("-m", "aclgrad", "build", "--sanitize", "thread", "--device", "npu"), "leave out"),
        (("-m", "aclgrad", "build", "--sanitize", "thread", "./op"), "leave out"),
        (
            ("-m", "aclgrad.checkout.instrumented_build", "memory", "true"),
            "want address or thread",
        ),
        (
            ("-m", "aclgrad.checkout.instrumented_build", "address"),
            "want address or thread and a command",
        ),
        (("-m", "aclgrad.checkout.instrumented_build"), "got 'nothing'"),
    ],
)
def test_unknown_words(words: Sequence[str], says: str) -> None:
    done = call(sys.executable, *words)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert says in done.stderr, done.stderr


@pytest.mark.parametrize("script", ["fuzz.sh", "test.sh"])
def test_the_script_refuses_unknown_words_before_it_installs(script: str) -> None:
    done = call("bash", ROOT / "scripts" / script, "--sanitize=memory")
    assert done.returncode == 1 and not done.stdout
    assert "--sanitize: got memory, want address or thread" in done.stderr


def test_cmake_refuses_unknown_words(tmp_path: Path) -> None:
    cmake = find_tool("cmake")
    if cmake is None:
        pytest.skip("needs cmake")
    done = call(cmake, "-S", ROOT, "-B", tmp_path, "-DACLGRAD_SANITIZE=memory")
    assert done.returncode == 1
    assert "got memory, want address, thread or nothing" in " ".join(done.stderr.split())


def test_builds_have_folders_of_their_own() -> None:
    folders = [build_folder(ROOT, each) for each in (None, *Sanitizer)]
    assert [folder.name for folder in folders] == ["sim", "sim-address", "sim-thread"]


@pytest.mark.parametrize("sanitizer", Sanitizer)
def test_a_build_that_is_not_there(
    sanitizer: Sanitizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instrumented_build, "checkout", lambda: tmp_path)
    with pytest.raises(ToolkitError, match=f"Next: aclgrad build --sanitize {sanitizer.value}"):
        command_line(sanitizer, ["true"])


@pytest.mark.parametrize("sanitizer", Sanitizer)
def test_the_command_of_a_program(
    sanitizer: Sanitizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build_folder(tmp_path, sanitizer)
    (folder / "toolkit/lib64").mkdir(parents=True)
    (folder / "toolkit/lib64/libascendcl.so").touch()
    monkeypatch.setattr(instrumented_build, "checkout", lambda: tmp_path)
    monkeypatch.setenv("TSAN_OPTIONS", "verbosity=1")
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\necho /libraries/${1#*=}\n")
    compiler.chmod(0o755)
    cache = folder / "CMakeCache.txt"
    cache.write_text(f"CMAKE_CXX_COMPILER:FILEPATH={compiler}\n")
    words = command_line(sanitizer, ["program", "a b"])
    assert f"ACLGRAD_TOOLKIT={folder}/toolkit" in words and words[-2:] == ["program", "a b"]
    preload = next(word for word in words if word.startswith("LD_PRELOAD="))
    if sanitizer is Sanitizer.thread:
        assert words[1:3] == ["--addr-no-randomize", "env"] and preload.endswith("/libtsan.so")
        assert any(word.startswith("TSAN_OPTIONS=") and ":verbosity=1" in word for word in words)
    else:
        assert words[0] == "env" and preload.endswith(
            "=/libraries/libasan.so /libraries/libubsan.so"
        )
    compiler.write_text("#!/bin/sh\necho ${1#*=}\n")  # as g++ says that it has none
    with pytest.raises(ToolkitError, match="which must be loaded before Python is"):
        command_line(sanitizer, ["program"])
