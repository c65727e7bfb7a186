# SPDX-License-Identifier: Apache-2.0
"""Random numbers of the CPU that follow the NPU's generators.

A generator of torch_npu is a seed and an offset. Each call of a random operator makes a CPU
generator from the two and moves the offset on, so that ``torch.npu.manual_seed``, generator states
and ``fork_rng`` mean what they mean on a device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from aclgrad_torch_npu.host_tensors import npu

_MASK = (1 << 64) - 1
_STEP = 4  # offsets of generators on devices are multiples of it


def is_random(op: Any) -> bool:
    """Whether an operator draws random numbers."""
    return torch.Tag.nondeterministic_seeded in op.tags


def default_generator(device: torch.device) -> torch.Generator:
    """Return a device's own generator."""
    index = npu().current_device() if device.index is None else device.index
    generator: torch.Generator = npu().default_generators[index]
    return generator


def next_seed(generator: torch.Generator) -> int:
    """Take a seed from a generator of an NPU."""
    offset = int(generator.get_offset())
    generator.set_offset(offset + _STEP)
    # splitmix64: neighbouring seeds and offsets give unlike streams.
    mixed = (generator.initial_seed() + (offset + 1) * 0x9E3779B97F4A7C15) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return int((mixed ^ (mixed >> 31)) >> 1)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the CPU's default generator for a while."""
    state = torch.default_generator.get_state()
    torch.default_generator.manual_seed(seed)
    try:
        yield
    finally:
        torch.default_generator.set_state(state)
