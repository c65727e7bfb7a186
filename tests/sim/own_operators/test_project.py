# SPDX-License-Identifier: Apache-2.0
"""Operators that come as sources: built and run unchanged from a library in ops-nn's layout."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from aclgrad.building import operator_build
from aclgrad.building.build_tools import find_compiler
from aclgrad.building.compile_step import Step, diagnose
from aclgrad.building.toolchain import read_depfile, toolchain
from aclgrad.checks import operator_check
from aclgrad.codegen.render import render
from aclgrad.errors import AclnnError
from aclgrad.findings import Finding
from aclgrad.reading.aclnn_functions import signature_of
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import SourcesError
from aclgrad.running import operator_call
from aclgrad.runtime import Toolkit
from aclgrad.spec.definition import Definition, Param, Value
from aclgrad.spec.naming import snake_case
from aclgrad.spec.soc import family_of
from aclgrad.unit_tests import gtest
from aclgrad.unit_tests.test_files import find_tests

pytestmark = [pytest.mark.journey, pytest.mark.usefixtures("no_packages")]

LIBRARY = Path(__file__).parents[1] / "projects"
MATH = LIBRARY / "math"
SOC = "Ascend910B2"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A copy of the library that a test may change."""
    shutil.copytree(LIBRARY, tmp_path / "library")
    return tmp_path / "library"


def random(*shape: int) -> np.ndarray:
    """Values of a normal distribution."""
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("attrs", "with_bias", "want"),
    [
        ([], False, lambda x, b: x * 2),
        (["scale=3"], True, lambda x, b: x * 3 + b),
        (["repeat=2"], False, lambda x, b: x * 4),
    ],
    ids=["once", "bias", "twice"],
)
def test_template_instance_of_the_key(
    attrs: list[str], with_bias: bool, want: Callable[..., np.ndarray]
) -> None:
    """Each tiling key runs the instance that ASCENDC_TPL_SEL gives it."""
    x, bias = random(37, 101), random(37, 101) + 1
    result = operator_call.run(MATH / "scale_add", [[x], *([[bias]] if with_bias else [])], attrs)
    np.testing.assert_array_equal(result.outputs["y"], want(x, bias))


@pytest.mark.plants_faults
def test_key_that_is_not_selected() -> None:
    """A combination that ASCENDC_TPL_SEL leaves out is a fault that names the key."""
    x = random(8)
    with pytest.raises(
        AclnnError, match=r"tiling key 257, .*the kernel does not have.*tiling-key-unknown"
    ):
        operator_call.run(MATH / "scale_add", [[x], [x]], ["repeat=2"])


def test_dtype_of_the_inputs_chooses_the_kernel() -> None:
    """Only the combination that is asked for is compiled."""
    x = random(100).astype(np.float16)
    result = operator_call.run(MATH / "scale_add", [[x]])
    assert result.outputs["y"].dtype == np.float16
    np.testing.assert_array_equal(result.outputs["y"], x * np.float16(2))
    with pytest.raises(SourcesError, match=r"dtypes bfloat16, absent, .* has float32, float32; f"):
        operator_call.run(MATH / "scale_add", [[x.astype(ml_dtypes.bfloat16)]])


def test_tiling_struct_of_op_host() -> None:
    """Kernels read what op_host declares field by field: nested, in arrays, padded."""
    x = random(9, 33)
    outputs = ["9x33", "9x33"]
    result = operator_call.run(MATH / "clip_rows", [[x]], ["limits=-0.5,0.25"], outputs=outputs)
    np.testing.assert_array_equal(result.outputs["y"], np.clip(x, -0.5, 0.25))
    np.testing.assert_array_equal(result.outputs["copy"], x)


@pytest.mark.parametrize(
    ("attrs", "scale", "shape"),
    [
        ([], 1, (16,)),
        (["scales=0.5,9"], 1, (16,)),
        (["scales=1.5", "keep=true"], 3, (1, 16)),
    ],
    ids=["plain", "keyed", "keep"],
)
def test_tiling_struct_of_a_key(attrs: list[str], scale: int, shape: tuple[int, ...]) -> None:
    """A key's own struct is what GET_TILING_DATA means; outputs start as InitValue says; lists of
    floats, flags and lists reach shape inference.
    """
    x = np.arange(48, dtype=np.float32).reshape(3, 16)
    result = operator_call.run(MATH / "column_totals", [[x]], attrs)
    np.testing.assert_array_equal(result.outputs["y"], (scale * x.sum(0) + 5).reshape(shape))


def test_lists_of_lists_reach_inference(library: Path) -> None:
    """Inference sees what was given. aclnn has no type for such an attribute, as CANN has none."""
    folder = library / "math" / "column_totals"
    definition = folder / "op_host" / "column_totals_def.cpp"
    last = '    Attr("keep").AttrType(OPTIONAL).ListBool({false});\n'
    text = definition.read_text()
    assert last in text
    groups = '    Attr("groups").AttrType(OPTIONAL).ListListInt({{0}, {1, 2}});\n'
    definition.write_text(text.replace(last, last + groups))
    builder = operator_build.Builder(locate(folder), operator_build.family_of(SOC))
    op = operator_build.runnable(builder.build_host(), builder.sources, builder.soc)[0]
    device = operator_call.open_sim()

    def infer(groups: list[list[int]]) -> tuple[int, ...]:
        attrs: dict[str, Value] = {"scales": [], "keep": [True], "groups": groups}
        inputs = [[np.ones((2, 8), np.float32)]]
        return operator_call.infer(device, builder.host_library, op, inputs, attrs, [1])[0][0][0]

    with pytest.raises(AclnnError, match="groups must be two lists, the second a pair"):
        infer([[0], [1, 2, 3]])
    assert infer([[], [1, 2], [3]]) == (1, 8)
    with pytest.raises(SourcesError, match="attribute groups is a ListListInt"):
        builder.build_api([op])


def test_tensor_lists() -> None:
    """A list reaches the kernel as its layout says, however many tensors it has."""
    arrays = [random(3, 50), random(7), random(2, 3, 4)]
    result = operator_call.run(MATH / "list_scale", [arrays])
    for index, array in enumerate(arrays):
        np.testing.assert_array_equal(result.outputs[f"y_{index}"], array * np.float32(3))
    alone = operator_call.run(MATH / "list_scale", [arrays[:1]])
    np.testing.assert_array_equal(alone.outputs["y"], arrays[0] * np.float32(3))


def test_generated_api_from_a_program(toolkit_info: Toolkit, tmp_path: Path) -> None:
    """A C++ program links the generated header and library: null checks, names, strides."""
    built = operator_build.build(MATH / "scale_add", soc=SOC, dtypes=["float32"])
    done = call(built.package, CALL, toolkit_info, tmp_path)
    assert done.stdout.split("\n")[:2] == ["161001", "2 0 4 0 6 0 8 0"]


def test_tiling_sees_the_shape_of_results(
    library: Path, toolkit_info: Toolkit, tmp_path: Path
) -> None:
    """Frameworks describe what a contiguous tensor lies in as one dim."""
    tiling = library / "math" / "scale_add" / "op_host" / "scale_add_tiling.cpp"
    check = (
        "  if (context->GetInputShape(0)->GetStorageShape() !="
        " context->GetOutputShape(0)->GetStorageShape())\n    return ge::GRAPH_FAILED;\n"
    )
    first = "  auto* data ="
    tiling.write_text(tiling.read_text().replace(first, check + first))
    built = operator_build.build(library / "math" / "scale_add", soc=SOC, dtypes=["float32"])
    program = (
        CALL.replace("{4}, one[] = {1}, two[] = {2}", "{2, 2}, one[] = {2, 1}")
        .replace("dims, 1, ACL_FLOAT, one, 0, ACL_FORMAT_ND, dims, 1, in", SQUARE.format("in"))
        .replace("dims, 1, ACL_FLOAT, two, 0, ACL_FORMAT_ND, storage, 1, out", SQUARE.format("out"))
    )
    done = call(built.package, program, toolkit_info, tmp_path)
    assert done.stdout.split("\n")[:2] == ["161001", "2 4 6 8 0 0 0 0"]


def test_numbers_alone_keep_their_dtype() -> None:
    """Beside a tensor they have the one of its column."""

    def item(name: str, scalar: bool) -> Param:
        return Param(name, dtypes=("DT_FLOAT", "DT_INT32"), scalar=scalar)

    op = Definition((item("start", True),), (item("y", False),), "Count")
    words = render("project/aclnn.cpp.j2", **vars(signature_of(op))).split()
    assert "ConvertToTensor(start, OwnType(start))" in " ".join(words)
    op = dataclasses.replace(op, inputs=(item("x", False), item("start", True)))
    words = render("project/aclnn.cpp.j2", **vars(signature_of(op))).split()
    assert "OwnType(start)" not in " ".join(words)
    assert "ConvertToTensor(start, ColumnType(x->GetDataType()" in " ".join(words)


SQUARE = "dims, 2, ACL_FLOAT, one, 0, ACL_FORMAT_ND, storage, 1, {}"


def call(
    package: Path, text: str, toolkit_info: Toolkit, tmp_path: Path, *words: str, status: int = 0
) -> subprocess.CompletedProcess[str]:
    """Compile a program with a built operator's header and library, and run it."""
    program = tmp_path / "call.cpp"
    program.write_text(text)
    binary = tmp_path / "call"
    lib64 = toolkit_info.library_dir
    api = package / "op_api"
    subprocess.run(
        [
            str(find_compiler()), "-std=c++17", str(program), "-o", str(binary),
            f"-I{toolkit_info.include_dirs[0]}", f"-I{api / 'include'}",
            f"-L{api / 'lib'}", "-lcust_opapi",
            f"-L{lib64}", "-lnnopbase", "-lascendcl", f"-Wl,-rpath,{api / 'lib'}:{lib64}", *words,
        ],
        check=True,
    )  # fmt: skip
    environment = {**os.environ, "ASCEND_CUSTOM_OPP_PATH": str(package)}
    done = subprocess.run([binary], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done


CALL = """
#include <cstdio>
#include <vector>
#include "acl/acl.h"
#include "aclnnop/aclnn_scale_add.h"
int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  const std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> y(8, 0);
  void *in = nullptr, *out = nullptr, *workspace = nullptr;
  aclrtMalloc(&in, 16, ACL_MEM_MALLOC_NORMAL_ONLY);
  aclrtMalloc(&out, 32, ACL_MEM_MALLOC_NORMAL_ONLY);
  aclrtMemcpy(in, 16, x.data(), 16, ACL_MEMCPY_HOST_TO_DEVICE);
  aclrtMemcpy(out, 32, y.data(), 32, ACL_MEMCPY_HOST_TO_DEVICE);
  const int64_t dims[] = {4}, one[] = {1}, two[] = {2}, storage[] = {8};
  aclTensor* source = aclCreateTensor(dims, 1, ACL_FLOAT, one, 0, ACL_FORMAT_ND, dims, 1, in);
  aclTensor* target = aclCreateTensor(dims, 1, ACL_FLOAT, two, 0, ACL_FORMAT_ND, storage, 1, out);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  int status =
      aclnnScaleAddGetWorkspaceSize(nullptr, nullptr, 2, 1, target, &size, &executor);
  std::printf("%d\\n", status);
  status = aclnnScaleAddGetWorkspaceSize(source, nullptr, 2, 1, target, &size, &executor);
  if (status != 0) return std::puts(aclGetRecentErrMsg()), 1;
  if (size > 0) aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_NORMAL_ONLY);
  status = aclnnScaleAdd(workspace, size, executor, stream);
  if (status == 0) status = aclrtSynchronizeStream(stream);
  if (status != 0) return std::puts(aclGetRecentErrMsg()), 1;
  aclrtMemcpy(y.data(), 32, out, 32, ACL_MEMCPY_DEVICE_TO_HOST);
  for (size_t i = 0; i < y.size(); ++i) std::printf(i == 0 ? "%g" : " %g", y[i]);
  std::puts("");
  return 0;
}
"""


def test_name_of_a_function_of_the_toolkit(library: Path, toolkit_info: Toolkit) -> None:
    """A stranger's Equal has its own aclnnEqual, whatever libopapi.so has, and programs find that
    by the library's name once it is loaded.
    """
    for part in ("op_host", "op_kernel"):
        for path in (MATH / "scale_add" / part).iterdir():
            text = path.read_text().replace("ScaleAdd", "Equal").replace("scale_add", "equal")
            target = library / "math" / "equal" / part / path.name.replace("scale_add", "equal")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    built = operator_build.build(library / "math" / "equal", soc=SOC, dtypes=["float32"])
    assert (toolkit_info.include_dirs[0] / "aclnnop" / "aclnn_equal.h").is_file()
    program = (
        "import ctypes, sys; given, named = map(ctypes.CDLL, sys.argv[1:]);"
        " address = lambda x: ctypes.cast(x, ctypes.c_void_p).value;"
        " assert address(given.aclnnEqual) == address(named.aclnnEqual)"
    )
    path = built.package / "op_api" / "lib" / "libcust_opapi.so"
    subprocess.run([sys.executable, "-I", "-c", program, path, path.name], check=True)


def test_definition_and_tiling_are_libraries_of_their_own(library: Path) -> None:
    """With CANN they are, so that a header of both may define a function; within one it may not."""
    host = library / "math" / "clip_rows" / "op_host"
    header = host / "clip_rows_tiling.h"
    header.write_text(header.read_text() + "\nint Twice(int value) { return 2 * value; }\n")
    definition = host / "clip_rows_def.cpp"
    definition.write_text('#include "clip_rows_tiling.h"\n' + definition.read_text())
    kernel = host.parent / "op_kernel" / "clip_rows.cpp"
    old = "ASSERT(data.flag == 7 && data.sizes[2] == 3);\n"
    assert old in kernel.read_text()
    kernel.write_text(kernel.read_text().replace(old, old.replace(";", "")))
    operator_build.build(host.parent, soc=SOC)
    definition.rename(host / "clip_rows.cpp")
    with pytest.raises(SourcesError, match="op_host does not build"):
        operator_build.build(host.parent, soc=SOC)


def test_second_build_compiles_nothing(
    new_cache: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is built of the same content stays."""
    monkeypatch.setenv("ACLGRAD_CACHE", str(new_cache()))
    first = operator_build.build(MATH / "clip_rows", soc=SOC)
    before = {path: path.stat().st_mtime_ns for path in first.package.rglob("*.so")}
    assert len(before) == 3
    second = operator_build.build(MATH / "clip_rows", soc=SOC)
    assert {path: path.stat().st_mtime_ns for path in second.package.rglob("*.so")} == before


def test_headers_that_are_parsed_again(tmp_path: Path) -> None:
    """What was compiled from them is made again: the compiler does not list them."""
    compiler = find_compiler() or ""
    header, source = tmp_path / "parsed.h", tmp_path / "a.cpp"
    header.write_text("#define VALUE 1\n")
    source.write_text("int value() { return VALUE; }\n")
    parsed, output = Path(f"{header}.gch"), tmp_path / "a.o"
    tools = toolchain(compiler)
    parse = Step(parsed, (compiler, "-x", "c++-header", str(header), "-o", str(parsed)), tools)
    words = ("-MD", "-MF", f"{output}.d", "-include", str(header), "-c", str(source))
    step = Step(output, (compiler, *words, "-o", str(output)), tools)
    assert parse.run() is None and step.run() is None
    assert str(header) not in read_depfile(step.depfile)
    assert parse.fresh() and step.fresh()
    header.write_text("#define VALUE 2\n")
    os.utime(header, (1, 1))
    assert parse.run() is None
    assert not step.fresh()


def test_edit_rebuilds_what_depends_on_it(library: Path) -> None:
    """The kernel follows an edit of op_host's tiling struct, without a word about it."""
    folder = library / "math" / "clip_rows"
    x = random(4, 8)
    outputs = ["4x8", "4x8"]
    run = lambda: operator_call.run(folder, [[x]], ["limits=-9,9"], outputs=outputs)  # noqa: E731
    np.testing.assert_array_equal(run().outputs["y"], x)
    kernel = folder / "op_kernel" / "clip_rows.cpp"
    kernel.write_text(kernel.read_text().replace("data.limits.high, columns", "0.0f, columns"))
    operator_build.build(folder, soc=SOC)
    code = (
        "import sys, numpy as np; from aclgrad.running import operator_call;"
        "r = operator_call.run(sys.argv[1], [[np.load(sys.argv[2])]], ['limits=-9,9'],"
        " outputs=['4x8', '4x8']); np.save(sys.argv[3], r.outputs['y'])"
    )
    source, target = library / "x.npy", library / "y.npy"
    np.save(source, x)
    subprocess.run([sys.executable, "-c", code, folder, source, target], check=True)
    np.testing.assert_array_equal(np.load(target), np.minimum(x, 0))


OWN_STRUCTS = """\
namespace own {
struct alignas(8) ClipRowsLimits { float low, high; };
struct ClipRowsTilingData { uint8_t flag; int64_t rows; uint32_t sizes[3]; ClipRowsLimits limits; };
}  // namespace own
using namespace own;
using namespace AscendC;
"""
OWN_CLASSES = (
    OWN_STRUCTS.replace("namespace own {\n", "")
    .replace("}  // namespace own\nusing namespace own;\n", "")
    .replace("struct alignas(8) ClipRowsLimits {", "class alignas(8) ClipRowsLimits { public:")
    .replace("struct ClipRowsTilingData {", "class ClipRowsTilingData { public:")
)


@pytest.mark.parametrize("own", [OWN_STRUCTS, OWN_CLASSES], ids=["in a namespace", "classes"])
def test_structs_that_the_kernel_has_as_well(library: Path, own: str) -> None:
    """They count, where op_host declares some of the same names."""
    folder = library / "math" / "clip_rows"
    kernel = folder / "op_kernel" / "clip_rows.cpp"
    text = kernel.read_text().replace("using namespace AscendC;\n", own)
    named = "GET_TILING_DATA_WITH_STRUCT(ClipRowsTilingData, data, tiling)"
    kernel.write_text(text.replace("GET_TILING_DATA(data, tiling)", named))
    x = random(4, 8)
    result = operator_call.run(folder, [[x]], ["limits=-0.5,0.5"], outputs=["4x8", "4x8"])
    np.testing.assert_array_equal(result.outputs["y"], np.clip(x, -0.5, 0.5))


def test_a_tiling_struct_of_any_size(library: Path) -> None:
    """A struct of the kernel's may be larger than the 2048 bytes that Tiling registers."""
    folder = library / "math" / "square"
    header = folder / "op_kernel" / "square_tiling_data.h"
    text = header.read_text()
    assert "  uint32_t count;\n" in text
    header.write_text(text.replace("  uint32_t count;\n", "  uint32_t before[1000], count;\n"))
    x = random(64)
    result = operator_call.run(folder, [[x]])
    np.testing.assert_array_equal(result.outputs["y"], x * x)


def broken(library: Path, path: str, old: str, new: str) -> Path:
    """Plant a mistake in a source of the copied library; returns the operator's folder."""
    file = library / "math" / "scale_add" / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    return file.parents[1]


@pytest.mark.parametrize(
    ("path", "old", "new", "message"),
    [
        ("op_kernel/scale_add.cpp", "Add(result, result, add, count)", "NoSuchAdd(result, count)",
         r"kernel ScaleAdd\(float32.*NoSuchAdd is not known to the simulator\n.*add.cpp:\d+:"),
        ("op_kernel/scale_add.cpp", "Add(result, result, add, count)",
         "LoadDataUnzip(result, add)",
         "matrix units: LoadDataUnzip is not simulated yet"),
        ("op_kernel/scale_add.cpp", "Add(result, result, add, count)",
         "Conv2D(result, add)",
         "matrix units: Conv2D is not simulated yet; docs/simulator.md says what is"),
        ("op_kernel/scale_add.cpp", "Add(result, result, add, count)",
         "load_cbuf_to_ca(result, add, inc)",
         "matrix units: load_cbuf_to_ca is not simulated yet; docs/simulator.md"),
        ("op_kernel/scale_add.cpp", '#include "kernel_operator.h"', '#include "no_such.h"',
         r"no header no_such.h in the simulator or around the operator\n.*scale_add.cpp:\d+:"),
        ("op_host/scale_add_tiling.cpp", "platform.GetCoreNumAiv()", "platform.GetNoSuch()",
         r"op_host does not build: GetNoSuch is not known"),
        ("op_host/scale_add_def.cpp", '"ascend910b"', '"ascend310p"',
         r"no operator for ascend910b: ScaleAdd: its definition has no AddConfig for ascend910b"),
        ("op_kernel/scale_add_tiling_key.h", "ASCENDC_TPL_SEL(",
         "#define NO_SELECTION(...)\nNO_SELECTION(", r"template without ASCENDC_TPL_SEL"),
    ],
    ids=["api", "cube", "convolution", "cube instruction", "header", "member", "soc", "selection"],
)  # fmt: skip
def test_what_is_missing_is_named(
    library: Path, path: str, old: str, new: str, message: str
) -> None:
    """A source that does not build ends in one message: what, where, the next step."""
    folder = broken(library, path, old, new)
    with pytest.raises(SourcesError, match=message) as caught:
        operator_build.build(folder, soc=SOC, dtypes=["float32"])
    assert "Next: " in str(caught.value)


def test_function_that_no_source_defines(library: Path) -> None:
    """op_host may name what another architecture's sources define; calling it is a named error."""
    folder = broken(
        library,
        "op_host/scale_add_tiling.cpp",
        "static ge::graphStatus ScaleAddTiling(gert::TilingContext* context) {",
        "void OnlyElsewhere(int);\n"
        "static ge::graphStatus ScaleAddTiling(gert::TilingContext* context) {\n"
        "  if (context->GetInputShape(0)->GetStorageShape().GetDim(0) == 13) OnlyElsewhere(1);",
    )
    operator_build.build(folder, soc=SOC, dtypes=["float32"])
    code = (
        "import sys, numpy as np; from aclgrad.running import operator_call;"
        "operator_call.run(sys.argv[1], [[np.ones(int(sys.argv[2]), np.float32)]])"
    )
    run = [sys.executable, "-c", code, str(folder)]
    subprocess.run([*run, "12"], check=True)
    done = subprocess.run([*run, "13"], capture_output=True, text=True, check=False)
    assert (
        "optiling::OnlyElsewhere(int) is defined in none of the operator's sources" in done.stderr
    )


def test_command_line(tmp_path: Path) -> None:
    """`aclgrad build PATH` and `aclgrad run PATH --inputs`, as a user types them."""
    x, bias = random(5, 8), random(5, 8)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "b.npy", bias)
    tool = [sys.executable, "-m", "aclgrad"]
    folder = str(MATH / "scale_add")
    built = subprocess.run(
        [*tool, "build", folder, "--dtypes", "fp32"], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    assert "ScaleAdd: 1 kernels in" in built.stdout
    command = [
        *tool,
        "run",
        folder,
        "--inputs",
        "x.npy",
        "b.npy",
        "--attrs",
        "scale=0.5",
        "--save",
        "y.npz",
        "--json",
    ]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["outputs"] == {"y": {"shape": [5, 8], "dtype": "float32"}}
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["y"], x * np.float32(0.5) + bias)
    refused = subprocess.run(
        [*command, "--attrs", "no=1"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert "ScaleAdd has the attributes scale, repeat" in refused.stderr


def edited(library: Path, path: str, old: str, new: str) -> str:
    """The operator Square with an edit, in a folder of its own."""
    folder = library / old[:4].strip() / "square"
    shutil.copytree(MATH / "square", folder)
    text = (folder / path).read_text()
    assert old in text
    (folder / path).write_text(text.replace(old, new))
    return str(folder)


def host_fault(path: str) -> Finding:
    """What `check` finds in the host code of an operator."""
    outcomes = operator_check.check(path, soc=SOC).outcomes
    return next(item for one in outcomes for item in one.found if item.kind == "host-code")


def test_check_of_a_path(tmp_path: Path) -> None:
    """`aclgrad check PATH` runs inputs that it makes itself: none is refused or all are."""
    tool = [sys.executable, "-m", "aclgrad", "check"]
    fine = subprocess.run(
        [*tool, str(MATH / "square"), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert fine.returncode == 0, fine.stderr
    assert json.loads(fine.stdout)["findings"] == []
    # What one command has built is there for the others.
    package = operator_build.Builder(locate(MATH / "square"), family_of(SOC)).package
    built = {path: path.stat().st_mtime_ns for path in package.rglob("*.so")}
    operator_call.run(str(MATH / "square"), [[np.ones(64, np.float32)]])
    assert built and built == {path: path.stat().st_mtime_ns for path in package.rglob("*.so")}
    kernel, tiling = "op_kernel/square.cpp", "op_host/square_tiling.cpp"
    faulty = edited(tmp_path, kernel, "DataCopyPad(target, value", "DataCopyPad(target[8], value")
    done = subprocess.run([*tool, faulty], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error[gm-out-of-bounds]" in done.stdout and "square.cpp:23" in done.stdout
    refusing = edited(tmp_path, tiling, "shape.GetDimNum() == 2", "shape.GetDimNum() > 0")
    with pytest.raises(SourcesError, match=r"(?s)took none of \d+ .* x must not be a matrix"):
        operator_check.check(refusing, soc=SOC)
    crashing = edited(tmp_path, tiling, "context->SetTilingKey(0)", "*(volatile int*)nullptr = 0")
    crash = host_fault(crashing)
    assert "crashed: SIGSEGV at address 0x0" in crash.detail
    assert crash.at.file.endswith("/square_tiling.cpp") and crash.at.line > 0
    overrun = (
        "  volatile int64_t sizes[2]; static volatile int most = 60, none = 0, i;"
        " for (i = 0; i < most; i = i + 1) sizes[i] = 0;"
        " context->SetBlockDim(7 / none); context->SetBlockDim"
    )
    crashing = edited(tmp_path / "stack", tiling, "  context->SetBlockDim", overrun)
    text = r"its tiling function crashed: SIG.*; before that it wrote past the end of a local"
    assert re.match(text, host_fault(crashing).detail)
    wild_free = "  volatile uintptr_t wild = 4096; free((void*)wild); context->SetBlockDim"
    crashing = edited(tmp_path, tiling, "  context->SetBlockDim", wild_free)
    with pytest.raises(SourcesError, match="SIGSEGV in aclnnSquareGetWorkspaceSize, inputs x"):
        operator_check.check(crashing, soc=SOC)
    with pytest.raises(SourcesError, match="no kernel whose first input is float16"):
        operator_check.check(refusing, soc=SOC, dtype="float16")


CRASHES = """
#include <cstdlib>
#include "acl/acl.h"
#include "aclnnop/aclnn_square.h"
int main() {
  void* (*volatile allocate)(size_t) = std::malloc;  // the program's own entry if it is no PIE
  aclInit(nullptr);
  aclrtSetDevice(0);
  void* memory = allocate(1);
  aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_NORMAL_ONLY);
  const int64_t dims[] = {4};
  aclTensor* x = aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, memory);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  return aclnnSquareGetWorkspaceSize(x, x, &size, &executor) == 0 ? 1 : 2;
}
"""


@pytest.mark.parametrize("word", ["-no-pie", "-pie"])
def test_a_crash_of_the_allocator_ends_any_program(
    library: Path, toolkit_info: Toolkit, tmp_path: Path, word: str
) -> None:
    """Its lock may be taken. A program at fixed addresses has its own entry for malloc."""
    wild = "  volatile uintptr_t wild = 4096; free((void*)wild); context->SetBlockDim"
    tiling = library / "math" / "square" / "op_host" / "square_tiling.cpp"
    text = tiling.read_text()
    assert "  context->SetBlockDim" in text
    tiling.write_text(text.replace("  context->SetBlockDim", wild))
    built = operator_build.build(tiling.parents[1], soc=SOC, dtypes=["float32"])
    code = "-fPIE" if word == "-pie" else "-fno-pie"
    call(built.package, CRASHES, toolkit_info, tmp_path, word, code, status=-signal.SIGSEGV)


def test_synchronisation_of_the_build(tmp_path: Path) -> None:
    """`aclgrad check PATH` and `run PATH` assume what the project's own build does, and say why."""
    two_steps = "Mul(value, value, value, data.count);\n  Adds"
    folder = edited(
        tmp_path, "op_kernel/square.cpp", "Mul", f"{two_steps}(value, value, 0.0f, data.count); //"
    )
    config = Path(folder).parent / "ascendc_config.json"
    np.save(tmp_path / "x.npy", np.ones(64, np.float32))
    check = [sys.executable, "-m", "aclgrad", "check", folder]
    run = [sys.executable, "-m", "aclgrad", "run", folder, "--inputs", str(tmp_path / "x.npy")]

    def result(command: list[str], *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *words], capture_output=True, text=True, check=False)

    assert "(autosync on: CANN's default, " in result(check).stdout
    config.write_text('[{"name": "Square", "auto_sync": false}]')
    found = result(check)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "error[race-read-after-write]" in found.stdout and "square.cpp:21" in found.stdout
    assert "(autosync off: ascendc_config.json:1 says so of Square on ascend910b)" in found.stdout
    overridden = result(check, "--autosync", "on", "--format", "json")
    assert overridden.returncode == 0
    conditions = json.loads(overridden.stdout)["conditions"]
    assert (conditions["autosync"], conditions["why"]) == ("on", "--autosync")
    found = result(run)
    assert found.returncode == 1
    assert "autosync off: ascendc_config.json:1 says so of Square on ascend910b\n" in found.stderr
    overridden = result(run, "--autosync", "on", "--json")
    assert overridden.returncode == 0
    assert json.loads(overridden.stdout)["autosync"] == {"value": "on", "why": "--autosync"}


@pytest.mark.parametrize(
    ("path", "old", "says"),
    [
        ("op_kernel/square.cpp", "DataCopyPad(target, value", "[hang]"),
        ("op_host/square_tiling.cpp", "context->SetTilingKey(0)", "hangs: an endless loop"),
    ],
)
def test_run_ends_a_hang(tmp_path: Path, path: str, old: str, says: str) -> None:
    """`aclgrad run PATH` fails with the line of a loop that never ends."""
    folder = edited(tmp_path, path, old, f"for (volatile int i = 1; i != 0;) {{}} {old}")
    line = 1 + (Path(folder) / path).read_text().split(old)[0].count("\n")
    np.save(tmp_path / "x.npy", random(4))
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", "run", folder, "--inputs", str(tmp_path / "x.npy")],
        env={**os.environ, "ACLGRAD_SIM_HANG_LIMIT": "0.3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert says in done.stdout + done.stderr
    assert f"{Path(path).name}:{line}" in done.stdout + done.stderr


def test_names() -> None:
    """File stems are CANN's, not the simulator's."""
    assert snake_case("ScaledMaskedSoftmaxGradV2") == "scaled_masked_softmax_grad_v2"
    assert snake_case("AccumulateNV2") == "accumulate_nv2"
    assert locate(MATH / "clip_rows" / "op_kernel").name == "clip_rows"
    with pytest.raises(SourcesError, match="no kernel found"):
        locate(LIBRARY)


@pytest.mark.parametrize(
    ("line", "kind", "name"),
    [
        ("a.h:3:1: fatal error: b/c.h: No such file or directory", "header", "b/c.h"),
        ("a.h:3:1: error: ‘Foo’ was not declared in this scope", "api", "Foo"),
        ("a.h:3:1: error: ‘class X’ has no member named ‘Bar’", "member", "Bar"),
        ("a.h:3:1: error: no matching function for call to ‘Cast(int&)’", "form", "Cast"),
        ("a.h:3:1: error: static assertion failed: Foo is not in this simulator yet", "api", "Foo"),
        ("a.h:3:1: error: static assertion failed: Foo exists on architectures 1, 2", "api", "Foo"),
    ],
)  # fmt: skip
def test_diagnosis(line: str, kind: str, name: str) -> None:
    """The first error of a compile names what it lacks."""
    found = diagnose("a.h: In function:\n" + line)
    assert (found.kind, found.name, found.place) == (kind, name, "a.h:3")


def test_unit_test_with_the_tiling_struct_of_op_host() -> None:
    """A gtest for the CPU twin sees the struct that op_host declares."""
    (test,) = (test for test in find_tests(MATH / "clip_rows") if "tiling" not in test.path.stem)
    try:
        (result,) = gtest.run_file(test, soc=SOC)
    except SourcesError as error:
        if "googletest is not installed" not in str(error):
            raise
        pytest.skip(str(error))
    assert result.ok, result.output
    assert result.verdict.kind == "in the test"


def test_an_output_of_guessed_shape_that_nobody_writes(library: Path) -> None:
    """Without inference nobody knows how much of an output is to be written, but nothing of it is a
    warning.
    """
    folder = library / "math" / "clip_rows"
    kernel = folder / "op_kernel" / "clip_rows.cpp"
    text = kernel.read_text()
    store = "DataCopyPad(target, row, bytes);"
    assert store in text
    assert unwritten(folder) == set()
    kernel.write_text(text.replace(store, ";"))
    assert unwritten(folder) == {"y"}


def unwritten(folder: Path) -> set[str]:
    """Outputs that `aclgrad check` says nobody wrote."""
    checked = operator_check.check(str(folder), soc=SOC, dtype="float32", fast=True)
    found = [item for run in checked.runs(str(folder), SOC) for item in run.findings]
    return {item.buffer for item in found if item.kind == "output-unwritten"}
