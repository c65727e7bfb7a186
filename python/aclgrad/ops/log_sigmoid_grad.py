# SPDX-License-Identifier: Apache-2.0
"""aclnnLogSigmoidBackward: gradient of log(sigmoid(x)) from x."""

import numpy as np

from aclgrad.spec.arguments import KernelTensor, Tensor
from aclgrad.spec.cases import elementwise_grid
from aclgrad.spec.checks import (
    PARAM_NULLPTR,
    DtypeSupported,
    NotNull,
    ResultPointers,
    ReturnIfEmpty,
    SameDtype,
    SameShape,
)
from aclgrad.spec.dtypes import BF16, FLOAT, FLOAT16
from aclgrad.spec.op_spec import Float64, OpSpec
from aclgrad.spec.steps import CopyTo, Launch, MakeContiguous


def golden(gradOutput: Float64, self: Float64, buffer: Float64) -> Float64:
    """Evaluate g / (1 + exp(x)) as g * n / (1 + z), which no x overflows: 0 * g at x = inf."""
    z, n = np.exp(-np.abs(self)), np.exp(np.minimum(-self, 0.0))
    result: Float64 = gradOutput * n / (1 + z)
    return result


def terms(gradOutput: Float64, self: Float64, buffer: Float64) -> Float64:
    """Nothing cancels: the result itself."""
    return np.abs(golden(gradOutput, self, buffer))


SPEC = OpSpec(
    op_type="LogSigmoidGrad",
    api="aclnnLogSigmoidBackward",
    header="logsigmoid_backward",
    brief="Gradient of log(sigmoid(self)) with respect to self.",
    formula="gradInput = gradOutput / (1 + exp(self))",
    args=(
        Tensor("gradOutput", "gradient that arrives from the layer above"),
        Tensor(
            "self",
            "input of the forward function; same shape and dtype as gradOutput",
            example=(-2.0, -1.0, 0.0, 1.0, 2.0, 3.0),
        ),
        Tensor(
            "buffer",
            "left over from the forward function; must not be null, is not read",
            unused=True,
        ),
        Tensor("gradInput", "gradient of self; same shape and dtype as gradOutput", True),
    ),
    inputs=(KernelTensor("grads", "gradOutput"), KernelTensor("features", "self")),
    outputs=(KernelTensor("backprops", "gradInput"),),
    attrs=(),
    dtypes={
        "ascend910b": (FLOAT, FLOAT16, BF16),
        "ascend910_93": (FLOAT, FLOAT16, BF16),
        "ascend950": (FLOAT, FLOAT16, BF16),
        "ascend310p": (FLOAT, FLOAT16),
        "ascend310b": (FLOAT, FLOAT16),
        "ascend910": (FLOAT, FLOAT16),
    },
    kernels={
        soc: tuple((dtype,) * 3 for dtype in (FLOAT, FLOAT16, BF16))
        for soc in ("ascend910b", "ascend950")
    },
    checks=(
        ResultPointers(),
        NotNull("gradOutput"),
        NotNull("self"),
        NotNull("buffer"),
        NotNull("gradInput"),
        DtypeSupported("gradOutput"),
        DtypeSupported("self"),
        SameDtype("gradOutput", "gradInput"),
        SameDtype("self", "gradInput"),
        SameShape("gradOutput", "gradInput"),
        SameShape("self", "gradInput"),
        ReturnIfEmpty(("gradOutput", "self")),
    ),
    lowering=(
        MakeContiguous("gradOutput", code=PARAM_NULLPTR),
        MakeContiguous("self", code=PARAM_NULLPTR),
        Launch(like="self"),
        CopyTo("gradInput"),
    ),
    golden=golden,
    terms=terms,
    cases=elementwise_grid,
    notes=(
        (
            "No value of self overflows: -inf gives gradOutput, inf gives 0 * gradOutput. FLOAT16"
            " and BF16 are computed in float32 and rounded once."
        ),
        "All tensors may be strided, offset, transposed; inputs may be expanded (stride 0).",
        "Any rank; buffer may have any shape, dtype and contents.",
    ),
)
