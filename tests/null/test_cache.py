# SPDX-License-Identifier: Apache-2.0
"""Where builds of others' operators are kept, and where never."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from aclgrad.building import compiler as project_compiler
from aclgrad.building.compile_step import Step
from aclgrad.building.toolchain import Toolchain
from aclgrad.codegen import render, template_cache
from aclgrad.common import cache
from aclgrad.errors import ToolkitError
from aclgrad.headers import check
from aclgrad.reading.sources import Sources
from aclgrad.runtime.toolkit import checkout
from aclgrad.spec.soc import FAMILIES


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("ACLGRAD_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


def refused(match: str) -> None:
    with pytest.raises(ToolkitError, match=match) as caught:
        cache.root()
    assert "Next: " in str(caught.value) and "ACLGRAD_CACHE" in str(caught.value)


def test_places_in_their_order(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache.root() == own_home / ".cache/aclgrad"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.root() == tmp_path / "xdg/aclgrad"
    monkeypatch.setenv("ACLGRAD_CACHE", str(tmp_path / "mine"))
    assert cache.root() == tmp_path / "mine"
    monkeypatch.setenv("ACLGRAD_CACHE", "~/mine")
    assert cache.root() == own_home / "mine"


def test_others_cannot_look_in(own_home: Path) -> None:
    before = os.umask(0)
    try:
        assert stat.S_IMODE(cache.root().stat().st_mode) == 0o700
    finally:
        os.umask(before)


def test_never_in_a_project(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in the checkout that this runs from nor in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.root() == own_home / ".cache/aclgrad"
    assert not (tmp_path / "relative").exists()
    source = checkout()
    assert source is not None and source not in cache.root().parents
    monkeypatch.setattr(project_compiler.Compiler, "__post_init__", lambda self: None)
    sources = Sources(tmp_path / "op", "op", (), (), tmp_path)
    compiler = project_compiler.Compiler(sources, FAMILIES[0])
    assert compiler.folder.parent == own_home / ".cache/aclgrad"
    assert "cache.root()" in Path(str(check.__file__)).read_text()


def test_folders_of_others_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    monkeypatch.setenv("ACLGRAD_CACHE", str(shared))
    for mode in (0o777, 0o1777, 0o702):
        shared.chmod(mode)
        refused("other users may write")
    shared.chmod(0o755)
    assert cache.root() == shared
    if os.geteuid() == 0:
        os.chown(shared, 0, 12345)
        shared.chmod(0o775)
        refused("other users may write")
        os.chown(shared, 12345, 0)
        refused("belongs to user 12345")


def test_places_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    for name in ("file", "file/below"):
        monkeypatch.setenv("ACLGRAD_CACHE", str(tmp_path / name))
        refused("cannot make .*file")
    monkeypatch.setenv("ACLGRAD_CACHE", "/proc/none/cache")
    refused("cannot make /proc/none")
    monkeypatch.setenv("ACLGRAD_CACHE", str(tmp_path / "a:b"))
    refused("colon")
    monkeypatch.setenv("ACLGRAD_CACHE", "~nobody-has-this-name/x")
    refused("home")
    monkeypatch.delenv("ACLGRAD_CACHE")
    monkeypatch.setenv("HOME", "/dev/null")
    refused("cannot make /dev/null")


@pytest.mark.parametrize("name", ["a b", "a:b", "$(touch x)", "a\nb", "-rf", "ü", "..", "x" * 200])
def test_odd_names_of_operators(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder's name goes into lists of paths and into commands to copy."""
    monkeypatch.setattr(project_compiler.Compiler, "__post_init__", lambda self: None)
    sources = Sources(tmp_path / name, name, (), (), tmp_path)
    found = project_compiler.Compiler(sources, FAMILIES[0]).folder
    assert re.fullmatch(r"[A-Za-z0-9_.+-]{1,100}", found.name) and found.name not in (".", "..")
    assert found.parent == cache.root()


def test_templates_are_kept_and_a_damaged_file_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACLGRAD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "t").mkdir()
    (tmp_path / "t/a.j2").write_text("{{ x }} one\n")

    def text() -> str:
        return render.environment(tmp_path / "t").get_template("a.j2").render(x=1)

    assert text() == "1 one\n"
    (kept,) = (tmp_path / "cache/templates").iterdir()
    for damaged in (b"", b"\x80", kept.read_bytes()[:40], b"nothing of jinja2"):
        kept.write_bytes(damaged)
        assert text() == "1 one\n"
    assert text() == "1 one\n" and len(kept.read_bytes()) > 40  # made again
    (tmp_path / "t/a.j2").write_text("{{ x }} two\n")
    assert text() == "1 two\n"


def test_without_a_cache_templates_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.j2").write_text("{{ x }}\n")
    (tmp_path / "file").touch()
    monkeypatch.setenv("ACLGRAD_CACHE", str(tmp_path / "file"))
    assert template_cache.kept() is None
    assert render.environment(tmp_path).get_template("a.j2").render(x=1) == "1\n"


def test_what_was_used_longest_ago_goes(tmp_path: Path) -> None:
    """Several checkouts and options share one cache, and each toolkit makes precompiled headers."""
    folder = tmp_path / "parsed"
    folder.mkdir()
    for at, name in enumerate(("old.gch", "recent.gch", "older_but_used.gch")):
        (folder / name).write_bytes(bytes(400))
        os.utime(folder / name, (1000 + at, 1000 + at))
    (folder / "old.h").write_bytes(bytes(400))
    os.utime(folder / "older_but_used.gch", (1, 1))
    cache.mark_used(folder / "older_but_used.gch")
    assert (folder / "older_but_used.gch").stat().st_mtime == 1
    cache.drop_unused(folder, "*.gch", 1200)
    assert len([*folder.glob("*.gch")]) == 3
    cache.drop_unused(folder, "*.gch", 800)
    assert {path.name for path in folder.glob("*.gch")} == {"recent.gch", "older_but_used.gch"}
    assert (folder / "old.h").exists()
    cache.drop_unused(folder, "*.gch", 0)
    assert [path.name for path in folder.iterdir()] == ["old.h"]


def test_precompiled_headers_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that needs another set drops the one that was used longest ago."""

    def compile_aside(self: Step) -> None:
        self.output.write_bytes(bytes(400))

    monkeypatch.setattr(project_compiler.Compiler, "__post_init__", lambda self: None)
    monkeypatch.setattr(project_compiler, "PRECOMPILED_LIMIT", 900)
    monkeypatch.setattr(Step, "run", compile_aside)
    compiler = project_compiler.Compiler(Sources(tmp_path, "op", (), (), tmp_path), FAMILIES[0])
    compiler.compiler, compiler.tools = "g++", Toolchain("g++", "", ())
    for at, optimise in enumerate(("-O0", "-O1", "-O2", "-O3")):
        compiler.optimise = optimise
        compiler._parsed("kernel", ["kernel_operator.h"], [])
        for path in (compiler.cache / "parsed").glob("*.used"):
            if path.stat().st_mtime > 1e9:
                os.utime(path, (at, at))
    left = [path.stat().st_mtime for path in (compiler.cache / "parsed").glob("*.gch.used")]
    assert sorted(left) == [1, 2, 3]
