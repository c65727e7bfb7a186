# SPDX-License-Identifier: Apache-2.0
"""aclnnScaledMaskedSoftmaxBackward: gradient of a scaled and masked softmax from its output."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from aclgrad.spec.arguments import Attr, KernelAttr, KernelTensor, Tensor
from aclgrad.spec.call import AttrValue, Call, TensorDesc
from aclgrad.spec.cases import BLOCK_BYTES, Case, at_scales, strided
from aclgrad.spec.checks import (
    AttrIs,
    DimsNotNegative,
    DtypeIn,
    FormatIsNd,
    LastDimIn,
    LeadingDimsBroadcast,
    NotNull,
    RankIs,
    ResultPointers,
    SameDtype,
    SameShape,
)
from aclgrad.spec.dtypes import BF16, BOOL, FLOAT, FLOAT16, DType
from aclgrad.spec.op_spec import Float64, OpSpec
from aclgrad.spec.steps import CopyTo, Launch, MakeContiguous
from aclgrad.spec.terms import sum_scale

_FLOATS = (FLOAT, FLOAT16, BF16)
_LONGEST = 4096


def golden(
    gradOutput: Float64,
    y: Float64,
    mask: NDArray[np.bool_],
    scale: float,
    fixTriuMask: bool,
) -> Float64:
    """Evaluate (g*y - sum(g*y)*y) * scale; a masked element is 0 whatever its value would be."""
    product = gradOutput * y
    result = (product - product.sum(axis=-1, keepdims=True) * y) * float(np.float32(scale))
    return np.where(mask, 0.0, result)


def terms(
    gradOutput: Float64,
    y: Float64,
    mask: NDArray[np.bool_],
    scale: float,
    fixTriuMask: bool,
) -> Float64:
    """Magnitudes that cancel in the golden: the product and the sum times y."""
    product = gradOutput * y
    size = np.maximum(np.abs(product), sum_scale(product, -1) * np.abs(y))
    return np.where(mask, 0.0, size * abs(float(np.float32(scale))))


def _shapes(block: int, fast: bool) -> Iterator[tuple[int, int, int, int]]:
    """[B, N, S1, S2] from the degenerate to the long."""
    yield 1, 1, 1, 1
    yield 2, 3, 4, 1
    yield 3, 2, 1, 5
    for blocks in (1, 2, 4, 9) if fast else (1, 2, 3, 4, 8, 9, 16, 32, 64):
        for length in (blocks * block - 1, blocks * block, blocks * block + 1):
            yield 2, 2, 3, length
    yield 2, 3, 1, 8 * block + 1
    yield 1, 3, 5, 127
    yield 2, 1, 3, 1009
    yield 3, 5, 70, 33
    yield 2, 4, 128, 128
    yield 64, 12, 1, 16
    yield 1, 2, 3, 1023
    yield 1, 1, 5, _LONGEST - 1
    yield 1, 2, 3, _LONGEST
    if not fast:
        yield 17, 13, 31, 9
        yield 2, 8, 512, 64
        yield 1, 1, 1 << 14, 8
        yield 1 << 14, 1, 1, 7
        yield 2, 2, 64, 2047
    yield 0, 2, 3, 4
    yield 2, 0, 3, 4
    yield 2, 3, 0, 4


def cases(spec: OpSpec, fast: bool) -> Iterator[Case]:
    """Grid over shapes, the four ways to broadcast the mask, scales, layouts and values."""
    for dtype in spec.kernel_dtypes:
        yield from at_scales(_cases_of(spec, dtype, fast), fast, _typical)


def _typical(case: Case) -> float:
    """Size of a gradient: the scale is a factor of it, and so are probabilities."""
    factor = abs(float(str(case.call.attrs["scale"])))
    row = case.call.tensor("y").shape[-1]
    share = 2.5 / row if case.values == "probability" else 1.0
    return factor * share if factor < math.inf else 0.0


def _cases_of(spec: OpSpec, dtype: DType, fast: bool) -> Iterator[Case]:
    def case(
        shape: tuple[int, int, int, int],
        mode: str = "BN",
        scale: float = 1.0,
        values: str = "uniform",
        layout: str = "contiguous",
        out_layout: str = "contiguous",
    ) -> Case:
        batches, heads = (shape[0] if "B" in mode else 1, shape[1] if "N" in mode else 1)
        plain = TensorDesc(shape, dtype)
        tensors: dict[str, TensorDesc | None] = {
            "gradOutput": strided(plain, layout),
            "y": strided(plain, layout),
            "mask": strided(TensorDesc((batches, heads, *shape[2:]), BOOL), layout),
            "out": strided(plain, out_layout),
        }
        attrs: dict[str, AttrValue] = {**spec.defaults(), "scale": scale}
        words = [dtype.alias, "x".join(map(str, shape)), f"mask{mode or 1}", f"{scale:g}", values]
        if (layout, out_layout) != ("contiguous", "contiguous"):
            words.append(f"{layout}>{out_layout}")
        return Case("-".join(words), spec.op, Call(tensors, attrs), values)

    block = BLOCK_BYTES // dtype.numpy.itemsize
    kinds = ("uniform", "normal", "probability")
    modes = ("BN", "N", "B", "")
    for count, shape in enumerate(dict.fromkeys(_shapes(block, fast))):
        for mode in modes:
            yield case(shape, mode, (1.0, 0.125)[count % 2], kinds[count % len(kinds)])
    row = (2, 3, 2, 2 * block + 1)
    for scale in (0.0, -2.5, 1e-3, float("inf"), float("-inf"), float("nan")):
        yield case(row, "B", scale)
    for values in ("nan", "inf", "-inf", "special", "special_each", "zero"):
        yield case(row, "N", 1.0, values)
    for values in ("all_nan", "all_inf", "all_-inf"):
        yield case(row, "BN", 0.5, values)
    for mode in modes:
        for layout in ("offset", "gaps", "transposed", "expanded"):
            yield case(row, mode, 0.5, "normal", layout)
        yield case(row, mode, 0.5, "normal", "transposed", "gaps")
    for layout in ("offset", "gaps", "transposed"):
        yield case(row, "BN", 0.5, "normal", "contiguous", layout)


SPEC = OpSpec(
    op_type="ScaledMaskedSoftmaxGradV2",
    # PyTorch's NPU backend asks for this type on Atlas A2 and A3, and not for the aclnn function.
    further_types=("ScaledMaskedSoftmaxGrad",),
    api="aclnnScaledMaskedSoftmaxBackward",
    header="scaled_masked_softmax_backward",
    brief="Gradient of a softmax over the last dim of scaled and masked values.",
    formula=(
        "out = mask ? 0 : (gradOutput * y - sum(gradOutput * y, last dim, keepdim) * y) * scale"
    ),
    args=(
        Tensor("gradOutput", "gradient that arrives from the layer above; four dims, last <= 4096"),
        Tensor("y", "result of the forward function; same shape and dtype as gradOutput"),
        Tensor(
            "mask",
            "true where the result is 0; dims 0 and 1 are those of gradOutput or 1",
            dtypes=(BOOL,),
        ),
        Attr("scale", "double", 1.0, "factor of the forward function, used as float32"),
        Attr("fixTriuMask", "bool", False, "only false is supported"),
        Tensor("out", "gradient of the input; same shape and dtype as gradOutput", True),
    ),
    inputs=(
        KernelTensor("yGrad", "gradOutput"),
        KernelTensor("y", "y"),
        KernelTensor("mask", "mask", optional=True),
    ),
    outputs=(KernelTensor("xGrad", "out"),),
    attrs=(
        KernelAttr("scale", "scale", "Float"),
        KernelAttr("fixed_triu_mask", "fixTriuMask", "Bool"),
    ),
    dtypes={
        "ascend910b": _FLOATS,
        "ascend910_93": _FLOATS,
        "ascend950": _FLOATS,
    },
    kernels={
        soc: tuple((dtype, dtype, BOOL, dtype) for dtype in _FLOATS)
        for soc in ("ascend910b", "ascend950")
    },
    checks=(
        NotNull("gradOutput"),
        NotNull("y"),
        NotNull("mask"),
        NotNull("out"),
        DtypeIn("gradOutput", _FLOATS),
        DtypeIn("y", _FLOATS),
        DtypeIn("mask", (BOOL,)),
        DtypeIn("out", _FLOATS),
        SameDtype("out", "gradOutput"),
        FormatIsNd("gradOutput"),
        FormatIsNd("y"),
        FormatIsNd("out"),
        FormatIsNd("mask"),
        RankIs("gradOutput", 4),
        DimsNotNegative("gradOutput"),
        LastDimIn("gradOutput", 1, _LONGEST, 8192),
        SameShape("y", "gradOutput"),
        SameShape("out", "gradOutput"),
        RankIs("mask", 4),
        DimsNotNegative("mask"),
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
    golden=golden,
    terms=terms,
    cases=cases,
    keeps_executor=True,
    notes=(
        (
            "The sum includes masked elements, so their NaN and Inf reach the rest of the row; the"
            " masked elements themselves are +0. Any byte of mask that is not 0 masks."
        ),
        (
            "FLOAT16 and BF16 are computed in float32 and rounded once. The result does not depend"
            " on the number of cores. A scale of 1 is not multiplied by."
        ),
        "All tensors may be strided, offset, transposed; inputs may be expanded (stride 0).",
    ),
)
