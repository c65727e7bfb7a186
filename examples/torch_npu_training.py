# SPDX-License-Identifier: Apache-2.0
"""A small transformer learns on an NPU of the simulator, beside the same one on the CPU.

aclgrad exec -- python examples/torch_npu_training.py --steps 200

It needs what pip install 'aclgrad[examples]' brings. The task: does a sequence hold more even than
odd tokens. Each of the five operators has its place: attention (scaled masked softmax), pooling
(softmax), class losses (log-softmax and KL divergence) and a margin loss (log-sigmoid).
"""

from __future__ import annotations

import argparse
import copy
import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
import torch_npu
from rich.progress import track
from torch import nn

# By the type's names: A2 and A3 know the last one by its older name.
OPERATORS = (
    ("SoftmaxGrad",),
    ("LogSoftmaxGrad",),
    ("LogSigmoidGrad",),
    ("KlDivLossGrad",),
    ("ScaledMaskedSoftmaxGradV2", "ScaledMaskedSoftmaxGrad"),
)
LENGTH, TOKENS, WIDTH, HEADS = 32, 16, 64, 4


class Attention(nn.Module):
    """Causal self-attention whose softmax is scaled and masked in one operator."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("mask", torch.ones(LENGTH, LENGTH).triu(1).bool()[None, None])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch = x.shape[0]
        parts = self.inputs(x).view(batch, LENGTH, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scores, scale = query @ key.transpose(-1, -2), (WIDTH // HEADS) ** -0.5
        if scores.device.type == "npu":
            weights = torch_npu.npu_scaled_masked_softmax(scores, self.mask, scale, False)
        else:
            weights = torch.softmax((scores * scale).masked_fill(self.mask, -10000.0), -1)
        return self.output((weights @ value).transpose(1, 2).reshape(batch, LENGTH, WIDTH))


class Classifier(nn.Module):
    """Two blocks of attention and a pooling that learns where to look."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, WIDTH)
        self.places = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "before": nn.LayerNorm(WIDTH),
                    "attention": Attention(),
                    "after": nn.LayerNorm(WIDTH),
                    "widen": nn.Sequential(
                        nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)
                    ),
                }
            )
            for _ in range(2)
        )
        self.look = nn.Linear(WIDTH, 1)
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.places
        for block in self.blocks:
            x = x + block["attention"](block["before"](x))
            x = x + block["widen"](block["after"](x))
        weights = F.softmax(self.look(x), dim=1)
        return self.head((weights * x).sum(1))


def loss_of(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Smoothed class loss and a margin between the classes."""
    log_probabilities = F.log_softmax(scores, -1)
    smooth = F.one_hot(labels, 2).to(log_probabilities.dtype) * 0.9 + 0.05
    margin = (scores[:, 1] - scores[:, 0]) * (labels * 2 - 1)
    return (
        F.nll_loss(log_probabilities, labels)
        + F.kl_div(log_probabilities, smooth, reduction="batchmean")
        - F.logsigmoid(margin).mean()
    )


def batches(steps: int, size: int, seed: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The same data on every device."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        tokens = torch.randint(0, TOKENS, (size, LENGTH), generator=generator)
        yield tokens, ((tokens % 2 == 0).sum(1) > LENGTH // 2).long()


def train(model: nn.Module, device: str, precision: str, steps: int, size: int) -> list[float]:
    """Return the loss of each step."""
    model = copy.deepcopy(model).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    scaler = torch.amp.GradScaler(device, enabled=precision == "fp16")
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
    losses: list[Any] = []
    data = batches(steps, size, seed=1)
    for tokens, labels in track(data, f"{precision} on {device}", total=steps):
        optimizer.zero_grad()
        with nullcontext() if dtype is None else torch.autocast(device, dtype=dtype):
            loss = loss_of(model(tokens.to(device)), labels.to(device))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.detach())
    return [float(loss) for loss in losses]


def plot(curves: dict[str, list[float]], path: Path) -> None:
    """Draw the losses, if matplotlib is there."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        print("no picture: pip install 'aclgrad[examples]'")
        return
    figure = Figure(figsize=(7, 4))
    axes = figure.subplots()
    for name, losses in curves.items():
        axes.plot(losses, label=name, linestyle="--" if "cpu" in name else "-")
    axes.set(xlabel="step", ylabel="loss")
    axes.legend()
    figure.savefig(path)
    print(f"picture: {path}")


def main() -> None:
    """Train on both devices, compare the curves, count the kernels."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--precision", choices=("fp32", "bf16", "fp16"), default="fp32")
    parser.add_argument("--out", type=Path, default=Path("training.svg"))
    parser.add_argument("--json", action="store_true", help="print the losses for a program")
    words = parser.parse_args()
    torch.manual_seed(0)
    model = Classifier()
    curves = {
        f"{words.precision} on {device}": train(
            model, device, words.precision, words.steps, words.batch
        )
        for device in ("cpu", "npu")
    }
    from aclgrad_torch_npu import launches

    ran = {names[0]: sum(map(launches, names)) for names in OPERATORS}
    if words.json:
        print(json.dumps({"curves": curves, "launches": ran}))
        return
    for name, losses in curves.items():
        print(f"{name}: loss {losses[0]:.4f} at first, {losses[-1]:.4f} at last")
    apart = max(abs(a - b) for a, b in zip(*curves.values(), strict=True))
    print(f"largest difference of the curves: {apart:.2e}")
    print("launches:", ", ".join(f"{name} {count}" for name, count in ran.items()))
    plot(curves, words.out)


if __name__ == "__main__":
    main()
