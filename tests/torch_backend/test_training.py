# SPDX-License-Identifier: Apache-2.0
"""Training as its users do it: the example, data loaders, streams, checkpoints of memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import torch

from npu_programs import ROOT, Program

NPU = torch.device("npu", 0)


@pytest.mark.parametrize(("precision", "apart"), [("fp32", 1e-5), ("bf16", 2e-2), ("fp16", 4e-3)])
def test_the_example_learns_as_on_the_cpu(precision: str, apart: float) -> None:
    words = ("--steps", "12", "--batch", "16", "--precision", precision, "--json")
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "torch_npu_training.py"), *words],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "ACLGRAD_SIM_MODE": "fast"},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    cpu, npu = result["curves"].values()
    assert max(abs(a - b) for a, b in zip(cpu, npu, strict=True)) < apart
    steps = {name: count for name, count in result["launches"].items()}
    # Two blocks have attention.
    assert steps.pop("ScaledMaskedSoftmaxGradV2") == 24
    assert set(steps.values()) == {12}, steps


LOADER = """
import sys
import torch
from torch.utils.data import DataLoader, TensorDataset

def main():
    x = torch.arange(64, dtype=torch.float32).view(32, 2).npu().cpu()
    loader = DataLoader(
        TensorDataset(x), batch_size=8, num_workers=2, multiprocessing_context=sys.argv[1]
    )
    print(sum(float(batch.npu().sum()) for (batch,) in loader))

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_data_loader_with_workers(program: Program, method: str) -> None:
    done = program(LOADER.replace("sys.argv[1]", repr(method)))
    assert done.returncode == 0 and "2016.0" in done.stdout, done.stderr


def test_streams_and_events() -> None:
    stream = torch.npu.Stream()
    begin, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
    # The order below is between these two streams.
    assert torch.npu.current_stream() == torch.npu.default_stream()
    x = torch.ones(64, 64, device=NPU)
    with torch.npu.stream(stream):
        stream.wait_stream(torch.npu.default_stream())
        begin.record()
        y = torch._softmax_backward_data(x, x, -1, torch.float32)
        end.record()
    end.synchronize()
    assert end.query() and begin.elapsed_time(end) >= 0
    torch.npu.default_stream().wait_stream(stream)
    assert float((y + 63).abs().max().cpu()) == 0


def test_memory_is_counted() -> None:
    torch.npu.synchronize()
    before = torch.npu.memory_allocated()
    x = torch.empty(1 << 20, device=NPU)
    assert torch.npu.memory_allocated() - before >= 4 << 20
    assert "Allocated memory" in torch.npu.memory_summary()
    del x
    free, total = torch.npu.mem_get_info()
    assert 0 < free <= total
