# SPDX-License-Identifier: Apache-2.0
"""The backward operators in torch's registry, ``torch.ops.aclgrad.softmax_backward`` and its like:
each is made of its spec, a derivative of `derivatives` and a rule of `batching`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad import functions
from aclgrad.ops import all_specs
from aclgrad.spec.op_spec import OpSpec
from aclgrad.torch import batching, checks, derivatives
from aclgrad.torch.differentiable import Parts, parameters, register
from aclgrad.torch.tensors import array_of, tensor_of


def _register(spec: OpSpec) -> Callable[..., torch.Tensor]:
    name = spec.function
    read = [arg for arg in spec.input_args if not arg.unused]
    count = len(read)

    def checked(values: tuple[Any, ...]) -> dict[str, torch.Tensor]:
        checks.device_word(name, values[-1])
        for arg, value in zip(read, values, strict=False):
            where = f"{name}: {arg.python}"
            if arg.dtypes:  # a mask
                checks.booleans(where, value)
            else:
                checks.floats(where, value, values[-1])
        return {arg.name: value for arg, value in zip(read, values, strict=False)}

    def kernel(*values: Any) -> torch.Tensor:
        given = {key: array_of(tensor) for key, tensor in checked(values).items()}
        inputs = {arg.name: given.get(arg.name, functions.PLACEHOLDER) for arg in spec.input_args}
        *attributes, device = values[count:]
        attrs = {arg.name: value for arg, value in zip(spec.attr_args, attributes, strict=True)}
        if device == checks.GOLDEN:
            wide = np.asarray(spec.evaluate(inputs, attrs))
            return tensor_of(wide.astype(inputs[spec.result_like].dtype))
        return tensor_of(functions.compute(spec, inputs, attrs, device=device))

    def fake(*values: Any) -> torch.Tensor:
        like = checked(values)[spec.result_like]
        return like.new_empty(like.shape)

    def keep(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        ctx.save_for_backward(*inputs[:count])
        ctx.attrs = inputs[count:-1]

    def differentiate(ctx: Any, v: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        if name not in derivatives.OF:
            raise NotImplementedError(f"{name}: no derivative is known: differentiate once only")
        tensors = (_wide(tensor) for tensor in (v, *ctx.saved_tensors))
        found = derivatives.OF[name](*tensors, *ctx.attrs)
        return *found, *(None for _ in range(len(ctx.attrs) + 1))

    signature = parameters(
        [arg.python for arg in read],
        {arg.python: arg.python_type for arg in spec.attr_args},
        **{arg.python: arg.default for arg in spec.attr_args},
        device="sim",
    )
    rule = batching.of(spec)
    return register(Parts(name, signature, spec.brief, kernel, fake, keep, differentiate, rule))


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    """Half precision in float32, as the kernels compute."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


OPERATORS = {spec.function: _register(spec) for spec in all_specs()}
"""By name."""
