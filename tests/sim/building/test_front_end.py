# SPDX-License-Identifier: Apache-2.0
"""What CANN's op compiler refuses before it compiles: errors of every way to build a kernel."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from aclgrad.building import operator_build
from aclgrad.reading.sources import SourcesError
from aclgrad.running import kernel_file
from aclgrad.runtime import config
from aclgrad.runtime.toolkit import find_toolkit, sim_root
from aclgrad.spec.soc import family_of

HERE = Path(__file__).parents[1]
ROOT = HERE.parents[1]

BODY = """\
#include "kernel_operator.h"
#define SMALL 7
constexpr int kLarge = 8;
struct Sizes { uint32_t count; };
struct Others { uint32_t count; };
namespace sizes { template <typename T> struct Of { T count; }; }
template <typename T> void NeverCalled() {
@unused@
}
extern "C" __global__ __aicore__ void planted(GM_ADDR x, GM_ADDR workspace, GM_ADDR tiling) {
@kernel@
}
"""
KEYS = "if (TILING_KEY_IS(1)) {} else if (TILING_KEY_IS(20UL)) {} else if (TILING_KEY_IS(SMALL)) {}"
AIV, MIX = "KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_MIX_AIV_1_0"
VECTOR_CORE = "KERNEL_TYPE_MIX_VECTOR_CORE"


def default(kind: str) -> str:
    return f"KERNEL_TASK_TYPE_DEFAULT({kind});\n"


def of_key(key: object, kind: str) -> str:
    return f"KERNEL_TASK_TYPE({key}, {kind});\n"


def source(kernel: str, unused: str = "") -> str:
    return BODY.replace("@kernel@", kernel).replace("@unused@", unused)


FAULTS = {
    "some-keys": (
        2201,
        of_key(1, MIX) + KEYS,
        r"for tiling key 1, not for 7, 20, without KERNEL_TASK_TYPE_DEFAULT: .*'must provide"
        r" default kernel type'.* Next: add KERNEL_TASK_TYPE_DEFAULT\(KERNEL_TYPE_AIV_ONLY\)",
    ),
    "some-keys-950": (3510, of_key("SMALL", AIV) + KEYS, "for tiling key 7, not for 1, 20"),
    "some-keys-310p": (2002, of_key(1, VECTOR_CORE) + KEYS, r"Next: add .*KERNEL_TYPE_AICORE"),
    "default-of-another-soc": (
        2201,
        default(VECTOR_CORE) + of_key(1, MIX) + KEYS,
        "for tiling key 1, not for 7, 20",
    ),
    "key-nobody-asks-for": (
        2201,
        "".join(of_key(key, MIX) for key in (1, 7, 20, 21)) + KEYS,
        "of which no TILING_KEY_IS asks for 21, without",
    ),
    "key-without-keys": (2201, of_key(1, MIX), "for tiling key 1, not for 0"),
    "types-on-910": (
        1001,
        default(AIV) + KEYS,
        "architecture 1001 has no kernel types; .*'not support in current core version'",
    ),
    "types-on-310b": (3002, of_key(1, AIV) + KEYS, "architecture 3002 has no kernel types"),
    "condition-that-is-none": (
        2201,
        "REGISTER_TILING_DEFAULT(Sizes);\n"
        'REGISTER_TILING_FOR_TILINGKEY("TILING_KEY_VAR is 1", Sizes);\n' + KEYS,
        "a condition is no expression of the preprocessor",
    ),
    "type-by-scope": (
        2201,
        default(f"KernelMetaType::{AIV}") + KEYS,
        "reads a kernel type by its plain name",
    ),
    "type-of-a-constant-key": (
        2201,
        default(AIV) + of_key("kLarge", MIX) + KEYS,
        r"KERNEL_TASK_TYPE\(kLarge, \w+\): the key must be a decimal number",
    ),
    "type-of-an-expression": (
        2201,
        default(AIV) + of_key("(7)", MIX) + KEYS,
        r"KERNEL_TASK_TYPE\(\(7\), \w+\): the key must be a decimal number",
    ),
    "two-types-in-a-line": (
        2201,
        f"#define BOTH {default(AIV).strip()} {of_key(1, MIX)}BOTH\n" + KEYS,
        "another kernel type stands in the same line",
    ),
    "constant-key": (
        2201,
        "if (TILING_KEY_IS(kLarge)) {}",
        r"TILING_KEY_IS\(kLarge\): the key must be a decimal number.*builds no kernel",
    ),
    "key-in-brackets": (2201, "if (TILING_KEY_IS((9))) {}", r"TILING_KEY_IS\(\(9\)\): the key"),
    "hexadecimal-key": (2201, "if (TILING_KEY_IS(0x10)) {}", "digits in front, which is key 0"),
    "sum-as-key": (2201, "if (TILING_KEY_IS(SMALL + 1)) {}", "digits in front, which is key 7"),
    "two-defaults": (
        2201,
        "{ REGISTER_TILING_DEFAULT(Sizes); }\n{ REGISTER_TILING_DEFAULT(Others); }",
        "'Only one default tiling structure can be configured'",
    ),
    "unreadable-default": (
        2201,
        "REGISTER_TILING_DEFAULT(struct Sizes);",
        "cannot read the struct 'struct Sizes'",
    ),
    "struct-of-a-key-alone": (
        2201,
        'REGISTER_TILING_FOR_TILINGKEY("TILING_KEY_VAR == 1", Sizes);\n' + KEYS,
        "without REGISTER_TILING_DEFAULT: .*'must provide default tiling struct'",
    ),
    "unreadable-struct-of-a-key": (
        2201,
        "REGISTER_TILING_DEFAULT(Sizes);\n"
        'REGISTER_TILING_FOR_TILINGKEY("TILING_KEY_VAR == 1", const Sizes);\n' + KEYS,
        "REGISTER_TILING_FOR_TILINGKEY: .* cannot read the struct 'const Sizes'",
    ),
    "condition-without-quotes": (
        2201,
        "REGISTER_TILING_DEFAULT(Sizes);\n"
        "REGISTER_TILING_FOR_TILINGKEY(TILING_KEY_VAR == 1, Sizes);\n" + KEYS,
        "the condition must be a string",
    ),
    "two-structs-of-a-key": (
        2201,
        "REGISTER_TILING_DEFAULT(Sizes);\n"
        'REGISTER_TILING_FOR_TILINGKEY("TILING_KEY_VAR < 8", Sizes);\n'
        'REGISTER_TILING_FOR_TILINGKEY("TILING_KEY_VAR % 20 == 7", Others);\n' + KEYS,
        r"tiling key 7 matches the conditions of Sizes \(line \d+\) and of Others",
    ),
}
CLEAN = {
    "nothing": (2201, ""),
    "keys-alone": (2201, KEYS),
    "default-alone": (2201, default(MIX) + KEYS),
    "all-keys": (2201, "".join(of_key(key, MIX) for key in (1, 20, "SMALL")) + KEYS),
    "default-and-a-key": (2201, KEYS + "\n" + of_key("SMALL", MIX) + default(AIV)),
    "key-0": (2201, of_key(0, MIX)),
    "types-of-another-soc": (2002, of_key(1, MIX) + KEYS),
    "vector-core": (2002, default(VECTOR_CORE) + of_key(1, "KERNEL_TYPE_AICORE") + KEYS),
    "left-out": (2201, "#if 0\n" + of_key(1, MIX) + "#endif\n" + KEYS),
    "in-brackets": (2201, "if ((TILING_KEY_IS(1)) || (TILING_KEY_IS(2) && x != nullptr)) {}"),
    "structs": (
        2201,
        "REGISTER_TILING_DEFAULT(Sizes);\n"
        'REGISTER_TILING_FOR_TILINGKEY("(TILING_KEY_VAR == 1) || (TILING_KEY_VAR == 20)",'
        " sizes::Of<Sizes>);\n"
        'REGISTER_TILING_FOR_TILINGKEY("TILING_KEY_VAR & 2", Others);\n' + KEYS,
    ),
}


def front_end(file: Path, arch: int, *words: str) -> subprocess.CompletedProcess[str]:
    """The check alone."""
    command = [kernel_file.compiler(sim_root()), "--front-end", f"--npu-arch=dav-{arch}"]
    macros = [f"-D__NPU_ARCH__={arch}", f"-D__CCE_AICORE__={arch // 10}"]
    return subprocess.run(
        [*map(str, command), "-std=c++17", *macros, *words, str(file)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_named(tmp_path: Path, name: str) -> None:
    arch, kernel, message = FAULTS[name]
    file = tmp_path / "planted.cpp"
    file.write_text(source(kernel))
    done = front_end(file, arch)
    errors = [line for line in done.stderr.splitlines() if line.startswith(f"{file}:")]
    assert done.returncode == 1 and len(errors) == 1, done.stderr
    place = re.match(r"(.*?):(\d+):1: error: (.*)", errors[0])
    assert place and Path(place[1]) == file and re.search(message, place[3])
    assert "Next: " in place[3]
    line = file.read_text().splitlines()[int(place[2]) - 1]
    assert re.search(r"KERNEL_TASK_TYPE|TILING_KEY_IS|REGISTER_TILING|BOTH", line)


@pytest.mark.parametrize("name", CLEAN)
def test_nothing_is_found_in_what_cann_takes(tmp_path: Path, name: str) -> None:
    arch, kernel = CLEAN[name]
    file = tmp_path / "planted.cpp"
    file.write_text(source(kernel))
    done = front_end(file, arch)
    assert (done.returncode, done.stderr) == (0, "")


def test_code_that_nothing_calls_counts(tmp_path: Path) -> None:
    """The op compiler reads text, as this check does."""
    file = tmp_path / "planted.cpp"
    file.write_text(source(of_key(1, MIX) + "if (TILING_KEY_IS(1)) {}", unused=KEYS))
    assert "not for 7, 20" in front_end(file, 2201).stderr


@pytest.mark.parametrize("op", ["softmax_grad", "log_softmax_grad"])
@pytest.mark.parametrize("arch", [2201, 3510, 2002, 1001])
def test_our_kernels(tmp_path: Path, op: str, arch: int) -> None:
    """They set types of two keys; without the default the check says so where types count."""
    file = ROOT / "op_kernel" / op / f"{op}.cpp"
    words = [f"-I{ROOT / 'op_kernel'}", f"-I{ROOT / 'op_host'}"]
    done = front_end(file, arch, *words)
    assert (done.returncode, done.stderr) == (0, "")
    text = file.read_text()
    line = default(AIV)
    assert text.count(line) == 1
    planted = tmp_path / file.name
    planted.write_text(text.replace(line, ""))
    done = front_end(planted, arch, *words)
    assert ("for tiling key 2, 4, not for 1, 3, 5, 6" in done.stderr) == (arch in (2201, 3510))


def test_function_that_the_definition_asks_for(tmp_path: Path) -> None:
    file = tmp_path / "planted.cpp"
    file.write_text(source(""))
    assert front_end(file, 2201, "--entry=planted").returncode == 0
    for name in ("plant", "lanted", "x"):
        done = front_end(file, 2201, f"--entry={name}")
        assert done.returncode == 1
        assert f"{file}:1:1: error: the source has no function {name}, which" in done.stderr


# -- every way to build ---------------------------------------------------------------------------


def test_kernel_file(tmp_path: Path) -> None:
    file = tmp_path / "planted.cpp"
    file.write_text(source(of_key(1, MIX) + KEYS))
    with pytest.raises(
        SourcesError, match=r"planted.cpp does not build: KERNEL_TASK_TYPE is given"
    ):
        kernel_file.build_kernel(file, family_of("Ascend910B2"))
    file.write_text(source(default(AIV) + of_key(1, MIX) + KEYS))
    kernel_file.build_kernel(file, family_of("Ascend910B2"))


def test_operator_folder(tmp_path: Path) -> None:
    folder = tmp_path / "square"
    subprocess.run(["cp", "-r", HERE / "projects/math/square", folder], check=True)
    file = folder / "op_kernel" / "square.cpp"
    text, entry = file.read_text(), "GM_ADDR tiling) {\n"
    assert text.count(entry) == 1
    file.write_text(text.replace(entry, f"{entry}  {of_key(3, MIX)}"))
    with pytest.raises(SourcesError, match=r"kernel Square.*for tiling key 3, not for 0, without"):
        operator_build.build(folder, soc="Ascend910B2", dtypes=["float32"])
    file.write_text(
        text.replace("GM_ADDR x, GM_ADDR y, GM_ADDR workspace,", "GM_ADDR x, GM_ADDR y,")
    )
    with pytest.raises(
        SourcesError, match=r"square takes 3 arguments, CANN's op compiler passes 4"
    ):
        operator_build.build(folder, soc="Ascend910B2", dtypes=["float32"])
    file.write_text(text.replace("void square(", "void squared("))
    with pytest.raises(
        SourcesError, match=r"the source has no function square, which the operator's"
    ):
        operator_build.build(folder, soc="Ascend910B2", dtypes=["float32"])


def test_asc_file(tmp_path: Path) -> None:
    file = tmp_path / "planted.asc"
    file.write_text(source(of_key(1, MIX) + KEYS) + "int main() { return 0; }\n")
    with pytest.raises(SourcesError, match=r"for tiling key 1, not for 7, 20"):
        kernel_file.build_program(file, family_of("Ascend910B2"))
    file.write_text(source(default(MIX)) + "int main() { return 0; }\n")
    kernel_file.build_program(file, family_of("Ascend910B2"))


def test_cmake_project(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(planted CXX)\n"
        "find_package(aclgrad REQUIRED)\n"
        "aclgrad_add_kernel(planted SOURCES planted.cpp SOC Ascend910B2"
        " DEFINITIONS KIND=KERNEL_TYPE_MIX_AIV_1_0)\n"
    )
    file = tmp_path / "planted.cpp"
    file.write_text(source(of_key(1, "KIND") + KEYS))
    build = tmp_path / "build"
    package = f"-Daclgrad_DIR={config.cmake(find_toolkit())}"
    configure: list[str | Path] = ["cmake", "-S", tmp_path, "-B", build, "-G", "Ninja", package]
    subprocess.run(configure, check=True, capture_output=True)
    done = subprocess.run(["cmake", "--build", build], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "for tiling key 1, not for 7, 20" in done.stdout
    assert f"{file}:" in done.stdout
    file.write_text(source(default(AIV) + of_key(1, "KIND") + KEYS))
    subprocess.run(["cmake", "--build", build], check=True, capture_output=True)
