# SPDX-License-Identifier: Apache-2.0
"""The same operands give the same bits: on every run, core count, thread count, mode, layout."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from aclgrad.runtime import Device
from aclgrad.spec.dtypes import FLOAT, DType
from samples import DTYPES, Sample, run, run_in_layout, samples

pytestmark = pytest.mark.on_board

SAMPLES = samples()
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.label)


def bits(device: Device, sample: Sample, dtype: DType) -> bytes:
    return run(device, sample.api, sample.arrays(dtype), sample.attrs).tobytes()


def digest(device: Device) -> str:
    """One number for the bits of all samples."""
    parts = (bits(device, sample, dtype) for sample in SAMPLES for dtype in DTYPES)
    return hashlib.sha256(b"".join(parts)).hexdigest()


@each_dtype
@each_sample
def test_runs_and_cores(sample: Sample, dtype: DType, device: Device) -> None:
    want = bits(device, sample, dtype)
    for _ in range(3):
        assert bits(device, sample, dtype) == want, "another run"
    if device.kind == "sim":
        for cores in (1, 2, 3, 7, 20, 47, 48):
            device.set_option("cores", str(cores))
            assert bits(device, sample, dtype) == want, f"{cores} cores"


@pytest.mark.sim_only
@each_sample
def test_threads_and_modes(sample: Sample, device: Device) -> None:
    want = bits(device, sample, FLOAT)
    for threads in (1, 2, 3, 4):
        for mode in ("checked", "fast"):
            device.set_option("threads", str(threads))
            device.set_option("mode", mode)
            assert bits(device, sample, FLOAT) == want, f"{threads} threads, {mode}"


@pytest.mark.sim_only
@each_dtype
@each_sample
def test_modes(sample: Sample, dtype: DType, device: Device) -> None:
    results = []
    for mode in ("checked", "fast"):
        device.set_option("mode", mode)
        results.append(bits(device, sample, dtype))
    assert results[0] == results[1]


@each_dtype
@each_sample
def test_layouts(sample: Sample, dtype: DType, device: Device) -> None:
    arrays = sample.arrays(dtype)
    want = run(device, sample.api, arrays, sample.attrs).tobytes()
    for layout, out_layout in (
        ("contiguous", "contiguous"),
        ("offset", "contiguous"),
        ("gaps", "contiguous"),
        ("transposed", "contiguous"),
        ("contiguous", "offset"),
        ("contiguous", "gaps"),
        ("contiguous", "transposed"),
        ("transposed", "gaps"),
        ("offset", "transposed"),
    ):
        got = run_in_layout(device, sample.api, arrays, sample.attrs, layout, out_layout)
        assert got.tobytes() == want, f"{layout} > {out_layout}"


@each_sample
def test_expanded_inputs_equal_their_copies(sample: Sample, device: Device) -> None:
    expanded = {
        name: np.broadcast_to(array[:1], array.shape) if array.ndim else array
        for name, array in sample.arrays(FLOAT).items()
    }
    copies = {name: array.copy() for name, array in expanded.items()}
    want = run(device, sample.api, copies, sample.attrs).tobytes()
    assert run(device, sample.api, expanded, sample.attrs).tobytes() == want
    laid_out = run_in_layout(device, sample.api, copies, sample.attrs, "expanded", "contiguous")
    assert laid_out.tobytes() == want


@pytest.mark.sim_only
def test_another_process(device: Device) -> None:
    for name, value in (("mode", "fast"), ("threads", "1"), ("cores", "5")):
        device.set_option(name, value)
    want = digest(device)
    folders = Path(__file__).parents[:3]
    environment = {
        **os.environ,
        "ACLGRAD_SIM_MODE": "checked",
        "ACLGRAD_SIM_THREADS": "3",
        "ACLGRAD_SIM_CORES": "",
        "PYTHONPATH": os.pathsep.join([*map(str, folders), *filter(None, sys.path)]),
    }
    del environment["ACLGRAD_SIM_CORES"]
    code = "import test_determinism as t, aclgrad.runtime as r; print(t.digest(r.open_device()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stdout.strip() == want, done.stderr
