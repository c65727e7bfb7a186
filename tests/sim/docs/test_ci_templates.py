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

pytestmark = pytest.mark.journey

ROOT = Path(__file__).resolve().parents[3]
CI = ROOT / "docs" / "ci"
TEMPLATES = sorted(CI.glob("*.yml"))
GITHUB = [path for path in TEMPLATES if "git" not in path.name]
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
    own = words[: words.index("--")] if "--" in words else words  # behind it: another program's
    flags = [word.partition("=")[0] for word in own if word.startswith("--")]
    if program.startswith("scripts/"):
        assert os.access(ROOT / program, os.X_OK), program
        usage = subprocess.run([ROOT / program, "--help"], capture_output=True, text=True).stdout
        for flag in flags:
            assert re.search(rf"^  {flag}\b", usage, re.M), f"{program} has no {flag}"
    elif program == ".venv/bin/aclgrad":
        known = options_of(words[1])
        assert set(flags) <= known, f"aclgrad {words[1]}: {set(flags) - known}"
    else:
        known_programs = ("source", "python3", ".venv/bin/python", "cmake", "build/run_scale")
        assert program in known_programs or words[:2] == ["git", "ls-files"]
    for inner in re.findall(r"\$\((.*?)\)", " ".join(words)):
        check(shlex.split(inner))


def scripts_of(node: Any) -> Iterator[str]:
    """Lines of all scripts in a template for GitLab or Gitee."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("script", "commands"):
                yield from value
            else:
                yield from scripts_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from scripts_of(value)


@pytest.mark.parametrize("path", GITHUB, ids=lambda path: path.name)
def test_every_command_exists(path: Path) -> None:
    jobs = template(path.name)["jobs"]
    found = [words for job in jobs.values() for words in commands(job)]
    assert len(found) > 4
    for words in found:
        check(words)
    for job in jobs.values():
        assert job["runs-on"] and job["timeout-minutes"] <= 60
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])


@pytest.mark.parametrize("name", ["project.gitlab-ci.yml", "project.gitee.yml"])
def test_every_command_of_other_hosts_exists(name: str) -> None:
    found = [
        shlex.split(line, comments=True)
        for line in scripts_of(yaml.safe_load((CI / name).read_text()))
    ]
    assert len(found) > 4
    for words in found:
        check(words)


def test_projects_are_treated_alike() -> None:
    """What one host's template runs of aclgrad, the others do."""

    def verbs(lines: Iterator[str]) -> set[str]:
        return {shlex.split(line)[1] for line in lines if ".venv/bin/aclgrad" in line}

    github = {
        words[1]
        for job in template("project.yml")["jobs"].values()
        for words in commands(job)
        if words[0] == ".venv/bin/aclgrad"
    }
    for name in ("project.gitlab-ci.yml", "project.gitee.yml"):
        assert verbs(scripts_of(yaml.safe_load((CI / name).read_text()))) >= github - {"build"}


@pytest.mark.usefixtures("toolkit")
def test_the_lanes_of_a_project_run(tmp_path: Path) -> None:
    """GitLab's, in a new project, with one dtype; what was built is not built again."""
    bin_folder = Path(sys.executable).parent
    env = dict(os.environ, SOC="Ascend910B2", PATH=f"{bin_folder}{os.pathsep}{os.environ['PATH']}")

    def run(line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path / "my_op", env=env
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    subprocess.run([bin_folder / "aclgrad", "new", "my_op"], cwd=tmp_path, check=True, env=env)
    run("git init -q . && git add -A")
    for line in scripts_of(yaml.safe_load((CI / "project.gitlab-ci.yml").read_text())):
        if " venv " in line or " pip " in line:
            continue
        line = line.replace(".venv/bin/", f"{bin_folder}/").replace("--chaos 1-3", "--chaos 1")
        if re.search(r"aclgrad (test|check)", line):
            line = f"{line} --dtype fp16 --fast"
        run(line)
    made = tmp_path / "my_op"
    assert "sarif" in (made / "findings.sarif").read_text()
    assert (made / "report" / "junit.xml").is_file()
    cache = Path(os.environ["ACLGRAD_CACHE"])
    kernels = [path for path in cache.glob("my_op-*/**/MyOp_*.so")]
    times = {path: path.stat().st_mtime_ns for path in kernels}
    assert kernels
    run("git ls-files -z | xargs -0 touch")  # a checkout has new times
    run(f"{bin_folder}/aclgrad build .")
    assert times == {path: path.stat().st_mtime_ns for path in kernels}


def test_forms_of_issues_ask_what_a_host_knows() -> None:
    """A comma in braces makes another key of the rest of a text."""
    known = {"label", "description", "placeholder", "value", "render", "options", "multiple"}
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(path.read_text())
        assert form["name"] and form["description"]
        for item in form["body"]:
            assert set(item["attributes"]) <= known, f"{path.name}: {item['attributes']}"
            assert item["type"] == "markdown" or item["attributes"]["label"]


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
    assert set(jobs) == {"build", "simulator", "cann", "npu"}
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
    """It and what it needs: commands as they stand, but for all tests, and with one dtype."""
    env = dict(os.environ, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    ran = []
    jobs = template("operators.yml")["jobs"]
    assert jobs["simulator"]["needs"] == "build"
    for words in [*commands(jobs["build"]), *commands(jobs["simulator"])]:
        if words[0] in ("scripts/test.sh", "git"):
            continue
        words = [word.replace("EXPRESSION", "Ascend310P3") for word in words]
        if words[1:2] == ["test"]:
            words = [*words, "--dtype", "fp16", "--out", str(tmp_path)]
        if words[1:2] == ["check"]:
            words = [*words, "--dtype", "fp16", "--output", str(tmp_path / "findings.sarif")]
        words[0] = words[0].replace(".venv/bin/", f"{Path(sys.executable).parent}/")
        done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=env)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        ran.append(words)
    assert len(ran) == 4
    suffixes = {path.suffix for path in tmp_path.iterdir()}
    assert suffixes == {".html", ".json", ".xml", ".sarif"}
