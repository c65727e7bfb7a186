# SPDX-License-Identifier: Apache-2.0
"""An operator project whose kernel runs on cube cores and vector cores: built, called through
aclnn, tested against its golden, and profiled.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from aclgrad.errors import AclnnError
from aclgrad.reading.sources import SourcesError
from aclgrad.running import operator_call
from chrome_trace import problems
from test_own_operator import aclgrad, copied

pytestmark = pytest.mark.usefixtures("no_packages")

LAYER = Path(__file__).parents[1] / "projects" / "math" / "linear_gelu"
SHAPES = ("400x500:fp16", "300x500:fp16", "300:fp32")  # 35 tiles for 24 AI cores
KERNEL = "op_kernel/linear_gelu.cpp"
TYPE = "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);"


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """A copy of the operator that a test may change, and call in this process."""
    return copied(LAYER, tmp_path)


def replaced(file: Path, old: str, new: str) -> None:
    """Plants a fault, or another way."""
    text = file.read_text("utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), "utf-8")


def call(path: Path, dtype: Any, m: int, n: int, k: int) -> float:
    """The largest error of one call through aclnn."""
    rng = np.random.default_rng(m)
    x, weight = (rng.uniform(-1, 1, shape).astype(dtype) for shape in ((m, k), (n, k)))
    bias = rng.uniform(-1, 1, n).astype(np.float32)
    y = operator_call.run(path, [[x], [weight], [bias]]).outputs["y"]
    z = x.astype(np.float64) @ weight.astype(np.float64).T + bias
    return float(np.abs(y - z / (1 + np.exp(-1.5957691 * (z + 0.044715 * z**3)))).max())


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (130, 70, 100), (65, 300, 17)])
def test_called_through_aclnn(dtype: Any, m: int, n: int, k: int) -> None:
    assert call(LAYER, dtype, m, n, k) < 1e-6 * (k + 4)


def test_its_cases_are_green(tmp_path: Path) -> None:
    """Ragged M, N and K of both dtypes, at three scales of data, with the standard's rule."""
    text = aclgrad("test", LAYER, "--json", cwd=tmp_path)
    cases = json.loads(text[text.index("{") :].splitlines()[0])["cases"]
    assert all(case["passed"] for case in cases)
    names = {case["name"] for case in cases}
    assert {"fp16-100x130x70", "bf16-1x300x65", "fp16-strided", "bf16-empty"} <= names


def test_types_of_keys(layer: Path) -> None:
    """Another type for each key: here the one that is asked for has one AIV for each AIC."""
    kernel = layer / KERNEL
    replaced(kernel, TYPE, f"{TYPE}\n  KERNEL_TASK_TYPE(7, KERNEL_TYPE_MIX_AIC_1_1);")
    replaced(
        kernel,
        "  const uint32_t core = GetBlockIdx()",
        "  if (TILING_KEY_IS(7)) {\n  } else if (TILING_KEY_IS(0)) {\n  }\n"
        "  const uint32_t core = GetBlockIdx()",
    )
    # One AIV has all rows then, which fit as two halves.
    replaced(
        kernel, "upper = (m + 1) / 2;", "upper = (m + GetSubBlockNum() - 1) / GetSubBlockNum();"
    )
    replaced(
        kernel,
        "constexpr uint32_t bytes = kTileElements / 2 * sizeof(float);",
        "constexpr uint32_t bytes = kTileElements * sizeof(float);",
    )
    host = layer / "op_host/linear_gelu_tiling.cpp"
    replaced(host, "context->SetTilingKey(0);", "context->SetTilingKey(m > 100 ? 7 : 0);")
    for m in (130, 70):
        assert call(layer, np.float16, m, 70, 100) < 1e-4


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        (KERNEL, "CrossCoreSetFlag<2, PIPE_FIX>(kMade);", "", "deadlock"),
        (KERNEL, "CrossCoreWaitFlag(kMade);", "", "gm-conflict"),
        (KERNEL, "PIPE_FIX>(kMade)", "PIPE_M>(kMade)", "gm-conflict"),
        (KERNEL, "CrossCoreSetFlag<2, PIPE_MTE2>(kRead);", "", "deadlock"),
        (KERNEL, "Exp(work, work, count);", "", "wrong: every element"),
        (
            "op_host/linear_gelu_tiling.cpp",
            "size_t{cores} * kSlots",
            "size_t{1}",
            "workspace-too-small",
        ),
        (KERNEL, "(__gm__ float*)GetUserWorkspace(workspace)", "(__gm__ float*)workspace", ""),
    ],
    ids=["no-set", "no-wait", "other-pipe", "no-answer", "no-exp", "short", "system-part"],
)
@pytest.mark.plants_faults
def test_planted_faults_are_found(place: Path, file: str, old: str, new: str, said: str) -> None:
    layer = copied(LAYER, place)
    replaced(layer / file, old, new)
    text = aclgrad("test", "-k", "400x333x40", cwd=layer, status=1 if said else 0)
    assert said in text, text


HALVES = """#ifdef {}
  Product(x, weight, slots, sizes).Run(core, GetBlockNum());
#elif defined({})
  Activation(bias, y, slots, sizes).Run(core, GetBlockNum());
#endif
}}
"""


@pytest.mark.parametrize("words", ["", "__DAV_C220_{}__", "__DAV_{}__"])
def test_without_its_kernel_type(layer: Path, words: str) -> None:
    """The op compiler finds it in the code, also where each half is in the text of its cores
    alone.
    """
    kernel = layer / KERNEL
    replaced(kernel, TYPE, "")
    if words:
        text = kernel.read_text("utf-8")
        cube, vector = words.format("CUBE"), words.format("VEC")
        halves = text[: text.index("  if ASCEND_IS_AIC")] + HALVES.format(cube, vector)
        first, last = halves.index("// The AIC's half"), halves.index("// An AIV's half")
        parts = (halves[:first], f"#ifdef {cube}\n", halves[first:last], "#endif\n", halves[last:])
        kernel.write_text("".join(parts), "utf-8")
    assert call(layer, np.float16, 130, 70, 100) < 1e-4


@pytest.mark.plants_faults
def test_code_for_cube_cores_that_does_not_build(layer: Path) -> None:
    """It is no vector kernel for that."""
    kernel = layer / KERNEL
    replaced(kernel, TYPE, "")
    replaced(
        kernel,
        "  if ASCEND_IS_AIC {",
        "#ifdef __DAV_CUBE__\n  Absent();\n#endif\n  if ASCEND_IS_AIC {",
    )
    with pytest.raises(SourcesError, match="names no KERNEL_TASK_TYPE_DEFAULT: its code for cube"):
        call(layer, np.float16, 16, 16, 16)


@pytest.mark.plants_faults
def test_of_vector_cores_by_its_type(layer: Path) -> None:
    """Nobody sets their flags then."""
    replaced(layer / KERNEL, TYPE, "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);")
    ones = np.ones((16, 16), np.float16)
    with pytest.raises((AclnnError, SourcesError), match="KERNEL_TYPE_MIX_A"):
        operator_call.run(layer, [[ones], [ones], [np.ones(16, np.float32)]])


SHARED = """#pragma once
#ifdef __DAV_CUBE__
template <typename T> __aicore__ inline void Product(const AscendC::LocalTensor<T>& to) {
  AscendC::Mmad(to, to, to, AscendC::MmadParams(16, 16, 16));
}
#endif
"""


def test_vector_kernels_with_headers_for_cube_cores(tmp_path: Path) -> None:
    """What the kernel does not call makes it no kernel of both kinds."""
    project = copied(LAYER.parent / "column_totals", tmp_path)
    (kernel,) = (project / "op_kernel").glob("*.cpp")
    text = kernel.read_text("utf-8")
    assert "KERNEL_TASK_TYPE" not in text
    (project / "op_kernel" / "shared.h").write_text(SHARED)
    kernel.write_text(text.replace("using namespace", '#include "shared.h"\nusing namespace', 1))
    builder, described, op = operator_call.located(project, "Ascend910B2", 0)
    built = builder.kernel(op, builder.combinations(op)[0])
    builder.build_all([built], described)
    library = built.output.read_bytes()
    assert b"aclsimTilingKeys" in library and b"aclsimKernelTypes" not in library


def test_profile_has_both_kinds_of_cores(tmp_path: Path) -> None:
    trace, folder = tmp_path / "trace.json", tmp_path / "csv"
    words = (LAYER, *SHAPES, "--json", "--trace", trace, "--csv", folder, "--cores", "0,1,2,3")
    text = aclgrad("profile", *words, cwd=tmp_path)
    launch = json.loads(text[text.index("{") :].splitlines()[0])["launches"][0]
    assert (launch["coreKind"], len(launch["cores"]), launch["blockDim"]) == ("mix", 72, 24)
    names = [core["name"] for core in launch["cores"]]
    assert names[:4] == ["AIC 0", "AIV 0", "AIV 1", "AIC 1"]
    for core in launch["cores"]:
        cube = core["name"].startswith("AIC")
        assert (core["vec"] > 0) != cube and ("cube" in core) == cube
    events = json.loads(trace.read_text())["traceEvents"]
    assert problems(events) == []
    order = {e["pid"]: e["args"]["sort_index"] for e in events if e["name"] == "process_sort_index"}
    assert sorted(order, key=lambda pid: order[pid]) == [
        "core0.cubecore0", "core0.veccore0", "core0.veccore1", "core1.cubecore0",
    ]  # fmt: skip
    # The AIVs go on with a tile when it is there.
    ends = [e["ts"] + e["dur"] for e in events if e["ph"] == "X" and "Fixpipe" in e["name"]]
    starts = [e["ts"] for e in events if e["ph"] == "X" and e["name"] == "Exp"]
    assert min(starts) > min(ends) > 0
    with (folder / "PipeUtilization.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["sub_block_id"] for row in rows[:3]] == ["cube0", "vector0", "vector1"]
    assert rows[0]["aiv_vec_ratio"] == rows[1]["aic_cube_ratio"] == "NA"
    assert float(rows[0]["aic_cube_ratio"]) > 0 < float(rows[1]["aiv_vec_ratio"])
    page = tmp_path / "profile.html"
    text = aclgrad("profile", LAYER, *SHAPES, "--html", page, cwd=tmp_path)
    assert "72 of 72" in text
    html = page.read_text("utf-8")
    assert all(f">{lane}<" in html for lane in ("CUBE", "FIXP", "VECTOR"))
