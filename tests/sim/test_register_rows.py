# SPDX-License-Identifier: Apache-2.0
"""Rows that Ascend 950 adds up in registers: pieces, tiles, chunks and sequences of stores."""

from __future__ import annotations

import numpy as np
import pytest

from aclgrad.golden.precision import compare
from aclgrad.runtime import Device
from aclgrad.spec.dtypes import DType
from samples import BY_API, DTYPES, LOG_SOFTMAX, SOFTMAX, run

pytestmark = pytest.mark.sim_only

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)
each_api = pytest.mark.parametrize("api", [SOFTMAX, LOG_SOFTMAX])
# Fewer rows than sequences of stores; the ends of a piece, of two and of three; several tiles; the
# longest row that fits (fp32, 16 bit), the shortest that does not; a last chunk of few elements.
SHAPES = [
    (1, 77),
    (3, 49),
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


def operands(shape: tuple[int, ...], dtype: DType) -> dict[str, np.ndarray]:
    values = np.random.default_rng(shape[1]).uniform(-1, 1, size=(2, *shape)).astype(dtype.numpy)
    return {"gradOutput": values[0], "output": values[1]}


@each_dtype
@each_api
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_matches_the_formula_on_any_number_of_cores(
    api: str, shape: tuple[int, ...], dtype: DType, device: Device
) -> None:
    device.set_option("soc", "Ascend950DT_9571")
    arrays = operands(shape, dtype)
    got = run(device, api, arrays, {"dim": -1})
    report = compare(got, BY_API[api].evaluate(arrays, {"dim": -1}))
    assert report.passed, str(report)
    for cores, chaos in ((1, "0"), (5, "0"), (48, "3")):
        device.set_option("cores", str(cores))
        device.set_option("chaos", chaos)
        assert run(device, api, arrays, {"dim": -1}).tobytes() == got.tobytes()


@each_dtype
@each_api
@pytest.mark.parametrize("shape", [(1000, 77), (1000, 291), (200, 1001), (50, 9001)], ids=str)
def test_a_row_is_alone(api: str, shape: tuple[int, int], dtype: DType, device: Device) -> None:
    """NaN and Inf stay in their row, and equal rows have equal results wherever they lie."""
    device.set_option("soc", "Ascend950DT_9571")
    device.set_option("cores", "2")  # several tiles
    arrays = operands(shape, dtype)
    for array in arrays.values():
        array[:] = array[0]
    arrays["gradOutput"][::3, 2] = np.nan
    arrays["gradOutput"][1::3, 4] = np.inf
    with np.errstate(invalid="ignore"):
        got = run(device, api, arrays, {"dim": -1})
    assert np.isnan(got[::3].astype(np.float32)).all()
    clean = got[2::3]
    assert np.isfinite(clean.astype(np.float32)).all()
    assert (clean.view(np.uint8) == clean[0].view(np.uint8)).all()
