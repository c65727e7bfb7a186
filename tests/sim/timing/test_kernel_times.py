# SPDX-License-Identifier: Apache-2.0
"""What the timing model says of the kernels' copies: how they start, and what hides them."""

from __future__ import annotations

import itertools

import pytest

from aclgrad.ops import find
from aclgrad.profiling.calls import profile_op
from aclgrad.profiling.profiled import Profiled
from aclgrad.runtime import Device
from aclgrad.spec import dtypes


def profiled(device: Device, op: str, shape: tuple[int, ...], dtype: str) -> Profiled:
    """The estimate of one call on Ascend910B2."""
    device.set_option("mode", "fast")
    device.set_option("soc", "Ascend910B2")
    spec = find(op)
    return profile_op(device, spec, shape, dtypes.parse(dtype), spec.defaults())


@pytest.mark.parametrize(
    ("shape", "dtype", "least"),
    [
        ((4096, 1000), "fp32", 0.90),
        ((4096, 1000), "fp16", 0.83),
        ((262144, 32), "bf16", 0.89),
        ((1048576, 8), "fp16", 0.90),
        ((1000003, 3), "fp32", 0.80),
        ((300007, 17), "fp16", 0.70),
    ],
)
def test_short_rows_come_near_the_bandwidth_bound(
    shape: tuple[int, ...], dtype: str, least: float, device: Device
) -> None:
    for op in ("softmax_grad", "log_softmax_grad"):
        found = profiled(device, op, shape, dtype)
        assert found.of_bound >= least
        assert found.traffic == 1


@pytest.mark.parametrize("length", [49, 66, 197, 577])
def test_packed_rows_come_near_the_bandwidth_bound(length: int, device: Device) -> None:
    rows = (1 << 22) // length
    for op in ("softmax_grad", "log_softmax_grad"):
        found = profiled(device, op, (rows, length), "fp32")
        assert found.of_bound >= 0.80
        assert found.traffic == 1
    found = profiled(device, "scaled_masked_softmax_grad_v2", (rows // 96, 2, 48, length), "fp32")
    assert found.of_bound >= 0.76
    assert found.traffic == 1


def test_time_per_byte_stays_where_l2_is_full(device: Device) -> None:
    """Rows that share lines are read twice past L2: no more of them than has no place in it."""
    batches = (25, 26, 28)
    each = [profiled(device, "softmax_grad", (n * 16 * 289, 289), "fp16").us / n for n in batches]
    assert all(after <= 1.05 * before for before, after in itertools.pairwise(each))


@pytest.mark.parametrize("op", ["log_sigmoid_grad", "kl_div_loss_grad"])
def test_the_vector_pipe_keeps_up_with_16_bit_copies(op: str, device: Device) -> None:
    """Operands of a tile may start in one bank group of UB (docs/reference/choices.md,
    kApartLanes). That costs a cycle for every 32 elements at most, and the copies hide it.
    """
    found = profiled(device, op, (1 << 24,), "fp16")
    assert found.of_bound >= 0.92
    assert found.kernel["conflictCycles"] <= (1 << 24) / 32


@pytest.mark.parametrize("rows", [3 * 48 * 512, 3 * 48 * 512 + 977])
def test_tiles_of_short_rows_start_on_lines(rows: int, device: Device) -> None:
    found = profiled(device, "softmax_grad", (rows, 16), "fp16")
    cores = found.kernel["cores"]
    # The first tile of each core starts where its rows do.
    assert sum(core["unalignedBlocks"] for core in cores) <= 2 * len(cores)
    assert sum(core["blocks"] for core in cores) >= 7 * len(cores)
