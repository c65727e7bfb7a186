# SPDX-License-Identifier: Apache-2.0
"""The precision module proves itself: what is right passes, what is wrong fails."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclgrad.golden.precision import TOLERANCES, compare, round_to

DTYPES = [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)


def golden(count: int = 1000, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 3, (count // 10, 10))


@each_dtype
def test_rounded_golden_passes_within_half_an_ulp(dtype: np.dtype) -> None:
    want = golden()
    report = compare(want.astype(dtype), want)
    assert report.passed and report.matched_ratio == 1.0
    assert 0 < report.max_ulp <= 0.5
    assert report.first_bad is None


@each_dtype
@pytest.mark.parametrize("value", [100.0, np.nan, np.inf, -np.inf])
def test_one_corrupted_element_fails(dtype: np.dtype, value: float) -> None:
    want = golden()
    actual = want.astype(dtype)
    actual[42, 7] = value
    report = compare(actual, want)
    assert not report.passed
    assert report.first_bad is not None and report.first_bad.index == (42, 7)
    assert "42, 7" in str(report) and report.worst[0].index == (42, 7)


@each_dtype
def test_a_nan_that_moved_fails(dtype: np.dtype) -> None:
    want = golden()
    want[3, 3] = np.nan
    good = want.astype(dtype)
    assert compare(good, want).passed
    moved = good.copy()
    moved[3, 3], moved[3, 4] = good[3, 4], good[3, 3]
    assert compare(moved, want).special_mismatches == 2
    assert not compare(moved, want).passed


@each_dtype
def test_an_inf_of_the_other_sign_fails(dtype: np.dtype) -> None:
    want = golden()
    want[0, 0], want[0, 1] = np.inf, -np.inf
    good = want.astype(dtype)
    assert compare(good, want).passed
    good[0, 1] = np.inf
    report = compare(good, want)
    assert not report.passed and report.special_mismatches == 1
    good[0, 1] = np.nan
    assert not compare(good, want).passed


@each_dtype
def test_too_many_small_errors_fail(dtype: np.dtype) -> None:
    want = golden()
    limits = TOLERANCES[dtype.name]
    off = want + np.where(np.arange(want.size).reshape(want.shape) % 50 == 0, 1, 0) * (
        4 * (limits.atol + limits.rtol * np.abs(want))
    )
    report = compare(off.astype(dtype), want)
    assert not report.passed and report.matched_ratio == 0.98
    assert any("98.00%" in reason for reason in report.reasons)


def test_overflow_of_the_dtype_is_an_inf() -> None:
    want = np.array([1e5, -1e5, 1.0])
    assert compare(np.float16([np.inf, -np.inf, 1]), want).passed
    assert not compare(np.float16([65504, -np.inf, 1]), want).passed


def test_limit_is_met_by_32_ulp_of_a_large_value() -> None:
    want = np.full(200, 1e6)
    ulp = np.spacing(np.float32(1e6))
    near = np.float32(want)
    near[0] += 31 * ulp
    assert compare(near, want).passed
    near[0] += 200 * ulp
    assert not compare(near, want).passed


def test_a_cast_result_is_held_to_what_it_was_computed_in() -> None:
    want = golden()
    coarse = want.astype(ml_dtypes.bfloat16).astype(np.float32)
    assert not compare(coarse, want).passed
    assert compare(coarse, want, ml_dtypes.bfloat16).passed


def test_ulps_of_a_cancelled_sum_are_those_of_its_terms() -> None:
    want = np.full(4, 1e-6)
    got = np.float32(want + 2 * np.spacing(np.float32(8)))
    assert compare(got, want).max_ulp > 1000
    report = compare(got, want, terms=np.full(4, 8.0))
    assert report.passed and 1.5 < report.max_ulp < 2.5
    # The terms are float32's: they do not excuse a coarse dtype.
    half = np.float16(1.0) + np.spacing(np.float16(1.0))
    assert compare(half.reshape(1), np.ones(1), terms=np.full(1, 8.0)).max_ulp == 1.0


def test_empty_and_scalar_results() -> None:
    assert compare(np.empty((0, 3), np.float32), np.empty((0, 3))).passed
    assert compare(np.float32(1.5).reshape(()), np.array(1.5)).passed
    with pytest.raises(ValueError, match="shape"):
        compare(np.zeros(3, np.float32), np.zeros(4))


@each_dtype
@given(value=st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_ulp_is_the_spacing_of_the_dtype(dtype: np.dtype, value: float) -> None:
    exact = round_to(np.array([value]), dtype)
    if not np.isfinite(exact).all():
        return
    spacing = TOLERANCES[dtype.name].ulp(exact)
    as_dtype = np.abs(exact).astype(dtype)
    above = (
        (as_dtype.view(np.uint32 if dtype.itemsize == 4 else np.uint16) + 1)
        .view(dtype)
        .astype(np.float64)
    )
    if np.isfinite(above).all():
        assert above - as_dtype.astype(np.float64) == spacing


def test_worst_elements_are_those_of_a_full_sort() -> None:
    """Of equal errors the first; also where fewer than all are asked for, or all are equal."""
    rng = np.random.default_rng(0)
    for size in (0, 1, 4, 5, 6, 300):
        for levels in (1, 3, 1000):
            golden = np.ones(size)
            actual = (golden + rng.integers(0, levels, size) / 4096).astype(np.float32)
            distance = np.abs(actual - golden)
            want = np.argsort(-distance, kind="stable")[:5]
            report = compare(actual, golden)
            assert [element.index for element in report.worst] == [(int(at),) for at in want]
