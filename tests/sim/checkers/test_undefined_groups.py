# SPDX-License-Identifier: Apache-2.0
"""What is undefined of the results of block and pair reductions: each by its own lanes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aclgrad.errors import AclgradError
from aclgrad.running import kernel_file
from aclgrad.running.operator_call import Outputs
from aclgrad.runtime.device import Device

KERNEL = """\
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void groups(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  TPipe pipe;
  TBuf<TPosition::VECCALC> first, second;
  pipe.InitBuffer(first, 512);
  pipe.InitBuffer(second, 512);
  LocalTensor<float> rows = first.Get<float>(), results = second.Get<float>();
  GlobalTensor<float> from, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), 8);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), 8);
  Duplicate(results, 0.0f, 128);
  PipeBarrier<PIPE_ALL>();
  DataCopy(rows[@block@ * 8], from, 8);
  PipeBarrier<PIPE_ALL>();
  SetVectorMask<float, MaskMode::NORMAL>(0, @mask@);
  @reduce@;
  PipeBarrier<PIPE_ALL>();
  ResetMask();
  uint64_t lane[] = {1ull << @result@, 0};
  Adds(results[64], results, 1.0f, lane, 1, UnaryRepeatParams(1, 1, 8, 8));
  PipeBarrier<PIPE_ALL>();
  DataCopy(to, results[64], 8);
}
"""
BLOCKS = "BlockReduceMax<float, false>(results, rows, 1, 0, 1, 1, 8)"
PAIRS = "PairReduceSum<float, false>(results, rows, 1, 0, 1, 1, 8)"


def result(folder: Path, device: Device, reduce: str, mask: str, block: int, place: int) -> Outputs:
    text = KERNEL.replace("@reduce@", reduce).replace("@mask@", mask)
    text = text.replace("@block@", str(block)).replace("@result@", str(place))
    file = folder / "groups.cpp"
    file.write_text(text)
    x = np.arange(3, 11, dtype=np.float32)
    return kernel_file.run_kernel(
        file, [[x]], ["8:fp32"], soc="Ascend910B2", workspace=0, open_device=lambda: device
    )


@pytest.mark.parametrize(
    ("reduce", "mask", "value"),
    [
        (BLOCKS, "0x0101010101010101", 4),
        (BLOCKS, "0x8080808080808080", 11),
        (BLOCKS, "~0ull", 11),
        (PAIRS, "0x1111111111111111", 4),
        (PAIRS, "0x3333333333333333", 8),
    ],
)
def test_a_result_of_lanes_that_are_there(
    reduce: str, mask: str, value: float, tmp_path: Path, device: Device
) -> None:
    ran = result(tmp_path, device, reduce, mask, 0, 0)
    assert not ran.findings and next(iter(ran.outputs.values()))[0] == value


@pytest.mark.plants_faults
@pytest.mark.parametrize("mask", ["0x0101010101010101", "~0ull", "0xFF01FF01FF01FF01"])
@pytest.mark.parametrize(("block", "place"), [(1, 0), (0, 1), (6, 7)])
def test_a_result_of_lanes_that_are_not(
    mask: str, block: int, place: int, tmp_path: Path, device: Device
) -> None:
    """One block is written, and the result of another one is read."""
    with pytest.raises(AclgradError, match=r"undefined-read(.|\n)*BlockReduceMax reads UB bytes"):
        result(tmp_path, device, BLOCKS, mask, block, place)
