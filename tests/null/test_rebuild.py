# SPDX-License-Identifier: Apache-2.0
"""Something is built again when the content of what it was made from is another, whatever the time
stamps say, and only then.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aclgrad.building.compile_step import Step
from aclgrad.building.toolchain import read_depfile, toolchain
from aclgrad.common import rebuild, sums

COMPILER = shutil.which("g++") or "c++"
DAY = 86_400


class Tree:
    """A program of one source, with headers that it finds in two folders."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.first, self.second, self.out = root / "first", root / "sec ond", root / "out"
        for folder in (self.first, self.second, self.out):
            folder.mkdir(parents=True)
        self.source = root / "main.cpp"
        self.header = self.second / "value.h"
        self.header.write_text("#define VALUE 1\n")
        self.source.write_text(
            '#include <value.h>\n#if __has_include("extra.h")\n#include "extra.h"\n#else\n'
            "#define EXTRA 0\n#endif\n#ifndef WORD\n#define WORD 0\n#endif\n"
            "int main() { return VALUE + EXTRA + WORD; }\n"
        )
        self.words: list[str] = []
        self.compiler = COMPILER

    @property
    def step(self) -> Step:
        output = self.out / "program"
        command = [self.compiler, f"-I{self.first}", f"-I{self.second}", *self.words]
        command += ["-MD", "-MF", f"{output}.d", "-MT", str(output), str(self.source)]
        return Step(output, (*command, "-o", str(output)), toolchain(self.compiler))

    def value(self) -> int:
        """What the program says when it is built as it would be before a run."""
        assert self.step.run() is None
        return subprocess.run([self.step.output], check=False).returncode

    def value_again(self) -> int:
        """The same, and then nothing is left to be done."""
        found = self.value()
        assert self.step.fresh()
        return found


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    made = Tree(tmp_path / "tree")
    assert made.value_again() == 1
    return made


def put_back(tree: Tree) -> None:
    kept = tree.root / "kept.h"
    shutil.copy2(tree.header, kept)
    tree.header.write_text("#define VALUE 2\n")
    assert tree.value_again() == 2
    shutil.copy2(kept, tree.header)  # cp -p


def put_back_by_rename(tree: Tree) -> None:
    kept = tree.root / "kept.h"
    shutil.copy2(tree.header, kept)
    tree.header.write_text("#define VALUE 2\n")
    assert tree.value_again() == 2
    kept.rename(tree.header)  # mv, rsync -a


def test_put_back_with_its_old_time(tree: Tree) -> None:
    put_back(tree)
    assert tree.value_again() == 1


def test_put_back_by_rename(tree: Tree) -> None:
    put_back_by_rename(tree)
    assert tree.value_again() == 1


def test_the_other_way_round(tree: Tree) -> None:
    """A file that is older than the output, and another one, replaces what was built."""
    other = tree.root / "other.h"
    other.write_text("#define VALUE 3\n")
    os.utime(other, (1, 1))
    shutil.copy2(other, tree.header)
    assert tree.value_again() == 3


@pytest.mark.parametrize("moved", [-400 * DAY, DAY, 0])
def test_same_size_and_any_time(tree: Tree, moved: int) -> None:
    """By touch -d into the past and into the future, and to the very time that it had."""
    old = tree.header.stat()
    tree.header.write_text("#define VALUE 7\n")
    os.utime(tree.header, ns=(old.st_atime_ns, old.st_mtime_ns + moved * 10**9))
    assert tree.value_again() == 7


@pytest.mark.parametrize("moved", [-400 * DAY, DAY])
def test_same_content_is_not_built_again(tree: Tree, moved: int) -> None:
    before = tree.step.output.stat()
    os.utime(tree.header, (time.time() + moved, time.time() + moved))
    shutil.copy(tree.source, tree.root / "copy")
    (tree.root / "copy").replace(tree.source)
    assert tree.value_again() == 1
    assert tree.step.output.stat() == before


def test_header_that_comes_before_another(tree: Tree) -> None:
    (tree.first / "value.h").write_text("#define VALUE 4\n")
    os.utime(tree.first / "value.h", (1, 1))
    assert tree.value_again() == 4
    (tree.first / "value.h").unlink()
    assert tree.value_again() == 1


def test_header_that_is_only_asked_for(tree: Tree) -> None:
    (tree.root / "extra.h").write_text("#define EXTRA 10\n")
    assert tree.value_again() == 11
    (tree.root / "extra.h").unlink()
    assert tree.value_again() == 1


def test_header_of_the_system_that_is_hidden(tree: Tree) -> None:
    tree.source.write_text("#include <climits>\nint main() { return INT_MAX == 5; }\n")
    assert tree.value_again() == 0
    (tree.first / "limits.h").write_text("#define INT_MAX 5\n")
    assert tree.value_again() == 1


def test_folder_that_comes_before_another(tree: Tree) -> None:
    (tree.second / "part").mkdir()
    (tree.second / "part/value.h").write_text("#define VALUE 5\n")
    tree.source.write_text("#include <part/value.h>\nint main() { return VALUE; }\n")
    assert tree.value_again() == 5
    (tree.root / "made/part").mkdir(parents=True)
    (tree.root / "made/part/value.h").write_text("#define VALUE 6\n")
    (tree.root / "made/part").rename(tree.first / "part")
    assert tree.value_again() == 6


def test_header_by_a_macro(tree: Tree) -> None:
    tree.source.write_text("#define H <value.h>\n#include H\nint main() { return VALUE; }\n")
    assert tree.value_again() == 1
    (tree.first / "value.h").write_text("#define VALUE 8\n")
    assert tree.value_again() == 8


def test_header_that_is_gone(tree: Tree) -> None:
    tree.header.unlink()
    error = tree.step.run()
    assert error is not None and "value.h: No such file" in error
    assert not tree.step.output.exists()
    tree.header.write_text("#define VALUE 1\n")
    assert tree.value_again() == 1


def test_link_that_is_turned(tree: Tree) -> None:
    for name, value in (("a", 1), ("b", 2)):
        (tree.root / name).mkdir()
        (tree.root / name / "value.h").write_text(f"#define VALUE {value}\n")
    tree.header.unlink()
    tree.second.rmdir()
    tree.second.symlink_to(tree.root / "a")
    assert tree.value_again() == 1
    tree.second.unlink()
    tree.second.symlink_to(tree.root / "b")
    assert tree.value_again() == 2
    tree.second.unlink()
    tree.second.symlink_to(tree.root / "a")
    assert tree.value_again() == 1


def test_folders_that_are_exchanged(tree: Tree) -> None:
    """Files that move with their folder keep all of their times."""
    other = tree.root / "other"
    shutil.copytree(tree.second, other)
    (other / "value.h").write_text("#define VALUE 9\n")
    tree.second.rename(tree.root / "kept")
    other.rename(tree.second)
    assert tree.value_again() == 9


def test_words_and_environment(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.words = ["-DWORD=20"]
    assert tree.value_again() == 21
    tree.words = []
    assert tree.value_again() == 1
    (tree.root / "given").mkdir()
    (tree.root / "given/extra.h").write_text("#define EXTRA 30\n")
    monkeypatch.setenv("CPATH", str(tree.root / "given"))
    assert tree.value_again() == 31
    monkeypatch.delenv("CPATH")
    assert tree.value_again() == 1


def test_other_compiler_under_the_same_path(tree: Tree) -> None:
    wrapper, real = tree.root / "cxx", tree.root / "real"
    wrapper.write_text(f'#!/bin/sh\nexec {real} "$@"\n')
    real.write_text(f'#!/bin/sh\nexec {COMPILER} "$@"\n')
    for path in (wrapper, real):
        path.chmod(0o755)
    tree.compiler = str(wrapper)
    assert tree.value_again() == 1
    # The wrapper is as it was; what it starts is another version.
    real.write_text(
        f'#!/bin/sh\n[ "$1" = -v ] && echo "gcc version 99" >&2\nexec {COMPILER} -DWORD=40 "$@"\n'
    )
    assert tree.value_again() == 41
    old = wrapper.stat()
    wrapper.write_text(f'#!/bin/sh\nexec {COMPILER} -DWORD=50 "$@"\n')
    os.utime(wrapper, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert tree.value_again() == 51


def test_static_library(tree: Tree) -> None:
    """Its code goes into the output; of a shared one only what it offers counts."""
    for value in (1, 2):
        (tree.root / "part.cpp").write_text(f"int part() {{ return {value}; }}\n")
        made = tree.root / f"part{value}.o"
        subprocess.run([COMPILER, "-fPIC", "-c", tree.root / "part.cpp", "-o", made], check=True)
        subprocess.run(["ar", "rc", tree.root / f"part{value}.a", made], check=True)
        shared = [COMPILER, "-shared", str(made), "-o", str(tree.root / f"part{value}.so")]
        subprocess.run(shared, check=True)
    tree.source.write_text("int part();\nint main() { return part(); }\n")
    tree.words = [f"-L{tree.first}", f"-L{tree.second}"]

    class Linked(Tree):
        @property
        def step(self) -> Step:
            made = super().step
            return Step(made.output, (*made.command, "-lpart"), made.tools)

    linked = Linked.__new__(Linked)
    linked.__dict__.update(tree.__dict__)
    library = tree.second / "libpart.a"
    shutil.copy(tree.root / "part1.a", library)
    old = library.stat()
    assert linked.value_again() == 1
    shutil.copy(tree.root / "part2.a", library)
    os.utime(library, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert linked.value_again() == 2
    shutil.copy(tree.root / "part1.a", tree.first / "libpart.a")  # in front of it
    assert linked.value_again() == 1
    linked.words.append(f"-Wl,-rpath,{tree.first}")
    shutil.copy(tree.root / "part1.so", tree.first / "libpart.so")
    assert linked.value_again() == 1
    before = linked.step.output.stat()
    shutil.copy(tree.root / "part2.so", tree.first / "libpart.so")
    assert linked.value_again() == 2
    assert linked.step.output.stat() == before


def test_interrupted(tree: Tree) -> None:
    """Killed between the output and its record, or before either; an output that was cut short."""
    step = tree.step
    record = rebuild.record_of(step.output)
    whole = record.read_text()
    record.unlink()
    assert not step.fresh()
    assert tree.value_again() == 1
    record.write_text(whole[: len(whole) // 2])
    assert not step.fresh()
    assert tree.value_again() == 1
    data = step.output.read_bytes()
    old = step.output.stat()
    step.output.write_bytes(bytes(len(data)))
    os.utime(step.output, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert not step.fresh()
    assert tree.value_again() == 1


def test_killed_while_it_compiles(tree: Tree) -> None:
    tree.header.write_text("#define VALUE 2\n")
    slow = tree.root / "slow"
    slow.write_text(
        f'#!/bin/sh\n[ "$1" = -v ] || [ -e {tree.root}/on ] || kill -9 $PPID\n'
        f'exec {COMPILER} "$@"\n'
    )
    slow.chmod(0o755)
    tree.compiler = str(slow)
    child = os.fork()
    if child == 0:
        tree.step.run()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 9
    (tree.root / "on").touch()
    assert not tree.step.fresh()
    assert tree.value_again() == 2


def test_the_compiler_of_a_killed_run_writes_where_nobody_reads(tree: Tree) -> None:
    """It goes on when the run is gone, and opens its output once there is one."""
    tree.header.write_text("#define VALUE 2\n")
    orphan, killed = tree.root / "orphan", tree.root / "killed"
    orphan.write_text(
        f'#!/bin/sh\n[ "$1" = -v ] || [ -e {killed} ] || {{\n'
        f"touch {killed}; kill -9 $PPID; for out; do :; done\n"
        'for i in $(seq 300); do [ -e "$out" ] || sleep 0.01; done\n'
        '[ -e "$out" ] && exec 3<>"$out"; sleep 2; exit 1; }\n'
        f'exec {COMPILER} "$@"\n'
    )
    orphan.chmod(0o755)
    tree.compiler = str(orphan)
    child = os.fork()
    if child == 0:
        tree.step.run()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 9
    assert tree.value_again() == 2


def slow_compiler(tree: Tree, during: str) -> None:
    """Makes the compiler one that runs a line when it has read everything, the first time."""
    slow, once = tree.root / "slow", tree.root / "once"
    slow.write_text(
        f'#!/bin/sh\n{COMPILER} "$@"; code=$?\n'
        f'[ "$1" = -v ] || [ -e {once} ] || {{ touch {once}; {during}; }}\nexit $code\n'
    )
    slow.chmod(0o755)
    tree.compiler = str(slow)


def test_written_while_it_compiles(tree: Tree) -> None:
    """What is summed is what was read: with another content it is compiled again."""
    slow_compiler(tree, f"echo '#define VALUE 6' > '{tree.header}'")
    assert tree.value_again() == 6


def test_written_while_it_compiles_with_an_old_time(tree: Tree) -> None:
    other = tree.root / "other.h"
    other.write_text("#define VALUE 6\n")
    os.utime(other, (1, 1))
    slow_compiler(tree, f"cp -p '{other}' '{tree.header}'")
    assert tree.value_again() == 6


def test_new_header_is_written_while_it_compiles(tree: Tree) -> None:
    """One that no earlier run has read, and that is not known before."""
    (tree.root / "new.h").write_text("#define VALUE 3\n")
    tree.source.write_text('#include "new.h"\nint main() { return VALUE; }\n')
    slow_compiler(tree, f"echo '#define VALUE 4' > '{tree.root}/new.h'")
    assert tree.value_again() == 4


def test_hidden_while_it_compiles(tree: Tree) -> None:
    slow_compiler(tree, f"echo '#define VALUE 6' > '{tree.first}/value.h'")
    tree.value()
    assert tree.value_again() == 6


def test_written_all_the_time(tree: Tree) -> None:
    """It ends, and what it made counts for nothing next time."""
    slow = tree.root / "slow"
    slow.write_text(
        f'#!/bin/sh\n{COMPILER} "$@"; code=$?\n[ "$1" = -v ] || date +"#define VALUE 1 // %N" >'
        f" '{tree.header}'\nexit $code\n"
    )
    slow.chmod(0o755)
    tree.compiler = str(slow)
    assert tree.value() == 1
    assert not tree.step.fresh()


def test_two_builds_at_once(tree: Tree) -> None:
    tree.header.write_text("#define VALUE 2\n")
    log = tree.root / "log"
    slow_compiler(tree, f"echo built >> {log}; sleep 0.2")
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(tree.value())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2] * 4
    assert log.read_text() == "built\n"
    assert tree.step.fresh()


def test_clock_that_was_set_back(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record of the future proves nothing by a status, and neither does a file of the future."""
    real = time.time_ns
    monkeypatch.setattr(sums, "now", lambda: real() + DAY * 10**9)
    monkeypatch.setattr(rebuild, "now", sums.now)
    tree.words = ["-DWORD=1"]
    assert tree.value_again() == 2
    monkeypatch.setattr(sums, "now", lambda: real() - DAY * 10**9)
    monkeypatch.setattr(rebuild, "now", sums.now)
    tree.header.write_text("#define VALUE 3\n")
    os.utime(tree.header, (1, 1))
    assert tree.value_again() == 4
    tree.header.write_text("#define VALUE 2\n")
    os.utime(tree.header, (1, 1))
    assert tree.value_again() == 3


def test_checkout_and_stash(tree: Tree) -> None:
    def git(*words: str) -> None:
        name = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *name, *words], cwd=tree.root, check=True, capture_output=True)

    git("init", "-q")
    (tree.root / ".gitignore").write_text("out\n")
    git("add", ".")
    git("commit", "-qm", "one")
    tree.header.write_text("#define VALUE 2\n")
    git("commit", "-qam", "two")
    assert tree.value_again() == 2
    git("checkout", "-q", "HEAD~", "--", str(tree.header))
    assert tree.value_again() == 1
    git("stash")
    assert tree.value_again() == 2
    git("stash", "pop")
    assert tree.value_again() == 1


def refusing(tree: Tree) -> Path:
    """From now on the tree's compiler refuses to compile while a file is there."""
    shut = tree.root / "shut"
    script = tree.root / "compiler"
    script.write_text(
        f'#!/bin/sh\n[ "$1" = -v ] || [ ! -e {shut} ] || exit 1\nexec {COMPILER} "$@"\n'
    )
    script.chmod(0o755)
    tree.compiler = str(script)
    return shut


def test_undone_change_is_not_built_again(tree: Tree) -> None:
    """Any of those that came before, also one behind a change that does not compile."""
    shut = refusing(tree)
    for value in (1, 2, 3):
        tree.header.write_text(f"#define VALUE {value}\n")
        assert tree.value_again() == value
    tree.header.write_text("#define VALUE undeclared\n")
    assert tree.step.run() is not None and not tree.step.output.exists()
    shut.touch()
    for value in (2, 1, 3, 2):
        tree.header.write_text(f"#define VALUE {value}\n")
        assert tree.value_again() == value
    tree.header.write_text("#define VALUE 4\n")
    assert tree.step.run() is not None


def test_undone_change_beside_another(tree: Tree) -> None:
    """What was built before counts only if all that it was made from is as it was."""
    shut = refusing(tree)
    assert tree.value_again() == 1
    tree.header.write_text("#define VALUE 2\n")
    assert tree.value_again() == 2
    shut.touch()
    tree.header.write_text("#define VALUE 1\n")
    (tree.root / "extra.h").write_text("#define EXTRA 10\n")
    assert tree.step.run() is not None
    shut.unlink()
    assert tree.value_again() == 11
    shut.touch()
    (tree.root / "extra.h").unlink()
    tree.words = ["-DWORD=5"]
    assert tree.step.run() is not None
    tree.words = []
    assert tree.value_again() == 1


def test_earlier_output_that_was_damaged(tree: Tree) -> None:
    tree.header.write_text("#define VALUE 2\n")
    assert tree.value_again() == 2
    (kept,) = tree.out.glob("*.earlier")
    kept.write_bytes(bytes(kept.stat().st_size))
    tree.header.write_text("#define VALUE 1\n")
    assert tree.value_again() == 1


def test_earlier_outputs_are_limited(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    size = tree.step.output.stat().st_size
    monkeypatch.setattr(rebuild, "_BYTES_EARLIER", 2 * size + size // 2)
    for value in range(2, 7):
        tree.header.write_text(f"#define VALUE {value}\n")
        assert tree.value() == value
    kept = list(tree.out.glob("*.earlier"))
    assert len(kept) == 2 and len(list(tree.out.glob("*.earlier.made"))) == 2
    assert all(path.stat().st_nlink == 1 for path in kept)
    monkeypatch.setattr(rebuild, "_BYTES_EARLIER", size // 2)
    tree.header.write_text("#define VALUE 7\n")
    assert tree.value_again() == 7
    assert not list(tree.out.glob("*.earlier*"))


def test_many_changes_within_one_tick_of_the_clock(tree: Tree) -> None:
    """Of one size, at one time and in one inode: the record was written when that could be."""
    for value in (2, 3, 4, 5, 6, 7) * 2:
        tree.header.write_text(f"#define VALUE {value}\n")
        assert tree.value() == value


def test_nothing_is_read_when_nothing_has_changed(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    time.sleep(0.05)
    assert tree.step.fresh()  # statuses are written down that count from now on

    def refuse(path: str, kind: str = "") -> Callable[[], None]:
        raise AssertionError(path)

    monkeypatch.setattr(rebuild, "sum_of", refuse)
    assert tree.step.fresh()


def test_what_a_record_proves_is_not_read_again(tmp_path: Path) -> None:
    """Another process builds something else from a file that has not changed."""
    header = tmp_path / "parsed.gch"
    header.write_text("precompiled")
    old = time.time() - DAY
    os.utime(header, (old, old))
    time.sleep(0.05)  # more than a tick of the clock of files
    inputs = rebuild.Inputs({str(header): ""})
    first = tmp_path / "first"

    def write() -> None:
        first.write_text("built")

    assert rebuild.make(first, "", inputs, write, lambda _: inputs) is None
    code = (
        "import sys; from pathlib import Path; from aclgrad.common import rebuild, sums\n"
        "read = []; sys.addaudithook(lambda name, args: name == 'open' and read.append(args[0]))\n"
        "fresh = rebuild.fresh(Path(sys.argv[1]), '')\n"
        "sums.sum_of(sys.argv[2])\n"
        "print(fresh, sys.argv[2] in read)"
    )
    command = [sys.executable, "-c", code, str(first), str(header)]
    for change, said in ((False, "True False"), (True, "False True")):
        if change:
            header.write_text("precompileD")
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == said


def test_depfile(tmp_path: Path) -> None:
    file = tmp_path / "a.d"
    file.write_text("out/a:b.o: a\\ b.cpp \\\n c\\#d.h $$e.h \\\n f:g.h\n")
    wanted = ("a b.cpp", "c#d.h", "$e.h", "f:g.h")
    assert read_depfile(file) == [str(Path.cwd() / name) for name in wanted]
    assert read_depfile(tmp_path / "none") == []
