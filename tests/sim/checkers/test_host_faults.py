# SPDX-License-Identifier: Apache-2.0
"""Tiling, inference and definitions that are wrong whatever the call: each is an error at its line
in op_host, never a case that was refused.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import commands
from aclgrad.checks import own_host_code
from aclgrad.ops import all_specs

pytestmark = pytest.mark.plants_faults

Project = Callable[..., Path]
TILING = "op_host/scale_rows_tiling.cpp"
DEFINITION = "op_host/scale_rows_def.cpp"
KERNEL = "op_kernel/scale_rows.cpp"
BLOCKS = "static_cast<uint32_t>((blocks + blocksPerCore - 1) / blocksPerCore)"
OUTPUT = 'this->Output("y")\n        .ParamType(REQUIRED)\n        .DataType'
WORKSPACE = """\
  {
    AscendC::GlobalTensor<int32_t> own;
    own.SetGlobalBuffer((__gm__ int32_t*)AscendC::GetUserWorkspace(workspace));
    if (AscendC::GetBlockIdx() == 0) own.SetValue(AT, 1);
  }
"""


def command(*words: object, cwd: Path, status: int = 1) -> str:
    """What a command prints."""
    done = commands.run(*words, cwd=cwd, environment={"COLUMNS": "200"})
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + ("" if "json" in words else done.stderr)


def findings(said: str) -> list[dict[str, Any]]:
    """What a report in JSON lists."""
    found: list[dict[str, Any]] = json.loads(said)["findings"]
    return found


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of a new project."""
    folder = tmp_path_factory.mktemp("fresh")
    command("new", "scale_rows", "--like", "blank", cwd=folder, status=0)
    made = folder / "scale_rows"
    return {
        path.relative_to(made).as_posix(): path.read_text()
        for path in made.rglob("*")
        if path.suffix in (".cpp", ".h", ".py")
    }


def written(files: Mapping[str, str], folder: Path) -> Path:
    """A project of these files and no others."""
    made = folder / "scale_rows"
    shutil.rmtree(made, ignore_errors=True)
    for name, text in files.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(text)
    return made


@pytest.fixture
def project(fresh: dict[str, str], place: Path) -> Project:
    """Makes a project with edits: file, old, new."""

    def make(*edits: tuple[str, str, str]) -> Path:
        files = dict(fresh)
        for name, old, new in edits:
            assert old in files[name], (name, old)
            files[name] = files[name].replace(old, new, 1)
        return written(files, place)

    return make


def line_of(folder: Path, file: str, text: str) -> str:
    """Where a file has a text first."""
    lines = (folder / file).read_text().splitlines()
    return f"{file}:{next(i for i, line in enumerate(lines, 1) if text in line)}"


READS = ".TilingInputsDataDependency({0})"

FAULTS = {
    "block dim 0": (
        [(TILING, BLOCKS, "0")], "tiling-block-dim", TILING, "SetBlockDim", "of 0, want",
    ),
    "negative block dim": (
        [(TILING, BLOCKS, "-3")], "tiling-block-dim", TILING, "SetBlockDim", "dim of -3",
    ),
    "too many blocks": (
        [(TILING, BLOCKS, "70000")], "tiling-block-dim", TILING, "SetBlockDim", "70000, want 1 to",
    ),
    "no block dim": (
        [(TILING, f"  context->SetBlockDim({BLOCKS});\n", "")],
        "tiling-block-dim", TILING, "ScaleRowsTiling(", "sets no block dim",
    ),
    "key that the kernel lacks": (
        [(TILING, "SetTilingKey(1)", "SetTilingKey(2)")],
        "tiling-key-unknown", TILING, "SetTilingKey", "key 2, which the kernel does not have",
    ),
    "negative workspace": (
        [(TILING, "workspace[0] = 0", "workspace[0] = 0 - total - 1")],
        "tiling-workspace", TILING, "GetWorkspaceSizes", "a negative size?",
    ),
    "an exception": (
        [(TILING, "  data->total = total;",
          "  std::vector<int> of(-total);\n  data->total = total;"),
         (TILING, "#include <cstdio>", "#include <cstdio>\n#include <vector>")],
        "host-code", TILING, "ScaleRowsTiling(", "threw std::",
    ),
    "a null attribute": (
        [(TILING, "  data->total = total;",
          "  data->total = total + *context->GetAttrs()->GetInt(7);")],
        "host-code", TILING, "GetInt(7)", "SIGSEGV",
    ),
    "an attribute that there is not": (
        [(TILING, "  data->total = total;",
          "  if (context->GetAttrs()->GetInt(7) == nullptr) return ge::GRAPH_FAILED;\n"
          "  data->total = total;")],
        "attr-index", TILING, "GetInt(7)", "attribute 7 is read, the definition has 0",
    ),
    "an input that there is not": (
        [(TILING, "  data->total = total;",
          "  if (context->GetInputDesc(9) == nullptr) return ge::GRAPH_FAILED;\n"
          "  data->total = total;")],
        "param-index", TILING, "GetInputDesc(9)", "input 9 is read, the definition has 1",
    ),
    "no tiling data": (
        [(TILING, "auto* data = context->GetTilingData<ScaleRowsTilingData>();",
          "static ScaleRowsTilingData own;\n  auto* data = &own;")],
        "tiling-data", KERNEL, "GET_TILING_DATA", "has set no tiling data",
    ),
    "a smaller struct": (
        [(TILING, '#include "../op_kernel/scale_rows_tiling_data.h"',
          "#include <cstdint>\nstruct ScaleRowsTilingData { int32_t total, perCore, tile; };"),
         (TILING, "std::min(kTileLanes, data->perCore)",
          "std::min<int64_t>(kTileLanes, data->perCore)")],
        "tiling-data", KERNEL, "GET_TILING_DATA", "24 bytes, and the tiling function has set 12",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_fault_of_tiling(project: Project, tmp_path: Path, name: str) -> None:
    """`check` names it at its line, `test` fails and refuses nothing."""
    edits, kind, file, at, text = FAULTS[name]
    made = project(*edits)
    words = (made, "--shape", "7x33", "--dtype", "fp32", "--format", "json")
    said = command("check", *words, cwd=tmp_path)
    found = findings(said)
    assert [item["kind"] for item in found if item["severity"] == "error"] == [kind], said
    assert text in found[0]["detail"]
    place = f"{Path(found[0]['at']['file']).relative_to(made)}:{found[0]['at']['line']}"
    assert place == line_of(made, file, at)


HEADER = "op_kernel/scale_rows_tiling_data.h"
GOLDEN = "scale_rows_golden.py"
UNSET = {
    "numbers of other tiles": (
        [(TILING, "  data->tile = std::min(kTileLanes, data->perCore);\n", "  data->spare = 3;\n"),
         (HEADER, "  int64_t tile;", "  int64_t tile;\n  int32_t spare;"),
         (KERNEL, "tiling.tile", "(tiling.tile == 0 ? 512 : 1024)")],
        "",
    ),
    "an output that stays empty": (
        [(TILING, "  data->total = total;\n", "")], "does not set total; with other bytes",
    ),
    "a field beside a struct": (
        [(HEADER, "struct ScaleRowsTilingData {",
          "struct Extra {\n  int32_t first;\n};\n\nstruct ScaleRowsTilingData {\n  Extra extra;"),
         (TILING, "  data->total = total;\n", "  data->extra.first = 1;\n")],
        "does not set total; with other bytes",
    ),
    "a scale": (
        [(HEADER, "  int64_t tile;", "  int64_t tile;\n  float scales[2];\n  int16_t shift;"),
         (TILING, "  data->total = total;", "  data->total = total;\n  data->shift = 1;"),
         (KERNEL, "tile_(tiling.tile)", "tile_(tiling.tile), shift_(tiling.scales[1])"),
         (KERNEL, "const int64_t tile_;", "const int64_t tile_;\n  const float shift_;"),
         (KERNEL, "static_cast<T>(1)", "static_cast<T>(1 + shift_)")],
        "does not set scales; with other bytes there",
    ),
}  # fmt: skip


@pytest.mark.parametrize("golden", [True, False])
@pytest.mark.parametrize("name", UNSET)
def test_field_that_is_not_set(project: Project, tmp_path: Path, name: str, golden: bool) -> None:
    """A kernel that depends on it is named at the field; padding and what plays no part are not."""
    edits, text = UNSET[name]
    made = project(*edits)
    if not golden:
        (made / GOLDEN).unlink()
    words = (made, "--shape", "7x33", "--dtype", "fp32", "--format", "json")
    said = command("check", *words, cwd=tmp_path, status=1 if text else 0)
    found = [item for item in findings(said) if item["kind"] == "tiling-unset"]
    assert [item["severity"] for item in found] == (["error"] if text else []), said
    if text:
        assert text in found[0]["detail"]
        place = f"{Path(found[0]['at']['file']).relative_to(made)}:{found[0]['at']['line']}"
        assert place == line_of(made, HEADER, text.split()[3].rstrip(";"))


def test_field_that_only_some_data_need(tmp_path: Path) -> None:
    """The slope of a leaky ReLU plays no part in the first case, whose numbers are positive."""
    command("new", "leaky", "--like", "elementwise", cwd=tmp_path, status=0)
    tiling = tmp_path / "leaky" / "op_host" / "leaky_tiling.cpp"
    text = tiling.read_text()
    assert text.count("data->slope = *slope;") == 1
    tiling.write_text(text.replace("data->slope = *slope;", ""))
    said = command(
        "check", "leaky", "--dtype", "fp32", "--fast", "--format", "json", cwd=tmp_path, status=1
    )
    found = [item for item in findings(said) if item["kind"] == "tiling-unset"]
    assert found and "does not set slope" in found[0]["detail"], said


def test_an_attribute_with_a_default(project: Project, tmp_path: Path) -> None:
    """Operators of several versions ask for attributes that only the later ones have."""
    asks = "  data->total = context->GetAttrs()->GetInt(7) == nullptr ? total : 0;"
    made = project((TILING, "  data->total = total;", asks))
    command("check", made, "--shape", "7x33", "--dtype", "fp32", cwd=tmp_path, status=0)


WORKSPACES = {
    "behind the user's part": (
        "16 * 1024 * 1024 + 64", "16", "[64, 68) of the user's workspace, which has 64",
    ),
    "in the last word": ("16 * 1024 * 1024 + 64", "15", ""),
    "without the reserved part": ("4096", "0", "[0, 4) of the user's workspace, which has 0"),
    "none": ("0", "0", "[0, 4) of the user's workspace, which has 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", WORKSPACES)
def test_workspace_of_the_user(project: Project, tmp_path: Path, name: str) -> None:
    """GetUserWorkspace begins behind what the framework reserves, and ends with the workspace."""
    asked, at, text = WORKSPACES[name]
    body = WORKSPACE.replace("AT", at)
    made = project(
        (TILING, "workspace[0] = 0", f"workspace[0] = {asked}"),
        (KERNEL, "  GET_TILING_DATA_WITH_STRUCT", f"{body}  GET_TILING_DATA_WITH_STRUCT"),
    )
    words = (made, "--shape", "7x33", "--dtype", "fp32", "--format", "json", "--no-hints")
    said = command("check", *words, cwd=tmp_path, status=1 if text else 0)
    found = findings(said)
    assert [item["kind"] for item in found] == ["workspace-too-small"] * bool(text), said
    if text:
        assert text in found[0]["detail"]
        (asking,) = found[0]["related"]
        assert line_of(made, TILING, "GetWorkspaceSizes").endswith(f":{asking['line']}")


DEFINITIONS = {
    "dtype lists of different length": (
        [(DEFINITION, OUTPUT + "({ge::DT_FLOAT, ge::DT_FLOAT16})", OUTPUT + "({ge::DT_FLOAT})")],
        ("output y has 1 dtype in its DataType list, input x has 2", 'Output("y")'),
    ),
    "opFile.value without a file": (
        [(DEFINITION, '"opFile.value", "scale_rows"', '"opFile.value", "scale_row"')],
        ("CANN's build looks for scale_row.cpp", '"opFile.value"'),
    ),
    "no OP_ADD": (
        [(DEFINITION, "OP_ADD(ScaleRows);", "")], ("OP_ADD(ScaleRows)", "};"),
    ),
    "a typing error": (
        [(TILING, "context->GetInputShape(0)", "contex->GetInputShape(0)")],
        ("did you mean ‘context’", "contex->"),
    ),
    "min of two types": (
        [(TILING, "std::min(kTileLanes, data->perCore)", "std::min(kTileLanes, 5)")],
        ("deduced conflicting types", "std::min(kTileLanes, 5)"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("verb", ["test", "package"])
def test_fault_of_a_definition(project: Project, tmp_path: Path, name: str, verb: str) -> None:
    """Nothing is built; the line of op_host is named, and the simulator is not blamed."""
    edits, (text, at) = DEFINITIONS[name]
    made = project(*edits)
    said = command(verb, made, cwd=tmp_path)
    file = TILING if "contex" in at or "min" in at else DEFINITION
    assert text in said
    assert line_of(made, file, at) in said
    assert "not known to the simulator" not in said


OTHER_SOC = """\
    OpAICoreConfig kirin;
    kirin.Input("x").DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    kirin.Output("y").DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->AICore().AddConfig("kirinx90", kirin);
"""


def test_dtypes_of_another_soc(fresh: dict[str, str], project: Project, tmp_path: Path) -> None:
    """The lists of a SoC that is not built for are compared too; both ends are named."""
    adds = next(line for line in fresh[DEFINITION].splitlines(keepends=True) if "AddConfig" in line)
    made = project((DEFINITION, adds, adds + OTHER_SOC))
    said = command("check", made, cwd=tmp_path)
    assert "ScaleRows for kirinx90: output y has 1 dtype in its DataType list" in said
    assert f"input x has 2 dtypes ({made / line_of(made, DEFINITION, 'kirin.Input')})" in said
    assert f"at {made / line_of(made, DEFINITION, 'kirin.Output')}" in said


def test_kernel_under_another_name(fresh: dict[str, str], place: Path, tmp_path: Path) -> None:
    """CANN's build looks for the snake case of the type."""
    files = dict(fresh)
    files["op_kernel/rows.cpp"] = files.pop(KERNEL)
    files[DEFINITION] = files[DEFINITION].replace(
        '.ExtendCfgInfo("opFile.value", "scale_rows")', ""
    )
    made = written(files, place)
    assert "CANN's build looks for scale_rows.cpp" in command("build", made, cwd=tmp_path)


def test_package_of_nonsense_is_refused(project: Project, tmp_path: Path) -> None:
    """What `test` fails on is not packed."""
    made = project((TILING, BLOCKS, "0"))
    said = command("package", made, "--output", tmp_path / "dist", cwd=tmp_path)
    assert "tiling-block-dim" in said
    assert not [*(tmp_path / "dist").glob("*.run")]


REFUSE = "  if (total % 64 != 0) return ge::GRAPH_FAILED;\n  data->total = total;"


def test_refused_cases_are_listed(project: Project, tmp_path: Path) -> None:
    """A tiling that refuses most of the standard grid proves little: the run fails, unless told."""
    made = project((TILING, "  data->total = total;", REFUSE))
    words = ("test", made, "--dtype", "fp32", "--format", "json,junit", "--out", tmp_path / "out")
    said = command(*words, cwd=tmp_path)
    assert "cases were refused and" in said
    assert "--allow-refusals" in said
    said = command(*words, "--allow-refusals", cwd=tmp_path, status=0)
    report = json.loads((tmp_path / "out" / "precision.json").read_text())
    counts = report["counts"]
    assert counts["refused"] > counts["passed"] > 0 == counts["failed"]
    last = f"{counts['passed']} passed, {counts['refused']} refused in "
    assert any(line.startswith(last) for line in said.splitlines())
    assert sum(len(item["cases"]) for item in report["refused"]) == counts["refused"]
    assert (tmp_path / "out" / "junit.xml").read_text().count("<skipped") == counts["refused"]
    checked = ("check", made, "--dtype", "fp32", "--fast")
    assert "so the run says little" in command(*checked, cwd=tmp_path)
    command(*words, "--allow-refusals", cwd=tmp_path, status=0)


SANITIZED = {
    "overflow": (
        "  const int32_t bytes = static_cast<int32_t>(total) * 4;\n"
        "  data->total = bytes == 1 ? 1 : total;",
        "host-undefined", "signed integer overflow",
    ),
    "overrun": (
        "  int64_t dims[2];\n  for (size_t i = 0; i < x->GetStorageShape().GetDimNum(); ++i) {\n"
        "    dims[i] = x->GetStorageShape().GetDim(i);\n  }\n"
        "  data->total = dims[0] < 0 ? 1 : total;",
        "host-address", "stack-buffer-overflow",
    ),
}  # fmt: skip
ONE_SANITIZER = pytest.mark.no_thread_sanitizer("a process has one of the two")


@ONE_SANITIZER
@pytest.mark.parametrize("name", SANITIZED)
def test_sanitized_host(project: Project, tmp_path: Path, name: str) -> None:
    """`check --sanitize-host` names the line; without it nothing is seen."""
    code, kind, text = SANITIZED[name]
    made = project((TILING, "  data->total = total;", code))
    words = ("check", made, "--shape", "2x3x4x5", "--dtype", "fp32", "--no-hints")
    said = command(*words, "--sanitize-host", "--format", "json", cwd=tmp_path)
    found = findings(said)
    assert {item["kind"] for item in found} == {kind}, said
    assert text in found[0]["detail"]
    at = "static_cast<int32_t>(total) * 4" if name == "overflow" else "dims[i] ="
    assert f"{TILING}:{found[0]['at']['line']}" == line_of(made, TILING, at)


@ONE_SANITIZER
def test_sanitized_host_of_a_right_project(project: Project, tmp_path: Path) -> None:
    """A new project is clean, also for tensors of more than 2^31 elements."""
    made = project()
    command("check", made, "--shape", "7x33", "--sanitize-host", cwd=tmp_path, status=0)


@ONE_SANITIZER
def test_sanitized_host_of_our_operators() -> None:
    """Host code of our operators is clean on the standard grid and beyond 2^31 elements."""
    for spec in all_specs():
        runs = own_host_code.sanitize(spec, list(spec.cases(spec, False)), "Ascend910B2")
        assert len(runs) > 20
        assert [finding for run in runs for finding in run.findings] == []


def test_tiling_reads_values(project: Project, tmp_path: Path) -> None:
    """An input of TilingInputsDataDependency reaches tiling with its values."""
    read = (
        "  const float* values = context->GetInputTensor(0)->GetData<float>();\n"
        "  if (values == nullptr || values[0] == 0) return ge::GRAPH_FAILED;\n"
        "  data->total = total;"
    )
    made = project(
        (TILING, "  data->total = total;", read),
        (TILING, "Tiling(ScaleRowsTiling)", f"Tiling(ScaleRowsTiling){READS}"),
    )
    words = (made, "--shape", "7x33", "--dtype", "fp32", "--no-hints")
    assert "0 errors" in command("check", *words, cwd=tmp_path, status=0)
