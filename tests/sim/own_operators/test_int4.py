# SPDX-License-Identifier: Apache-2.0
"""Operators on int4: two elements a byte on the device, one in NumPy, as ml_dtypes has it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import aclgrad
from aclgrad.checks import operator_check
from aclgrad.common.files import FileError
from aclgrad.golden import precision
from aclgrad.running import kernel_file, operator_call
from aclgrad.runtime.memory import storage_of
from aclgrad.spec import dtypes
from aclgrad.testing import npy

pytestmark = pytest.mark.usefixtures("no_packages")

SQUARE = Path(__file__).parents[1] / "projects" / "math" / "square"
INFERENCE = """\
#include "register/op_impl_registry.h"

namespace ops {

static ge::graphStatus Infer(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  *context->GetOutputShape(1) = *context->GetInputShape(0);
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(Square).InferShape(Infer);

}  // namespace ops
"""
BODY = """\
  GlobalTensor<int8_t> source, back;
  GlobalTensor<half> target;
  const uint32_t bytes = (data.count + 1) / 2;
  source.SetGlobalBuffer((__gm__ int8_t*)x, bytes);
  target.SetGlobalBuffer((__gm__ half*)y, data.count);
  back.SetGlobalBuffer((__gm__ int8_t*)z, bytes);
  TPipe pipe;
  TBuf<TPosition::VECCALC> narrow, wide;
  pipe.InitBuffer(narrow, 8192);
  pipe.InitBuffer(wide, 32768);
  LocalTensor<int8_t> packed = narrow.Get<int8_t>();
  LocalTensor<half> value = wide.Get<half>();
  DataCopyPad(packed, source, {1, bytes, 0, 0, 0}, {false, 0, 0, 0});
  PipeBarrier<PIPE_ALL>();
  Cast(value, packed.ReinterpretCast<int4b_t>(), RoundMode::CAST_NONE, 2 * bytes);
  PipeBarrier<PIPE_ALL>();
  DataCopyPad(target, value, {1, data.count * 2, 0, 0, 0});
  PipeBarrier<PIPE_ALL>();
  Muls(value, value, half(-1), 2 * bytes);
  PipeBarrier<PIPE_ALL>();
  Cast(packed.ReinterpretCast<int4b_t>(), value, RoundMode::CAST_NONE, 2 * bytes);
  PipeBarrier<PIPE_ALL>();
  DataCopyPad(back, packed, {1, bytes, 0, 0, 0});
}
"""
GOLDEN = """\
import numpy as np


def golden(x):
    assert x.dtype == np.int64
    return x, np.minimum(-x, 7)
"""


@pytest.fixture(scope="module")
def widening(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An operator that gives an int4 tensor as half, and its negative as int4, where -8 has 7."""
    path = tmp_path_factory.mktemp("int4") / "square"
    shutil.copytree(SQUARE, path)
    definition = path / "op_host" / "square_def.cpp"
    x = definition.read_text().partition('    Output("y")')[0].replace("DT_FLOAT", "DT_INT4")
    given = ".ParamType(REQUIRED).DataType({ge::%s}).Format({ge::FORMAT_ND});\n"
    y = f'    Output("y"){given % "DT_FLOAT16"}    Output("z"){given % "DT_INT4"}'
    rest = (
        '    AICore().AddConfig("ascend910b");\n  }\n};\nOP_ADD(Square);\n\n}  // namespace ops\n'
    )
    definition.write_text(x + y + rest)
    (path / "op_host" / "square_infershape.cpp").write_text(INFERENCE)
    kernel = path / "op_kernel" / "square.cpp"
    head = kernel.read_text().partition("  GlobalTensor<float>")[0]
    assert "GM_ADDR y, GM_ADDR workspace" in head
    kernel.write_text(head.replace("GM_ADDR y,", "GM_ADDR y, GM_ADDR z,") + BODY)
    (path / "square_golden.py").write_text(GOLDEN)
    return path


@pytest.mark.parametrize("count", [1, 7, 64, 129])
def test_every_value(widening: Path, count: int) -> None:
    """Values arrive and come back, of an even number and of an odd one."""
    x = (np.arange(count) * 5 % 16 - 8).astype(ml_dtypes.int4)
    result = operator_call.run(widening, [[x]])
    assert result.findings == ()
    y, z = result.outputs["y"], result.outputs["z"]
    np.testing.assert_array_equal(y, x.astype(np.float16))
    assert (z.dtype, z.shape) == (dtypes.INT4.numpy, x.shape)
    np.testing.assert_array_equal(z.astype(int), np.minimum(-x.astype(int), 7))


def test_a_function_of_it(widening: Path) -> None:
    """Views of any strides; int8 is another dtype."""
    square = aclgrad.load(widening).square
    x = (np.arange(2 * 8 * 4) % 16 - 8).astype(ml_dtypes.int4).reshape(2, 8, 4)
    turned = x.transpose(2, 0, 1)[:, :, ::-2]
    y, z = square(turned)
    np.testing.assert_array_equal(y, turned.astype(np.float16))
    np.testing.assert_array_equal(z.astype(int), np.minimum(-turned.astype(int), 7))
    with pytest.raises(TypeError, match=r"x: got int8, want int4"):
        square(x.astype(np.int8))


def test_its_golden_and_its_checks(widening: Path, tmp_path: Path) -> None:
    """Made cases have all values of int4, also negative ones, and are compared."""
    checked = operator_check.check(str(widening), soc="Ascend910B2")
    ran = [outcome for outcome in checked.outcomes if outcome.ran]
    assert ran
    assert not any(outcome.errors for outcome in checked.outcomes)
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", "test", str(widening), "--fast", "--allow-refusals"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "24 passed" in done.stdout


def test_a_kernel_alone(tmp_path: Path, widening: Path) -> None:
    """What a kernel file is given and gives by words is as long."""
    text = (widening / "op_kernel" / "square.cpp").read_text()
    text = re.sub(r"GM_ADDR workspace,\s+GM_ADDR tiling", "uint32_t count", text)
    text = text.replace("  REGISTER_TILING_DEFAULT(SquareTilingData);\n", "")
    text = text.replace("  GET_TILING_DATA(data, tiling);\n", "")
    text = text.replace('#include "square_tiling_data.h"\n', "")
    path = tmp_path / "alone.cpp"
    path.write_text(text.replace("data.count", "count"))
    alone = kernel_file.find(str(path))
    assert alone is not None
    x = np.arange(-8, 8).astype(ml_dtypes.int4)
    words = ["y:16:fp16", "z:16:int4"]
    result = kernel_file.run_kernel(alone, [[x]], words, ["count=16"], soc="Ascend910B2")
    np.testing.assert_array_equal(result.outputs["y"], x.astype(np.float16))
    want = np.minimum(-x.astype(int), 7)
    np.testing.assert_array_equal(result.outputs["z"].astype(int), want)


def test_files(tmp_path: Path, widening: Path) -> None:
    """NumPy stores them as bytes without a dtype."""
    x = np.arange(-8, 8).astype(ml_dtypes.int4)
    np.save(tmp_path / "x.npy", x)
    np.testing.assert_array_equal(npy.load(tmp_path / "x.npy"), x)
    np.save(tmp_path / "other.npy", np.array([3, 200], np.uint8).view("V1"))
    with pytest.raises(FileError, match="does not tell what its numbers are"):
        npy.load(tmp_path / "other.npy")
    words = ["run", str(widening), "--inputs", "x.npy", "--save", "out.npz"]
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "out.npz") as saved:
        np.testing.assert_array_equal(saved["z"].view(ml_dtypes.int4)[1:], -x[1:].astype(int))


def test_memory() -> None:
    """The first element is in the lower half of its byte."""
    x = np.array([[1, -2, 3], [-8, 7, 0]], ml_dtypes.int4)
    storage, desc = storage_of(x)
    np.testing.assert_array_equal(storage, np.array([0xE1, 0x83, 0x07], np.uint8))
    assert (desc.shape, desc.dtype, desc.dtype.acl) == ((2, 3), dtypes.INT4, 29)
    np.testing.assert_array_equal(
        dtypes.from_memory(storage.astype(np.uint8), 5), x.reshape(-1)[:5]
    )


def test_its_precision() -> None:
    """Integers, which are exact."""
    x = np.arange(-8, 8).astype(ml_dtypes.int4)
    assert precision.compare(x, np.arange(-8.0, 8)).passed
    report = precision.compare(x, np.r_[np.arange(-8.0, 7), 6])
    assert (report.passed, report.matched, report.bound) == (False, 15, 0)
