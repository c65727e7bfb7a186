# SPDX-License-Identifier: Apache-2.0
"""Calls that PyTorch's CPU has to have had before threads share them.

oneMKL chooses the kernel of a vector function in its first call. Before 2025.0, threads that are in
that call together may get one of half the precision, once: erf is off by 1e-4 then
(pytorch/pytorch#188792). PyTorch 2.13 has oneMKL 2024.2. An operator that runs on the CPU in a
program of several threads would meet it, and so would what its result is compared with.
"""

from __future__ import annotations

import torch  # type: ignore[import-not-found,unused-ignore]

FUNCTIONS = (
    *("acos", "asin", "atan", "cos", "erf", "erfc", "erfinv", "exp"),
    *("log", "log10", "log2", "sin", "sqrt", "tan", "tanh", "trunc"),
)
"""What ATen/cpu/vml.h takes from oneMKL."""


def make() -> None:
    """Call each function once, on one thread; 6 ms."""
    for dtype in (torch.float32, torch.float64):
        half = torch.full((1,), 0.5, dtype=dtype, device="cpu")
        for name in FUNCTIONS:
            getattr(torch, name)(half)
