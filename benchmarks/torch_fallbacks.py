#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which operators of PyTorch programs run on the CPU, with and without a package of kernels.

    aclgrad build examples/torch_operators
    benchmarks/torch_fallbacks.py --package VENDOR --write docs/torch_npu.md

Each program is two training steps of a model that users have, small, in a process of its own.
VENDOR is the folder that the build prints. torch_npu has to be where this Python finds it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aclgrad.common import page_sections

_ALONE = "ACLGRAD_TORCH_FALLBACKS_PROGRAM"


def _train(torch: Any, parts: Sequence[Any], loss: Callable[[], Any], steps: int = 2) -> None:
    """Run steps of AdamW, with gradients clipped."""
    leaves = [leaf for part in parts for leaf in part.parameters()]
    optimizer = torch.optim.AdamW(leaves, lr=1e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        torch.nn.utils.clip_grad_norm_(leaves, 1.0)
        optimizer.step()
    float(value.detach())


def classifier(torch: Any) -> None:
    """Train an encoder with a pooling over tokens."""
    nn, device = torch.nn, "npu"
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.Embedding(50, 32), nn.TransformerEncoder(layer, 2)).to(device)
    head = nn.Linear(32, 5).to(device)
    tokens = torch.randint(0, 50, (4, 16)).to(device)
    labels = torch.randint(0, 5, (4,)).to(device)

    def loss() -> Any:
        return nn.functional.cross_entropy(head(model(tokens).mean(1)), labels)

    _train(torch, [model, head], loss)


def causal_model(torch: Any) -> None:
    """Train a decoder with a causal mask, RMS norms and gated units, in bf16."""
    nn, device, width = torch.nn, "npu", 32
    table = nn.Embedding(50, width).to(device)
    parts = nn.ModuleDict(
        {
            name: nn.Linear(width, size, bias=False)
            for name, size in (("qkv", 3 * width), ("o", width), ("up", 64), ("gate", 64))
        }
        | {"down": nn.Linear(64, width, bias=False), "head": nn.Linear(width, 50, bias=False)}
    ).to(device)
    tokens = torch.randint(0, 50, (2, 16)).to(device)
    hidden = torch.ones(16, 16).triu(1).bool().to(device)

    def norm(x: Any) -> Any:
        return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6).to(x.dtype)

    def loss() -> Any:
        with torch.autocast("npu", dtype=torch.bfloat16):
            x = table(tokens)
            q, k, v = parts["qkv"](norm(x)).chunk(3, -1)
            scores = (q @ k.transpose(-1, -2) / width**0.5).masked_fill(hidden, float("-inf"))
            x = x + parts["o"](torch.softmax(scores, -1) @ v)
            y = norm(x)
            x = x + parts["down"](nn.functional.silu(parts["gate"](y)) * parts["up"](y))
            logits = parts["head"](norm(x))[:, :-1]
        return nn.functional.cross_entropy(
            logits.reshape(-1, 50).float(), tokens[:, 1:].reshape(-1)
        )

    _train(torch, [table, parts], loss)


def convolutions(torch: Any) -> None:
    """Train convolutions with batch norms."""
    nn, device = torch.nn, "npu"
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 64, 5),
    ).to(device)
    x, labels = torch.randn(4, 3, 16, 16).to(device), torch.randint(0, 5, (4,)).to(device)
    _train(torch, [model], lambda: nn.functional.cross_entropy(model(x), labels))


def denoiser(torch: Any) -> None:
    """Train a perceptron that predicts noise, with sines of the time."""
    nn, device = torch.nn, "npu"
    model = nn.Sequential(nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 16)).to(device)
    x, noise, time = (torch.randn(8, n).to(device) for n in (16, 16, 1))

    def loss() -> Any:
        steps = time * torch.linspace(0.1, 4, 8).to(device)
        waves = torch.cat([steps.sin(), steps.cos()], -1)
        return (model(torch.cat([x + noise, waves], -1)) - noise).pow(2).mean()

    _train(torch, [model], loss)


def distillation(torch: Any) -> None:
    """Train a model on another's probabilities."""
    nn, device = torch.nn, "npu"
    teacher, model = (nn.Linear(16, 10).to(device) for _ in range(2))
    x = torch.randn(8, 16).to(device)

    def loss() -> Any:
        with torch.no_grad():
            goal = torch.softmax(teacher(x) / 2, -1)
        own = torch.log_softmax(model(x) / 2, -1)
        return nn.functional.kl_div(own, goal, reduction="batchmean") * 4

    _train(torch, [model], loss)


def preferences(torch: Any) -> None:
    """Train a model on pairs of answers (DPO)."""
    nn, device = torch.nn, "npu"
    model = nn.Linear(16, 20).to(device)
    x = torch.randn(8, 16).to(device)
    better, worse = (torch.randint(0, 20, (8,)).to(device) for _ in range(2))

    def loss() -> Any:
        logs = torch.log_softmax(model(x), -1)
        margin = -nn.functional.nll_loss(logs, better, reduction="none")
        margin = margin + nn.functional.nll_loss(logs, worse, reduction="none")
        return -nn.functional.logsigmoid(0.1 * margin).mean()

    _train(torch, [model], loss)


PROGRAMS: tuple[Callable[[Any], None], ...] = (
    classifier,
    causal_model,
    convolutions,
    denoiser,
    distillation,
    preferences,
)


def alone(name: str) -> None:
    """Run a program in this process and print what ran."""
    import torch  # type: ignore[import-not-found,unused-ignore]
    import torch_npu  # type: ignore[import-not-found,unused-ignore]  # noqa: F401

    torch.manual_seed(0)
    next(program for program in PROGRAMS if program.__name__ == name)(torch)
    torch.npu.synchronize()
    import aclgrad_torch_npu

    print("RESULT " + json.dumps(aclgrad_torch_npu.report()))


def ran(name: str, package: str | None) -> dict[str, Any]:
    """What ran of a program, in a process of its own."""
    environment = {**os.environ, _ALONE: name, "ACLGRAD_TORCH_FALLBACK": "silent"}
    environment.pop("ASCEND_CUSTOM_OPP_PATH", None)
    if package:
        environment["ASCEND_CUSTOM_OPP_PATH"] = package
    inside = (sys.executable, "-I", "-m", "aclgrad", "exec", "--fast", "--")
    done = subprocess.run(
        [*inside, sys.executable, __file__],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"error: {name} ended with {done.returncode}\n{done.stderr}")
    return dict(json.loads(done.stdout.rpartition("RESULT ")[2]))


def table(package: str, jobs: int) -> str:
    """One row for each program."""
    names = [program.__name__ for program in PROGRAMS]
    with ThreadPoolExecutor(jobs) as pool:
        bare, packed = (
            [pool.submit(ran, name, chosen) for name in names] for chosen in (None, package)
        )
    lines = [
        "| program | calls on the CPU | with the package | launches | still on the CPU |",
        "|---|---|---|---|---|",
    ]
    for name, first, second in zip(names, bare, packed, strict=True):
        before, after = first.result(), second.result()
        calls = [sum(row["calls"] for row in each["fallbacks"]) for each in (before, after)]
        launches = sum(row["launches"] for row in after["kernels"])
        left = ", ".join(row["operator"].removeprefix("aten::") for row in after["fallbacks"])
        title = name.replace("_", " ")
        lines.append(f"| {title} | {calls[0]} | {calls[1]} | {launches} | {left or '-'} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    if name := os.environ.get(_ALONE):
        alone(name)
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--package", required=True, help="the folder that aclgrad build prints")
    parser.add_argument("--jobs", type=int, default=2, help="programs at a time")
    page_sections.add_option(parser)
    words = parser.parse_args(argv)
    made = table(words.package, words.jobs)
    page_sections.show(words.write, "torch_fallbacks", made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
