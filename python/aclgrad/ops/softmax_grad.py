# SPDX-License-Identifier: Apache-2.0
"""aclnnSoftmaxBackward: gradient of softmax from its output."""

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
    """Evaluate out = g*y - sum(g*y)*y in this order, which settles what an Inf becomes."""
    product: Float64 = gradOutput * output
    if product.ndim == 0:
        return product - product * output
    result: Float64 = product - product.sum(axis=dim, keepdims=True) * output
    return result


def terms(gradOutput: Float64, output: Float64, dim: int) -> Float64:
    """Magnitudes that cancel in the golden: the product and the sum times output."""
    product: Float64 = gradOutput * output
    total = np.abs(product) if product.ndim == 0 else sum_scale(product, dim)
    result: Float64 = np.maximum(np.abs(product), total * np.abs(output))
    return result


SPEC = OpSpec(
    op_type="SoftmaxGrad",
    api="aclnnSoftmaxBackward",
    header="softmax_backward",
    brief="Gradient of softmax with respect to its input.",
    formula="out = gradOutput * output - sum(gradOutput * output, dim, keepdim) * output",
    args=(
        Tensor("gradOutput", "gradient that arrives from the layer above"),
        Tensor("output", "result of the forward softmax; same shape and dtype as gradOutput"),
        Attr("dim", "int64_t", -1, "dim that the softmax ran over; negative counts from the back"),
        Tensor(
            "out", "gradient of the input; same shape as gradOutput; other dtypes by cast", True
        ),
    ),
    inputs=(KernelTensor("softmax", "output"), KernelTensor("grad_softmax", "gradOutput")),
    outputs=(KernelTensor("grad_x", "out"),),
    attrs=(KernelAttr("axes", "dim", "ListInt"),),
    dtypes={
        "ascend910b": (FLOAT, FLOAT16, BF16),
        "ascend910_93": (FLOAT, FLOAT16, BF16),
        "ascend950": (FLOAT, FLOAT16, BF16),
        "ascend310p": (FLOAT, FLOAT16),
        "ascend310b": (FLOAT, FLOAT16),
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
        NotNull("gradOutput"),
        NotNull("output"),
        NotNull("out"),
        ReturnIfEmpty(("gradOutput", "output"), regbase=False),
        DtypeSupported("gradOutput"),
        DtypeSupported("output"),
        SameDtype("output", "gradOutput"),
        DimInRange("dim", of="gradOutput"),
        RankAtMost("gradOutput", 8),
        SameShape("output", "gradOutput"),
        SameShape("out", "gradOutput"),
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
    cases=same_shape_grid,
    notes=(
        (
            "FLOAT16 and BF16 are computed in float32 and rounded once. The result does not depend"
            " on the number of cores."
        ),
        "All tensors may be strided, offset, transposed; inputs may be expanded (stride 0).",
        "A tensor of rank 0 counts as one element along one dim.",
    ),
)
