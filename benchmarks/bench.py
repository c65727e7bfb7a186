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
from aclgrad.spec import OpSpec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
LIMITED = ("fast", "checked", "traffic", "memory")
Array = NDArray[Any]


def numpy_softmax_grad(inputs: list[Array], dim: int) -> Callable[[], Array]:
    """The formula as NumPy evaluates it, into buffers that exist already."""
    g, y = inputs
    product, scaled = np.empty_like(g), np.empty_like(g)

    def evaluate() -> Array:
        np.multiply(g, y, out=product)
        np.multiply(y, product.sum(axis=dim, keepdims=True), out=scaled)
        return np.subtract(product, scaled, out=scaled)

    return evaluate


NUMPY = {"softmax_grad": numpy_softmax_grad}


class Run:
    """One case on an open device: uploaded inputs, launched as often as asked."""

    def __init__(self, device: Device, spec: OpSpec, inputs: list[Array], dim: int) -> None:
        self.device, self.spec, self.attrs = device, spec, {"dim": dim}
        desc = contiguous(inputs[0].shape, dtypes.of_array(inputs[0].dtype))
        self.buffers = [device.upload(array) for array in inputs]
        self.result = device.buffer(inputs[0].nbytes)
        names = [arg.name for arg in spec.tensors]
        addresses = [buffer.address for buffer in (*self.buffers, self.result)]
        self.tensors = {
            name: device.tensor(desc, address)
            for name, address in zip(names, addresses, strict=True)
        }
        self.desc = desc

    def launch(self) -> float:
        """Seconds from the second stage's call to the end of the stream's work."""
        planned = self.device.plan(self.spec, self.tensors, self.attrs)
        workspace = self.device.buffer(planned.workspace_size)
        begin = time.perf_counter()
        self.device.launch(self.spec, planned, workspace.address)
        self.device.synchronize()
        return time.perf_counter() - begin

    def output(self) -> Array:
        return self.result.read(self.desc.dtype.numpy).reshape(self.desc.shape)


def inputs_of(case: dict[str, Any]) -> list[Array]:
    rng = np.random.default_rng(1)
    shape, dtype = case["shape"], dtypes.parse(case["dtype"]).numpy
    g = rng.standard_normal(shape, np.float32).astype(dtype)
    e = np.exp(rng.standard_normal(shape, np.float32))
    y = (e / e.sum(axis=case.get("dim", -1), keepdims=True)).astype(dtype)
    return [g, y]


def measure(case: dict[str, Any], rounds: int) -> dict[str, Any]:
    device = open_device("sim")
    spec = find(case["op"])
    dim = case.get("dim", -1)
    inputs = inputs_of(case)
    run = Run(device, spec, inputs, dim)
    device.set_option("mode", "checked")
    device.reset_stats()
    run.launch()
    stats = device.stats()
    assert stats is not None
    want = spec.evaluate(
        {arg.name: array for arg, array in zip(spec.input_args, inputs, strict=True)}, {"dim": dim}
    )
    verdict = precision.compare(run.output(), want)
    if not verdict.passed:
        raise SystemExit(f"{label(case)}: wrong numbers, not timed: {verdict}")
    floor = sum(array.nbytes for array in inputs) + inputs[0].nbytes
    row: dict[str, Any] = {
        "case": label(case),
        "traffic": (stats.gm_read_bytes + stats.gm_write_bytes) / floor,
        "limits": {key: case[key] for key in LIMITED if key in case},
    }
    times: dict[str, list[float]] = {"numpy": [], "fast": [], "checked": []}
    evaluate = NUMPY[case["op"]](inputs, dim)
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
    tensors: int = 3 * math.prod(case["shape"]) * dtypes.parse(case["dtype"]).numpy.itemsize
    return peak / tensors


def run_one(case: dict[str, Any]) -> None:
    run = Run(open_device("sim"), find(case["op"]), inputs_of(case), case.get("dim", -1))
    run.launch()
    run.output()
    # Not getrusage: its maximum counts the parent's memory at the fork, too.
    status = Path("/proc/self/status").read_text()
    print(int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024)  # type: ignore[index]


def label(case: dict[str, Any]) -> str:
    shape = "x".join(map(str, case["shape"]))
    return f"{case['op']} {shape} dim {case.get('dim', -1)} {case['dtype']}"


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
