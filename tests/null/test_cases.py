# SPDX-License-Identifier: Apache-2.0
"""The case grid: what it must contain, and that its arrays are what their descriptions say."""

from __future__ import annotations

import numpy as np
import pytest

from aclgrad.ops import all_specs
from aclgrad.spec.call import TensorDesc
from aclgrad.spec.cases import BLOCK_BYTES, strided, view
from aclgrad.spec.checks import LastDimIn, RankIs
from aclgrad.spec.op_spec import OpSpec

each_spec = pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.op)


@each_spec
def test_names_are_unique_and_calls_are_good(spec: OpSpec) -> None:
    cases = list(spec.cases(spec, False))
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        assert spec.predict(case.call) == 0, case.name


@each_spec
def test_grid_covers_ranks_tails_primes_empties_layouts(spec: OpSpec) -> None:
    for dtype in spec.kernel_dtypes:
        descs = [
            c.call.tensor(spec.input_args[0].name)
            for c in spec.cases(spec, False)
            if c.dtype == dtype
        ]
        ranks = {check.rank for check in spec.checks if isinstance(check, RankIs)}
        assert {desc.rank for desc in descs} == (ranks or set(range(9)))
        lengths = {desc.shape[-1] for desc in descs if desc.rank}
        block = BLOCK_BYTES // dtype.numpy.itemsize
        wanted = {block - 1, block, block + 1, 8 * block + 1, 1, 0, 127, 1009, 1 << 20}
        for check in spec.checks:
            if isinstance(check, LastDimIn):
                wanted = {w for w in wanted if check.low <= w <= check.high} | {check.high}
        assert wanted <= lengths
        assert any(not desc.contiguous for desc in descs) and any(desc.offset for desc in descs)
        assert any(0 in desc.view_strides for desc in descs)
    values = {case.values for case in spec.cases(spec, False)}
    assert {"uniform", "normal", "nan", "inf", "-inf", "special"} <= values


@each_spec
def test_fast_grid_is_part_of_the_full_one(spec: OpSpec) -> None:
    fast = {case.name for case in spec.cases(spec, True)}
    assert 0 < len(fast) < len({case.name for case in spec.cases(spec, False)})
    assert (
        max(c.call.tensor(spec.input_args[0].name).size for c in spec.cases(spec, True)) <= 1 << 17
    )


@pytest.mark.parametrize("layout", ["contiguous", "offset", "gaps", "transposed", "expanded"])
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (2, 3, 4)])
def test_layouts_are_views_inside_their_storage(layout: str, shape: tuple[int, ...]) -> None:
    desc = strided(TensorDesc(shape), layout)
    assert desc.shape == shape and desc.inside_storage
    storage = np.arange(np.prod(desc.storage_shape, dtype=int))
    seen = view(storage, desc)
    assert seen.shape == shape
    if layout != "expanded":
        assert np.unique(seen).size == desc.size


@each_spec
def test_values_repeat_and_follow_the_seed(spec: OpSpec) -> None:
    case = next(
        case
        for case in spec.cases(spec, True)
        if case.call.tensor(spec.input_args[0].name).size > 5
    )
    first, again, other = case.storages(spec), case.storages(spec), case.storages(spec, 1)
    for name in first:
        assert np.array_equal(first[name], again[name]) and not np.array_equal(
            first[name], other[name]
        )
