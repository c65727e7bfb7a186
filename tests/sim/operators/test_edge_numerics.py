# SPDX-License-Identifier: Apache-2.0
"""NaN, Inf, denormals, signed zeros, overflow: each row of the contract's numerics by name."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from aclgrad.runtime import Device
from aclgrad.spec.call import TensorDesc
from aclgrad.spec.dtypes import BF16, BOOL, DOUBLE, FLOAT, FLOAT16, DType, by_label
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
    assert_same_values,
    rank_of,
    run,
)

pytestmark = pytest.mark.on_board

NAN, INF = math.nan, math.inf
TINY = {FLOAT: 2.0**-149, FLOAT16: 2.0**-24, BF16: 2.0**-133}
LARGEST = {FLOAT: 2.0**128 - 2.0**104, FLOAT16: 65504.0, BF16: 2.0**128 - 2.0**120}
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)
Values = tuple[float, ...]


@dataclass(frozen=True)
class Edge:
    """One slice of values that every dtype holds, and what must come of it, to the bit."""

    name: str
    api: str
    inputs: dict[str, Values]
    want: Values
    attrs: Attrs = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.api.removeprefix('aclnn').removesuffix('Backward')}-{self.name}"

    def arrays(self, dtype: DType) -> Arrays:
        """Inputs as vectors, of rank 4 where the operator wants that."""
        lead = (1,) * ((rank_of(BY_API[self.api]) or 1) - 1)
        kinds = {arg.name: arg.dtypes for arg in BY_API[self.api].input_args}
        return {
            name: np.array(values, (*kinds[name], dtype)[0].numpy).reshape(*lead, -1)
            for name, values in self.inputs.items()
        }


def soft(name: str, g: Values, y: Values, want: Values) -> Edge:
    return Edge(name, SOFTMAX, {"gradOutput": g, "output": y}, want)


def log_soft(name: str, g: Values, y: Values, want: Values) -> Edge:
    return Edge(name, LOG_SOFTMAX, {"gradOutput": g, "output": y}, want)


def sigmoid(name: str, g: Values, x: Values, want: Values) -> Edge:
    return Edge(name, SIGMOID, {"gradOutput": g, "self": x, "buffer": (0.0,)}, want)


def kl(name: str, g: Values, t: Values, want: Values, self: Values = (), **attrs: int) -> Edge:
    inputs = {"gradOutput": g, "self": self or (0.0,) * len(want), "target": t}
    return Edge(name, KL, inputs, want, {"reduction": 0, **attrs})


def masked(name: str, g: Values, y: Values, mask: Values, want: Values, scale: float = 1) -> Edge:
    return Edge(name, MASKED, {"gradOutput": g, "y": y, "mask": mask}, want, {"scale": scale})


ROWS = [
    soft("nan_in_gradient_poisons_the_slice", (1, NAN, 2), (1, 2, 3), (NAN,) * 3),
    soft("nan_in_output_poisons_the_slice", (1, 1, 2), (1, 2, NAN), (NAN,) * 3),
    soft("nan_times_zero_poisons_the_slice", (NAN, 1, 2), (0, 2, 3), (NAN,) * 3),
    soft("inf_times_zero_is_nan", (INF, 1, 2), (0, 2, 3), (NAN,) * 3),
    soft("zero_times_inf_is_nan", (0, 1), (INF, 2), (NAN,) * 2),
    soft("inf_sum", (INF, 1, 1, 1), (0.5, 0.25, 0, 2), (NAN, -INF, NAN, -INF)),
    soft("minus_inf_sum", (-INF, 1, 1, 1), (0.5, 0.25, 0, 2), (NAN, INF, NAN, INF)),
    soft("negative_output_under_inf_sum", (INF, 1), (0.5, -1), (NAN, INF)),
    soft("inf_and_minus_inf", (INF, -INF, 1), (1, 1, 1), (NAN,) * 3),
    soft("inf_in_output", (1, 1), (INF, 1), (NAN, -INF)),
    soft("any_numbers_for_output", (1, 2, 3), (3, 2, 1), (3 - 30, 4 - 20, 3 - 10)),
    soft("length_1", (3,), (0.5,), (3 * 0.5 * 0.5,)),
    soft("length_1_of_a_true_softmax", (3,), (1,), (0,)),
    soft("zeros", (0, 0), (0.5, 0.5), (0, 0)),
    log_soft("exp_overflow_times_zero_sum_is_nan", (1, -1), (INF, 0), (NAN, -1)),
    log_soft("exp_overflow_times_sum", (1, 1), (INF, 0), (-INF, -1)),
    log_soft("exp_overflow_times_negative_sum", (-1, -1), (INF, 0), (INF, 1)),
    log_soft("exp_of_finite_overflows", (1, 1), (1000, 0), (-INF, -1)),
    log_soft("exp_of_minus_inf_leaves_g", (3, 4), (-INF, 0), (3, -3)),
    log_soft("exp_of_minus_inf_leaves_minus_g", (-3, 4), (-INF, 0), (-3, 3)),
    log_soft("exp_of_minus_inf_under_inf_sum", (1, INF, 2), (-INF, 0, 0), (NAN, NAN, -INF)),
    log_soft("exp_of_minus_inf_under_nan_sum", (1, NAN), (-INF, 0), (NAN, NAN)),
    log_soft("exp_vanishes", (3, 4), (-1000, 0), (3, -3)),
    log_soft("nan_in_gradient_poisons_the_slice", (1, NAN, 2), (0, 0, 0), (NAN,) * 3),
    log_soft("inf_in_gradient", (1, INF, 2), (0, 0, 0), (-INF, NAN, -INF)),
    log_soft("minus_inf_in_gradient", (1, -INF, 2), (0, 0, 0), (INF, NAN, INF)),
    log_soft("inf_gradient_where_exp_is_0", (INF, 1), (-INF, 0), (NAN, -INF)),
    log_soft("nan_in_output_stays_in_place", (1, 2), (NAN, 0), (NAN, -1)),
    log_soft("length_1_of_a_true_log_softmax", (3,), (0,), (0,)),
    sigmoid("plus_inf_gives_signed_zero", (2, -2, 0, -0.0), (INF,) * 4, (0, -0.0, 0, -0.0)),
    sigmoid("plus_inf_times_inf_is_nan", (INF, -INF), (INF,) * 2, (NAN, NAN)),
    sigmoid("minus_inf_gives_g", (2, -3, INF, -INF, -0.0), (-INF,) * 5, (2, -3, INF, -INF, -0.0)),
    sigmoid("nan_in_self", (1, 0, INF), (NAN,) * 3, (NAN,) * 3),
    sigmoid("nan_in_gradient", (NAN,) * 5, (0, 1, -1, INF, -INF), (NAN,) * 5),
    sigmoid("both_zeros_give_half", (3, 3, -5, -5), (0, -0.0, 0, -0.0), (1.5, 1.5, -2.5, -2.5)),
    sigmoid("zero_gradient_keeps_its_sign", (0, -0.0, 0, -0.0), (0, 0, -9, 9), (0, -0.0, 0, -0.0)),
    sigmoid("inf_gradient", (INF, -INF), (1, -1), (INF, -INF)),
    sigmoid("large_negative_does_not_overflow", (2, -2, 7), (-88, -300, -60000), (2, -2, 7)),
    sigmoid("large_positive_vanishes", (2, -2), (300, 60000), (0, -0.0)),
    kl("nan_in_gradient", (NAN, 1), (1, 1), (NAN, -1)),
    kl("nan_in_target", (1, 1), (NAN, 1), (NAN, -1)),
    kl("zero_times_inf_is_nan", (0, INF), (INF, 0), (NAN, NAN)),
    kl("inf", (INF, -INF, 2), (2, 2, -INF), (-INF, INF, INF)),
    kl("zero_target_gives_minus_zero", (3, -3), (0, 0), (-0.0, 0)),
    kl("minus_zero_target", (3, -3), (-0.0, -0.0), (0, -0.0)),
    kl("zero_gradient", (0, -0.0), (2, 2), (-0.0, 0)),
    kl("negative_target_is_not_special", (2, -2), (-3, -3), (6, -6)),
    kl("nan_in_self_is_not_read", (1, 1), (2, 3), (-2, -3), self=(NAN, INF)),
    kl("exp_overflow", (1, -1, 0), (1000, 1000, 1000), (-INF, INF, NAN), logTarget=1),
    kl("exp_of_inf", (1, 0), (INF, INF), (-INF, NAN), logTarget=1),
    kl("exp_of_minus_inf", (1, -1, INF), (-INF,) * 3, (-0.0, 0, NAN), logTarget=1),
    kl("exp_of_zero", (2, -2), (0, -0.0), (-2, 2), logTarget=1),
    kl("exp_of_nan", (1, 0), (NAN, NAN), (NAN, NAN), logTarget=1),
    kl("one_gradient_for_all", (2,), (0, 1, NAN, INF), (-0.0, -2, NAN, -INF)),
    kl("nan_gradient_for_all", (NAN,), (0, 1, INF), (NAN,) * 3),
    kl("zero_gradient_for_all", (0,), (1, INF, -1), (-0.0, NAN, 0)),
    kl("mean_of_nan_stays_in_place", (NAN, 4), (1, 1), (NAN, -2), reduction=1),
    kl("batchmean_keeps_signed_zero", (4, -4), (0, 0), (-0.0, 0), reduction=3),
    masked("masked_places_are_plus_zero", (-1, -2), (0.5, 0.5), (1, 1), (0, 0), -1),
    masked("masked_nan_is_zero_but_counts", (NAN, 1, 2), (1, 1, 1), (1, 0, 0), (0, NAN, NAN)),
    masked("masked_inf_is_zero_but_counts", (INF, 1, 2), (1, 1, 1), (1, 0, 0), (0, -INF, -INF)),
    masked("masked_nan_in_y_counts", (1, 1), (NAN, 1), (1, 0), (0, NAN)),
    masked("masked_inf_times_zero_counts", (INF, 1), (0, 1), (1, 0), (0, NAN)),
    masked("all_masked_nan", (NAN, INF), (NAN, 0), (1, 1), (0, 0)),
    masked("inf_sum", (INF, 1, 1, 1), (0.5, 2, 0, 1), (0, 0, 0, 1), (NAN, -INF, NAN, 0)),
    masked("scale_0", (1, 3), (0.5, 0.5), (0, 0), (-0.0, 0), 0.0),
    masked("scale_0_of_nan", (NAN, 3, 1), (1, 1, 1), (0, 0, 1), (NAN, NAN, 0), 0.0),
    masked("scale_0_of_inf", (INF, 1, 1), (1, 1, 1), (0, 0, 1), (NAN, NAN, 0), 0.0),
    masked("scale_minus_2", (1, 3), (0.5, 0.5), (0, 1), (1, 0), -2.0),
    masked("scale_nan", (1, 3), (0.5, 0.5), (0, 1), (NAN, 0), NAN),
    masked("scale_inf", (1, 3, 2), (0.5, 0.5, 0), (0, 0, 1), (-INF, INF, 0), INF),
    masked("scale_minus_inf", (1, 3, 2), (0.5, 0.5, 0), (0, 0, 1), (INF, -INF, 0), -INF),
    masked("scale_inf_of_zero_is_nan", (2, 2), (0.5, 0.5), (0, 1), (NAN, 0), INF),
    masked("scale_beyond_float32_is_inf", (1, 3), (0.5, 0.5), (0, 1), (-INF, 0), 1e300),
    masked("scale_below_float32_is_0", (1, 3), (0.5, 0.5), (0, 0), (-0.0, 0), 1e-60),
    masked("scale_1_of_inf", (INF, 1), (1, 1), (0, 0), (NAN, -INF), 1.0),
]
ROWS = [row for row in ROWS if row.api in BY_API]


@each_dtype
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_row(row: Edge, dtype: DType, device: Device) -> None:
    got = run(device, row.api, row.arrays(dtype), row.attrs)
    assert_same_values(got.reshape(-1), np.array(row.want))


@each_dtype
@pytest.mark.parametrize("row", [r for r in ROWS if "dim" in BY_API[r.api].defaults()], ids=str)
def test_other_slices_are_not_touched(row: Edge, dtype: DType, device: Device) -> None:
    arrays = {
        name: np.stack([np.ones_like(array)] * 8 + [array] + [np.ones_like(array)] * 8)
        for name, array in row.arrays(dtype).items()
    }
    clean = {name: np.ones_like(array) for name, array in arrays.items()}
    want = run(device, row.api, clean, {"dim": 1})
    want[8] = np.array(row.want).astype(dtype.numpy)
    assert_same_values(run(device, row.api, arrays, {"dim": 1}), want, "rows")
    columns = {name: np.ascontiguousarray(array.T) for name, array in arrays.items()}
    got = run(device, row.api, columns, {"dim": 0})
    np.testing.assert_array_equal(got[:, 8].astype(np.float64), np.array(row.want), "columns")
    finite = np.delete(got, 8, axis=1).astype(np.float64)
    np.testing.assert_array_equal(finite, np.delete(want.T, 8, axis=1).astype(np.float64))


@each_dtype
@pytest.mark.parametrize(
    "row",
    # Not those whose divisor depends on the size.
    [r for r in ROWS if r.api in (SIGMOID, KL) and not r.attrs.get("reduction")],
    ids=str,
)
def test_elementwise_rows_anywhere_in_a_long_tensor(
    row: Edge, dtype: DType, device: Device
) -> None:
    repeats = 30011
    arrays = {
        name: array if array.size == 1 and array.size != len(row.want) else np.tile(array, repeats)
        for name, array in row.arrays(dtype).items()
    }
    got = run(device, row.api, arrays, row.attrs)
    assert_same_values(got, np.tile(np.array(row.want), repeats))


@each_dtype
@pytest.mark.parametrize("api", [api for api in (SOFTMAX, LOG_SOFTMAX) if api in BY_API])
@pytest.mark.parametrize("special", [NAN, INF])
@pytest.mark.parametrize("place", [0, 70_000, 99_999])
def test_one_special_value_reaches_all_of_a_long_slice(
    place: int, special: float, api: str, dtype: DType, device: Device
) -> None:
    for shape, dim in (((2, 100_000), 1), ((100_000, 2), 0)):
        g, y = np.zeros(shape, dtype.numpy), np.ones(shape, dtype.numpy)
        index = (0, place) if dim else (place, 0)
        g[index] = special
        got = run(device, api, {"gradOutput": g, "output": y}, {"dim": dim}).astype(np.float64)
        hit, other = (got[0], got[1]) if dim else (got[:, 0], got[:, 1])
        assert np.isnan(hit[place]) and not other.any()
        rest = np.delete(hit, place)
        assert np.isnan(rest).all() if special != special else (rest == -INF).all()


def run_row(
    device: Device, api: str, dtype: DType, inputs: dict[str, list[float]], attrs: Attrs
) -> np.ndarray:
    values = {name: tuple(row) for name, row in inputs.items()}
    edge = Edge("", api, values, (), attrs)
    return run(device, api, edge.arrays(dtype), attrs).reshape(-1).astype(np.float64)


def products(api: str, g: list[float], y: list[float]) -> tuple[dict[str, list[float]], Attrs]:
    """Inputs of the operators whose terms are products of two operands."""
    if api == SOFTMAX:
        return {"gradOutput": g, "output": y}, {"dim": -1}
    if api == MASKED:
        return {"gradOutput": g, "y": y, "mask": [0.0] * len(g)}, {}
    return {"gradOutput": g, "self": [0.0] * len(g), "target": y}, {"reduction": 0}


PRODUCTS = [api for api in (SOFTMAX, KL, MASKED) if api in BY_API]


@each_dtype
@pytest.mark.parametrize("api", PRODUCTS)
def test_store_overflows_to_inf(api: str, dtype: DType, device: Device) -> None:
    top = LARGEST[dtype]
    below = run_row(device, api, dtype, *products(api, [top, 0.0], [-2.0, 0.0]))
    above = run_row(device, api, dtype, *products(api, [top, 0.0], [2.0, 0.0]))
    if api == KL:
        assert (below[0], above[0]) == (INF, -INF)
        return
    # g*y - (g*y)*y is -2M - 4M and 2M - 4M, which float32 holds only for FLOAT16's largest M.
    assert below[0] == -INF
    assert above[0] == -INF if dtype == FLOAT16 else np.isnan(above[0])


@each_dtype
@pytest.mark.parametrize("api", PRODUCTS)
def test_largest_number_is_stored_as_it_is(api: str, dtype: DType, device: Device) -> None:
    # The sum is 0, so g*y comes out alone.
    top = LARGEST[dtype]
    got = run_row(device, api, dtype, *products(api, [top, -top], [1.0, 1.0]))
    sign = -1 if api == KL else 1
    assert got.tolist() == [sign * top, -sign * top]


@pytest.mark.parametrize("api", [api for api in (SOFTMAX, LOG_SOFTMAX, MASKED) if api in BY_API])
def test_sums_of_fp16_do_not_overflow_on_the_way(api: str, device: Device) -> None:
    # 64 * 60000 is no FLOAT16; y = 2^-10, or exp(y) = 0, brings it back.
    g = [60000.0] * 64
    if api == LOG_SOFTMAX:
        inputs: dict[str, list[float]] = {"gradOutput": g, "output": [-INF] * 64}
        got = run_row(device, api, FLOAT16, inputs, {})
        assert (got == 60000).all()
        return
    got = run_row(device, api, FLOAT16, *products(api, g, [2.0**-10] * 64))
    f = 60000 * 2.0**-10
    np.testing.assert_array_equal(got, np.float16(f - 64 * f * 2.0**-10))


def test_kl_product_of_fp16_does_not_overflow_before_the_divisor(device: Device) -> None:
    inputs = {"gradOutput": [60000.0] * 4, "self": [0.0] * 4, "target": [2.0] * 4}
    got = run_row(device, KL, FLOAT16, inputs, {"reduction": 1})
    assert (got == -30000).all()
    # In FLOAT the product comes first and is Inf before it is divided.
    big = {"gradOutput": [3e38] * 4, "self": [0.0] * 4, "target": [2.0] * 4}
    assert (run_row(device, KL, FLOAT, big, {"reduction": 1}) == -INF).all()


@each_dtype
def test_kl_sums_over_a_broadcast_keep_special_values_in_their_column(
    dtype: DType, device: Device
) -> None:
    t = np.ones((4, 5), dtype.numpy)
    t[1, 0], t[2, 1], t[3, 2], t[0, 3], t[2, 3] = NAN, INF, -INF, INF, -INF
    one = np.ones(1, dtype.numpy)
    for shape in ((5,), (1, 5)):
        arrays = {"gradOutput": one, "self": np.zeros(shape, dtype.numpy), "target": t}
        got = run(device, KL, arrays, {"reduction": 2}).reshape(-1)
        assert_same_values(got, np.array([NAN, -INF, INF, NAN, -4]))


# A real NPU may flush float32 denormals; the simulator keeps them, as IEEE has them.


@pytest.mark.sim_only
@each_dtype
@pytest.mark.parametrize("api", PRODUCTS)
def test_denormals_are_numbers(api: str, dtype: DType, device: Device) -> None:
    tiny = TINY[dtype]
    sign = -1.0 if api == KL else 1.0
    for g, y in (([1.0, 1.0], [tiny, 0.0]), ([tiny, 0.0], [1.0, 0.0]), ([3.0, 0.0], [tiny, 0.0])):
        got = run_row(device, api, dtype, *products(api, g, y))
        # g*y - (g*y)*y: the square vanishes unless y is 1.
        want = sign * g[0] * y[0] if api == KL or y[0] != 1 else 0.0
        assert got[0] == want, f"{g} {y}"


@pytest.mark.sim_only
@each_dtype
@pytest.mark.parametrize("api", PRODUCTS)
def test_results_round_to_even_among_denormals(api: str, dtype: DType, device: Device) -> None:
    tiny, sign = TINY[dtype], -1.0 if api == KL else 1.0
    for factor, steps in ((0.5, 0.0), (0.75, 1.0), (1.5, 2.0), (2.5, 2.0)):
        # The sum is 0, so g*y comes out alone.
        got = run_row(device, api, dtype, *products(api, [factor, -factor], [tiny, tiny]))
        want = sign * steps * tiny
        assert got.tolist() == [want, -want], f"{factor} of the smallest number"


@pytest.mark.sim_only
@each_dtype
def test_log_sigmoid_fades_out_gradually(dtype: DType, device: Device) -> None:
    xs = np.arange(80, 112, 0.5).astype(dtype.numpy)
    g = np.ones_like(xs)
    got = run(device, SIGMOID, {"gradOutput": g, "self": xs, "buffer": g}, {}).astype(np.float64)
    want = np.exp(-xs.astype(np.float64))
    # One float32 denormal for the exponential, one step of the dtype for the rounding.
    np.testing.assert_allclose(got, want, rtol=2.0**-7, atol=2 * TINY[FLOAT] + TINY[dtype])
    assert (np.diff(got) <= 0).all() and not np.signbit(got).any()
    if dtype == FLOAT:
        assert got[(xs > 88) & (xs < 102)].all() and not got[xs >= 105].any()


@each_dtype
def test_log_sigmoid_at_the_ends_of_the_dtype(dtype: DType, device: Device) -> None:
    top, tiny = LARGEST[dtype], TINY[dtype]
    inputs = {
        "gradOutput": [top, top, -top, top, 2.0, 2.0],
        "self": [-top, 0.0, -0.0, top, tiny, -tiny],
        "buffer": [0.0],
    }
    got = run_row(device, SIGMOID, dtype, inputs, {})
    assert got.tolist() == [top, top / 2, -top / 2, 0.0, 1.0, 1.0]


@each_dtype
@pytest.mark.parametrize("byte", [1, 2, 127, 128, 255])
def test_any_mask_byte_but_0_masks(byte: int, dtype: DType, device: Device) -> None:
    shape = (1, 1, 2, 40)
    rng = np.random.default_rng(byte)
    bytes_ = np.where(rng.random(shape) < 0.5, byte, 0).astype(np.uint8)
    g, y = (rng.normal(size=shape).astype(dtype.numpy) for _ in range(2))
    arrays = {"gradOutput": g, "y": y, "mask": bytes_ != 0}
    want = run(device, MASKED, arrays, {"scale": -1.5}).tobytes()
    assert run(
        device, MASKED, {**arrays, "mask": bytes_.view(bool)}, {"scale": -1.5}
    ).tobytes() == (want)


@each_dtype
@pytest.mark.parametrize("scale", [1.0, 0.0, -0.0, -2.0, NAN, INF, -INF])
def test_masked_places_are_zero_bits_for_every_scale(
    scale: float, dtype: DType, device: Device
) -> None:
    shape = (2, 2, 3, 129)
    rng = np.random.default_rng(3)
    g, y = (
        rng.choice([NAN, INF, -INF, -0.0, 0.0, -2.0, 3.0], shape).astype(dtype.numpy)
        for _ in range(2)
    )
    mask = rng.random(shape) < 0.5
    got = run(device, MASKED, {"gradOutput": g, "y": y, "mask": mask}, {"scale": scale})
    assert not got[mask].tobytes().strip(b"\0")


@pytest.mark.parametrize("api", [api for api in (SOFTMAX, LOG_SOFTMAX) if api in BY_API])
@each_dtype
def test_casts_of_the_result(api: str, dtype: DType, device: Device) -> None:
    # Rows whose sum is 0: the result is g*y, or g.
    values = np.array([1.75, -1.75, 0.5, -0.5, 0.0, 0.0, 3.0, -3.0], dtype.numpy)
    y = np.ones_like(values) if api == SOFTMAX else np.zeros_like(values)

    def cast(to: DType) -> np.ndarray:
        arrays = {"gradOutput": values, "output": y}
        return run(device, api, arrays, {"dim": -1}, TensorDesc(values.shape, to))

    for label in ("INT8", "INT16", "INT32", "INT64"):
        assert cast(by_label(label)).tolist() == [1, -1, 0, 0, 0, 0, 3, -3], label
    for label in ("UINT8", "UINT16", "UINT32", "UINT64"):
        assert cast(by_label(label))[[0, 2, 4, 6]].tolist() == [1, 0, 0, 3], label
    assert cast(BOOL).tolist() == [True, True, True, True, False, False, True, True]
    assert cast(DOUBLE).tolist() == values.astype(np.float64).tolist()
    for label in ("COMPLEX64", "COMPLEX128"):
        found = cast(by_label(label))
        assert found.real.tolist() == values.astype(np.float64).tolist() and not found.imag.any()
