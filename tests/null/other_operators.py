# SPDX-License-Identifier: Apache-2.0
"""Specs that exercise what softmax_grad does not: other checks, other lowerings, other
attributes.
"""

from __future__ import annotations

from aclgrad.spec.arguments import Attr, KernelAttr, KernelTensor, Tensor
from aclgrad.spec.call import Call, TensorDesc
from aclgrad.spec.checks import (
    AttrIs,
    Broadcastable,
    BroadcastsTo,
    DimsNotNegative,
    DtypeIn,
    DtypeSupported,
    FormatIsNd,
    LastDimIn,
    LeadingDimsBroadcast,
    NotNull,
    RankAtMost,
    RankIs,
    ResultPointers,
    ReturnIfEmpty,
    SameDtype,
    SameShape,
)
from aclgrad.spec.dtypes import BF16, BOOL, FLOAT, FLOAT16
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import family
from aclgrad.spec.steps import CopyTo, Launch, MakeContiguous

_WIDE = {name: (FLOAT, FLOAT16, BF16) for name in ("ascend910b", "ascend910_93", "ascend950")}

MASKED = OpSpec(
    op_type="MaskedGradV2",
    api="aclnnMaskedBackward",
    header="masked_backward",
    brief="A masked operator of rank 4.",
    formula="out = mask ? 0 : gradOutput * y * scale",
    args=(
        Tensor("gradOutput", "gradient"),
        Tensor("y", "forward result"),
        Tensor("mask", "true where the result is 0", dtypes=(BOOL,)),
        Attr("scale", "double", 1.0, "factor"),
        Attr("fixTriuMask", "bool", False, "only false is supported"),
        Tensor("out", "result", True),
    ),
    inputs=(
        KernelTensor("yGrad", "gradOutput"),
        KernelTensor("y", "y"),
        KernelTensor("mask", "mask"),
    ),
    outputs=(KernelTensor("xGrad", "out"),),
    attrs=(
        KernelAttr("scale", "scale", "Float"),
        KernelAttr("fixed_triu_mask", "fixTriuMask", "Bool"),
    ),
    dtypes=_WIDE,
    kernels={"ascend910b": tuple((d, d, BOOL, d) for d in (FLOAT, FLOAT16, BF16))},
    checks=(
        NotNull("gradOutput"),
        NotNull("y"),
        NotNull("mask"),
        NotNull("out"),
        DtypeSupported("gradOutput"),
        DtypeSupported("y"),
        DtypeIn("mask", (BOOL,)),
        SameDtype("out", "gradOutput"),
        FormatIsNd("gradOutput"),
        RankIs("gradOutput", 4),
        DimsNotNegative("gradOutput"),
        LastDimIn("gradOutput", 1, 4096, 8192),
        SameShape("y", "gradOutput"),
        SameShape("out", "gradOutput"),
        RankIs("mask", 4),
        LeadingDimsBroadcast("mask", "gradOutput", 2),
        AttrIs("fixTriuMask", False),
        ResultPointers(),
        SameDtype("y", "gradOutput"),
    ),
    lowering=(
        MakeContiguous("gradOutput"),
        MakeContiguous("y"),
        MakeContiguous("mask"),
        Launch(like="gradOutput"),
        CopyTo("out"),
    ),
    golden=lambda gradOutput, y, mask, scale, fixTriuMask: gradOutput * y * scale * ~mask,
    cases=lambda spec, fast: (),
)

LOSS = OpSpec(
    op_type="LossGrad",
    api="aclnnLossBackward",
    header="loss_backward",
    brief="A loss whose operands broadcast.",
    formula="out = -gradOutput * target",
    args=(
        Tensor("gradOutput", "gradient"),
        Tensor("self", "input"),
        Tensor("target", "target"),
        Attr("reduction", "int64_t", 1, "0 none, 1 mean, 2 sum, 3 batchmean"),
        Attr("logTarget", "bool", False, "target is a logarithm"),
        Tensor("out", "result", True),
    ),
    inputs=(
        KernelTensor("grad", "gradOutput"),
        KernelTensor("input", "self"),
        KernelTensor("target", "target"),
    ),
    outputs=(KernelTensor("y", "out"),),
    attrs=(
        KernelAttr(
            "reduction", "reduction", "String", ("none", "mean", "sum", "batchmean"), "none"
        ),
        KernelAttr("log_target", "logTarget", "Bool"),
    ),
    dtypes=_WIDE,
    kernels={"ascend910b": ((FLOAT,) * 4,)},
    checks=(
        ResultPointers(),
        NotNull("gradOutput"),
        NotNull("self"),
        NotNull("target"),
        NotNull("out"),
        DtypeSupported("gradOutput"),
        DtypeSupported("self"),
        DtypeSupported("target"),
        DtypeSupported("out"),
        RankAtMost("gradOutput", 8),
        RankAtMost("self", 8),
        RankAtMost("target", 8),
        Broadcastable("target", "self"),
        BroadcastsTo("gradOutput", of=("self", "target")),
        SameShape("out", "self"),
        SameDtype("out", "self"),
        ReturnIfEmpty(("self",)),
    ),
    lowering=(
        MakeContiguous("gradOutput"),
        MakeContiguous("self", code=161001),
        MakeContiguous("target"),
        Launch(like="self"),
        CopyTo("out"),
    ),
    golden=lambda gradOutput, self, target, reduction, logTarget: -gradOutput * target,
    cases=lambda spec, fast: (),
)

OTHERS = (MASKED, LOSS)


def good_call(spec: OpSpec) -> Call:
    """A call that passes every check of a spec."""
    shape = (2, 3, 4, 5) if spec is MASKED else (2, 3, 4)
    tensors = {
        arg.name: TensorDesc(shape, arg.dtypes[0] if arg.dtypes else FLOAT) for arg in spec.tensors
    }
    return Call(tensors, spec.defaults(), family("ascend910b"))
