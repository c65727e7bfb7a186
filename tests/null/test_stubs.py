# SPDX-License-Identifier: Apache-2.0
"""What editors and type checkers know of the package.

After a wanted change: pytest tests/null --update, or python -m aclgrad.codegen --docs.
"""

from __future__ import annotations

import ast
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import aclgrad
from aclgrad.codegen import stubs
from aclgrad.ops import all_specs
from aclgrad.spec.op_spec import replace

ROOT = Path(__file__).resolve().parents[2]


def test_the_stub_is_todays(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--update"):
        stubs.write(ROOT)
    there = (ROOT / stubs.PLACE).read_text("utf-8")
    assert there == stubs.stub(), "If the change is wanted: pytest tests/null --update"
    assert (ROOT / stubs.PLACE).with_name("py.typed").is_file()


def test_another_spec_is_another_stub() -> None:
    spec = all_specs()[0]
    other = replace(spec, api="aclnnOtherBackward")
    assert f"def {spec.function}(" in stubs.stub() and "def other_backward(" not in stubs.stub()
    assert "def other_backward(" in stubs.stub([other])


def test_stub_and_package_agree() -> None:
    """Names, parameters, their order, kinds and defaults."""
    tree = ast.parse((ROOT / stubs.PLACE).read_text("utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    listed = next(node for node in tree.body if isinstance(node, ast.Assign)).value
    assert sorted(ast.literal_eval(listed)) == sorted(aclgrad.__all__)
    assert set(functions) == {name for name in aclgrad.__all__ if name.islower()} - {"__version__"}
    for name, node in functions.items():
        scope: dict[str, object] = {}
        source = ast.unparse(ast.FunctionDef(name, node.args, [ast.Pass()], [], None, lineno=0))
        exec("from __future__ import annotations\n" + source, scope)
        want = inspect.signature(scope[name])  # type: ignore[arg-type]
        got = inspect.signature(getattr(aclgrad, name))
        shape = lambda s: [(p.name, p.kind, p.default) for p in s.parameters.values()]  # noqa: E731
        assert shape(got) == shape(want), name


USER = """
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import aclgrad


def gradient(g: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
    try:
        dx: NDArray[np.float32] = aclgrad.softmax_backward(g, y, dim=-1, out_dtype=np.float32)
    except aclgrad.AclnnError as error:
        raise SystemExit(error.code) from error
    return dx


def own(g: NDArray[np.float32]) -> None:
    ops = aclgrad.load(Path("huber_grad"), soc="Ascend910B2")
    print(ops.huber_grad(g, g, delta=1.0), list(ops))
    aclgrad.log_sigmoid_backward(g, g, device="sim")
"""
MISTAKES = """
reveal_type(aclgrad.load)
aclgrad.softmax_backward(np.ones(3))
aclgrad.softmax_backward(np.ones(3), np.ones(3), dim="last")
aclgrad.softmax_backward(np.ones(3), np.ones(3), device="gpu")
aclgrad.soft_max_backward
"""


def test_mypy_sees_every_function(tmp_path: Path) -> None:
    """A user's strict program is clean; each of five mistakes is seen."""
    if shutil.which("mypy", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("mypy is not installed")

    def mypy(text: str) -> list[str]:
        (tmp_path / "user.py").write_text(text)
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
        done = subprocess.run([*command, "user.py"], cwd=tmp_path, capture_output=True, text=True)
        return [
            line for line in done.stdout.splitlines() if ": error:" in line or ": note: R" in line
        ]

    assert mypy(USER) == []
    found = mypy(USER + MISTAKES)
    lines = [line.split(":")[1] for line in found]
    first = USER.count("\n") + 2
    assert lines == [str(first + at) for at in range(5)], "\n".join(found)
    assert "aclgrad.common.callables.Operators" in found[0]
