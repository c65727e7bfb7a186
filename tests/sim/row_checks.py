# SPDX-License-Identifier: Apache-2.0
"""What rows and columns of any length and on any path must hold."""

from __future__ import annotations

import numpy as np

from aclgrad.golden.precision import compare
from aclgrad.runtime import Device
from aclgrad.spec.dtypes import DType
from samples import BY_API, Arrays, Attrs, run


def operands(shape: tuple[int, ...], dtype: DType) -> Arrays:
    """Random operands of a softmax's gradient."""
    rng = np.random.default_rng(shape[0] + shape[1])
    values = rng.uniform(-1, 1, size=(2, *shape)).astype(dtype.numpy)
    return {"gradOutput": values[0], "output": values[1]}


def assert_right_on_any_cores(
    device: Device, api: str, shape: tuple[int, ...], dtype: DType, dim: int = -1
) -> None:
    """The formula's values; the same bits on few cores and many, and with late pipes."""
    arrays = operands(shape, dtype)
    attrs: Attrs = {"dim": dim}
    got = run(device, api, arrays, attrs)
    report = compare(
        got, BY_API[api].evaluate(arrays, attrs), terms=BY_API[api].magnitudes(arrays, attrs)
    )
    assert report.passed, str(report)
    if device.kind == "sim":
        for cores, chaos in ((1, "0"), (5, "0"), (48, "3")):
            device.set_option("cores", str(cores))
            device.set_option("chaos", chaos)
            assert run(device, api, arrays, attrs).tobytes() == got.tobytes()


def assert_rows_are_alone(device: Device, api: str, shape: tuple[int, int], dtype: DType) -> None:
    """NaN and Inf stay in their row, and equal rows have equal results wherever they lie."""
    arrays = operands(shape, dtype)
    if device.kind == "sim":
        device.set_option("cores", "2")  # several tiles
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
