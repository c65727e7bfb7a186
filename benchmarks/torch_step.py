#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processor time of a training step of examples/torch_npu_training.py, on both devices.

    benchmarks/torch_step.py --write docs/torch_npu.md

Rounds of both devices take turns in one process, so that what else the machine does meets both.
Processor time is that of all threads of the process; PyTorch's own operators have one thread.
torch_npu has to be where this Python finds it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from aclgrad.common import page_sections

ROOT = Path(__file__).resolve().parents[1]
_STEPS = 3
"""Steps of a round."""

_ALONE = "ACLGRAD_TORCH_STEP_ROUNDS"


def _step_on(device: str, torch: Any, example: Any) -> Callable[[], None]:
    """A step of the example's model, and what it needs."""
    torch.manual_seed(0)
    model = example.Classifier().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    tokens, labels = next(iter(example.batches(1, 64, seed=1)))

    def step() -> None:
        optimizer.zero_grad()
        loss = example.loss_of(model(tokens.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        float(loss.detach())

    return step


def measure(rounds: int) -> dict[str, list[float]]:
    """Milliseconds of processor time of a step: a figure for each round, by device."""
    torch = importlib.import_module("torch")
    sys.path.insert(0, str(ROOT / "examples"))
    example = importlib.import_module("torch_npu_training")
    torch.set_num_threads(1)
    steps = {device: _step_on(device, torch, example) for device in ("cpu", "npu")}
    for step in steps.values():
        for _ in range(_STEPS):
            step()
    figures: dict[str, list[float]] = {device: [] for device in steps}
    for _ in range(rounds):
        for device, step in steps.items():
            begin = time.process_time()
            for _ in range(_STEPS):
                step()
            figures[device].append((time.process_time() - begin) / _STEPS * 1e3)
    return figures


def table(rounds: int) -> str:
    """A row for each mode of the simulator."""
    lines = [
        f"| mode | CPU, ms | simulated NPU, ms | times the CPU's, and range of {rounds} |",
        "|---|---|---|---|",
    ]
    for mode, options in (("`--fast`", ("--fast",)), ("checked", ())):
        command = [sys.executable, "-I", "-m", "aclgrad", "exec", *options, "--", sys.executable]
        done = subprocess.run(
            [*command, __file__],
            env={**os.environ, _ALONE: str(rounds), "ACLGRAD_TORCH_FALLBACK": "silent"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        figures = json.loads(done.stdout.splitlines()[-1])
        cpu, npu = figures["cpu"], figures["npu"]
        ratios = sorted(mine / its for mine, its in zip(npu, cpu, strict=True))
        lines.append(
            f"| {mode} | {statistics.median(cpu):.0f} | {statistics.median(npu):.0f}"
            f" | {statistics.median(ratios):.1f}, {ratios[0]:.1f} to {ratios[-1]:.1f} |"
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    if rounds := os.environ.get(_ALONE):
        print(json.dumps(measure(int(rounds))), flush=True)
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    page_sections.add_option(parser)
    words = parser.parse_args(argv)
    page_sections.show(words.write, "torch_step", table(words.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
