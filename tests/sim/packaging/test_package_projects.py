# SPDX-License-Identifier: Apache-2.0
"""Packages of anybody's operator projects: packed, installed, used, upgraded, uninstalled."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from aclgrad.building.build_tools import find_compiler
from aclgrad.ops import all_specs
from aclgrad.runtime import Toolkit
from package_files import clean_environment, good, refused, run

pytestmark = pytest.mark.journey

ROOT = Path(__file__).resolve().parents[3]
PROJECTS = ROOT / "tests/sim/projects"
TBE = "op_impl/ai_core/tbe"

PROGRAM = """\
#include <cstdio>
#include <vector>
#include "acl/acl.h"
#include "aclnnop/aclnn_thrice.h"
#include "aclnnop/aclnn_twice.h"

aclTensor* Make(const std::vector<float>& host, void** memory) {
  const int64_t dims[] = {static_cast<int64_t>(host.size())}, strides[] = {1};
  const size_t bytes = host.size() * sizeof(float);
  aclrtMalloc(memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpy(*memory, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  return aclCreateTensor(dims, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 1, *memory);
}

template <typename First, typename Second>
void Call(First first, Second second, aclTensor* x, aclTensor* y, aclrtStream stream) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const int32_t code = first(x, y, &size, &executor);
  if (code != 0) std::printf("%d %s\\n", code, aclGetRecentErrMsg());
  if (code == 0) second(nullptr, 0, executor, stream);
  aclrtSynchronizeStream(stream);
}

int main() {
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  std::vector<float> in(64, 5.0F), out(64, 0.0F);
  void *a = nullptr, *b = nullptr;
  aclTensor *x = Make(in, &a), *y = Make(out, &b);
  for (const bool twice : {true, false}) {
    if (twice) Call(aclnnTwiceGetWorkspaceSize, aclnnTwice, x, y, stream);
    if (!twice) Call(aclnnThriceGetWorkspaceSize, aclnnThrice, x, y, stream);
    aclrtMemcpy(out.data(), 256, b, 256, ACL_MEMCPY_DEVICE_TO_HOST);
    std::printf("%g %g\\n", out[0], out[63]);
  }
}
"""

# Every name but the operator's is the same in all projects made of this, and means something else.
DEFINITION = """\
#include "register/op_def_registry.h"
namespace ops {
class NAME : public OpDef {
 public:
  explicit NAME(const char* name) : OpDef(name) {
    Input("x").ParamType(REQUIRED).DataType({TYPES}).Format({FORMATS});
    Output("y").ParamType(REQUIRED).DataType({TYPES}).Format({FORMATS});
    AICore().AddConfig("ascend910b").AddConfig("ascend310p");
  }
};
OP_ADD(NAME);
}  // namespace ops
"""
TILING = """\
#include "../op_kernel/scaling_data.h"
#include "register/op_impl_registry.h"
inline float Factor() { static float factor = FACTOR; return factor; }
float SharedFactor() { return Factor(); }
namespace optiling {
ge::graphStatus Tile(gert::TilingContext* context) {
  const uint32_t count = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  *context->GetTilingData<ScalingData>() = ScalingData{count, SharedFactor()};
  context->SetTilingKey(0);
  context->SetBlockDim(1);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(NAME).Tiling(Tile);
ge::graphStatus Infer(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(NAME).InferShape(Infer);
}  // namespace optiling
"""
KERNEL = """\
#include "kernel_operator.h"
#include "scaling_data.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void STEM(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                           GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(ScalingData);
  GET_TILING_DATA(data, tiling);
  GlobalTensor<DTYPE_X> source, target;
  source.SetGlobalBuffer((__gm__ DTYPE_X*)x, data.count);
  target.SetGlobalBuffer((__gm__ DTYPE_X*)y, data.count);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, data.count * sizeof(DTYPE_X));
  LocalTensor<DTYPE_X> value = buffer.Get<DTYPE_X>();
  DataCopy(value, source, data.count);
  PipeBarrier<PIPE_ALL>();
  Muls(value, value, static_cast<DTYPE_X>(data.factor), data.count);
  PipeBarrier<PIPE_ALL>();
  DataCopy(target, value, data.count);
}
"""
DATA = "#pragma once\n#include <cstdint>\nstruct ScalingData { uint32_t count; float factor; };\n"


def write_project(
    folder: Path, name: str, factor: float, types: tuple[str, ...] = ("ge::DT_FLOAT",)
) -> Path:
    """An operator that multiplies by a number."""
    stem = name.lower()
    for file, text in {
        f"op_host/{stem}_def.cpp": DEFINITION,
        f"op_host/{stem}_tiling.cpp": TILING,
        f"op_kernel/{stem}.cpp": KERNEL,
        "op_kernel/scaling_data.h": DATA,
    }.items():
        text = text.replace("NAME", name).replace("STEM", stem).replace("FACTOR", f"{factor:.1f}F")
        text = text.replace("TYPES", ", ".join(types))
        text = text.replace("FORMATS", ", ".join("ge::FORMAT_ND" for _ in types))
        (folder / stem / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / stem / file).write_text(text)
    return folder / stem


def command(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run aclgrad as its users do."""
    return subprocess.run(
        [sys.executable, "-m", "aclgrad", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=600,
        env=clean_environment(COLUMNS="200", **environment),
    )


@pytest.fixture(scope="module")
def cache(operator_cache: Path) -> str:
    """The cache, which calls here name as they have no other variable of ours."""
    return str(operator_cache)


@pytest.fixture(scope="module")
def library(toolkit_info: Toolkit) -> str:
    """Where the toolkit's libraries are."""
    return str(toolkit_info.library_dir)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two projects with the same names in them."""
    folder = tmp_path_factory.mktemp("two")
    write_project(folder, "Twice", 2, ("ge::DT_FLOAT", "ge::DT_FLOAT16"))
    write_project(folder, "Thrice", 3)
    return folder


@pytest.fixture(scope="module")
def two(sources: Path, cache: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Both in one package."""
    done = command(
        *("package", sources / "twice", sources / "thrice", "--vendor", "mine", "--json"),
        *("-o", tmp_path_factory.mktemp("dist"), "--package-version", "1.2"),
        ACLGRAD_CACHE=cache,
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert isinstance(made, dict)
    return made


def test_two_projects_in_one_package(
    two: dict[str, object], library: str, sources: Path, cache: str, tmp_path: Path
) -> None:
    """Installed, every file is there, nothing says where it was built, a program finds both."""
    assert two["vendor"] == "mine" and two["version"] == "1.2"
    assert two["socs"] == ["ascend910b", "ascend310p"]
    assert two["operators"] == ["Thrice", "Twice"] and two["untested"] == {}
    script = Path(str(two["path"]))
    target = tmp_path / "opp"
    out = good(script, f"--install-path={target}", LD_LIBRARY_PATH=library)
    for name in ("Twice", "Thrice"):
        assert f"self-test: aclnn{name} ok, compared with the run of whoever packed it" in out
    assert "not released" not in out
    folder = target / "vendors/mine"
    kernels = {path.name for path in folder.glob(f"{TBE}/kernel/*/*/*")}
    assert kernels == {
        "Twice_float32_float32.so",
        "Twice_float16_float16.so",
        "Thrice_float32_float32.so",
    }
    here = [str(path).encode() for path in (sources, cache, ROOT)]
    for path in folder.rglob("*"):
        if path.is_file():
            assert not [name for name in here if name in path.read_bytes()], path
            assert path.suffix not in (".made", ".lock", ".d", ".part"), path
    for soc in ("ascend910b", "ascend310p"):
        info = json.loads((folder / f"{TBE}/config/{soc}/aic-{soc}-ops-info.json").read_text())
        assert set(info) == {"Twice", "Thrice"}
        assert info["Twice"]["input0"]["dtype"] == "float32,float16"
        assert info["Twice"]["opFile"]["value"] == "twice"
    proto = (folder / "op_proto/inc/op_proto.h").read_text()
    assert "REG_OP(Twice)\n    .INPUT(x, ge::TensorType::ALL())" in proto

    source, program = tmp_path / "program.cpp", tmp_path / "program"
    source.write_text(PROGRAM)
    include = [f"-I{folder}/op_api/include", f"-I{Path(library).parent}/include"]
    libraries = [f"-L{folder}/op_api/lib", f"-L{library}"]
    words = ["-lcust_opapi", "-lnnopbase", "-lascendcl", "-o", str(program)]
    subprocess.run([str(find_compiler()), str(source), *include, *libraries, *words], check=True)
    set_up = f"export LD_LIBRARY_PATH={library}; source {folder}/bin/set_env.bash; "
    for soc in ("Ascend910B2", "Ascend310P3"):
        done = subprocess.run(
            ["bash", "-c", f"{set_up} {program}"],
            capture_output=True,
            text=True,
            env=clean_environment(ACLGRAD_SOC=soc),
        )
        assert done.stdout == "10 10\n15 15\n", done.stdout + done.stderr
    seen = command("doctor", ASCEND_CUSTOM_OPP_PATH=str(folder))
    assert str(folder) in seen.stdout


def test_upgrade_and_uninstall(
    two: dict[str, object], sources: Path, cache: str, tmp_path: Path
) -> None:
    script, target = Path(str(two["path"])), tmp_path / "opp"
    good(script, f"--install-path={target}")
    words = ["package", sources / "twice", "--vendor", "mine", "--soc", "Ascend910B2"]
    for version in ("1.10", "1.1"):
        done = command(
            *words, "--package-version", version, "-o", tmp_path / version, ACLGRAD_CACHE=cache
        )
        assert done.returncode == 0, done.stderr
        assert "compares Twice with today's run" in done.stdout
    newer, older = (tmp_path / name / script.name for name in ("1.10", "1.1"))
    assert "replaced mine 1.2 by 1.10" in good(newer, f"--install-path={target}", "--upgrade")
    assert not list(target.rglob("Thrice*")) and not list(target.rglob("ascend310p"))
    refused(older, f"--install-path={target}", "--upgrade", match="is newer than 1.1")
    done = run(target / "vendors/mine/scripts/uninstall.sh")
    assert done.returncode == 0 and not target.exists()


def test_every_kind_of_argument(cache: str, library: str, tmp_path: Path) -> None:
    """Lists of tensors, optional inputs, lists of numbers, flags: all are in the self-test."""
    names = ("square", "scale_add", "clip_rows", "column_totals", "list_scale")
    words = [PROJECTS / "math" / name for name in names]
    done = command("package", *words, "-o", tmp_path, "--json", ACLGRAD_CACHE=cache)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["vendor"] == "customize" and made["untested"] == {}
    out = good(Path(made["path"]), f"--install-path={tmp_path}/opp", LD_LIBRARY_PATH=library)
    assert out.count(" ok, compared with the run") == len(names)
    text = (tmp_path / "opp/vendors/customize/op_proto/inc/op_proto.h").read_text()
    assert ".DYNAMIC_INPUT(x, " in text and ".OPTIONAL_INPUT(bias, " in text
    assert ".REQUIRED_ATTR(limits, ListFloat)" in text and ".ATTR(scale, Float, 2.0)" in text


def test_a_project_with_a_golden(cache: str, library: str, tmp_path: Path) -> None:
    """What ``aclgrad new`` makes: the self-test compares with the golden, which packing has done
    before; and a build leaves what editors need.
    """
    project = tmp_path / "halve"
    done = command("new", "halve", project, ACLGRAD_CACHE=cache)
    assert done.returncode == 0, done.stderr
    words = ["package", project, "--soc", "Ascend910B2", "--json", "-o", tmp_path]
    done = command(*words, ACLGRAD_CACHE=cache)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["without_golden"] == [] and made["untested"] == {}
    out = good(Path(made["path"]), f"--install-path={tmp_path}/opp", LD_LIBRARY_PATH=library)
    assert "self-test: aclnnHalve ok\n" in out
    assert not (project / "compile_commands.json").exists()
    golden = project / "halve_golden.py"
    text = golden.read_text()
    assert text.count("    return ") >= 1
    golden.write_text(text.replace("    return ", "    return 3 + ", 1))
    done = command(*words, ACLGRAD_CACHE=cache)
    assert done.returncode == 1 and "Halve: kernel and golden differ in " in done.stderr
    assert f"Next: aclgrad test {project}" in done.stderr
    assert command("build", project, ACLGRAD_CACHE=cache).returncode == 0
    assert (project / "compile_commands.json").is_file()


@pytest.mark.plants_faults
def test_self_test_sees_a_wrong_result(
    two: dict[str, object], library: str, tmp_path: Path
) -> None:
    """The kernel of one operator in the other's place."""
    good(Path(str(two["path"])), f"--install-path={tmp_path}/opp")
    folder = tmp_path / "opp/vendors/mine"
    tiling = next(folder.glob(f"{TBE}/op_tiling/lib/linux/*/*.so"))
    data = tiling.read_bytes()
    three = b"\x00\x00\x40\x40"
    assert three in data
    tiling.write_bytes(data.replace(three, b"\x00\x00\x80\x40"))
    environment = clean_environment(LD_LIBRARY_PATH=library, ASCEND_CUSTOM_OPP_PATH=str(folder))
    done = subprocess.run(
        [str(folder / "bin/self_test")], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 1 and "aclnnThrice: element 0 is " in done.stdout


def test_what_cannot_be_packed_is_named(sources: Path, cache: str, tmp_path: Path) -> None:
    other = write_project(tmp_path / "other", "Twice", 7)

    def refuse(*words: object) -> str:
        done = command("package", *words, "-o", tmp_path / "none", ACLGRAD_CACHE=cache)
        assert done.returncode == 1 and "Next: " in done.stderr, done.stdout + done.stderr
        assert "Traceback" not in done.stderr and not (tmp_path / "none").exists()
        return done.stderr

    twice = sources / "twice"
    text = refuse(twice, other)
    assert f"{twice} and {other} both define the operator Twice" in text
    assert "are the same folder" in refuse(twice, twice / "op_host")
    assert "softmax_grad: not a path" in refuse(twice, "softmax_grad")
    assert "its definition has ascend310p, ascend910b" in refuse(twice, "--soc", "Ascend910A")
    assert "no such file" in refuse(tmp_path / "nothing")
    assert "--device npu" in refuse(twice, "--device", "npu")
    assert "version: got 'new'" in refuse(twice, "--package-version", "new")
    (tmp_path / "alone.cpp").write_text(KERNEL)
    assert "has no definition" in refuse(tmp_path / "alone.cpp")


def test_from_any_vendor_folder(
    two: dict[str, object], sources: Path, library: str, cache: str, tmp_path: Path
) -> None:
    """What is installed, or what a build left, is packed as it is, whatever it holds."""
    good(Path(str(two["path"])), f"--install-path={tmp_path}/opp")
    folder = tmp_path / "opp/vendors/mine"
    done = command(
        "package", "--from", folder, "--vendor", "theirs", "-o", tmp_path / "a", "--json"
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["operators"] == ["Thrice", "Twice"]
    out = good(Path(made["path"]), f"--install-path={tmp_path}/b", LD_LIBRARY_PATH=library)
    assert "self-test: aclnnTwice ok" in out and "self-test: aclnnThrice ok" in out
    kernel = next(folder.glob(f"{TBE}/kernel/ascend310p/thrice/*.so"))
    kernel.unlink()
    done = command("package", "--from", folder, "-o", tmp_path / "c")
    assert done.returncode == 1 and f"{kernel.name} is missing (1 kernels" in done.stderr
    done = command("build", sources / "thrice", ACLGRAD_CACHE=cache)
    built = done.stdout.partition("ASCEND_CUSTOM_OPP_PATH=")[2].partition(";")[0]
    done = command("package", "--from", built, "-o", tmp_path / "d", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["operators"] == ["Thrice"], done.stderr


def test_our_folder_is_packed_as_our_own(toolkit_info: Toolkit, tmp_path: Path) -> None:
    """Of this project's vendor folder the functions are the specs', and so are the goldens."""
    folder = toolkit_info.opapi.parents[2]
    words = ["--soc", "Ascend310P3", "--json", "-o"]
    done = command("package", "--from", folder, *words, tmp_path / "a")
    assert done.returncode == 0, done.stderr
    again = command("package", *words, tmp_path / "b", "--vendor", "aclgrad")
    assert json.loads(done.stdout)["sha256"] == json.loads(again.stdout)["sha256"]
    assert json.loads(done.stdout)["operators"] == [
        name for spec in all_specs() for name in (spec.op_type, *spec.further_types)
    ]
