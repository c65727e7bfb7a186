# SPDX-License-Identifier: Apache-2.0
"""The example programs compile without warnings, run with no environment variable set, and print
the golden result.
"""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from aclgrad.codegen import docs, examples
from aclgrad.golden.precision import compare
from aclgrad.ops import all_specs, find
from aclgrad.runtime import Toolkit
from aclgrad.spec.op_spec import OpSpec
from test_seed_programs import ROOT, run_program

pytestmark = [pytest.mark.quick, pytest.mark.on_board]

FLAGS = ("-std=c++17", "-Wall", "-Wextra", "-Werror")


def rows(text: str) -> np.ndarray:
    return np.array([[float(word) for word in line.split()] for line in text.splitlines()])


@pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.op)
def test_program_prints_the_golden(spec: OpSpec, toolkit_info: Toolkit, tmp_path: Path) -> None:
    source = ROOT / "examples" / f"aclnn_{spec.header}.cpp"
    got = rows(run_program(source, toolkit_info, tmp_path, *FLAGS))
    want = examples.example(spec).result.reshape(got.shape)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-6)


def test_softmax_numbers_by_hand(toolkit_info: Toolkit, tmp_path: Path) -> None:
    source = ROOT / "examples" / f"aclnn_{find('softmax_grad').header}.cpp"
    got = rows(run_program(source, toolkit_info, tmp_path))
    # y * (g - sum(g * y))
    assert got.tolist() == [[-0.3125, -0.0625, 0.375], [-0.375, 0.0625, 0.3125]]


@pytest.mark.sim_only
@pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.op)
def test_python_example_prints_the_golden(spec: OpSpec, toolkit: Path) -> None:
    page = docs.api_page(spec, ROOT)
    body = page.partition("```python\n")[2].partition("```")[0]
    names: dict[str, object] = {}
    text = io.StringIO()
    with redirect_stdout(text):
        exec(body, names)
    want = examples.example(spec).result
    words = text.getvalue().replace("[", " ").replace("]", " ").split()
    got = np.array([float(word) for word in words], np.float32).reshape(want.shape)
    assert compare(got, want).passed


def test_a_refused_call_ends_the_program_with_the_reason(
    toolkit_info: Toolkit, tmp_path: Path
) -> None:
    good = (ROOT / "examples" / "aclnn_softmax_backward.cpp").read_text()
    bad = good.replace("/*dim=*/-1", "/*dim=*/7").replace(
        '"common.h"', f'"{ROOT}/examples/common.h"'
    )
    assert bad != good
    source = tmp_path / "bad.cpp"
    source.write_text(bad)
    with pytest.raises(AssertionError, match=r"returned 161002: .*dim: got 7"):
        run_program(source, toolkit_info, tmp_path)


@pytest.mark.sim_only
def test_views_and_errors_from_python(toolkit_info: Toolkit, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples/softmax_backward.py"],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert float(first.split()[-1]) < 1e-6
    assert "161002" in second and "dim: got 2" in second
