# SPDX-License-Identifier: Apache-2.0
"""Half types as an NPU computes them: in float32, rounded once.

Kernels of PyTorch's CPU round after each step, or do not have these types at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.host_tensors import map_values

_NARROW = (torch.float16, torch.bfloat16)

_EXACT = frozenset(
    # A scalar is rounded to the tensor's dtype before it is compared.
    ("eq", "ne", "lt", "le", "gt", "ge", "eq_", "ne_", "lt_", "le_", "gt_", "ge_")
    # The result depends on the type's own range or neighbours.
    + ("nan_to_num", "nan_to_num_", "nextafter", "nextafter_")
    # Pairs of numbers of the type.
    + ("complex", "polar")
)


def types(op: Any, random: bool) -> frozenset[torch.dtype]:
    """Return the half types that an operator is to see as float32."""
    name = op._schema.name.partition("::")[2]
    if random or name in _EXACT:
        return frozenset()
    # Steps over lists are taken in float16 itself.
    return frozenset(_NARROW[1:] if name.startswith("_foreach_") else _NARROW)


def common(values: Any) -> torch.dtype | None:
    """Return the floating-point type of tensors that all have it."""
    found = {each.dtype for each in _flat(values, torch.Tensor) if each.is_floating_point()}
    return next(iter(found)) if len(found) == 1 else None


def call(
    function: Callable[..., Any], args: Any, kwargs: Any, narrow: torch.dtype, written: set[int]
) -> Any:
    """Call a function with tensors of half types as float32, and round what it returns and what it
    writes, which is told by identity.
    """
    pairs: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
    keep = torch.float32 in _flat((args, kwargs), torch.dtype)

    def widen(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype in _NARROW:
            wide = value.float()
            pairs[id(wide)] = wide, value
            return wide
        return torch.float32 if isinstance(value, torch.dtype) and value == narrow else value

    def give_back(value: Any) -> Any:
        if id(value) in pairs:
            return pairs[id(value)][1]
        if isinstance(value, torch.Tensor) and value.dtype == torch.float32 and not keep:
            return value.to(narrow)
        return value

    wide_args, wide_kwargs = map_values(args, widen), map_values(kwargs, widen)
    result = function(*wide_args, **wide_kwargs)
    for wide, value in pairs.values():
        if id(value) in written:
            (value if wide.shape == value.shape else value.resize_(wide.shape)).copy_(wide)
    return map_values(result, give_back)


def _flat(value: Any, kind: type) -> Iterator[Any]:
    if isinstance(value, kind):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _flat(each, kind)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _flat(each, kind)
