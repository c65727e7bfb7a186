# SPDX-License-Identifier: Apache-2.0
"""Every command in the user documentation runs, and prints what the page shows."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.journey

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "benchmarks/README.md",
        *ROOT.glob("docs/**/*.md"),
    ]
)
TUTORIALS = sorted(
    ROOT.glob("docs/tutorial/*[!h].md")
)  # the Chinese ones, .zh.md, have the same commands
FENCE = re.compile(r"^```(console|python)\n(.*?)^```$", re.M | re.S)


def blocks(kind: str) -> list[tuple[str, str]]:
    return [
        (page.relative_to(ROOT).as_posix(), body)
        for page in PAGES
        if page.name != "torch_npu.md"  # tests/torch_backend runs that
        and page.parent.name != "tutorial"  # walked as a whole
        and not page.name.endswith(".zh.md")  # tests/null/test_site.py: the same as in English
        for found, body in FENCE.findall(page.read_text())
        if found == kind
    ]


def steps(body: str) -> list[tuple[str, str]]:
    """Commands of a console block, each with the output that the page shows for it."""
    parts = re.split(r"^\$ ", body, flags=re.M)[1:]
    split = [part.partition("\n") for part in parts]
    return [(command, output) for command, _, output in split]


def environment() -> dict[str, str]:
    env = dict(os.environ, COLUMNS="120", NO_COLOR="1", TERM="dumb")
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    return env


def command_of(text: str) -> str:
    # The pages name the checkout's environment; the tests may run in another.
    return text.replace(".venv/bin/", f"{Path(sys.executable).parent}/")


def matches(want: str, got: str) -> bool:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(want, got, flags)


@pytest.mark.parametrize(("page", "body"), blocks("console"))
def test_console_block(page: str, body: str, toolkit: Path) -> None:
    """Run the block's commands in order, from the root of the checkout."""
    assert shutil.which("g++"), "the pages compile programs"
    if "aclgrad ut" in body and not Path("/usr/include/gtest/gtest.h").is_file():
        pytest.skip("googletest is not installed")
    for command, want in steps(body):
        done = subprocess.run(
            ["bash", "-c", command_of(command)],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{page}: {command}\n{done.stdout}{done.stderr}"
        assert matches(want, done.stdout), f"{page}: {command}\nwant:\n{want}\ngot:\n{done.stdout}"


TITLED = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.M | re.S)


def walk(page: Path, place: Path, python: Path) -> None:
    """A page from the first block to the last, with the aclgrad beside a Python: write files, apply
    changes, run commands. A command fails where the page shows a failure, and nowhere else.
    """
    folder = place
    env = {**environment(), "ACLGRAD_SIM_THREADS": "2"}
    env["PATH"] = f"{python.parent}{os.pathsep}{env['PATH']}"
    for kind, title, body in TITLED.findall(page.read_text()):
        if title:
            (folder / title).write_text(body)
        elif kind == "diff":
            words = ["git", "apply", "--verbose"]
            done = subprocess.run(words, input=body, capture_output=True, text=True, cwd=folder)
            assert done.returncode == 0 and "offset" not in done.stderr, f"{body}{done.stderr}"
        elif kind == "python":
            subprocess.run([python, "-c", body], cwd=folder, env=env, check=True)
        elif kind == "console":
            for command, want in steps(body):
                if "gdb" in command and not shutil.which("gdb"):
                    continue
                done = subprocess.run(
                    ["bash", "-c", f"{command}\ncode=$?; pwd > '{place}/folder'; exit $code"],
                    cwd=folder,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=600,
                )
                folder = Path((place / "folder").read_text().strip())
                text = f"{command}\nwant:\n{want}\ngot:\n{done.stdout}{done.stderr}"
                fails = "FAILED" in want or "error[" in want
                assert (done.returncode != 0) == fails, text
                assert matches(want, done.stdout), text


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial(page: Path, toolkit: Path, tmp_path: Path) -> None:
    """As this environment has it; tests/sim/docs/test_first_day.py walks it from the wheel."""
    walk(page, tmp_path, Path(sys.executable))


def test_from_cuda_without_a_queue(toolkit: Path, tmp_path: Path) -> None:
    """The page names two lines that order a copy. The run fails without them."""
    text = (ROOT / "docs/tutorial/from_cuda.md").read_text()
    (named,) = re.findall(r"^Remove `(.+?)` and `(.+?)`, and the run ends with", text, re.M)
    for _, title, body in TITLED.findall(text):
        if title:
            kept = [line for line in body.splitlines() if line.strip() not in named]
            assert len(body.splitlines()) - len(kept) == (2 if title.endswith(".cpp") else 0)
            (tmp_path / title).write_text("\n".join(kept))
    bodies = [body for kind, title, body in TITLED.findall(text) if kind == "console"]
    (inputs, _), (run, _), *_ = steps(bodies[0])
    for command, code in ((inputs, 0), (run, 1)):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == code, done
    assert "[race-read-after-write]" in done.stderr


@pytest.mark.parametrize(("page", "body"), blocks("python"))
def test_python_block(page: str, body: str, toolkit: Path) -> None:
    """Run the block as a program."""
    if "import torch" in body and importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed; scripts/test.sh --torch installs it")
    done = subprocess.run(
        [sys.executable, "-c", body], cwd=ROOT, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, f"{page}:\n{done.stderr}"


def test_a_wrong_output_is_seen() -> None:
    """The comparison can fail."""
    assert matches("a ... c\n", "a b c\n")
    assert not matches("a ... d\n", "a b c\n")
    assert steps("$ one\nout\n$ two\n") == [("one", "out\n"), ("two", "")]
