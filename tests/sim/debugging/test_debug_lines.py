# SPDX-License-Identifier: Apache-2.0
"""simulator/src/host/debug_lines.cpp: lines of addresses, against other readers of them."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from test_docs import ROOT

SOURCE = """\
#include <algorithm>
#include "inner.h"
namespace own { template <class T> inline __attribute__((always_inline)) void Twice(T* p) {
  Store(p);
  Store(p + 1);
} }
extern "C" int Use(int* p, int n) {
  own::Twice(p);
  std::sort(p, p + n);
  return std::max(p[0], p[1]);
}
struct Ends {
  ~Ends() { own::Twice(at); }
  int* at;
};
struct Holds {
  Ends ends;
};
extern "C" void Hold(int* p) {
  Holds holds{{p}};
}
"""
INNER = """\
#include "aclsim/toolkit_headers.h"
inline __attribute__((always_inline)) void Store(volatile int* p) {
  *p = 1;
}
"""
KINDS = [
    f"{compiler} {debug} {level} -gdwarf-{version}"
    for compiler in ("g++", "clang++")
    for debug, level, version in (
        ("-g", "-O0", 4), ("-g", "-O0", 5), ("-g1", "-O2", 4), ("-g", "-O2", 5), ("-g1", "-O3", 5),
        ("-g", "-O3", 3), ("-g -gz", "-O2", 5),
    )
] + ["g++ -g -O2 -flto", "g++ -g -O2 -fdebug-types-section"]  # fmt: skip


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader as a program."""
    program = tmp_path_factory.mktemp("reader") / "debug_lines"
    source = ROOT / "simulator/src"
    files = [source / "host/debug_lines.cpp", source / "host/elf_sections.cpp"]
    words: list[str | Path] = [
        "g++",
        "-std=c++20",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{source}",
    ]
    words += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    words += [ROOT / "tests/sim/debugging/debug_lines.cpp", *files, "-o", program]
    subprocess.run(words, check=True)
    return program


def build(folder: Path, kind: str) -> Path:
    """A library with functions that are inlined into one another."""
    compiler, *flags = kind.split()
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    (folder / "user.cpp").write_text(SOURCE)
    headers = folder / "tool kit/include"
    (headers / "aclsim").mkdir(parents=True)
    own = (ROOT / "simulator/include/aclsim/toolkit_headers.h").read_text()
    (headers / "aclsim/toolkit_headers.h").write_text(own)
    (headers / "inner.h").write_text(INNER)
    library = folder / "user.so"
    words: list[str | Path] = [
        compiler,
        *flags,
        "-fPIC",
        "-shared",
        f"-I{headers}",
        folder / "user.cpp",
    ]
    subprocess.run([*words, "-o", library], check=True)
    return library


def addresses(library: Path) -> list[str]:
    """Where instructions are."""
    done = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=True
    )
    return re.findall(r"^\s+([0-9a-f]+):\t", done.stdout, re.M)


def read(reader: Path, library: Path, wanted: list[str]) -> tuple[list[list[str]], str]:
    """The places of each address, innermost first, and what is missing."""
    done = subprocess.run(
        [reader, library],
        input="\n".join(wanted),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=60,
        # The reader has a sanitizer of its own.
        env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
    )
    assert done.returncode == 0, done.stderr
    lines, _, missing = done.stdout[:-1].rpartition("\n")
    return by_address(lines), missing


def by_address(text: str) -> list[list[str]]:
    """The lines behind each address."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("0x"):
            found.append([])
        elif not re.search(r"^\?\?|:[0?]$", line):
            found[-1].append(re.sub(r" \(discriminator \d+\)$", "", line))
    return found


def plain(places: list[str]) -> list[str]:
    """Without what this reader alone knows."""
    return [
        os.path.normpath(re.sub(r"( toolkit)?( standard)?( implicit)?$", "", place))
        for place in places
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_lines_of_each_address(reader: Path, tmp_path: Path, kind: str) -> None:
    """As llvm-symbolizer has them, or addr2line, which mixes up the files of DWARF 5."""
    library = build(tmp_path, kind)
    wanted = addresses(library)
    found, _ = read(reader, library, wanted)
    inner, user = tmp_path / "tool kit/include/inner.h", tmp_path / "user.cpp"
    assert [f"{inner}:3 toolkit", f"{user}:4", f"{user}:8"] in found
    assert [f"{inner}:3 toolkit", f"{user}:5", f"{user}:8"] in found
    assert not any(re.match(rf"{user}:\d+ [ts]", place) for row in found for place in row)
    # The compiler wrote the destructor of Holds, and gave it the line of the class. Code that was
    # optimised at link time tells that in another unit, which is not read.
    implicit = {places[-1 if "-O0" in kind else -2] for places in found if len(places) > 1}
    implicit |= {places[0] for places in found if len(places) == 1}
    assert (f"{user}:16 implicit" in implicit) == ("-flto" not in kind)
    assert any(place.endswith(" standard") for places in found for place in places)
    if shutil.which("llvm-symbolizer"):
        theirs = symbolizer(library, wanted)
    elif "dwarf-4" in kind and shutil.which("addr2line"):
        theirs = addr2line(library, wanted)
    else:
        return
    assert list(map(plain, found)) == list(map(plain, theirs))


def symbolizer(library: Path, wanted: list[str]) -> list[list[str]]:
    """What LLVM's reader says."""
    done = subprocess.run(
        ["llvm-symbolizer", f"--obj={library}", "--output-style=LLVM"],
        input="\n".join(f"0x{at}" for at in wanted), capture_output=True, text=True, check=True,
    )  # fmt: skip
    # FUNCTION, then FILE:LINE:COLUMN, for each address.
    found = []
    for block in done.stdout.split("\n\n")[: len(wanted)]:
        places = [line.rpartition(":")[0] for line in block.splitlines()[1::2]]
        found.append([place for place in places if not re.search(r"^\?\?|:0$", place)])
    return found


def addr2line(library: Path, wanted: list[str]) -> list[list[str]]:
    """What GNU's reader says."""
    done = subprocess.run(
        ["addr2line", "-aie", library], input="\n".join(wanted), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return by_address(done.stdout)


@pytest.mark.parametrize(
    ("flags", "said"),
    [("-g0", "build the kernel with -g"), ("-g -gsplit-dwarf", "without -gsplit-dwarf")],
)
def test_what_is_missing_is_named(reader: Path, tmp_path: Path, flags: str, said: str) -> None:
    assert said in read(reader, build(tmp_path, f"g++ {flags}"), [])[1]


@pytest.mark.parametrize("link", [True, False])
def test_lines_in_a_file_of_their_own(reader: Path, tmp_path: Path, link: bool) -> None:
    """As objcopy takes them out, found by .gnu_debuglink; without the file it is named."""
    library = build(tmp_path, "g++ -g -O2")
    subprocess.run(["objcopy", "--only-keep-debug", library, f"{library}.debug"], check=True)
    words: list[str | Path] = [
        "objcopy",
        "--strip-debug",
        f"--add-gnu-debuglink={library}.debug",
        library,
    ]
    subprocess.run(words, check=True)
    if not link:
        Path(f"{library}.debug").unlink()
    wanted = addresses(library)
    found, missing = read(reader, library, wanted)
    user = tmp_path / "user.cpp"
    assert any(f"{user}:8" in places for places in found) == link
    assert ("user.so.debug, is not beside it" in missing) != link


@pytest.mark.parametrize("kind", ["g++ -g -O2 -gdwarf-4", "g++ -g -O2", "clang++ -g -O2 -gz"])
def test_damage_is_no_crash(reader: Path, tmp_path: Path, kind: str) -> None:
    """Files that end early and sections with other bytes, under the address sanitizer."""
    library = build(tmp_path, kind)
    wanted, whole = addresses(library)[::9], library.read_bytes()
    done = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True, check=True)
    parts = [
        (int(at, 16), int(size, 16))
        for at, size in re.findall(r"\.debug_\w+ +PROGBITS +\w+ (\w+) (\w+)", done.stdout)
    ]
    dice = random.Random(35)
    for turn in range(25):
        bytes_ = bytearray(whole)
        if turn % 5 == 0:
            del bytes_[dice.randrange(len(whole)) :]
        for _ in range(turn % 5 * 3):
            at, size = dice.choice(parts)
            bytes_[at + dice.randrange(size)] = dice.choice([0, 0x7F, 0x80, 0xFF])
        library.write_bytes(bytes_)
        read(reader, library, wanted)
