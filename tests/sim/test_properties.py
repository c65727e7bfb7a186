# SPDX-License-Identifier: Apache-2.0
"""What holds for every shape: precision, and bits that depend on neither cores nor threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclgrad.call import Call, TensorDesc
from aclgrad.cases import Case
from aclgrad.dtypes import BF16, FLOAT, FLOAT16, DType
from aclgrad.ops import find
from aclgrad.run import run_case
from aclgrad.runtime import Device

SOFTMAX = find("softmax_grad")
DTYPES = [FLOAT, FLOAT16, BF16]
SHAPES = [
    ((97, 1), -1),
    ((200, 33), -1),
    ((3, 5000), -1),
    ((1, 70001), -1),
    ((33, 129), 0),
    ((5000, 3), 0),
    ((4, 65, 33), 1),
]


@given(data=st.data())
def test_random_shapes(data: st.DataObject, device: Device) -> None:
    dtype = data.draw(st.sampled_from(DTYPES))
    shape: list[int] = []
    for _ in range(data.draw(st.integers(0, 8))):
        room = 40_000 // max(int(np.prod(shape)), 1)
        shape.append(data.draw(st.integers(1, min(room, 3000)) | st.integers(1, min(room, 40))))
    rank = max(len(shape), 1)
    dim = data.draw(st.integers(-rank, rank - 1))
    values = data.draw(
        st.sampled_from(
            ["uniform", "normal", "probability", "zero", "nan", "inf", "-inf", "special"]
        )
    )
    desc = TensorDesc(tuple(shape), dtype)
    case = Case(
        f"{shape}-{values}",
        SOFTMAX.op,
        Call({"gradOutput": desc, "output": desc, "out": desc}, {"dim": dim}),
        values,
    )
    outcome = run_case(device, SOFTMAX, case)
    assert outcome.passed, f"{dtype.name} {shape} dim {dim} {values}\n{outcome.message}"


def bits(device: Device, shape: tuple[int, ...], dim: int, dtype: DType) -> bytes:
    rng = np.random.default_rng(1)
    arrays = {name: rng.normal(size=shape).astype(dtype.numpy) for name in ("gradOutput", "output")}
    return device.run(SOFTMAX, arrays, {"dim": dim}, TensorDesc(shape, dtype)).tobytes()


@pytest.mark.sim_only
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_bits_do_not_depend_on_cores(
    shape: tuple[int, ...], dim: int, dtype: DType, device: Device
) -> None:
    want = bits(device, shape, dim, dtype)
    for cores in (1, 2, 3, 7, 20, 47, 48):
        device.set_option("cores", str(cores))
        assert bits(device, shape, dim, dtype) == want, f"{cores} cores"


@pytest.mark.sim_only
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_bits_do_not_depend_on_threads_or_mode(
    shape: tuple[int, ...], dim: int, device: Device
) -> None:
    want = bits(device, shape, dim, FLOAT)
    for threads in (1, 2, 3, 4):
        for mode in ("checked", "fast"):
            device.set_option("threads", str(threads))
            device.set_option("mode", mode)
            assert bits(device, shape, dim, FLOAT) == want, f"{threads} threads, {mode}"


@pytest.mark.sim_only
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)
def test_rows_that_fit_move_no_byte_twice(dtype: DType, device: Device) -> None:
    device.set_option("mode", "checked")
    for shape, dim in (((64, 1024), -1), ((300, 7), -1), ((16, 4096), -1)):
        desc = TensorDesc(shape, dtype)
        call = Call({"gradOutput": desc, "output": desc, "out": desc}, {"dim": dim})
        outcome = run_case(device, SOFTMAX, Case(f"{shape}", SOFTMAX.op, call))
        assert outcome.passed and outcome.traffic == pytest.approx(1.0), (
            f"{shape}: {outcome.traffic}"
        )


@pytest.mark.sim_only
def test_long_rows_move_at_most_1_7_times_the_floor(device: Device) -> None:
    device.set_option("mode", "checked")
    desc = TensorDesc((2, 1 << 17), FLOAT)
    call = Call({"gradOutput": desc, "output": desc, "out": desc}, {"dim": -1})
    outcome = run_case(device, SOFTMAX, Case("long", SOFTMAX.op, call))
    assert outcome.passed and outcome.traffic is not None and outcome.traffic <= 1.7
