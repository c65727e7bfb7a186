# SPDX-License-Identifier: Apache-2.0
"""Tensors without data: allowed in the first stage, named in the second, and fine where empty."""

from __future__ import annotations

import numpy as np
import pytest

from aclgrad import functions
from aclgrad.errors import AclnnError
from aclgrad.runtime import Device
from aclgrad.runtime.memory import Buffer
from aclgrad.spec.call import TensorDesc
from aclgrad.spec.dtypes import FLOAT, of_array
from samples import Sample, run, samples

RUNTIME = 361001
ONE_EACH = list({sample.api: sample for sample in samples() if sample.shape}.values())
each_sample = pytest.mark.parametrize("sample", ONE_EACH, ids=str)


def call(device: Device, sample: Sample, null: str, out: TensorDesc | None = None) -> None:
    """Both stages with one tensor that has no data; the inputs stay as they are."""
    spec, arrays = sample.spec, sample.arrays(FLOAT)
    buffers: dict[str, Buffer] = {}
    tensors = {}
    for name, array in arrays.items():
        buffers[name] = device.upload(array)
        desc = TensorDesc(array.shape, of_array(array.dtype))
        tensors[name] = device.tensor(desc, None if name == null else buffers[name].address)
    (result,) = spec.output_args
    out = out or functions.result_desc(spec, arrays)
    memory = device.buffer(max(out.size, 1) * 64)
    tensors[result.name] = device.tensor(out, None if result.name == null else memory.address)
    try:
        device.call(spec, tensors, sample.all_attrs)
    finally:
        held = [buffers[name].read(array.dtype).tobytes() for name, array in arrays.items()]
        assert held == [array.tobytes() for array in arrays.values()]


@each_sample
def test_output_without_data(sample: Sample, device: Device) -> None:
    """Refused with its size and the next step; inputs and the device stay as they were."""
    (result,) = sample.spec.output_args
    want = functions.result_desc(sample.spec, sample.arrays(FLOAT))
    with pytest.raises(AclnnError, match="its address is NULL. Next: allocate it") as caught:
        call(device, sample, result.name)
    assert caught.value.code == RUNTIME
    assert f"needs {4 * want.size} bytes of device memory" in caught.value.message
    # The same through a copy, which is what writes a result that is not contiguous.
    steps: list[int] = []
    step = 2
    for dim in reversed(want.shape):
        steps.insert(0, step)
        step *= dim
    apart = TensorDesc(want.shape, strides=tuple(steps), storage=(step,))
    with pytest.raises(AclnnError, match="its address is NULL") as caught:
        call(device, sample, result.name, apart)
    assert caught.value.code == RUNTIME
    call(device, sample, "none of them")
    assert np.isfinite(run(device, sample.api, sample.arrays(FLOAT), sample.attrs)).all()


@each_sample
def test_inputs_without_data(sample: Sample, device: Device) -> None:
    read = {arg.name for arg in sample.spec.kernel_args}
    for arg in sample.spec.input_args:
        if arg.name not in read:  # in the signature alone
            call(device, sample, arg.name)
            continue
        with pytest.raises(AclnnError, match="its address is NULL") as caught:
            call(device, sample, arg.name)
        assert caught.value.code == RUNTIME


@each_sample
def test_empty_tensors_need_no_data(sample: Sample, device: Device) -> None:
    """Neither the output nor the inputs of a call that computes nothing."""
    spec = sample.spec
    shape = (0, *sample.shape[1:])
    tensors = {
        arg.name: device.tensor(
            TensorDesc(shape, arg.dtypes[0] if arg.dtypes and not arg.out else FLOAT), None
        )
        for arg in spec.tensors
    }
    device.call(spec, tensors, sample.all_attrs)
