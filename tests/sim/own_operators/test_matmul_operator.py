# SPDX-License-Identifier: Apache-2.0
"""An operator project by the high-level API: MultiCoreMatmulTiling in op_host, Matmul on cube cores
in op_kernel, written as developers write it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from aclgrad.running import operator_call
from test_own_operator import aclgrad, copied

pytestmark = pytest.mark.usefixtures("no_packages")

PROJECT = Path(__file__).parents[1] / "projects" / "math" / "matmul_bias"
SHAPES = ("400x640:fp16", "640x333:fp16", "333:fp32")


@pytest.fixture
def project(place: Path) -> Path:
    """A copy of the operator that a test may change."""
    return copied(PROJECT, place)


def replaced(file: Path, old: str, new: str) -> None:
    """Plants a fault."""
    text = file.read_text("utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), "utf-8")


def first_json(text: str) -> Any:
    """The first document that a command prints."""
    return json.loads(text[text.index("{") :].splitlines()[0])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (130, 70, 100), (600, 1000, 333)])
def test_called_through_aclnn(dtype: Any, transposed: bool, m: int, n: int, k: int) -> None:
    """The last one takes all 24 cores."""
    rng = np.random.default_rng(m)
    a, b = (rng.uniform(-1, 1, shape).astype(dtype) for shape in ((m, k), (k, n)))
    bias = rng.uniform(-1, 1, n).astype(np.float32)
    lying = np.ascontiguousarray(b.T) if transposed else b
    attrs = [f"transpose_b={str(transposed).lower()}"]
    call = operator_call.run(PROJECT, [[a], [lying], [bias]], attrs)
    want = a.astype(np.float64) @ b.astype(np.float64) + bias
    np.testing.assert_allclose(call.outputs["c"].astype(np.float64), want, rtol=0, atol=2e-6 * k)


def test_products_of_a_kernel_that_names_no_cores(project: Path) -> None:
    """It keeps its objects itself and leaves vector cores: compiled for those alone it would write
    nothing.
    """
    kernel = project / "op_kernel" / "matmul_bias.cpp"
    replaced(
        kernel, "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);", "if ASCEND_IS_AIV { return; }"
    )
    replaced(kernel, "  Matmul<MatmulType", "  MatmulImpl<MatmulType")
    replaced(
        kernel,
        "REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), kernel.matmul, &data.cube);",
        "kernel.matmul.Init(&data.cube, &pipe);",
    )
    rng = np.random.default_rng(3)
    a, b = (rng.uniform(-1, 1, shape).astype(np.float16) for shape in ((130, 70), (70, 100)))
    bias = rng.uniform(-1, 1, 100).astype(np.float32)
    call = operator_call.run(project, [[a], [b], [bias]], ["transpose_b=false"])
    want = a.astype(np.float64) @ b.astype(np.float64) + bias
    np.testing.assert_allclose(call.outputs["c"].astype(np.float64), want, rtol=0, atol=2e-6 * 70)


def test_its_cases_are_green(tmp_path: Path) -> None:
    """Ragged M, N and K of both dtypes and layouts of b, at three scales of data."""
    cases = first_json(aclgrad("test", PROJECT, "--json", cwd=tmp_path))["cases"]
    assert all(case["passed"] for case in cases)
    names = {case["name"] for case in cases}
    assert {"fp16-400x333x640", "bf16-1x300x65-transposed", "bf16-empty"} <= names


KERNEL = ("op_kernel", "matmul_bias.cpp")
TILING = ("op_host", "matmul_bias_tiling.cpp")
NEXT_OBJECT = (
    "    decltype(matmul) next;\n    next.Init(&tiling_);\n    next.SetTensorA(a_);\n"
    "    next.SetTensorB(b_, transposed_);\n    next.SetBias(bias_);\n    next.IterateAll(c_);\n"
    "    next.End();\n"
)


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (KERNEL, "    matmul.End();\n", NEXT_OBJECT, "End was not called"),
        (KERNEL, "    matmul.SetTensorB(b_, transposed_);\n", "", "B is not set"),
        (KERNEL, "DTYPE_B, true>", "DTYPE_B>", "which its MatmulType does not say"),
        (KERNEL, "    matmul.SetBias(bias_);\n", "", "wrong: every element"),
        (KERNEL, "matmul.SetTail(", "matmul.SetSingleShape(-1, -1, -1);\n  static_cast<void>(m +",
         "gm-out-of-bounds"),
        (TILING, "tiling.EnableBias(true);", "", "the tiling's isBias is 0"),
        (TILING, "tiling.SetBufferSpace(-1, -1, -1);", "tiling.SetBufferSpace(512);",
         "in 512 bytes of L1"),
    ],
    ids=["no-end", "no-b", "no-transpose", "no-bias", "no-tail", "no-bias-in-tiling", "no-room"],
)  # fmt: skip
@pytest.mark.plants_faults
def test_planted_faults_are_found(
    project: Path, file: tuple[str, str], old: str, new: str, said: str
) -> None:
    replaced(project.joinpath(*file), old, new)
    text = aclgrad("test", "-k", "100x130x70-transposed", cwd=project, status=1)
    assert said in text, text


def test_tiling_shows_the_fields(tmp_path: Path) -> None:
    """Those of TCubeTiling by name, as tiling has set them."""
    plan = first_json(aclgrad("tiling", PROJECT, *SHAPES, "--json", cwd=tmp_path))
    fields = plan["tiling"]
    assert fields["transposeB"] == 0
    assert (fields["cube.M"], fields["cube.N"], fields["cube.Ka"]) == (400, 333, 640)
    assert fields["cube.usedCoreNum"] == plan["blockDim"] <= 24
    assert fields["cube.isBias"] == 1
    assert sum(name.startswith("cube.") for name in fields) == 50
    words = plan["matmul"]
    assert words["cube.cores"].endswith("of C's 400 x 333 and 640 of K's 640")
    base = [fields[f"cube.base{axis}"] for axis in "MNK"]
    bytes_of_c = fields["cube.dbL0C"] * base[0] * base[1] * 4
    assert words["cube.L0C"].endswith(
        f"{base[0]} x {base[1]}: {bytes_of_c / 1024:g} KiB of 128 KiB"
    )
    assert words["cube.L0A"].endswith(" of 64 KiB")
    assert words["cube.L1"].endswith(" of 512 KiB")
    text = aclgrad("tiling", PROJECT, *SHAPES, cwd=tmp_path)
    assert "tiling.cube.baseM" in text
    assert "matmul.cube.L0C" in text


def test_profile_names_the_line_and_the_pipes(tmp_path: Path) -> None:
    text = aclgrad("profile", PROJECT, *SHAPES, "--json", cwd=tmp_path)
    launch = first_json(text)["launches"][0]
    assert launch["coreKind"] == "cube"
    for core in launch["cores"]:
        assert all(0 < core[pipe] <= core["cycles"] for pipe in ("cube", "mte1", "mte2", "fixpipe"))
    names = {row["name"] for row in launch["instructions"]}
    assert {"Mmad", "LoadData (feature map to L0A)", "Fixpipe (L0C to GM)"} <= names
