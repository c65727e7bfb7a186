# SPDX-License-Identifier: Apache-2.0
"""aclnnKlDivBackward: gradient of the Kullback-Leibler divergence with respect to its input."""

import math
from collections.abc import Iterator

import numpy as np

from aclgrad.spec.arguments import Attr, KernelAttr, KernelTensor, Tensor
from aclgrad.spec.call import AttrValue, Call, TensorDesc
from aclgrad.spec.cases import BLOCK_BYTES, Case, at_scales, shapes, strided
from aclgrad.spec.checks import (
    Broadcastable,
    BroadcastsTo,
    DtypeSupported,
    FormatFollows,
    NotNull,
    RankAtMost,
    ResultPointers,
    ReturnIfEmpty,
    SameDtype,
    SameShape,
    ViewInStorage,
)
from aclgrad.spec.dtypes import BF16, FLOAT, FLOAT16, DType
from aclgrad.spec.op_spec import Float64, OpSpec
from aclgrad.spec.steps import (
    BroadcastToCommon,
    CastTo,
    CopyTo,
    Launch,
    MakeContiguous,
    SumTo,
    Widen,
    ZeroIfEmpty,
)

_COMMON = ("self", "target")
_REDUCTIONS = ("none", "mean", "sum", "batchmean")


def golden(
    gradOutput: Float64,
    self: Float64,
    target: Float64,
    reduction: int,
    logTarget: bool,
) -> Float64:
    """Evaluate ((t * g) * -1) * c, then add up what the broadcast of self has repeated."""
    product = (np.exp(target) if logTarget else target) * gradOutput * -1.0
    return _reduced(product, self, target, reduction)


def terms(
    gradOutput: Float64,
    self: Float64,
    target: Float64,
    reduction: int,
    logTarget: bool,
) -> Float64:
    """Magnitudes that cancel where the result is summed."""
    product = (np.exp(target) if logTarget else target) * gradOutput
    squares = _reduced(product, self, target, reduction, squared=True)
    return np.maximum(np.abs(_reduced(product, self, target, reduction)), np.sqrt(squares))


def _reduced(
    product: Float64, self: Float64, target: Float64, reduction: int, *, squared: bool = False
) -> Float64:
    shape = np.broadcast_shapes(self.shape, target.shape)
    share = {1: math.prod(shape), 3: shape[0] if shape else 1}.get(reduction, 1)
    each = product / max(share, 1)
    full = np.broadcast_to(each * each if squared else each, shape)
    added = len(shape) - self.ndim
    axes = tuple(
        axis for axis, dim in enumerate(shape) if axis < added or dim != self.shape[axis - added]
    )
    # Not sum(axis=()): adding nothing to -0 must leave -0.
    result: Float64 = full.sum(axis=axes).reshape(self.shape) if axes else full.copy()
    return result


def cases(spec: OpSpec, fast: bool) -> Iterator[Case]:
    """Every shape of the grid; every pairing of reduction, target kind, broadcast and dtypes."""
    for dtype in spec.kernel_dtypes:
        yield from at_scales(_full(spec, dtype, fast), fast, _typical)
        yield from at_scales(_broadcast(spec, dtype, fast), fast, _typical)
    yield from at_scales(_mixed(spec), fast, _typical)


def _typical(case: Case) -> float:
    """Size of a gradient: a mean has a share in it for each element."""
    shapes = (case.call.tensor(name).shape for name in _COMMON)
    shape = np.broadcast_shapes(*shapes)
    reduction = case.call.attrs["reduction"]
    share = {1: math.prod(shape), 3: shape[0] if shape else 1}.get(int(str(reduction)), 1)
    factor = 2.5 / max(shape[-1], 1) if shape and case.values == "probability" else 1.0
    return factor / max(share, 1)


def _case(
    spec: OpSpec,
    tensors: dict[str, TensorDesc],
    reduction: int,
    log: bool,
    values: str = "uniform",
    words: str = "",
) -> Case:
    attrs: dict[str, AttrValue] = {"reduction": reduction, "logTarget": log}
    dims = {name: "x".join(map(str, desc.shape)) or "scalar" for name, desc in tensors.items()}
    text = dims["self"]
    if dims["target"] != text:
        text += f"-target{dims['target']}"
    if dims["gradOutput"] != text:
        text += f"-grad{dims['gradOutput']}"
    kinds = dict.fromkeys(tensors[name].dtype.alias for name in ("gradOutput", "self", "target"))
    name = "-".join(
        filter(
            None,
            ("+".join(kinds), text, f"reduction{reduction}", "log" * log, values, words),
        )
    )
    return Case(name, spec.op, Call({**tensors}, attrs), values)


def _alike(
    dtype: DType, shape: tuple[int, ...], grad: tuple[int, ...] | None = None
) -> dict[str, TensorDesc]:
    desc = TensorDesc(shape, dtype)
    first = desc if grad is None else TensorDesc(grad, dtype)
    return {"gradOutput": first, "self": desc, "target": desc, "out": desc}


def _full(spec: OpSpec, dtype: DType, fast: bool) -> Iterator[Case]:
    block = BLOCK_BYTES // dtype.numpy.itemsize
    for count, shape in enumerate(shapes(block, fast)):
        kind = ("uniform", "normal", "probability")[count % 3]
        yield _case(spec, _alike(dtype, shape), count % 4, count % 2 == 0, kind)
        if shape and count % 2:
            yield _case(spec, _alike(dtype, shape, (1,)), 1 + count % 3, count % 5 == 0, kind)
    row = (6, 2 * block + 1)
    for values in ("nan", "inf", "-inf", "special", "special_each", "zero", "wide", "all_nan"):
        for log in (False, True):
            yield _case(spec, _alike(dtype, row), 0, log, values)
            yield _case(spec, _alike(dtype, row, (1,)), 1, log, values)
    for reduction in (*range(4), 6, -1):
        for log in (False, True):
            yield _case(spec, _alike(dtype, row), reduction, log, "normal")
            yield _case(spec, _alike(dtype, (3, 1, block)), reduction, log)
    block3 = _alike(dtype, (4, 6, 2 * block + 1))
    for layout in ("offset", "gaps", "transposed", "expanded"):
        moved = {n: d if n == "out" else strided(d, layout) for n, d in block3.items()}
        yield _case(spec, moved, 3, True, "normal", layout)
        if layout != "expanded":
            moved = {**block3, "out": strided(block3["out"], layout)}
            yield _case(spec, moved, 0, False, "normal", f">{layout}")


def _broadcast(spec: OpSpec, dtype: DType, fast: bool) -> Iterator[Case]:
    # self, target, gradOutput
    triples: list[tuple[tuple[int, ...], ...]] = [
        ((4, 33), (33,), (4, 33)),
        ((4, 33), (4, 1), (1,)),
        ((4, 33), (), (33,)),
        ((33,), (4, 33), (4, 1)),
        ((33,), (1, 33), (33,)),
        ((1, 33), (4, 33), (4, 33)),
        ((4, 1), (4, 33), (1,)),
        ((4, 1), (1, 33), (4, 33)),
        ((), (4, 33), (4, 33)),
        ((1,), (257, 3), (1, 1)),
        ((2, 1, 5, 1), (1, 3, 1, 7), (2, 3, 5, 7)),
        ((5, 1), (2, 3, 1, 7), (3, 5, 1)),
        ((1,) * 8, (2, 1, 2, 1, 2, 1, 2, 3), (2, 3)),
    ]
    if fast:
        triples = triples[::2]
    for count, (kept, target, grad) in enumerate(triples):
        tensors = {
            "gradOutput": TensorDesc(grad, dtype),
            "self": TensorDesc(kept, dtype),
            "target": TensorDesc(target, dtype),
            "out": TensorDesc(kept, dtype),
        }
        for reduction in range(4):
            yield _case(spec, tensors, reduction, (count + reduction) % 2 == 0, "normal")
    one = TensorDesc((3, 1), dtype)
    none = TensorDesc((3, 0), dtype)
    tensors = {"gradOutput": none, "self": one, "target": none, "out": one}
    yield _case(spec, tensors, 1, False)


def _mixed(spec: OpSpec) -> Iterator[Case]:
    kinds = spec.kernel_dtypes
    for g in kinds:
        for s in kinds:
            for t in kinds:
                if g == s == t:
                    continue
                tensors = {
                    "gradOutput": TensorDesc((5, 67), g),
                    "self": TensorDesc((5, 67), s),
                    "target": TensorDesc((5, 67), t),
                    "out": TensorDesc((5, 67), s),
                }
                words = f"{g.alias}.{s.alias}.{t.alias}"
                yield _case(spec, tensors, 2, True, "normal", words)
                one = {**tensors, "gradOutput": TensorDesc((1,), g)}
                yield _case(spec, one, 1, False, "normal", words)


SPEC = OpSpec(
    op_type="KlDivLossGrad",
    api="aclnnKlDivBackward",
    header="kl_div_backward",
    brief="Gradient of the Kullback-Leibler divergence with respect to self.",
    formula=(
        "out = -gradOutput * (logTarget ? exp(target) : target) * c,"
        " summed over the dims in which self is broadcast"
    ),
    args=(
        Tensor("gradOutput", "gradient that arrives; broadcasts to the shape of self and target"),
        Tensor("self", "input of the forward function; only its shape and dtype count"),
        Tensor("target", "target distribution; broadcasts with self"),
        Attr(
            "reduction",
            "int64_t",
            1,
            (
                "0 none, 1 mean (c = 1 / elements), 2 sum, 3 batchmean (c = 1 / dim 0);"
                " c = 1 for every other number"
            ),
        ),
        Attr("logTarget", "bool", False, "whether target holds logarithms"),
        Tensor("out", "gradient of self; same shape and dtype as self", True),
    ),
    # The kernel reads no value of `input`, so target stands in for self: nothing is copied.
    inputs=(
        KernelTensor("grad", "gradOutput"),
        KernelTensor("input", "target"),
        KernelTensor("target", "target"),
    ),
    outputs=(KernelTensor("y", "out"),),
    attrs=(
        KernelAttr("reduction", "reduction", "String", _REDUCTIONS, "none"),
        KernelAttr("log_target", "logTarget", "Bool"),
    ),
    dtypes={
        "ascend910b": (FLOAT, FLOAT16, BF16),
        "ascend910_93": (FLOAT, FLOAT16, BF16),
        "ascend950": (FLOAT, FLOAT16, BF16),
    },
    kernels={
        soc: tuple((dtype,) * 4 for dtype in (FLOAT, FLOAT16, BF16))
        for soc in ("ascend910b", "ascend950")
    },
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
        SameDtype("out", "self"),
        RankAtMost("gradOutput", 8),
        RankAtMost("self", 8),
        RankAtMost("target", 8),
        RankAtMost("out", 8),
        Broadcastable("target", "self"),
        BroadcastsTo("gradOutput", of=_COMMON),
        SameShape("out", "self"),
        ReturnIfEmpty(("self",)),
        ViewInStorage("self"),
        FormatFollows("self", "out"),
    ),
    lowering=(
        ZeroIfEmpty("out", of=_COMMON),
        MakeContiguous("gradOutput"),
        MakeContiguous("target"),
        Widen(("gradOutput", "target"), of=_COMMON),
        BroadcastToCommon("target", of=_COMMON),
        BroadcastToCommon("gradOutput", of=_COMMON, single=True),
        Launch(like="target"),
        SumTo("self"),
        CastTo("out"),
        CopyTo("out"),
    ),
    golden=golden,
    terms=terms,
    cases=cases,
    notes=(
        (
            "FLOAT16 and BF16 are computed in float32 and rounded once, also where self is"
            " broadcast or the dtypes of the inputs differ."
        ),
        (
            "Elements and dim 0 are those of the common shape of self and target. torch divides"
            " batchmean by dim 0 of self, which differs only where self is broadcast there."
        ),
        (
            "gradOutput counts element by element for every reduction; one element holds for all."
            " No target is special: 0 gives -0 * gradOutput."
        ),
        "All tensors may be strided, offset, transposed; inputs may be expanded (stride 0).",
    ),
)
