# SPDX-License-Identifier: Apache-2.0
"""OpSpec: the single description of an operator that wrapper, Python function, tests and docs are
derived from.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from aclgrad.common import host_memory
from aclgrad.spec import naming
from aclgrad.spec.arguments import Attr, KernelAttr, KernelTensor, Tensor
from aclgrad.spec.call import AttrValue, Call
from aclgrad.spec.cases import Case
from aclgrad.spec.checks import (
    INNER_FIND_KERNEL,
    SUCCESS,
    Check,
    RankIs,
    ReturnIfEmpty,
    SameShape,
)
from aclgrad.spec.definition import AttrDef, Definition, Param, Value
from aclgrad.spec.dtypes import FLOAT, Array, DType
from aclgrad.spec.soc import FAMILIES, Family, family
from aclgrad.spec.steps import (
    Launch,
    Step,
    SumTo,
    Widen,
)

Float64 = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OpSpec:
    """Everything that is particular to one operator."""

    op_type: str
    api: str
    header: str  # aclnn_<header>.h
    brief: str
    formula: str
    args: tuple[Tensor | Attr, ...]  # in the order of the C function, without the result pointers
    inputs: tuple[KernelTensor, ...]  # in the order of the OpDef
    outputs: tuple[KernelTensor, ...]
    attrs: tuple[KernelAttr, ...]
    dtypes: Mapping[str, tuple[DType, ...]]  # family -> dtypes that the checks let pass
    kernels: Mapping[str, tuple[tuple[DType, ...], ...]]  # family -> dtype of each input and output
    checks: tuple[Check, ...]
    lowering: tuple[Step, ...]
    golden: Callable[..., Float64]  # (inputs by name in float64, attributes by name) -> float64
    cases: Callable[[OpSpec, bool], Iterable[Case]]
    notes: tuple[str, ...] = ()
    terms: Callable[..., Float64] | None = None  # largest magnitude that is rounded on the way
    further_types: tuple[str, ...] = ()  # of the same definition, tiling and kernel
    scaled: tuple[str, ...] = ("gradOutput",)  # inputs that the grid multiplies by 2^-10 and 2^-20
    keeps_executor: bool = False  # a second stage without its workspace leaves the executor usable

    def __post_init__(self) -> None:
        """Refuse a spec whose parts name arguments that do not exist."""
        known = {arg.name for arg in self.args}
        for part in (*self.checks, *self.lowering, *self.inputs, *self.outputs, *self.attrs):
            if unknown := _named(part) - known:
                raise ValueError(f"{self.api}: {part} names {sorted(unknown)}, not an argument")
        naming.op_type(self.op)
        self._fits("golden", self.golden, {arg.name for arg in self.args if not arg.out})

    def _fits(self, name: str, function: Callable[..., object], wanted: set[str]) -> None:
        """Refuse a function that cannot be called with the arguments by their names."""
        parameters = inspect.signature(function).parameters.values()
        named = {p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
        needed = {
            p.name
            for p in parameters
            if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        }
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
        if needed - wanted or (wanted - named and not takes_all):
            line = getattr(getattr(function, "__code__", None), "co_firstlineno", 0)
            raise ValueError(
                f"{name}, line {line}, takes {', '.join(sorted(named))}, want"
                f" {', '.join(sorted(wanted))}: the inputs and attributes of {self.api}"
            )

    @cached_property
    def op(self) -> str:
        """Stem of every file of the operator."""
        return naming.op_stem(self.op_type)

    @cached_property
    def types(self) -> dict[str, str]:
        """Every type under which the operator is registered, with the stem of its kernels."""
        return {name: naming.op_stem(name) for name in (self.op_type, *self.further_types)}

    @cached_property
    def function(self) -> str:
        """Name of the Python function."""
        return naming.python_function(self.api)

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """Tensor arguments in the order of the C function."""
        return tuple(arg for arg in self.args if isinstance(arg, Tensor))

    @cached_property
    def input_args(self) -> tuple[Tensor, ...]:
        """Tensor arguments that are read."""
        return tuple(arg for arg in self.tensors if not arg.out)

    @cached_property
    def output_args(self) -> tuple[Tensor, ...]:
        """Tensor arguments that are written."""
        return tuple(arg for arg in self.tensors if arg.out)

    @cached_property
    def kernel_args(self) -> tuple[Tensor, ...]:
        """Tensor arguments that the kernel reads, in the order of the C function."""
        read = {item.arg for item in self.inputs}
        return tuple(arg for arg in self.input_args if arg.name in read)

    @property
    def empty_args(self) -> tuple[Tensor, ...]:
        """Tensor arguments that leave nothing to compute when they are empty."""
        names = {n for check in self.checks if isinstance(check, ReturnIfEmpty) for n in check.args}
        return tuple(arg for arg in self.input_args if arg.name in names) or self.kernel_args

    @cached_property
    def result_like(self) -> str:
        """Input whose shape and dtype the output takes when nothing else is said."""
        sums = [step.arg for step in self.lowering if isinstance(step, SumTo)]
        return (sums or [step.like for step in self.lowering if isinstance(step, Launch)])[0]

    @cached_property
    def attr_args(self) -> tuple[Attr, ...]:
        """Scalar arguments in the order of the C function."""
        return tuple(arg for arg in self.args if isinstance(arg, Attr))

    @property
    def rank(self) -> int | None:
        """How many dims the tensors have; None where the checks let several numbers pass."""
        return next((check.rank for check in self.checks if isinstance(check, RankIs)), None)

    @property
    def checked_args(self) -> tuple[Tensor | Attr, ...]:
        """Arguments that some check looks at."""
        attrs = {getattr(check, "attr", None) for check in self.checks}
        return tuple(arg for arg in self.args if isinstance(arg, Tensor) or arg.name in attrs)

    def dtypes_on(self, soc_family: Family) -> tuple[DType, ...]:
        """Dtypes that the checks let pass on a SoC family."""
        return self.dtypes.get(soc_family.name, ())

    def kernels_on(self, soc_family: Family) -> tuple[tuple[DType, ...], ...]:
        """Kernels that run on a family: its own, or those of a family with the same
        architecture.
        """
        for name, variants in self.kernels.items():
            if family(name).npu_arch == soc_family.npu_arch:
                return variants
        return ()

    def definition(self, soc_family: Family, op_type: str = "") -> Definition:
        """The OpDef of one of its types on a family."""
        columns = self.kernels_on(soc_family)

        def params(items: tuple[KernelTensor, ...], first: int) -> tuple[Param, ...]:
            return tuple(
                Param(
                    item.name,
                    "optional" if item.optional else "required",
                    tuple(row[first + at].ge for row in columns),
                )
                for at, item in enumerate(items)
            )

        return Definition(
            params(self.inputs, 0),
            params(self.outputs, len(self.inputs)),
            op_type or self.op_type,
            self.attr_defs,
            socs=tuple(self.kernels),
        )

    @cached_property
    def attr_defs(self) -> tuple[AttrDef, ...]:
        """Attributes of the OpDef."""
        values = self.kernel_values(self.defaults())
        return tuple(
            AttrDef(attr.name, attr.type, default=values[attr.name]) for attr in self.attrs
        )

    def attrs_of_kernel(self, attrs: Mapping[str, AttrValue], rank: int) -> dict[str, AttrValue]:
        """What the wrapper hands on of a call's attributes: a dim counted from the front."""
        dims = {getattr(step, "attr", None) for step in self.lowering}
        return {
            name: value + max(rank, 1) if name in dims and value < 0 else value
            for name, value in attrs.items()
        }

    def kernel_values(self, attrs: Mapping[str, AttrValue]) -> dict[str, Value]:
        """What the attributes of the OpDef are, by those of the C function."""
        return {attr.name: _kernel_value(attr, attrs[attr.arg]) for attr in self.attrs}

    @cached_property
    def kernel_dtypes(self) -> tuple[DType, ...]:
        """Dtypes of the first input that any kernel is built for."""
        found = [variant[0] for variants in self.kernels.values() for variant in variants]
        return tuple(dict.fromkeys(found))

    def same_shape_group(self, arg: str) -> set[str]:
        """Arguments that the checks tie to the shape of ``arg``, itself included."""
        group = {arg}
        ties = [{c.arg, c.other} for c in self.checks if isinstance(c, SameShape)]
        while True:
            grown = group.union(*(tie for tie in ties if tie & group))
            if grown == group:
                return group
            group = grown

    def first_hit(self, call: Call) -> Check | None:
        """Return the check that ends the call, in the documented order."""
        return next((check for check in self.checks if check.hit(call, self)), None)

    def predict(self, call: Call) -> int:
        """Return the code of the first stage, worked out from the checks and the lowering alone."""
        hit = self.first_hit(call)
        if hit is not None:
            return hit.code
        if any(call.tensor(arg.name).empty for arg in self.empty_args):
            return SUCCESS
        for step in self.lowering:
            code = step.ends(call, self)
            if code is not None:
                return code
        return SUCCESS

    def widened(self, call: Call) -> set[str]:
        """Inputs that a call casts to float32 first."""
        steps = [step for step in self.lowering if isinstance(step, Widen) and step.needed(call)]
        return {name for step in steps for name in step.args}

    def computed_dtype(self, call: Call) -> DType:
        """Dtype that the kernel rounds its result to."""
        like = next(step.like for step in self.lowering if isinstance(step, Launch))
        return FLOAT if like in self.widened(call) else call.tensor(like).dtype

    def late_codes(self) -> list[tuple[int, str]]:
        """Codes of the first stage that come from the lowering, with what leads to them."""
        reasons = [(INNER_FIND_KERNEL, "no kernel is installed for this SoC and dtype")]
        reasons += [reason for step in self.lowering if (reason := step.refusal(self))]
        found: dict[int, list[str]] = {}
        for code, text in dict.fromkeys(reasons):
            found.setdefault(code, []).append(text)
        return sorted((code, ", or ".join(texts)) for code, texts in found.items())

    def families(self) -> Iterator[tuple[Family, tuple[DType, ...], bool]]:
        """Family, dtypes that its checks accept, whether a kernel is built: the support table."""
        for item in FAMILIES:
            yield item, self.dtypes_on(item), bool(self.kernels_on(item))

    def dtype_groups(self) -> list[tuple[tuple[DType, ...], list[Family]]]:
        """Families by the dtypes they accept."""
        groups: dict[tuple[DType, ...], list[Family]] = {}
        for item in FAMILIES:
            groups.setdefault(self.dtypes_on(item), []).append(item)
        return list(groups.items())

    @property
    def common_dtypes(self) -> tuple[DType, ...]:
        """Dtypes that every known family accepts: what a SoC without a row of its own gets."""
        groups = [dtypes for dtypes, _ in self.dtype_groups()]
        return tuple(d for d in groups[0] if all(d in group for group in groups))

    def evaluate(self, inputs: Mapping[str, Array], attrs: Mapping[str, AttrValue]) -> Float64:
        """Golden result in float64 of inputs that are already rounded to their dtype."""
        wanted = 8 * sum(array.size for array in inputs.values())
        host_memory.need(wanted, f"the golden of {self.op} in float64")
        wide = {
            name: np.asarray(array).astype(np.float64 if array.dtype != np.bool_ else np.bool_)
            for name, array in inputs.items()
        }
        with np.errstate(all="ignore"):
            return self.golden(**wide, **attrs)

    def magnitudes(
        self, inputs: Mapping[str, Array], attrs: Mapping[str, AttrValue]
    ) -> Float64 | None:
        """Largest magnitude per element that the arithmetic rounds; None when not stated."""
        if self.terms is None:
            return None
        wide = {name: np.asarray(array).astype(np.float64) for name, array in inputs.items()}
        with np.errstate(all="ignore"):
            return self.terms(**wide, **attrs)

    def defaults(self) -> dict[str, AttrValue]:
        """Return the default of every attribute."""
        return {attr.name: attr.default for attr in self.attr_args}


def _kernel_value(attr: KernelAttr, value: AttrValue) -> Value:
    if attr.choices:
        return dict(enumerate(attr.choices)).get(int(value), attr.default)
    return [value] if attr.type.startswith("List") else value


def _named(part: object) -> set[str]:
    """Arguments that a check, step or kernel parameter names."""
    names: set[str] = set()
    for key in ("arg", "args", "other", "of", "attr", "like"):
        value = getattr(part, key, ())
        names.update(value if isinstance(value, tuple) else (value,))
    return names


def replace(spec: OpSpec, **changes: object) -> OpSpec:
    """Return a spec with fields changed: for tests and experiments."""
    changed: Callable[..., OpSpec] = dataclasses.replace
    return changed(spec, **changes)
