# SPDX-License-Identifier: Apache-2.0
"""A sixth operator costs the files that CONTRIBUTING.md lists and a derivative: a made-up one is
put into a copy of the tree, and its grid, its documents, its campaign and PyTorch's part follow
from its spec.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aclgrad.building.build_tools import find_tool
from aclgrad.runtime.toolkit import sim_root
from sanitizers import RUNS_CMAKE

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("python", "op_host", "op_kernel", "docs", "campaigns", "benchmarks")
FILES = ("CMakeLists.txt", "mkdocs.yml", "README.md")
LIKE, MIRROR = ("LogSigmoid", "log_sigmoid", "logsigmoid"), ("Mirror", "mirror", "mirror")
OWN = (
    "python/aclgrad/ops/{}_grad.py",
    "op_host/{0}_grad/{0}_grad_def.cpp",
    "op_host/{0}_grad/{0}_grad_tiling.cpp",
    "op_kernel/{0}_grad/{0}_grad.cpp",
)
GOLDEN = "    result: Float64 = gradOutput * n / (1 + z)\n"
LAST = "    AscendC::Div(z, z, dst, count);\n    PipeBarrier<PIPE_V>();\n"

GRID = """
import ctypes, sys
from aclgrad import ops, runtime
from aclgrad.testing.run import run_case
from aclgrad.testing.selection import choose
from aclgrad.spec.soc import family_of

spec = ops.find("mirror_grad")
device = runtime.open_device()
device.libraries.opapi = ctypes.CDLL(sys.argv[1])
cases = choose([spec], fast=True, family=family_of("Ascend910B2")).groups[0][1]
outcomes = [run_case(device, spec, case) for case in cases]
print(len(outcomes), sum(outcome.passed for outcome in outcomes))
print(*[outcome.message for outcome in outcomes if not outcome.passed][:1])
"""

CAMPAIGN = """
from pathlib import Path
from aclgrad.campaign.plans import description
found = description.load(Path("campaigns/smoke.toml"))
print(found.sweeps[0].operators)
"""

BENCHMARK = """
import sys
sys.path.insert(0, "benchmarks")
import numpy as np
from types import SimpleNamespace
from aclgrad import ops
from driver import host
case = SimpleNamespace(op="mirror_grad", spec=ops.find("mirror_grad"), attrs={})
given = {"gradOutput": np.full(3, 2.0), "self": np.ones(3)}
print(*host.numpy_evaluation(case, given)())
"""

TORCH = """
import torch
from aclgrad.torch.operators import OPERATORS
g, x = torch.ones(4, 3), torch.arange(12.0).reshape(4, 3)
mirror = OPERATORS["mirror_backward"]
want = mirror(g, x, "golden")
assert want.unique().numel() > 2
assert torch.equal(torch.vmap(lambda a, b: mirror(a, b, "golden"))(g, x), want)
assert torch.equal(torch.ops.aclgrad.mirror_backward(g, x, "golden"), want)
try:
    mirror(g.requires_grad_(), x, "golden").sum().backward()
except NotImplementedError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy, with the operator's own files: those of log-sigmoid, less a division."""
    root = tmp_path_factory.mktemp("tree")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, root)
    (root / "examples").mkdir()
    for pattern in OWN:
        text = (root / pattern.format(LIKE[1])).read_text(encoding="utf-8")
        for old, new in zip(LIKE, MIRROR, strict=True):
            text = text.replace(old, new)
        text = text.replace("/ (1 + exp(self))", "* exp(-max(self, -80))")
        text = text.replace(GOLDEN, GOLDEN.replace("n / (1 + z)", "np.exp(-np.maximum(self, -80))"))
        target = root / pattern.format(MIRROR[1])
        target.parent.mkdir(exist_ok=True)
        target.write_text(text.replace(LAST, ""), encoding="utf-8")
    return root


def run(tree: Path, *words: object, status: int = 0, **environment: str) -> str:
    """Output of Python with the copy's package; -S leaves out the hook of an editable install."""
    places = (tree / "python", *(place for place in sys.path if place.endswith("-packages")))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, places)),
        "ACLGRAD_TOOLKIT": str(sim_root()),
        **environment,
    }
    command = [sys.executable, "-S", *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tree, env=environment, timeout=600
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_its_documents_follow(tree: Path) -> None:
    told = run(tree, "-m", "aclgrad.codegen", "--docs")
    written = {Path(line.split()[-1]).relative_to(tree).as_posix() for line in told.splitlines()}
    examples = {f"examples/{path.name}" for path in (ROOT / "examples").glob("aclnn_*.cpp")}
    assert written - examples == {
        "docs/api/mirror_grad.md",
        "docs/index.md",
        "docs/index.zh.md",
        "docs/operators.md",
        "examples/aclnn_mirror_backward.cpp",
        "mkdocs.yml",
        "python/aclgrad/__init__.pyi",
    }
    assert (
        "          - aclnnMirrorBackward: api/mirror_grad.md\n" in (tree / "mkdocs.yml").read_text()
    )
    assert "def mirror_backward(" in (tree / "python/aclgrad/__init__.pyi").read_text()
    assert "api/mirror_grad.md" in (tree / "docs/index.md").read_text()
    assert "| `mirror_backward` |" in (tree / "docs/operators.md").read_text()


@RUNS_CMAKE
def test_its_grid_is_run(tree: Path, tmp_path: Path) -> None:
    generated, package = tmp_path / "gen", tmp_path / "vendors/mine"
    run(tree, "-m", "aclgrad.codegen", "--out", generated)
    cmake = sim_root() / "share/cmake/aclgrad"
    given = {
        "aclgrad_DIR": cmake,
        "CMAKE_MAKE_PROGRAM": find_tool("ninja"),
        "TREE": tree,
        "GEN": generated,
        "PACKAGE": package,
        "MIRROR": "mirror_grad",
    }
    words = [f"-D{name}={value}" for name, value in given.items()]
    source = Path(__file__).parent / "sixth_operator"
    folder = tmp_path / "b"
    for command in (("-G", "Ninja", "-S", source, "-B", folder, *words), ("--build", folder)):
        done = subprocess.run(
            [str(find_tool("cmake")), *map(str, command)],
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    told = run(
        tree, "-c", GRID, tmp_path / "b/libapi.so", ASCEND_CUSTOM_OPP_PATH=str(package)
    ).splitlines()
    cases, passed = map(int, told[0].split())
    assert cases > 300 and passed == cases, told[1]


def test_campaigns_and_benchmarks_know_it(tree: Path) -> None:
    assert "mirror_grad" in run(tree, "-c", CAMPAIGN)
    assert run(tree, "-c", BENCHMARK).split()[0][:6] == str(2 * 2.718281828**-1)[:6]


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is an extra")
def test_torch_has_it_but_for_its_derivative(tree: Path) -> None:
    told = run(tree, "-c", TORCH)
    assert told == "mirror_backward: no derivative is known: differentiate once only\n"
