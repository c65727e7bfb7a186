# SPDX-License-Identifier: Apache-2.0
"""Steps of the lowering from an API call to a kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

from aclgrad.spec import naming
from aclgrad.spec.call import Call, broadcast
from aclgrad.spec.checks import INNER_NULLPTR


@dataclass(frozen=True)
class Step:
    """One step of the lowering; the template has a macro per kind."""

    @property
    def kind(self) -> str:
        """Name of the template macro."""
        return naming.snake(type(self).__name__)


@dataclass(frozen=True)
class MakeContiguous(Step):
    """Copies a strided view; passes a contiguous one on. ``code`` is the result when the view is
    unreadable.
    """

    arg: str
    code: int = INNER_NULLPTR


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


@dataclass(frozen=True)
class Launch(Step):
    """Adds the kernel; its result has the shape and dtype of ``like``."""

    like: str


@dataclass(frozen=True)
class SumTo(Step):
    """Adds the result up over the dims in which an input was broadcast."""

    arg: str


@dataclass(frozen=True)
class CastTo(Step):
    """Casts the result to the dtype of an output."""

    arg: str


@dataclass(frozen=True)
class CopyTo(Step):
    """Writes the result through the view of an output."""

    arg: str
