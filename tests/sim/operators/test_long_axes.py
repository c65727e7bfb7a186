# SPDX-License-Identifier: Apache-2.0
"""Axes longer than a tile: chunks in the UB of several cores, and sums that these exchange."""

from __future__ import annotations

import numpy as np
import pytest

from aclgrad.golden.precision import compare
from aclgrad.runtime import Device
from aclgrad.spec.dtypes import DType
from samples import BY_API, DTYPES, LOG_SOFTMAX, SOFTMAX, run

pytestmark = pytest.mark.on_board

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)
each_api = pytest.mark.parametrize("api", [SOFTMAX, LOG_SOFTMAX])
# Several rounds of all groups of cores, with and without a rest, also of single cores; parts of one
# chunk, of several, of more than stay in UB; rows that
# start on any lane; columns of several tiles, of which the last is narrow;
# columns that one core holds; most ways of sharing that the tiling has.
SHAPES = [
    ((20, 30_001), -1),
    ((50, 12_000), -1),
    ((9, 65_536), -1),
    ((5, 70_403), -1),
    ((2, 300_000), -1),
    ((3, 400_000), -1),
    ((2, 1_400_000), -1),
    ((60, 7_003), -1),
    ((9, 50_257), -1),
    ((40, 200, 300), 1),
    ((60, 290, 200), 1),
    ((3, 1_300, 300), 1),
    ((1, 4_001, 77), 1),
    ((5, 2_048, 64), 1),
    ((2, 3_000, 150), 1),
    ((2, 7_000, 136), 1),
    ((9_000, 128), 0),
    ((12_000, 128), 0),
    ((20_000, 130), 0),
    ((30_000, 130), 0),
]


@each_dtype
@each_api
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_matches_the_formula_on_any_number_of_cores(
    api: str, shape: tuple[int, ...], dim: int, dtype: DType, device: Device
) -> None:
    rng = np.random.default_rng(shape[0])
    values = rng.uniform(-1, 1, size=(2, *shape))
    if api == LOG_SOFTMAX:
        values[1] -= 4  # exp of it times a long sum stays in range
    arrays = dict(zip(("gradOutput", "output"), values.astype(dtype.numpy), strict=True))
    got = run(device, api, arrays, {"dim": dim})
    report = compare(
        got,
        BY_API[api].evaluate(arrays, {"dim": dim}),
        terms=BY_API[api].magnitudes(arrays, {"dim": dim}),
    )
    assert report.passed, str(report)
    if device.kind == "sim":
        device.set_option("cores", "7")
        device.set_option("chaos", "2")
        assert run(device, api, arrays, {"dim": dim}).tobytes() == got.tobytes()


@pytest.mark.sim_only
@each_api
@pytest.mark.parametrize(
    ("shape", "dim", "cores"),
    # The second one's cores are no multiple of its parts: pieces of rows go around among them.
    [((60, 10_000), -1, "4"), ((40, 30_001), -1, "16"), ((3_072, 640), 0, "40")],
    ids=str,
)
def test_slots_of_the_workspace_are_used_again(
    api: str, shape: tuple[int, ...], dim: int, cores: str, device: Device
) -> None:
    """More rounds than it holds, without automatic synchronisation: conftest wants no finding."""
    rng = np.random.default_rng(shape[0])
    values = rng.uniform(-1, 1, size=(2, *shape)).astype(np.float32)
    if api == LOG_SOFTMAX:
        values[1] -= 9
    arrays = dict(zip(("gradOutput", "output"), values, strict=True))
    device.set_option("autosync", "off")
    device.set_option("cores", cores)
    device.set_option("chaos", "3")
    got = run(device, api, arrays, {"dim": dim})
    assert compare(
        got,
        BY_API[api].evaluate(arrays, {"dim": dim}),
        terms=BY_API[api].magnitudes(arrays, {"dim": dim}),
    ).passed
