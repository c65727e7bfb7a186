# SPDX-License-Identifier: Apache-2.0
"""The command line as people expect it, where something runs: kernel files under `check`, and
`test` until the first failure and of the last failures.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from test_command_line import without_reader
from test_own_operator import aclgrad
from test_planted_kernels import GOLDEN, square

__all__ = ["square"]  # a fixture

ROOT = Path(__file__).resolve().parents[3]
LAUNCH = (
    "--inputs",
    "x.npy",
    "--outputs",
    "float16[1000]",
    "--tiling",
    "u32:1000",
    "--blocks",
    "7",
)


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """The kernel of examples/own_kernel without the queue that orders copy and computation."""
    text = (ROOT / "examples/own_kernel/scale.cpp").read_text()
    for line in ("  in.EnQue(local);\n", "  local = in.DeQue<half>();\n"):
        assert line in text
        text = text.replace(line, "")
    path = tmp_path / "race.cpp"
    path.write_text(text)
    np.save(tmp_path / "x.npy", np.ones(1000, np.float16))
    return path


def test_check_of_a_kernel_file(kernel: Path) -> None:
    folder = kernel.parent
    said = aclgrad("check", kernel.name, *LAUNCH, cwd=folder, status=1)
    assert "error[race-read-after-write]" in said and "race.cpp:31" in said
    form = ("--format", "json", "--output", "found.json")
    aclgrad("check", kernel.name, *LAUNCH, *form, cwd=folder, status=1)
    found = json.loads((folder / "found.json").read_text())
    assert found["errors"] == 1 and "--outputs 'float16[1000]'" in found["findings"][0]["repro"]
    entry = '[[known]]\nkind = "race-read-after-write"\nreason = "#7"\nuntil = 2999-01-01\n'
    (folder / "aclgrad-known.toml").write_text(entry)
    assert "known until 2999-01-01" in aclgrad("check", kernel.name, *LAUNCH, cwd=folder)
    clean = ROOT / "examples/own_kernel/scale.cpp"
    said = aclgrad("check", clean, *LAUNCH, "--chaos", "1-2", cwd=folder)
    assert "0 errors" in said and "in 3 cases" in said and "not found any more" in said


def test_check_of_a_kernel_file_refuses_what_it_has_not(kernel: Path) -> None:
    folder = kernel.parent
    said = aclgrad("check", kernel.name, *LAUNCH, "--shape", "4", cwd=folder, status=1)
    assert "has no cases and no definition" in said
    said = aclgrad("check", "softmax_grad", "--inputs", "x.npy", cwd=folder, status=1)
    assert "--inputs: goes with a kernel file" in said
    said = aclgrad("check", kernel.name, cwd=folder, status=1)
    assert "error: check race.cpp" in said and "Traceback" not in said


def test_first_and_last_failures(square: Path) -> None:
    path = square / "square_golden.py"
    path.write_text(GOLDEN.format(error=300, words=""))
    assert "1 failed, 0 passed in" in aclgrad("test", "-x", cwd=square, status=1)
    assert "3 failed, 0 passed in" in aclgrad("test", cwd=square, status=1)
    assert "2 failed, 0 passed in" in aclgrad("test", "--lf", "-k", "plain-2", cwd=square, status=1)
    path.write_text(GOLDEN.format(error=0, words=""))
    assert "2 passed in" in aclgrad("test", "-k", "plain-2", cwd=square)
    assert "1 passed in" in aclgrad("test", "--lf", cwd=square)
    assert "knows of no failure" in aclgrad("test", "--lf", cwd=square, status=1)
    assert "it chooses no case" in aclgrad("test", "-k", "nothing", cwd=square, status=1)
    assert aclgrad("test", "--list", cwd=square).splitlines()[-1].startswith("square fp32-plain")


@pytest.mark.parametrize("verb", ["profile", "tiling"])
def test_nobody_reads_what_a_command_prints(verb: str) -> None:
    """What prints from a child ends without a word, as with head."""
    done = without_reader(verb, "softmax_grad", "8x16", both=False)
    assert (done.returncode, done.stderr) == (0, "")
