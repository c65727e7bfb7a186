# SPDX-License-Identifier: Apache-2.0
"""Findings name the user's file and line, whatever its folder is called."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from instructions.bench import KernelError, Runtime

pytestmark = pytest.mark.plants_faults

PLACE = "/a/folder/that/is/replaced"
KERNEL = """\
#include <algorithm>
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void beyond(GM_ADDR) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 256);
  Duplicate(buffer.Get<float>(), 1.0f, 4096);
}
static void Fail(int& one) { *(volatile int*)(size_t)one = 1; }
extern "C" __global__ __aicore__ void crashes(GM_ADDR) {
  int some[2] = {16, 16};
  std::for_each(some, some + 2, Fail);
}
"""
FOLDERS = [
    b"plain", b"a b", b"(a) [b] {c}", b"a'b\"c", b"$HOME `a` $(b)", b"a\\b\\n", b"100%s %n",
    b"x.cpp:12: error", b"k.cpp (discriminator 3)", b"a\nb\tc", b"\xff\xfe", "ä 模".encode(),
    b"simulator/src", b"simulator/include/ascendc", b"include/aclsim", b"tool/include/ascendc",
    b"include/c++/12/bits", b"0x1234", b"??:0", b"/".join([b"d" * 200] * 19),
]  # fmt: skip


@pytest.fixture(scope="module")
def simulator(toolkit: Path) -> Iterator[Runtime]:
    """A runtime whose launches fail."""
    yield Runtime(toolkit)


@lru_cache
def assembly(kind: str, toolkit: Path) -> bytes:
    """The kernels, compiled once: the assembler names their folder."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "k.cpp").write_text(KERNEL)
        words = ["g++", "-std=c++17", "-fPIC", "-S", "-w", "-g", *kind.split(), "k.cpp"]
        words += ["-fno-omit-frame-pointer", "-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220"]
        words += [f"-ffile-prefix-map={folder}={PLACE}", f"-I{toolkit}/include", "-o", "k.s"]
        subprocess.run(words, check=True, cwd=folder)
        return (Path(folder) / "k.s").read_bytes()


def link(kind: str, folder: bytes, into: Path, toolkit: Path) -> ctypes.CDLL:
    """A library whose sources are said to lie in a folder."""
    escaped = b"".join(b"\\%03o" % byte for byte in folder)
    source, library = into / "k.s", into / "k.so"
    source.write_bytes(assembly(kind, toolkit).replace(PLACE.encode(), escaped))
    words = ["g++", "-shared", str(source), "-o", str(library), f"-L{toolkit}/lib64", "-lascendcl"]
    subprocess.run([*words, f"-Wl,-rpath,{toolkit}/lib64"], check=True)
    return ctypes.CDLL(str(library))


def shown(path: bytes) -> str:
    """As reports write it."""
    text = path.decode("utf-8", "backslashreplace")
    return re.sub(r"[\0-\x08\n-\x1f\x7f]", lambda one: f"\\x{ord(one[0]):02x}", text)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("-O2 -gdwarf-5", name) for name in FOLDERS]
    + [("-O0 -gdwarf-4", name) for name in FOLDERS[1::6]]
    + [("-O2 -g1", name) for name in FOLDERS[2::6]],
    ids=itertools.count(),
)
def test_findings_and_crashes(
    simulator: Runtime, kind: str, toolkit: Path, tmp_path: Path, name: bytes
) -> None:
    """The file is there to be shown, but where the path is longer than the system has them."""
    folder = os.fsencode(tmp_path) + b"/" + name
    library = link(kind, folder, tmp_path, toolkit)
    if len(folder) < 4000:
        os.makedirs(folder, exist_ok=True)
        Path(os.fsdecode(folder + b"/k.cpp")).write_text(KERNEL)
    for kernel, line, text in (("beyond", 8, "Duplicate"), ("crashes", 13, "std::for_each")):
        with pytest.raises(KernelError) as caught:
            simulator.launch(library[kernel], [np.zeros(64, np.uint8)])
        places = (line, 10) if kernel == "crashes" else (line,)
        said = str(caught.value)
        assert any(f"at {shown(folder)}/k.cpp:{at}\n" in said for at in places), said
        assert text in said or "(size_t)one" in said


def test_toolkit_in_a_folder_with_spaces(toolkit: Path, tmp_path: Path) -> None:
    """Headers of another copy are the simulator's too, also when the copy is gone."""
    copy = tmp_path / "a b" / "simulator/src"
    shutil.copytree(toolkit / "include", copy / "include")
    (tmp_path / "k.cpp").write_text(KERNEL)
    words = ["g++", "-std=c++17", "-fPIC", "-shared", "-w", "-g", "-O2", f"-I{copy}/include"]
    words += ["-fno-omit-frame-pointer", "-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220"]
    words += [str(tmp_path / "k.cpp"), "-o", str(tmp_path / "k.so"), f"-L{toolkit}/lib64"]
    subprocess.run([*words, "-lascendcl", f"-Wl,-rpath,{toolkit}/lib64"], check=True)
    shutil.rmtree(copy)
    with pytest.raises(KernelError) as caught:
        Runtime(toolkit).launch(
            ctypes.CDLL(str(tmp_path / "k.so")).beyond, [np.zeros(64, np.uint8)]
        )
    assert f"at {tmp_path}/k.cpp:8\n" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "cause"),
    [(b'a"b', "has '\"', which"), (b"a\nb", "has '\\n', which"), (b"\xff", "is not UTF-8")],
    ids=["quote", "newline", "bytes"],
)
@pytest.mark.parametrize("command", ["check", "test", "run", "profile", "package"])
def test_refused_at_once(tmp_path: Path, command: str, name: bytes, cause: str) -> None:
    """What a compiler cannot include or a report cannot hold, with the path in legible form."""
    folder = os.fsencode(tmp_path) + b"/" + name
    os.makedirs(folder)
    Path(os.fsdecode(folder + b"/k.cpp")).write_text(KERNEL)
    words = [sys.executable, "-m", "aclgrad", command, os.fsdecode(folder + b"/k.cpp")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert f"{shown(folder)}".replace("\\x0a", "\\n") in done.stderr
    assert cause in done.stderr and "Next: rename its folder" in done.stderr


@pytest.mark.parametrize("name", [b"a\nb", b"a\tb\nc"], ids=["newline", "tab"])
@pytest.mark.parametrize(
    "words",
    [
        "build {}/k.cpp",
        "ut {}/test_k.cpp",
        "campaign {}/c.toml --out {}/out",
        "new add_grad {}/add_grad",
        "check {}/missing",
        "findings {}/missing.json",
        "calibrate read {}/missing.json",
        "explain {}/missing",
    ],
)
def test_errors_keep_a_path_on_its_line(tmp_path: Path, words: str, name: bytes) -> None:
    """One line, whatever the command was about to do with the path."""
    folder = tmp_path / os.fsdecode(name)
    folder.mkdir()
    (folder / "k.cpp").write_text(KERNEL)
    (folder / "test_k.cpp").write_text("#include <gtest/gtest.h>\nTEST(a, b) {}\n")
    (folder / "c.toml").write_text('operators = "k.cpp"\nshapes = "8"\n')
    given = [word.format(folder) for word in words.split()]
    done = subprocess.run(
        [sys.executable, "-Im", "aclgrad", *given], capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert os.fsdecode(name) not in done.stdout + done.stderr


@pytest.mark.parametrize("command", ["build", "check", "test", "profile", "package", "ut", "new"])
def test_paths_that_the_system_does_not_have(tmp_path: Path, command: str) -> None:
    """Longer than 4,096 bytes, and with a part longer than 255."""
    for path in ("/".join(["d" * 200] * 25), "d" * 300):
        words = [command, *(["add_grad"] if command == "new" else []), f"{tmp_path}/{path}/k.cpp"]
        done = subprocess.run(
            [sys.executable, "-Im", "aclgrad", *words], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 1 and done.stderr.startswith("error: "), done
        assert "File name too long" in done.stderr and "Traceback" not in done.stderr, done


OWN_KERNEL = Path(__file__).parents[3] / "examples" / "own_kernel"


def cmake(toolkit: Path, source: Path, build: Path) -> subprocess.CompletedProcess[str]:
    """Configure a project with the package of a toolkit."""
    package = f"-Daclgrad_DIR={toolkit}/share/cmake/aclgrad"
    words: list[str | Path] = ["cmake", "-G", "Ninja", "-S", source, "-B", build, package]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["a b", "a'b (c) [d] {e}", "a$b ${c} $ENV{HOME} @d@", "a&b %c"])
def test_cmake_package(toolkit: Path, tmp_path: Path, name: str) -> None:
    """The project, its build and the toolkit are in folders of that name."""
    folder = tmp_path / name
    folder.mkdir()
    (folder / "toolkit").symlink_to(toolkit)
    shutil.copytree(OWN_KERNEL, folder / "own")
    shutil.copy(OWN_KERNEL.parent / "common.h", folder)
    done = cmake(folder / "toolkit", folder / "own", folder / "build")
    assert done.returncode == 0, done.stderr
    subprocess.run(["cmake", "--build", folder / "build"], check=True)
    assert subprocess.check_output(folder / "build" / "run_scale") == b"1000 values doubled\n"


@pytest.mark.parametrize("name", ["a;b", "a,b", "a:b", "a\nb", "$<1:x>"])
def test_folders_that_cmake_cannot_link_from(toolkit: Path, tmp_path: Path, name: str) -> None:
    """They are refused while CMake configures; the link or the program failed before."""
    (tmp_path / name).symlink_to(toolkit)
    head = "cmake_minimum_required(VERSION 3.21)\nproject(p NONE)\nfind_package(aclgrad REQUIRED)\n"
    (tmp_path / "CMakeLists.txt").write_text(head)
    done = cmake(tmp_path / name, tmp_path, tmp_path / "build")
    text = " ".join(done.stderr.split())
    assert done.returncode == 1 and "splits the name of a folder" in text, text
    assert "Next: a folder without them" in text
