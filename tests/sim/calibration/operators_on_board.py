# SPDX-License-Identifier: Apache-2.0
"""Prints the modelled times and a sum of the bits of the operators on a small grid, as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import aclgrad
from aclgrad import runtime


def calls() -> dict[str, Callable[[], Any]]:
    """Each operator on rows that are whole, odd and long, in two dtypes."""
    found: dict[str, Callable[[], Any]] = {}
    for rows, row in ((64, 128), (768, 197), (96, 4096), (2048, 1024)):
        for dtype in (np.float32, np.float16):
            rng = np.random.default_rng(row)
            x, y = (rng.standard_normal((rows, row)).astype(dtype) for _ in range(2))
            name = f"{rows}x{row} {dtype.__name__}"
            mask = np.zeros((1, 1, rows, row), dtype=bool)
            name = f"{rows}x{row} {dtype.__name__}"
            masked = (x.reshape(1, 1, rows, row), y.reshape(1, 1, rows, row), mask, 0.5)
            found |= {
                f"softmax {name}": partial(aclgrad.softmax_backward, x, y, dim=-1),
                f"softmax {name} dim 0": partial(aclgrad.softmax_backward, x, y, dim=0),
                f"log_softmax {name}": partial(aclgrad.log_softmax_backward, x, y, dim=-1),
                f"log_sigmoid {name}": partial(aclgrad.log_sigmoid_backward, x, y),
                f"kl_div {name}": partial(aclgrad.kl_div_backward, x, y, y),
                f"masked {name}": partial(aclgrad.scaled_masked_softmax_backward, *masked),
            }
    return found


def main() -> None:
    """Run all of them."""
    device = runtime.open_device("sim")
    device.set_option("profile", "on")
    told = {}
    for name, call in calls().items():
        device.clear_profiles()
        bits = hashlib.sha256(np.ascontiguousarray(call()).tobytes()).hexdigest()
        launches: list[dict[str, Any]] = device.profiles()
        told[name] = (sum(one["microseconds"] for one in launches), bits)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
