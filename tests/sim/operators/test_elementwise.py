# SPDX-License-Identifier: Apache-2.0
"""log_sigmoid_grad and kl_div_loss_grad: PyTorch as an oracle, corner values, split, refusals."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import pytest

import aclgrad
from aclgrad.errors import AclnnError
from aclgrad.golden.precision import compare
from aclgrad.ops import find
from aclgrad.runtime import Device
from aclgrad.spec.call import Call, TensorDesc
from aclgrad.spec.dtypes import BF16, CASTABLE, FLOAT, FLOAT16, UNCASTABLE, DType
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import FAMILIES

pytestmark = pytest.mark.on_board

SIGMOID, KL = find("log_sigmoid_grad"), find("kl_div_loss_grad")
DTYPES = [FLOAT, FLOAT16, BF16]
EDGES = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 3e-39, 88.5, 103.5, -300.0])
REDUCTIONS = ("none", "mean", "sum", "batchmean")
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)


def pairs(dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    """Every pairing of the corner values."""
    grid = np.array(list(product(EDGES, EDGES)))
    with np.errstate(all="ignore"):
        return grid[:, 0].astype(dtype.numpy), grid[:, 1].astype(dtype.numpy)


@each_dtype
def test_sigmoid_matches_torch(dtype: DType, device: Device) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    g = rng.normal(size=(7, 333)).astype(dtype.numpy)
    x = rng.normal(scale=8, size=(7, 333)).astype(dtype.numpy)
    wide_g, wide_x = (torch.from_numpy(array.astype(np.float64)) for array in (g, x))
    want = torch.ops.aten.log_sigmoid_backward(wide_g, wide_x, torch.exp(-wide_x.abs())).numpy()
    inputs = {"gradOutput": g, "self": x, "buffer": np.empty(0)}
    np.testing.assert_allclose(SIGMOID.evaluate(inputs, {}), want, rtol=1e-12)
    report = compare(aclgrad.log_sigmoid_backward(g, x, device=device.kind), want)
    assert report.passed, str(report)


@each_dtype
def test_sigmoid_corners(dtype: DType, device: Device) -> None:
    g, x = pairs(dtype)
    got = aclgrad.log_sigmoid_backward(g, x, device=device.kind).astype(np.float64)
    want = SIGMOID.evaluate({"gradOutput": g, "self": x, "buffer": np.empty(0)}, {})
    with np.errstate(all="ignore"):
        want = want.astype(dtype.numpy).astype(np.float64)
    # exp(-x) is a float32 denormal from 87 on and 0 from 104 on: inf * 0 there instead of inf.
    faded = (x.astype(np.float64) > 87) & np.isfinite(x.astype(np.float64))
    np.testing.assert_allclose(got[~faded], want[~faded], rtol=2.0**-7, atol=1e-44)
    assert (np.abs(got[faded & np.isfinite(g.astype(np.float64))]) < 1e-35).all()


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("reduction", range(4))
@pytest.mark.parametrize(
    ("kept", "other"),
    [((6, 35), (6, 35)), ((6, 35), (35,)), ((6, 35), (6, 1)), ((6, 1), (1, 35)), ((35,), (6, 35))],
)
@pytest.mark.filterwarnings("ignore:reduction")
def test_kl_is_what_autograd_gives(
    kept: tuple[int, ...], other: tuple[int, ...], reduction: int, log: bool, device: Device
) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(4)
    x, t = (rng.normal(size=shape).astype(np.float32) for shape in (kept, other))
    target = t if log else np.abs(t)
    leaf = torch.from_numpy(x).requires_grad_()
    name = REDUCTIONS[reduction]
    loss = torch.nn.functional.kl_div(
        leaf, torch.from_numpy(target), reduction=name, log_target=log
    )
    g = rng.normal(size=loss.shape if reduction == 0 else (1,)).astype(np.float32)
    loss.backward(torch.from_numpy(g).reshape(loss.shape))
    want = leaf.grad.numpy()
    if reduction == 3:
        # torch divides by dim 0 of self, the operator by that of the common shape.
        want = want * kept[0] / np.broadcast_shapes(kept, other)[0]
    got = aclgrad.kl_div_backward(g, x, target, reduction, log, device=device.kind)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@each_dtype
def test_kl_corners_follow_ieee_products(dtype: DType, device: Device) -> None:
    g, t = pairs(dtype)
    with np.errstate(all="ignore"):
        wide = t.astype(np.float32) * g.astype(np.float32) * np.float32(-1)
        want = (wide * np.float32(1 / g.size)).astype(dtype.numpy).astype(np.float64)
    got = aclgrad.kl_div_backward(g, g, t, 1, False, device=device.kind).astype(np.float64)
    np.testing.assert_array_equal(got, want)
    assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()
    for value in EDGES.astype(dtype.numpy):
        one = aclgrad.kl_div_backward(value.reshape(1), t, t, 0, False, device=device.kind)
        full = aclgrad.kl_div_backward(np.full_like(t, value), t, t, 0, False, device=device.kind)
        assert one.tobytes() == full.tobytes()


def test_kl_never_reads_self(device: Device) -> None:
    t = np.linspace(-2, 2, 33, dtype=np.float32)
    got = aclgrad.kl_div_backward(t, np.full_like(t, np.nan), t, 6, device=device.kind)
    np.testing.assert_array_equal(got, -t * t)


def test_kl_sum_without_terms_is_zero(device: Device) -> None:
    none, one = np.empty((3, 0), np.float16), np.full((3, 1), 5, np.float16)
    got = aclgrad.kl_div_backward(none, one, none, 1, device=device.kind)
    assert got.shape == (3, 1) and not got.any() and not np.signbit(got).any()


def test_buffer_and_rank_are_free(device: Device) -> None:
    x = np.linspace(-1, 1, 512, dtype=np.float32).reshape((2,) * 9)
    want = x / (1 + np.exp(x))
    for buffer in (np.empty(0, np.float32), np.zeros(3, np.int32), np.zeros((2,) * 9, np.float16)):
        got = aclgrad.log_sigmoid_backward(x, x, buffer, device=device.kind)
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-9)


@pytest.mark.sim_only
@each_dtype
@pytest.mark.parametrize("spec", [SIGMOID, KL], ids=lambda spec: spec.op)
def test_bits_depend_on_neither_cores_nor_strides(
    spec: OpSpec, dtype: DType, device: Device
) -> None:
    rng = np.random.default_rng(6)
    arrays = {a.name: rng.normal(size=(37, 1009)).astype(dtype.numpy) for a in spec.input_args}
    out = TensorDesc((37, 1009), dtype)
    want = device.run(spec, arrays, spec.defaults(), out).tobytes()
    turned = {name: np.asfortranarray(array) for name, array in arrays.items()}
    assert device.run(spec, turned, spec.defaults(), out).tobytes() == want
    for cores in (1, 2, 3, 7, 20, 47):
        device.set_option("cores", str(cores))
        assert device.run(spec, arrays, spec.defaults(), out).tobytes() == want, f"{cores} cores"


@pytest.mark.sim_only
@each_dtype
@pytest.mark.parametrize("spec", [SIGMOID, KL], ids=lambda spec: spec.op)
def test_tiling_is_even_and_fits(spec: OpSpec, dtype: DType, device: Device) -> None:
    size = dtype.numpy.itemsize
    for total in (1, 255, 4097, 50_000, 1 << 20, (1 << 20) + 1, 15_485_863, 1 << 31):
        shapes = {arg.name: (total,) for arg in spec.tensors}
        plan = device.tiling(spec, shapes, dtype, spec.defaults())
        data: dict[str, Any] = plan["tiling"]
        cores = plan["blockDim"]
        line = data["lineLanes"]
        assert line * size == 512 and data["tileLanes"] % line == 0
        assert data["coreLanes"] % line == 0 and 0 <= data["extraCores"] < cores
        covered = data["coreLanes"] * cores + data["extraCores"] * line
        assert total <= covered < total + line
        # Two buffers of two inputs and of the output, float32 copies of 16-bit inputs.
        assert data["tileLanes"] * (6 * size + (8 if size == 2 else 0)) <= 184 * 1024
        if total >= 1 << 24:
            assert data["tileLanes"] * size >= 16384 and cores == 48
        # One more core has to save more than its start costs.
        assert cores == 1 or (cores - 1) ** 2 * 128 < total * size
        # What L2 holds of inputs and output, and what is left of the output alone.
        l2 = 192 << 20
        assert (data["inputsBypassL2"] == 0) == (3 * total * size <= l2)
        beyond = max(0, total * size - l2)
        assert abs(data["resultsBypassL2"] * data["tileLanes"] * cores * size - beyond) <= (
            data["tileLanes"] * cores * size
        )


def _random_desc(rng: random.Random, shape: tuple[int, ...], dtype: DType) -> TensorDesc:
    if shape and rng.random() < 0.1:
        strides = tuple(rng.choice([-1, 0, 1, 2, 3, 6, 9, 2**40]) for _ in shape)
        storage = (rng.choice([0, 1, 6, 30, 200]),)
        return TensorDesc(shape, dtype, strides, rng.choice([0, 0, 1, 5]), storage)
    return TensorDesc(shape, dtype, format=rng.choice(["ND"] * 20 + ["NCHW", "NHWC"]))


def _random_shape(rng: random.Random) -> tuple[int, ...]:
    rank = rng.choice([0, 1, 1, 2, 2, 3, 8, 9])
    odd = rng.random() < 0.15
    return tuple(rng.choice([0, 1, 1, 2, 3, -1] if odd else [1, 1, 2, 3]) for _ in range(rank))


def _random_call(rng: random.Random, spec: OpSpec) -> Call:
    base, dtype = _random_shape(rng), rng.choice(DTYPES)
    tensors: dict[str, TensorDesc | None] = {}
    for arg in spec.tensors:
        shape = base
        if spec is KL and arg.name in ("target", "gradOutput") and rng.random() < 0.5:
            shape = tuple(1 if rng.random() < 0.4 else dim for dim in base)[rng.choice([0, 0, 1]) :]
        if rng.random() < 0.03:
            shape = _random_shape(rng)
        other = rng.random() < 0.07
        kind = rng.choice([*DTYPES * 3, *CASTABLE, *UNCASTABLE]) if other else dtype
        tensors[arg.name] = None if rng.random() < 0.01 else _random_desc(rng, shape, kind)
    attrs = (
        {}
        if spec is SIGMOID
        else {
            "reduction": rng.choice([0, 1, 2, 3, 6, -5, 2**62]),
            "logTarget": rng.random() < 0.5,
        }
    )
    null = rng.random() < 0.01, rng.random() < 0.01
    return Call(tensors, attrs, FAMILIES[0], *null)


@pytest.mark.parametrize("spec", [SIGMOID, KL], ids=lambda spec: spec.op)
def test_random_calls_end_as_the_spec_predicts(spec: OpSpec, device: Device) -> None:
    rng = random.Random(8)
    for _ in range(3000):
        call = _random_call(rng, spec)
        tensors = {
            name: None if desc is None else device.tensor(desc, None)
            for name, desc in call.tensors.items()
        }
        code, message = 0, ""
        try:
            planned = device.plan(
                spec,
                tensors,
                call.attrs,
                workspace_size_null=call.workspace_size_null,
                executor_null=call.executor_null,
            )
            device.libraries.nnopbase.aclDestroyAclOpExecutor(planned.executor)
        except AclnnError as error:
            code, message = error.code, error.message
        assert code == spec.predict(call), f"{call}: {message}"
        for tensor in tensors.values():
            if tensor is not None:
                tensor.destroy()


@pytest.mark.sim_only
def test_results_past_l2_are_the_same(device: Device) -> None:
    shape = (5_000_001,)
    g, x = np.random.default_rng(1).uniform(-2, 2, size=(2, *shape)).astype(np.float32)
    device.set_option("mode", "fast")
    arrays = {"gradOutput": g, "self": x, "buffer": np.empty(0, np.float32)}
    out = TensorDesc(shape, FLOAT)
    want = device.run(SIGMOID, arrays, SIGMOID.defaults(), out).tobytes()
    device.set_option("soc", "Ascend950PR_950z")  # 16 MiB of L2
    shapes = {arg.name: shape for arg in SIGMOID.tensors}
    data: dict[str, Any] = device.tiling(SIGMOID, shapes, FLOAT, SIGMOID.defaults())["tiling"]
    assert data["resultsBypassL2"] > 0
    assert device.run(SIGMOID, arrays, SIGMOID.defaults(), out).tobytes() == want
