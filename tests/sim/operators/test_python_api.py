# SPDX-License-Identifier: Apache-2.0
"""aclgrad.softmax_backward as a user calls it."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclgrad
from aclgrad.golden.precision import compare
from aclgrad.ops import all_specs, find
from aclgrad.runtime import OPTIONS, Device, memory, open_device
from aclgrad.spec import naming
from aclgrad.spec.op_spec import OpSpec

pytestmark = [pytest.mark.quick, pytest.mark.on_board]

SPEC = find("softmax_grad")


def golden(g: np.ndarray, y: np.ndarray, dim: int) -> np.ndarray:
    return SPEC.evaluate({"gradOutput": g, "output": y}, {"dim": dim})


def pair(shape: tuple[int, ...], dtype: Any = np.float32) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.normal(size=shape).astype(dtype), rng.random(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_large_results_take_turns_in_the_same_pages(
    dtype: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only when nobody has the one before any more, nor a part of it."""
    monkeypatch.setattr(memory, "_kept", deque(maxlen=4))  # none of other tests
    g, y = pair((1 << 12, 1 << 12), dtype)
    one = aclgrad.softmax_backward(g[:2048], y[:2048])
    part, place = one[7:9], one.__array_interface__["data"][0]
    del one
    two = aclgrad.softmax_backward(g[2048:], y[2048:])
    assert two.__array_interface__["data"][0] != place
    assert compare(part, golden(g[7:9], y[7:9], -1)).passed
    del part
    three = aclgrad.softmax_backward(g[:2048], y[:2048])
    assert three.__array_interface__["data"][0] == place and three.flags.writeable
    assert compare(three[7:9], golden(g[7:9], y[7:9], -1)).passed
    assert compare(two[-1], golden(g[-1:], y[-1:], -1)[0]).passed


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_result_has_shape_and_dtype_of_the_gradient(dtype: object, device: Device) -> None:
    g, y = pair((4, 30), dtype)
    got = aclgrad.softmax_backward(g, y, device=device.kind)
    assert got.dtype == g.dtype and got.shape == g.shape
    assert compare(got, golden(g, y, -1)).passed


def test_out_dtype(device: Device) -> None:
    g, y = pair((4, 30), np.float16)
    got = aclgrad.softmax_backward(g, y, 0, out_dtype=np.float32, device=device.kind)
    assert got.dtype == np.float32
    assert compare(got, golden(g, y, 0), np.float16).passed


def test_views_of_all_kinds(device: Device) -> None:
    g, y = pair((12, 14))
    for index in (
        np.s_[:],
        np.s_[::2],
        np.s_[::-1],
        np.s_[:, ::3],
        np.s_[2:9, 3:7],
        np.s_[:, ::-2],
        np.s_[4],
    ):
        for gv, yv in ((g[index], y[index]), (g[index].T, y[index].T)):
            got = aclgrad.softmax_backward(gv, yv, 0, device=device.kind)
            assert compare(got, golden(gv, yv, 0)).passed
    row = np.broadcast_to(g[0], (5, 14))
    assert compare(
        aclgrad.softmax_backward(row, y[:5], device=device.kind), golden(row, y[:5], -1)
    ).passed


def test_inputs_are_not_changed(device: Device) -> None:
    g, y = pair((3, 5))
    copies = g.copy(), y.copy()
    aclgrad.softmax_backward(g, y, device=device.kind)
    assert np.array_equal(g, copies[0]) and np.array_equal(y, copies[1])


def test_errors_carry_code_and_argument(device: Device) -> None:
    g, y = pair((3, 5))
    for args, code, word in (
        ((g, y, 2), 161002, "dim"),
        ((g, y[:2], 0), 161002, "output"),
        ((g, y.astype(np.float16), 0), 161002, "output"),
        ((g.astype(np.int32), y.astype(np.int32), 0), 161002, "gradOutput"),
        ((g.astype(np.float64), y.astype(np.float64), 0), 161002, "gradOutput"),
    ):
        with pytest.raises(aclgrad.AclnnError, match=word) as caught:
            aclgrad.softmax_backward(*args, device=device.kind)
        assert caught.value.code == code and "got" in caught.value.message
    with pytest.raises(ValueError, match="array dtype"):
        aclgrad.softmax_backward(np.array(["a"]), y, device=device.kind)


def good_call(spec: OpSpec) -> dict[str, Any]:
    """Arguments that are right, by their Python names."""
    shape = (1, 1, 3, 5)
    made: dict[str, Any] = {
        arg.python: np.zeros(shape, arg.dtypes[0].numpy if arg.dtypes else np.float32)
        for arg in spec.input_args
    }
    return {**made, **{attr.python: attr.default for attr in spec.attr_args}}


@pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.function)
def test_refusals_are_in_numpys_words(spec: OpSpec, device: Device) -> None:
    """Each argument, wrong in each way: function and argument as Python spells them, dtypes and
    shapes as NumPy does.
    """
    function = getattr(aclgrad, spec.function)
    good = good_call(spec)
    tensors = [arg for arg in spec.input_args if not arg.unused]
    like = naming.snake(spec.result_like)
    cases: list[tuple[str, object, str]] = []
    for arg in tensors:
        name = arg.python
        cases += [
            (name, None, f"{name}: got None, want a numpy.ndarray of "),
            (name, np.array(["a"]), f"{name}: array dtype: got str"),
            (name, [[1, 2], [3]], f"{name}: setting an array element with a sequence"),
            (name, np.zeros((1,) * 9, good[name].dtype), "(1, 1, 1, 1, 1, 1, 1, 1, 1)"),
            (name, np.zeros((1, 1, 3, 5), np.float64), "float64"),
        ]
    for attr in spec.attr_args:
        name = attr.python
        want = {int: "an integer", float: "a number", bool: "True or False"}[attr.python_type]
        cases += [(name, bad, f"{name}: got {bad!r}, want {want}") for bad in ("x", None)]
    cases += [
        ("out_dtype", "colour", "out_dtype: "),
        ("device", "gpu", "got 'gpu', want sim or npu: "),
    ]
    for name, bad, words in cases:
        try:
            function(**{**good, "device": device.kind, name: bad})
        except (TypeError, ValueError, aclgrad.AclgradError) as error:
            text = str(error)
        else:
            # What follows an input is free to be cast or broadcast.
            assert name in {arg.python for arg in tensors}, (name, bad)
            continue
        if words.startswith("(1"):
            assert words in text or "got 9 dims" in text, text
        else:
            assert words in text, text
        assert "DT_" not in text
        if name != "device":
            assert text.startswith(f"{spec.function}: ")
            assert name in text or like in text, text
    with pytest.raises(TypeError, match=rf"{spec.function}\(\) got an unexpected keyword .*'axis'"):
        function(**good, axis=1)
    with pytest.raises(TypeError, match=rf"{spec.function}\(\) missing .*{tensors[-1].python}"):
        function(**{k: v for k, v in good.items() if k != tensors[-1].python})


def test_calls_after_an_error_work(device: Device) -> None:
    g, y = pair((3, 5))
    for _ in range(3):
        with pytest.raises(aclgrad.AclnnError):
            aclgrad.softmax_backward(g, y, 7, device=device.kind)
        assert compare(aclgrad.softmax_backward(g, y, device=device.kind), golden(g, y, -1)).passed


@pytest.mark.sim_only
def test_calls_that_come_again_are_prepared_once(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[str] = []
    plan = device._plan

    def counted(*args: Any) -> Any:
        planned.append("")
        return plan(*args)

    monkeypatch.setattr(device, "_plan", counted)
    g, y = pair((3, 11))

    def checked(g: np.ndarray, y: np.ndarray, **attrs: Any) -> None:
        got = aclgrad.softmax_backward(g, y, **attrs)
        assert compare(got, golden(g, y, attrs.get("dim", -1)), terms=None).passed

    device.set_option("cores", "0")  # nothing is prepared
    for turn in range(5):
        checked(g + np.float32(turn), y)
    assert len(planned) == 2
    checked(g, y, dim=0)
    checked(g[:, :5], y[:, :5])
    checked(g[:2], y[:2])
    assert len(planned) == 5
    device.set_option("cores", "1")
    try:
        checked(g, y)
        assert len(planned) == 6
    finally:
        device.set_option("cores", "0")


@pytest.mark.sim_only
@pytest.mark.parametrize("first, second", [(0.0, -0.0), (1.0, 2.0)])
def test_prepared_calls_know_their_attributes(first: float, second: float, device: Device) -> None:
    g, y = pair((2, 16))
    g, y = (np.abs(array).reshape(1, 1, 2, 16).astype(np.float16) for array in (g, y))
    mask = np.zeros((1, 1, 2, 16), bool)
    for _ in range(3):
        results = [
            aclgrad.scaled_masked_softmax_backward(g, y, mask, scale=scale)
            for scale in (first, second)
        ]
    np.testing.assert_array_equal(np.abs(results[1]), np.abs(results[0]) * 2 * (second != 0))
    assert (np.signbit(results[0]) != np.signbit(results[1])).any() or second != 0


def test_threads_share_the_device(device: Device) -> None:
    g, y = pair((40, 50))
    want = golden(g, y, -1)
    failures = []

    def work() -> None:
        for _ in range(5):
            report = compare(aclgrad.softmax_backward(g, y, device=device.kind), want)
            if not report.passed:
                failures.append(report)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


@pytest.mark.sim_only
def test_statistics_of_a_call(device: Device) -> None:
    g, y = pair((64, 256))
    device.set_option("mode", "checked")
    device.reset_stats()
    aclgrad.softmax_backward(g, y)
    stats = device.stats()
    assert stats is not None and stats.launches == 1
    assert stats.gm_read_bytes == g.nbytes + y.nbytes and stats.gm_write_bytes == g.nbytes


def test_one_kind_of_device_per_process(device: Device) -> None:
    other = "npu" if device.kind == "sim" else "sim"
    with pytest.raises(aclgrad.ToolkitError, match="already drives"):
        open_device(other)


@pytest.mark.sim_only
def test_unknown_options_are_refused(device: Device) -> None:
    for name, value in (("soc", "Ascend1"), ("mode", "quick"), ("colour", "red"), ("cores", "-1")):
        with pytest.raises(aclgrad.AclnnError) as caught:
            device.set_option(name, value)
        assert caught.value.code == 100000 and caught.value.message


@pytest.mark.sim_only
def test_all_cores_of_a_soc_are_not_as_many_of_the_next(device: Device) -> None:
    """A count that was put back stayed, for SoCs with more cores."""
    device.set_option("soc", "Ascend910B4")
    assert device.option("cores") == "40"
    with device.keeping("soc", "cores"):
        device.set_option("cores", "3")
    device.set_option("soc", "Ascend910B2")
    assert device.option("cores") == "48"
    device.set_option("cores", "5")
    with device.with_option("cores", "2"):
        assert device.option("cores") == "2"
    assert device.option("cores") == "5"


@pytest.mark.sim_only
def test_every_option_has_its_name(device: Device) -> None:
    assert all(device.option(name) for name in OPTIONS)
    with pytest.raises(aclgrad.AclnnError) as caught:
        device.set_option("colour", "red")
    assert f"want {', '.join(OPTIONS[:-1])} or {OPTIONS[-1]}" in caught.value.message
