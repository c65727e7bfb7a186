# SPDX-License-Identifier: Apache-2.0
"""The CI templates in docs/ci: they parse, name only what exists, and the simulator's lane runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from aclgrad.cli import app
from aclgrad.runtime.toolkit import checkout
from aclgrad.spec.soc import family_of

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "docs" / "ci"
TEMPLATES = sorted(CI.glob("*.yml"))
pytestmark = pytest.mark.sim_only
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")


def template(name: str) -> dict[str, Any]:
    document = yaml.safe_load((CI / name).read_text())
    # YAML 1.1 reads the key "on" as true.
    assert document["name"] and document[True]
    return dict(document)


def commands(job: dict[str, Any]) -> Iterator[list[str]]:
    """Words of each command; GitHub's expressions become one word."""
    for step in job["steps"]:
        for line in step.get("run", "").splitlines():
            yield shlex.split(EXPRESSION.sub("EXPRESSION", line))


def options_of(command: str) -> set[str]:
    group = typer.main.get_command(app)
    found = group.get_command(typer.Context(group), command)  # type: ignore[attr-defined]
    assert found is not None, f"aclgrad has no command {command}"
    return {name for param in found.params for name in param.opts}


def check(words: list[str]) -> None:
    """Fail for a program, command or option that does not exist."""
    program = words[0]
    flags = [word.partition("=")[0] for word in words if word.startswith("--")]
    if program.startswith("scripts/"):
        assert os.access(ROOT / program, os.X_OK), program
        usage = subprocess.run([ROOT / program, "--help"], capture_output=True, text=True).stdout
        for flag in flags:
            assert re.search(rf"^  {flag}\b", usage, re.M), f"{program} has no {flag}"
    elif program == ".venv/bin/aclgrad":
        known = options_of(words[1])
        assert set(flags) <= known, f"aclgrad {words[1]}: {set(flags) - known}"
    else:
        assert program in ("source", "python3", ".venv/bin/python", "cmake", "build/run_scale")
    for inner in re.findall(r"\$\((.*?)\)", " ".join(words)):
        check(shlex.split(inner))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_command_exists(path: Path) -> None:
    jobs = template(path.name)["jobs"]
    found = [words for job in jobs.values() for words in commands(job)]
    assert len(found) > 4
    for words in found:
        check(words)
    for job in jobs.values():
        assert job["runs-on"] and job["timeout-minutes"] <= 60
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])


def test_a_wrong_command_is_seen() -> None:
    for line in (
        "scripts/none.sh",
        "scripts/build.sh --frobnicate",
        ".venv/bin/aclgrad test --none",
        ".venv/bin/aclgrad none",
        "curl x",
        "cmake -D$(.venv/bin/aclgrad config --none)",
    ):
        with pytest.raises((AssertionError, KeyError)):
            check(shlex.split(line))


def test_lanes_are_what_the_page_says() -> None:
    jobs = template("operators.yml")["jobs"]
    assert set(jobs) == {"simulator", "cann", "npu"}
    assert all(family_of(soc) for soc in jobs["simulator"]["strategy"]["matrix"]["soc"])
    assert "self-hosted" in jobs["npu"]["runs-on"] and "'npu'" in jobs["npu"]["if"]
    text = (CI / "README.md").read_text()
    workflow = "".join(path.read_text() for path in TEMPLATES)
    for name in set(re.findall(r"vars\.(\w+)", workflow)):
        assert f"`{name}`" in text, name


@pytest.mark.skipif(
    checkout() is None or "ACLGRAD_TOOLKIT" in os.environ, reason="builds in the checkout"
)
@pytest.mark.usefixtures("toolkit")
def test_the_simulators_lane_runs(tmp_path: Path) -> None:
    """Its commands as they stand, but for all tests, and with one dtype."""
    env = dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    ran = []
    for words in commands(template("operators.yml")["jobs"]["simulator"]):
        if words[0] == "scripts/test.sh":
            continue
        words = [word.replace("EXPRESSION", "Ascend310P3") for word in words]
        if words[1:2] == ["test"]:
            words = [*words, "--dtype", "fp16", "--out", str(tmp_path)]
        words[0] = words[0].replace(".venv/bin/", f"{Path(sys.executable).parent}/")
        done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=env)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        ran.append(words)
    assert len(ran) == 3
    assert {path.suffix for path in tmp_path.iterdir()} == {".html", ".json", ".xml"}
