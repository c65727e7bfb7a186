# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - a kernel is a line
"""What the device compiler refuses in a kernel: host C++, each at its line, and nothing of what a
kernel may have.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from aclgrad.reading.sources import SourcesError
from aclgrad.running import kernel_file
from aclgrad.runtime.toolkit import sim_root
from aclgrad.spec.soc import family_of

ROOT = Path(__file__).parents[3]

KERNEL = """\
namespace of_@name@ {
@before@
extern "C" __global__ __aicore__ void kernel_@name@(GM_ADDR x, GM_ADDR y) {
  __gm__ float* a = (__gm__ float*)x;
  int n = (int)GetBlockIdx();
  @body@
}
}  // namespace of_@name@
"""
AICORE = "__aicore__ inline int"
TWO = "__aicore__ int F(int n) { return n; } __aicore__ int G(int n) { return -n; }"

REFUSED = {
    # name: headers, what stands before the kernel, its body, what the error says
    "new": ("", "", "int* p = new int(n); a[0] = *p; delete p;", "operator new in a kernel"),
    "malloc": ("cstdlib", "", "int* p = (int*)malloc(n); a[0] = p != nullptr;", "no heap"),
    "vector": ("vector", "", "std::vector<int> v(n); a[0] = v.size();", "std::vector::vector"),
    "map-of-a-template": (
        "map",
        "template <typename T> struct K { __aicore__ void Go(int n) { std::map<int, T> m; m[n]; } };",
        "K<float>().Go(n);",
        "std::map::map in a kernel",
    ),
    "member": ("string", "struct S { std::string s; };", "S s; a[0] = 1;", "std::.*string"),
    "lambda": (
        "vector",
        "",
        "auto f = [](int v) { return (int)std::vector<int>(v).size(); }; a[0] = f(n);",
        "std::vector::vector",
    ),
    "sort": ("algorithm", "", "int v[2] = {n, 1}; std::sort(v, v + 2); a[0] = v[0];", "std::sort"),
    "tuple": ("tuple", "", "auto t = std::make_tuple(n, 1); a[0] = std::get<0>(t);", "make_tuple"),
    "function": ("functional", "", "std::function<int()> f = [] { return 1; }; a[0] = f();", "func"),
    "cout": ("iostream", "", "std::cout << n;", "std::cout in a kernel is host code"),
    "printf": ("cstdio", "", '::printf("%d", n);', "printf in a kernel .*AscendC::printf"),
    "file": ("cstdio", "", 'a[0] = fopen("x", "r") != nullptr;', "fopen in a kernel"),
    "rand": ("cstdlib", "", "a[0] = rand();", "rand in a kernel"),
    "exp": ("cmath", "", "a[0] = std::exp(a[1]);", "std::exp in a kernel"),
    "throw": ("", "", "if (n > 5) { throw 1; }", "throw, try or catch"),
    "catch": ("", "", "try { if (n > 5) { throw n; } } catch (...) { a[0] = 0; }",
              "throw, try or catch"),
    "static": ("", f"{AICORE} F() {{ static int calls = 0; return ++calls; }}", "a[0] = F();",
               "static variable calls in a kernel"),
    "static-computed": ("", "", "static int first = n * 3; a[0] = first;", "static variable first"),
    "thread-local": ("", "", "thread_local int c = 0; c += n; a[0] = c;", "static variable c"),
    "double": ("", "", "double d = n; d = d / 3; a[0] = (float)d;", "arithmetic of double"),
    "double-literal": ("", "", "a[0] = a[1] * 0.1;", "arithmetic of double"),
    "double-of-a-template": (
        "", "template <typename T> __aicore__ inline T H(T v) { return v / 2; }",
        "a[0] = (float)H<double>(n);", "arithmetic of double"),
    "long-double": ("", "", "long double d = n; a[0] = (float)(d * 3);", "long double"),
    "recursion": ("", f"{AICORE} F(int n) {{ return n < 2 ? 1 : n * F(n - 1); }}", "a[0] = F(n);",
                  "F calls itself: "),
    "two-functions": (
        "", f"__aicore__ int G(int n); {AICORE} F(int n) {{ return n < 2 ? 1 : G(n - 1); }}"
        " __aicore__ int G(int n) { return F(n); }", "a[0] = F(n);", "by way of others"),
    "virtual": (
        "", "struct B { __aicore__ virtual int f() { return 1; } };",
        "B b; a[0] = b.f();", "B has virtual functions"),
    "virtual-base": ("", "struct B { int v; }; struct D : virtual B {};", "D d; d.v = n; a[0] = d.v;",
                     "virtual bases"),
    "dynamic-cast": (
        "", "struct B { __aicore__ virtual int f() { return 1; } }; struct D : B {};"
        " __aicore__ inline bool Is(B* b) { return dynamic_cast<D*>(b) != nullptr; }",
        "a[0] = Is(nullptr);", "typeid or dynamic_cast"),
}  # fmt: skip

TAKEN = {
    "constants-of-double": (
        "", "constexpr double kThird = 1.0 / 3; constexpr float kTwo = kThird * 6;",
        "a[0] = kTwo; constexpr float q = 1e-3 * 5; a[1] = q + static_cast<float>(0.1 * 3);"),
    "host-code-beside": (
        "vector string iostream",
        "inline double Host(int n) { static int calls = 0; std::vector<double> v(n, 0.5); if (n < 0)"
        " { throw n; } std::cout << ++calls; return v[0] * 3; }"
        " struct Tiling { std::string Text() const { return std::to_string(v * 0.1); } int v = 0; };",
        "Tiling t; a[0] = t.v;"),
    "types-and-limits": (
        "type_traits limits utility",
        "template <typename T> struct H { __aicore__ inline H(T&& t) : q(std::move(t)) {} T q; };",
        "std::is_same<int, int> same; if (same) { a[0] = std::numeric_limits<float>::max(); }"
        " H<float> h(2.0f); a[1] = h.q + std::integral_constant<int, 3>()();"),
    "constant-tables": (
        "", "struct S { static constexpr int k[3] = {1, 2, 3}; };",
        "static constexpr float t[2] = {1, 2}; static const int u[2] = {1, 2};"
        " a[0] = t[n & 1] + u[n & 1] + S::k[n % 3];"),
    "scalar-functions": ("", "", "a[0] = sqrt(a[1]) + abs(a[2]) + min(n, 3) + max(a[1], a[2]);"),
    "copies-of-structs": ("", "struct Big { int v[64]; };",
                          "Big b = {}; Big c = b; c.v[n & 63] = n; a[0] = c.v[3];"),
    "recursion-of-templates": (
        "", f"template <int N> {AICORE} R(int n) {{ if constexpr (N == 0) {{ return n; }} else {{"
        " return R<N - 1>(n) + 1; } }", "a[0] = R<5>(n);"),
    "functions-as-arguments": (
        "", f"{TWO} template <int (*f)(int)> {AICORE} Call(int n) {{ return f(n); }}"
        " template <typename Do> __aicore__ inline void Each(int n, Do&& f) { f(n); }",
        "int s = 0; Each(n, [&](int i) { s += Call<F>(i) + Call<G>(i); }); a[0] = s;"),
    "double-that-is-stored": ("", "struct S { double d; };",
                              "S s; __gm__ double* p = (__gm__ double*)x; s.d = p[0]; p[1] = s.d;"),
    "table-in-gm": ("", "__gm__ int table[2] = {1, 2};", "a[0] = table[n & 1];"),
    "placement": ("new", "struct S { int v; };", "alignas(8) char m[8]; a[0] = (new (m) S{n})->v;"),
    "tuples": (
        "", "template <size_t I, typename T> __aicore__ constexpr decltype(auto) At(T&& t) {"
        " return AscendC::Std::get<I>(AscendC::Std::forward<T>(t)); }"
        " __aicore__ inline Std::tuple<int, int> Of(int n) { return {n, 1}; }",
        "Coord<int, int> c = MakeCoord(n, 2); auto t = Of(n); c = t;"
        " a[0] = MakeLayout(MakeShape(4, n), MakeStride(n, 1))(c) + At<0>(Std::make_tuple(n, 1));"
        " int f = 0, s = 0; Std::tie(f, s) = t; a[1] = f + s + Std::get<1>(c);"),
    "the-api": (
        "", "",
        "TPipe pipe; TQue<TPosition::VECIN, 1> q; pipe.InitBuffer(q, 2, 256); GlobalTensor<float> g;"
        " g.SetGlobalBuffer(a, 64); auto l = q.AllocTensor<float>(); DataCopy(l, g, 64); q.EnQue(l);"
        " l = q.DeQue<float>(); Adds(l, l, 1.0f, 64); Exp(l, l, 64); q.FreeTensor(l);"
        ' AscendC::printf("%f %d", a[0], n); SyncAll(); a[1] = g.GetValue(0);'),
}  # fmt: skip


def source(**cases: tuple[str, str, str]) -> str:
    """One kernel for each case."""
    names = sorted({name for includes, _, _ in cases.values() for name in includes.split()})
    text = '#include "kernel_operator.h"\n' + "".join(f"#include <{name}>\n" for name in names)
    text += "using namespace AscendC;\n"
    for name, (_, before, body) in cases.items():
        kernel = KERNEL.replace("@name@", name.replace("-", "_"))
        text += kernel.replace("@before@", before).replace("@body@", body)
    return text


def refused_in(file: Path, arch: int = 2201, *words: str) -> tuple[int, str]:
    """The status and the output of the check alone."""
    command = [str(kernel_file.compiler(sim_root())), "--front-end", "--device-code"]
    macros = [f"-D__NPU_ARCH__={arch}", f"-D__CCE_AICORE__={arch // 10}"]
    done = subprocess.run(
        [*command, f"--npu-arch=dav-{arch}", "-std=c++17", *macros, *words, str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[str, int, str]]]:
    """What is said of a file with all that is refused."""
    file = tmp_path_factory.mktemp("refused") / "planted.cpp"
    file.write_text(source(**{name: case[:3] for name, case in REFUSED.items()}))
    status, errors = refused_in(file)
    assert status == 1
    found = re.findall(r"^(.*):(\d+):1: error: (.*)$", errors, re.MULTILINE)
    assert found, errors
    return file, [(where, int(line), text) for where, line, text in found]


@pytest.mark.parametrize("name", REFUSED)
def test_host_code_in_a_kernel_is_refused(
    told: tuple[Path, list[tuple[str, int, str]]], name: str
) -> None:
    """At its line or at that of the function that has it, with what to do."""
    file, found = told
    lines = file.read_text().splitlines()
    first = lines.index(f"namespace of_{name.replace('-', '_')} {{") + 1
    last = lines.index(f"}}  // namespace of_{name.replace('-', '_')}") + 1
    here = [text for where, line, text in found if where == str(file) and first < line < last]
    assert [text for text in here if re.search(REFUSED[name][3], text)], here
    assert all("Next: " in text for text in here)


@pytest.mark.parametrize("arch", [2201, 3510, 2002, 1001])
def test_nothing_is_found_in_what_a_kernel_may_have(tmp_path: Path, arch: int) -> None:
    file = tmp_path / "planted.cpp"
    cases = {name: case for name, case in TAKEN.items() if arch == 2201 or name != "the-api"}
    file.write_text(source(**cases))
    assert refused_in(file, arch) == (0, "")


@pytest.mark.parametrize(
    "call",
    ["int (*f)(int) = n ? F : G; a[0] = f(n);", "int (*f[2])(int) = {F, G}; a[0] = f[n & 1](n);"],
)
def test_calls_by_function_pointers(tmp_path: Path, call: str) -> None:
    """A warning: the device compiler takes those that it can inline."""
    file = tmp_path / "planted.cpp"
    file.write_text(source(planted=("", TWO, call)))
    status, errors = refused_in(file, 2201)
    assert status == 0 and re.search(r":\d+:1: warning: a call by a function pointer", errors)


@pytest.mark.parametrize("name", ["double", "static"])
def test_what_another_architecture_has(tmp_path: Path, name: str) -> None:
    """Architecture 3510 computes double, and published kernels for it have static variables."""
    file = tmp_path / "planted.cpp"
    file.write_text(source(planted=REFUSED[name][:3]))
    assert refused_in(file, 3510) == (0, "")
    assert refused_in(file, 2002)[0] == 1


def test_a_kernel_file_and_a_program_are_refused(tmp_path: Path) -> None:
    """The roads of aclgrad run: a kernel alone, and .asc."""
    text = source(planted=REFUSED["vector"][:3])
    text = re.sub(r"(?m)^(namespace|})(.* {|  // .*)$", "", text)
    kernel, program = tmp_path / "planted.cpp", tmp_path / "planted.asc"
    kernel.write_text(text)
    host = "int main() { std::vector<double> v(2, 0.5); return v[0] > 1; }\n"
    program.write_text(text + host)
    for file in (kernel, program):
        with pytest.raises(
            SourcesError, match=r"planted\.\w+:\d+: std::vector::vector in a kernel"
        ):
            kernel_file.build(file, family_of("Ascend910B2"))
    program.write_text(text.replace("std::vector<int> v(n); a[0] = v.size();", "") + host)
    kernel_file.build(program, family_of("Ascend910B2"))


SYNC = "KERNEL_TASK_TYPE_DEFAULT({kind}); SyncAll();"


@pytest.mark.parametrize(
    ("arch", "entry", "body", "refused"),
    [
        (2201, "", SYNC.format(kind="KERNEL_TYPE_AIV_ONLY"), "KERNEL_TYPE_MIX_AIV_1_0"),
        (2201, "", SYNC.format(kind="KERNEL_TYPE_MIX_AIV_1_0"), ""),
        (2201, "", "SyncAll();", ""),
        (2201, "", "KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY); CrossCoreSetFlag<0, PIPE_V>(1);",
         "CrossCoreSetFlag in a kernel of type"),
        (3510, "", SYNC.format(kind="KERNEL_TYPE_AIV_ONLY"), ""),
        (2201, "__vector__", "SyncAll();", r"__mix__\(0, 1\) in place of __vector__"),
        (2201, "__mix__(0, 1)", "SyncAll();", ""),
    ],
)  # fmt: skip
def test_cores_meet_in_kernels_of_types_that_may(
    tmp_path: Path, arch: int, entry: str, body: str, refused: str
) -> None:
    file = tmp_path / "planted.cpp"
    file.write_text(source(planted=("", "", body)).replace("__global__", f"__global__ {entry}"))
    status, errors = refused_in(file, arch)
    # Samples of CANN's own do what the page says of __vector__.
    assert ": warning: " in errors or entry != "__vector__"
    assert status == (bool(refused) and entry != "__vector__") and re.search(
        refused or r"^$", errors
    ), errors


OPERATORS = sorted(
    folder.name
    for folder in (ROOT / "op_kernel").iterdir()
    if (folder / f"{folder.name}.cpp").is_file()
)


@pytest.mark.parametrize("op", OPERATORS)
def test_our_kernels(op: str) -> None:
    """They hold themselves to it: fp16, which computes in fp32, for each architecture."""
    listed = (sim_root().parent / "gen/operators.cmake").read_text()
    rows = re.search(rf"aclgrad_operator\({op} .*?^\)", listed, re.DOTALL | re.MULTILINE)
    found = re.findall(r'"\w+\|(\d+)\|\d+\|float16_[^|"]*\|([^"]*)"', rows[0] if rows else "")
    assert found
    words = [f"-I{ROOT / folder}" for folder in ("op_kernel", "op_host", "")]
    for arch, defines in found:
        macros = [f"-D{word}" for word in defines.split(",")]
        file = ROOT / "op_kernel" / op / f"{op}.cpp"
        assert refused_in(file, int(arch), *words, *macros) == (0, ""), arch
