# SPDX-License-Identifier: Apache-2.0
"""What holds for every shape and value: sums, linearity, symmetries, traffic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclgrad.golden.limits import LIMITS
from aclgrad.runtime import Device
from aclgrad.spec.call import Call, TensorDesc
from aclgrad.spec.cases import Case
from aclgrad.spec.dtypes import FLOAT, DType
from aclgrad.testing.run import run_case
from samples import (
    BY_API,
    DTYPES,
    KL,
    LOG_SOFTMAX,
    MASKED,
    SIGMOID,
    SOFTMAX,
    Arrays,
    Attrs,
    Sample,
    run,
)

pytestmark = pytest.mark.on_board

WITH_DIM = [api for api in (SOFTMAX, LOG_SOFTMAX) if api in BY_API]
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)
dtypes = st.sampled_from(DTYPES)
seeds = st.integers(0, 2**31)


def needs(*apis: str) -> pytest.MarkDecorator:
    """Skip a test whose operators this build has not."""
    missing = sorted(set(apis) - set(BY_API))
    return pytest.mark.skipif(bool(missing), reason=f"no spec of {', '.join(missing)}")


@st.composite
def shapes(draw: st.DrawFn, max_rank: int = 8, room: int = 40_000) -> tuple[int, ...]:
    """Shapes of few elements, of which one dim may be long."""
    shape: list[int] = []
    for _ in range(draw(st.integers(0, max_rank))):
        left = room // max(math.prod(shape), 1)
        shape.append(draw(st.integers(1, min(left, 3000)) | st.integers(1, min(left, 40))))
    return tuple(shape)


@st.composite
def four_dims(draw: st.DrawFn) -> tuple[int, ...]:
    """Shapes of the masked softmax."""
    lead = tuple(draw(st.integers(1, 4)) for _ in range(3))
    return (*lead, draw(st.integers(1, 40) | st.integers(1, 4096)))


@st.composite
def calls(draw: st.DrawFn, api: str) -> Sample:
    """A call of any operator: shapes that broadcast where it may, attributes in their range."""
    if api == MASKED:
        shape = draw(four_dims())
        mask = tuple(draw(st.sampled_from([1, dim])) for dim in shape[:2]) + shape[2:]
        scale = draw(st.sampled_from([1.0, 0.125, -2.0]))
        return Sample(api, shape, {"scale": scale}, {"mask": mask})
    if api == KL:
        common = draw(shapes(4, 4_000))
        own, target, grad = (
            tuple(1 if draw(st.booleans()) and draw(st.booleans()) else dim for dim in common)
            for _ in range(3)
        )
        full = np.broadcast_shapes(own, target)
        grad = grad if np.broadcast_shapes(grad, full) == full else (1,)
        attrs: Attrs = {
            "reduction": draw(st.integers(-1, 4)),
            "logTarget": draw(st.booleans()),
        }
        return Sample(api, own, attrs, {"target": target, "gradOutput": grad})
    shape = draw(shapes())
    if api == SIGMOID:
        return Sample(api, shape)
    rank = max(len(shape), 1)
    return Sample(api, shape, {"dim": draw(st.integers(-rank, rank - 1))})


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


def epsilon(dtype: DType) -> float:
    return 2.0 ** -LIMITS[dtype.name].fraction_bits


def least(dtype: DType) -> float:
    """Smallest normal number."""
    return 2.0 ** LIMITS[dtype.name].min_exponent


def logits(shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(rng.uniform(-3, 3), rng.uniform(0.1, 4), shape)


def log_softmax(x: np.ndarray, dim: int) -> np.ndarray:
    moved = x - x.max(axis=dim, keepdims=True)
    result: np.ndarray = moved - np.log(np.exp(moved).sum(axis=dim, keepdims=True))
    return result


@pytest.mark.parametrize("api", sorted(BY_API))
@given(data=st.data())
def test_random_calls_are_precise(api: str, data: st.DataObject, device: Device) -> None:
    sample, dtype = data.draw(calls(api)), data.draw(dtypes)
    kinds = ["uniform", "normal", "probability", "zero", "nan", "inf", "-inf", "special"]
    values = data.draw(st.sampled_from(kinds))
    spec, tensors = sample.spec, {}
    for arg in spec.tensors:
        shape = sample.shape if arg.out else sample.shapes.get(arg.name, sample.shape)
        tensors[arg.name] = TensorDesc(shape, arg.dtypes[0] if arg.dtypes else dtype)
    call = Call(tensors, sample.all_attrs)
    outcome = run_case(device, spec, Case(f"{sample}-{values}", spec.op, call, values))
    assert outcome.passed, f"{call.describe()} {values}\n{outcome.message}"


@pytest.mark.parametrize("api", sorted(BY_API))
@given(data=st.data())
def test_powers_of_two_pass_through(api: str, data: st.DataObject, device: Device) -> None:
    sample, dtype = data.draw(calls(api)), data.draw(dtypes)
    factor = data.draw(st.sampled_from([-4.0, -1.0, 0.5, 2.0, 8.0]))
    arrays = sample.arrays(dtype, data.draw(st.integers(0, 99)))
    once = run(device, api, arrays, sample.attrs)
    arrays["gradOutput"] = (arrays["gradOutput"] * factor).astype(dtype.numpy)
    # FLOAT16 rounds its smallest numbers more coarsely than the larger ones.
    normal = np.abs(wide(once)) >= 16 * least(dtype)
    scaled = run(device, api, arrays, sample.attrs)
    np.testing.assert_array_equal(wide(scaled)[normal], wide(once)[normal] * factor)


@pytest.mark.parametrize("api", sorted(BY_API))
@given(data=st.data())
def test_gradients_add_up(api: str, data: st.DataObject, device: Device) -> None:
    sample = data.draw(calls(api))
    arrays = sample.arrays(FLOAT, data.draw(st.integers(0, 99)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    shape = arrays["gradOutput"].shape
    # Integers add up without rounding.
    first, second = (rng.integers(-99, 99, shape).astype(np.float32) for _ in range(2))

    def result(g: np.ndarray) -> np.ndarray:
        return wide(run(device, api, {**arrays, "gradOutput": g}, sample.attrs))

    terms: Any = 0.0
    for g in (first, second):
        terms += sample.spec.magnitudes({**arrays, "gradOutput": g}, sample.all_attrs)
    limit = 16 * epsilon(FLOAT) * terms + 1e-30
    assert (np.abs(result(first + second) - result(first) - result(second)) <= limit).all()


@pytest.mark.parametrize("api", WITH_DIM)
@given(data=st.data())
def test_slices_add_up_to_nothing(api: str, data: st.DataObject, device: Device) -> None:
    sample, dtype, seed = data.draw(calls(api)), data.draw(dtypes), data.draw(seeds)
    dim = int(sample.attrs["dim"]) if sample.shape else -1
    shape = sample.shape or (1,)
    y = log_softmax(logits(shape, seed), dim)
    y = (y if api == LOG_SOFTMAX else np.exp(y)).astype(dtype.numpy)
    g = logits(shape, seed + 1).astype(dtype.numpy)
    total = wide(run(device, api, {"gradOutput": g, "output": y}, {"dim": dim})).sum(axis=dim)
    # Rounding of y to its dtype, of each result, and of a sum of float32.
    length = shape[dim]
    if api == SOFTMAX:
        size, count = np.abs(wide(g) * wide(y)).sum(axis=dim), 4.0
    else:
        size, count = np.abs(wide(g)).sum(axis=dim), 4.0 + math.log(length)
    count += 2 * math.log2(length + 1) * epsilon(FLOAT) / epsilon(dtype)
    assert (np.abs(total) <= count * epsilon(dtype) * size + length * least(dtype)).all()


@pytest.mark.parametrize("api", WITH_DIM)
@given(data=st.data())
def test_negative_dims_count_from_the_back(api: str, data: st.DataObject, device: Device) -> None:
    sample, dtype = data.draw(calls(api)), data.draw(dtypes)
    rank, dim = max(len(sample.shape), 1), int(sample.attrs["dim"])
    other = dim - rank if dim >= 0 else dim + rank
    arrays = sample.arrays(dtype)
    found = [run(device, api, arrays, {"dim": value}).tobytes() for value in (dim, other)]
    assert found[0] == found[1]


@pytest.mark.parametrize("api", WITH_DIM)
@given(data=st.data())
def test_slices_do_not_know_each_other(api: str, data: st.DataObject, device: Device) -> None:
    shape = (data.draw(st.integers(2, 60)), data.draw(st.integers(1, 400)))
    dtype = data.draw(dtypes)
    arrays = Sample(api, shape).arrays(dtype, data.draw(st.integers(0, 99)))
    whole = run(device, api, arrays, {})
    row = data.draw(st.integers(0, shape[0] - 1))
    alone = run(device, api, {name: array[row] for name, array in arrays.items()}, {})
    assert alone.tobytes() == whole[row].tobytes()


@needs(SOFTMAX)
@given(data=st.data())
def test_softmax_of_a_constant_gradient_is_nothing(data: st.DataObject, device: Device) -> None:
    shape, dtype = data.draw(shapes(3).filter(bool)), data.draw(dtypes)
    y = np.exp(log_softmax(logits(shape, data.draw(seeds)), -1)).astype(dtype.numpy)
    g = np.full(shape, data.draw(st.sampled_from([1.0, -3.0, 64.0])), dtype.numpy)
    got = wide(run(device, SOFTMAX, {"gradOutput": g, "output": y}, {}))
    # c * y * (1 - sum(y)): as much as the sum of the rounded y is off 1.
    off = np.abs(wide(y).sum(axis=-1, keepdims=True) - 1) + 32 * epsilon(FLOAT)
    limit = np.abs(wide(g) * wide(y)) * off * (1 + epsilon(dtype)) + least(dtype)
    assert (np.abs(got) <= limit).all()


@needs(SIGMOID)
@given(data=st.data())
def test_log_sigmoid_symmetry_and_order(data: st.DataObject, device: Device) -> None:
    shape, dtype, seed = data.draw(shapes(3)), data.draw(dtypes), data.draw(seeds)
    rng = np.random.default_rng(seed)
    x = rng.uniform(-30, 30, shape).astype(dtype.numpy)
    g = rng.normal(size=shape).astype(dtype.numpy)

    def result(g: np.ndarray, x: np.ndarray) -> np.ndarray:
        return wide(run(device, SIGMOID, {"gradOutput": g, "self": x, "buffer": x}, {}))

    # 1 / (1 + e^x) + 1 / (1 + e^-x) = 1
    both = result(g, x), result(g, -x)
    size = np.abs(wide(g))
    assert (np.abs(both[0] + both[1] - wide(g)) <= 8 * epsilon(dtype) * size + least(dtype)).all()
    assert (np.abs(both[0]) <= size * (1 + 4 * epsilon(FLOAT))).all()
    ordered = np.sort(x, axis=None)
    falling = result(np.ones_like(ordered), ordered)
    assert (np.diff(falling) <= 4 * epsilon(FLOAT) * falling[:-1]).all()


def kl_arrays(data: st.DataObject, dtype: DType) -> Arrays:
    shape = data.draw(shapes(4, 4_000))
    return Sample(KL, shape).arrays(dtype, data.draw(st.integers(0, 99)))


@needs(KL)
@given(data=st.data())
def test_kl_div_reductions_differ_by_their_divisor(data: st.DataObject, device: Device) -> None:
    arrays, log = kl_arrays(data, FLOAT), data.draw(st.booleans())
    shape = arrays["self"].shape
    none, mean, total, batch = (
        run(device, KL, arrays, {"reduction": reduction, "logTarget": log})
        for reduction in range(4)
    )
    assert total.tobytes() == none.tobytes()
    # The divisor is rounded to float32 as a factor, once.
    assert mean.tobytes() == (none * np.float32(1 / none.size)).tobytes()
    assert batch.tobytes() == (none * np.float32(1 / (shape[0] if shape else 1))).tobytes()


@needs(KL)
@given(data=st.data())
def test_kl_div_of_other_reductions_and_selfs(data: st.DataObject, device: Device) -> None:
    arrays = kl_arrays(data, data.draw(dtypes))
    none = run(device, KL, arrays, {"reduction": 0}).tobytes()
    other = data.draw(st.integers(-(2**63), 2**63 - 1).filter(lambda value: not 1 <= value <= 3))
    assert run(device, KL, arrays, {"reduction": other}).tobytes() == none
    arrays["self"] = np.full_like(arrays["self"], data.draw(st.sampled_from([np.nan, np.inf, 0])))
    assert run(device, KL, arrays, {"reduction": 0}).tobytes() == none


@needs(KL)
@given(data=st.data())
def test_kl_div_broadcasts_as_numpy_does(data: st.DataObject, device: Device) -> None:
    sample = data.draw(calls(KL))
    arrays = sample.arrays(FLOAT, data.draw(st.integers(0, 99)))
    attrs = {**sample.attrs, "logTarget": False}
    own = arrays["self"].shape
    common = np.broadcast_shapes(own, arrays["target"].shape)
    full = {name: np.broadcast_to(array, common) for name, array in arrays.items()}
    each = wide(run(device, KL, full, attrs))
    axes = tuple(
        axis
        for axis, dim in enumerate(common)
        if axis < len(common) - len(own) or dim != own[axis - len(common)]
    )
    want, size = (part.sum(axis=axes).reshape(own) for part in (each, np.abs(each)))
    got = wide(run(device, KL, arrays, attrs))
    assert (np.abs(got - want) <= 16 * epsilon(FLOAT) * size).all()
    # Nothing was summed: the very bits.
    if own == common:
        np.testing.assert_array_equal(got, want)


@needs(KL)
@given(data=st.data())
def test_kl_div_of_a_log_target_is_that_of_its_exp(data: st.DataObject, device: Device) -> None:
    arrays = kl_arrays(data, FLOAT)
    log = wide(run(device, KL, arrays, {"reduction": 0, "logTarget": True}))
    arrays["target"] = np.exp(arrays["target"])
    plain = wide(run(device, KL, arrays, {"reduction": 0}))
    np.testing.assert_allclose(log, plain, rtol=8 * epsilon(FLOAT))


def masked_arrays(data: st.DataObject, dtype: DType, shape: tuple[int, ...]) -> Arrays:
    arrays = Sample(MASKED, shape).arrays(dtype, data.draw(st.integers(0, 99)))
    arrays["mask"] = np.random.default_rng(data.draw(st.integers(0, 99))).random(shape) < 0.5
    return arrays


@needs(MASKED)
@given(data=st.data())
def test_a_mask_of_ones_gives_plus_zero(data: st.DataObject, device: Device) -> None:
    shape, dtype = data.draw(four_dims()), data.draw(dtypes)
    arrays = masked_arrays(data, dtype, shape)
    arrays["gradOutput"].flat[0] = data.draw(st.sampled_from([np.nan, np.inf, -1.0]))
    arrays["mask"] = np.ones((1, 1, *shape[2:]), bool)
    got = run(device, MASKED, arrays, {"scale": data.draw(st.sampled_from([1.0, -2.0, np.nan]))})
    assert not got.tobytes().strip(b"\0")


@needs(MASKED)
@given(data=st.data())
def test_the_mask_selects_and_does_no_more(data: st.DataObject, device: Device) -> None:
    shape, dtype = data.draw(four_dims()), data.draw(dtypes)
    arrays = masked_arrays(data, dtype, shape)
    attrs: Attrs = {"scale": data.draw(st.sampled_from([1.0, 0.3, -2.0]))}
    got = run(device, MASKED, arrays, attrs)
    open_ = run(device, MASKED, {**arrays, "mask": np.zeros(shape, bool)}, attrs)
    assert np.where(arrays["mask"], np.zeros_like(open_), open_).tobytes() == got.tobytes()


@needs(MASKED, SOFTMAX)
@given(data=st.data())
def test_without_mask_and_scale_it_is_softmax(data: st.DataObject, device: Device) -> None:
    shape, dtype = data.draw(four_dims()), data.draw(dtypes)
    arrays = masked_arrays(data, dtype, shape)
    arrays["mask"] = np.zeros((1, 1, *shape[2:]), bool)
    plain = {"gradOutput": arrays["gradOutput"], "output": arrays["y"]}
    want = run(device, SOFTMAX, plain, {})
    got = run(device, MASKED, arrays, {"scale": 1.0})
    assert got.tobytes() == want.tobytes()


@needs(MASKED)
@given(data=st.data())
def test_a_broadcast_mask_is_its_copies(data: st.DataObject, device: Device) -> None:
    shape, dtype = data.draw(four_dims()), data.draw(dtypes)
    arrays = masked_arrays(data, dtype, shape)
    small = arrays["mask"][
        : data.draw(st.sampled_from([1, shape[0]])), : data.draw(st.sampled_from([1, shape[1]]))
    ]
    found = [
        run(device, MASKED, {**arrays, "mask": mask}, {"scale": 0.7}).tobytes()
        for mask in (small, np.broadcast_to(small, shape).copy(), np.broadcast_to(small, shape))
    ]
    assert found[0] == found[1] == found[2]


@needs(MASKED)
@given(data=st.data())
def test_scales(data: st.DataObject, device: Device) -> None:
    shape, dtype = data.draw(four_dims()), data.draw(dtypes)
    arrays = masked_arrays(data, dtype, shape)
    assert not run(device, MASKED, arrays, {"scale": 0.0}).any()
    one = wide(run(device, MASKED, arrays, {"scale": 1.0}))
    factor = data.draw(st.sampled_from([-1.0, -0.25, 2.0, 4.0]))
    scaled = wide(run(device, MASKED, arrays, {"scale": factor}))
    normal = np.abs(one) >= 16 * least(dtype)
    np.testing.assert_array_equal(scaled[normal], one[normal] * factor)


def traffic(device: Device, sample: Sample, dtype: DType) -> tuple[float, int]:
    """Bytes moved by the least possible, and bytes moved."""
    device.set_option("mode", "checked")
    spec, tensors = sample.spec, {}
    for arg in spec.tensors:
        shape = sample.shape if arg.out else sample.shapes.get(arg.name, sample.shape)
        tensors[arg.name] = TensorDesc(shape, arg.dtypes[0] if arg.dtypes else dtype)
    outcome = run_case(device, spec, Case(f"{sample}", spec.op, Call(tensors, sample.all_attrs)))
    assert outcome.traffic is not None, outcome.message
    return outcome.traffic, outcome.moved_bytes


@pytest.mark.sim_only
@each_dtype
@pytest.mark.parametrize("api", WITH_DIM)
def test_rows_that_fit_move_no_byte_twice(api: str, dtype: DType, device: Device) -> None:
    for shape, dim in (((64, 1024), -1), ((300, 7), -1), ((16, 4096), -1), ((40, 129), 0)):
        ratio, _ = traffic(device, Sample(api, shape, {"dim": dim}), dtype)
        assert ratio == pytest.approx(1.0), f"{shape}"


@pytest.mark.sim_only
@each_dtype
@needs(MASKED)
def test_masks_are_read_at_most_once_per_row(dtype: DType, device: Device) -> None:
    for shape in ((4, 4, 16, 256), (3, 5, 70, 33), (64, 12, 1, 16), (1, 2, 3, 4096)):
        for leading in (shape[:2], (1, shape[1]), (shape[0], 1), (1, 1)):
            sample = Sample(MASKED, shape, {}, {"mask": (*leading, *shape[2:])})
            ratio, moved = traffic(device, sample, dtype)
            size = math.prod(shape)
            assert moved <= 3 * size * dtype.numpy.itemsize + size, f"{sample}"
            if leading == shape[:2]:
                assert ratio == pytest.approx(1.0), f"{sample}"


@pytest.mark.sim_only
@each_dtype
@pytest.mark.parametrize("api", sorted({SIGMOID, KL} & set(BY_API)))
def test_elementwise_operators_move_no_byte_twice(api: str, dtype: DType, device: Device) -> None:
    ratio, _ = traffic(device, Sample(api, (37, 1009)), dtype)
    assert ratio == pytest.approx(1.0)


@pytest.mark.sim_only
@pytest.mark.parametrize("api", WITH_DIM)
def test_long_rows_move_at_most_1_7_times_the_floor(api: str, device: Device) -> None:
    for shape, dim in (((2, 1 << 17), -1), ((1 << 17, 2), 0)):
        ratio, _ = traffic(device, Sample(api, shape, {"dim": dim}), FLOAT)
        assert ratio <= 1.7, f"{shape}"
