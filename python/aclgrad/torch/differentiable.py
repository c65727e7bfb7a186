# SPDX-License-Identifier: Apache-2.0
"""What torch needs to know of an operator, registered in one place."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad.common import callables

Rule = Callable[..., tuple[torch.Tensor, int]]


@dataclass(frozen=True)
class Parts:
    """An operator: all that takes its arguments takes each of them, in their order."""

    name: str
    signature: inspect.Signature
    brief: str
    kernel: Callable[..., torch.Tensor]
    fake: Callable[..., torch.Tensor]  # without data
    keep: Callable[[Any, tuple[Any, ...], torch.Tensor], None]  # context, arguments, result
    differentiate: Callable[[Any, torch.Tensor], tuple[torch.Tensor | None, ...]]
    batched: Rule | None = None  # for torch.vmap; a kernel of torch's functions needs none


def parameters(tensors: list[str], attrs: dict[str, type], **defaults: Any) -> inspect.Signature:
    """Tensors, attributes by their types, the device."""
    types = {**dict.fromkeys(tensors, torch.Tensor), **attrs, "device": str}
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=defaults.get(name, inspect.Parameter.empty),
                annotation=of,
            )
            for name, of in types.items()
        ],
        return_annotation=torch.Tensor,
    )


def register(parts: Parts) -> Callable[..., torch.Tensor]:
    """Define ``torch.ops.aclgrad.<name>`` and return what calls it under any transform.

    torch.func does not differentiate registered operators, and functions of torch.autograd make
    torch.compile warn: there is one of each, of the same parts.
    """

    def whole(body: Callable[..., Any]) -> Callable[..., Any]:
        # torch leaves out arguments that are their defaults.
        return callables.make(parts.name, parts.signature, parts.brief, body, __name__)

    registered = torch.library.custom_op(
        f"aclgrad::{parts.name}", whole(parts.kernel), mutates_args=()
    )
    registered.register_fake(whole(parts.fake))
    registered.register_autograd(parts.differentiate, setup_context=parts.keep)
    rule = parts.batched
    if rule is not None:

        def batched(info: Any, in_dims: Any, *values: Any) -> tuple[torch.Tensor, int]:
            found: tuple[torch.Tensor, int]
            found = whole(lambda *every: rule(info, in_dims, *every))(*values)
            return found

        registered.register_vmap(batched)

    operator = getattr(torch.ops.aclgrad, parts.name).default
    body = parts.kernel if rule is None else operator

    def forward(*values: Any) -> Any:
        return body(*values)

    # By their number torch.compile sees that there is no context among the parameters.
    forward.__signature__ = parts.signature  # type: ignore[attr-defined]
    members = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(parts.keep),
        "backward": staticmethod(parts.differentiate),
        "generate_vmap_rule": True,
    }
    function: Any = type(parts.name, (torch.autograd.Function,), members)

    def call(*values: Any) -> torch.Tensor:
        transformed = torch._C._are_functorch_transforms_active()
        result: torch.Tensor = function.apply(*values) if transformed else operator(*values)
        return result

    return call
