# SPDX-License-Identifier: Apache-2.0
"""Columns that are no whole blocks of 32 bytes: slabs as streams, or rows of several of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aclgrad.golden.precision import compare
from aclgrad.runtime import Device
from aclgrad.spec.dtypes import DType
from samples import BY_API, DTYPES, LOG_SOFTMAX, SOFTMAX, run

pytestmark = pytest.mark.on_board

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)
each_api = pytest.mark.parametrize("api", [SOFTMAX, LOG_SOFTMAX])
# [A, R, B]. Streams: one slab, a tile and one more, of even and odd lengths. Folded: one row or
# many, with and without a rest, of periods of B, two B ... eight B lanes, some of them whole blocks
# of fp32; long axes of one core and of several; chunks that end within a row, and within a period.
SHAPES = [
    (1, 2, 3),
    (513, 2, 3),
    (4_099, 10, 5),
    (300, 9, 4),
    (257, 21, 7),
    (33, 12, 12),
    (50, 150, 3),
    (19, 512, 7),
    (7, 1_024, 2),
    (5, 77, 20),
    (3, 31, 63),
    (3, 100, 57),
    (2, 2_000, 8),
    (3, 3_001, 7),
    (2, 40_009, 3),
    (1, 7_777, 33),
    (1, 300_007, 2),
]


def operands(shape: tuple[int, ...], dtype: DType) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(math.prod(shape))
    values = rng.uniform(-1, 1, size=(2, *shape)).astype(dtype.numpy)
    return {"gradOutput": values[0], "output": values[1]}


@each_dtype
@each_api
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_matches_the_formula_on_any_number_of_cores(
    api: str, shape: tuple[int, ...], dtype: DType, device: Device
) -> None:
    arrays = operands(shape, dtype)
    got = run(device, api, arrays, {"dim": 1})
    report = compare(
        got,
        BY_API[api].evaluate(arrays, {"dim": 1}),
        terms=BY_API[api].magnitudes(arrays, {"dim": 1}),
    )
    assert report.passed, str(report)
    if device.kind == "sim":
        for cores, chaos in ((1, "0"), (5, "0"), (48, "3")):
            device.set_option("cores", str(cores))
            device.set_option("chaos", chaos)
            assert run(device, api, arrays, {"dim": 1}).tobytes() == got.tobytes()


@each_dtype
@each_api
@pytest.mark.parametrize("shape", [(500, 9, 3), (40, 21, 7), (12, 200, 5), (6, 3_001, 7)], ids=str)
def test_a_column_is_alone(
    api: str, shape: tuple[int, int, int], dtype: DType, device: Device
) -> None:
    """NaN and Inf stay in their column, and equal slabs have equal results wherever they lie."""
    arrays = operands(shape, dtype)
    if device.kind == "sim":
        device.set_option("cores", "2")  # several tiles
    for array in arrays.values():
        array[:] = array[0]
    arrays["gradOutput"][::3, 2, 1] = np.nan
    arrays["gradOutput"][1::3, 4, 2] = np.inf
    with np.errstate(invalid="ignore"):
        got = run(device, api, arrays, {"dim": 1})
    hit = np.zeros(shape, bool)
    hit[::3, :, 1] = True
    assert np.isnan(got[hit].astype(np.float32)).all()
    hit[1::3, :, 2] = True
    assert np.isfinite(got[~hit].astype(np.float32)).all()
    clean = got[2::3]
    assert (clean.view(np.uint8) == clean[0].view(np.uint8)).all()
