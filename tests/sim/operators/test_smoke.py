# SPDX-License-Identifier: Apache-2.0
"""The first test that a new toolkit must pass."""

import numpy as np
import pytest

import aclgrad
from aclgrad.runtime import Device

pytestmark = [pytest.mark.quick, pytest.mark.on_board]


def test_seed_values(device: Device) -> None:
    g = np.arange(8, dtype=np.float32).reshape(4, 2)
    y = np.array([[1, 1], [1, 2], [2, 2], [3, 3]], np.float32)
    got = aclgrad.softmax_backward(g, y, 0, device=device.kind)
    assert got.tolist() == [[-28, -37], [-26, -70], [-48, -66], [-66, -93]]
