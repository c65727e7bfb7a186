# SPDX-License-Identifier: Apache-2.0
"""Advice on kernels that are not ours: it leads to what saves time, and nothing else is given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aclgrad.profiling.advice import Advice, advise, below_error, decides, excess
from aclgrad.profiling.calls import profile_sources
from aclgrad.profiling.profiled import Profiled, from_json
from aclgrad.profiling.text import warnings
from aclgrad.running import kernel_file
from aclgrad.runtime.device import Device

HERE = Path(__file__).parent / "advice"
A2, A5 = "Ascend910B2", "Ascend950PR_9599"


def profiled(
    device: Device, name: str, inputs: list[str], outputs: list[str], key: int = 0, soc: str = A2,
    blocks: int = 48, **attrs: int,
) -> Profiled:  # fmt: skip
    arrays = []
    for word in inputs:
        shape, dtype = word.split(":")
        arrays.append([np.zeros([int(dim) for dim in shape.split("x")], dtype)])
    return profile_sources(
        str(HERE / f"{name}.cpp"), arrays, [f"{attr}={value}" for attr, value in attrs.items()],
        soc=soc, outputs=outputs, device=device, blocks=blocks, tiling_key=key,
    )  # fmt: skip


def tried(found: Profiled) -> dict[str, Advice]:
    """All rules that apply, by name, however little they save."""
    return {item.rule: item for item in (*advise(found), *below_error(found))}


def sigmoid_times(device: Device, soc: str = A2, **attrs: int) -> Profiled:
    given = {"n": 3145728, "tile": 8192, "depth": 2, "casts": 1, "more": 0} | attrs
    n = given["n"]
    return profiled(device, "sigmoid_times", [f"{n}:float16"], [f"{n}:fp16"], soc=soc, **given)


def layer_norm_grad(device: Device, step: int) -> Profiled:
    inputs = ["4096x1024:float16"] * 2 + ["4096:float32"] * 2 + ["1024:float32"]
    outputs = ["4096x1024:fp16", "1024:fp32=0", "1024:fp32=0"]
    return profiled(device, "layer_norm_grad", inputs, outputs, step, rows=4096)


def test_layer_norm_backward_in_two_steps(device: Device) -> None:
    """As it was written, 55.6 us when somebody tried it and 29.2 us reachable: a ratio of 0.53."""
    written, tiled, folded = (layer_norm_grad(device, step) for step in range(3))
    assert decides(written).startswith("ReduceSum: 32% of the time, VECTOR")
    assert "ReduceSum(to[r * kApart]" in decides(written)
    first, second = advise(written)[0], advise(tiled)[0]
    assert (first.rule, second.rule) == ("tiles", "fold")
    assert "DataCopy(dy, dy_[row * kCols], rows * kCols);" in first.where
    assert "ReduceSum(to[r * kApart]" in second.where and "WholeReduceSum" in second.text
    # What was applied saves what the model said, to within its error.
    assert tiled.us == pytest.approx(written.us * (1 - first.gain), rel=0.26)
    assert folded.us == pytest.approx(tiled.us * (1 - second.gain), rel=0.1)
    assert folded.us < 0.56 * written.us
    assert advise(folded) == []
    assert not {"depth", "casts", "registers"} & {*tried(written), *tried(tiled), *tried(folded)}


@pytest.mark.parametrize("step", [0, 1, 2])
def test_steps_of_layer_norm_agree(device: Device, step: int) -> None:
    rows, cols = 96, 1024
    rng = np.random.default_rng(1)
    dy, x = (rng.standard_normal((rows, cols)).astype(np.float16) for _ in range(2))
    gamma = rng.uniform(0.5, 2, cols).astype(np.float32)
    wide = x.astype(np.float32)
    mean, rstd = wide.mean(1), 1 / wide.std(1)
    device.set_option("mode", "checked")
    result = kernel_file.run_kernel(
        HERE / "layer_norm_grad.cpp", [[dy], [x], [mean], [rstd], [gamma]],
        [f"{rows}x{cols}:fp16", f"{cols}:fp32=0", f"{cols}:fp32=0"], [f"rows={rows}"], soc=A2,
        blocks=20, tiling_key=step, open_device=lambda: device,
    )  # fmt: skip
    assert not result.findings
    normal = (wide - mean[:, None]) * rstd[:, None]
    g = dy * gamma
    dx = rstd[:, None] * (
        g - g.mean(1, keepdims=True) - normal * (g * normal).mean(1, keepdims=True)
    )
    for found, wanted in zip(
        result.outputs.values(),
        (dx, (dy * normal).sum(0), dy.sum(0, dtype=np.float32)),
        strict=True,
    ):
        np.testing.assert_allclose(found.astype(np.float32), wanted, rtol=2e-3, atol=2e-3)


def test_rms_norm_forward(device: Device) -> None:
    """Two buffers are there, so nobody advises them; gamma, copied for each row, is named."""
    found = profiled(
        device, "rms_norm_forward", ["4096x1024:float16", "1024:float16"], ["4096x1024:fp16"],
        rows=4096, cols=1024,
    )  # fmt: skip
    rules = tried(found)
    assert {"tiles", "scalar"} <= {item.rule for item in advise(found)}
    assert "GetValue(0)" in rules["scalar"].where
    assert not {"depth", "casts", "rows", "registers"} & set(rules)
    assert "DataCopy(gamma, gamma_, cols_);" in excess(found)


def test_row_norm(device: Device) -> None:
    """Many rows of a tile, but an instruction for each."""
    found = profiled(
        device, "row_norm", ["98304x64:float32"], ["98304:fp32"], rows=98304, cols=64, tile=256
    )
    (item,) = advise(found)
    assert item.rule == "rows"
    assert item.where.endswith("WholeReduceSum(y[r], x[r * cols_], cols_, 1, 1, 1, 8);")
    assert set(tried(found)) == {"rows", "imbalance"}
    assert decides(found).startswith("DataCopy (GM to UB): 98% of the bytes")


def test_row_mean(device: Device) -> None:
    """Sums that are summed up again could be folded before, where the vector pipe decides."""
    few, all_ = (
        profiled(device, "row_mean", ["9216x2048:float32"], ["9216:fp32"], blocks=blocks, rows=9216)
        for blocks in (8, 48)
    )
    item = next(item for item in advise(few) if item.rule == "fold")
    assert item.where.endswith("WholeReduceSum(s, t, 64, 128, 1, 1, 8);")
    assert {item.rule for item in advise(few)} <= {"fold", "idle-cores"}
    assert advise(all_) == []


def test_gather(device: Device) -> None:
    """Data say where each row is: copies cannot become one, and no row is known to come again."""
    found = profiled(
        device, "gather_rows", ["8192x256:float32", "12288:int32"], ["12288x256:fp32"],
        rows=12288, cols=256,
    )  # fmt: skip
    assert set(tried(found)) == {"tiles"}
    assert "several copies into one tensor of the queue" in tried(found)["tiles"].text


def test_casts(device: Device) -> None:
    again = advise(sigmoid_times(device, casts=8))[0]
    assert again.rule == "casts"
    assert again.text.startswith("2,688 Casts take bytes that have been cast")
    assert "casts" not in tried(sigmoid_times(device))


def test_depth_of_queues(device: Device) -> None:
    one = sigmoid_times(device, depth=1, tile=2048)
    item = tried(one)["depth"]
    assert item.text.startswith("inX_, outY_: one buffer each")
    assert "InitBuffer(inX_, depth" in item.where
    two = sigmoid_times(device, depth=2, tile=2048)
    assert two.us == pytest.approx(one.us * (1 - item.gain), rel=0.02)
    assert "depth" not in tried(two)


def test_registers_of_950(device: Device) -> None:
    item = advise(sigmoid_times(device, A5, more=8))[0]
    assert item.rule == "registers"
    assert "Maxs(e, e, -60.0f, tile_);" in item.where
    # What each turn takes from the one before is no row by itself.
    assert set(tried(sigmoid_times(device, more=8))) <= {"tiles", "barriers"}


def test_small_tiles_of_950_are_the_scalar_pipes(device: Device) -> None:
    found = sigmoid_times(device, A5, tile=512)
    item = next(item for item in advise(found) if item.rule == "tiles")
    assert "the scalar pipe works" in item.text
    assert "for AllocTensor, EnQue, DeQue and FreeTensor" in item.text


def test_advice_saves_more_than_the_error(device: Device) -> None:
    for found in (layer_norm_grad(device, 0), sigmoid_times(device, tile=1024)):
        error = 1 - found.estimate.low / found.us
        gains = [item.gain for item in advise(found)]
        assert gains == sorted(gains, reverse=True)
        assert all(gain >= error - 1e-9 for gain in gains)


DIRECT = """\
#include "kernel_operator.h"
using namespace AscendC;

__simd_vf__ inline void Doubled(__ubuf__ float* x, uint16_t registers) {
  Reg::RegTensor<float> all;
  Reg::MaskReg mask = Reg::CreateMask<float, Reg::MaskPattern::ALL>();
  for (uint16_t i = 0; i < registers; ++i) {
    Reg::LoadAlign(all, x + i * 64);
    Reg::Muls(all, all, 2.0f, mask);
    Reg::StoreAlign(x + i * 64, all, mask);
  }
}

extern "C" __global__ __aicore__ void direct(GM_ADDR x, GM_ADDR y) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 4096);
  LocalTensor<float> tile = buffer.Get<float>();
  Duplicate(tile, 1.0f, 1024);
  PipeBarrier<PIPE_ALL>();
  CALL
}
"""


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("Doubled((__ubuf__ float*)tile.GetPhyAddr(), 16);", ["Muls, left out"]),
        ("Add(tile, tile, tile[3], 1024);", ["Add, left out"]),
        ("asc_vf_call<Doubled>((__ubuf__ float*)tile.GetPhyAddr(), 16);", []),
    ],
)
def test_what_is_left_out_is_named_and_takes_time(
    tmp_path: Path, call: str, names: list[str]
) -> None:
    """Register instructions outside of a vector function, a wrong call: never a silent zero."""
    path = tmp_path / "direct.cpp"
    path.write_text(DIRECT.replace("CALL", call))
    command = [
        sys.executable, "-m", "aclgrad", "profile", path, "64", "--outputs", "64:fp32", "--soc", A5,
        "--keep-going", "--json",
    ]  # fmt: skip
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    saved = tmp_path / "saved.json"
    saved.write_text(done.stdout)
    found = from_json(saved)
    assert set(names) <= set(found.assumed)
    assert bool(names) == bool(found.assumed)
    for name in names:
        (text,) = (text for text in warnings(found) if text.startswith(name))
        row = next(row for row in found.kernel["instructions"] if row["name"] == name)
        assert row["cycles"] >= 80
        assert f"({row['count']} of them)" in text and "fix the fault" in text
