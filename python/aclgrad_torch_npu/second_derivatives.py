# SPDX-License-Identifier: Apache-2.0
"""Derivatives of derivatives that torch_npu does not have raise. PyTorch alone warns and goes on
with gradients that lack a part: those of F.kl_div are 0.08 off then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.host_tensors import map_values

_DERIVATIVE = re.compile(r"_backward|_grad(?:_v\d)?(?:\.|$)")
_KEYS = ("AutogradPrivateUse1", "CompositeImplicitAutograd")
_KEY = "AutogradPrivateUse1"
_libraries: list[Any] = []  # kept: what they register goes with them


class _End(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """A result that may not be differentiated."""

    @staticmethod
    def forward(ctx: Any, result: torch.Tensor, name: str, *_: torch.Tensor) -> torch.Tensor:
        ctx.name = name
        return result.view_as(result)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise NotImplementedError(
            f"{ctx.name} has no derivative in torch_npu, so this second derivative would lack a"
            " part. Next: differentiate on the CPU, or with the functions of aclgrad.torch"
        )


class _Refusing:
    """An operator's kernel of autograd: as without one, up to the derivative."""

    def __init__(self, op: Any) -> None:
        self._op = op
        self._name = str(op._name).removesuffix(".default")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with torch._C._AutoDispatchBelowAutograd():
            result = self._op(*args, **kwargs)
        if not torch.is_grad_enabled():
            return result
        inputs = [each for each in (*args, *kwargs.values()) if _has_gradient(each)]
        if not inputs:
            return result

        apply: Any = _End.apply

        def end(value: Any) -> Any:
            floating = isinstance(value, torch.Tensor) and value.is_floating_point()
            return apply(value, self._name, *inputs) if floating else value

        return map_values(result, end)


def _has_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def refuse(names: Iterable[str]) -> None:
    """Stand in for the derivatives among torch_npu's operators that have none themselves."""
    for name in names:
        space, _, rest = name.partition("::")
        if space != "npu" or not _DERIVATIVE.search(rest):
            continue
        if any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in _KEYS):
            continue
        packet, _, overload = rest.partition(".")
        op = getattr(getattr(torch.ops.npu, packet, None), overload or "default", None)
        if op is None or any(value.alias_info is not None for value in op._schema.returns):
            continue
        library: Any = torch._C._dispatch_library("IMPL", space, "", __file__, 0)
        library.impl(rest, _KEY, _Refusing(op), False)
        _libraries.append(library)
