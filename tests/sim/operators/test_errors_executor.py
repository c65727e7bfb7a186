# SPDX-License-Identifier: Apache-2.0
"""Second stage and executor: nulls, reuse, new addresses, misuse."""

from __future__ import annotations

import numpy as np
import pytest

from aclgrad.errors import AclnnError
from aclgrad.ops import find
from aclgrad.runtime import Device
from aclgrad.runtime.device import Planned
from aclgrad.runtime.memory import Buffer, Tensor
from aclgrad.spec.call import TensorDesc
from aclgrad.spec.dtypes import BOOL, DOUBLE

pytestmark = pytest.mark.on_board

SOFTMAX = find("softmax_grad")
SHAPE = (3, 20)


class Bench:
    """One call of softmax_grad, laid out on the device."""

    def __init__(self, device: Device, out: TensorDesc | None = None, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.device = device
        self.grad, self.soft = (rng.normal(size=SHAPE).astype(np.float32) for _ in range(2))
        out = out or TensorDesc(SHAPE)
        self.buffers = [device.upload(self.grad), device.upload(self.soft)]
        self.out = device.buffer(out.size * out.dtype.numpy.itemsize)
        self.tensors: dict[str, Tensor | None] = {
            "gradOutput": device.tensor(TensorDesc(SHAPE), self.buffers[0].address),
            "output": device.tensor(TensorDesc(SHAPE), self.buffers[1].address),
            "out": device.tensor(out, self.out.address),
        }

    def plan(self) -> Planned:
        return self.device.plan(SOFTMAX, self.tensors, {"dim": -1})

    def run(self, planned: Planned) -> None:
        workspace = self.device.buffer(planned.workspace_size)
        self.device.launch(SOFTMAX, planned, workspace.address)
        self.device.synchronize()

    def want(self) -> np.ndarray:
        return SOFTMAX.evaluate({"gradOutput": self.grad, "output": self.soft}, {"dim": -1})

    def check(self, buffer: Buffer | None = None) -> None:
        got = (buffer or self.out).read(np.dtype(np.float32)).reshape(SHAPE)
        np.testing.assert_allclose(got, self.want(), rtol=1e-3, atol=1e-5)


def code_of(call: object) -> int:
    with pytest.raises(AclnnError) as caught:
        call()  # type: ignore[operator]
    assert caught.value.message, "a refusal without a message"
    return caught.value.code


@pytest.fixture
def bench(device: Device) -> Bench:
    return Bench(device)


@pytest.mark.sim_only
def test_options_are_put_back_after_launches_nobody_waited_for(bench: Bench) -> None:
    """The simulator refuses an option while a stream has work, so `keeping` waits first."""
    before = bench.device.option("cores")
    with bench.device.keeping("cores"):
        bench.device.set_option("cores", "1")
        for _ in range(50):
            bench.device.launch(SOFTMAX, bench.plan(), None)
    assert bench.device.option("cores") == before
    bench.check()


def test_contiguous_float_needs_no_workspace(bench: Bench) -> None:
    planned = bench.plan()
    assert planned.workspace_size == 0
    bench.run(planned)
    bench.check()


def test_null_executor(bench: Bench) -> None:
    assert code_of(lambda: bench.device.launch(SOFTMAX, Planned(0, None), None)) == 161001


def test_null_workspace_uses_the_executor_up(device: Device) -> None:
    bench = Bench(device, TensorDesc(SHAPE, DOUBLE))
    planned = bench.plan()
    assert planned.workspace_size > 0
    assert code_of(lambda: device.launch(SOFTMAX, planned, None)) == 161001
    assert device.libraries.nnopbase.aclDestroyAclOpExecutor(planned.executor) == 561000


def test_workspace_with_size_0_is_fine(bench: Bench) -> None:
    planned = bench.plan()
    spare = bench.device.buffer(512)
    bench.device.launch(SOFTMAX, planned, spare.address, 0)
    bench.device.synchronize()
    bench.check()


@pytest.mark.sim_only
def test_used_executor_is_refused(bench: Bench) -> None:
    planned = bench.plan()
    bench.run(planned)
    code = code_of(lambda: bench.device.launch(SOFTMAX, planned, None))
    assert code in (161001, 161002, 561000)


def test_repeatable_executor_runs_again_with_new_contents(bench: Bench) -> None:
    nn = bench.device.libraries.nnopbase
    planned = bench.plan()
    assert nn.aclSetAclOpExecutorRepeatable(planned.executor) == 0
    for seed in (1, 2, 3):
        other = np.random.default_rng(seed).normal(size=SHAPE).astype(np.float32)
        bench.grad = other
        bench.buffers[0].write(other)
        bench.run(planned)
        bench.check()
    assert nn.aclDestroyAclOpExecutor(planned.executor) == 0


def test_repeatable_executor_takes_new_addresses(bench: Bench) -> None:
    nn = bench.device.libraries.nnopbase
    planned = bench.plan()
    assert nn.aclSetAclOpExecutorRepeatable(planned.executor) == 0
    bench.run(planned)
    other = Bench(bench.device, seed=9)
    for index, (name, buffer) in enumerate(
        [("gradOutput", other.buffers[0]), ("output", other.buffers[1]), ("out", other.out)]
    ):
        tensor = bench.tensors[name]
        assert tensor is not None
        assert nn.aclSetTensorAddr(planned.executor, index, tensor.handle, buffer.address) == 0
    bench.run(planned)
    other.check()
    bench.check()
    assert nn.aclDestroyAclOpExecutor(planned.executor) == 0


def test_executor_functions_refuse_nulls(bench: Bench) -> None:
    nn = bench.device.libraries.nnopbase
    assert nn.aclSetAclOpExecutorRepeatable(None) == 561103
    assert nn.aclDestroyAclOpExecutor(None) == 561103
    planned = bench.plan()
    tensor = bench.tensors["out"]
    assert tensor is not None
    assert nn.aclSetTensorAddr(planned.executor, 0, None, bench.out.address) == 561103
    assert nn.aclSetTensorAddr(None, 0, tensor.handle, bench.out.address) == 561103
    assert nn.aclDestroyAclOpExecutor(planned.executor) == 0
    assert nn.aclDestroyTensor(None) == 0


def test_executor_that_never_ran_can_be_destroyed_once(bench: Bench) -> None:
    nn = bench.device.libraries.nnopbase
    planned = bench.plan()
    assert nn.aclDestroyAclOpExecutor(planned.executor) == 0
    assert nn.aclDestroyAclOpExecutor(planned.executor) == 561000


@pytest.mark.sim_only
def test_host_pointer_as_tensor_is_named(bench: Bench) -> None:
    host = np.zeros(SHAPE, np.float32)
    bench.tensors["gradOutput"] = bench.device.tensor(TensorDesc(SHAPE), host.ctypes.data)
    message = ""
    try:
        bench.run(bench.plan())
    except AclnnError as error:
        message = error.message
    assert "host" in message.lower() or "device" in message.lower(), message


@pytest.mark.sim_only
def test_buffer_smaller_than_the_tensor_is_named(bench: Bench) -> None:
    small = bench.device.buffer(64)
    bench.tensors["out"] = bench.device.tensor(TensorDesc(SHAPE), small.address)
    assert code_of(lambda: bench.run(bench.plan())) != 0
    again = Bench(bench.device)
    try:
        again.run(again.plan())
    except AclnnError:
        pytest.skip("the stream stays in error, as on hardware")
    again.check()


def test_scaled_masked_keeps_its_executor_without_a_workspace(device: Device) -> None:
    spec = find("scaled_masked_softmax_grad_v2")
    shape, rng = (1, 2, 3, 4), np.random.default_rng(0)
    grad, soft = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    mask = rng.random(shape) < 0.5
    # A transposed view of the gradient is copied, which takes a workspace.
    turned = TensorDesc(shape, strides=(24, 12, 1, 3), storage=(1, 2, 4, 3))
    buffers = [device.upload(a) for a in (np.ascontiguousarray(grad.swapaxes(2, 3)), soft, mask)]
    out = device.buffer(grad.nbytes)
    descs = (turned, TensorDesc(shape), TensorDesc(shape, BOOL))
    tensors: dict[str, Tensor | None] = {
        name: device.tensor(desc, buffer.address)
        for name, desc, buffer in zip(("gradOutput", "y", "mask"), descs, buffers, strict=True)
    }
    tensors["out"] = device.tensor(TensorDesc(shape), out.address)
    planned = device.plan(spec, tensors, spec.defaults())
    assert planned.workspace_size > 0
    assert code_of(lambda: device.launch(spec, planned, None)) == 161001
    workspace = device.buffer(planned.workspace_size)
    device.launch(spec, planned, workspace.address)
    device.synchronize()
    want = spec.evaluate({"gradOutput": grad, "y": soft, "mask": mask}, spec.defaults())
    got = out.read(np.dtype(np.float32)).reshape(shape)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    planned = device.plan(spec, tensors, spec.defaults())
    size = planned.workspace_size - 1
    assert code_of(lambda: device.launch(spec, planned, workspace.address, size)) == 161002
