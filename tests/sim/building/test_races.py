# SPDX-License-Identifier: Apache-2.0
"""Any number of processes and threads build operators at once, from an empty cache."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from aclgrad.building import operator_build
from aclgrad.building.compile_step import Step
from aclgrad.building.toolchain import toolchain
from aclgrad.common.locks import alone
from aclgrad.reading.layout import locate
from aclgrad.spec.soc import family_of

pytestmark = pytest.mark.journey

MATH = Path(__file__).parents[1] / "projects" / "math"
PROCESSES, THREADS = 3, 4

_BUILD = """
import sys, threading
import numpy as np
import aclgrad

x = np.arange(48, dtype=np.float32).reshape(3, 16)
jobs = [
    lambda: aclgrad.load(sys.argv[1] + "/scale_add").scale_add(x),
    lambda: aclgrad.load(sys.argv[1] + "/scale_add").scale_add(x.astype("f2")),
    lambda: aclgrad.load(sys.argv[1] + "/scale_add").scale_add(x, repeat=1),
    lambda: aclgrad.load(sys.argv[1] + "/list_scale").list_scale([x])[0] * 2 / 3,
]
start, failures = threading.Barrier(len(jobs)), []

def work(job):
    start.wait()
    try:
        np.testing.assert_array_equal(job(), 2 * x)
    except BaseException as error:
        failures.append(error)

print("ready", flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
for thread in threads: thread.start()
for thread in threads: thread.join()
for error in failures: print(type(error).__name__, error, file=sys.stderr)
sys.exit(len(failures))
"""


def at_once(command: list[str], environment: dict[str, str]) -> list[tuple[int, str]]:
    """Start processes, wait until each is ready, and let them go."""
    running = [
        subprocess.Popen(
            command,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(PROCESSES)
    ]
    for process in running:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate() for process in running]
    return [(process.returncode, err) for process, (_, err) in zip(running, ended, strict=True)]


def test_first_builds_at_once(tmp_path: Path) -> None:
    """The same and different operators and dtypes, 4 threads in each of 3 processes."""
    cache = tmp_path / "cache"
    command = [sys.executable, "-c", _BUILD, str(MATH)]
    ended = at_once(command, {**os.environ, "ACLGRAD_CACHE": str(cache)})
    assert [code for code, _ in ended] == [0] * PROCESSES, "\n".join(text for _, text in ended)
    assert [*cache.rglob("*.part*")] == []
    said = [line for _, text in ended for line in text.splitlines() if "precompiled" in line]
    assert len(said) == 1 and str(cache) in said[0]
    later = [sys.executable, "-c", "import sys, aclgrad; aclgrad.load(sys.argv[1])"]
    environment = {**os.environ, "ACLGRAD_CACHE": str(cache)}
    done = subprocess.run(
        [*later, str(MATH / "scale_add")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and "precompiled" not in done.stderr, done.stderr


def test_aclnn_functions_of_neighbours_stay(
    new_cache: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who builds one operator of a folder takes nothing from who builds another."""
    monkeypatch.setenv("ACLGRAD_CACHE", str(new_cache()))
    builder = operator_build.Builder(locate(MATH / "scale_add"), family_of("Ascend910B2"))
    first = operator_build.runnable(builder.build_host(), builder.sources, builder.soc)[0]
    second = dataclasses.replace(first, type="ScaleAddToo")
    builder.registered.add(second.type)

    def build(number: int) -> None:
        builder.build_api([(first, second)[number % 2]])

    failures = together(build, 4)
    assert failures == []
    text = builder.api_library.read_bytes()
    assert b"aclnnScaleAddGetWorkspaceSize" in text and b"aclnnScaleAddTooGetWorkspaceSize" in text


def together(work: Callable[[int], None], count: int = 8) -> list[BaseException]:
    """Run in threads; returns what was raised."""
    failures: list[BaseException] = []
    start = threading.Barrier(count)

    def guarded(number: int) -> None:
        start.wait()
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_a_step_runs_once(tmp_path: Path) -> None:
    """Threads that need one output: one makes it, nobody sees it half made."""
    output, log = tmp_path / "deep" / "out.o", tmp_path / "log"
    script = f"echo made >> {log}; for i in 1 2 3 4 5 6 7 8; do echo $i >> $1; sleep 0.02; done"
    step = Step(output, ("/bin/sh", "-c", script, "sh", str(output)), toolchain("/bin/sh"))

    def work(number: int) -> None:
        assert step.run() is None
        assert output.read_text().split() == [*"12345678"]

    assert together(work) == []
    assert log.read_text() == "made\n"


def test_a_failed_step_leaves_nothing(tmp_path: Path) -> None:
    output = tmp_path / "out.o"
    output.write_text("older")
    script = "echo half > $1; echo why >&2; exit 3"
    command = ("/bin/sh", "-c", script, "sh", str(output))
    error = Step(output, command, toolchain("/bin/sh")).run()
    assert error == "why\n" and not output.exists()
    assert [path.name for path in tmp_path.iterdir() if "part" in path.name] == []


def test_a_lock_is_for_one(tmp_path: Path) -> None:
    """Among threads and processes; waiting is told of once."""
    inside: list[int] = []
    told: list[int] = []

    def work(number: int) -> None:
        with alone(tmp_path / "lock", lambda: told.append(number)):
            inside.append(number)
            assert inside == [number]
            inside.remove(number)

    assert together(work) == []
    assert len(told) == len(set(told))
    with alone(tmp_path / "lock"):
        code = "import sys; from pathlib import Path; from aclgrad.common.locks import alone\n"
        code += "with alone(Path(sys.argv[1]), lambda: sys.exit(7)): pass"
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "lock")], check=False)
    assert done.returncode == 7
