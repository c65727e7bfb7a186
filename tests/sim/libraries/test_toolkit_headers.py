# SPDX-License-Identifier: Apache-2.0
"""The toolkit's headers as others include them: each by itself, and all of them in any order."""

from __future__ import annotations

import concurrent.futures
import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from aclgrad.building.build_tools import find_compiler
from aclgrad.runtime import Device
from aclgrad.runtime.toolkit import sim_root

pytestmark = pytest.mark.journey

ROOT = Path(__file__).resolve().parents[3]
KERNEL = ("-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220")
STRICT = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-variable")
ABSENT = re.compile(r"^(?:(?:tiling/)?hccl|tensor_api|c_api|simt_api)/")
PROGRAM = ("aclsim/asc.h", "cpu_debug_launch.h")
"""Headers of .asc files, which need the architecture's macros wherever they are."""

HOST = (
    "acl/acl.h",
    "base/alog_pub.h",
    "base/err_msg.h",
    "base/plog.h",
    "common/util/error_manager/error_manager.h",
    "dlog_pub.h",
    "graph/types.h",
    "graph/utils/type_utils.h",
    "kernel_log.h",
    "kernel_tiling/kernel_tiling.h",
    "log/log.h",
    "opdev/op_log.h",
    "register/op_def_registry.h",
    "register/tilingdata_base.h",
    "tikicpulib.h",
    "tiling/platform/platform_ascendc.h",
    "tiling/tiling_api.h",
    "toolchain/slog.h",
    "util/math_util.h",
)
"""What sources of operators and of their unit tests bring together."""


@pytest.fixture(scope="module")
def toolkit(session_device: Device) -> Path:
    """The toolkit's folder."""
    assert session_device.kind == "sim"
    return sim_root()


def compiled(
    toolkit: Path, text: str, *words: str, standard: str = "c++17"
) -> subprocess.CompletedProcess[str]:
    """Whether a text compiles."""
    command = [
        str(find_compiler()),
        f"-std={standard}",
        "-fsyntax-only",
        f"-I{toolkit / 'include'}",
        "-idirafter",
        str(toolkit / "include/aclsim/host_log"),
        *words,
        "-x",
        "c++",
        "-",
    ]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def includes(names: Sequence[str]) -> str:
    """A source that includes these in this order."""
    return "".join(f"#include <{name}>\n" for name in names)


def public(toolkit: Path) -> list[str]:
    """All names, without other paths of the same, parts of the device API (kernel_operator.h has
    them all) and what belongs to the simulator.
    """
    names = []
    for path in sorted((toolkit / "include").rglob("*.h")):
        name = str(path.relative_to(toolkit / "include"))
        other = re.search(r"Other (?:path|name) of|Older name of", path.read_text()[:200])
        parts = ("adv_api/", "lib/", "ascendc/", "aclsim/host_log/")
        own = name.startswith(parts) or name in PROGRAM
        if not other and not own and not ABSENT.search(name):
            names.append(name)
    return names


def test_each_header_by_itself(toolkit: Path) -> None:
    """No header relies on what its includer has included."""
    names = public(toolkit)
    assert len(names) > 60
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda name: compiled(toolkit, includes([name]), *KERNEL, *STRICT), names)
        errors = {
            name: one.stderr[:500]
            for name, one in zip(names, done, strict=True)
            if one.returncode and "exists on architectures" not in one.stderr
        }
    assert not errors


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
@pytest.mark.parametrize("kernel", [(), KERNEL], ids=["host", "kernel"])
def test_every_order(toolkit: Path, standard: str, kernel: tuple[str, ...]) -> None:
    """Of each pair both orders, in each standard others of all, without a warning; dtypes keep
    their names.
    """
    order = list(HOST)
    if standard == "c++20":
        random.Random(17).shuffle(order)
    use = (
        "static_assert(ge::DT_FLOAT == 0 && ge::DT_BF16 == 27 && ge::FORMAT_ND == 2);\n"
        "#ifdef DT_FLOAT\n#error DT_FLOAT is a macro\n#endif\n"
        "#ifdef FORMAT_ND\n#error FORMAT_ND is a macro\n#endif\n"
    )
    for names in (order, order[::-1]):
        done = compiled(toolkit, includes(names) + use, *kernel, *STRICT, standard=standard)
        assert done.returncode == 0, (names, done.stderr[:2000])


REGISTERS = """
namespace Reg = AscendC::Reg;
void F(__ubuf__ float* f, __ubuf__ half* h, Reg::MaskReg& m) {
  Reg::RegTensor<float> a, b;
  Reg::RegTensor<half> x;
  Reg::UnalignRegForLoad u;
  Reg::UnalignRegForStore v;
  %s
}
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("LoadAlign<half, Reg::LoadDist::DIST_UNPACK_B16>(x, h)", "LoadAlign(a, h)"),
        ("StoreAlign<half, Reg::StoreDist::DIST_PACK_B32>(h, x, m)", "StoreAlign(h, a, m)"),
        ("LoadUnAlign(x, u, h)", "LoadUnAlign(a, u, h)"),
        ("StoreUnAlign(h, x, v, 4)", "StoreUnAlign(h, a, v, 4)"),
        ("Duplicate<float>(a, b, m)", "Duplicate<half>(a, b, m)"),
        ("Duplicate<float>(a, 0, m)", "Duplicate<half>(a, 0, m)"),
        ("Select<float>(a, a, b, m)", "Select<half>(a, a, b, m)"),
        ("Compare<float>(m, a, b, m)", "Compare<half>(m, a, b, m)"),
        ("Compares<float>(m, a, 0, m)", "Compares<half>(m, a, 0, m)"),
    ],
)
def test_types_of_registers(toolkit: Path, right: str, wrong: str) -> None:
    """As in CANN's headers, the type of a call is that of its registers."""
    arch = ("-D__NPU_ARCH__=3510", "-D__CCE_AICORE__=310")
    text = '#include "kernel_operator.h"' + REGISTERS
    assert compiled(toolkit, text % f"Reg::{right};", *arch).returncode == 0
    refused = compiled(toolkit, text % f"Reg::{wrong};", *arch)
    assert "the type differs from the register's" in refused.stderr


OWN_MIN = {
    "none": "",
    "int": "inline int min(int a, int b) { return a < b ? a : b; }",
    "constexpr int64": "constexpr int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }",
    "static uint32": "static __aicore__ inline uint32_t min(uint32_t a, uint32_t b) "
    "{ return a < b ? a : b; }",
    "template": "template <typename T> __aicore__ inline T min(T a, T b) { return a < b ? a : b; }",
    "references": "template <typename T> const T& min(const T& a, const T& b) "
    "{ return a < b ? a : b; }",
    "two types": "template <typename T, typename U> T min(T a, U b) { return a < b ? a : b; }",
    "std": "#include <algorithm>\nusing namespace std;",
    "std::min": "#include <algorithm>\nusing std::min;",
    "max as well": "inline int max(int a, int b) { return a < b ? b : a; }\n"
    "template <typename T> T min(T a, T b) { return a < b ? a : b; }",
}


@pytest.mark.parametrize("own", OWN_MIN)
@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
def test_min_of_scalars(toolkit: Path, own: str, before: bool) -> None:
    """Sources use the device compiler's min, or have their own of the same signature."""
    # The header that has it; the whole API takes as long as all of these.
    header = '#include "ascendc/lang.h"\nnamespace AscendC {}\n'
    words = "#define __aicore__\n#include <cstdint>\n" if before else ""
    both = OWN_MIN[own] + "\n" + header if before else header + OWN_MIN[own] + "\n"
    text = (
        words
        + both
        + "using namespace AscendC;\n"
        + "int32_t a(int32_t n) { return min(n, 8) + max(n, 1); }\n"
        + "uint32_t b(uint32_t n) { return min(n, 8u); }\n"
        + "int64_t c(int64_t n) { return min(n, int64_t(8)); }\n"
        + "float d(float n) { return min(n, 8.0f); }\n"
        + "struct Inside { int min(int a, int b) { return a + b; } int use() { return min(1, 2); "
        + "} };\n"
    )
    done = compiled(toolkit, text, *KERNEL)
    assert done.returncode == 0, done.stderr[:2000]


def test_names_of_ones_own(toolkit: Path) -> None:
    """Namespaces and functions of sources may be called as functions of the API are."""
    text = (
        '#include "kernel_operator.h"\n'
        "namespace RmsNorm { constexpr int kHalf = 2; }\n"
        "namespace Floor { struct Op { static constexpr int kTwo = 2; }; }\n"
        "using namespace RmsNorm;\n"
        "template <typename T> T Sum(T a, T b) { return a + b; }\n"
        "static_assert(RmsNorm::kHalf == Floor::Op::kTwo && kHalf == 2);\n"
        "int three(int a) { return Sum(a, 1) + Sum<int>(a, 2); }\n"
        "void reduce(AscendC::LocalTensor<float>& to, AscendC::LocalTensor<float>& from) {\n"
        "  ReduceSum<float>(to, from, from, 64);\n}\n"
    )
    done = compiled(toolkit, text, *KERNEL)
    assert done.returncode == 0, done.stderr[:2000]


def test_words_of_dtypes(toolkit: Path) -> None:
    """In a kernel's #if, where an unknown name would be 0, as DT_FLOAT is."""
    header = (toolkit / "include/graph/types.h").read_text()
    values = re.findall(r"\b(DT_\w+|FORMAT_\w+) = (\w+)", header)
    assert len(values) > 90
    checks = "".join(f"#if {name} != {value}\n#error {name}\n#endif\n" for name, value in values)
    done = compiled(toolkit, '#include "kernel_operator.h"\n' + checks, *KERNEL)
    assert done.returncode == 0, done.stderr[:2000]


def test_kernel_after_the_twin(toolkit: Path) -> None:
    """A unit test's order: the twin, host headers, then the kernel's source."""
    text = (
        '#include "tikicpulib.h"\n#include "graph/types.h"\n#include "register/op_def_registry.h"\n'
        "constexpr ge::DataType kType = ge::DT_BF16;\n"
        "#define ORIG_DTYPE_X DT_BF16\n"
        '#include "kernel_operator.h"\n'
        "#if ORIG_DTYPE_X != DT_BF16 || ORIG_DTYPE_X == DT_FLOAT\n#error the kernel's words\n"
        "#endif\n"
    )
    done = compiled(toolkit, text, *KERNEL)
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("hccl/hcom.h", "include hccl/hccl.h, whose calls communicate"),
        ("tiling/hccl/hccl_tiling.h", "kernels do not communicate"),
        ("tensor_api/tensor.h", r"kernels of the Tensor API \(AscendC::Te\) are not simulated"),
        ("c_api/asc_simd.h", "kernels of the C API are not simulated"),
        ("simt_api/asc_simt.h", "SIMT functions are not simulated"),
    ],
)
def test_absent_libraries(toolkit: Path, header: str, why: str) -> None:
    """Said by the compiler; the names of kernels are tested with the other device names."""
    done = compiled(toolkit, f"#include <{header}>\n")
    assert done.returncode != 0
    assert re.search(f"{header} is not in this simulator: {why}", done.stderr)


def test_further_names_come_from_the_table(toolkit: Path, tmp_path: Path) -> None:
    """The toolkit has the sources' headers and the table's, no others; a name that left the table
    leaves the folder, and what stays is not written again.
    """
    table = ROOT / "simulator/forwarding_headers.txt"
    lines = [line for line in table.read_text().splitlines() if line and line[0] != "#"]
    names = [name for line in lines if line != line.strip() for name in line.split()]
    assert len(names) > 200 and len(names) == len(set(names))
    source = ROOT / "simulator/include"
    written = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    assert {line for line in lines if line == line.strip()} <= written
    include = toolkit / "include"
    there = {str(path.relative_to(include)) for path in include.rglob("*") if path.is_file()}
    extra = there - {*names, *written}
    assert there >= {*names, *written}
    assert {Path(name).parts[0] for name in extra} == {"aclnnop"}, "another table's"

    def write(text: str) -> Path:
        (tmp_path / "table.txt").write_text(text)
        script = tmp_path / "write.cmake"
        function = ROOT / "cmake/forwarding_headers.cmake"
        script.write_text(
            f"include({function})\nforwarding_headers({tmp_path}/table.txt own.h {tmp_path}/out)\n"
        )
        subprocess.run(["cmake", "-P", str(script)], check=True)
        return tmp_path / "out"

    out = write("own.h\n  a.h far/b.h\n  c.h\n")
    (out / "own.h").touch()
    assert '#include "own.h"' in (out / "far/b.h").read_text()
    (out / "a.h").touch()
    os.utime(out / "a.h", (1, 1))
    write("# A comment.\nown.h\n  a.h\n")
    assert sorted(path.name for path in out.rglob("*") if path.is_file()) == ["a.h", "own.h"]
    assert (out / "a.h").stat().st_mtime == 1


REPORTS = r"""
#include <cstdio>
#include "acl/acl.h"
#include "base/alog_pub.h"
#include "error_log.h"
#include "experiment/metadef/common/util/error_manager/error_manager.h"
#include "ops_log.h"
#include "toolchain/slog.h"

static int Checked(int value) {
  OP_TILING_CHECK(value > 9, VECTOR_INNER_ERR_REPORT_TILIING("Ten", "value %d", value), return 1);
  OPS_ERR_IF(value > 8, OPS_REPORT_VECTOR_INNER_ERR("Nine", "value %d", value), return 2);
  OP_LOGE_IF(value > 7, 3, "Eight", "value %d", value);
  OPS_LOG_E_IF_NULL("Null", value == 7 ? nullptr : &value, return 4);
  return 0;
}

int main() {
  for (int value : {10, 9, 8, 7, 6}) std::printf("%d ", Checked(value));
  REPORT_INNER_ERR_MSG("E89999", "inner %d", 1);
  REPORT_USER_DEFINED_ERR_MSG("EU0001", "user %s", "text");
  REPORT_PREDEFINED_ERR_MSG("EZ0001", {"name", "value"}, {"x", "2"});
  REPORT_PREDEFINED_ERR_MSG("EZ0002");
  REPORT_INNER_ERROR("E69999", "old inner %d", 3);
  REPORT_INPUT_ERROR("E10001", std::vector<std::string>({"shape"}),
                     std::vector<std::string>({"[4]"}));
  ErrorManager::GetInstance().ReportErrMessage("E10002", {{"attr", "axis"}});
  std::printf("\n%s\n", ErrorManager::GetInstance().GetErrorMessage().c_str());
  Dlog(OP, DLOG_ERROR, "said by %d", OP);
  DlogSub(OP, "tiling", DLOG_ERROR, "said by %s", "a part");
  AlogRecord(OP, DLOG_TYPE_RUN, DLOG_ERROR, "said with a type %d", DLOG_TYPE_RUN);
  dlog_event(OP, "an event");
  std::printf("%d%d\n", CheckLogLevel(OP, DLOG_INFO), AlogCheckDebugLevel(OP, DLOG_ERROR));
}
"""


def test_reports_of_each_release(toolkit: Path, tmp_path: Path) -> None:
    """All reach the thread's error message; log functions print when asked."""
    program = tmp_path / "reports"
    lib64 = toolkit / "lib64"
    done = subprocess.run(
        [
            str(find_compiler()),
            "-std=c++17",
            f"-I{toolkit / 'include'}",
            "-idirafter",
            str(toolkit / "include/aclsim/host_log"),
            "-x",
            "c++",
            "-",
            "-x",
            "none",
            f"-L{lib64}",
            f"-Wl,-rpath,{lib64}",
            "-lregister",
            "-lascendcl",
            "-o",
            str(program),
        ],
        input=REPORTS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000]
    ran = subprocess.run(
        [str(program)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "ASCEND_GLOBAL_LOG_LEVEL": "3"},
    )
    assert ran.stdout.splitlines()[0].split() == ["1", "2", "3", "4", "0"]
    for text in (
        "Ten: value 10",
        "Nine: value 9",
        "Eight: value 8",
        "is nullptr",
        "E89999: inner 1",
        "EU0001: user text",
        "EZ0001: name = x, value = 2",
        "EZ0002",
        "E69999: old inner 3",
        "E10001: shape = [4]",
        "E10002: attr = axis",
    ):
        assert text in ran.stdout, text
    assert ran.stdout.splitlines()[-1] == "01"
    for text in ("said by 63", "[tiling]said by a part", "said with a type 1", "an event"):
        assert text in ran.stderr, text


DEFINITION = """
#include "register/op_def_registry.h"
#include "error_util.h"
namespace ops {
class Gathers : public OpDef {
 public:
  explicit Gathers(const char* name) : OpDef(name) {
    std::cout << "";
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->AICore().AddConfig("ascend910b");
    this->MC2().HcclGroup({"group_ep", "group_tp"});
    this->MC2().HcclServerType(HcclServerType::AICPU, "ascend910b");
  }
};
OP_ADD(Gathers);
}  // namespace ops
"""


def test_operator_with_groups(session_device: Device, tmp_path: Path) -> None:
    """Its definition builds; that it cannot run is said before its kernel is compiled."""
    assert session_device.kind == "sim"
    for name, text in (
        ("op_host/gathers_def.cpp", DEFINITION),
        (
            "op_kernel/gathers.cpp",
            '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void gathers() {}\n',
        ),
    ):
        path = tmp_path / "gathers" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", "build", str(tmp_path / "gathers")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "500"},
    )
    assert done.returncode == 1
    assert 'has MC2().HcclGroup("group_ep"), and the simulator has no HCCL in kernels' in " ".join(
        done.stderr.split()
    )


def test_enumerations_of_acl_hold_any_number(toolkit: Path) -> None:
    """Programs pass numbers that these do not have. Only an enumeration with a type of its own may
    be made of one like this, and UBSan finds nothing in a load of it.
    """
    folder = toolkit / "include" / "acl"
    names = [
        name
        for path in sorted(folder.glob("*.h"))
        for name in re.findall(r"^(?:typedef enum [^;]*)?\} (\w+);", path.read_text(), re.MULTILINE)
        if re.search(rf"typedef enum [^;]*\}} {name};", path.read_text())
    ]
    assert len(names) > 25, names
    text = includes([f"acl/{path.name}" for path in sorted(folder.glob("*.h"))])
    text += "".join(f"{name} any_{name}{{99}};\n" for name in names)
    # In expressions they are what they are in CANN's headers.
    text += "".join(f"decltype(+any_{name}) sum_{name} = int{{}};\n" for name in names)
    text += "".join(f"int* whole_{name} = &sum_{name};\n" for name in names)
    done = compiled(toolkit, text)
    assert done.returncode == 0, done.stderr


def test_error_code_in_the_place_of_a_name(toolkit: Path) -> None:
    """Aclnn functions log by code; a header of op_host that comes last has its own form."""
    for words in ((), ("-DOP_LOG_LIBOPAPI_ONLY",)):
        text = (
            '#include "opdev/op_log.h"\n#include "log/log.h"\n'
            'void Refuse(int count) { OP_LOGE(ACLNN_ERR_PARAM_INVALID, "got %d", count); }\n'
            "void Name() {\n"
            "  std::string code = Ops::Base::GetOpInfo(161002);\n"
            '  std::string name = Ops::Base::GetOpInfo("Add");\n'
            "}\n"
        )
        done = compiled(toolkit, text, *STRICT, *words)
        assert done.returncode == 0, done.stderr


def test_unit_tests_find_what_they_name_without_a_header(toolkit: Path) -> None:
    for header in ("tikicpulib.h", "stub_def.h", "stub_fun.h"):
        text = f'#include "{header}"\nint Fill(void* at) {{ return memset_s(at, 8, 0, 8); }}\n'
        done = compiled(toolkit, text, *KERNEL, *STRICT)
        assert done.returncode == 0, done.stderr


def test_functions_that_operators_ask_for_before_they_call_them(
    toolkit: Path, tmp_path: Path
) -> None:
    """Level-0 functions in place are absent, as a toolkit may lack them, and preparing a cache of
    tilings does nothing. A bank of tilings has none.
    """
    source = tmp_path / "asked.cpp"
    source.write_text(
        """\
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "level0/add.h"
#include "level0/axpy.h"
#include "level0/muls.h"
namespace optiling {
bool TilingPrepareForOpCache(gert::TilingContext* context);
bool TilingPrepareForOpCache(gert::TilingParseContext* context);
}
namespace tuningtiling { class TuningTilingDef; }
namespace RuntimeKb {
uint32_t QueryBank(const void*, size_t, const std::string&, const std::string&, uint32_t,
                   std::shared_ptr<tuningtiling::TuningTilingDef>&);
}
int main() {
  const bool absent = reinterpret_cast<void*>(l0op::AddInplace) == nullptr &&
                      reinterpret_cast<void*>(l0op::AxpyInplace) == nullptr &&
                      reinterpret_cast<void*>(l0op::MulsInplace) == nullptr;
  gert::TilingContext* const tiling = nullptr;
  gert::TilingParseContext* const parse = nullptr;
  using optiling::TilingPrepareForOpCache;
  const bool ready = TilingPrepareForOpCache(tiling) && TilingPrepareForOpCache(parse);
  std::shared_ptr<tuningtiling::TuningTilingDef> kept;
  const bool none = RuntimeKb::QueryBank("", 0, "MatMulV3", "", 24, kept) != 0 && !kept;
  std::printf("%d %d %d\\n", absent, ready, none);
}
"""
    )
    program = tmp_path / "asked"
    library = toolkit / "lib64"
    command = [str(find_compiler()), "-std=c++17", f"-I{toolkit / 'include'}", str(source)]
    command += ["-o", str(program), f"-L{library}", "-lnnopbase", "-lregister"]
    command += [f"-Wl,-rpath,{library}", f"-Wl,-rpath-link,{library}"]
    subprocess.run(command, check=True)
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    assert done.stdout == "1 1 1\n"


def test_copies_of_matmul_may_be_function_templates(toolkit: Path, tmp_path: Path) -> None:
    """A host's compiler instantiates them only where they are called by the parameter itself."""
    source = tmp_path / "copies.cpp"
    source.write_text(
        """\
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
template <CubeFormat format> inline void Copy(int* at) { *at = 7 + static_cast<int>(format); }
template <typename CallBack> void Call(int* at) { CallBack::CopyB1(at); }
template <int way> void Kernel(int* at) {
  if constexpr (way == 1) {
    Call<AscendC::MatmulCallBackFunc<nullptr, nullptr, Copy<CubeFormat::ND>>>(at);
  }
}
int main() {
  int got = 0;
  Kernel<1>(&got);
  return got == 7 + static_cast<int>(CubeFormat::ND) ? 0 : 1;
}
"""
    )
    program = tmp_path / "copies"
    library = toolkit / "lib64"
    command = [str(find_compiler()), "-std=c++17", *KERNEL, f"-I{toolkit / 'include'}"]
    command += [str(source), "-o", str(program), f"-L{library}", "-lascendcl"]
    command += [f"-Wl,-rpath,{library}", f"-Wl,-rpath-link,{library}"]
    subprocess.run(command, check=True)
    subprocess.run([program], check=True)
