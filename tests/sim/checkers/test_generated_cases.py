# SPDX-License-Identifier: Apache-2.0
"""`aclgrad check` of operators without a golden: what its cases find, and what it does not hold
against operators whose inputs it has to invent.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import commands
from aclgrad.building import operator_build
from aclgrad.cases import made_inputs
from aclgrad.checks import operator_check
from aclgrad.projects import scaffold
from aclgrad.reading.layout import locate
from aclgrad.spec.soc import family

pytestmark = [pytest.mark.usefixtures("no_packages"), pytest.mark.plants_faults]

SOC = "Ascend910B2"

HOST = """
#include <cstdlib>
#include "register/op_def_registry.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(@TilingData)
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, cols);
TILING_DATA_FIELD_DEF(uint32_t, other);
TILING_DATA_FIELD_DEF(uint32_t, plant);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(@, @TilingData)
static ge::graphStatus Tiling(gert::TilingContext* context) {
  const auto shape = [&](size_t i) { return context->GetInputShape(i)->GetStorageShape(); };
  const char* word = std::getenv("PLANT");
  const uint32_t plant = word == nullptr ? 0 : std::atoi(word);
  const auto x = shape(0);
  const size_t rank = x.GetDimNum();
  if (rank < MIN_RANK || x.GetShapeSize() == 0) return ge::GRAPH_FAILED;
  uint32_t cols = x.GetDim(rank - 1), rows = x.GetShapeSize() / cols;
  const uint32_t other = context->GetComputeNodeInputNum() > 1 ? shape(1).GetShapeSize() : 0;
  CHECKS
  @TilingData data;
  data.set_rows(rows);
  data.set_cols(cols);
  data.set_other(other);
  data.set_plant(plant);
  context->SetBlockDim(CORES);
  data.SaveToBuffer(context->GetRawTilingData()->GetData(),
                    context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(data.GetDataSize());
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling
namespace ge {
static graphStatus Shapes(gert::InferShapeContext* context) {
  const auto shape = [&](size_t i) { return *context->GetInputShape(i); };
  auto& y = *context->GetOutputShape(0);
  INFER
  return GRAPH_SUCCESS;
}
}  // namespace ge
namespace ops {
class @ : public OpDef {
 public:
  explicit @(const char* name) : OpDef(name) {
    INPUTS
    ATTRS
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->SetInferShape(ge::Shapes);
    this->AICore().SetTiling(optiling::Tiling).AddConfig("ascend910b");
  }
};
OP_ADD(@);
}  // namespace ops
"""

KERNEL = """
#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t kTile = 2048;
struct Lane {
  TPipe pipe;
  TQue<TPosition::VECIN, 2> in;
  TQue<TPosition::VECOUT, 2> out;
  __aicore__ inline void Init() {
    pipe.InitBuffer(in, 2, kTile * 4);
    pipe.InitBuffer(out, 2, kTile * 4);
  }
  // y[to ..] = factor * x[from ..] + add
  __aicore__ inline void Move(const GlobalTensor<float>& x, int64_t from,
                              const GlobalTensor<float>& y, int64_t to, uint32_t count,
                              float factor, float add) {
    auto a = in.AllocTensor<float>();
    DataCopyPad(a, x[from], {1, count * 4, 0, 0, 0}, {false, 0, 0, 0});
    in.EnQue(a);
    a = in.DeQue<float>();
    auto b = out.AllocTensor<float>();
    Muls(b, a, factor, count);
    Adds(b, b, add, count);
    in.FreeTensor(a);
    out.EnQue(b);
    b = out.DeQue<float>();
    DataCopyPad(y[to], b, {1, count * 4, 0, 0, 0});
    out.FreeTensor(b);
  }
};
template <typename T>
__aicore__ inline GlobalTensor<T> Of(GM_ADDR address, uint64_t count) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer((__gm__ T*)address, count);
  return tensor;
}
extern "C" __global__ __aicore__ void STEM(ARGS GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(t, tiling);
  Lane lane;
  lane.Init();
  const uint32_t core = GetBlockIdx(), cores = GetBlockNum();
  BODY
}
"""


def project(
    folder: Path,
    name: str,
    inputs: dict[str, str],
    body: str,
    *,
    infer: str = "y = shape(0);",
    checks: str = "",
    cores: int = 8,
    rank: int = 1,
    attrs: str = "",
) -> Path:
    """Write an operator: dtypes by input, and what its kernel does."""
    stem = "".join(f"_{c.lower()}" if c.isupper() else c for c in name).strip("_")
    root = folder / stem
    shutil.rmtree(root, ignore_errors=True)
    declared = " ".join(
        f'this->Input("{item}").ParamType(REQUIRED).DataType({{ge::DT_{dtype}}})'
        ".Format({ge::FORMAT_ND});"
        for item, dtype in inputs.items()
    )
    host = HOST.replace("@", name).replace("INPUTS", declared).replace("INFER", infer)
    host = host.replace("ATTRS", attrs)
    host = (
        host.replace("CHECKS", checks).replace("CORES", str(cores)).replace("MIN_RANK", str(rank))
    )
    args = " ".join(f"GM_ADDR {item}," for item in inputs)
    kernel = KERNEL.replace("STEM", stem).replace("ARGS", args).replace("BODY", body)
    for path, text in ((f"op_host/{stem}.cpp", host), (f"op_kernel/{stem}.cpp", kernel)):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def check(root: Path, *options: str, status: int) -> dict[str, Any]:
    """What the command says, as JSON."""
    done = commands.run("check", root, "--format", "json", *options)
    assert done.returncode == status, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def kinds(found: dict[str, Any], severity: str = "error") -> set[str]:
    """Kinds of the findings of one severity."""
    return {item["kind"] for item in found["findings"] if item["severity"] == severity}


PLANTED = """
  const auto gx = Of<float>(x, uint64_t(t.rows) * t.cols), gw = Of<float>(w, t.other);
  const auto gy = Of<float>(y, uint64_t(t.rows) * t.cols);
  uint32_t each = t.rows / cores, more = t.rows % cores;
  if (t.plant == 4 && each == 0) more = 0;
  const uint32_t first = core * each + (core < more ? core : more);
  const uint32_t last = first + each + (core < more ? 1 : 0);
  if (t.plant == 3 && t.rows == 1) return;
  if (t.plant == 8 && t.rows * t.cols == 1) return;
  uint32_t step = kTile;
  if (t.plant == 2) {
    for (step = t.cols < 64 ? t.cols : 64; t.cols % step != 0;) --step;
    if (step == 1 && t.cols > 1) return;
  }
  for (uint32_t row = first; row < last; ++row) {
    for (uint32_t at = 0; at < t.cols; at += step) {
      uint32_t count = t.cols - at < step ? t.cols - at : step;
      if (t.plant == 1) count = count / 8 * 8;
      if (t.plant == 9 && t.cols % 64 == 56 && at + count == t.cols) count -= 8;
      if (count == 0) continue;
      int64_t from = int64_t(row) * t.cols + at;
      if (t.plant == 5 && at >= step) from += 8;
      if (t.plant == 10 && t.cols > 4 * kTile && row > first && at == 0) from += 8;
      const bool same = t.other == t.rows * t.cols;
      const float add = gw.GetValue(same || t.plant == 6 ? from : t.other == 1 ? 0 : at);
      lane.Move(gx, from, gy, from, count, 2.0f, add);
    }
  }
"""

PLANT_CHECKS = """
  if (plant == 7 && rank == 3) rows = x.GetDim(0);
  if (other != 1 && other != cols && other != rows * cols && plant != 7) return ge::GRAPH_FAILED;
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An operator that is right, unless PLANT in the environment names a fault."""
    return project(
        tmp_path_factory.mktemp("planted"),
        "PlantedAdd",
        {"x": "FLOAT", "w": "FLOAT"},
        PLANTED,
        checks=PLANT_CHECKS,
    )


PLANTS = {
    "every tail": 1,
    "primes": 2,
    "one row": 3,
    "fewer rows than cores": 4,
    "second tile": 5,
    "operand of another shape": 6,
    "three axes": 7,
    "length 1": 8,
    "one block less": 9,
    "second of long rows": 10,
}


def test_right_operator_is_clean(planted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a plant; what it refuses is counted apart, with its reason."""
    monkeypatch.delenv("PLANT", raising=False)
    found = check(planted, status=0)
    assert kinds(found) == set() == kinds(found, "warning")
    assert found["cases"] > 25 and found["refused"]
    assert all(item["label"] and item["reason"] for item in found["refused"])
    assert found["notes"] == []


@pytest.mark.parametrize("plant", PLANTS)
def test_planted_fault_is_found(planted: Path, monkeypatch: pytest.MonkeyPatch, plant: str) -> None:
    """A kernel that breaks in one class of shapes only."""
    monkeypatch.setenv("PLANT", str(PLANTS[plant]))
    found = check(planted, status=1)
    assert kinds(found) & {"output-unwritten", "gm-out-of-bounds", "gm-conflict"}


@pytest.mark.parametrize("plant", ["every tail", "second tile"])
def test_fast_finds_it_too(planted: Path, monkeypatch: pytest.MonkeyPatch, plant: str) -> None:
    """The shortest list has a tail and a core with two tiles, and says what it leaves out."""
    monkeypatch.setenv("PLANT", str(PLANTS[plant]))
    found = check(planted, "--fast", status=1)
    assert kinds(found) and found["cases"] < 12
    assert any("--fast left out" in note for note in found["notes"])


HALF = "if (*context->GetAttrs()->GetBool(0)) rows = rows / 2;"


def test_attributes_are_given_the_other_way(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault behind a switch that is off by default."""
    monkeypatch.delenv("PLANT", raising=False)
    root = project(
        place,
        "PlantedAdd",
        {"x": "FLOAT", "w": "FLOAT"},
        PLANTED,
        checks=f"{PLANT_CHECKS} {HALF}",
        attrs='this->Attr("half").AttrType(OPTIONAL).Bool(false);',
    )
    found = check(root, status=1)
    assert kinds(found) == {"output-unwritten"}
    assert found["findings"][0]["cases"][0].startswith("half=True"), found["findings"]


def test_inference_of_empty_outputs(place: Path) -> None:
    """No kernel runs where all outputs are empty, so nothing was checked."""
    infer = "y.SetDimNum(1); y.SetDim(0, 0);"
    root = project(place, "PlantedAdd", {"x": "FLOAT", "w": "FLOAT"}, PLANTED, infer=infer)
    done = commands.run("check", root)
    assert done.returncode == 1
    assert "PlantedAdd: no kernel was launched in" in done.stderr
    assert re.search(r"shape inference: \S+planted_add.cpp:\d+", done.stderr)


@pytest.mark.parametrize("empty", ["shape(0).GetDimNum() < 3", "true"])
def test_a_run_is_one_of_a_kernel(place: Path, empty: str) -> None:
    """A case whose outputs are empty says nothing: another one is tried, and none has run."""
    infer = f"y = shape(0); if ({empty}) {{ y.SetDimNum(1); y.SetDim(0, 0); }}"
    root = project(place, "PlantedAdd", {"x": "FLOAT", "w": "FLOAT"}, PLANTED, infer=infer)
    builder = operator_build.Builder(locate(root), family("ascend910b"))
    described = builder.build_host()
    (op,) = operator_build.runnable(described, builder.sources, builder.soc)
    row = builder.combinations(op)[0]
    builder.build_kernel(builder.kernel(op, row), described)
    builder.build_api([op])
    given = (
        case
        for case in made_inputs.cases(op, row)
        if case.recipe and case.recipe.style == "same" and not case.outputs
    )
    outcomes = operator_check.run_cases(builder, op, row, given, soc=SOC)
    best = operator_check.best(outcomes)
    assert best is not None
    if empty == "true":
        assert len(outcomes) > 1 and not any(outcome.ran for outcome in outcomes)
        assert best.message == "no kernel was launched: all outputs are empty"
    else:
        assert best.ran and best.label.startswith("x[2, 8, 64]")
        assert [outcome.ran for outcome in outcomes] == [False] * (len(outcomes) - 1) + [True]


def test_a_shape_that_is_too_large(place: Path) -> None:
    """The end of an output that nobody writes also shows the line that gives its shape."""
    infer = "y = shape(0); y.SetDim(y.GetDimNum() - 1, y.GetDim(y.GetDimNum() - 1) + 1);"
    root = project(place, "PlantedAdd", {"x": "FLOAT", "w": "FLOAT"}, PLANTED, infer=infer)
    found = check(root, status=1)
    (unwritten,) = (one for one in found["findings"] if one["kind"] == "output-unwritten")
    places = [one for one in unwritten["related"] if one["instruction"] == "shape inference"]
    assert [Path(one["file"]).name for one in places] == ["planted_add.cpp"], unwritten
    assert "InferShapeContext" in places[0]["text"]


def test_a_dtype_that_is_declared_otherwise(place: Path) -> None:
    """An output that the kernel leaves also shows its dtypes where inference gives others."""
    declared = 'this->Output("y").ParamType(REQUIRED).DataType({ge::DT_DOUBLE})'
    root = project(place, "PlantedAdd", {"x": "FLOAT", "w": "FLOAT"}, PLANTED)
    (source,) = (root / "op_host").glob("*.cpp")
    text = source.read_text()
    inferred = "[](gert::InferDataTypeContext* c) { return c->SetOutputDataType(0, ge::DT_FLOAT); }"
    shapes = "this->SetInferShape(ge::Shapes);"
    assert shapes in text
    text = text.replace(shapes, f"{shapes}\n    this->SetInferDataType({inferred});")
    text, edits = re.subn(r'this->Output\("y"\)[^;]*?DataType\(\{[^}]*\}\)', declared, text)
    assert edits == 1, text
    source.write_text(text)
    found = check(root, status=1)
    (unwritten,) = (one for one in found["findings"] if one["kind"] == "output-unwritten")
    (said,) = (one for one in unwritten["related"] if one["instruction"] == "definition")
    assert said["note"] == "says float64, where dtype inference gives float32"
    assert "DataType({ge::DT_DOUBLE})" in said["text"], said


def test_parameters_in_another_order(place: Path) -> None:
    """A kernel that takes the definition's parameters in another order is shown by each error."""
    root = project(place, "PlantedAdd", {"x": "FLOAT", "w": "FLOAT"}, PLANTED)
    (source,) = (root / "op_kernel").glob("*.cpp")
    text = source.read_text()
    assert "GM_ADDR x, GM_ADDR w, GM_ADDR y" in text
    source.write_text(
        text.replace("GM_ADDR x, GM_ADDR w, GM_ADDR y", "GM_ADDR y, GM_ADDR x, GM_ADDR w")
    )
    found = check(root, status=1)
    errors = [one for one in found["findings"] if one["severity"] == "error"]
    assert errors
    for error in errors:
        (said,) = (one for one in error["related"] if one["instruction"] == "planted_add")
        assert said["note"] == "takes y, x, w, where the definition has x, w, y"


GATHER = """
  const auto table = Of<float>(x, uint64_t(t.rows) * t.cols);
  const auto rows = Of<int32_t>(index, t.other);
  const auto gy = Of<float>(y, uint64_t(t.other) * t.cols);
  for (uint32_t i = core; i < t.other; i += cores)
    for (uint32_t at = 0; at < t.cols; at += kTile) {
      uint32_t count = t.cols - at < kTile ? t.cols - at : kTile;
      if (t.plant == 1) count = count / 8 * 8;
      if (count == 0) continue;
      lane.Move(table, int64_t(rows.GetValue(i)) * t.cols + at, gy, int64_t(i) * t.cols + at,
                count, 1.0f, 0.0f);
    }
"""
GATHERED = """
  y = shape(1);
  y.AppendDim(shape(0).GetDim(shape(0).GetDimNum() - 1));
"""

EACH_ROW = """
  const auto gx = Of<float>(x, uint64_t(t.rows) * t.cols);
  const auto gy = Of<float>(y, uint64_t(t.rows) * t.cols);
  SETUP
  for (uint32_t row = core; row < t.rows; row += cores)
    for (uint32_t at = 0; at < t.cols; at += kTile) {
      const uint32_t count = t.cols - at < kTile ? t.cols - at : kTile;
      const int64_t from = int64_t(row) * t.cols + at;
      STEP
    }
"""


def each_row(setup: str, step: str) -> str:
    """A kernel whose cores take rows in turn."""
    return EACH_ROW.replace("SETUP", setup).replace("STEP", step)


RIGHT: dict[str, tuple[dict[str, str], str, str]] = {
    "Gathered": ({"x": "FLOAT", "index": "INT32"}, GATHER, GATHERED),
    "Clipped": (
        {"x": "FLOAT", "min": "FLOAT", "max": "FLOAT"},
        each_row(
            "const float low = Of<float>(min, 1).GetValue(0), high = Of<float>(max, 1).GetValue(0);"
            " ASSERT(low <= high);",
            "lane.Move(gx, from, gy, from, count, high, low);",
        ),
        "y = shape(0);",
    ),
    "Rescaled": (
        {"x": "FLOAT", "scale": "FLOAT"},
        each_row(
            "const float by = Of<float>(scale, 1).GetValue(0); ASSERT(by > 0);",
            "lane.Move(gx, from, gy, from, count, 1.0f / by, 0.0f);",
        ),
        "y = shape(0);",
    ),
    "Padded": (
        {"x": "FLOAT", "lengths": "INT32"},
        each_row(
            "const auto length = Of<int32_t>(lengths, t.other);",
            "const int64_t used = length.GetValue(row % t.other);"
            " ASSERT(0 <= used && used <= t.rows);"
            " lane.Move(gx, from, gy, from, count, at < used ? 1.0f : 0.0f, 0.0f);",
        ),
        "y = shape(0);",
    ),
    "Segmented": (
        {"x": "FLOAT", "cu_seqlens": "INT32"},
        """
  const auto gx = Of<float>(x, uint64_t(t.rows) * t.cols);
  const auto gy = Of<float>(y, uint64_t(t.rows) * t.cols);
  const auto ends = Of<int32_t>(cu_seqlens, t.other);
  for (uint32_t s = core; s + 1 < t.other; s += cores) {
    const int64_t begin = int64_t(ends.GetValue(s)) * t.cols;
    const int64_t end = int64_t(ends.GetValue(s + 1)) * t.cols;
    ASSERT(begin <= end);
    for (int64_t at = begin; at < end; at += kTile)
      lane.Move(gx, at, gy, at, end - at < kTile ? end - at : kTile, 1.0f, 0.0f);
  }
""",
        "y = shape(0);",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_invented_inputs_suit_right_operators(place: Path, name: str) -> None:
    """Indices are in range, bounds in order, scales positive, lengths those of the rows."""
    inputs, body, infer = RIGHT[name]
    checks = "if (rank != 2) return ge::GRAPH_FAILED;"
    root = project(place, name, inputs, body, infer=infer, checks=checks)
    found = check(root, status=0)
    assert kinds(found) == set() == kinds(found, "warning"), found["findings"]
    assert found["cases"] > 10


@pytest.mark.parametrize(
    "refuses", ["cols % 2 != 0", "cols % 64 != 0", "rows * cols != 1"], ids=["odd", "64", "more"]
)
def test_operator_that_refuses_most_shapes(
    place: Path, refuses: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of two halves, rows of whole vectors, single numbers: what it takes is found."""
    checks = f"if (({refuses}) || other != rows * cols) return ge::GRAPH_FAILED;"
    root = project(place, "PlantedAdd", {"x": "FLOAT", "w": "FLOAT"}, PLANTED, checks=checks)
    monkeypatch.delenv("PLANT", raising=False)
    found = check(root, status=0)
    taken = found["cases"]
    assert taken > 10 or refuses.startswith("rows"), found
    monkeypatch.setenv("PLANT", str(PLANTS["length 1" if taken < 10 else "one row"]))
    assert kinds(check(root, status=1)) == {"output-unwritten"}


WARNED: dict[str, tuple[dict[str, str], str, str, str]] = {
    # It wants what no name tells.
    "Descending": (
        {"x": "FLOAT", "index": "INT32"},
        GATHER.replace(
            "  const auto gy",
            "  ASSERT(rows.GetValue(0) >= rows.GetValue(t.other - 1));\n  const auto gy",
        ),
        GATHERED,
        "index was drawn from",
    ),
    # Operands of one shape only, which its callers see to.
    "Alike": (
        {"x": "FLOAT", "w": "FLOAT"},
        each_row(
            "const auto gw = Of<float>(w, t.other);",
            "lane.Move(gx, from, gy, from, count, 1.0f, gw.GetValue(from));",
        ),
        "y = shape(0);",
        "w has the shape",
    ),
    # Its callers fill the output.
    "Scattered": (
        {"x": "FLOAT", "index": "INT32"},
        """
  const auto gx = Of<float>(x, uint64_t(t.rows) * t.cols);
  const auto rows = Of<int32_t>(index, t.other);
  const auto gy = Of<float>(y, uint64_t(t.rows) * t.cols);
  if (core == 0)
    for (uint32_t i = 0; i < (t.other < t.rows ? t.other : t.rows); ++i)
      for (uint32_t at = 0; at < t.cols; at += kTile)
        lane.Move(gx, int64_t(i) * t.cols + at, gy, int64_t(rows.GetValue(i)) * t.cols + at,
                  t.cols - at < kTile ? t.cols - at : kTile, 1.0f, 0.0f);
""",
        "y = shape(0);",
        "index was drawn from",
    ),
}


@pytest.mark.parametrize("name", WARNED)
def test_what_rests_on_invented_inputs_is_a_warning(place: Path, name: str) -> None:
    """It says which inputs those are, and does not fail the check; in SARIF it is a warning too."""
    inputs, body, infer, why = WARNED[name]
    root = project(place, name, inputs, body, infer=infer, rank=2)
    found = check(root, status=0)
    assert kinds(found) == set() and found["errors"] == 0, found["findings"]
    warned = [item for item in found["findings"] if item["severity"] == "warning"]
    assert found["warnings"] == len(warned) > 0
    assert any(why in item["invented"] for item in warned), warned
    done = commands.run("check", root)
    assert "warning[" in done.stdout and f"on invented inputs: {why}" in done.stdout
    # A core that reads what another writes finds it written or not: the number may differ.
    assert re.search(r"\n0 errors, [1-9]\d* warning", done.stdout), done.stdout
    sarif = check(root, "--format", "sarif", status=0)
    assert "warning" in {item["level"] for item in sarif["runs"][0]["results"]}


def test_a_shape_of_the_command_line(place: Path) -> None:
    """Its values are invented all the same."""
    inputs, body, infer, why = WARNED["Descending"]
    root = project(place, "Descending", inputs, body, infer=infer, rank=2)
    found = check(root, "--shape", "3x7", status=0)
    assert kinds(found, "warning") == {"assert"}
    assert why in found["findings"][0]["invented"]


def test_what_any_inputs_would_show_is_an_error(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where some of them are invented: a tail that a gather drops, a copy without a wait."""
    root = project(
        place, "Gathered", {"x": "FLOAT", "index": "INT32"}, GATHER, infer=GATHERED, rank=2
    )
    monkeypatch.setenv("PLANT", "1")
    assert kinds(check(root, status=1)) == {"output-unwritten"}
    monkeypatch.delenv("PLANT")
    kernel = root / "op_kernel" / "gathered.cpp"
    text = kernel.read_text()
    assert "in.EnQue(a);\n    a = in.DeQue<float>();" in text
    kernel.write_text(text.replace("in.EnQue(a);\n    a = in.DeQue<float>();", ""))
    assert "race-read-after-write" in kinds(check(root, status=1))


ATOMIC_SUM = """
  const auto gx = Of<float>(x, t.rows * t.cols), gy = Of<float>(y, t.rows * t.cols);
  const uint32_t count = t.rows * t.cols < kTile ? t.rows * t.cols : 0;
  if (core == 0 && count > 0) lane.Move(gx, 0, gy, 0, count, 0.0f, 0.0f);
  SyncAll();
  SetAtomicAdd<float>();
  if (count > 0) lane.Move(gx, 0, gy, 0, count, 1.0f, 0.1f * core * core);
  SetAtomicNone();
"""


def test_chaos_varies_the_order_of_cores(place: Path) -> None:
    """Bits that depend on it are found without a golden, and are a hint."""
    too_many = "if (x.GetShapeSize() >= 2048) return ge::GRAPH_FAILED;"
    root = project(place, "AtomicSum", {"x": "FLOAT"}, ATOMIC_SUM, checks=too_many)
    assert kinds(check(root, "--fast", status=0)) == set()
    found = check(root, "--fast", "--chaos", "1-4", status=0)
    assert kinds(found) == set()
    (hint,) = (item for item in found["findings"] if item["kind"] == "chaos-difference")
    assert hint["severity"] == "hint" and "--chaos 1-4" in json.dumps(hint)


@pytest.mark.parametrize(("queue", "turned"), [("in", "VECOUT"), ("out", "VECIN")])
def test_a_queue_of_the_other_direction_is_the_cause(place: Path, queue: str, turned: str) -> None:
    """A race that its EnQue and DeQue do not order shows the queue, and what it has to be."""
    body = "if (core == 0) lane.Move(Of<float>(x, 8), 0, Of<float>(y, 8), 0, 8, 1.0f, 0.0f);"
    root = project(place, "Turned", {"x": "FLOAT"}, body, infer="y = gert::Shape({8});")
    kernel = root / "op_kernel" / "turned.cpp"
    right = "VECIN" if turned == "VECOUT" else "VECOUT"
    text = kernel.read_text()
    assert f"TPosition::{right}, 2> {queue};" in text
    kernel.write_text(
        text.replace(f"TPosition::{right}, 2> {queue};", f"TPosition::{turned}, 2> {queue};")
    )
    found = check(root, "--shape", "8", "--autosync", "off", status=1)
    raced = [item for item in found["findings"] if item["kind"] == "race-read-after-write"]
    assert any(
        f"make {queue} a queue of TPosition::{right}" in item["advice"]
        and any("InitBuffer(" + queue in place["text"] for place in item["related"])
        for item in raced
    ), raced


@pytest.mark.parametrize(
    ("path", "old", "new", "kind"),
    [
        (
            "op_kernel/twice_grad.cpp",
            "GetBlockIdx() * tiling.perCore",
            "GetBlockIdx() * tiling.tile",
            "output-unwritten",
        ),
        ("op_host/twice_grad_tiling.cpp", "kTileLanes = 4096", "kTileLanes = 16384", "ub-overflow"),
    ],
    ids=["core offset", "tile beyond UB"],
)
def test_fast_standard_grid_has_several_tiles(
    place: Path, path: str, old: str, new: str, kind: str
) -> None:
    """Of a project with a golden too: what goes wrong only there is found."""
    root = place / "twice_grad"
    shutil.rmtree(root, ignore_errors=True)
    scaffold.new("twice_grad", root, scaffold.Like.blank, scaffold.Shape.operator, editor=False)
    file = root / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    found = check(root, "--fast", "--dtype", "fp32", status=1)
    assert kind in kinds(found)
    assert any("--fast left out" in note for note in found["notes"])


def with_more(folder: Path, when: str) -> Path:
    """An operator whose second output its attribute asks for, and its kernel writes ``when``."""
    root = project(
        folder,
        "PlantedAdd",
        {"x": "FLOAT"},
        each_row(
            "const auto gm = Of<float>(more, uint64_t(t.rows) * t.cols);",
            "lane.Move(gx, from, gy, from, count, 1.0f, 0.0f);"
            f" if ({when}) lane.Move(gx, from, gm, from, count, 1.0f, 0.0f);",
        ),
        infer="y = shape(0); *context->GetOutputShape(1) = y;",
    )
    host, kernel = root / "op_host" / "planted_add.cpp", root / "op_kernel" / "planted_add.cpp"
    text = host.read_text()
    text = text.replace(
        "    this->SetInferShape",
        '    this->Output("more").ParamType(REQUIRED).DataType({ge::DT_FLOAT})'
        ".Format({ge::FORMAT_ND});\n"
        '    this->Attr("give_more").AttrType(OPTIONAL).Bool(false);\n    this->SetInferShape',
    )
    text = text.replace("word == nullptr ? 0 : std::atoi(word)", "*context->GetAttrs()->GetBool(0)")
    host.write_text(text)
    kernel.write_text(kernel.read_text().replace("GM_ADDR y, ", "GM_ADDR y, GM_ADDR more, "))
    return root


def test_output_that_an_attribute_leaves_out(place: Path) -> None:
    """It is a warning that names the attribute."""
    found = check(with_more(place, "t.plant"), "--fast", status=0)
    assert kinds(found, "warning") == {"output-unwritten"}
    assert found["findings"][0]["invented"] == "attribute give_more was False"


def test_output_that_no_attribute_asks_for(place: Path) -> None:
    """It is an error, and so is a part that is left out whatever the attribute says."""
    never = check(with_more(place, "false"), "--fast", status=1)
    assert kinds(never) == {"output-unwritten"}
    part = check(with_more(place, "t.plant || row > 0"), "--fast", status=1)
    assert kinds(part) == {"output-unwritten"}


def test_tiling_that_means_to_refuse(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block dim of 0 for what it does not take is an error, and other inputs are tried."""
    checks = "if (other != cols) { context->SetBlockDim(0); return ge::GRAPH_SUCCESS; }"
    inputs = {"x": "FLOAT", "gamma": "FLOAT"}
    body = PLANTED.replace("w, t.other", "gamma, t.other")
    root = project(place, "PlantedAdd", inputs, body, checks=checks)
    monkeypatch.setenv("PLANT", str(PLANTS["every tail"]))
    assert kinds(check(root, "--fast", status=1)) >= {"tiling-block-dim", "output-unwritten"}


def test_statistics_of_groups(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mean for each group of channels is among the shapes that are tried."""
    monkeypatch.delenv("PLANT", raising=False)
    checks = """
  if (rank != 2 || shape(1).GetDimNum() != 2) return ge::GRAPH_FAILED;
  if (shape(1).GetDim(0) != x.GetDim(0) || shape(1).GetDim(1) != 2) return ge::GRAPH_FAILED;
"""
    body = each_row("", "lane.Move(gx, from, gy, from, count, 1.0f, 0.0f);")
    root = project(place, "Grouped", {"x": "FLOAT", "mean": "FLOAT"}, body, checks=checks)
    found = check(root, "--fast", status=0)
    assert found["cases"] > 3 and kinds(found) == set()


def test_floats_are_no_positions(place: Path) -> None:
    """A label of floats has the shape of what it labels, not four rows."""
    inputs, body, infer, _ = WARNED["Alike"]
    inputs = {"x": "FLOAT", "label": "FLOAT"}
    root = project(place, "Alike", inputs, body.replace("(w,", "(label,"), infer=infer, rank=2)
    found = check(root, "--fast", status=0)
    assert kinds(found) == set() == kinds(found, "warning"), found["findings"]


def test_operand_that_chooses_what_is_computed(place: Path) -> None:
    """A kernel that takes some exponents only, which its callers see to."""
    body = each_row(
        "const float power = Of<float>(w, 1).GetValue(0);",
        "if (power == 2.0f) lane.Move(gx, from, gy, from, count, 1.0f, 0.0f);",
    )
    root = project(place, "Powered", {"x": "FLOAT", "w": "FLOAT"}, body)
    found = check(root, "--fast", status=0)
    assert kinds(found, "warning") == {"output-unwritten"}
    assert found["findings"][0]["invented"] == "values of w"


@pytest.mark.parametrize(("name", "status"), [("ApplyPair", 0), ("CopiedPair", 1)])
def test_write_into_an_input(place: Path, name: str, status: int) -> None:
    """It is no error of an operator whose type says that it updates variables."""
    body = each_row(
        "const auto ga = Of<float>(accum, t.other);",
        "lane.Move(gx, from, gy, from, count, 1.0f, 0.0f);"
        " lane.Move(gx, from, ga, from, count, 1.0f, 0.0f);",
    )
    checks = "if (other != rows * cols) return ge::GRAPH_FAILED;"
    root = project(place, name, {"x": "FLOAT", "accum": "FLOAT"}, body, checks=checks)
    found = check(root, "--fast", status=status)
    assert kinds(found, "error" if status else "warning") == {"gm-write-to-input"}
