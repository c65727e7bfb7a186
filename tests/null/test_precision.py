# SPDX-License-Identifier: Apache-2.0
"""The precision module proves itself: what is right passes, what is wrong fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from aclgrad.golden.limits import LIMITS, NEIGHBOURS, TILE, round_to, row_scale
from aclgrad.golden.precision import compare, judge, measure

DTYPES = [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)


def golden(count: int = 1000, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 3, (count // 10, 10))


@each_dtype
@pytest.mark.parametrize("exponent", [0, -10, -20, -40])
def test_rounded_golden_passes_within_half_an_ulp(dtype: np.dtype, exponent: int) -> None:
    want = golden() * 2.0**exponent
    report = compare(want.astype(dtype), want)
    assert report.passed and report.matched_ratio == 1.0 and report.public_standard
    assert 0 <= report.max_ulp_of_scale <= 0.5
    assert report.first_bad is None and report.notes == ()
    assert report.vacuous == (exponent == -40 and dtype == np.float16)


@each_dtype
@pytest.mark.parametrize("value", [100.0, np.nan, np.inf, -np.inf])
def test_one_corrupted_element_fails(dtype: np.dtype, value: float) -> None:
    want = golden()
    actual = want.astype(dtype)
    actual[42, 7] = value
    report = compare(actual, want)
    assert not report.passed and report.matched == 999
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
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-5])
def test_faults_of_gradients_of_any_size_fail(dtype: np.dtype, scale: float) -> None:
    """What a fixed absolute tolerance and a share of the elements let pass."""
    if dtype == np.float16 and scale < 1e-4:
        pytest.skip("float16 has too few digits there")
    want = np.random.default_rng(1).uniform(-scale, scale, (64, 1000))
    right = want.astype(dtype)
    assert compare(right, want).passed

    def spoiled(change: object) -> bool:
        wrong = right.copy()
        change(wrong.reshape(-1))  # type: ignore[operator]
        report = compare(wrong, want)
        assert report.passed or report.reasons
        return not report.passed

    def zeros(flat: np.ndarray) -> None:
        flat[:] = 0

    def constant(flat: np.ndarray) -> None:
        flat[:] = flat[5]

    def lane(flat: np.ndarray) -> None:
        flat[7::2048] = flat[6::2048][: flat[7::2048].size]

    def lanes(flat: np.ndarray) -> None:
        for at in range(8):
            flat[at::2000] = 0

    def row(flat: np.ndarray) -> None:
        flat[3000:4000] = flat[2000:3000]

    def tail(flat: np.ndarray) -> None:
        flat[-5:] = flat[-10:-5]

    for change in (zeros, constant, lane, lanes, row, tail):
        assert spoiled(change), change.__name__


def test_zeros_and_constants_fail_whatever_the_tolerance() -> None:
    want = golden()
    for wrong, reason in ((np.zeros_like(want), "every element is 0"), (want * 0 + 1, "constant")):
        report = compare(np.float32(wrong), want, tolerance=1e12)
        assert not report.passed and reason in report.reasons[0] and report.tolerance_given
    # Nor do terms so large that the elements are within the bound.
    tiny = 0.5 + 1e-6 * np.linspace(0, 1, 100)
    assert compare(np.float32(tiny), tiny).passed
    assert not compare(np.full(100, 0.5, np.float32), tiny).passed


def test_zeros_and_constants_of_the_golden_are_right() -> None:
    assert compare(np.zeros(9, np.float32), np.zeros(9)).vacuous
    assert compare(np.zeros(9, np.float32), np.zeros(9)).passed
    assert not compare(np.full(9, 1e-30, np.float32), np.zeros(9)).passed
    assert compare(np.full(9, 3.0, np.float32), np.full(9, 3.0)).passed
    # float64 leaves 1e-17 where terms of magnitude 1 cancel: float32 has zero there.
    noise = np.array([1e-17, -3e-17, 0.0])
    report = compare(np.zeros(3, np.float32), noise, terms=np.ones(3))
    assert report.passed and report.vacuous
    assert compare(np.empty((0, 3), np.float32), np.empty((0, 3))).vacuous


def test_each_element_is_held_to_its_own_terms() -> None:
    want = np.full(4, 1e-6)
    got = np.float32(want + 2 * np.spacing(np.float32(8)))
    assert not compare(got, want).passed
    report = compare(got, want, terms=np.full(4, 8.0))
    assert report.passed and 1.5 < report.max_ulp_of_scale < 2.5
    assert report.public_standard
    far = np.float32(want + 20 * np.spacing(np.float32(8)))
    report = compare(far, want, terms=np.full(4, 8.0))
    assert report.passed and report.public_standard is False
    assert "terms cancel to 1/8e+06 of the largest, 8" in report.notes[0]
    assert "20.00 ULP" in report.notes[0]
    # An element is excused by its own terms alone.
    assert not compare(far, want, terms=np.array([8.0, 8, 8, 0])).passed


def test_where_the_public_standard_alone_passes_the_text_says_so() -> None:
    want = np.random.default_rng(0).uniform(-1e-5, 1e-5, 500)
    report = compare(np.zeros(500, np.float32), want)
    assert not report.passed and report.public_standard
    assert "the public standard alone would pass it" in str(report)


def test_without_terms_the_row_says_the_scale() -> None:
    size = np.ones((3, 5000))
    size[1, 4990] = 100.0
    scale = row_scale(size)
    # Tiles of a long row: one huge value excuses its own part only.
    assert scale[0].max() == 1 == scale[1, : 5000 - TILE].max() and scale[1, 4900] == 100
    short = np.ones((300, 1))
    short[40] = 7.0
    scale = row_scale(short)
    assert (scale == 7).sum() <= NEIGHBOURS and scale[40] == 7 and scale[0] == 1
    assert row_scale(np.array(3.0)) == 3.0 and row_scale(np.empty((0, 4))).shape == (0, 4)
    assert row_scale(np.ones((2, 0, 4))).shape == (2, 0, 4)


def test_inf_near_the_end_of_the_dtype() -> None:
    want = np.array([1e5, -1e5, 1.0])
    assert compare(np.float16([np.inf, -np.inf, 1]), want).passed
    report = compare(np.float16([65504, -np.inf, 1]), want)
    assert not report.passed and report.special_mismatches == 1
    # One rounding more or less decides between the largest number and Inf: either is right.
    for edge in (65500.0, 65519.0, 65530.0):
        near = np.full(3, edge)
        assert compare(np.float16([np.inf, 65504, 65504]), near).passed
    assert not compare(np.float16([np.inf]), np.array([60000.0])).passed


def test_a_cast_result_is_held_to_what_it_was_computed_in() -> None:
    want = golden()
    coarse = want.astype(ml_dtypes.bfloat16).astype(np.float32)
    assert not compare(coarse, want).passed
    assert compare(coarse, want, ml_dtypes.bfloat16).passed
    half = want.astype(np.float16).astype(np.float32)
    assert not compare(half, want).passed and compare(half, want, np.float16).passed


def test_a_tolerance_is_a_bound_in_ulp_of_the_scale() -> None:
    want = np.full(50, 1.0)
    want[0] = 1.5
    off = np.float16(want) + np.float16(6 * 2.0**-10)
    assert not compare(off, want).passed
    for tolerance in (8.0, {"float16": 8.0}):
        report = compare(off, want, tolerance=tolerance)
        assert report.passed and report.bound == 8 and report.tolerance_given
        assert "tolerance given: 8 ULP of the scale instead of 4" in str(report)
    assert not compare(off, want, tolerance={"float32": 8.0}).passed
    assert not compare(np.float32(want) + np.float32(1e-6), want, tolerance=2.0).passed


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint64, np.bool_])
def test_integers_and_booleans_are_exact(dtype: type) -> None:
    want = np.arange(100) % 2
    right: NDArray[Any] = want.astype(dtype)
    report = compare(right, want)
    assert report.passed and report.public_standard is None and report.bound == 0
    wrong = right.copy()
    wrong[17] = 1 - wrong[17]
    report = compare(wrong, want)
    assert not report.passed and report.matched == 99 and "exact" in report.reasons[0]
    assert report.first_bad is not None and report.first_bad.index == (17,)
    assert compare(wrong, want, tolerance=1.0).passed == (dtype != np.bool_)
    assert not compare(np.zeros(100, dtype), want).passed
    assert not compare(right, want + np.nan).passed


def test_integers_beyond_what_float64_tells_apart() -> None:
    big = np.array([2**53 + 1, 5], np.int64)
    assert compare(big, big.copy()).passed
    assert not compare(big - np.array([1, 0]), big).passed
    # A golden between two integers says nothing of the rounding.
    between = np.array([2.5, -2.5, 3.0])
    assert compare(np.int32([2, -3, 3]), between).passed
    assert not compare(np.int32([4, -3, 3]), between).passed
    assert not compare(np.int32([2, -3, 2]), between).passed


def test_complex_numbers_have_one_scale_for_both_parts() -> None:
    want = np.array([3 + 1e-9j, 4 - 2j])
    assert compare(np.complex64(want + 1e-7j), want).passed
    report = compare(np.complex64(want + 1e-3j), want)
    assert not report.passed and report.first_bad is not None
    assert report.first_bad.index == (0, 1)
    assert not compare(np.zeros(2, np.complex64), want).passed


def test_empty_and_scalar_results() -> None:
    assert compare(np.empty((0, 3), np.float32), np.empty((0, 3))).passed
    assert compare(np.float32(1.5).reshape(()), np.array(1.5)).passed
    assert not compare(np.float32(1.6).reshape(()), np.array(1.5)).passed
    assert not compare(np.float32(0).reshape(()), np.array(1e-9)).passed
    assert not compare(np.float32(np.nan).reshape(()), np.array(1.5)).passed
    with pytest.raises(ValueError, match="shape"):
        compare(np.zeros(3, np.float32), np.zeros(4))


@each_dtype
@given(value=st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_ulp_is_the_spacing_of_the_dtype(dtype: np.dtype, value: float) -> None:
    exact = round_to(np.array([value]), dtype)
    if not np.isfinite(exact).all():
        return
    spacing = LIMITS[dtype.name].ulp(exact)
    as_dtype = np.abs(exact).astype(dtype)
    above = (
        (as_dtype.view(np.uint32 if dtype.itemsize == 4 else np.uint16) + 1)
        .view(dtype)
        .astype(np.float64)
    )
    if np.isfinite(above).all():
        assert above - as_dtype.astype(np.float64) == spacing


@each_dtype
def test_limits_know_the_end_of_their_dtype(dtype: np.dtype) -> None:
    limits = LIMITS[dtype.name]
    with np.errstate(over="ignore"):
        assert limits.greatest == float(ml_dtypes.finfo(dtype).max)
        assert np.isinf(np.float64([limits.overflow]).astype(dtype)).all()
        assert np.isfinite(np.float64([limits.overflow * (1 - 1e-6)]).astype(dtype)).all()


def test_worst_elements_are_those_of_a_full_sort() -> None:
    """Of equal errors the first; also where fewer than all are asked for, or all are equal."""
    rng = np.random.default_rng(0)
    for size in (0, 1, 4, 5, 6, 300):
        for levels in (1, 3, 1000):
            want = np.ones(size)
            actual = (want + rng.integers(0, levels, size) / 4096).astype(np.float32)
            distance = np.abs(actual - want)
            order = np.argsort(-distance, kind="stable")[:5]
            report = compare(actual, want)
            assert [element.index for element in report.worst] == [(int(at),) for at in order]


@each_dtype
@pytest.mark.parametrize("shape", [(3, 20011), (70000,), (1, 2), (257, 3, 130), (4096, 33)])
@pytest.mark.parametrize("terms", [False, True])
@pytest.mark.parametrize("fault", ["none", "far", "nan", "inf", "zeros", "public", "last", "wide"])
def test_a_verdict_in_pieces_is_that_of_the_whole(
    dtype: np.dtype, shape: tuple[int, ...], terms: bool, fault: str
) -> None:
    rng = np.random.default_rng(len(shape) + terms)
    want = rng.normal(0, 3, shape)
    got = (want * (1 + rng.uniform(-0.5, 0.5, shape) * float(ml_dtypes.finfo(dtype).eps))).astype(
        dtype
    )
    flat, exact = got.reshape(-1), want.reshape(-1)
    if fault in ("far", "nan", "inf"):
        flat[flat.size // 2] = {"far": 99.0, "nan": np.nan, "inf": np.inf}[fault]
    elif fault == "zeros":
        flat[:] = 0
    elif fault == "public":
        exact[::7] = flat[::7] = 0
        flat[::7] += dtype.type(float(ml_dtypes.finfo(dtype).eps))
    elif fault == "last":
        flat[-1] = -flat[-1]
    elif fault == "wide":
        exact[0], flat[0] = np.inf, np.inf
    largest = np.abs(want) * 2 + 1 if terms else None
    pieces = compare(got, want, terms=largest)
    whole = judge(measure(got, want, terms=largest))
    assert pieces.mean_ulp_of_scale == pytest.approx(whole.mean_ulp_of_scale, rel=1e-12)
    same = replace(pieces, mean_ulp_of_scale=whole.mean_ulp_of_scale)
    assert repr(same) == repr(whole)  # NaN is not equal to itself
    assert pieces.passed == (fault in ("none", "wide", "public"))
