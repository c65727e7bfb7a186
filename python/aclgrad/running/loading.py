# SPDX-License-Identifier: Apache-2.0
"""Operators as Python functions on NumPy arrays or CPU tensors of torch: those of a project, built
when needed, or of an operator package that is built.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aclgrad.building import operator_build
from aclgrad.common import callables, lazy
from aclgrad.common.callables import Operators
from aclgrad.errors import AclnnError
from aclgrad.reading.aclnn_functions import signature_of
from aclgrad.reading.command_words import soc_name
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import Kernel, Sources, SourcesError, numpy_name
from aclgrad.running import operator_call, signatures
from aclgrad.running.operand_words import OutputWord, Tensors
from aclgrad.runtime import open_device, packages
from aclgrad.spec import dtypes
from aclgrad.spec.definition import Definition, Registered, Value
from aclgrad.spec.dtypes import Array
from aclgrad.spec.soc import family_of

MODULE = "aclgrad.loaded"
"""What the functions say that they belong to."""


def load(path: str | os.PathLike[str], *, soc: str | None = None, jobs: int = 0) -> Operators:
    """Make functions of the operators of a project or package."""
    name = soc_name(soc)
    family = family_of(name)
    place = Path(path).expanduser()
    root = _package(place)
    builder = (
        operator_build.Builder(locate(place), family, jobs=jobs)
        if root is None
        else PackageBuilder(_sources(root), family, jobs=jobs)
    )
    described = builder.build_host()
    functions: dict[str, Callable[..., object]] = {}
    good = []
    for op in operator_build.runnable(described, builder.sources, family):
        made = _Operator(builder, described, op, name)
        try:
            signature_of(op)
        except SourcesError as error:
            functions[made.name] = _refusing(made.name, error)
            continue
        good.append(op)
        functions[made.name] = made.function()
    if good:
        builder.build_api(good)
    return Operators(str(path), functions)


def _refusing(name: str, error: SourcesError) -> Callable[..., object]:
    """One operator that cannot be called leaves its neighbours alone."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise SourcesError(f"{name}: {error}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = str(error)
    return refuse


def _package(path: Path) -> Path | None:
    """The vendor folder that a path names, or the only one in it; None where there is none."""
    if path.suffix == ".run" and path.is_file():
        raise SourcesError(
            f"{path}: an installer, want what it installs. Next: bash {path}"
            " --install-path=FOLDER, then aclgrad.load of FOLDER"
        )
    if (path / "op_impl").is_dir():
        return path
    found = sorted(
        folder.parent
        for pattern in ("*/op_impl", "vendors/*/op_impl", "packages/vendors/*/op_impl")
        for folder in path.glob(pattern)
    )
    if len(found) > 1:
        names = ", ".join(map(str, found))
        raise SourcesError(f"{path}: {len(found)} operator packages: {names}. Next: name one")
    return found[0] if found else None


def _sources(root: Path) -> Sources:
    whole = root.resolve()
    return Sources(whole, whole.name, (), (), whole)


@dataclass
class PackageBuilder(operator_build.Builder):
    """An operator package that is built. Only the aclnn functions of its definitions are made, in
    the cache: those that it has may have arguments of their own.
    """

    def build_host(self) -> Registered:
        """What its library of definitions registers."""
        candidate = packages.Candidate(self.sources.root, "")
        if candidate.devices == {"npu"}:
            raise SourcesError(
                f"{self.sources.root}: its kernels are for an NPU (.o), want a package for the"
                " simulator. Next: aclgrad package, or give the operator's sources"
            )
        if candidate.tiling is None:
            raise SourcesError(
                f"{self.sources.root}: no tiling library for this machine in"
                " op_impl/ai_core/tbe/op_tiling. Next: aclgrad doctor"
            )
        return self.describe()

    @property
    def host_library(self) -> Path:
        """Definition, inference and tiling."""
        found = packages.Candidate(self.sources.root, "").tiling
        return found or super().host_library

    def build_kernel(self, kernel: Kernel, described: Registered) -> None:
        """Its kernels are there."""

    def drop_stale(self, op: Definition) -> None:
        """They are somebody else's."""


def _has_tensor(value: object) -> bool:
    """Whether it is a tensor of torch or has some; without importing torch."""
    torch = sys.modules.get("torch")
    parts = value if isinstance(value, (list, tuple)) else [value]
    return torch is not None and any(isinstance(part, torch.Tensor) for part in parts)


@dataclass
class _Operator:
    builder: operator_build.Builder
    described: Registered
    op: Definition
    soc: str
    lock: threading.Lock = field(default_factory=threading.Lock)
    built: set[tuple[str, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.rows = self.builder.combinations(self.op)
        self.plan = signatures.plan(self.op)
        self.name = self.plan.name

    def function(self) -> Callable[..., object]:
        """The operator as Python sees it."""
        doc = signatures.docstring(self.op, self.plan, self.rows, self.soc)
        return callables.make(self.name, self.plan.signature, doc, self.call, MODULE)

    def call(self, *values: object) -> object:
        """Compute on arrays or tensors, from the values of the signature's parameters in its
        order.
        """
        given = dict(zip(self.plan.signature.parameters, values, strict=True))
        names = (*self.plan.inputs, self.plan.out)
        if not any(_has_tensor(given[name]) for name in names):
            return self._compute(given)
        loaded = lazy.module("aclgrad.torch.loaded")
        return loaded.call(
            self.name,
            names,
            [given[name] for name in names],
            lambda *arrays: self._compute({**given, **dict(zip(names, arrays, strict=True))}),
        )

    def _compute(self, given: Mapping[str, object]) -> object:
        inputs = [
            signatures.tensors(self.name, arg, item, given[arg], self._offered(place))
            for place, (arg, item) in enumerate(zip(self.plan.inputs, self.op.inputs, strict=True))
        ]
        row = self._row(inputs)
        attrs = {
            attr.name: signatures.attribute(self.name, arg, attr, given[arg])
            for arg, attr in zip(self.plan.attrs, self.op.attrs, strict=True)
        }
        out = signatures.outputs(self.name, self.plan.out, self.op, given[self.plan.out])
        with self.lock:
            if row not in self.built:
                self.builder.build_all([self.builder.kernel(self.op, row)], self.described)
                self.built.add(row)
        result = self._run(row, inputs, attrs, out)
        for finding in result.findings:
            # The generated function and `call` are between here and the caller.
            warnings.warn(f"{self.name}: {finding.text}", RuntimeWarning, stacklevel=4)
        return self._returned(result.outputs, given[self.plan.out])

    def _offered(self, place: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(numpy_name(row[place]) for row in self.rows))

    def _row(self, inputs: list[Tensors]) -> tuple[str, ...]:
        """The dtype combination of the definition that the inputs have. Values that the host reads
        are converted to it.
        """
        rows, beside = self.rows, list[str]()
        for place, (arg, item) in enumerate(zip(self.plan.inputs, self.op.inputs, strict=True)):
            if signatures.on_host(item):
                continue
            for array in inputs[place]:
                name = dtypes.of_array(array.dtype)
                left = [row for row in rows if row[place] == name.ge]
                if not left:
                    want = dict.fromkeys(numpy_name(row[place]) for row in rows)
                    near = f" beside {', '.join(beside)}" if beside else ""
                    raise TypeError(
                        f"{self.name}: {arg}: got {name.name}, want {signatures.either(want)}"
                        f"{near}; convert it with astype or Tensor.to"
                    )
                rows = left
            beside += [f"{arg} of {array.dtype.name}" for array in inputs[place][:1]]
        for place, (arg, item) in enumerate(zip(self.plan.inputs, self.op.inputs, strict=True)):
            if signatures.on_host(item):
                inputs[place] = [
                    signatures.converted(self.name, arg, array, rows[0][place])
                    for array in inputs[place]
                ]
        return rows[0]

    def _run(
        self,
        row: Sequence[str],
        inputs: Sequence[Tensors],
        attrs: Mapping[str, Value],
        out: Sequence[OutputWord],
    ) -> operator_call.Outputs:
        for item, dtype in zip(self.op.outputs, row[len(inputs) :], strict=True):
            if not dtypes.known(dtype):
                raise TypeError(
                    f"{self.name}: {item.name} is of {numpy_name(dtype)}, which NumPy does not have"
                )
        device = open_device("sim")
        root = packages.root_of(self.builder.host_library)
        with device.exclusive(), packages.first(root), device.with_option("soc", self.soc):
            try:
                return operator_call.call(device, self.builder, self.op, row, inputs, attrs, out)
            except AclnnError as error:
                raise error.reworded(f"{self.name}: {signatures.reworded(error)}") from None

    def _returned(self, arrays: Mapping[str, Array], out: object) -> object:
        found: list[signatures.Result] = []
        for item in self.op.outputs:
            name = item.name
            if item.kind != "dynamic":
                found.append(arrays[name])
                continue
            many = [key for key in arrays if key.rpartition("_")[0] == name]
            found.append([arrays[key] for key in ([name] if name in arrays else many)])
        if out is not None:
            signatures.copy_out(self.name, self.plan.out, found, out)
            return out
        if not found:
            return None
        return found[0] if len(found) == 1 else tuple(found)


__all__ = ["Operators", "load"]
