# SPDX-License-Identifier: Apache-2.0
"""Run paths of libraries against readelf, and without those that lead out of a package."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from aclgrad.building.build_tools import find_compiler
from aclgrad.packaging import elf

pytestmark = pytest.mark.skipif(
    find_compiler() is None or shutil.which("readelf") is None, reason="a compiler and readelf"
)


def library(folder: Path, *words: str) -> Path:
    """A library with one function, whose answer comes from another library."""
    (folder / "one.c").write_text("int one(void) { return 1; }\n")
    (folder / "two.c").write_text("int one(void); int two(void) { return one() + 1; }\n")
    compiler = str(find_compiler())
    common = [compiler, "-x", "c++", "-fPIC", "-shared"]
    below = folder / "lib"
    below.mkdir()
    subprocess.run(
        [*common, "one.c", "-o", "lib/libone.so", "-Wl,-soname,libone.so"], cwd=folder, check=True
    )
    link = ["-x", "none", "-Llib", "-lone", "-o", "lib/libtwo.so", *words]
    subprocess.run([*common, "two.c", *link], cwd=folder, check=True)
    return below / "libtwo.so"


def listed(path: Path) -> list[str]:
    text = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True)
    assert "Warning" not in text.stderr
    found = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", text.stdout)
    return [folder for item in found for folder in item.split(":")]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ((), True),
        (("-Wl,-rpath,$ORIGIN",), True),
        (("-Wl,-rpath,$ORIGIN/../lib:${ORIGIN}",), True),
        (("-Wl,-rpath,$ORIGIN/../../lib64",), False),
        (("-Wl,-rpath,/opt/lib",), False),
        (("-Wl,-rpath,$ORIGIN:/opt/lib",), False),
        (("-Wl,-rpath,lib",), False),
        (("-Wl,-rpath,:$ORIGIN",), False),
        (("-Wl,-rpath,$ORIGINAL",), False),
        (("-Wl,-rpath,/opt/lib", "-Wl,--disable-new-dtags"), False),
    ],
)
def test_only_what_stays_inside_is_kept(words: tuple[str, ...], kept: bool, tmp_path: Path) -> None:
    path = library(tmp_path, *words)
    data = path.read_bytes()
    assert elf.run_paths(data) == listed(path)
    made = elf.inside(data, "lib/libtwo.so")
    assert (made == data) == kept and len(made) == len(data)
    path.write_bytes(made)
    assert elf.run_paths(made) == listed(path)
    assert kept or not listed(path)
    assert (
        "libone.so"
        in subprocess.run(["readelf", "-d", path], capture_output=True, text=True).stdout
    )
    ctypes.CDLL(str(tmp_path / "lib/libone.so"), mode=ctypes.RTLD_GLOBAL)
    assert ctypes.CDLL(str(path))._Z3twov() == 2


def test_what_is_no_library_stays() -> None:
    for data in (b"", b"text", b"\x7fELF", b"\x7fELF\x01\x01" + bytes(100)):
        assert elf.inside(data, "x") == data and not elf.run_paths(data)
