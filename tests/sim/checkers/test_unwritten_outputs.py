# SPDX-License-Identifier: Apache-2.0
"""Outputs that nobody wrote, of operators from sources: lists, empty ones, shapes of the result."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aclgrad.errors import AclnnError
from aclgrad.running import operator_call

pytestmark = [
    pytest.mark.plants_faults,
    pytest.mark.usefixtures("no_packages"),
]

MATH = Path(__file__).parents[1] / "projects" / "math"
STORE = "    DataCopyPad(target, value, bytes);\n"
# One kernel for all that is forgotten of a list: what x holds first says which.
FORGETS = """\
    const float what = source.GetSize() > 0 ? source.GetValue(0) : 0;
    if (what == 1) {  // nothing
      continue;
    }
    if (what == 2) {  // a part
      DataCopyPad(target, value, {1, static_cast<uint32_t>((size - 1) * sizeof(float)), 0, 0, 0});
      continue;
    }
    if (size > 0) {
      DataCopyPad(target, value, bytes);
    }
"""


def edited(folder: Path, name: str, *edits: tuple[str, str, str]) -> Path:
    """A copy of an operator with (file, text, new text)."""
    shutil.copytree(MATH / name, folder / name)
    for file, old, new in edits:
        path = folder / name / file
        text = path.read_text()
        assert text.count(old) == 1, (file, old)
        path.write_text(text.replace(old, new))
    return folder / name


@pytest.fixture(scope="module")
def list_scale(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """y[i] = x[i] * 3, but for what x[i] says."""
    kernel = ("op_kernel/list_scale.cpp", STORE, FORGETS)
    return edited(tmp_path_factory.mktemp("list"), "list_scale", kernel)


def tensors(*first: float) -> list[np.ndarray]:
    """A list of tensors of different sizes that begin with these."""
    return [np.full(10 + i, value, np.float32) for i, value in enumerate(first)]


def test_tensors_of_a_list(list_scale: Path) -> None:
    """Each is an output of its own, told by its number."""
    result = operator_call.run(list_scale, [tensors(5, 6, 7)])
    assert result.outputs["y_2"].tolist() == [21] * 12
    with pytest.raises(AclnnError, match=r"(?s)output-unwritten") as caught:
        operator_call.run(list_scale, [tensors(5, 1, 7, 2)])
    text = str(caught.value)
    assert "no core wrote bytes [0, 44) (elements 0 to 10 of 11) of y[1]" in text
    assert "no core wrote bytes [48, 52) (element 12 of 13) of y[3]" in text
    assert text.count("[output-unwritten]") == 2
    path = list_scale / "op_kernel" / "list_scale.cpp"
    part = next(i for i, line in enumerate(path.read_text().splitlines(), 1) if "size - 1" in line)
    assert f"list_scale.cpp:{part}" in text


@pytest.mark.parametrize("names", ["y", "y[1]", "ListScale.y"])
def test_tensors_of_a_list_that_may_stay_unwritten(list_scale: Path, names: str) -> None:
    """The list's name stands for all of it."""
    device = operator_call.open_sim()
    device.set_option("partial_outputs", names)
    try:
        result = operator_call.run(list_scale, [tensors(5, 1)])
    finally:
        device.set_option("partial_outputs", "")
    assert result.outputs["y_0"].tolist() == [15] * 10


def test_empty_tensors(list_scale: Path) -> None:
    """There is nothing to write, in a list and alone."""
    empty = np.empty((0, 4), np.float32)
    result = operator_call.run(list_scale, [[*tensors(5), empty, *tensors(6)]])
    assert result.outputs["y_1"].shape == (0, 4)
    assert operator_call.run(list_scale, [[empty]]).outputs["y"].shape == (0, 4)


def test_shape_that_the_result_says(tmp_path: Path) -> None:
    """How much is written only the kernel knows: a part will do, where op_host says so."""
    whole = "target, value, {1, data.count * 4"
    less = ("op_kernel/square.cpp", whole, f"{whole} - 32")
    plain = edited(tmp_path / "plain", "square", less)
    x = np.arange(24, dtype=np.float32)
    with pytest.raises(AclnnError, match=r"output-unwritten.*\n.*square\.cpp:"):
        operator_call.run(plain, [[x]])
    output = '    Output("y").ParamType(REQUIRED)'
    marked = (
        ("op_host/square_def.cpp", output, f"{output}.OutputShapeDependOnCompute()"),
        ("op_kernel/square.cpp", "GM_ADDR y, ", "GM_ADDR y, GM_ADDR shape, "),
    )
    result = operator_call.run(edited(tmp_path / "marked", "square", less, *marked), [[x]])
    np.testing.assert_array_equal(result.outputs["y"][:16], x[:16] ** 2)
    inferred = "IMPL_OP_INFERSHAPE(Square)"
    registered = (
        "op_host/square_infershape.cpp",
        inferred,
        f"{inferred}.OutputShapeDependOnCompute({{0}})",
    )
    result = operator_call.run(edited(tmp_path / "registered", "square", less, registered), [[x]])
    np.testing.assert_array_equal(result.outputs["y"][:16], x[:16] ** 2)


# out[i] = 7 for i < 16 * count, by one core for each 16, of 64; what main does besides says which.
PROGRAM = """\
#include <cstdio>
#include <cstring>
#include "acl/acl.h"
#include "kernel_operator.h"

__global__ __aicore__ void fill(GM_ADDR out, int32_t first, int32_t count) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 64);
  AscendC::LocalTensor<int32_t> values = buffer.Get<int32_t>();
  AscendC::GlobalTensor<int32_t> target;
  target.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out));
  if (AscendC::GetBlockIdx() >= count) return;
  AscendC::Duplicate(values, 7, 16);
  AscendC::PipeBarrier<PIPE_ALL>();
  AscendC::DataCopy(target[16 * (first + AscendC::GetBlockIdx())], values, 16);
}

int main(int argc, char** argv) {
  const auto is = [&](const char* word) { return argc > 1 && std::strcmp(argv[1], word) == 0; };
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  uint8_t* out = nullptr;
  int32_t* host = nullptr;
  aclrtMalloc(reinterpret_cast<void**>(&out), 256, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMallocHost(reinterpret_cast<void**>(&host), 256);
  if (is("set")) aclrtMemset(out, 256, 0, 256);
  const int count = is("whole") || is("other") ? 4 : is("none") ? 0 : 3;
  fill<<<4, nullptr, stream>>>(out, is("front") ? 1 : 0, count);
  if (is("twice")) fill<<<1, nullptr, stream>>>(out, 3, 1);
  if (is("async")) aclrtMemcpyAsync(host, 256, out, 256, ACL_MEMCPY_DEVICE_TO_HOST, stream);
  aclrtSynchronizeStream(stream);
  if (is("other")) aclrtMalloc(reinterpret_cast<void**>(&out), 256, ACL_MEM_MALLOC_HUGE_FIRST);
  if (is("rows"))
    aclrtMemcpy2d(host, 64, out, 128, 64, 2, ACL_MEMCPY_DEVICE_TO_HOST);
  else if (!is("async"))
    aclrtMemcpy(host, 256, out, is("part") ? 192 : 256, ACL_MEMCPY_DEVICE_TO_HOST);
  return 0;
}
"""


@pytest.fixture(scope="module")
def filling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program whose kernel fills a part of what the program reads."""
    path = tmp_path_factory.mktemp("filling") / "fill.asc"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(
    ("which", "status", "gap", "at", "reads"),
    [
        ("tail", 0, "[192, 256)", "DataCopy(target[", "aclrtMemcpy("),
        ("front", 0, "[0, 64)", "DataCopy(target[", "aclrtMemcpy("),
        ("none", 1, "[0, 256)", "target.SetGlobalBuffer(", "aclrtMemcpy("),
        ("async", 0, "[192, 256)", "DataCopy(target[", "aclrtMemcpyAsync("),
    ],
)
def test_a_program_reads_what_no_core_wrote(
    filling: Path, which: str, status: int, gap: str, at: str, reads: str
) -> None:
    """The kernel's line and the program's, once. Gaps are a hint: the program may not use them."""
    text = run_program(filling, which, status)
    word = "kernel fault" if status else "hint"
    assert text.count(f"{word} [output-unwritten]") == 1 == text.count("[output-unwritten]")
    assert f"no core wrote bytes {gap} of argument 0" in text
    shown = [line for line in text.splitlines() if line.startswith("     ")]
    assert at in shown[0] and reads in shown[-1], text


@pytest.mark.parametrize("which", ["whole", "part", "rows", "twice", "set", "other"])
def test_a_program_reads_what_is_written(filling: Path, which: str) -> None:
    """Or what no launch was given, of which nobody knows what it is for."""
    assert "unwritten" not in run_program(filling, which, 0)


def run_program(path: Path, word: str, status: int) -> str:
    words = [sys.executable, "-m", "aclgrad", "run", str(path), "--", word]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr
