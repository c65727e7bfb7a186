# SPDX-License-Identifier: Apache-2.0
"""The table of functions by operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

_TABLE: dict[str, Callable[..., Any]] = {}
_EXACT: set[str] = set()
_FORMATS: dict[str, Callable[[dict[str, Any], Any], Any]] = {}


def find(name: str) -> Callable[..., Any] | None:
    """Return the function for an operator's full name; that of an out= variant is made of the
    other's.
    """
    key = name.removesuffix(".default")
    if key in _TABLE or not key.endswith(".out"):
        return _TABLE.get(key)
    function = _TABLE.get(key.removesuffix(".out"))
    return None if function is None else _into(function)


def is_exact(name: str) -> bool:
    """Whether a function has to see half types as they are."""
    return name.removesuffix(".default") in _EXACT


def in_format_of_input(
    name: str,
) -> Callable[[Callable[[dict[str, Any], Any], Any]], Callable[[dict[str, Any], Any], Any]]:
    """Enter a function that makes the NPU's result of an operator with an input in a private
    format, from the arguments and the CPU's result; None for one in a base format.
    """

    def enter(
        function: Callable[[dict[str, Any], Any], Any],
    ) -> Callable[[dict[str, Any], Any], Any]:
        _FORMATS[name] = function
        return function

    return enter


def result_format(name: str) -> Callable[[dict[str, Any], Any], Any] | None:
    """Return the function of `in_format_of_input` for an operator's full name."""
    return _FORMATS.get(name.removesuffix(".default"))


def by_hand(*names: str, exact: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function for operators."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        _TABLE.update(dict.fromkeys(names, function))
        if exact:
            _EXACT.update(names)
        return function

    return enter


def _into(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def run(*args: Any, out: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        result = function(*args, **kwargs)
        return out.resize_(result.shape).copy_(result)

    return run


def gradients(
    function: Callable[..., torch.Tensor], inputs: Sequence[torch.Tensor], grad: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Differentiate a function on the CPU, inside of a kernel, where PyTorch does not."""
    included = torch._C._dispatch_tls_local_include_set()
    # Autocast stays excluded, as it is within a kernel.
    autograd = torch._C.DispatchKeySet(torch.DispatchKey.AutogradCPU)
    excluded = torch._C._dispatch_tls_local_exclude_set() - autograd
    with torch._C._ForceDispatchKeyGuard(included, excluded), torch.enable_grad():
        leaves = [each.detach().requires_grad_() for each in inputs]
        result: tuple[torch.Tensor, ...] = torch.autograd.grad(function(*leaves), leaves, grad)
    return result
