# SPDX-License-Identifier: Apache-2.0
"""Calls that break one check each, made from the specs; the null and sim tiers judge them."""

from __future__ import annotations

from aclgrad.spec.call import Call, TensorDesc
from aclgrad.spec.checks import Check, RankIs
from aclgrad.spec.op_spec import OpSpec


def good_call(spec: OpSpec) -> Call:
    """A plain call that every check lets pass."""
    rank = next((check.rank for check in spec.checks if isinstance(check, RankIs)), 3)
    shape = (2, 3, 5, 4)[:rank]
    tensors = {
        arg.name: TensorDesc(shape, arg.dtypes[0] if arg.dtypes else spec.kernel_dtypes[0])
        for arg in spec.tensors
    }
    return Call(tensors, spec.defaults())


def breaking_calls(spec: OpSpec, good: Call) -> list[tuple[Check, Call]]:
    """Every check with each of the calls that break it and nothing before it."""
    return [(check, call) for check in spec.checks for call in check.violations(spec, good)]
