# SPDX-License-Identifier: Apache-2.0
"""An operator project whose vector cores call Matmul: MultiCoreMatmulTiling in op_host; a MIX
kernel that takes tiles of C into UB and applies LeakyReLU, written as developers write it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from aclgrad.running import operator_call
from test_matmul_operator import first_json, replaced
from test_own_operator import aclgrad, copied

pytestmark = pytest.mark.usefixtures("no_packages")

PROJECT = Path(__file__).parents[1] / "projects" / "math" / "matmul_leaky_relu"
KERNEL = "op_kernel/matmul_leaky_relu.cpp"


@pytest.fixture
def project(place: Path) -> Path:
    """A copy of the operator that a test may change."""
    return copied(PROJECT, place)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (130, 70, 100), (600, 1000, 333)])
def test_called_through_aclnn(dtype: Any, m: int, n: int, k: int) -> None:
    rng = np.random.default_rng(m)
    a, b = (rng.uniform(-1, 1, shape).astype(dtype) for shape in ((m, k), (k, n)))
    bias = rng.uniform(-1, 1, n).astype(np.float32)
    call = operator_call.run(PROJECT, [[a], [b], [bias]], ["negative_slope=0.25"])
    want = a.astype(np.float64) @ b.astype(np.float64) + bias
    want = np.where(want > 0, want, 0.25 * want)
    np.testing.assert_allclose(call.outputs["c"].astype(np.float64), want, rtol=0, atol=2e-6 * k)


def test_its_cases_are_green(tmp_path: Path) -> None:
    """Ragged M, N and K of both dtypes, at three scales of data, with the standard's rule."""
    cases = first_json(aclgrad("test", PROJECT, "--json", cwd=tmp_path))["cases"]
    assert all(case["passed"] for case in cases)
    names = {case["name"] for case in cases}
    assert {"fp16-400x333x640", "bf16-1x300x65", "bf16-empty"} <= names


def test_more_vector_cores_than_the_workspace_has_room_for() -> None:
    """Ascend 950 has 72 of them. Tiles reach them past GM, so that they need no workspace."""
    rng = np.random.default_rng(5)
    m, n, k = 640, 2304, 96
    a, b = (rng.uniform(-1, 1, shape).astype(np.float16) for shape in ((m, k), (k, n)))
    bias = rng.uniform(-1, 1, n).astype(np.float32)
    attributes = ["negative_slope=0.25"]
    call = operator_call.run(PROJECT, [[a], [b], [bias]], attributes, soc="Ascend950PR_9599")
    want = a.astype(np.float64) @ b.astype(np.float64) + bias
    want = np.where(want > 0, want, 0.25 * want)
    np.testing.assert_allclose(call.outputs["c"].astype(np.float64), want, rtol=0, atol=2e-6 * k)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    matmul.SetTensorB(b_);\n", "", "B is not set"),
        ("    matmul.SetBias(bias_);\n", "", "wrong"),
        ("KERNEL_TYPE_MIX_AIC_1_2", "KERNEL_TYPE_AIV_ONLY", "AIVs alone"),
        (
            "  REGIST_MATMUL_OBJ(",
            "  if (GetSubBlockIdx() == 1) return;\n  REGIST_MATMUL_OBJ(",
            "left the kernel without REGIST_MATMUL_OBJ",
        ),
    ],
    ids=["no-b", "no-bias", "vectors-alone", "one-aiv"],
)
@pytest.mark.plants_faults
def test_planted_faults_are_found(project: Path, old: str, new: str, said: str) -> None:
    replaced(project / KERNEL, old, new)
    text = aclgrad("test", "-k", "400x333x640", cwd=project, status=1)
    assert said in text, text


def test_a_kernel_without_a_type_has_the_cores_that_its_calls_need(project: Path) -> None:
    """REGIST_MATMUL_OBJ says that vector cores call and an AIC works."""
    replaced(project / KERNEL, "  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);\n", "")
    aclgrad("test", "-k", "400x333x640", cwd=project)
