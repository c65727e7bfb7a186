# SPDX-License-Identifier: Apache-2.0
"""Wall time and memory of the simulator on this machine, as ratios of one run."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclgrad.runtime import Device, open_device
from driver import values
from driver.calls import Call
from driver.cases import BenchmarkCase

Row = dict[str, Any]
Array = NDArray[Any]
Inputs = Mapping[str, Array]
Evaluate = Callable[[], Any]

MODES = ("fast", "checked", "profile")
REFERENCES = ("numpy", "torch")
THREADS = (1, 2, 4, 8, 16)


def numpy_evaluation(case: BenchmarkCase, inputs: Inputs) -> Callable[[], Array]:
    """NumPy's evaluation of the case's formula, into buffers that exist already; the golden where
    there is none.
    """
    if case.op not in _NUMPY:
        unread = {arg.name: None for arg in case.spec.input_args if arg.unused}
        return lambda: case.spec.golden(**inputs, **unread, **case.attrs)
    return _NUMPY[case.op](inputs, case.attrs)


def _softmax_grad(inputs: Inputs, attrs: Mapping[str, Any]) -> Callable[[], Array]:
    g, y = inputs["gradOutput"], inputs["output"]
    product, scaled = np.empty_like(g), np.empty_like(g)

    def evaluate() -> Array:
        np.multiply(g, y, out=product)
        np.multiply(y, product.sum(axis=attrs["dim"], keepdims=True), out=scaled)
        return np.subtract(product, scaled, out=scaled)

    return evaluate


def _log_softmax_grad(inputs: Inputs, attrs: Mapping[str, Any]) -> Callable[[], Array]:
    g, x = inputs["gradOutput"], inputs["output"]
    out = np.empty_like(g)

    def evaluate() -> Array:
        np.exp(x, out=out)
        np.multiply(out, g.sum(axis=attrs["dim"], keepdims=True), out=out)
        return np.subtract(g, out, out=out)

    return evaluate


def _log_sigmoid_grad(inputs: Inputs, attrs: Mapping[str, Any]) -> Callable[[], Array]:
    g, x = inputs["gradOutput"], inputs["self"]
    out = np.empty_like(g)

    def evaluate() -> Array:
        np.exp(x, out=out)
        np.add(out, 1, out=out)
        return np.divide(g, out, out=out)

    return evaluate


def _kl_div_loss_grad(inputs: Inputs, attrs: Mapping[str, Any]) -> Callable[[], Array]:
    g, t = inputs["gradOutput"], inputs["target"]
    out = np.empty_like(t)

    def evaluate() -> Array:
        np.exp(t, out=out)
        np.multiply(out, g, out=out)
        return np.negative(out, out=out)

    return evaluate


def _scaled_masked_softmax_grad_v2(inputs: Inputs, attrs: Mapping[str, Any]) -> Callable[[], Array]:
    g, y, mask = inputs["gradOutput"], inputs["y"], inputs["mask"]
    product, scaled = np.empty_like(g), np.empty_like(g)

    def evaluate() -> Array:
        np.multiply(g, y, out=product)
        np.multiply(y, product.sum(axis=-1, keepdims=True), out=scaled)
        np.subtract(product, scaled, out=scaled)
        np.multiply(scaled, np.float32(attrs["scale"]), out=scaled)
        np.copyto(scaled, 0, where=mask)
        return scaled

    return evaluate


_NUMPY: dict[str, Callable[[Inputs, Mapping[str, Any]], Callable[[], Array]]] = {
    "softmax_grad": _softmax_grad,
    "log_softmax_grad": _log_softmax_grad,
    "log_sigmoid_grad": _log_sigmoid_grad,
    "kl_div_loss_grad": _kl_div_loss_grad,
    "scaled_masked_softmax_grad_v2": _scaled_masked_softmax_grad_v2,
}


def torch_evaluation(case: BenchmarkCase, inputs: Inputs) -> Callable[[], Any] | None:
    """Evaluation by the CPU form of torch's own backward functions; None where torch is absent,
    or has no such function.
    """
    try:
        import torch  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    torch.set_num_threads(os.cpu_count() or 1)
    t = {name: torch.from_numpy(array) for name, array in inputs.items()}
    aten, attrs = torch.ops.aten, case.attrs
    if case.op in ("softmax_grad", "log_softmax_grad"):
        backward = {
            "softmax_grad": aten._softmax_backward_data,
            "log_softmax_grad": aten._log_softmax_backward_data,
        }[case.op]
        return lambda: backward(t["gradOutput"], t["output"], attrs["dim"], t["output"].dtype)
    if case.op == "log_sigmoid_grad":
        _, kept = aten.log_sigmoid_forward(t["self"])  # exp(-|x|), which saves torch the exp
        return lambda: aten.log_sigmoid_backward(t["gradOutput"], t["self"], kept)
    if case.op == "kl_div_loss_grad":
        return lambda: t["target"].exp().mul_(t["gradOutput"]).neg_()
    if case.op != "scaled_masked_softmax_grad_v2":
        return None

    def masked() -> Any:
        result = aten._softmax_backward_data(t["gradOutput"], t["y"], -1, t["y"].dtype)
        return result.mul_(attrs["scale"]).masked_fill_(t["mask"], 0)

    return masked


def set_mode(device: Device, mode: str) -> None:
    """Choose one of `MODES`."""
    device.set_option("mode", "fast" if mode == "profile" else mode)
    device.set_option("profile", "on" if mode == "profile" else "off")
    device.clear_profiles()


def measure(case: BenchmarkCase, rounds: int) -> Row:
    """Processor time of the modes and the references, of all threads, in turn; the least of the
    rounds of each, by NumPy's.
    """
    device = open_device("sim")
    device.set_option("soc", case.soc)
    call = Call(device, case)
    for mode in MODES:
        set_mode(device, mode)
        call.launch()
        call.check()
    inputs = {arg.name: values.whole(case, arg.name) for arg in case.spec.kernel_args}
    references: dict[str, Evaluate | None] = {
        "numpy": numpy_evaluation(case, inputs),
        "torch": torch_evaluation(case, inputs),
    }
    times: dict[str, list[float]] = {name: [] for name in (*REFERENCES, *MODES)}
    with np.errstate(all="ignore"):
        for reference in filter(None, references.values()):
            report = values.check(case, np.asarray(reference()).reshape(-1))
            if not report.passed:
                raise SystemExit(f"{case.key}: a reference has wrong numbers: {report}")
        for _ in range(rounds):
            for name, evaluate in references.items():
                if evaluate is not None:
                    begin = time.process_time()
                    evaluate()
                    times[name].append(time.process_time() - begin)
            for mode in MODES:
                set_mode(device, mode)
                times[mode].append(call.launch(time.process_time))
    set_mode(device, "checked")
    call.close()
    base = min(times["numpy"])
    row: Row = {"case": case.key, "numpy ms": round(base * 1e3, 2)}
    for name in (*MODES, "torch"):
        row[name] = round(min(times[name]) / base, 3) if times[name] else None
    if "memory" in case.limits:
        row["memory"] = round(peak_memory(case), 3)
    return row


def peak_memory(case: BenchmarkCase) -> float:
    """Peak resident bytes of a process with this case alone, over the bytes of its tensors."""
    script = Path(__file__).resolve().parents[1] / "bench.py"
    command = [sys.executable, str(script), "--peak", case.key]
    peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    width = case.dtype.numpy.itemsize
    shaped = [arg for arg in case.spec.tensors if not arg.unused]
    tensors: int = sum(case.size * (1 if arg.name == "mask" else width) for arg in shaped)
    return peak / tensors


def print_peak(case: BenchmarkCase) -> None:
    """What `peak_memory` starts a process for: upload, launch, download."""
    device = open_device("sim")
    inputs = {arg.name: values.whole(case, arg.name) for arg in case.spec.kernel_args}
    call = Call(device, case)
    call.launch()
    call.output()
    del inputs
    # Not getrusage: its maximum counts the parent's memory at the fork, too.
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    print(int(found[1]) * 1024)


def thread_times() -> dict[str, float]:
    """Seconds that each thread of this process has had a processor."""
    found = {}
    for folder in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # the thread has ended
            found[folder.name] = int((folder / "schedstat").read_text().split()[0]) / 1e9
    return found


@dataclass
class Spent:
    """The least of some launches, in seconds."""

    wall: float = math.inf
    work: float = math.inf  # processor time of all threads
    longest: float = math.inf  # of the thread that had most of it

    def add(self, call: Call) -> None:
        """Launch once more."""
        before = thread_times()
        wall = call.launch()
        took = [now - before.get(name, 0) for name, now in thread_times().items()]
        self.wall = min(self.wall, wall)
        self.work = min(self.work, sum(took))
        self.longest = min(self.longest, max(took))


def scaling(case: BenchmarkCase, rounds: int) -> Iterator[Row]:
    """Time of each mode by the number of host threads, the counts in turn."""
    device = open_device("sim")
    device.set_option("soc", case.soc)
    before = device.option("threads") or ""
    call = Call(device, case)
    call.launch()
    call.check()
    for mode in MODES:
        set_mode(device, mode)
        spent = {count: Spent() for count in THREADS}
        for _ in range(rounds):
            for count in THREADS:
                device.set_option("threads", str(count))
                spent[count].add(call)
        one = spent[1]
        yield {
            "case": case.key,
            "mode": mode,
            "ms": [round(found.wall * 1e3, 1) for found in spent.values()],
            "work": [round(found.work / one.work, 3) for found in spent.values()],
            "path": [round(one.work / found.longest, 3) for found in spent.values()],
        }
    device.set_option("threads", before)
    set_mode(device, "checked")
    call.close()


def machine() -> Row:
    """What the ratios depend on, besides what else runs."""
    try:
        import torch

        torch_version = str(torch.__version__)
    except ImportError:
        torch_version = "absent"
    return {
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "numpy": np.__version__,
        "torch": torch_version,
    }
