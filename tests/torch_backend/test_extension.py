# SPDX-License-Identifier: Apache-2.0
"""An operator of somebody's own, from a package and from a build, by a C++ extension."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_programs import ROOT

EXAMPLE = Path("examples", "torch_npu_extension")
PAGE = (ROOT / "docs" / "torch_npu.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```$", PAGE, re.M | re.S)
BY_SETUPTOOLS, BY_CMAKE = (block for block in BLOCKS if "build" in block)
Run = Callable[[str], str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run lines of bash beside a copy of the example."""
    shutil.copytree(ROOT / EXAMPLE, tmp_path / EXAMPLE)
    monkeypatch.delenv("ASCEND_CUSTOM_OPP_PATH", raising=False)
    monkeypatch.setenv("ACLGRAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

    def bash(lines: str) -> str:
        done = subprocess.run(
            ["bash", "-euxo", "pipefail", "-c", lines],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return bash


def test_an_installed_package_and_setuptools(run: Run) -> None:
    assert "huber_grad on Ascend910B2\n" in run(BY_SETUPTOOLS)


def test_a_build_and_cmake(run: Run) -> None:
    built = run(f"cd {EXAMPLE}; aclgrad new huber_grad; aclgrad build huber_grad")
    export = re.search(r"export ASCEND_CUSTOM_OPP_PATH=[^\s;]+", built)
    assert export, built
    assert "huber_grad on Ascend910B2\n" in run(f"cd {EXAMPLE}; {export[0]}\n{BY_CMAKE}")
    program = BY_CMAKE.splitlines()[-1]
    without = run(f"cd {EXAMPLE}; {program} 2>&1 || true")
    assert "aclnnHuberGrad or aclnnHuberGradGetWorkspaceSize not in" in without


@pytest.mark.parametrize("first", ["torch_npu", "toolkit"])
def test_headers_of_both_in_one_source(tmp_path: Path, first: str) -> None:
    """torch_npu brings some of CANN's headers along: a source may read these and the toolkit's."""
    import torch_npu  # type: ignore[import-not-found]

    of_both = {
        "torch_npu": Path(torch_npu.__file__).parent / "include",
        "toolkit": Path(os.environ["ASCEND_HOME_PATH"]) / "include",
    }
    source = tmp_path / "both.cpp"
    source.write_text(
        '#include "graph/operator.h"\n#include "exe_graph/runtime/tiling_context.h"\n'
        '#include "register/op_def_registry.h"\n'
        "ge::graphStatus status = ge::GRAPH_PARAM_INVALID;\nge::Status other = ge::FAILED;\n"
    )
    folders = [of_both.pop(first), *of_both.values()]
    words = ["c++", "-std=c++17", "-fsyntax-only", "-w", *(f"-I{folder}" for folder in folders)]
    done = subprocess.run([*words, source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
