# SPDX-License-Identifier: Apache-2.0
"""A person's first day: every command of README, index, tutorial and "call an operator", from the
wheel in an environment of its own, outside of the checkout.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from test_docs import TUTORIALS, environment, matches, steps, walk
from test_wheel import installed, wheel
from test_wheel import pytestmark as of_wheels

pytestmark = [pytest.mark.journey, *of_wheels]

__all__ = ["installed", "wheel"]  # fixtures

ROOT = Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S)
OF_CHECKOUT = ("scripts/build.sh", "source .venv/bin/activate")
"""What brings aclgrad into an environment: here the wheel does."""


def scripts(page: str) -> list[str]:
    """The command blocks of a page, without what installs aclgrad."""
    found = []
    for language, body in FENCE.findall((ROOT / page).read_text()):
        if language:
            continue
        lines = [line for line in body.splitlines() if not line.startswith(OF_CHECKOUT)]
        if lines and not lines[0].startswith("error["):
            found.append("\n".join(lines))
    return found


def first_day(installed: Path, cache: Path) -> dict[str, str]:
    env = environment()
    env["PATH"] = f"{installed / 'bin'}{os.pathsep}{env['PATH']}"
    return {**env, "ACLGRAD_CACHE": str(cache)}


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_three_commands(
    page: str, installed: Path, tmp_path: Path, new_cache: Callable[[], Path]
) -> None:
    """The whole grid. The cache of the README's is empty; the others have its parsed headers."""
    (script,) = scripts(page)
    assert "aclgrad new my_op" in script and "aclgrad test" in script
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=tmp_path,
        env=first_day(installed, tmp_path / "cache" if page == "README.md" else new_cache()),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    count = re.search(r"^(\d+) passed in \d+ s$", done.stdout, re.M)
    assert count is not None, done.stdout
    promised = re.search(r"compares (\d+) cases", script)
    assert promised is None or promised[1] == count[1], f"{page} says {promised[1]} cases"


def test_the_call_on_the_first_screen(
    installed: Path, tmp_path: Path, new_cache: Callable[[], Path]
) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    (promised,) = re.findall(r"^print\(.*\)  # (.*)$", block, re.M)
    done = subprocess.run(
        [installed / "bin/python", "-c", block],
        cwd=tmp_path,
        env=first_day(installed, new_cache()),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    numbers = [
        [round(float(word), 3) for word in re.findall(r"-?[\d.]+", text)]
        for text in (promised, done.stdout)
    ]
    assert len(numbers[0]) == 6 and numbers[0] == numbers[1]


def test_a_failing_command_is_seen(installed: Path, tmp_path: Path) -> None:
    """The walk stops where a page is wrong: an empty folder has no project."""
    env = first_day(installed, tmp_path / "cache")
    words = ["bash", "-euc", "aclgrad test\ntrue"]
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 1 and "no operator project here" in done.stderr


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_from_the_wheel(
    page: Path,
    installed: Path,
    tmp_path: Path,
    new_cache: Callable[[], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ACLGRAD_CACHE", str(new_cache()))
    place = tmp_path / "place"
    place.mkdir()
    walk(page, place, installed / "bin/python")


def with_torch(env: dict[str, str]) -> dict[str, str] | None:
    """The wheel's environment and the torch of the tests'; None without one. Folders of PYTHONPATH
    read no .pth files, so aclgrad stays the wheel's.
    """
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return None
    return {**env, "PYTHONPATH": str(Path(found.origin).parents[1])}


def test_call_an_operator(installed: Path, tmp_path: Path, new_cache: Callable[[], Path]) -> None:
    """Each block of the page, in its order. The examples lie beside. Blocks with torch run if the
    tests have one: in the lane torch of the CI.
    """
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "build").mkdir()
    env = first_day(installed, new_cache())
    text = (ROOT / "docs/calling.md").read_text()
    ran = 0
    for kind, body in re.findall(r"^```(console|python)\n(.*?)^```$", text, re.M | re.S):
        if kind == "python":
            chosen = with_torch(env) if "import torch" in body else env
            if chosen is None:
                continue
            place = f"import aclgrad\nassert {str(installed)!r} in aclgrad.__file__\n"
            python = [str(installed / "bin/python"), "-c", f"{place}{body}"]
            subprocess.run(python, cwd=tmp_path, env=chosen, check=True, timeout=600)
            ran += 1
        for command, want in steps(body) if kind == "console" else ():
            done = subprocess.run(
                ["bash", "-c", command.replace(".venv/bin/", "")],
                cwd=tmp_path,
                env=env,
                capture_output=True,
                text=True,
                timeout=600,
            )
            assert done.returncode == 0 and matches(want, done.stdout), f"{command}\n{done}"
            ran += 1
    assert ran == (10 if with_torch(env) else 7)
