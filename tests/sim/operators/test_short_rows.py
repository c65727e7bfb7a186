# SPDX-License-Identifier: Apache-2.0
"""Rows that are no whole blocks of 32 bytes: transposed, packed or padded."""

from __future__ import annotations

import numpy as np
import pytest

from aclgrad.golden.precision import compare
from aclgrad.runtime import Device
from aclgrad.spec.dtypes import DType
from row_checks import assert_right_on_any_cores, assert_rows_are_alone
from samples import BY_API, DTYPES, LOG_SOFTMAX, MASKED, SOFTMAX, assert_same_values, run

pytestmark = pytest.mark.on_board

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)
each_api = pytest.mark.parametrize("api", [SOFTMAX, LOG_SOFTMAX])
# One row; a tile and a row more; several tiles of all cores; of streams of odd blocks. Packed: rows
# that start on one lane of eight, four or two; eight of them too far apart for one instruction; a
# tile of eight and of two; tiles that start on any lane.
SHAPES = [
    (1, 3),
    (257, 5),
    (40_001, 3),
    (3_333, 20),
    (12_345, 7),
    (2_050, 33),
    (700, 50),
    (129, 12),
    (1, 77),
    (4_001, 49),
    (2_003, 66),
    (1_999, 197),
    (601, 258),
    (333, 577),
    (131, 823),
    (100, 1_500),
    (29, 3_204),
    (1, 831),
    (700, 1_001),
    (211, 4_097),
    (100, 6_569),
]


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
    "shape", [(1000, 7), (1000, 77), (1000, 291), (200, 1001), (50, 9001)], ids=str
)
def test_a_row_is_alone(api: str, shape: tuple[int, int], dtype: DType, device: Device) -> None:
    assert_rows_are_alone(device, api, shape, dtype)


@pytest.mark.skipif(MASKED not in BY_API, reason=f"no spec of {MASKED}")
@each_dtype
def test_adds_up_as_rows_are_added_up(dtype: DType, device: Device) -> None:
    """The masked softmax has one path for all rows."""
    rng = np.random.default_rng(1)
    if device.kind == "sim":
        device.set_option("cores", "2")  # several tiles
    for length in (
        *range(2, 72),
        77,
        100,
        127,
        193,
        255,
        257,
        262,
        514,
        823,
        831,
        1020,
        3204,
        4091,
    ):
        shape = (30_000 // length, 1, 1, length)
        y, g = rng.normal(size=(2, *shape))
        kind = rng.integers(0, 6, size=shape[0])
        y[kind == 0] = np.abs(y[kind == 0])  # sums of nothing but -0
        g[kind == 0] = -0.0
        g[(kind == 1)[:, None, None, None] & (rng.random(shape) < 0.1)] = -0.0
        g[(kind == 2)[:, None, None, None] & (rng.random(shape) < 0.1)] = np.inf
        y[(kind == 3)[:, None, None, None] & (rng.random(shape) < 0.1)] = np.nan
        arrays = {"gradOutput": g.astype(dtype.numpy), "output": y.astype(dtype.numpy)}
        got = run(device, SOFTMAX, arrays, {})
        arrays["y"] = arrays.pop("output")
        arrays["mask"] = np.zeros((1, 1, 1, length), bool)
        want = run(device, MASKED, arrays, {"scale": 1.0})
        assert_same_values(got, want, f"rows of {length}")


# 16-bit rows that one core takes transposed or padded: added up modulo 64 and 128; rows that begin
# on each element of a block and on every other one.
ODD_ROWS = [113, 145, 162, 177, 197, 225, 226, 241, 289, 325, 401, 434, 465]


def rows_of_all_kinds(length: int, rows: int, dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    """Rows of all kinds: sums of nothing but -0, some -0, some Inf, some NaN."""
    rng = np.random.default_rng(length)
    y, g = rng.normal(size=(2, rows, length))
    kind = rng.integers(0, 6, size=rows)
    some = rng.random((rows, length)) < 0.1
    y[kind == 0] = np.abs(y[kind == 0])
    g[kind == 0] = -0.0
    g[(kind == 1)[:, None] & some] = -0.0
    g[(kind == 2)[:, None] & some] = np.inf
    y[(kind == 3)[:, None] & some] = np.nan
    return y.astype(dtype.numpy), g.astype(dtype.numpy)


@pytest.mark.skipif(MASKED not in BY_API, reason=f"no spec of {MASKED}")
@pytest.mark.parametrize("dtype", DTYPES[1:], ids=lambda dtype: dtype.label)
@pytest.mark.parametrize("length", ODD_ROWS)
def test_odd_16_bit_rows_are_added_up_as_others(length: int, dtype: DType, device: Device) -> None:
    """A mask row for all rows keeps them padded. The last group is not full."""
    rows = 16 * (50_000 // length // 16) + 5
    y, g = rows_of_all_kinds(length, rows, dtype)
    arrays = {"y": y, "gradOutput": g}
    if device.kind == "sim":
        device.set_option("cores", "1")
    shape = (rows, 1, 1, length)
    masked = {name: array.reshape(shape) for name, array in arrays.items()}
    masked["mask"] = np.zeros((1, 1, 1, length), bool)
    want = run(device, MASKED, masked, {"scale": 1.0}).reshape(rows, length)
    plain = {"output": y, "gradOutput": g}
    got = run(device, SOFTMAX, plain, {"dim": -1})
    assert_same_values(got, want, f"rows of {length}")
    if device.kind == "sim":
        device.set_option("autosync", "off")
        for cores, chaos in ((2, "0"), (48, "0"), (1, "3")):
            device.set_option("cores", str(cores))
            device.set_option("chaos", chaos)
            assert run(device, SOFTMAX, plain, {"dim": -1}).tobytes() == got.tobytes()


@pytest.mark.skipif(MASKED not in BY_API, reason=f"no spec of {MASKED}")
@pytest.mark.parametrize("dtype", DTYPES[1:], ids=lambda dtype: dtype.label)
@pytest.mark.parametrize("length", [49, 50, 65, 90, *ODD_ROWS[:-2]])
def test_odd_16_bit_rows_are_masked_as_padded_ones(
    length: int, dtype: DType, device: Device
) -> None:
    """A mask row for each two rows keeps them padded."""
    pairs = 8 * (70_000 // length // 16) + 3
    y, g = (
        array.reshape(pairs, 2, 1, length) for array in rows_of_all_kinds(length, 2 * pairs, dtype)
    )
    if device.kind == "sim":
        device.set_option("cores", "1")
    mask = np.random.default_rng(length).random((pairs, 1, 1, length)) < 0.3
    arrays = {"gradOutput": g, "y": y, "mask": mask}
    want = run(device, MASKED, arrays, {"scale": 0.3})
    arrays["mask"] = np.repeat(mask, 2, axis=1)
    assert_same_values(run(device, MASKED, arrays, {"scale": 0.3}), want, f"rows of {length}")


@pytest.mark.skipif(MASKED not in BY_API, reason=f"no spec of {MASKED}")
@pytest.mark.parametrize("broadcast", [(5, 6), (1, 6), (5, 1), (1, 1)], ids=str)
@pytest.mark.parametrize("rows", [15, 16, 49, 100])
@pytest.mark.parametrize("length", [7, 49, 194, 300])
def test_masked_rows(broadcast: tuple[int, int], rows: int, length: int, device: Device) -> None:
    """Runs of mask rows that start on any byte, begin and end within tiles, and repeat."""
    rng = np.random.default_rng(rows + length)
    values = rng.uniform(-1, 1, size=(2, 5, 6, rows, length)).astype(np.float32)
    values[0, :, :, ::5, 3] = np.nan
    mask = rng.random((*broadcast, rows, length)) < 0.5
    arrays = {"gradOutput": values[0], "y": values[1], "mask": mask}
    attrs = {"scale": 0.5, "fixTriuMask": False}
    got = run(device, MASKED, arrays, attrs)
    with np.errstate(invalid="ignore"):
        report = compare(
            got,
            BY_API[MASKED].evaluate(arrays, attrs),
            terms=BY_API[MASKED].magnitudes(arrays, attrs),
        )
    assert report.passed, str(report)
    assert not got[np.broadcast_to(mask, got.shape)].any()
    if device.kind == "sim":
        for cores, chaos in ((1, "0"), (5, "3")):
            device.set_option("cores", str(cores))
            device.set_option("chaos", chaos)
            assert run(device, MASKED, arrays, attrs).tobytes() == got.tobytes()


@pytest.mark.skipif(MASKED not in BY_API, reason=f"no spec of {MASKED}")
@pytest.mark.parametrize(
    ("length", "pairs"), [(3, 4_001), (49, 401), (77, 401), (197, 401), (514, 101)]
)
def test_packed_rows_are_masked_as_padded_ones(length: int, pairs: int, device: Device) -> None:
    """A mask row for each two rows keeps them padded."""
    rng = np.random.default_rng(length)
    if device.kind == "sim":
        device.set_option("cores", "1")  # several tiles
    g, y = rng.normal(size=(2, pairs, 2, 1, length)).astype(np.float32)
    mask = rng.random((pairs, 1, 1, length)) < 0.3
    arrays = {"gradOutput": g, "y": y, "mask": mask}
    want = run(device, MASKED, arrays, {"scale": 0.3})
    arrays["mask"] = np.repeat(mask, 2, axis=1)
    assert_same_values(run(device, MASKED, arrays, {"scale": 0.3}), want, f"rows of {length}")
