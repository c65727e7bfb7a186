# SPDX-License-Identifier: Apache-2.0
"""Rows that Ascend 950 adds up in registers: pieces, tiles, chunks and sequences of stores."""

from __future__ import annotations

import pytest

from aclgrad.runtime import Device
from aclgrad.spec.dtypes import DType
from row_checks import assert_right_on_any_cores, assert_rows_are_alone
from samples import DTYPES, LOG_SOFTMAX, SOFTMAX

pytestmark = pytest.mark.sim_only

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)
each_api = pytest.mark.parametrize("api", [SOFTMAX, LOG_SOFTMAX])
# Fewer rows than sequences of stores; flat rows, the shortest, the longest of fp32, of 16 bit; the
# ends of a piece, of two and of three; several tiles; the longest row that fits (fp32, 16 bit), the
# shortest that does not; a last chunk of few elements.
SHAPES = [
    (1, 77),
    (3, 49),
    (2, 9),
    (5_003, 9),
    (4_001, 16),
    (1_501, 24),
    (1_999, 32),
    (1_999, 33),
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
