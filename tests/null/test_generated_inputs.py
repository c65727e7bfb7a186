# SPDX-License-Identifier: Apache-2.0
"""Integers that operators are tried with: what several of them mean together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from aclgrad.project import inputs


def op(name: str, *, type_: str = "Any", attrs: tuple[tuple[str, int], ...] = ()) -> dict[str, Any]:
    """An operator of one float32 tensor and one of integers."""
    tensor = {"kind": "required", "scalar": False, "scalarList": False, "valueDepend": False}
    return {
        "type": type_,
        "inputs": [{"name": "x", **tensor}, {"name": name, **tensor}],
        "outputs": [{"name": "y", "kind": "required"}],
        "attrs": [{"name": attr, "kind": "Int", "default": value} for attr, value in attrs],
        "inferShape": True,
    }


def integers(definition: dict[str, Any]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The tensor and the integers of every case."""
    for case in inputs.cases(definition, ("DT_FLOAT", "DT_INT32", "DT_FLOAT")):
        yield case.inputs[0][0], case.inputs[1][0]


@pytest.mark.parametrize(
    "definition",
    [
        op("row_idx"),
        op("expanded_row_idx"),
        op("permute_token_id"),
        op("sorted_indices", type_="TokenUnpermute"),
    ],
    ids=lambda definition: definition["inputs"][1]["name"],
)
def test_each_row_once(definition: dict[str, Any]) -> None:
    """An order of rows has no row twice, whatever its shape."""
    for _, order in integers(definition):
        assert sorted(order.reshape(-1)) == list(range(order.size))


def test_sorted_positions_are_no_order() -> None:
    """In other operators the same name may mean positions that come up more than once."""
    assert all((np.diff(at.reshape(-1)) >= 0).all() for _, at in integers(op("sorted_indices")))


def test_shares_are_all_rows() -> None:
    """More rows than there are would be read past the end."""
    for name in ("expert_token_num_per_rank", "token_counts", "seq_lengths"):
        for x, shares in integers(op(name)):
            assert shares.sum() == x.shape[0] and shares.min() >= 0


def test_as_many_as_an_attribute_says() -> None:
    """Of the name that the input has too; 0 says nothing."""
    three = [experts for _, experts in integers(op("sorted_experts", attrs=(("num_experts", 3),)))]
    assert set(np.concatenate([experts.reshape(-1) for experts in three])) == {0, 1, 2}
    assert all((np.diff(experts.reshape(-1)) >= 0).all() for experts in three)
    for attr in (("num_experts", 0), ("num_groups", 3)):
        found = [experts.max() for _, experts in integers(op("sorted_experts", attrs=(attr,)))]
        assert max(found) > 3
