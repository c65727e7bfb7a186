# SPDX-License-Identifier: Apache-2.0
"""Operands for each operator, made from its spec: what the tests of all operators share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclgrad import functions
from aclgrad.ops import all_specs
from aclgrad.runtime import Device
from aclgrad.spec.call import AttrValue, TensorDesc
from aclgrad.spec.cases import strided, view
from aclgrad.spec.checks import RankIs
from aclgrad.spec.dtypes import BF16, FLOAT, FLOAT16, DType, of_array
from aclgrad.spec.op_spec import OpSpec

Arrays = dict[str, NDArray[Any]]
Attrs = dict[str, AttrValue]

DTYPES = [FLOAT, FLOAT16, BF16]
BY_API = {spec.api: spec for spec in all_specs()}
SOFTMAX, LOG_SOFTMAX = "aclnnSoftmaxBackward", "aclnnLogSoftmaxBackward"
SIGMOID, KL = "aclnnLogSigmoidBackward", "aclnnKlDivBackward"
MASKED = "aclnnScaledMaskedSoftmaxBackward"


def rank_of(spec: OpSpec) -> int | None:
    """The one rank that a spec takes, if it is particular."""
    return next((check.rank for check in spec.checks if isinstance(check, RankIs)), None)


@dataclass(frozen=True)
class Sample:
    """One call: an operator, the shape of its result, other shapes by argument, attributes."""

    api: str
    shape: tuple[int, ...]
    attrs: Attrs = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        """Id of the test."""
        dims = ["x".join(map(str, self.shape)) or "scalar"]
        dims += [f"{name}{'x'.join(map(str, dim))}" for name, dim in self.shapes.items()]
        words = [f"{name}{value}" for name, value in self.attrs.items()]
        return "-".join([self.api.removeprefix("aclnn"), *dims, *words])

    @property
    def spec(self) -> OpSpec:
        """The operator's spec."""
        return BY_API[self.api]

    @property
    def all_attrs(self) -> Attrs:
        """Attributes, defaults filled in."""
        return {**self.spec.defaults(), **self.attrs}

    def arrays(self, dtype: DType, seed: int = 1) -> Arrays:
        """Random inputs."""
        rng = np.random.default_rng(seed)
        result: Arrays = {}
        for arg in self.spec.input_args:
            shape = self.shapes.get(arg.name, self.shape)
            if arg.dtypes:
                result[arg.name] = rng.random(shape) < 0.3
            else:
                result[arg.name] = rng.normal(size=shape).astype(dtype.numpy)
        return result


def samples() -> list[Sample]:
    """Calls that together take every path: rows and columns, short, long, broadcast, summed."""
    found = [
        Sample(api, shape, {"dim": dim})
        for api in (SOFTMAX, LOG_SOFTMAX)
        for shape, dim in (
            ((97, 1), -1),
            ((200, 33), -1),
            ((3, 5000), -1),
            ((1, 70001), -1),
            ((33, 129), 0),
            ((5000, 3), 0),
            ((4, 65, 33), 1),
            ((), 0),
        )
    ]
    found += [Sample(SIGMOID, shape) for shape in ((), (37, 1009), (3, 5, 70), (60001,))]
    found += [
        Sample(KL, (37, 1009), {"reduction": 1, "logTarget": True}),
        Sample(KL, (37, 1009), {"reduction": 3}, {"gradOutput": (1,)}),
        Sample(KL, (4, 5000), {"reduction": 2}, {"target": (5000,), "gradOutput": (4, 1)}),
        Sample(KL, (1, 509), {"reduction": 1}, {"target": (67, 509), "gradOutput": (1,)}),
        Sample(KL, (67, 1), {"reduction": 3}, {"target": (67, 509), "gradOutput": (67, 509)}),
        Sample(KL, (), {"reduction": 0}, {"target": (40, 509), "gradOutput": (40, 509)}),
    ]
    found += [
        Sample(MASKED, (3, 5, 70, 33), {"scale": 0.125}, {"mask": (3, 1, 70, 33)}),
        Sample(MASKED, (2, 3, 7, 4096), {"scale": 1.0}, {"mask": (1, 3, 7, 4096)}),
        Sample(MASKED, (64, 12, 1, 7), {"scale": -3.0}, {"mask": (1, 1, 1, 7)}),
        Sample(MASKED, (2, 2, 65, 129), {"scale": 0.3}),
    ]
    return [sample for sample in found if sample.api in BY_API]


def run(
    device: Device, api: str, inputs: Arrays, attrs: Attrs, out: TensorDesc | None = None
) -> NDArray[Any]:
    """Run an operator on arrays; attributes not given take their defaults."""
    spec = BY_API[api]
    out = functions.result_desc(spec, inputs) if out is None else out
    return device.run(spec, inputs, {**spec.defaults(), **attrs}, out)


def run_in_layout(
    device: Device, api: str, inputs: Arrays, attrs: Attrs, layout: str, out_layout: str
) -> NDArray[Any]:
    """Run an operator on tensors laid out in device memory as `aclgrad.spec.cases.strided` says."""
    spec = BY_API[api]
    tensors, buffers = {}, []

    def place(name: str, desc: TensorDesc, array: NDArray[Any] | None) -> None:
        storage = np.zeros(math.prod(desc.storage_shape), desc.dtype.numpy)
        if array is not None:
            view(storage, desc)[...] = array
        buffers.append(device.upload(storage))
        tensors[name] = device.tensor(desc, buffers[-1].address)

    for name, array in inputs.items():
        place(name, strided(TensorDesc(array.shape, of_array(array.dtype)), layout), array)
    out = strided(functions.result_desc(spec, inputs), out_layout)
    place(spec.output_args[0].name, out, None)
    device.call(spec, tensors, {**spec.defaults(), **attrs})
    return view(buffers[-1].read(out.dtype.numpy), out).copy()


def assert_same_values(got: NDArray[Any], want: NDArray[Any], context: str = "") -> None:
    """Equal elements, zeros also in sign; any NaN equals any other."""
    left, right = np.asarray(got, np.float64), np.asarray(want, np.float64)
    np.testing.assert_array_equal(left, right, err_msg=context)
    same = (np.signbit(left) == np.signbit(right)) | np.isnan(left)
    assert same.all(), f"{context}: signs of zeros differ: got {left[~same]} at {np.where(~same)}"
