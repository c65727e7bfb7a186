# SPDX-License-Identifier: Apache-2.0
"""Where no terminal is, long work says every ten seconds what is done of what."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from rich.console import Console

from aclgrad import cli
from aclgrad.building.operator_build import Builder
from aclgrad.checkout.cmake_build import step_name
from aclgrad.cli import progress_lines
from aclgrad.cli.common import progress
from aclgrad.cli.progress_lines import Lines
from aclgrad.reading.sources import Kernel
from aclgrad.spec.definition import Definition, Registered

real = os.write
COMMON = Path(__file__).parents[2] / "scripts" / "common.sh"


def test_lines_tell_of_the_task_that_goes_on() -> None:
    shown = Lines()
    for total in (2, 4, 8):
        shown.add_task(f"op{total}", total=total)
    assert shown.line(1) == "op2: 0 of 2 after 1 s"
    shown.advance(0)
    assert shown.line(1) == "op2: 1 of 2 after 1 s"
    shown.advance(0)
    assert shown.line(1) == "op4: 0 of 4 after 1 s"
    shown.advance(2, 8)
    assert shown.line(1) == "op8: 8 of 8 after 1 s"


def test_lines_tell_of_the_last_task(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    with Lines(0.01, write) as shown, os.fdopen(read) as stream:
        first = shown.add_task("first", total=3)
        shown.advance(first)
        task = shown.add_task("building", total=None)
        shown.update(task, completed=7, total=9, description="building x.cpp   ")
        # Lines come for as long as the work takes, so that waiting for one is no race.
        while not (line := stream.readline()).startswith("building x.cpp: 7 of 9 after "):
            assert line.endswith(" s\n")
    os.close(write)
    assert shown.line(21.4) == "building x.cpp: 7 of 9 after 21 s"
    monkeypatch.setattr(sys, "argv", ["aclgrad", "check", "relu", "--fast"])
    assert Lines().line(10.0) == "aclgrad check relu: preparing, after 10 s"


def test_commands_without_a_bar_tell_too(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_lines.Lines.__init__, "__defaults__", (0.01, 2))
    told = threading.Event()

    def write(file: int, text: bytes) -> int:
        told.set()
        return real(file, text)

    monkeypatch.setattr(os, "write", write)

    def works() -> None:
        progress_lines.tell("profiling op 4x4", 3, 12)
        assert told.wait(60)

    cli._guarded("profile", works)()
    assert "profiling op 4x4: 3 of 12 after 0 s\n" in capfd.readouterr().err
    assert {"run", "profile", "package", "ut"} <= cli._WITHOUT_BAR


def test_a_step_of_a_build_has_a_short_name() -> None:
    compiled = "Building CXX object simulator/CMakeFiles/ascendcl.dir/src/checkers/checks.cpp.o"
    assert step_name(compiled) == "ascendcl: checks.cpp"
    kernel = "Building CXX object CMakeFiles/softmax_grad_ascend910b_float16.dir/softmax_grad.cpp.o"
    assert step_name(kernel) == "softmax_grad_ascend910b_float16: softmax_grad.cpp"
    assert step_name("Linking CXX shared library toolkit/lib64/libhccl.so") == "libhccl.so"
    assert step_name("Generating soc_table.cpp") == "soc_table.cpp"


def test_kernels_of_a_build_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    builder = object.__new__(Builder)
    builder.jobs, builder.seen_parsed = 1, set()
    builder.progress = lambda done, total: told.append((done, total))
    monkeypatch.setattr(Builder, "build_kernel", lambda *_: None)
    builder.build_all([Kernel(Definition(type="Square"), (), Path("square.so"))] * 2, Registered())
    assert told == [(1, 2), (2, 2)]


def test_a_bar_is_for_terminals() -> None:
    assert isinstance(progress(Console(file=io.StringIO())), Lines)
    assert not isinstance(progress(Console(file=io.StringIO(), force_terminal=True)), Lines)


def test_scripts_say_where_a_quiet_command_is() -> None:
    waits = "echo collecting; for i in $(seq 6000); do sleep 0.05; [ -e $0 ] && exit $1; done"
    for status in (0, 3):
        program = f"""set -euo pipefail; source '{COMMON}'; mark=$(mktemp -u); exec 3>&1
        look() {{ while read -r line; do echo "$line" >&3; touch "$mark"; done; }}
        result=0; quietly bash -c '{waits}' "$mark" {status} 2> >(look) || result=$?
        rm -f "$mark"; echo "ended with $result" """
        done = subprocess.run(
            ["bash", "-c", program],
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
            env={**os.environ, "TELL_SECONDS": "0.05"},
        )
        assert "s: collecting" in done.stdout and f"ended with {status}\n" in done.stdout
