# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the CPU as a second opinion: on results, on the float64 golden, and where the contract
departs from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from aclgrad.golden.precision import compare
from aclgrad.ops import all_specs
from aclgrad.runtime import Device
from aclgrad.spec.call import TensorDesc
from aclgrad.spec.cases import Case
from aclgrad.spec.dtypes import FLOAT, DType
from aclgrad.testing.run import golden, inputs_of
from samples import (
    BY_API,
    DTYPES,
    KL,
    LOG_SOFTMAX,
    MASKED,
    SIGMOID,
    SOFTMAX,
    Arrays,
    Attrs,
    Sample,
    assert_same_values,
    run,
)

torch = pytest.importorskip(
    "torch", reason="torch is not installed; scripts/test.sh --torch installs it"
)
# Calls exp once, before the threads of a large tensor share its first call.
import aclgrad.torch.derivatives  # noqa: E402, F401  needs torch

pytestmark = [
    pytest.mark.on_board,
    pytest.mark.filterwarnings("ignore:reduction", "ignore:Using a target size"),
]
REDUCTIONS = {1: "mean", 2: "sum", 3: "batchmean"}
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)


def needs(*apis: str) -> pytest.MarkDecorator:
    """Skip a test whose operators this build has not."""
    missing = sorted(set(apis) - set(BY_API))
    return pytest.mark.skipif(bool(missing), reason=f"no spec of {', '.join(missing)}")


def softmax(t: dict[str, Any], attrs: Attrs) -> Any:
    g, y = t["gradOutput"], t["output"]
    return torch._softmax_backward_data(g, y, attrs["dim"], g.dtype)


def log_softmax(t: dict[str, Any], attrs: Attrs) -> Any:
    g, y = t["gradOutput"], t["output"]
    return torch._log_softmax_backward_data(g, y, attrs["dim"], g.dtype)


def log_sigmoid(t: dict[str, Any], attrs: Attrs) -> Any:
    x = t["self"]
    return torch.ops.aten.log_sigmoid_backward(t["gradOutput"], x, torch.exp(-x.abs()))


def kl_div(t: dict[str, Any], attrs: Attrs) -> Any:
    """Autograd of the elementwise loss, reduced by what the contract calls the divisor.

    torch's own reductions take one gradient for all elements, the operator takes one for each;
    `test_kl_div_is_autograd_of_every_reduction` compares with those.
    """
    leaf = t["self"].detach().requires_grad_()
    loss = torch.nn.functional.kl_div(
        leaf, t["target"], reduction="none", log_target=bool(attrs["logTarget"])
    )
    shape = loss.shape
    divisor = {1: math.prod(shape), 3: shape[0] if shape else 1}.get(int(attrs["reduction"]), 1)
    loss.backward((t["gradOutput"] / max(divisor, 1)).broadcast_to(shape))
    return leaf.grad


def scaled_masked_softmax(t: dict[str, Any], attrs: Attrs) -> Any:
    g, y = t["gradOutput"], t["y"]
    scale = float(np.float32(attrs["scale"]))
    scaled = torch._softmax_backward_data(g, y, -1, g.dtype) * scale
    return scaled.masked_fill(t["mask"], 0)


ORACLES: dict[str, Callable[[dict[str, Any], Attrs], Any]] = {
    SOFTMAX: softmax,
    LOG_SOFTMAX: log_softmax,
    SIGMOID: log_sigmoid,
    KL: kl_div,
    MASKED: scaled_masked_softmax,
}


def tensors_of(arrays: Arrays, dtype: Any = None) -> dict[str, Any]:
    """Tensors of the same values: of one dtype, or of the arrays' own; bool stays bool."""
    result = {}
    for name, array in arrays.items():
        if array.dtype == np.bool_:
            result[name] = torch.from_numpy(array.copy())
            continue
        own = getattr(torch, array.dtype.name)
        result[name] = torch.from_numpy(array.astype(np.float64)).to(dtype or own)
    return result


def oracle(api: str, arrays: Arrays, attrs: Attrs, dtype: Any = None) -> np.ndarray:
    """What torch makes of these arrays, in float64 unless told otherwise, as float64."""
    result = ORACLES[api](tensors_of(arrays, dtype or torch.float64), attrs)
    return result.double().numpy()


def finite_cases() -> list[Case]:
    """Cases of the grid without NaN and Inf, which the two formulas treat differently."""
    return [
        case
        for spec in all_specs()
        for case in spec.cases(spec, True)
        if not any(word in case.values for word in ("nan", "inf", "special"))
        and all(math.isfinite(value) for value in case.call.attrs.values())
        and case.call.tensor(spec.output_args[0].name).size <= 1 << 14
    ]


def test_every_operator_has_an_oracle() -> None:
    assert {spec.api for spec in all_specs()} <= set(ORACLES)


@pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.op)
def test_golden_is_torch_in_float64(spec: Any) -> None:
    count = 0
    for case in finite_cases():
        if case.op != spec.op:
            continue
        arrays = inputs_of(spec, case)
        want = oracle(spec.api, arrays, dict(case.call.attrs))
        terms = spec.magnitudes(arrays, case.call.attrs)
        error = np.abs(golden(spec, case) - want)
        # Sums of many float64 differ in their order.
        assert (error <= 1e-12 * (np.abs(terms) + np.abs(want)) + 1e-300).all(), case.name
        count += 1
    assert count > 100


NATIVE = [
    Sample(api, shape, {"dim": dim})
    for api in (SOFTMAX, LOG_SOFTMAX)
    for shape, dim in (
        ((5,), 0),
        ((4, 33), -1),
        ((4, 33), 0),
        ((3, 5, 7), 1),
        ((2, 3000), 1),
        ((3000, 2), 0),
        ((2, 3, 2, 5), 2),
        ((), -1),
    )
]
NATIVE += [Sample(SIGMOID, shape) for shape in ((), (7, 333), (2, 3, 4, 5, 6))]
NATIVE += [
    Sample(KL, shape, {"reduction": reduction, "logTarget": log}, {"target": target})
    for reduction in range(4)
    for log in (False, True)
    for shape, target in (((6, 35), (6, 35)), ((6, 35), (35,)))
]
NATIVE += [
    Sample(MASKED, (2, 3, 5, 33), {"scale": scale}, {"mask": (*leading, 5, 33)})
    for scale in (1.0, 0.125, -3.0)
    for leading in ((2, 3), (1, 3), (2, 1), (1, 1))
]


@each_dtype
@pytest.mark.parametrize("sample", [s for s in NATIVE if s.api in BY_API], ids=str)
def test_result_is_what_torch_gives(sample: Sample, dtype: DType, device: Device) -> None:
    arrays = sample.arrays(dtype)
    for name in ("output", "y"):
        if name in arrays:
            logits = torch.from_numpy(arrays[name].astype(np.float32))
            forward = torch.log_softmax if sample.api == LOG_SOFTMAX else torch.softmax
            y = forward(logits, int(sample.attrs.get("dim", -1)))
            arrays[name] = np.asarray(y).astype(dtype.numpy)
    got = run(device, sample.api, arrays, sample.attrs)
    terms = sample.spec.magnitudes(arrays, sample.all_attrs)
    for side in (torch.float64, getattr(torch, dtype.name)):
        want = oracle(sample.api, arrays, sample.all_attrs, side)
        # Where torch computes in the dtype, its own result is rounded too.
        chain = None if side is torch.float64 else {"float16": 16.0, "bfloat16": 8.0}
        report = compare(got, want, terms=terms, tolerance=chain)
        assert report.passed, f"torch in {side}: {report}"


@needs(KL)
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("reduction", [1, 2, 3])
@pytest.mark.parametrize(
    ("kept", "target"),
    [
        ((6, 35), (6, 35)),
        ((6, 35), (35,)),
        ((6, 35), (6, 1)),
        ((6, 35), ()),
        ((6, 1), (6, 35)),
        ((2, 1, 5, 1), (1, 3, 1, 7)),
        ((35,), (35,)),
        ((), ()),
    ],
)
def test_kl_div_is_autograd_of_every_reduction(
    kept: tuple[int, ...], target: tuple[int, ...], reduction: int, log: bool, device: Device
) -> None:
    rng = np.random.default_rng(4)
    x, t = rng.normal(size=kept), rng.normal(size=target)
    t, g = t if log else np.abs(t), rng.normal(size=())
    single = [np.asarray(array, np.float32) for array in (g, x, t)]
    leaf = torch.from_numpy(single[1]).double().requires_grad_()
    loss = torch.nn.functional.kl_div(
        leaf,
        torch.from_numpy(single[2]).double(),
        reduction=REDUCTIONS[reduction],
        log_target=log,
    )
    loss.backward(torch.from_numpy(single[0]).double())
    arrays = dict(zip(("gradOutput", "self", "target"), single, strict=True))
    got = run(device, KL, arrays, {"reduction": reduction, "logTarget": log})
    terms = BY_API[KL].magnitudes(arrays, {"reduction": reduction, "logTarget": log})
    report = compare(got, leaf.grad.numpy(), terms=terms)
    assert report.passed, str(report)


@pytest.mark.parametrize(
    ("api", "function"),
    [(SOFTMAX, "softmax"), (LOG_SOFTMAX, "log_softmax")],
)
def test_softmax_is_what_autograd_gives(api: str, function: str, device: Device) -> None:
    if api not in BY_API:
        pytest.skip(f"no spec of {api}")
    x = torch.randn(6, 40, generator=torch.Generator().manual_seed(0), requires_grad=True)
    y = getattr(torch, function)(x, -1)
    g = torch.randn(6, 40, generator=torch.Generator().manual_seed(1))
    y.backward(g)
    got = run(device, api, {"gradOutput": g.numpy(), "output": y.detach().numpy()}, {})
    np.testing.assert_allclose(got, x.grad.numpy(), rtol=1e-4, atol=1e-6)


# From here on: what the contract wants although torch, or an older reference, has it otherwise.


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


@needs(SOFTMAX)
def test_softmax_multiplies_before_it_subtracts(device: Device) -> None:
    # torch evaluates y * (g - sum): only what overflows tells the two apart.
    arrays = {"gradOutput": floats(2e38, -2e38), "output": floats(0.25, 1.2)}
    total = 2e38 * 0.25 - 2e38 * 1.2
    got = run(device, SOFTMAX, arrays, {})
    np.testing.assert_allclose(
        got, [2e38 * 0.25 - total * 0.25, -2e38 * 1.2 - total * 1.2], rtol=1e-5
    )
    theirs = oracle(SOFTMAX, arrays, {"dim": -1}, torch.float32)
    assert np.isinf(theirs[0]) and np.isfinite(got).all()
    # And the other way round: the product overflows, the difference does not.
    arrays = {"gradOutput": floats(3e38, 3e38), "output": floats(2, 2)}
    assert np.isnan(run(device, SOFTMAX, arrays, {})).all()
    assert (oracle(SOFTMAX, arrays, {"dim": -1}, torch.float32) == -np.inf).all()


@needs(LOG_SOFTMAX)
def test_log_softmax_sums_over_its_dim_alone(device: Device) -> None:
    # One public reference sums over all elements.
    g, y = floats(1, 2, 3, 4).reshape(2, 2), floats(0, 0, 0, 0).reshape(2, 2)
    got = run(device, LOG_SOFTMAX, {"gradOutput": g, "output": y}, {"dim": 1})
    np.testing.assert_array_equal(got, [[-2, -1], [-4, -3]])
    assert not np.array_equal(got, g - g.sum())


@needs(SIGMOID)
def test_log_sigmoid_does_not_read_its_buffer(device: Device) -> None:
    g, x = floats(1, 1, 1), floats(-1, 0, 2)
    right = log_sigmoid(tensors_of({"gradOutput": g, "self": x}), {})
    spoiled = torch.ops.aten.log_sigmoid_backward(
        torch.from_numpy(g), torch.from_numpy(x), torch.full((3,), 7.0)
    )
    assert not torch.equal(right, spoiled)
    for buffer in (np.empty(0, np.float32), floats(7), np.full(3, np.nan, np.float16)):
        got = run(device, SIGMOID, {"gradOutput": g, "self": x, "buffer": buffer}, {})
        np.testing.assert_allclose(got, right.numpy(), rtol=1e-6)


@needs(KL)
@pytest.mark.parametrize("reduction", range(4))
def test_kl_div_has_no_special_targets(reduction: int, device: Device) -> None:
    # torch before 1.13 gave 0 wherever target <= 0.
    g, t = floats(2, 2, 2, -2), floats(-3, -0.0, 0, -1)
    arrays = {"gradOutput": g, "self": np.zeros_like(t), "target": t}
    got = run(device, KL, arrays, {"reduction": reduction})
    divisor = 4 if reduction in (1, 3) else 1
    assert_same_values(got, -(g * t) / divisor)
    assert got[0] > 0 > got[3]
    np.testing.assert_array_equal(got, oracle(KL, arrays, {"reduction": reduction, "logTarget": 0}))


@needs(KL)
@pytest.mark.parametrize(
    ("kept", "target", "divisor", "theirs"),
    [((1, 2), (8, 2), 8, 1), ((2,), (8, 2), 8, 2), ((), (8, 2), 8, 1), ((8, 1), (2,), 8, 8)],
)
def test_batchmean_divides_by_dim_0_of_the_common_shape(
    kept: tuple[int, ...], target: tuple[int, ...], divisor: int, theirs: int, device: Device
) -> None:
    # torch divides by dim 0 of self.
    leaf = torch.zeros(kept, requires_grad=True)
    torch.nn.functional.kl_div(leaf, torch.ones(target), reduction="batchmean").backward()
    arrays = {
        "gradOutput": floats(1),
        "self": np.zeros(kept, np.float32),
        "target": np.ones(target, np.float32),
    }
    got = run(device, KL, arrays, {"reduction": 3})
    np.testing.assert_allclose(got * divisor, leaf.grad.numpy() * theirs, rtol=1e-6)
    np.testing.assert_allclose(got * divisor, run(device, KL, arrays, {"reduction": 2}), rtol=1e-6)


@needs(KL)
@pytest.mark.parametrize("reduction", [1, 2, 3])
def test_kl_div_takes_a_gradient_per_element_for_every_reduction(
    reduction: int, device: Device
) -> None:
    # In torch the gradient of a reduced loss is one number.
    rng = np.random.default_rng(5)
    arrays = {name: rng.random((4, 5)).astype(np.float32) for name in ("self", "target")}
    arrays["gradOutput"] = rng.normal(size=(4, 5)).astype(np.float32)
    leaf = torch.from_numpy(arrays["self"]).requires_grad_()
    loss = torch.nn.functional.kl_div(leaf, torch.from_numpy(arrays["target"]), reduction="none")
    weighted = loss * torch.from_numpy(arrays["gradOutput"])
    {1: weighted.mean(), 2: weighted.sum(), 3: weighted.sum() / 4}[reduction].backward()
    got = run(device, KL, arrays, {"reduction": reduction})
    np.testing.assert_allclose(got, leaf.grad.numpy(), rtol=1e-5)


@needs(KL)
@pytest.mark.parametrize("reduction", [4, 6, -1, 2**62, -(2**63)])
def test_any_other_reduction_is_none(reduction: int, device: Device) -> None:
    arrays = Sample(KL, (3, 5)).arrays(FLOAT)
    none = run(device, KL, arrays, {"reduction": 0})
    assert run(device, KL, arrays, {"reduction": reduction}).tobytes() == none.tobytes()


@needs(KL)
def test_kl_div_of_rank_0_counts_one_element(device: Device) -> None:
    arrays = {name: np.asarray(0.5, np.float32) for name in ("gradOutput", "self", "target")}
    for reduction in range(4):
        assert run(device, KL, arrays, {"reduction": reduction}) == -0.25


@needs(MASKED)
def test_scale_is_a_float32(device: Device) -> None:
    # torch multiplies float64 tensors by the double.
    arrays = {
        "gradOutput": floats(1, 0).reshape(1, 1, 1, 2),
        "y": floats(0.5, 0.5).reshape(1, 1, 1, 2),
        "mask": np.zeros((1, 1, 1, 2), bool),
    }
    got = run(device, MASKED, arrays, {"scale": 0.1})
    assert got.flat[0] == np.float32(0.25) * np.float32(0.1) and float(got.flat[0]) != 0.025
    want = run(device, MASKED, arrays, {"scale": float(np.float32(0.1))})
    assert got.tobytes() == want.tobytes()


@needs(MASKED, SOFTMAX)
def test_scaled_masked_softmax_is_softmax_then_scale_then_mask(device: Device) -> None:
    sample = Sample(MASKED, (2, 3, 5, 33), {"scale": 0.25})
    for dtype in DTYPES:
        arrays = sample.arrays(dtype)
        plain = {"gradOutput": arrays["gradOutput"], "output": arrays["y"]}
        wide = TensorDesc(sample.shape, FLOAT)
        for name, array in plain.items():
            plain[name] = array.astype(np.float32)
        scaled = run(device, SOFTMAX, plain, {}, wide) * np.float32(0.25)
        want = np.where(arrays["mask"], 0, scaled).astype(dtype.numpy)
        got = run(device, MASKED, arrays, sample.attrs)
        terms = sample.spec.magnitudes(arrays, sample.all_attrs)
        report = compare(got, want.astype(np.float64), terms=terms)
        assert report.passed, str(report)
