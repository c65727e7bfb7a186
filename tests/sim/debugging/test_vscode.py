# SPDX-License-Identifier: Apache-2.0
"""What `aclgrad new` writes for Visual Studio Code, used as the editor uses it: findings of tasks
have a place in the sources, a gdb session stops in the kernel.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.journey

RIGHT = "static_cast<T>(1), static_cast<int32_t>(lanes));"
WRONG = "static_cast<T>(1), static_cast<int32_t>(tile_ + 1));"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new project."""
    folder = tmp_path_factory.mktemp("vscode") / "copies"
    words = ["new", "copies", str(folder), "--like", "blank"]
    subprocess.run([sys.executable, "-m", "aclgrad", *words], check=True, capture_output=True)
    return folder


def read(project: Path, name: str) -> dict[str, Any]:
    """A file of the editor."""
    return dict(json.loads((project / ".vscode" / f"{name}.json").read_text()))


def resolved(project: Path, word: str) -> str:
    """A word as the editor resolves it."""
    settings = read(project, "settings")
    asked = {item["id"]: item["default"] for item in read(project, "launch")["inputs"]}
    word = word.replace("${workspaceFolder}", str(project))
    word = re.sub(r"\$\{config:([\w.]+)\}", lambda match: str(settings[match[1]]), word)
    return re.sub(r"\$\{input:(\w+)\}", lambda match: str(asked[match[1]]), word)


def run_task(project: Path, label: str, *more: str) -> tuple[str, dict[str, Any]]:
    """What a task prints, and the task."""
    (task,) = (item for item in read(project, "tasks")["tasks"] if item["label"] == label)
    command = [resolved(project, word) for word in (task["command"], *task["args"])]
    where = resolved(project, task["options"]["cwd"])
    done = subprocess.run(
        [*command, *more], cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return done.stdout, task


def problems(text: str, task: dict[str, Any]) -> list[dict[str, str]]:
    """What the matchers of a task make of its output: patterns of lines that follow each other."""
    lines = text.splitlines()
    found = []
    for matcher in task["problemMatcher"]:
        if matcher == "$gcc":
            continue
        patterns = matcher["pattern"]
        for at in range(len(lines) - len(patterns) + 1):
            hits = [
                re.search(pattern["regexp"], line)
                for pattern, line in zip(patterns, lines[at:], strict=False)
            ]
            if all(hits):
                found.append(
                    {
                        name: hit[place]
                        for pattern, hit in zip(patterns, hits, strict=True)
                        if hit is not None
                        for name, place in pattern.items()
                        if name != "regexp"
                    }
                )
    return found


@pytest.mark.plants_faults
def test_findings_have_a_place(project: Path) -> None:
    kernel = project / "op_kernel/copies.cpp"
    text = kernel.read_text()
    assert RIGHT in text
    fine, task = run_task(project, "test", "--fast", "--dtype", "fp16")
    assert "FAILED" not in fine and problems(fine, task) == []
    kernel.write_text(text.replace(RIGHT, WRONG))
    line = 1 + text[: text.index(RIGHT)].count("\n")
    try:
        for label in ("test", "check"):
            said, task = run_task(project, label, "--fast", "--dtype", "fp16")
            (first, *_) = problems(said, task)
            assert first["code"] == "ub-out-of-bounds", said
            assert (project / first["file"]).resolve() == kernel and int(first["line"]) == line
            assert first["message"] and first.get("severity", "error") == "error"
    finally:
        kernel.write_text(text)


def test_gdb_stops_in_the_kernel(project: Path) -> None:
    gdb = shutil.which("gdb")
    if gdb is None:
        pytest.skip("gdb is not installed; apt-get install gdb")
    (launch,) = read(project, "launch")["configurations"]
    assert run_task(project, launch["preLaunchTask"])[0].count("2 kernels in") == 1
    setup = [item["text"].replace("-gdb-set", "set") for item in launch["setupCommands"]]
    place = next(
        number
        for number, line in enumerate(
            (project / "op_kernel/copies.cpp").read_text().splitlines(), 1
        )
        if RIGHT in line
    )
    steps = [*setup, f"break copies.cpp:{place}", "run", "print lanes", "backtrace 2"]
    program = [resolved(project, word) for word in (launch["program"], *launch["args"])]
    done = subprocess.run(
        [
            gdb,
            "-batch",
            "-nx",
            *(word for step in steps for word in ("-ex", step)),
            "--args",
            *program,
        ],
        cwd=resolved(project, launch["cwd"]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        env={**os.environ, **{item["name"]: item["value"] for item in launch["environment"]}},
    )
    if re.search(r"ptrace.*not permitted|Couldn't get registers", done.stdout):
        pytest.skip("this machine does not let gdb trace")
    assert re.search(r"hit Breakpoint 1, .*Compute", done.stdout), done.stdout
    assert re.search(r"^\$1 = \d+$", done.stdout, re.M), done.stdout
    assert re.search(r"#1 .*Process", done.stdout), done.stdout
