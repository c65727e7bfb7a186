# SPDX-License-Identifier: Apache-2.0
"""Workers of a pool (fork, forkserver, spawn) or of torch's DataLoader compute while the parent's
device is in use. Usage: fork_workers.py METHOD|torch
"""

from __future__ import annotations

import multiprocessing
import sys

import numpy as np

import aclgrad


def halved(rows: int) -> float:
    """What a worker computes: -3."""
    grad = np.full((rows, 8), 2.0, np.float32)
    return float(aclgrad.softmax_backward(grad, np.full_like(grad, 0.5), dim=-1)[0, 0])


class Rows:
    """A dataset of eight calls."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> float:
        return halved(index + 1)


def loaded() -> list[float]:
    """The dataset by two forked workers."""
    import torch

    loader = torch.utils.data.DataLoader(
        Rows(), batch_size=2, num_workers=2, multiprocessing_context="fork", timeout=120
    )
    return torch.cat(list(loader)).tolist()


def main(method: str) -> None:
    """Computes in the parent before and after the workers."""
    halved(1)
    if method == "torch":
        found = loaded()
    else:
        with multiprocessing.get_context(method).Pool(2) as pool:
            found = pool.map_async(halved, range(1, 9)).get(120)
    assert found == [-3.0] * 8, found
    assert halved(1) == -3.0


if __name__ == "__main__":
    main(sys.argv[1])
