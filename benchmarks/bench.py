# SPDX-License-Identifier: Apache-2.0
"""Measures simulator time, GM traffic and memory as ratios. See README.md beside it."""

from __future__ import annotations

import argparse
import json
import math
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from aclgrad import dtypes, precision
from aclgrad.ops import find
from aclgrad.runtime import Device, open_device
from aclgrad.runtime.device import contiguous
from aclgrad.runtime.memory import Tensor

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
LIMITED = ("fast", "checked", "traffic", "memory")
Array = NDArray[Any]
Inputs = dict[str, Array]
Attrs = dict[str, Any]


# NumPy's evaluation of each formula, into buffers that exist already.


def numpy_softmax_grad(inputs: Inputs, attrs: Attrs) -> Callable[[], Array]:
    g, y = inputs["gradOutput"], inputs["output"]
    product, scaled = np.empty_like(g), np.empty_like(g)

    def evaluate() -> Array:
        np.multiply(g, y, out=product)
        np.multiply(y, product.sum(axis=attrs["dim"], keepdims=True), out=scaled)
        return np.subtract(product, scaled, out=scaled)

    return evaluate


def numpy_log_softmax_grad(inputs: Inputs, attrs: Attrs) -> Callable[[], Array]:
    g, x = inputs["gradOutput"], inputs["output"]
    out = np.empty_like(g)

    def evaluate() -> Array:
        np.exp(x, out=out)
        np.multiply(out, g.sum(axis=attrs["dim"], keepdims=True), out=out)
        return np.subtract(g, out, out=out)

    return evaluate


def numpy_log_sigmoid_grad(inputs: Inputs, attrs: Attrs) -> Callable[[], Array]:
    g, x = inputs["gradOutput"], inputs["self"]
    out = np.empty_like(g)

    def evaluate() -> Array:
        np.exp(x, out=out)
        np.add(out, 1, out=out)
        return np.divide(g, out, out=out)

    return evaluate


def numpy_kl_div_loss_grad(inputs: Inputs, attrs: Attrs) -> Callable[[], Array]:
    g, t = inputs["gradOutput"], inputs["target"]
    out = np.empty_like(t)

    def evaluate() -> Array:
        np.exp(t, out=out)
        np.multiply(out, g, out=out)
        return np.negative(out, out=out)

    return evaluate


def numpy_scaled_masked_softmax_grad_v2(inputs: Inputs, attrs: Attrs) -> Callable[[], Array]:
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


NUMPY: dict[str, Callable[[Inputs, Attrs], Callable[[], Array]]] = {
    "softmax_grad": numpy_softmax_grad,
    "log_softmax_grad": numpy_log_softmax_grad,
    "log_sigmoid_grad": numpy_log_sigmoid_grad,
    "kl_div_loss_grad": numpy_kl_div_loss_grad,
    "scaled_masked_softmax_grad_v2": numpy_scaled_masked_softmax_grad_v2,
}


def inputs_of(case: dict[str, Any]) -> Inputs:
    """Values that the operator meets: probabilities, their logarithms, plain numbers."""
    spec, shape = find(case["op"]), case["shape"]
    dtype = dtypes.parse(case["dtype"]).numpy
    rng = np.random.default_rng(1)

    def values(name: str) -> Array:
        if name == "mask":
            return np.asarray(rng.random(shape) < 0.2)
        drawn: Array = rng.standard_normal(shape, np.float32)
        if name in ("output", "y", "target"):
            np.exp(drawn, out=drawn)
            drawn /= drawn.sum(axis=case.get("attrs", {}).get("dim", -1), keepdims=True)
            if case["op"] in ("log_softmax_grad", "kl_div_loss_grad"):
                np.log(drawn, out=drawn)
        return drawn.astype(dtype)

    return {arg.name: values(arg.name) for arg in spec.input_args}


class Run:
    """One case on an open device: uploaded inputs, launched as often as asked."""

    def __init__(self, device: Device, case: dict[str, Any], inputs: Inputs) -> None:
        self.device, self.spec = device, find(case["op"])
        self.attrs = self.spec.defaults() | case.get("attrs", {})
        self.out = contiguous(case["shape"], dtypes.parse(case["dtype"]))
        descs = {
            name: contiguous(array.shape, dtypes.of_array(array.dtype))
            for name, array in inputs.items()
        }
        self.buffers = {name: device.upload(array) for name, array in inputs.items()}
        self.result = device.buffer(self.out.size * self.out.dtype.numpy.itemsize)
        self.tensors: dict[str, Tensor | None] = {
            name: device.tensor(descs[name], buffer.address)
            for name, buffer in self.buffers.items()
        }
        self.tensors[self.spec.output_args[0].name] = device.tensor(self.out, self.result.address)

    def launch(self) -> float:
        """Seconds from the second stage's call to the end of the stream's work."""
        planned = self.device.plan(self.spec, self.tensors, self.attrs)
        workspace = self.device.buffer(planned.workspace_size)
        begin = time.perf_counter()
        self.device.launch(self.spec, planned, workspace.address)
        self.device.synchronize()
        return time.perf_counter() - begin

    def output(self) -> Array:
        return self.result.read(self.out.dtype.numpy).reshape(self.out.shape)

    def floor(self) -> int:
        """Bytes of reading each input that the kernel uses once and writing the output once."""
        read = {arg.name for arg in self.spec.kernel_args}
        reads = sum(buffer.nbytes for name, buffer in self.buffers.items() if name in read)
        return reads + self.result.nbytes


def measure(case: dict[str, Any], rounds: int) -> dict[str, Any]:
    device = open_device("sim")
    inputs = inputs_of(case)
    run = Run(device, case, inputs)
    device.set_option("mode", "checked")
    device.reset_stats()
    run.launch()
    stats = device.stats()
    assert stats is not None
    verdict = precision.compare(run.output(), run.spec.evaluate(inputs, run.attrs))
    if not verdict.passed:
        raise SystemExit(f"{label(case)}: wrong numbers, not timed: {verdict}")
    row: dict[str, Any] = {
        "case": label(case),
        "traffic": (stats.gm_read_bytes + stats.gm_write_bytes) / run.floor(),
        "limits": {key: case[key] for key in LIMITED if key in case},
    }
    times: dict[str, list[float]] = {"numpy": [], "fast": [], "checked": []}
    evaluate = NUMPY[case["op"]](inputs, run.attrs)
    with np.errstate(all="ignore"):
        evaluate()
    for _ in range(rounds):
        begin = time.perf_counter()
        evaluate()
        times["numpy"].append(time.perf_counter() - begin)
        for mode in ("fast", "checked"):
            device.set_option("mode", mode)
            times[mode].append(run.launch())
    base = statistics.median(times["numpy"])
    row["numpy_ms"] = base * 1e3
    for mode in ("fast", "checked"):
        row[mode] = statistics.median(times[mode]) / base
    if "memory" in case:
        row["memory"] = peak_memory(case)
    return row


def peak_memory(case: dict[str, Any]) -> float:
    """Peak resident bytes of a process with this case alone, over the bytes of its tensors."""
    command = [sys.executable, __file__, "--one", json.dumps(case)]
    peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    size = math.prod(case["shape"])
    spec, width = find(case["op"]), dtypes.parse(case["dtype"]).numpy.itemsize
    tensors: int = sum(size * (1 if arg.name == "mask" else width) for arg in spec.tensors)
    return peak / tensors


def run_one(case: dict[str, Any]) -> None:
    run = Run(open_device("sim"), case, inputs_of(case))
    run.launch()
    run.output()
    # Not getrusage: its maximum counts the parent's memory at the fork, too.
    status = Path("/proc/self/status").read_text()
    print(int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024)  # type: ignore[index]


def label(case: dict[str, Any]) -> str:
    shape = "x".join(map(str, case["shape"]))
    attrs = "".join(f" {name}={value}" for name, value in case.get("attrs", {}).items())
    return f"{case['op']} {shape} {case['dtype']}{attrs}"


def show(rows: list[dict[str, Any]]) -> list[str]:
    """Print the table; return what is above its limit."""
    table = Table(title="ratios of one run (limit)")
    headings = (
        "case",
        "NumPy ms",
        "fast / NumPy",
        "checked / NumPy",
        "GM / floor",
        "memory / tensors",
    )
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "case" else "right")
    over = []
    for row in rows:
        cells = [row["case"], f"{row['numpy_ms']:.1f}"]
        for key in LIMITED:
            value, limit = row.get(key), row["limits"].get(key)
            if value is not None and limit is not None and value > limit:
                over.append(f"{row['case']}: {key} {value:.3f} is above {limit}")
            cells.append(
                "" if value is None else f"{value:.2f}" + ("" if limit is None else f" ({limit:g})")
            )
        table.add_row(*cells)
    Console().print(table)
    return over


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, default=HERE.parent / "build/bench/bench.json")
    parser.add_argument(
        "--check", action="store_true", help="exit status 1 when a limit is exceeded"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_one(json.loads(options.one))
        return 0
    cases = tomllib.loads((HERE / "cases.toml").read_text())["case"]
    rows = [measure(case, options.rounds) for case in track(cases, "measuring")]
    over = show(rows)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    host = {"machine": platform.machine(), "numpy": np.__version__, "rounds": options.rounds}
    options.out.write_text(json.dumps({"host": host, "rows": rows}, indent=1) + "\n")
    print(f"written: {options.out}")
    for line in over:
        print(line, file=sys.stderr)
    return 1 if over and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
