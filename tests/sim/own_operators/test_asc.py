# SPDX-License-Identifier: Apache-2.0
"""Kernels and host code in one file (.asc), and kernels alone: a user's files, built and run."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import commands
from aclgrad.reading.sources import SourcesError
from aclgrad.running import kernel_file
from aclgrad.runtime import Device
from aclgrad.spec.soc import family_of
from sanitizers import RUNS_CMAKE

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "scripts"))

from example_folders import ExampleRun, read_example, run_example  # noqa: E402

LIBRARY = Path(__file__).parents[1] / "projects"
EXAMPLE = LIBRARY / "asc_example"
MATMUL = ROOT / "examples/asc_kernel/matmul.asc"
SOC = "Ascend910B2"
TOOL = [sys.executable, "-m", "aclgrad"]

PROGRAM = """\
#include <cstdio>
#include "acl/acl.h"
#include "kernel_operator.h"

__global__ __aicore__ void fill(GM_ADDR out, int32_t value) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 64);
  AscendC::LocalTensor<int32_t> values = buffer.Get<int32_t>();
  AscendC::Duplicate(values, value, 16);
  AscendC::GlobalTensor<int32_t> target;
  target.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out));
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::DataCopy(target[16 * AscendC::GetBlockIdx()], values, 16);
}

int main(int argc, char** argv) {
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  uint8_t* out = nullptr;
  aclrtMalloc(reinterpret_cast<void**>(&out), 128, ACL_MEM_MALLOC_HUGE_FIRST);
  fill<<<argc, nullptr, stream>>>(out, 7);
  const aclError error = aclrtSynchronizeStream(stream);
  std::printf("%s on %s: %d\\n", argc > 1 ? argv[1] : "", aclrtGetSocName(), error);
  return argc > 2 ? 9 : 0;
}
"""

TAKEN_BEFORE = """\
#define __aicore__ [aicore]
#define EVENT_ID0 0
"""
TAKEN = """\
#define BOTH __forceinline__[host, aicore]
enum class Kind : uint8_t { ZERO, ONE };
template <typename T>
struct Ways {
  static constexpr uint32_t kEvent = EVENT_ID0;
  static constexpr bool Kind = T::kind == Kind::ONE;
  BOTH constexpr static int32_t Of(int32_t value) { return Kind ? value + kEvent : 0; }
};
struct One { static constexpr auto kind = Kind::ONE; };
__aicore__ inline int32_t Way(int32_t value) { return Ways<One>::Of(value); }

"""
KERNEL = """\
#include "kernel_operator.h"
using namespace AscendC;

struct Sizes {
  uint32_t count;
  uint16_t unused;
  float scale;
};

__global__ __aicore__ void scaled(__gm__ float* x, __gm__ float* y, GM_ADDR workspace,
                                  GM_ADDR tiling) {
  GET_TILING_DATA_WITH_STRUCT(Sizes, sizes, tiling);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, sizes.count * sizeof(float));
  LocalTensor<float> values = buffer.Get<float>();
  GlobalTensor<float> in, out, spare;
  const uint32_t at = GetBlockIdx() * sizes.count;
  in.SetGlobalBuffer(x + at, sizes.count);
  out.SetGlobalBuffer(y + at, sizes.count);
  spare.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(workspace) + at, sizes.count);
  DataCopy(values, in, sizes.count);
  PipeBarrier<PIPE_ALL>();
  Muls(values, values, sizes.scale, sizes.count);
  PipeBarrier<PIPE_ALL>();
  DataCopy(spare, values, sizes.count);
  DataCopy(out, values, sizes.count);
}
"""


@pytest.fixture(scope="module", autouse=True)
def simulator(session_device: Device) -> None:
    """What is built runs there."""
    assert session_device.kind == "sim"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that stays, so that a file is compiled once."""
    return tmp_path_factory.mktemp("asc")


@pytest.fixture(scope="module")
def program(sources: Path) -> Path:
    """One program for all tests of the command line."""
    source = sources / "fill.asc"
    source.write_text(PROGRAM)
    return source


@pytest.fixture(scope="module")
def kernel(sources: Path) -> Path:
    """One kernel file for all tests."""
    source = sources / "scaled.cpp"
    source.write_text(KERNEL)
    return source


def tool(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line, as a user types it."""
    return commands.run(*words, environment=environment)


def ascc(*words: object) -> subprocess.CompletedProcess[str]:
    """The compiler alone."""
    from aclgrad.runtime.toolkit import sim_root

    command = [str(kernel_file.compiler(sim_root())), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# -- example folders, through CMake ---------------------------------------------------------------


@RUNS_CMAKE
def test_every_form_of_a_launch(tmp_path: Path) -> None:
    """Templates, headers, macros and expressions launch; comments, strings and operators do not."""
    outcome = run_example(EXAMPLE, "1", work=tmp_path)
    assert outcome == ExampleRun("asc_example", "1", "dav-2201", built=True, ran=True, matched=True)
    again = subprocess.run(
        ["cmake", "--build", str(tmp_path / "build")], capture_output=True, text=True, check=True
    )
    assert "no work to do" in again.stdout
    commands = subprocess.run(
        ["ninja", "-C", str(tmp_path / "build"), "-t", "deps"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(EXAMPLE / "add.h") in commands.stdout


@RUNS_CMAKE
def test_race_names_the_line() -> None:
    outcome = run_example(EXAMPLE, "2")
    assert outcome.built and not outcome.ran and not outcome.clean
    assert "status 507035" in outcome.why
    found = [one for one in outcome.findings if one["kind"] == "race-read-after-write"]
    line = next(
        number
        for number, text in enumerate((EXAMPLE / "add.h").read_text().splitlines(), 1)
        if "Adds(" in text
    )
    assert [(Path(one["at"]["file"]).name, one["at"]["line"]) for one in found][0] == (
        "add.h",
        line,
    )


@RUNS_CMAKE
def test_wrong_numbers_and_other_architectures() -> None:
    wrong = run_example(EXAMPLE, "3")
    assert wrong.built and wrong.ran and wrong.clean and not wrong.matched
    assert wrong.why == "7168 of 7168 values are wrong"
    other = run_example(EXAMPLE, "4")
    assert not other.applies and not other.built
    assert other.why == "SCENARIO_NUM=4 only supports dav-3510, not dav-2201"
    nowhere = run_example(EXAMPLE, "1", arch="dav-1001")
    assert not nowhere.applies and nowhere.why == "its project is for dav-2201, dav-3510"


def test_page_of_an_example(tmp_path: Path) -> None:
    example = read_example(EXAMPLE)
    assert example.scenarios == ("1", "2", "3", "4")
    assert example.program == "./demo 7"
    assert example.prepare == ("python3 ../scripts/gen_data.py -scenarioNum=$SCENARIO_NUM",)
    with pytest.raises(SourcesError, match=r"no README\.md, so it is no example folder"):
        read_example(tmp_path)


@pytest.mark.parametrize(
    ("page", "scenarios"),
    [
        ("| `SCENARIO_NUM`      | `1`、`2` | scenario |", ("1", "2")),
        ("### SCENARIO_NUM=2\n### SCENARIO_NUM=1, not SCENARIO_NUM=1", ("1", "2")),
        ("", (None,)),
    ],
)
def test_scenarios_of_the_page_alone(
    tmp_path: Path, page: str, scenarios: tuple[str | None, ...]
) -> None:
    """In a table with padding, or in the text; the project only takes the number."""
    (tmp_path / "CMakeLists.txt").write_text("add_definitions(-DSCENARIO_NUM=${SCENARIO_NUM})\n")
    run = "./demo\npython3 ../scripts/verify_result.py ${SCENARIO_NUM}\n"
    (tmp_path / "README.md").write_text(f"{page}\n{run}")
    assert read_example(tmp_path).scenarios == scenarios


def test_output_that_a_page_keeps(tmp_path: Path) -> None:
    """A file beside the program gets its output, for the script that verifies it."""
    (tmp_path / "CMakeLists.txt").write_text("project(demo)\n")
    run = "./demo 1 2>&1 | tee run.log\npython3 ../scripts/verify_result.py run.log\n"
    (tmp_path / "README.md").write_text(run)
    example = read_example(tmp_path)
    assert (example.program, example.log) == ("./demo 1", "run.log")
    assert read_example(EXAMPLE).log is None


def test_products_without_tensorflow() -> None:
    """Scripts that ask tensorflow for a product get one in float32."""
    text = """\
import numpy as np, tensorflow as tf
tf.compat.v1.disable_eager_execution()
a = tf.compat.v1.placeholder(np.float32, shape=(2, 3))
b = tf.compat.v1.placeholder(np.float32, shape=(4, 3))
fed = {a: np.ones((2, 3)), b: np.full((4, 3), 2)}
with tf.compat.v1.Session() as session:
    got = session.run(tf.matmul(a, b, transpose_b=True), feed_dict=fed)
    print(got.dtype, got.tolist())
    print(session.run(tf.add(b, b), feed_dict=fed).tolist()[0])
    print(tf.bfloat16.as_numpy_dtype(1.0))
"""
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=ROOT / "scripts" / "stand_ins",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "float32 [[6.0, 6.0, 6.0, 6.0], [6.0, 6.0, 6.0, 6.0]]", "[4.0, 4.0, 4.0]", "1",
    ]  # fmt: skip


# -- the compiler ----------------------------------------------------------------------------


def test_architecture_that_does_not_exist() -> None:
    done = ascc("--npu-arch=dav-1234", "-c", "x.asc")
    assert done.returncode == 1
    assert done.stderr == (
        "ascc: error: --npu-arch: got 'dav-1234', want one of dav-1001, dav-2002, dav-2201,"
        " dav-3002, dav-3510. Next: --npu-arch=dav-2201\n"
    )


@pytest.mark.parametrize(
    ("launch", "what"),
    [
        ("kernel<<<1, 0, s>>>;", "no >>>(arguments) behind <<<"),
        ("kernel<<<1, 0, s>> >(x);", None),
        ("(1 + 2)<<<1, 0, s>>>(x);", "no kernel before <<<"),
        ("a >= b><<<1, 0, s>>>(x);", "the kernel's template arguments have no beginning"),
    ],
)
def test_launch_that_cannot_be_read(tmp_path: Path, launch: str, what: str | None) -> None:
    source = tmp_path / "broken.asc"
    source.write_text(
        f"void kernel(int);\nvoid f(void* s, int x, int a, int b) {{\n  {launch}\n}}\n"
    )
    done = ascc("-E", source)
    if what is None:
        assert done.returncode == 0 and ".On(1, 0, s)(x);" in done.stdout
        return
    assert done.returncode == 1
    assert f"{source}:3: error: kernel launch: {what}" in done.stderr


def test_words_of_the_device_compiler(tmp_path: Path) -> None:
    refused = ascc("--enable-simt", "x.asc")
    assert refused.returncode == 1 and "--enable-simt is not supported" in refused.stderr
    mode = ascc("--run-mode=fpga", "x.asc")
    assert mode.returncode == 1 and "got 'fpga', want npu, cpu or sim" in mode.stderr
    missing = ascc("--npu-arch")
    assert missing.returncode == 1 and "its value is missing" in missing.stderr
    source = tmp_path / "mode.asc"
    source.write_text(
        "arch __NPU_ARCH__ core __CCE_AICORE__\n#ifdef ASCENDC_CPU_DEBUG\ntwin\n#endif\n"
    )
    out = ascc("-E", "--run-mode", "cpu", "--npu-arch", "dav-2002", source).stdout
    assert "arch 2002 core 200" in out and "twin" in out


def test_what_the_device_compiler_takes(tmp_path: Path) -> None:
    """Its attributes, names that are macros before, a member with the name of a type, and void*."""
    source = tmp_path / "taken.asc"
    text = PROGRAM.replace("#include <cstdio>", TAKEN_BEFORE + "#include <cstdio>", 1)
    text = text.replace("__global__", TAKEN + "__global__", 1).replace(
        "value, 16", "Way(value), 16"
    )
    source.write_text(text.replace("(out, 7)", "(static_cast<void*>(out), 7)"))
    ran = tool("run", source)
    assert (ran.returncode, ran.stdout.strip()) == (0, f"on {SOC}: 0"), ran.stdout + ran.stderr
    source.write_text(text.replace("int32_t Way(", "undeclared Way("))
    refused = ascc("-c", source, "-o", tmp_path / "taken.o")
    assert refused.returncode == 1 and "undeclared" in refused.stderr


# -- aclgrad build and run -------------------------------------------------------------------


def test_program_from_the_command_line(program: Path) -> None:
    built = tool("build", program)
    assert built.returncode == 0, built.stderr
    assert os.access(built.stdout.removeprefix("built ").strip(), os.X_OK)
    ran = tool("run", program, "--", "one")
    assert (ran.returncode, ran.stdout) == (0, "one on Ascend910B2: 0\n")
    assert tool("run", program, "--", "a", "--dtype").returncode == 9


def test_program_with_a_fault(program: Path) -> None:
    """The third block writes behind the memory."""
    ran = tool("run", program, "--", "a", "b")
    assert ran.returncode == 9
    assert ran.stdout == "a on Ascend910B2: 507035\nfill.asc: 1 errors found\n"
    line = next(at for at, text in enumerate(PROGRAM.splitlines(), 1) if "DataCopy" in text)
    assert f"{program}:{line}" in ran.stderr and "gm-out-of-bounds" in ran.stderr
    document = json.loads(tool("run", program, "--json", "--", "a", "b").stdout)
    assert document["status"] == 9 and "gm-out-of-bounds" in document["findings"][0]


@pytest.mark.parametrize("soc", [SOC, "Ascend950PR_9599"])
def test_products_on_cube_cores(soc: str) -> None:
    """Ragged M, N and K on five cores, against products that the program sums in double."""
    ran = tool("run", MATMUL, "--soc", soc)
    assert (ran.returncode, ran.stdout) == (0, "5 products are right\n"), ran.stderr
    # Flags that order nothing in the first launch do so in later ones.
    assert "hint" not in ran.stderr
    assert json.loads(tool("run", MATMUL, "--json", "--soc", soc).stdout)["hints"]


GELU = MATMUL.with_name("matmul_gelu.asc")


@pytest.mark.parametrize("soc", [SOC, "Ascend950PR_9599"])
@pytest.mark.parametrize("threads", ["1", "5"])
def test_mix_example(threads: str, soc: str) -> None:
    """AICs multiply, AIVs go on with that, at ragged M, N and K."""
    ran = tool("run", GELU, "--soc", soc, ACLGRAD_SIM_THREADS=threads)
    assert (ran.returncode, ran.stdout) == (0, "5 layers are right\n"), ran.stderr


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("AscendC::CrossCoreSetFlag<2, PIPE_FIX>(kMade);", "", "deadlock"),
        (
            "CrossCoreSetFlag<2, PIPE_FIX>(kMade)",
            "CrossCoreSetFlag<2, PIPE_M>(kMade)",
            "gm-conflict",
        ),
        ("AscendC::CrossCoreWaitFlag(kMade);", "", "gm-conflict"),
        (
            "CrossCoreSetFlag<2, PIPE_MTE2>(kRead)",
            "CrossCoreSetFlag<2, PIPE_V>(kRead)",
            "gm-conflict",
        ),
        ("if (made >= kSlots) AscendC::CrossCoreWaitFlag(kRead);", "", "gm-conflict"),
        ("__mix__(1, 2)", "__mix__(1, 3)", "an AI core has one AIC and two AIVs"),
    ],
    ids=["no-set", "other-pipe", "no-wait", "answer-by-other-pipe", "no-reverse", "three-aivs"],
)
def test_mix_faults(old: str, new: str, said: str, sources: Path) -> None:
    text = GELU.read_text()
    assert text.count(old) == 1
    source = sources / "gelu.asc"
    source.write_text(text.replace(old, new))
    ran = tool("run", source)
    assert ran.returncode == 1
    assert said in ran.stderr, ran.stderr


KINDS = """\
#include <cstdio>
#include "acl/acl.h"
#include "kernel_operator.h"

using Words = AscendC::GlobalTensor<int64_t>;

// The kind of each core, AICs first.
static __aicore__ inline void Tell(GM_ADDR out, int64_t cubes, int64_t add) {
  Words words;
  words.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(out));
  const int64_t at = 8 * (AscendC::GetBlockIdx() + (g_coreType == AscendC::AIC ? 0 : cubes));
  words.SetValue(at, g_coreType + add);
  AscendC::DataCacheCleanAndInvalid<int64_t, AscendC::CacheLine::SINGLE_CACHE_LINE>(words[at]);
}
__global__ __vector__ void vectors(GM_ADDR out) { Tell(out, 0, 0); }
__global__ __cube__ void cubes(GM_ADDR out) { Tell(out, 0, 0); }
__global__ __mix__(1, 1) void pairs(GM_ADDR out) { Tell(out, AscendC::GetBlockNum(), 0); }
template <typename T>
__global__ __mix__(1, 2) void groups(GM_ADDR out, T add, uint64_t fftsAddr) {
  AscendC::SetSyncBaseAddr(fftsAddr);
  Tell(out, AscendC::GetBlockNum(), static_cast<int64_t>(add));
  AscendC::SyncAll<false>();
}

static int began = [] { return std::printf("host code runs once\\n"); }();

template <typename T>
static void Launch(uint8_t* out, T add, aclrtStream stream) {
  void* address = nullptr;
  aclrtGetHardwareSyncAddr(&address);
  groups<T><<<2, nullptr, stream>>>(out, add, reinterpret_cast<uint64_t>(address));
}

int main() {
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  uint8_t* out = nullptr;
  aclrtMalloc(reinterpret_cast<void**>(&out), 6 * 64, ACL_MEM_MALLOC_HUGE_FIRST);
  for (int i = 0; i < 5; ++i) {
    int64_t words[48] = {};
    aclrtMemcpy(out, 384, words, 384, ACL_MEMCPY_HOST_TO_DEVICE);
    if (i == 0) vectors<<<2, nullptr, stream>>>(out);
    if (i == 1) cubes<<<2, nullptr, stream>>>(out);
    if (i == 2) pairs<<<2, nullptr, stream>>>(out);
    if (i == 3) Launch(out, 10, stream);
    if (i == 4) Launch(out, 20.0f, stream);
    if (aclrtSynchronizeStream(stream) != 0) return 1;
    aclrtMemcpy(words, 384, out, 384, ACL_MEMCPY_DEVICE_TO_HOST);
    for (int j = 0; j < 6; ++j) std::printf("%d ", static_cast<int>(words[8 * j]));
    std::printf("\\n");
  }
  aclrtFree(out);
  return began > 0 ? 0 : 1;
}
"""
KINDS_SAY = """\
host code runs once
2 2 0 0 0 0 
1 1 0 0 0 0 
1 1 2 2 0 0 
11 11 12 12 12 12 
21 21 22 22 22 22 
"""


def test_kernels_of_all_kinds_in_one_program(sources: Path) -> None:
    """Each launch runs on the cores that its kernel's words say; two files have functions of one
    name.
    """
    source = sources / "kinds.asc"
    source.write_text(KINDS)
    ran = tool("run", source)
    assert (ran.returncode, ran.stdout) == (0, KINDS_SAY), ran.stderr


# Only what these kernels do says on which cores they run. A is in UB, and goes by the
# workspace.
DERIVED = """\
#include <cstdio>
#include <vector>
#include "acl/acl.h"
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
using namespace AscendC;

constexpr int kM = 31, kN = 40, kK = 45, kPitch = 48;
template <TPosition position, typename T>
using At = MatmulType<position, CubeFormat::ND, T>;

__global__ __aicore__ void product(GM_ADDR, GM_ADDR, GM_ADDR, __kfc_workspace__ GM_ADDR, GM_ADDR);
__global__ __aicore__ void product(GM_ADDR a, GM_ADDR b, GM_ADDR c, @mark@ workspace,
                                   GM_ADDR tilingGm) {
  TPipe pipe;
  TCubeTiling tiling = *reinterpret_cast<__gm__ TCubeTiling*>(tilingGm);
  Matmul<At<TPosition::VECOUT, half>, At<TPosition::GM, half>, At<TPosition::GM, float>> mm;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
  if (GetBlockIdx() > 0) {
    return;
  }
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, kM * kPitch * sizeof(half));
  LocalTensor<half> x = buffer.Get<half>();
  GlobalTensor<half> left, right;
  GlobalTensor<float> to;
  left.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a), kM * kK);
  right.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b), kK * kN);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c), kM * kN);
  DataCopyPad(x, left, DataCopyExtParams(kM, kK * sizeof(half), 0, 0, 0),
              DataCopyPadExtParams<half>(false, 0, 0, 0));
  mm.SetTensorA(x);
  mm.SetTensorB(right);
  mm.IterateAll(to);
  mm.End();
}
__global__ __aicore__ void vectors(GM_ADDR out) {
  GlobalTensor<float> word;
  word.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(out));
  word.SetValue(GetBlockIdx() * 16, g_coreType == AIV ? 1.0f : -1.0f);
  DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(word[GetBlockIdx() * 16]);
}

int main() {
  aclrtSetDevice(0);
  TCubeTiling tiling{};
  tiling.usedCoreNum = 1, tiling.M = kM, tiling.N = kN, tiling.Ka = tiling.Kb = kK;
  tiling.singleCoreM = kM, tiling.singleCoreN = kN, tiling.singleCoreK = kK;
  tiling.baseM = 32, tiling.baseN = 48, tiling.baseK = 48;
  tiling.depthA1 = tiling.depthB1 = tiling.stepM = tiling.stepN = 1;
  tiling.stepKa = tiling.stepKb = tiling.dbL0A = tiling.dbL0B = tiling.dbL0C = 1;
  std::vector<half> a(kM * kK), b(kK * kN);
  for (int i = 0; i < kM * kK; ++i) a[i] = half(float(i % 7 - 3));
  for (int i = 0; i < kK * kN; ++i) b[i] = half(float(i % 5 - 2));
  const auto put = [](const void* from, size_t bytes) {
    void* to = nullptr;
    aclrtMalloc(&to, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    if (from != nullptr) aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    return static_cast<uint8_t*>(to);
  };
  std::vector<float> c(kM * kN);
  uint8_t* to = put(c.data(), c.size() * 4);
  uint8_t* from[] = {put(a.data(), a.size() * 2), put(b.data(), b.size() * 2),
                     put(nullptr, 16 << 20), put(&tiling, sizeof(tiling))};
  product<<<1, nullptr, nullptr>>>(from[0], from[1], to, from[2], from[3]);
  if (aclrtSynchronizeStream(nullptr) != 0) return 1;
  aclrtMemcpy(c.data(), c.size() * 4, to, c.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
  for (int i = 0; i < kM * kN; ++i) {
    float want = 0;
    for (int k = 0; k < kK; ++k) {
      want += float(a[i / kN * kK + k]) * float(b[k * kN + i % kN]);
    }
    if (c[i] != want) return 2;
  }
  vectors<<<2, nullptr, nullptr>>>(to);
  if (aclrtSynchronizeStream(nullptr) != 0) return 3;
  aclrtMemcpy(c.data(), 128, to, 128, ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf("right, and on vector cores: %g %g\\n", c[0], c[16]);
  return 0;
}
"""


@pytest.mark.parametrize("mark", ["__kfc_workspace__ GM_ADDR", "GM_ADDR __kfc_workspace__"])
def test_cores_by_what_a_kernel_does(mark: str, sources: Path) -> None:
    """A kernel without a mark whose vector cores call Matmul has both kinds; the next one has
    not.
    """
    source = sources / "derived.asc"
    source.write_text(DERIVED.replace("@mark@", mark))
    ran = tool("run", source)
    said = "right, and on vector cores: 1 1\n"
    assert (ran.returncode, ran.stdout) == (0, said), ran.stderr


# Code for one kind of cores that is not in the text for the other one. Host code that a library
# exports is none of a kernel's.
BRANCHES = """\
#include <cstdio>
#include <optional>
#include <vector>
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;

class __attribute__((__visibility__("default"))) Exported {
 public:
  virtual ~Exported() = default;
  std::optional<int> Value() const { return std::vector<int>{7}.back(); }
};

__global__ __aicore__ void product(GM_ADDR a, GM_ADDR c) {
#ifdef __DAV_CUBE__
  TPipe pipe;
  TBuf<TPosition::A1> l1;
  TBuf<TPosition::A2> l0a;
  TBuf<TPosition::B2> l0b;
  TBuf<TPosition::CO1> l0c;
  pipe.InitBuffer(l1, 512);
  pipe.InitBuffer(l0a, 512);
  pipe.InitBuffer(l0b, 512);
  pipe.InitBuffer(l0c, 1024);
  GlobalTensor<half> from;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a), 256);
  GlobalTensor<float> to;
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c), 256);
  LocalTensor<half> both = l1.Get<half>(), left = l0a.Get<half>(), right = l0b.Get<half>();
  LocalTensor<float> sums = l0c.Get<float>();
  DataCopy(both, from, 256);
  PipeBarrier<PIPE_ALL>();
  LoadData2DParams load;
  load.repeatTimes = 1;
  LoadData(left, both, load);
  LoadData(right, both, load);
  PipeBarrier<PIPE_ALL>();
  Mmad(sums, left, right, MmadParams(16, 16, 16, 0, false, true));
  PipeBarrier<PIPE_ALL>();
  FixpipeParamsV220 out(16, 16, 16, 16, false);
  Fixpipe<float, float, CFG_ROW_MAJOR>(to, sums, out);
  PipeBarrier<PIPE_ALL>();
  CrossCoreSetFlag<2, PIPE_FIX>(3);
#else
  CrossCoreWaitFlag(3);
  if (GetSubBlockIdx() == 0) {
    GlobalTensor<float> of;
    of.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c), 256);
    TPipe pipe;
    TBuf<TPosition::VECCALC> ub;
    pipe.InitBuffer(ub, 1024);
    LocalTensor<float> x = ub.Get<float>();
    DataCopy(x, of, 256);
    PipeBarrier<PIPE_ALL>();
    Adds(x, x, 1.0f, 256);
    PipeBarrier<PIPE_ALL>();
    DataCopy(of, x, 256);
  }
#endif
}

int main() {
  aclrtSetDevice(0);
  std::vector<half> a(256, half(0.5f));
  std::vector<float> c(256, -1);
  void *from = nullptr, *to = nullptr;
  aclrtMalloc(&from, 512, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc(&to, 1024, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpy(from, 512, a.data(), 512, ACL_MEMCPY_HOST_TO_DEVICE);
  product<<<1, nullptr, nullptr>>>(static_cast<uint8_t*>(from), static_cast<uint8_t*>(to));
  if (aclrtSynchronizeStream(nullptr) != 0) return 1;
  aclrtMemcpy(c.data(), 1024, to, 1024, ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf("%g %g %d\\n", c[0], c[255], *Exported().Value());
  return 0;
}
"""


def test_cores_by_words_alone(sources: Path) -> None:
    source = sources / "branches.asc"
    source.write_text(BRANCHES)
    ran = tool("run", source)
    assert (ran.returncode, ran.stdout) == (0, "5 5 7\n"), ran.stderr


# One kernel for every operator, as libraries of templates have it, with a struct of parameters.
OPERATORS = """\
#include <cstdio>
#include "acl/acl.h"
#ifdef __CCE__
#include "kernel_operator.h"
#endif
using namespace AscendC;

struct Params {
  uint32_t lines;
  GM_ADDR out;
  uint64_t add;
  [host, aicore] Params(uint32_t lines, GM_ADDR out) : lines(lines), out(out), add(10) {}
};
// The kind of each core, AICs first.
[aicore] static __forceinline__ void Tell(const Params& params) {
#if defined(__DAV_CUBE__)
  const int64_t kind = 1, first = 0;
#elif defined(__DAV_VEC__)
  const int64_t kind = 2, first = params.lines;
#endif
  GlobalTensor<int64_t> words;
  words.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(params.out));
  const int64_t at = 8 * (GetBlockIdx() + first);
  words.SetValue(at, kind + static_cast<int64_t>(params.add));
  DataCacheCleanAndInvalid<int64_t, CacheLine::SINGLE_CACHE_LINE>(words[at]);
}
// Buffers of all memories, on either kind of core.
struct Memories {
  TPipe pipe;
  TBuf<TPosition::A1> l1;
  TBuf<TPosition::A2> l0a;
  TBuf<TPosition::VECCALC> ub;
  TBuf<TPosition::C2PIPE2GM> tables;
  __forceinline__[aicore] Memories() {
    ICachePreLoad(1);
    pipe.InitBuffer(l1, 512 * 1024);
    pipe.InitBuffer(l0a, 64 * 1024);
    pipe.InitBuffer(ub, 128 * 1024);
    pipe.InitBuffer(tables, 7 * 1024);
  }
};
template <bool ofCubes, bool ofVectors>
struct Operator {
  static_assert(SizeOfBits<half>::value == 16 && SizeOfBits<int4b_t>::value == 4);
  __aicore__ void operator()(const Params& params) {
    Memories memories;
    Tell(params);
    if constexpr (ofCubes && g_coreType == AIC) {
      LocalTensor<half> from = memories.l1.Get<half>(), to;
      to.SetAddr(memories.l0a.Get<half>().address_);
      InitConstValue(from, {1, 16, 0, half(1.0f)});
      SetFlag<HardEvent::MTE2_MTE1>(0);
      WaitFlag<HardEvent::MTE2_MTE1>(0);
      LoadData(to, from, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    }
    if constexpr (ofVectors && g_coreType == AIV) {
      Duplicate(memories.ub.Get<float>(), 1.0f, 64);
    }
  }
};
template <typename T>
__global__ __aicore__ void Run(Params params) {
  T()(params);
}
template <typename T>
static void Launch(const char* name, Params params) {
  int64_t words[48] = {};
  aclrtMemcpy(params.out, 384, words, 384, ACL_MEMCPY_HOST_TO_DEVICE);
  Run<T><<<params.lines, nullptr, nullptr>>>(params);
  if (aclrtSynchronizeStream(nullptr) != 0) return;
  aclrtMemcpy(words, 384, params.out, 384, ACL_MEMCPY_DEVICE_TO_HOST);
  std::printf("%s:", name);
  for (int j = 0; j < 6; ++j) std::printf(" %d", static_cast<int>(words[8 * j]));
  std::printf("\\n");
}

int main() {
  aclrtSetDevice(0);
  uint8_t* out = nullptr;
  aclrtMalloc(reinterpret_cast<void**>(&out), 6 * 64, ACL_MEM_MALLOC_HUGE_FIRST);
  const Params params(2, out);
  Launch<Operator<true, false>>("cubes", params);
  Launch<Operator<false, true>>("vectors", params);
  Launch<Operator<true, true>>("both", params);
  aclrtFree(out);
  return 0;
}
"""
OPERATORS_SAY = """\
cubes: 11 11 0 0 0 0
vectors: 0 0 12 12 0 0
both: 11 11 12 12 12 12
"""


def test_cores_of_each_instance_of_a_kernel(tmp_path: Path) -> None:
    """Instances of one kernel without a mark run on the cores that each has instructions for; words
    of the device compiler's own are no hindrance.
    """
    source, program = tmp_path / "operators.asc", tmp_path / "operators"
    source.write_text(OPERATORS)
    built = ascc("-mllvm", "-cce-aicore-record-overflow=true", "-s", source, "-o", program)
    assert built.returncode == 0, built.stderr
    ran = kernel_file.run_program([str(program)])
    assert (ran.status, ran.output.strip()) == (0, OPERATORS_SAY.strip())
    assert {found["kind"] for found in ran.findings} == {"ub-reserved"}
    assert "7168 B of FB are taken; the documentation leaves 2048" in ran.findings[0]["detail"]


@pytest.mark.plants_faults
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors do not trap")
def test_division_by_zero_goes_on(tmp_path: Path) -> None:
    """Published kernels have one whose result they do not use: it is found, and the kernel ends."""
    source, program = tmp_path / "divides.asc", tmp_path / "divides"
    text = PROGRAM.replace("(values, value, 16)", "(values, value % (value - 7), 16)")
    copied = "  int32_t word = 0;\n  aclrtMemcpy(&word, 4, out, 4, ACL_MEMCPY_DEVICE_TO_HOST);\n"
    text = text.replace("  return argc", f'{copied}  std::printf("%d\\n", word);\n  return argc')
    source.write_text(text)
    assert ascc(source, "-o", program).returncode == 0
    ran = kernel_file.run_program([str(program)])
    assert ran.output.endswith("7\n"), ran.output
    found = [(one["kind"], one["detail"], one["at"]["line"]) for one in ran.findings]
    line = 1 + text.splitlines().index("  AscendC::Duplicate(values, value % (value - 7), 16);")
    assert found == [("crash", "SIGFPE, a division by zero", line)]


def test_half_of_the_host(tmp_path: Path) -> None:
    """Each operation on two of them is rounded; the header has a second name in a folder that may
    be looked in first.
    """
    from aclgrad.runtime.toolkit import sim_root

    source, program = tmp_path / "half.asc", tmp_path / "half"
    source.write_text(
        "#include <opdev/bfloat16.h>\n#include <opdev/fp16_t.h>\n#include <cstdio>\n"
        "int main() {\n  op::fp16_t a = 7, b = 0.1, c = 1.5;\n"
        "  const float both = (a + b) * c, one = a * 1.0f + b;\n"
        '  std::printf("%a %a\\n", both, one);\n}\n'
    )
    folder = sim_root() / "include" / "aclnn"
    built = ascc(f"-I{folder}", source, "-o", program)
    assert built.returncode == 0, built.stderr
    half = np.float16
    want = float((half(7) + half(0.1)) * half(1.5)), float(np.float32(7) + half(0.1))
    said = kernel_file.run_program([str(program)]).output.split()
    assert tuple(map(float.fromhex, said)) == want


@pytest.mark.plants_faults
def test_memory_of_the_other_kind_of_core(tmp_path: Path) -> None:
    """An AIV may make buffers in L1, and has none of it."""
    source, program = tmp_path / "other.asc", tmp_path / "other"
    used = "Duplicate(memories.ub.Get<float>()"
    source.write_text(OPERATORS.replace(used, "Duplicate(memories.l1.Get<float>()"))
    assert used in OPERATORS and ascc(source, "-o", program).returncode == 0
    ran = kernel_file.run_program([str(program)])
    assert "ub-out-of-bounds" in {found["kind"] for found in ran.findings}
    assert "its buffer, which has 0" in ran.output and "both:" not in ran.output


@pytest.mark.plants_faults
def test_workspace_that_nothing_marks(sources: Path) -> None:
    source = sources / "derived.asc"
    source.write_text(DERIVED.replace("@mark@", "GM_ADDR"))
    ran = tool("run", source)
    assert ran.returncode == 1
    assert "the workspace has no room for A of AIV 0" in ran.stderr, ran.stderr
    assert "marks a parameter as __kfc_workspace__" in ran.stderr


def test_halves_of_two_files(sources: Path) -> None:
    """Functions and lambdas of one name in two objects, each with both halves."""
    main = "int main() { return One() + Two(); }\n"
    for number, name in enumerate(("One", "Two")):
        text = KINDS.replace("int main()", f"int {name}()").replace("began", f"began{number}")
        for kernel in ("vectors", "cubes", "pairs"):
            text = text.replace(f"void {kernel}(", f"void {kernel}{number}(")
            text = text.replace(f" {kernel}<<<", f" {kernel}{number}<<<")
        (sources / f"{name}.asc").write_text(text)
    (sources / "main.cpp").write_text("int One();\nint Two();\n" + main)
    objects = []
    for name in ("One", "Two"):
        made = ascc(
            "--npu-arch=dav-2201", "-c", sources / f"{name}.asc", "-o", f"{sources}/{name}.o"
        )
        assert made.returncode == 0, made.stderr
        objects.append(f"{sources}/{name}.o")
    made = ascc(sources / "main.cpp", *objects, "-o", sources / "both")
    assert made.returncode == 0, made.stderr
    ran = subprocess.run([sources / "both"], capture_output=True, text=True, check=False)
    lines = KINDS_SAY.splitlines()
    assert ran.stdout.splitlines() == [lines[0], *lines, *lines[1:]], ran.stderr


FREED = ("MTE1_MTE2", "M_MTE1", "FIX_M")
"""Edges that say that a memory may be written again."""


@pytest.mark.parametrize("edge", ["MTE2_MTE1", "MTE1_MTE2", "MTE1_M", "M_MTE1", "M_FIX", "FIX_M"])
def test_products_without_a_flag(edge: str, sources: Path) -> None:
    """Each pair of flags is needed: without it the two instructions and the flag are named."""
    text = MATMUL.read_text()
    kept = "".join(
        "\n" if f"HardEvent::{edge}>" in line else line for line in text.splitlines(keepends=True)
    )
    assert kept != text
    source = sources / f"without_{edge}.asc"
    source.write_text(kept)
    ran = tool("run", source)
    assert ran.returncode == 1
    kind = "race-write-after-read" if edge in FREED else "race-read-after-write"
    assert kind in ran.stderr and f"HardEvent::{edge}" in ran.stderr, ran.stderr


def test_raw_store_past_the_end(sources: Path) -> None:
    """No call of the API says where it is, yet the store's own line is named."""
    copy = "AscendC::DataCopy(target[16 * AscendC::GetBlockIdx()], values, 16)"
    assert copy in PROGRAM
    source = sources / "poke.asc"
    source.write_text(PROGRAM.replace(copy, "reinterpret_cast<__gm__ int32_t*>(out)[32] = value"))
    line = next(at for at, text in enumerate(source.read_text().splitlines(), 1) if "[32]" in text)
    document = json.loads(tool("run", source, "--json", "--", "a", "b").stdout)
    (finding,) = document["findings"]
    assert "[gm-overrun]" in finding and f"at {source}:{line}" in finding
    assert document["autosync"]["value"] == "on"


def test_program_on_another_soc(program: Path) -> None:
    ran = tool("run", program, "--soc", "Ascend310P3")
    assert ran.stdout == " on Ascend310P3: 0\n"
    refused = tool("run", program, ACLGRAD_SOC="Ascend910B2", ACLGRAD_SIM_MODE="checked")
    assert refused.returncode == 0, refused.stderr
    built = kernel_file.build(program, family_of("Ascend910B2"))
    wrong = subprocess.run(
        [built], env={**os.environ, "ACLGRAD_SOC": "Ascend310P3"}, capture_output=True, text=True
    )
    assert (
        "kernel fill was compiled for dav-2201, but Ascend310P3 is a dav-2002. Next: compile with"
        " --npu-arch=dav-2002" in wrong.stderr
    )


def test_options_of_kernels_and_programs_do_not_mix(program: Path) -> None:
    done = tool("run", program, "--blocks", "2")
    assert done.returncode == 1 and "--blocks is for a kernel file" in done.stderr
    own = tool("run", "softmax_grad", "--tiling", "u32:1")
    assert own.returncode == 1 and "--tiling is for a kernel file" in own.stderr


def test_kernel_file(kernel: Path, tmp_path: Path) -> None:
    x = np.arange(64, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    saved = tmp_path / "y.npz"
    words = ["--inputs", tmp_path / "x.npy", "--outputs", "float32[4, 16]", "--blocks", 4]
    ran = tool("run", kernel, *words, "--tiling", "u32:16 u16:1 f32:0.5", "--save", saved)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == f"scaled out0: float32 [4, 16]\nsaved {saved}\n"
    np.testing.assert_array_equal(np.load(saved)["out0"], x.reshape(4, 16) * 0.5)
    # The same from a file, with blocks that write beyond.
    tiling = tmp_path / "tiling.bin"
    tiling.write_bytes(kernel_file.parse_tiling("u32:16,1 f32:2").tobytes())
    failed = tool("run", kernel, *words[:4], "--blocks", 5, "--tiling", tiling)
    assert failed.returncode == 1
    assert "gm-out-of-bounds" in failed.stderr and "scaled.cpp:22" in failed.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tiling", "u32:1"], "--outputs is missing"),
        (["--outputs", "16x4", "--tiling", "u32:1"], "its dtype is missing"),
        (["--outputs", "float32[64]", "--tiling", "u99:1"], "unknown type u99"),
        (["--outputs", "float32[64]", "--tiling", "u8:256"], "'256' is no u8"),
        (["--outputs", "float32[64]", "--tiling", "none.bin"], "no such file"),
        (["--outputs", "2:fp32 2:fp32 2:fp32", "--tiling", "u32:1"], "takes 4 arguments"),
        (["--outputs", "float32[64]", "--tiling", "u32:1", "--attr", "a=1"], "has no attributes"),
    ],
)
def test_kernel_file_misused(kernel: Path, tmp_path: Path, words: list[str], message: str) -> None:
    np.save(tmp_path / "x.npy", np.zeros(64, np.float32))
    done = tool("run", kernel, "--inputs", tmp_path / "x.npy", *words)
    assert done.returncode == 1
    assert message in done.stderr and "Next: " in done.stderr


def test_kernel_file_without_one_entry(tmp_path: Path) -> None:
    source = tmp_path / "two.cpp"
    source.write_text("__global__ void a(int* x) {}\n__global__ void b(int* x) {}\n")
    with pytest.raises(SourcesError, match="one named two; it has a, b"):
        kernel_file.build(source, family_of(SOC))
    source.write_text("template <typename T>\n__global__ void two(T* x) {}\n")
    with pytest.raises(SourcesError, match="the entry two is a template"):
        kernel_file.build(source, family_of(SOC))


def test_values_are_placed_as_in_a_struct() -> None:
    data = kernel_file.parse_tiling("u8:1 u32:2 u16:3 i64:-1 f32:0.5")
    want = np.zeros(1, np.dtype({"names": ["a", "b", "c", "d", "e"],
                                 "formats": ["u1", "u4", "u2", "i8", "f4"],
                                 "offsets": [0, 4, 8, 16, 24], "itemsize": 28}))  # fmt: skip
    want[0] = (1, 2, 3, -1, 0.5)
    assert data.tobytes() == want.tobytes()


def tiles(values: np.ndarray) -> np.ndarray:
    """The last two axes in tiles of 16 by 16, a column of tiles after the other (NZ)."""
    *front, rows, columns = values.shape
    split = values.reshape(*front, rows // 16, 16, columns // 16, 16)
    return np.moveaxis(split, -2, -4).reshape(*front, -1)


LAYOUTS = {
    1: lambda v: (tiles(v), v.transpose(0, 2, 1, 3)),
    2: lambda v: (tiles(v), tiles(v.transpose(0, 2, 1, 3))),
    3: lambda v: (tiles(merged(v)), tiles(v)),
    4: lambda v: (tiles(merged(v)), v),
    5: lambda v: (tiles(v), merged(v)),
    6: lambda v: (tiles(v), tiles(merged(v))),
    7: lambda v: (v, v.T),
}


def merged(values: np.ndarray) -> np.ndarray:
    """[B, N, S, D] -> [B, S, N * D]."""
    b, n, s, d = values.shape
    return values.transpose(0, 2, 1, 3).reshape(b, s, n * d)


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("scene", LAYOUTS)
def test_layouts_by_the_hosts_tiling(scene: int, width: int, tmp_path: Path) -> None:
    """Every scene of Transpose, with tiling of the same file."""
    program = kernel_file.build(LIBRARY / "layouts.asc", family_of(SOC))
    shape = (48, 32) if scene == 7 else (2, 16 if scene == 2 else 3, 32, 16)
    values = np.arange(np.prod(shape), dtype=f"u{width}").reshape(shape)
    source, want = LAYOUTS[scene](values)
    np.ascontiguousarray(source).tofile(tmp_path / "in.bin")
    words = [str(program), str(scene), str(width), *map(str, shape)]
    ended = kernel_file.run_program(words, folder=tmp_path)
    assert ended.status == 0 and not ended.errors, ended.output
    got = np.fromfile(tmp_path / "out.bin", values.dtype)
    np.testing.assert_array_equal(got, want.reshape(-1))
