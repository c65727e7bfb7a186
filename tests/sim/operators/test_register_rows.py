# SPDX-License-Identifier: Apache-2.0
"""What Ascend 950 adds up in registers: pieces, tiles, chunks and sequences of stores."""

from __future__ import annotations

import numpy as np
import pytest

from aclgrad.runtime import Device
from aclgrad.spec.dtypes import DType
from row_checks import assert_right_on_any_cores, assert_rows_are_alone, operands
from samples import DTYPES, LOG_SOFTMAX, SOFTMAX, run

pytestmark = pytest.mark.sim_only

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)
each_api = pytest.mark.parametrize("api", [SOFTMAX, LOG_SOFTMAX])
# Fewer rows than sequences of stores; flat rows, the shortest, the longest of fp32, of 16 bit; the
# ends of a piece, of two and of three; several tiles; the longest row that fits (fp32, 16 bit), the
# shortest that does not; a last chunk of few elements. Some fit a function for the tile on many
# cores, and not on few: (601, 32), (601, 65), (129, 257).
SHAPES = [
    (1, 77),
    (3, 49),
    (2, 9),
    (5_003, 9),
    (4_001, 16),
    (1_501, 24),
    (1_999, 32),
    (1_999, 33),
    (601, 32),
    (257, 31),
    (601, 63),
    (601, 64),
    (601, 65),
    (515, 127),
    (515, 128),
    (515, 129),
    (300, 197),
    (129, 257),
    (130, 384),
    (5, 10_208),
    (5, 10_209),
    (3, 20_416),
    (3, 20_417),
    (2, 50_257),
]


@pytest.fixture(autouse=True)
def on_950(device: Device) -> None:
    """Rows are in registers there."""
    device.set_option("soc", "Ascend950DT_9571")


@each_dtype
@each_api
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_matches_the_formula_on_any_number_of_cores(
    api: str, shape: tuple[int, ...], dtype: DType, device: Device
) -> None:
    assert_right_on_any_cores(device, api, shape, dtype)


@each_dtype
@each_api
@pytest.mark.parametrize(
    "shape", [(3000, 19), (3000, 61), (1000, 77), (1000, 291), (200, 1001), (50, 9001)], ids=str
)
def test_a_row_is_alone(api: str, shape: tuple[int, int], dtype: DType, device: Device) -> None:
    assert_rows_are_alone(device, api, shape, dtype)


# Of dim 1: fewer columns than a register has, and no multiple of that; one row, an odd number of
# them; slabs side by side; columns in tiles; chunks of one core, of several, and columns that no UB
# holds.
COLUMNS = [
    (3, 5, 32),
    (70, 16, 48),
    (2, 1, 64),
    (9, 33, 80),
    (301, 6, 272),
    (5, 64, 1_040),
    (40, 180, 256),
    (2, 1_001, 144),
    (1, 9_001, 64),
    (2, 70_001, 32),
]


@each_dtype
@each_api
@pytest.mark.parametrize("shape", COLUMNS, ids=str)
def test_columns_match_the_formula_on_any_number_of_cores(
    api: str, shape: tuple[int, ...], dtype: DType, device: Device
) -> None:
    assert_right_on_any_cores(device, api, shape, dtype, dim=1)


@each_dtype
@each_api
@pytest.mark.parametrize("rows", [7, 64, 900])
def test_a_column_is_alone(api: str, rows: int, dtype: DType, device: Device) -> None:
    """NaN stays in its column, and equal columns have equal results."""
    device.set_option("cores", "3")
    arrays = operands((9, rows, 272), dtype)
    for array in arrays.values():
        array[:] = array[:1, :, :1]
    arrays["gradOutput"][1, 3, 5::7] = np.nan
    got = run(device, api, arrays, {"dim": 1})
    spoilt = np.isnan(got.astype(np.float32))
    assert spoilt[1, :, 5::7].all()
    assert spoilt.sum() == spoilt[1, :, 5::7].size
    same = np.delete(got[1], np.arange(5, 272, 7), axis=1)
    assert (same == got[0][:, :1]).all()
