# SPDX-License-Identifier: Apache-2.0
"""An operator of this package, by its spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aclgrad.golden.limits import Tolerance
from aclgrad.running.isolation import in_debugger
from aclgrad.runtime.device import Device
from aclgrad.runtime.host_functions import TilingPlan
from aclgrad.runtime.settings import Settings
from aclgrad.spec import dtypes
from aclgrad.spec.cases import Case
from aclgrad.spec.definition import Definition
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import DEFAULT_SOC, family_of
from aclgrad.testing import user_data
from aclgrad.testing.run import SpecCall


@dataclass(frozen=True)
class SpecOperator:
    """An operator with a spec, as cases see it; see `Operator`."""

    spec: OpSpec
    soc: str = DEFAULT_SOC
    on_npu: bool = False

    @property
    def stem(self) -> str:
        """See `Operator`."""
        return self.spec.op

    path = stem

    @property
    def sources(self) -> str:
        """The name of its folders in op_kernel and op_host."""
        return self.spec.op

    @property
    def debugged(self) -> bool:
        """See `Operator`. A child would have nothing of an NPU's context."""
        return self.on_npu or in_debugger()

    @property
    def prints(self) -> bool:
        """They print when somebody works on them."""
        return True

    @property
    def op(self) -> Definition:
        """See `Operator`."""
        return self.spec.definition(family_of(self.soc))

    def cases(self, fast: bool = False) -> list[Case]:
        """See `Operator`."""
        return list(self.spec.cases(self.spec, fast))

    def prepare(self, cases: Sequence[Case]) -> None:
        """It comes built."""

    def begin(self) -> None:
        """It is found in the toolkit."""

    def unset_tiling(self, device: Device) -> None:
        """Its tiling structs are set as a whole."""

    def call(self, device: Device, case: Case, seed: int, tolerance: Tolerance = None) -> SpecCall:
        """See `Operator`."""
        return SpecCall(device, self.spec, case, seed, tolerance)

    def tiling(
        self, soc: str, shapes: Sequence[str], dtype: str, attrs: Sequence[str]
    ) -> TilingPlan:
        """See `Operator`."""
        spec = self.spec
        if len(shapes) > 1:
            raise ValueError(
                f"{shapes[1]}: {spec.op} has one shape. Next: aclgrad tiling {spec.op} {shapes[0]}"
            )
        dims = user_data.parse_shape(shapes[0])
        values = user_data.parse_attrs(spec, attrs)
        user_data.check_dims(spec, dims, values)
        by_name = {arg.name: dims for arg in spec.tensors}
        device = Settings(soc=soc).open()
        return device.tiling(
            spec, by_name, dtypes.parse(dtype), spec.attrs_of_kernel(values, len(dims))
        )
