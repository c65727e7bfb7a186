# SPDX-License-Identifier: Apache-2.0
"""The folder that a command is called in is data: no Python that the command starts takes modules
from it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from aclgrad.runtime.toolkit import checkout

pytestmark = pytest.mark.journey

ROOT = Path(__file__).resolve().parents[3]
PROJECT = ROOT / "tests/sim/projects/math/square"
OTHERS = (
    "numpy",
    "ml_dtypes",
    "jinja2",
    "typer",
    "rich",
    "pygal",
    "pip",
    "pytest",
    "aclgrad",
    "tensorflow",
)
OWN = ("scikit_build_core", "soc", "timing", "sitecustomize", "usercustomize")


@pytest.fixture
def planted(tmp_path: Path, new_cache: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of modules that tell when they are imported."""
    monkeypatch.setenv("ACLGRAD_CACHE", str(new_cache()))
    folder = tmp_path / "planted"
    folder.mkdir()
    for name in (*sys.stdlib_module_names, *OTHERS, *OWN):
        (folder / f"{name}.py").write_text(
            f"open({str(tmp_path / 'trace')!r}, 'a').write({name!r} + ' ')\n"
            "raise SystemExit('planted module ran')\n"
        )
    np.save(folder / "x.npy", np.ones((4, 8), np.float32))
    return folder


def call(command: list[str], planted: Path, tmp_path: Path, **more: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        command,
        cwd=planted,
        capture_output=True,
        text=True,
        timeout=600,
        env={**environment, **more},
    )
    trace = tmp_path / "trace"
    assert not trace.exists(), f"{command}: imported {trace.read_text()}"
    return done.stdout + done.stderr


def test_planted_modules_are_seen_when_python_looks_there(planted: Path, tmp_path: Path) -> None:
    """The trap works."""
    subprocess.run([sys.executable, "-c", "import json"], cwd=planted, capture_output=True)
    assert (tmp_path / "trace").read_text() == "json "


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("doctor",), "all libraries load together"),
        (("run", "softmax_grad", "x.npy", "x.npy", "-o", "out.npy", "--golden"), "out.npy"),
        (("check", "softmax_grad", "--shape", "4x8"), ""),
        (("profile", "softmax_grad", "4x8", "--html", "p.html"), "written: p.html"),
        (("tiling", "softmax_grad", "4x8"), "blockDim"),
        (("build", str(PROJECT)), "kernels in"),
        (("config", "--cflags", "--libs"), "-I"),
        (("explain", "161002"), "161002"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_commands(words: tuple[str, ...], says: str, planted: Path, tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("aclgrad")
    if not script.is_file():
        pytest.skip("the aclgrad command is not installed")
    assert says in call([str(script), *words], planted, tmp_path)


def test_configuring_a_build(planted: Path, tmp_path: Path) -> None:
    """CMake looks for Python, and runs the generator with it."""
    code = (
        "import pathlib, sys\nfrom aclgrad.checkout import cmake_build\n"
        "cmake_build._configure(*map(pathlib.Path, sys.argv[1:3]), False)"
    )
    build = tmp_path / "build"
    build.mkdir()
    runner = tmp_path / "configure.py"
    runner.write_text(code)
    text = call([sys.executable, str(runner), str(ROOT), str(build)], planted, tmp_path)
    assert (build / "build.ninja").is_file(), text


def test_scripts(planted: Path, tmp_path: Path) -> None:
    """Up to where they would install: an installed environment is taken as it is."""
    source = checkout()
    assert source is not None
    copy = tmp_path / "copy"
    (copy / "scripts").mkdir(parents=True)
    for name in ("build.sh", "common.sh", "test.sh", "fuzz.sh", "lock.py"):
        shutil.copy(source / "scripts" / name, copy / "scripts")
    shutil.copytree(source / "requirements", copy / "requirements")
    (copy / "pyproject.toml").write_text("")
    for name in ("build.sh", "test.sh", "fuzz.sh"):
        text = call(
            ["bash", str(copy / "scripts" / name)], planted, tmp_path,
            PIP_INDEX_URL="file:///nowhere", PIP_NO_INDEX="1", PYTHON=sys.executable,
        )  # fmt: skip
        assert "installing the package" in text and "error: " in text, text
