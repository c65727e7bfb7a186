# SPDX-License-Identifier: Apache-2.0
"""Commands on hosts that lack something: memory, disk, a home, cores, root, a temporary folder.

Each ends well or with an error that names what lacked, and is never silent for long. The nightly
campaign runs all of it; without ACLGRAD_TESTS_LIMITS only what takes seconds.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from aclgrad.common.temporary import folder as temporary_folder

pytestmark = pytest.mark.journey

nightly = pytest.mark.skipif(
    "ACLGRAD_TESTS_LIMITS" not in os.environ, reason="the nightly campaign sets it"
)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts and changes users")

SILENT = 10.0
"""Seconds without a line; a busy host may double them."""

NOBODY = 65534
GROUPS = Path("/sys/fs/cgroup/memory")
CAMPAIGN = '[[sweep]]\ndo = "precision"\noperators = ["abs_grad"]\nshapes = ["1x8", "3x127"]\n'

COMMANDS = {
    "check": "check {project} --shape 2x8",
    "test": "test {project} --fast",
    "run": "run {project} --inputs x.npy --output y.npy",
    "profile": "profile {project} 4x8",
    "package": "package {project} --soc Ascend910B2 --output packed",
    "campaign": "campaign campaign.toml --out campaign",
    "new": "new mul_grad",
    "build": "build {project}",
}


@dataclass(frozen=True)
class Place:
    """A working folder, a project in it, and a cache in which the project is built."""

    root: Path

    @property
    def project(self) -> Path:
        return self.root / "abs_grad"

    @property
    def cache(self) -> Path:
        return self.root / "cache"


@dataclass(frozen=True)
class Done:
    status: int
    text: str
    silent: float


def run(command: str, place: Place, prefix: str = "exec", **environment: str | None) -> Done:
    """Run a command of aclgrad in bash, behind the words of ``prefix``, and measure its silence."""
    here = {**os.environ, "ACLGRAD_CACHE": str(place.cache), "COLUMNS": "300"}
    for name, value in environment.items():
        if value is None:
            here.pop(name, None)
        else:
            here[name] = value
    words = COMMANDS.get(command, command).format(project=shlex.quote(str(place.project)))
    process = subprocess.Popen(
        ["bash", "-c", f"{prefix} {shlex.quote(sys.executable)} -Im aclgrad {words}"],
        cwd=place.root,
        env=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    end = threading.Timer(300, process.kill)
    end.start()
    lines, silent, last = [], 0.0, time.monotonic()
    for line in process.stdout:
        now = time.monotonic()
        silent, last = max(silent, now - last), now
        lines.append(line.decode(errors="replace"))
    status = process.wait()
    end.cancel()
    return Done(status, "".join(lines), max(silent, time.monotonic() - last))


def judge(done: Done, named: str | None) -> None:
    """It worked, or, where a limit is ``named``, it says so and what to do."""
    assert done.status in ((0,) if named is None else (0, 1)), done
    assert done.silent < 2 * SILENT, done
    assert "Traceback" not in done.text, done.text
    if done.status:
        assert named is not None and named in done.text, done.text
        assert "Next: " in done.text, done.text


@pytest.fixture(scope="module")
def place(toolkit: Path) -> Iterator[Place]:
    """Which other users may read; pytest's own folders they may not."""
    with temporary_folder(Path("/tmp")) as made:
        made.chmod(0o755)
        found = Place(made)
        found.cache.mkdir(mode=0o700)
        np.save(made / "x.npy", np.ones((2, 8), np.float32))
        (made / "campaign.toml").write_text(CAMPAIGN)
        assert run("new abs_grad", found).status == 0
        for command in ("check", "package"):
            done = run(command, found)
            assert done.status == 0, done
        yield found


@pytest.fixture
def fresh(place: Place) -> Iterator[Place]:
    """The place without what the test before has made."""
    before = {*place.root.iterdir()}
    yield place
    for path in {*place.root.iterdir()} - before:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def small_disk(folder: Path, size: str, options: str = "", then: str = "true") -> str:
    """A prefix: a file system of its own for the command alone."""
    folder.mkdir()
    mount = f"mount -t tmpfs -o size={size},mode=700{options} none {shlex.quote(str(folder))}"
    script = f'{mount} && {then}; exec "$0" "$@"'
    return f"exec unshare --mount bash -c {shlex.quote(script)}"


@as_root
@pytest.mark.parametrize(
    ("command", "variable"),
    [
        ("check", "ACLGRAD_CACHE"),
        ("package", "ACLGRAD_CACHE"),
        ("package", "TMPDIR"),
        ("check", "TMPDIR"),
        pytest.param("campaign", "TMPDIR", marks=nightly),
        pytest.param("profile", "TMPDIR", marks=nightly),
        pytest.param("test", "ACLGRAD_CACHE", marks=nightly),
        pytest.param("campaign", "ACLGRAD_CACHE", marks=nightly),
    ],
)
def test_full_disk(fresh: Place, command: str, variable: str) -> None:
    """Of the cache and of temporary files."""
    disk = fresh.root / "full"
    prefix = small_disk(disk, "100k", ",nr_inodes=200")
    judge(run(command, fresh, prefix, **{variable: str(disk)}), "No space left on device")


@as_root
@pytest.mark.parametrize(
    "words",
    [
        "check {project} --shape 2x8 --html full/page.html",
        "check {project} --shape 2x8 --format sarif --output full/found.sarif",
        "package {project} --soc Ascend910B2 --output full/packed",
        "campaign campaign.toml --out full/campaign",
        "new mul_grad full/mul_grad",
        "run {project} --inputs x.npy --output full/y.npy",
    ],
)
def test_full_disk_of_a_result(fresh: Place, words: str) -> None:
    """Nothing is left that looks like one."""
    fill = "head -c 9000 /dev/zero >full/x 2>/dev/null"
    prefix = small_disk(fresh.root / "full", "4k", then=fill)
    done = run(words, fresh, prefix)
    judge(done, "No space left on device")
    assert done.status == 1, done


@pytest.mark.parametrize("home", [None, "", "relative", "/proc/none/at/all"])
@nightly
def test_no_home(fresh: Place, home: str | None) -> None:
    """The system's word for it is taken, and a place that cannot be made is named."""
    done = run("check", fresh, HOME=home, ACLGRAD_CACHE=None, XDG_CACHE_HOME=None)
    judge(done, "ACLGRAD_CACHE=DIR" if home and home.startswith("/proc") else None)
    assert not (fresh.root / "relative").exists()


@as_root
def test_read_only_home_and_folder(fresh: Place) -> None:
    disk = fresh.root / "fixed"
    prefix = small_disk(disk, "4k", ",ro")
    done = run("check", fresh, prefix, HOME=str(disk), ACLGRAD_CACHE=None, XDG_CACHE_HOME=None)
    judge(done, "Read-only file system")
    assert done.status == 1 and "ACLGRAD_CACHE=DIR" in done.text
    disk.rmdir()
    inside = small_disk(disk, "4k", ",ro", then=f"cd {shlex.quote(str(disk))}")
    done = run("test", fresh, inside)
    judge(done, "Read-only file system")


@pytest.mark.parametrize(
    "name",
    ["a b", "a'b\"c", "a\nb", "$HOME `a`", "relative", "absent", "/sys", "/dev/null", ""],
)
@pytest.mark.parametrize(
    "command", ["check", "package", *(pytest.param(c, marks=nightly) for c in ("campaign", "test"))]
)
def test_odd_temporary_folders(fresh: Place, command: str, name: str) -> None:
    """Python and the compiler go on in /tmp where a folder cannot be used, and so does all else."""
    folder = fresh.root / name
    if name not in ("absent", "/sys", "/dev/null", ""):
        folder.mkdir()
    given = name if name in ("relative", "") else str(folder)
    shutil.rmtree(fresh.cache / "packed", ignore_errors=True)
    judge(run(command, fresh, TMPDIR=given), None)


@pytest.mark.parametrize("command", COMMANDS)
@nightly
def test_one_core(fresh: Place, command: str) -> None:
    judge(run(command, fresh, f"exec taskset --cpu-list {min(os.sched_getaffinity(0))}"), None)


@as_root
@pytest.mark.parametrize("command", COMMANDS)
@nightly
def test_another_user(fresh: Place, command: str) -> None:
    """With a folder of its own, and none in which it has a home."""
    user = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups"
    readable = all(
        path.stat().st_mode & stat.S_IXOTH
        for file in (Path(sys.executable), Path(__file__))
        for path in file.resolve().parents
    )
    if not readable:  # the Python of a private home, say: this user reads all, and writes its own
        user += " --inh-caps +dac_read_search --ambient-caps +dac_read_search"
        if subprocess.run([*user.split(), "true"], check=False).returncode:
            pytest.skip("another user cannot reach this checkout or its Python")
    own = fresh.root / "own"
    own.mkdir()
    for name in ("x.npy", "campaign.toml", "abs_grad"):
        (own / name).symlink_to(fresh.root / name)
    os.chown(own, NOBODY, NOBODY)
    user = f"cd own && exec {user}"
    judge(run(command, fresh, user, HOME="/nonexistent", ACLGRAD_CACHE=str(own / "cache")), None)
    done = run("check", fresh, user, HOME="/nonexistent", ACLGRAD_CACHE=None, XDG_CACHE_HOME=None)
    judge(done, "ACLGRAD_CACHE=DIR")
    judge(run("check", fresh, user, HOME="/nonexistent"), "belongs to user 0")


def group_folder() -> Path:
    return GROUPS / f"aclgrad-test-{os.getpid()}"


@pytest.fixture
def small_group() -> Iterator[Callable[[str], str]]:
    """A memory control group, as a prefix for commands."""
    group = group_folder()
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group of memory can be made here: {error}")

    def limited(size: str) -> str:
        (group / "memory.limit_in_bytes").write_text(size)
        return f"echo $$ >{group}/cgroup.procs; exec"

    try:
        yield limited
    finally:
        for _ in range(50):
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.1)


@pytest.mark.parametrize(
    "words",
    [
        *COMMANDS.values(),
        "check {project} --shape 8192x8192",
        "check softmax_grad --shape 4096x4096 --dtype fp32",
        "check softmax_grad --shape 16384x16384 --dtype fp32",
        "profile softmax_grad 8192x4096",
        "profile {project} 8192x8192",
        "run softmax_grad big.npy big.npy --output y.npy",
        "run {project} --inputs big.npy --output y.npy",
        "check {project} --shape 4096x8192",
        "check {project} --shape 4096x8192 --html page.html",
        "check {project} --shape 2147483647x2",
        "profile {project} 65536x65536",
        "check softmax_grad --shape 4096x4096 --dtype fp32 --chaos 1-2",
        "check softmax_grad --shape 2147483647 --dtype fp32",
        "check log_sigmoid_grad --shape 100000000 --dtype fp16",
        "check kl_div_loss_grad --shape 8192x8192 --dtype fp32",
        "check log_softmax_grad --shape 8192x8192 --dtype bf16",
        "check scaled_masked_softmax_grad_v2 --shape 4x32x1024x1024 --dtype fp16",
    ],
)
@nightly
def test_512_mb(fresh: Place, small_group: Callable[[str], str], words: str) -> None:
    """What fits runs. What does not is refused, or named where it ends a child."""
    if "big.npy" in words:
        np.save(fresh.root / "big.npy", np.zeros((4096, 8192), np.float32))
    done = run(words, fresh, small_group("512M"))
    judge(done, None if words in COMMANDS.values() else "the control group's limit of 512 MB")


def with_workspace(place: Place, megabytes: int) -> Path:
    """The project, whose kernel does not touch the workspace that its tiling asks for."""
    project = place.root / f"workspace{megabytes}" / "abs_grad"
    shutil.copytree(place.project, project)
    (tiling,) = project.glob("op_host/*_tiling.cpp")
    asks = f"context->GetWorkspaceSizes(1)[0] = size_t{{{megabytes}}} << 20"
    text, number = re.subn(
        r"return (TileElementwise\(.*\);)", rf"const auto done = \1\n  {asks};\n  return done;",
        tiling.read_text(),
    )  # fmt: skip
    assert number == 1
    tiling.write_text(text)
    assert run(f"build {project}", place).status == 0
    return project


def test_workspace_that_no_kernel_touches(fresh: Place, small_group: Callable[[str], str]) -> None:
    """It takes no memory, in checked mode either, and one that the host cannot give is refused."""
    project = with_workspace(fresh, 700)
    group = small_group("1G")
    done = run(f"check {project} --shape 2x8", fresh, group)
    peak = int((group_folder() / "memory.max_usage_in_bytes").read_text())
    assert done.status == 0 and peak < 500 << 20, (peak, done)
    done = run(f"check {project} --shape 2x8", fresh, small_group("512M"))
    judge(done, "the control group's limit of 512 MB")
    assert done.status == 1, done


ASKS = """
from aclgrad.errors import AclgradError
from aclgrad.runtime import open_device
import ctypes as c
call = open_device().libraries.call
block = c.c_void_p()
call("aclrtMalloc", c.byref(block), 300 << 20, 0)  # takes memory where it is used
for function in ("aclrtMalloc", "aclrtMallocCached"):  # the host leaves less than 200 MB
    try:
        call(function, c.byref(c.c_void_p()), 220 << 20, 0)
    except AclgradError as error:
        print(error)
call("aclrtFree", block)
"""


def test_device_memory_that_others_may_still_take(
    fresh: Place, small_group: Callable[[str], str]
) -> None:
    """A block counts in full before it is used, and the limit is named."""
    (fresh.root / "asks.py").write_text(ASKS)
    words = f"exec -- {shlex.quote(sys.executable)} asks.py"
    done = run(words, fresh, small_group("512M"))
    assert done.status == 0, done
    assert done.text.count("the control group's limit of 512 MB") == 2, done.text


@nightly
def test_150_mb_for_a_compiler(fresh: Place, small_group: Callable[[str], str]) -> None:
    """Its end by the kernel is named."""
    cache = fresh.root / "new"
    cache.mkdir(mode=0o700)
    done = run("check", fresh, small_group("150M"), ACLGRAD_CACHE=str(cache))
    judge(done, "Killed signal")
