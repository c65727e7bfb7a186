# SPDX-License-Identifier: Apache-2.0
"""aclnnLogSoftmaxBackward: gradient of log-softmax from its output."""

from functools import partial

import numpy as np

from aclgrad.spec.arguments import Attr, KernelAttr, KernelTensor, Tensor
from aclgrad.spec.cases import same_shape_grid
from aclgrad.spec.checks import (
    DimInRange,
    DtypeSupported,
    NotNull,
    RankAtMost,
    ResultPointers,
    ReturnIfEmpty,
    SameDtype,
    SameShape,
)
from aclgrad.spec.dtypes import BF16, FLOAT, FLOAT16
from aclgrad.spec.op_spec import Float64, OpSpec
from aclgrad.spec.steps import CastTo, CopyTo, Launch, MakeContiguous, WrapDim
from aclgrad.spec.terms import sum_scale


def golden(gradOutput: Float64, output: Float64, dim: int) -> Float64:
    """Evaluate out = g - sum(g)*exp(y) in this order, which settles what an Inf becomes."""
    total = gradOutput if gradOutput.ndim == 0 else gradOutput.sum(axis=dim, keepdims=True)
    result: Float64 = gradOutput - total * np.exp(output)
    return result


def terms(gradOutput: Float64, output: Float64, dim: int) -> Float64:
    """Magnitudes that cancel in the golden: the gradient and the weighted sum."""
    size = np.abs(gradOutput)
    total = size if size.ndim == 0 else sum_scale(gradOutput, dim)
    result: Float64 = np.maximum(size, total * np.exp(output))
    return result


SPEC = OpSpec(
    op_type="LogSoftmaxGrad",
    api="aclnnLogSoftmaxBackward",
    header="logsoftmax_backward",
    brief="Gradient of log-softmax with respect to its input.",
    formula="out = gradOutput - sum(gradOutput, dim, keepdim) * exp(output)",
    args=(
        Tensor("gradOutput", "gradient that arrives from the layer above"),
        Tensor(
            "output",
            "result of the forward log-softmax; same shape and dtype as gradOutput",
            example=(-1.5, -1.5, -0.75, -0.75, -1.5, -1.5),
        ),
        Attr(
            "dim", "int64_t", -1, "dim that the log-softmax ran over; negative counts from the back"
        ),
        Tensor(
            "out", "gradient of the input; same shape as gradOutput; other dtypes by cast", True
        ),
    ),
    inputs=(KernelTensor("grad", "gradOutput"), KernelTensor("x", "output")),
    outputs=(KernelTensor("y", "out"),),
    attrs=(KernelAttr("axis", "dim", "ListInt"),),
    dtypes={
        "ascend910b": (FLOAT, FLOAT16, BF16),
        "ascend910_93": (FLOAT, FLOAT16, BF16),
        "ascend950": (FLOAT, FLOAT16, BF16),
        "ascend310p": (FLOAT, FLOAT16),
        "ascend910": (FLOAT, FLOAT16),
    },
    kernels={
        "ascend910b": tuple((dtype,) * 3 for dtype in (FLOAT, FLOAT16, BF16)),
        "ascend950": tuple((dtype,) * 3 for dtype in (FLOAT, FLOAT16, BF16)),
        "ascend310p": tuple((dtype,) * 3 for dtype in (FLOAT, FLOAT16)),
        "ascend910": tuple((dtype,) * 3 for dtype in (FLOAT, FLOAT16)),
    },
    checks=(
        ResultPointers(),
        NotNull("output"),
        NotNull("gradOutput"),
        NotNull("out"),
        ReturnIfEmpty(("gradOutput", "output"), regbase=False),
        DtypeSupported("output"),
        DtypeSupported("gradOutput"),
        SameDtype("output", "gradOutput"),
        RankAtMost("gradOutput", 8),
        RankAtMost("output", 8),
        SameShape("output", "gradOutput"),
        SameShape("out", "gradOutput"),
        DimInRange("dim", of="gradOutput"),
        ReturnIfEmpty(("gradOutput", "output"), regbase=True),
    ),
    lowering=(
        MakeContiguous("gradOutput"),
        MakeContiguous("output"),
        WrapDim("dim", of="gradOutput"),
        Launch(like="gradOutput"),
        CastTo("out"),
        CopyTo("out"),
    ),
    golden=golden,
    terms=terms,
    cases=partial(same_shape_grid, forward="log_probability"),
    notes=(
        (
            "FLOAT16 and BF16 are computed in float32 and rounded once. The result does not depend"
            " on the number of cores."
        ),
        (
            "exp(output) may overflow: Inf times a sum of 0 is NaN. output = -inf leaves gradOutput"
            " as it is."
        ),
        "All tensors may be strided, offset, transposed; inputs may be expanded (stride 0).",
        "A tensor of rank 0 counts as one element along one dim.",
    ),
)
