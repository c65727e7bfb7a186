# SPDX-License-Identifier: Apache-2.0
"""Headers that ascc has parsed before: a compile gives what it gives without them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from aclgrad.runtime import Device
from aclgrad.runtime.toolkit import sim_root

PROGRAM = """\
// A comment, /* and another one.
/* Of two
   lines. */
#include <cstdio>
#include "own_words.h"

int main() { std::printf("%d\\n", TWICE(Word())); }
"""
WORDS = """\
#pragma once
#include <vector>
#define TWICE(value) ((value) * 2)
inline int Word() { return 21; }
"""


@pytest.fixture(scope="module")
def toolkit(session_device: Device, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toolkit with one header more, that tests may change."""
    assert session_device.kind == "sim"
    folder = tmp_path_factory.mktemp("toolkit")
    for name in ("bin", "include"):
        (folder / name).mkdir()
    for one in sim_root().iterdir():
        if one.name not in ("bin", "include"):
            (folder / one.name).symlink_to(one)
    for one in (sim_root() / "include").iterdir():
        (folder / "include" / one.name).symlink_to(one)
    os.link(sim_root() / "bin" / "ascc", folder / "bin" / "ascc")
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the tests of this module have parsed."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def words(toolkit: Path) -> Path:
    """The header, as it is at the beginning of a test."""
    header = toolkit / "include" / "own_words.h"
    if not header.is_file() or header.read_text() != WORDS:
        write_long_ago(header, WORDS)
    return header


def write_long_ago(header: Path, text: str) -> None:
    """Write a header that no compile can have begun before."""
    header.write_text(text)
    os.utime(header, (1_500_000_000 + len(text), 1_500_000_000 + len(text)))


def ascc(toolkit: Path, cache: Path, *more: object) -> None:
    """Compile, by the toolkit's compiler with this cache."""
    subprocess.run(
        [str(toolkit / "bin" / "ascc"), *map(str, more)],
        env={**os.environ, "ACLGRAD_CACHE": str(cache)},
        check=True,
    )


def says(toolkit: Path, cache: Path, source: Path, *more: object) -> str:
    """Compile and run a program; return what it prints."""
    program = source.with_suffix("")
    ascc(toolkit, cache, source, "-o", program, *more)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.strip()


def parsed(cache: Path) -> dict[str, int]:
    """Parsed forms, each with the time when it was made."""
    return {path.name: path.stat().st_mtime_ns for path in cache.glob("parsed/*.gch")}


def test_one_form_for_all_sources(toolkit: Path, cache: Path, tmp_path: Path) -> None:
    """A second source, warnings and another folder of headers need no other form; -O3 does."""
    source = tmp_path / "program.asc"
    source.write_text(PROGRAM)
    assert says(toolkit, cache, source) == "42"
    made = parsed(cache)
    assert len(made) == 1
    other = tmp_path / "other.asc"
    other.write_text(PROGRAM.replace("TWICE(Word())", "Word()"))
    assert says(toolkit, cache, other, "-Wall", f"-I{tmp_path}", "-DUNUSED") == "21"
    assert parsed(cache) == made
    assert says(toolkit, cache, source, "-O3") == "42"
    assert len(parsed(cache)) == 2


def test_changed_header(toolkit: Path, cache: Path, tmp_path: Path, words: Path) -> None:
    source = tmp_path / "program.asc"
    source.write_text(PROGRAM)
    assert says(toolkit, cache, source) == "42"
    write_long_ago(words, WORDS.replace("21", "30000"))
    assert says(toolkit, cache, source) == "60000"


@pytest.mark.parametrize(
    ("before", "options", "said"),
    [
        ("#define TWICE_IS 3\n", (), "63"),
        ("", ("-DTWICE_IS=3",), "63"),
        ('#include "mine.h"\n', (), "63"),
        ("", ("-include", "mine.h"), "63"),
        ("// spliced \\\n#define TWICE_IS 3\n", (), "42"),
    ],
    ids=["define", "word", "own-header", "forced-header", "spliced-comment"],
)
def test_what_stands_before_the_headers(
    toolkit: Path,
    cache: Path,
    tmp_path: Path,
    words: Path,
    before: str,
    options: tuple[str, ...],
    said: str,
) -> None:
    """It says what they mean, as it does to any compiler."""
    write_long_ago(
        words,
        WORDS.replace(
            "#define TWICE",
            "#ifdef TWICE_IS\n#define TWICE(value) ((value) * TWICE_IS)\n#else\n#define TWICE",
        ).replace("* 2)\n", "* 2)\n#endif\n"),
    )
    (tmp_path / "mine.h").write_text("#define TWICE_IS 3\n")
    source = tmp_path / "program.asc"
    source.write_text(before + PROGRAM)
    assert says(toolkit, cache, source, f"-I{tmp_path}", *options) == said


@pytest.mark.parametrize("folder", ["beside", "given"])
def test_own_header_of_that_name(toolkit: Path, cache: Path, tmp_path: Path, folder: str) -> None:
    own = tmp_path / folder
    own.mkdir()
    (own / "own_words.h").write_text(
        "#define TWICE(value) (value)\ninline int Word() { return 5; }\n"
    )
    source = (own if folder == "beside" else tmp_path) / "program.asc"
    source.write_text(PROGRAM)
    options = [] if folder == "beside" else [f"-I{own}"]
    assert says(toolkit, cache, source, *options) == "5"


def test_list_of_dependencies(toolkit: Path, cache: Path, tmp_path: Path) -> None:
    """Whoever builds by it compiles again after a header has changed."""
    source = tmp_path / "program.asc"
    source.write_text(PROGRAM)
    ascc(toolkit, cache, "-c", source, "-o", tmp_path / "x.o", "-MD", "-MF", tmp_path / "x.d")
    listed = (tmp_path / "x.d").read_text()
    assert "own_words.h" in listed and "aclsim/launch.h" in listed and str(source) in listed
    # What the compile itself has made is newer than its beginning.
    assert str(cache) not in listed


@pytest.mark.parametrize("what", ["file", "writable"])
def test_no_folder_to_keep_them(toolkit: Path, tmp_path: Path, what: str) -> None:
    place = tmp_path / "cache"
    if what == "file":
        place.write_text("")
    else:
        place.mkdir()
        place.chmod(0o777)
    source = tmp_path / "program.asc"
    source.write_text(PROGRAM)
    assert says(toolkit, place, source) == "42"
    assert not list(tmp_path.rglob("*.gch"))


@pytest.mark.no_thread_sanitizer("a shell crashes with its library")
def test_script_around_another_compiler(toolkit: Path, tmp_path: Path) -> None:
    """What it leaves is not GCC's; it is asked once."""
    script = tmp_path / "other"
    script.write_text(
        f"#!/bin/sh\ncase $* in *c++-header*) echo >> {tmp_path}/asked\n"
        'for word; do last=$word; done; echo other > "$last"; exit;; esac\nexec c++ "$@"\n'
    )
    script.chmod(0o755)
    cache = tmp_path / "cache"
    cache.mkdir()
    source = tmp_path / "program.asc"
    source.write_text(PROGRAM)
    for _ in range(2):
        assert says(toolkit, cache, source, f"--host-compiler={script}") == "42"
    assert not parsed(cache)
    assert (tmp_path / "asked").read_text() == "\n"
