# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of the lanes on every instruction set of this host, without a kernel around it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SIMULATOR = HERE.parents[2] / "simulator"


@pytest.fixture(scope="module")
def lanes_check(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of lanes_check.cpp."""
    return built("lanes_check", toolkit, tmp_path_factory.mktemp("lanes"))


def built(name: str, toolkit: Path, folder: Path) -> Path:
    """The program of a source beside this file, which calls the library's own functions."""
    target = folder / name
    command = ["g++", "-std=c++20", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
    command += [f"-I{SIMULATOR}/include", f"-I{SIMULATOR}/src", str(HERE / f"{name}.cpp")]
    command += ["-o", str(target), f"-L{toolkit}/lib64", "-lascendcl"]
    subprocess.run([*command, f"-Wl,-rpath,{toolkit}/lib64"], check=True)
    return target


def run(program: Path, *arguments: str) -> None:
    """Fail with what the program has found."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(": 0 faults\n"), done.stdout


def test_exp_and_ln_are_correctly_rounded(lanes_check: Path) -> None:
    """A prime stride, so that all exponents meet all endings of the mantissa."""
    run(lanes_check, "floats", "2039")


def test_large_copies(lanes_check: Path) -> None:
    run(lanes_check, "copies")


def test_instruction_sets_are_alike(lanes_check: Path) -> None:
    """A result must not depend on the host that it is computed on."""
    run(lanes_check, "alike")


def test_products_have_the_same_bits_on_every_host(toolkit: Path, tmp_path: Path) -> None:
    """Of the loops of Mmad, with every rest of rows, columns and steps that a tile can have."""
    run(built("cube_loops_check", toolkit, tmp_path))
