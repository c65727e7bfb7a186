# SPDX-License-Identifier: Apache-2.0
"""Calls of `aclgrad.load`'s functions with tensors of torch: tensors in, tensors out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad.torch import checks
from aclgrad.torch.tensors import array_of, tensor_of


class _WithoutDerivative(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """Results of an operator whose derivative nobody has given: a backward pass through them ends
    with an error, where results without a history would be taken for constants.
    """

    @staticmethod
    def forward(ctx: Any, function: str, compute: Callable[[], Any], *inputs: Any) -> Any:
        ctx.function = function
        return compute()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise NotImplementedError(
            f"{ctx.function}: its derivative is not known. Next: make it the backward of a"
            " torch.autograd.Function, or call it on Tensor.detach()"
        )


def call(
    function: str, names: Sequence[str], values: Sequence[Any], compute: Callable[..., Any]
) -> Any:
    """Compute on the memory of tensors; the last value is ``out``."""
    *inputs, out = [
        _each(value, partial(_array, f"{function}: {name}"))
        for name, value in zip(names, values, strict=True)
    ]
    tracked = [
        part
        for value in values
        for part in (value if isinstance(value, (list, tuple)) else [value])
        if isinstance(part, torch.Tensor) and part.requires_grad
    ]
    if not tracked or not torch.is_grad_enabled():
        found = compute(*inputs, out)
        return values[-1] if out is not None else _each(found, tensor_of)
    if out is not None:
        raise RuntimeError(
            f"{function}: {names[-1]}: got one beside a tensor that requires grad, want none, since"
            " autograd cannot follow it. Next: leave it out, or call it under torch.no_grad()"
        )
    shape: list[Any] = []  # The results have it: autograd takes them as one flat tuple.

    def flat() -> Any:
        found = compute(*inputs, None)
        shape.append(found)
        return tuple(tensor_of(part) for part in _flat(found))

    apply: Callable[..., Any] = _WithoutDerivative.apply
    results = iter(apply(function, flat, *tracked))
    return _each(shape[0], lambda _: next(results))


def _array(where: str, value: Any) -> Any:
    """A tensor's memory; numbers and lists of them, which the host reads, as they are."""
    if isinstance(value, torch.Tensor):
        checks.dense(where, value)
        if value.device.type == "meta":
            raise TypeError(f"{where}: got a meta tensor, want one with data on the CPU")
        return array_of(value)
    if hasattr(value, "__array_interface__"):
        raise TypeError(
            f"{where}: got {type(value).__name__} beside a torch.Tensor, want a torch.Tensor;"
            " convert it with torch.from_numpy"
        )
    return value


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same lists and tuples with each of their members changed; None stays."""
    if isinstance(value, (list, tuple)):
        return type(value)(_each(part, change) for part in value)
    return None if value is None else change(value)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in _flat(part)]
    return [] if value is None else [value]
