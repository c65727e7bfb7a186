# SPDX-License-Identifier: Apache-2.0
"""What checks, steps and cases need to know of an operator. ``OpSpec`` is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from aclgrad.spec.arguments import Attr, KernelTensor, Tensor
from aclgrad.spec.call import AttrValue, Call
from aclgrad.spec.dtypes import DType
from aclgrad.spec.soc import Family


class Api(Protocol):
    """The aclnn function of an operator: its arguments, dtypes and checks."""

    @property
    def op(self) -> str:
        """Stem of the operator's files."""

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Every tensor of the API."""

    @property
    def input_args(self) -> tuple[Tensor, ...]:
        """The input tensors."""

    @property
    def inputs(self) -> tuple[KernelTensor, ...]:
        """The inputs of the kernel."""

    @property
    def scaled(self) -> tuple[str, ...]:
        """Inputs that a grid makes smaller."""

    @property
    def attr_args(self) -> tuple[Attr, ...]:
        """The scalar arguments."""

    @property
    def kernel_dtypes(self) -> tuple[DType, ...]:
        """Dtypes that some SoC has a kernel for."""

    @property
    def checks(self) -> Sequence[object]:
        """The argument checks in their order."""

    def dtypes_on(self, soc_family: Family) -> tuple[DType, ...]:
        """Dtypes of the operator on a SoC family."""

    def kernels_on(self, soc_family: Family) -> tuple[tuple[DType, ...], ...]:
        """Kernels that run on a SoC family, by the dtypes of inputs and outputs."""

    def widened(self, call: Call) -> set[str]:
        """Inputs that a call casts to float32 first."""

    def same_shape_group(self, arg: str) -> set[str]:
        """Arguments that must have the shape of ``arg``."""

    def first_hit(self, call: Call) -> object | None:
        """The check that refuses a call first."""

    def defaults(self) -> dict[str, AttrValue]:
        """Default of every scalar argument."""
