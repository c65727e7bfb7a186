# SPDX-License-Identifier: Apache-2.0
"""The timing model's estimates: the same on every host, and as docs/timing_model.md says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aclgrad.errors import AclnnError
from aclgrad.runtime import Device
from aclgrad.spec.dtypes import FLOAT, FLOAT16
from samples import SIGMOID, SOFTMAX, Sample, run, samples

PIPES = ("scalar", "vec", "mte2", "mte3")


def profile(device: Device, sample: Sample, dtype: Any = FLOAT) -> dict[str, Any]:
    """The estimate of the one launch of a call."""
    device.clear_profiles()
    device.set_option("profile", "on")
    try:
        run(device, sample.api, sample.arrays(dtype), sample.attrs)
    finally:
        device.set_option("profile", "off")
    found = device.profiles()
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("sample", samples(), ids=str)
def test_same_on_every_host(sample: Sample, device: Device) -> None:
    want = profile(device, sample)
    assert want["cycles"] > 0
    for core in want["cores"]:
        assert all(0 <= core[pipe] <= core["cycles"] for pipe in PIPES), core
    for threads in (1, 3):
        for mode in ("checked", "fast"):
            device.set_option("threads", str(threads))
            device.set_option("mode", mode)
            assert profile(device, sample) == want, f"{threads} threads, {mode}"


def test_every_instruction_of_ours_has_a_cost(device: Device) -> None:
    for sample in samples():
        found = profile(device, sample, FLOAT16)
        assert found["assumed"] == [], sample
        assert not found["uncounted"], sample


def test_more_work_takes_longer(device: Device) -> None:
    times = [profile(device, Sample(SIGMOID, (rows, 4096)))["cycles"] for rows in (48, 480, 4800)]
    assert times[0] < times[1] < times[2] / 5


def test_memory_bounds_a_large_copy(device: Device) -> None:
    """What reads and writes far more than it computes cannot beat the memory."""
    found = profile(device, Sample(SOFTMAX, (4096, 1024), {"dim": -1}))
    least = found["gmReadBytes"] / found["memoryBytesPerCycle"]
    assert least <= found["cycles"] <= 1.5 * least
    assert found["memoryBytes"] >= found["gmReadBytes"]


def test_unmeasured_socs_say_so(device: Device) -> None:
    device.set_option("soc", "Ascend910A")
    assert profile(device, Sample(SOFTMAX, (64, 128), {"dim": -1}))["evidence"] == "extrapolated"


def test_trace(device: Device, tmp_path: Path) -> None:
    found = profile(device, Sample(SOFTMAX, (64, 1000), {"dim": -1}))
    path = tmp_path / "trace.json"
    device.write_trace(0, [0, 1], path)
    trace = json.loads(path.read_text())
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert {event["pid"] for event in slices} == {"core0.veccore0", "core0.veccore1"}
    assert {"VECTOR", "MTE2", "MTE3"} <= {event["tid"] for event in slices}
    ends = [e["ts"] + e["dur"] for e in slices if e["pid"] == "core0.veccore0"]
    assert max(ends) * found["mhz"] <= found["cores"][0]["cycles"] + 1
    assert any("row_reduce.h:" in event["args"]["code"] for event in slices)
    arrows = [event["ph"] for event in trace["traceEvents"] if event["name"] == "flow"]
    assert arrows.count("s") == arrows.count("t") > 0


@pytest.mark.parametrize(
    ("launch", "cores", "name", "word"),
    [
        (7, [0], "trace.json", "launch 7"),
        (0, [99], "trace.json", "core 99"),
        (0, [0], "no/t", "no/t"),
    ],
)
def test_bad_trace(
    launch: int, cores: list[int], name: str, word: str, device: Device, tmp_path: Path
) -> None:
    profile(device, Sample(SOFTMAX, (64, 128), {"dim": -1}))
    with pytest.raises(AclnnError, match=word):
        device.write_trace(launch, cores, tmp_path / name)
