# SPDX-License-Identifier: Apache-2.0
"""Argument checks as data, and the codes that they return.

A check is rendered to C++ by the macro of its `kind` in codegen/templates/checks.j2 and evaluated
here in Python;
tests hold the two against each other. `violations` yields calls that break the check and nothing
before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aclgrad.spec import naming
from aclgrad.spec.api import Api
from aclgrad.spec.arguments import TypedFields
from aclgrad.spec.call import PRIVATE_FORMATS, AttrValue, Call, TensorDesc, broadcast
from aclgrad.spec.dtypes import CASTABLE, DOUBLE, INT32, DType
from aclgrad.spec.soc import FAMILIES

SUCCESS = 0
PARAM_NULLPTR = 161001
PARAM_INVALID = 161002
INNER_FIND_KERNEL = 561003
INNER_NULLPTR = 561103


@dataclass(frozen=True)
class Check(TypedFields):
    """Base of all checks. ``code`` is what the first stage returns when the check is hit."""

    @property
    def code(self) -> int:
        """Return code of a call that hits the check."""
        return PARAM_INVALID

    @property
    def kind(self) -> str:
        """Name of the template macro."""
        return naming.snake(type(self).__name__)

    @property
    def subject(self) -> str:
        """The argument that the message names."""
        return str(getattr(self, "arg", ""))

    def hit(self, call: Call, spec: Api) -> bool:
        """Whether the call ends here."""
        raise TypeError(f"{type(self).__name__} defines no hit()")

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        """Variants of a good call that hit this check first."""
        raise TypeError(f"{type(self).__name__} defines no violations()")

    def doc(self, spec: Api) -> str:
        """One line for the header and the manual: when the code is returned."""
        raise TypeError(f"{type(self).__name__} defines no doc()")


@dataclass(frozen=True)
class ResultPointers(Check):
    """The workspaceSize and executor pointers are not null."""

    @property
    def code(self) -> int:
        return PARAM_NULLPTR

    @property
    def subject(self) -> str:
        return "executor"

    def hit(self, call: Call, spec: Api) -> bool:
        return call.workspace_size_null or call.executor_null

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        yield replace(good, workspace_size_null=True)
        yield replace(good, executor_null=True)

    def doc(self, spec: Api) -> str:
        return "workspaceSize or executor is a null pointer"


@dataclass(frozen=True)
class NotNull(Check):
    """A tensor argument is not null."""

    arg: str

    @property
    def code(self) -> int:
        return PARAM_NULLPTR

    def hit(self, call: Call, spec: Api) -> bool:
        return call.tensors[self.arg] is None

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        yield good.with_null(self.arg)

    def doc(self, spec: Api) -> str:
        return f"{self.arg} is a null pointer"


@dataclass(frozen=True)
class ReturnIfEmpty(Check):
    """Success at this point when one of the tensors is empty. ``regbase`` limits it to one side."""

    args: tuple[str, ...]
    regbase: bool | None = None

    @property
    def code(self) -> int:
        return SUCCESS

    @property
    def subject(self) -> str:
        return ""

    def hit(self, call: Call, spec: Api) -> bool:
        if self.regbase is not None and call.family.regbase != self.regbase:
            return False
        return any(call.tensor(arg).empty for arg in self.args)

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        families = [good.family]
        if self.regbase is not None and good.family.regbase != self.regbase:
            families = [family for family in FAMILIES if family.regbase == self.regbase]
        for family in families:
            yield replace(
                good,
                family=family,
                tensors={
                    name: replace(desc, shape=(0, *desc.shape[1:]), strides=None, storage=None)
                    for name, desc in good.tensors.items()
                    if desc is not None
                },
            )

    def doc(self, spec: Api) -> str:
        where = {None: "", True: " (Ascend 950)", False: " (all but Ascend 950)"}[self.regbase]
        return f"{' or '.join(self.args)} has a dim of 0: nothing is computed{where}"


@dataclass(frozen=True)
class DtypeSupported(Check):
    """The dtype is one that the operator takes on this SoC."""

    arg: str

    def hit(self, call: Call, spec: Api) -> bool:
        return call.tensor(self.arg).dtype not in spec.dtypes_on(call.family)

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        for dtype in (INT32, DOUBLE):
            yield good.with_tensor(self.arg, dtype=dtype)
        if self.arg == next(c.arg for c in spec.checks if isinstance(c, DtypeSupported)):
            # A dtype that only some SoCs lack: the same call is good elsewhere.
            every = spec.dtypes_on(good.family)
            for family in FAMILIES:
                for dtype in every:
                    if dtype not in spec.dtypes_on(family):
                        tensors = {
                            name: desc if desc is None else replace(desc, dtype=dtype)
                            for name, desc in good.tensors.items()
                        }
                        yield replace(good, family=family, tensors=tensors)

    def doc(self, spec: Api) -> str:
        return f"the dtype of {self.arg} is not supported on this SoC"


@dataclass(frozen=True)
class DtypeIn(Check):
    """The dtype is one of a fixed list."""

    arg: str
    dtypes: tuple[DType, ...]

    def hit(self, call: Call, spec: Api) -> bool:
        return call.tensor(self.arg).dtype not in self.dtypes

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        yield good.with_tensor(self.arg, dtype=next(d for d in CASTABLE if d not in self.dtypes))

    def doc(self, spec: Api) -> str:
        return f"the dtype of {self.arg} is not {' or '.join(d.label for d in self.dtypes)}"


@dataclass(frozen=True)
class SameDtype(Check):
    """Two tensors have one dtype."""

    arg: str
    other: str

    def hit(self, call: Call, spec: Api) -> bool:
        return call.tensor(self.arg).dtype != call.tensor(self.other).dtype

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        current = good.tensor(self.other).dtype
        for dtype in spec.dtypes_on(good.family):
            if dtype != current:
                yield good.with_tensor(self.arg, dtype=dtype)

    def doc(self, spec: Api) -> str:
        return f"the dtypes of {self.arg} and {self.other} differ"


@dataclass(frozen=True)
class FormatIsNd(Check):
    """The storage format is ND; on Ascend 950 any that is not private: PyTorch's NPU backend, which
    has aclnn functions only there, calls tensors of four dims NCHW.
    """

    arg: str

    def hit(self, call: Call, spec: Api) -> bool:
        name = call.tensor(self.arg).format
        return name in PRIVATE_FORMATS if call.family.regbase else name != "ND"

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        if not good.family.regbase:
            yield good.with_tensor(self.arg, format="NCHW")
        yield good.with_tensor(self.arg, format="FRACTAL_NZ")

    def doc(self, spec: Api) -> str:
        return f"the format of {self.arg} is not ND (Ascend 950: is a private one)"


@dataclass(frozen=True)
class FormatFollows(Check):
    """The storage format is ND or that of another tensor."""

    arg: str
    other: str

    @property
    def code(self) -> int:
        return INNER_NULLPTR

    def hit(self, call: Call, spec: Api) -> bool:
        return call.tensor(self.arg).format not in ("ND", call.tensor(self.other).format)

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        yield good.with_tensor(self.arg, format="NCHW")

    def doc(self, spec: Api) -> str:
        return f"the format of {self.arg} is neither ND nor that of {self.other}"


@dataclass(frozen=True)
class ViewInStorage(Check):
    """The view of a tensor that is not read lies in its storage."""

    arg: str

    @property
    def code(self) -> int:
        return INNER_NULLPTR

    def hit(self, call: Call, spec: Api) -> bool:
        return not call.tensor(self.arg).addressable

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        desc = good.tensor(self.arg)
        wide = tuple(2 * stride for stride in desc.view_strides)
        yield good.with_tensor(self.arg, strides=wide, storage=desc.shape)

    def doc(self, spec: Api) -> str:
        return f"the view of {self.arg} leaves its storage"


@dataclass(frozen=True)
class RankIs(Check):
    """The tensor has exactly this many dims."""

    arg: str
    rank: int

    def hit(self, call: Call, spec: Api) -> bool:
        return call.tensor(self.arg).rank != self.rank

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        shape = good.tensor(self.arg).shape
        yield _reshaped(good, self.arg, shape[1:])
        yield _reshaped(good, self.arg, (1, *shape))

    def doc(self, spec: Api) -> str:
        return f"the rank of {self.arg} is not {self.rank}"


@dataclass(frozen=True)
class RankAtMost(Check):
    """The tensor has at most this many dims."""

    arg: str
    limit: int

    def hit(self, call: Call, spec: Api) -> bool:
        return call.tensor(self.arg).rank > self.limit

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        shape = (1,) * self.limit + (2,)
        alike = good
        for name in [name for name in good.tensors if name in spec.same_shape_group(self.arg)]:
            alike = _reshaped(alike, name, shape)
        # The rank of another argument of the group may be checked first.
        yield alike if spec.first_hit(alike) is self else _reshaped(good, self.arg, shape)

    def doc(self, spec: Api) -> str:
        return f"the rank of {self.arg} is above {self.limit}"


@dataclass(frozen=True)
class DimInRange(Check):
    """The attribute names a dim of the tensor; rank 0 counts as one dim."""

    attr: str
    of: str

    @property
    def subject(self) -> str:
        return self.attr

    def hit(self, call: Call, spec: Api) -> bool:
        dims = max(call.tensor(self.of).rank, 1)
        return not -dims <= call.attrs[self.attr] < dims

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        dims = max(good.tensor(self.of).rank, 1)
        for value in (dims, -dims - 1, 2**62, -(2**63)):
            yield good.with_attr(self.attr, value)

    def doc(self, spec: Api) -> str:
        return f"{self.attr} is outside [-n, n - 1], n = max(rank of {self.of}, 1)"


@dataclass(frozen=True)
class SameShape(Check):
    """Two tensors have one shape."""

    arg: str
    other: str

    def hit(self, call: Call, spec: Api) -> bool:
        return call.tensor(self.arg).shape != call.tensor(self.other).shape

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        shape = good.tensor(self.other).shape
        yield _reshaped(good, self.arg, (*shape[:-1], shape[-1] + 1))
        yield _reshaped(good, self.arg, shape[1:])
        yield _reshaped(good, self.arg, (*shape, 1))

    def doc(self, spec: Api) -> str:
        return f"the shapes of {self.arg} and {self.other} differ"


@dataclass(frozen=True)
class DimsNotNegative(Check):
    """No dim is negative."""

    arg: str

    def hit(self, call: Call, spec: Api) -> bool:
        return any(dim < 0 for dim in call.tensor(self.arg).shape)

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        yield _reshaped(good, self.arg, (-1, *good.tensor(self.arg).shape[1:]))

    def doc(self, spec: Api) -> str:
        return f"{self.arg} has a negative dim"


@dataclass(frozen=True)
class LastDimIn(Check):
    """The last dim lies in a closed range, whose top may be higher on Ascend 950."""

    arg: str
    low: int
    high: int
    high_regbase: int

    def hit(self, call: Call, spec: Api) -> bool:
        high = self.high_regbase if call.family.regbase else self.high
        shape = call.tensor(self.arg).shape
        return not shape or not self.low <= shape[-1] <= high

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        shape = good.tensor(self.arg).shape
        for last in (self.low - 1, self.high + 1):
            yield _reshaped(good, self.arg, (*shape[:-1], last))

    def doc(self, spec: Api) -> str:
        above = "" if self.high == self.high_regbase else f" ({self.high_regbase} on Ascend 950)"
        return f"the last dim of {self.arg} is outside [{self.low}, {self.high}]{above}"


@dataclass(frozen=True)
class Broadcastable(Check):
    """Two shapes broadcast together."""

    arg: str
    other: str

    def hit(self, call: Call, spec: Api) -> bool:
        return broadcast(call.tensor(self.arg).shape, call.tensor(self.other).shape) is None

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        shape = good.tensor(self.other).shape
        yield _reshaped(good, self.arg, (*shape[:-1], shape[-1] + 1))

    def doc(self, spec: Api) -> str:
        return f"the shapes of {self.arg} and {self.other} do not broadcast"


@dataclass(frozen=True)
class BroadcastsTo(Check):
    """A shape broadcasts to that of two others without enlarging it."""

    arg: str
    of: tuple[str, str]

    def hit(self, call: Call, spec: Api) -> bool:
        first, second = (call.tensor(name).shape for name in self.of)
        target = broadcast(first, second)
        return target is None or broadcast(call.tensor(self.arg).shape, target) != target

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        shape = good.tensor(self.of[0]).shape
        yield _reshaped(good, self.arg, (*shape[:-1], shape[-1] + 1))
        yield _reshaped(good, self.arg, (2, *shape))

    def doc(self, spec: Api) -> str:
        return f"the shape of {self.arg} does not broadcast to that of {' and '.join(self.of)}"


@dataclass(frozen=True)
class LeadingDimsBroadcast(Check):
    """Dims before ``fixed`` equal the other's or are 1; dims from there on are equal."""

    arg: str
    other: str
    fixed: int

    def hit(self, call: Call, spec: Api) -> bool:
        mine, theirs = call.tensor(self.arg).shape, call.tensor(self.other).shape
        return len(mine) != len(theirs) or any(
            a != b and (axis >= self.fixed or a != 1)
            for axis, (a, b) in enumerate(zip(mine, theirs, strict=True))
        )

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        shape = good.tensor(self.other).shape
        yield _reshaped(good, self.arg, (shape[0] + 1, *shape[1:]))
        yield _reshaped(good, self.arg, (*shape[:-1], shape[-1] + 1))

    def doc(self, spec: Api) -> str:
        return (
            f"dims 0..{self.fixed - 1} of {self.arg} are neither those of {self.other} nor 1, "
            "or a later dim differs"
        )


@dataclass(frozen=True)
class AttrIs(Check):
    """Only one value of the attribute is supported."""

    attr: str
    value: AttrValue

    @property
    def subject(self) -> str:
        return self.attr

    def hit(self, call: Call, spec: Api) -> bool:
        return call.attrs[self.attr] != self.value

    def violations(self, spec: Api, good: Call) -> Iterator[Call]:
        yield good.with_attr(self.attr, not self.value)

    def doc(self, spec: Api) -> str:
        return f"{self.attr} is not {str(self.value).lower()}"


def _reshaped(call: Call, name: str, shape: tuple[int, ...]) -> Call:
    old = call.tensor(name)
    desc = TensorDesc(shape, old.dtype, format=old.format)
    return replace(call, tensors={**call.tensors, name: desc})
