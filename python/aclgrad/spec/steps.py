# SPDX-License-Identifier: Apache-2.0
"""Steps of the lowering from an API call to a kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

from aclgrad.spec import naming
from aclgrad.spec.api import Api
from aclgrad.spec.arguments import TypedFields
from aclgrad.spec.call import MAX_ELEMENTS, PRIVATE_FORMATS, Call, broadcast
from aclgrad.spec.checks import INNER_FIND_KERNEL, INNER_NULLPTR, SUCCESS, DtypeSupported
from aclgrad.spec.dtypes import CASTABLE, FLOAT


@dataclass(frozen=True)
class Step(TypedFields):
    """One step of the lowering; the template has a macro per kind."""

    @property
    def kind(self) -> str:
        """Name of the template macro."""
        return naming.snake(type(self).__name__)

    def ends(self, call: Call, spec: Api) -> int | None:
        """The code of the first stage where the plan ends with this step; None where it goes on."""
        return None

    def refusal(self, spec: Api) -> tuple[int, str] | None:
        """The code with which the step may end a call that passed the checks, and what leads to
        it.
        """
        return None


@dataclass(frozen=True)
class MakeContiguous(Step):
    """Copies a strided view; passes a contiguous one on. ``code`` is the result when the view is
    unreadable.
    """

    arg: str
    code: int = INNER_NULLPTR

    def ends(self, call: Call, spec: Api) -> int | None:
        """See `Step`."""
        return None if call.tensor(self.arg).addressable else self.code

    def refusal(self, spec: Api) -> tuple[int, str] | None:
        """See `Step`."""
        return self.code, "a strided input view leaves its storage"


@dataclass(frozen=True)
class WrapDim(Step):
    """Makes a negative dim count from the front."""

    attr: str
    of: str


@dataclass(frozen=True)
class ZeroIfEmpty(Step):
    """Writes zeros and ends the plan when the common shape of two inputs is empty: an empty sum."""

    arg: str
    of: tuple[str, str]

    def ends(self, call: Call, spec: Api) -> int | None:
        """See `Step`."""
        if 0 not in _common(call, self.of):
            return None
        return SUCCESS if call.tensor(self.arg).addressable else INNER_NULLPTR


@dataclass(frozen=True)
class Widen(Step):
    """Casts ``args`` to float32 unless the dtypes of all inputs agree and nothing is summed later.

    A later `SumTo` the shape of the first of ``of`` adds up what is not rounded yet.
    """

    args: tuple[str, ...]
    of: tuple[str, str]

    def needed(self, call: Call) -> bool:
        """Whether this call is computed in float32 throughout."""
        kept, other = (call.tensor(name) for name in self.of)
        common = broadcast(kept.shape, other.shape)
        return {call.tensor(name).dtype for name in self.args} != {kept.dtype} or (
            common is not None and math.prod(common) != kept.size
        )


@dataclass(frozen=True)
class BroadcastToCommon(Step):
    """Repeats an input to the common shape of two; a ``single`` element may stay as it is."""

    arg: str
    of: tuple[str, str]
    single: bool = False

    def ends(self, call: Call, spec: Api) -> int | None:
        """See `Step`."""
        size = math.prod(_common(call, self.of))
        desc = call.tensor(self.arg)
        repeated = desc.size != size and not (self.single and desc.size == 1)
        too_large = size > MAX_ELEMENTS or desc.format in PRIVATE_FORMATS
        return INNER_NULLPTR if repeated and too_large else None


@dataclass(frozen=True)
class Launch(Step):
    """Adds the kernel; its result has the shape and dtype of ``like``."""

    like: str

    def ends(self, call: Call, spec: Api) -> int | None:
        """See `Step`."""
        wide = spec.widened(call)
        variant = tuple(
            FLOAT if item.arg in wide else call.tensor(item.arg).dtype for item in spec.inputs
        )
        built = {kernel[: len(spec.inputs)] for kernel in spec.kernels_on(call.family)}
        return None if variant in built else INNER_FIND_KERNEL


@dataclass(frozen=True)
class SumTo(Step):
    """Adds the result up over the dims in which an input was broadcast."""

    arg: str


@dataclass(frozen=True)
class CastTo(Step):
    """Casts the result to the dtype of an output."""

    arg: str

    def ends(self, call: Call, spec: Api) -> int | None:
        """See `Step`."""
        return None if call.tensor(self.arg).dtype in CASTABLE else INNER_NULLPTR

    def refusal(self, spec: Api) -> tuple[int, str] | None:
        """See `Step`."""
        if DtypeSupported(self.arg) in spec.checks:
            return None
        return INNER_NULLPTR, "no cast reaches the dtype of an output"


@dataclass(frozen=True)
class CopyTo(Step):
    """Writes the result through the view of an output."""

    arg: str

    def ends(self, call: Call, spec: Api) -> int | None:
        """See `Step`."""
        return None if call.tensor(self.arg).addressable else INNER_NULLPTR


def _common(call: Call, names: tuple[str, str]) -> tuple[int, ...]:
    """The shape that two tensors broadcast to."""
    return broadcast(*(call.tensor(name).shape for name in names)) or ()
