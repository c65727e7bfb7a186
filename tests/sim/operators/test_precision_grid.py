# SPDX-License-Identifier: Apache-2.0
"""The standard case grid of every operator against its golden."""

import pytest

from aclgrad.ops import all_specs, find
from aclgrad.runtime import Device
from aclgrad.spec.cases import Case
from aclgrad.testing.run import run_case

pytestmark = pytest.mark.on_board

CASES = [case for spec in all_specs() for case in spec.cases(spec, False)]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.op}-{case.name}" for case in CASES])
def test_case(case: Case, device: Device, seed: int) -> None:
    outcome = run_case(device, find(case.op), case, seed)
    assert outcome.passed, f"{outcome.message}\nrepeat: pytest -k '{case.name}' --seed {seed}"
