# SPDX-License-Identifier: Apache-2.0
"""Packages of others: torch_npu's kernels are tried where one of them may have what they need."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from npu_programs import Program

ASKED = """
import torch
from aclgrad_torch_npu.operators import foreign_packages
print("asked for", foreign_packages())
"""

# Each thread is in its first call of an operator while the others are in theirs.
FIRST_CALLS = """
import threading
torch.npu.synchronize()
functions = [
    torch.erf, torch.sin, torch.cos, torch.tan, torch.exp, torch.log1p, torch.sqrt, torch.floor,
    torch.ceil, torch.sigmoid, torch.tanh, torch.asin, torch.acos, torch.atan, torch.sinh,
]
x = torch.rand(64)
on_npu = x.npu()
together, failed = threading.Barrier(4), []

def work():
    torch.npu.set_device(0)
    for function in functions:
        together.wait()
        try:
            torch.testing.assert_close(function(on_npu).cpu(), function(x))
        except Exception as error:
            failed.append(f"{function.__name__}: {error}")

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("failed", failed)
"""


def package(folder: Path, function: str) -> str:
    """A package with the library of one function."""
    library = folder / "op_api" / "lib" / "libcust_opapi.so"
    library.parent.mkdir(parents=True)
    source = folder / "function.cpp"
    source.write_text(
        f'extern "C" int {function}GetWorkspaceSize() {{ return 561103; }}\n'
        f'extern "C" int {function}() {{ return 561103; }}\n'
    )
    subprocess.run(["g++", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return str(folder)


def test_first_calls_of_threads_beside_a_package_of_ones_own(
    program: Program, tmp_path: Path
) -> None:
    folder = package(tmp_path / "mine", "aclnnMyOwnOperator")
    done = program(ASKED + FIRST_CALLS, ASCEND_CUSTOM_OPP_PATH=folder)
    assert "asked for False\nfailed []\n" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["function", "type"])
def test_packages_that_torch_npu_asks_for(program: Program, tmp_path: Path, kind: str) -> None:
    name = {"function": "aclnnSigmoid", "type": "aclnnMyOwnOperator"}[kind]
    folder = package(tmp_path / "theirs", name)
    if kind == "type":
        kernels = Path(folder, "op_impl/ai_core/tbe/kernel/ascend910b/x")
        kernel = kernels / "ScaledMaskedSoftmaxGrad_float32.so"
        kernel.parent.mkdir(parents=True)
        kernel.touch()
    done = program(ASKED, ASCEND_CUSTOM_OPP_PATH=folder)
    assert "asked for True\n" in done.stdout, done.stdout + done.stderr
