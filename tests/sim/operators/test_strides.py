# SPDX-License-Identifier: Apache-2.0
"""Views of every kind in and out, casts of the result, empties, rank 0."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclgrad.ops import find
from aclgrad.runtime import Device
from aclgrad.spec.call import Call, TensorDesc, row_major
from aclgrad.spec.cases import Case
from aclgrad.spec.dtypes import BF16, CASTABLE, FLOAT, FLOAT16, DType
from aclgrad.testing.run import run_case

pytestmark = pytest.mark.on_board

SOFTMAX = find("softmax_grad")


@st.composite
def views(draw: st.DrawFn, shape: tuple[int, ...], dtype: DType, out: bool) -> TensorDesc:
    """A view of a larger tensor: permuted, sliced with steps, offset; expanded if it is an
    input.
    """
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.integers(1, 3)) for _ in shape]
    pads = [draw(st.integers(0, 3)) for _ in shape]
    starts = [draw(st.integers(0, pad)) for pad in pads]
    wide = [(shape[a] - 1) * steps[a] + 1 + pads[a] for a in order]
    by_axis = dict(zip(order, row_major(wide), strict=True))
    strides = [by_axis[axis] * steps[axis] for axis in range(len(shape))]
    if not out and shape and draw(st.booleans()):
        strides[draw(st.integers(0, len(shape) - 1))] = 0
    offset = sum(by_axis[axis] * starts[axis] for axis in range(len(shape)))
    spare = draw(st.integers(0, 5))
    return TensorDesc(shape, dtype, tuple(strides), offset, (math.prod(wide) + spare,))


@given(data=st.data())
def test_any_view_in_any_view_out(data: st.DataObject, device: Device) -> None:
    dtype = data.draw(st.sampled_from([FLOAT, FLOAT16, BF16]))
    shape = tuple(data.draw(st.lists(st.integers(1, 9), max_size=4)))
    rank = max(len(shape), 1)
    call = Call(
        {
            "gradOutput": data.draw(views(shape, dtype, False)),
            "output": data.draw(views(shape, dtype, False)),
            "out": data.draw(views(shape, data.draw(st.sampled_from([dtype, FLOAT])), True)),
        },
        {"dim": data.draw(st.integers(-rank, rank - 1))},
    )
    outcome = run_case(device, SOFTMAX, Case("view", SOFTMAX.op, call, "normal"))
    assert outcome.passed, f"{call}\n{outcome.message}"


@pytest.mark.parametrize("out_dtype", CASTABLE, ids=lambda dtype: dtype.label)
@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16, BF16], ids=lambda dtype: dtype.label)
def test_out_of_every_castable_dtype(dtype: DType, out_dtype: DType, device: Device) -> None:
    # Small integers, which every dtype holds.
    rng = np.random.default_rng(4)
    g, y = rng.integers(0, 3, (4, 5)), rng.integers(0, 2, (4, 5))
    want = SOFTMAX.evaluate({"gradOutput": g, "output": y}, {"dim": -1})
    arrays = {"gradOutput": g.astype(dtype.numpy), "output": y.astype(dtype.numpy)}
    got = device.run(SOFTMAX, arrays, {"dim": -1}, TensorDesc((4, 5), out_dtype))
    # A negative number has no unsigned value.
    keep = (want >= 0) | (not out_dtype.label.startswith("UINT"))
    with np.errstate(all="ignore"):
        expected = want.astype(out_dtype.numpy)
    assert got.dtype == out_dtype.numpy and np.array_equal(got[keep], expected[keep])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4), (0,) * 8])
def test_empty_tensors_need_no_memory(shape: tuple[int, ...], device: Device) -> None:
    empty = np.empty(shape, np.float16)
    got = device.run(
        SOFTMAX, {"gradOutput": empty, "output": empty}, {"dim": 0}, TensorDesc(shape, FLOAT16)
    )
    assert got.shape == shape


def test_empty_input_leaves_a_full_output_untouched(device: Device) -> None:
    before = np.arange(6, dtype=np.float32)
    out = device.upload(before)
    tensors = {
        "gradOutput": device.tensor(TensorDesc((2, 0)), None),
        "output": device.tensor(TensorDesc((2, 0)), None),
        "out": device.tensor(TensorDesc((2, 3)), out.address),
    }
    device.call(SOFTMAX, tensors, {"dim": 1})
    assert np.array_equal(out.read(before.dtype), before)


@pytest.mark.parametrize("dim", [-1, 0])
@pytest.mark.parametrize("dtype", [FLOAT, FLOAT16, BF16], ids=lambda dtype: dtype.label)
def test_rank_0(dtype: DType, dim: int, device: Device) -> None:
    g, y = np.asarray(3, dtype.numpy), np.asarray(0.5, dtype.numpy)
    got = device.run(SOFTMAX, {"gradOutput": g, "output": y}, {"dim": dim}, TensorDesc((), dtype))
    assert got.shape == () and float(got) == 0.75
