# SPDX-License-Identifier: Apache-2.0
"""Which core wrote which element of a result, from the simulator's records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aclgrad.runtime.device import Device


@dataclass(frozen=True)
class Writers:
    """By element of a result: its core (-1 none, -2 several), and a number of the copy."""

    cores: NDArray[np.int32]
    pieces: NDArray[np.int64]


def writers_of(device: Device, count: int, name: str = "") -> Writers | None:
    """Who wrote a result of ``count`` elements: the last launch with such an output, since
    `Device.keep_writers`. None when there is none: on an NPU, in fast mode, or when the result is
    made of several launches' outputs.
    """
    launches = device.written_outputs()
    for launch in reversed(range(len(launches))):
        outputs = launches[launch]["outputs"]
        fitting = [
            at
            for at, output in enumerate(outputs)
            if count and output["bytes"] % count == 0 and output["bytes"] // count in (1, 2, 4, 8)
        ]
        named = [at for at in fitting if outputs[at]["name"] == name] or fitting
        if named:
            size = outputs[named[0]]["bytes"] // count
            writers = Writers(*device.writers(launch, named[0], size, count))
            # Without a single record nobody knows: plain pointers leave none.
            return writers if (writers.cores != -1).any() else None
    return None
