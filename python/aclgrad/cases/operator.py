# SPDX-License-Identifier: Apache-2.0
"""An operator whose cases are run: a spec of ours gives one, and so does a project of anybody's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from aclgrad.golden.limits import Tolerance
from aclgrad.runtime.device import Device
from aclgrad.runtime.host_functions import TilingPlan
from aclgrad.spec.cases import Case
from aclgrad.spec.definition import Definition
from aclgrad.testing.run import CaseCall, UnsetTiling

C = TypeVar("C", bound=Case)


class Operator(Protocol[C]):
    """Parameters, cases, golden, tiling, call and sources of an operator."""

    @property
    def stem(self) -> str:
        """What reports call it."""

    @property
    def path(self) -> str:
        """What commands call it: its name, or the path of its project."""

    @property
    def sources(self) -> str:
        """Where its code is."""

    @property
    def debugged(self) -> bool:
        """Whether its cases run in this process, where a debugger sees them."""

    @property
    def prints(self) -> bool:
        """Whether what its kernels print is shown."""

    @property
    def op(self) -> Definition:
        """Its inputs, outputs and attributes."""

    def cases(self, fast: bool = False) -> list[C]:
        """Its grid."""

    def prepare(self, cases: Sequence[C]) -> None:
        """Build what cases need."""

    def begin(self) -> None:
        """Have a process that opens the simulator find the operator."""

    def unset_tiling(self, device: Device) -> UnsetTiling | None:
        """What looks for tiling data that nobody sets."""

    def call(self, device: Device, case: C, seed: int, tolerance: Tolerance = None) -> CaseCall:
        """A case, to be computed and judged by the golden."""

    def tiling(
        self, soc: str, shapes: Sequence[str], dtype: str, attrs: Sequence[str]
    ) -> TilingPlan:
        """What its tiling function decides for shapes."""
