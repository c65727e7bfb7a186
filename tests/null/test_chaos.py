# SPDX-License-Identifier: Apache-2.0
"""What a result under chaos may differ by: nothing, or what the order of sums rounds."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from aclgrad.findings import ERROR, HINT, Finding
from aclgrad.runtime import Device
from aclgrad.testing import run


class Simulated:
    """A device on which cores add to one place, or do not."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self.kinds = kinds

    def option(self, name: str) -> str:
        return ""

    def set_option(self, name: str, value: str) -> None:
        pass

    def clear_findings(self) -> None:
        pass

    def findings(self) -> tuple[Finding, ...]:
        return tuple(Finding(kind, severity=HINT) for kind in self.kinds)

    def reset_stats(self) -> None:
        pass

    def stats(self) -> None:
        """Nobody counts."""


RESULT: NDArray[np.float32] = np.array([1.0, 1000.0, np.inf], np.float32)


@pytest.mark.parametrize(
    ("kinds", "late", "severity"),
    [
        (("atomic-order",), RESULT, None),
        (("atomic-order",), RESULT + np.float32(0.001), HINT),
        (("atomic-order",), RESULT + np.float32(0.1), ERROR),
        (("atomic-order",), np.array([1.0, np.nan, np.inf], np.float32), ERROR),
        (("atomic-order",), np.array([1, 1000, 7], np.int32), ERROR),
        ((), RESULT + np.float32(0.001), ERROR),
    ],
    ids=["same", "rounded", "wrong", "nan", "integers", "no sum"],
)
def test_difference(
    kinds: tuple[str, ...], late: NDArray[np.generic], severity: str | None
) -> None:
    """The second run gives ``late``."""
    first = RESULT if late.dtype.kind == "f" else late + 1
    results = iter([first, late])
    device = cast(Device, Simulated(kinds))
    checked = run.check_findings(device, "Sum", lambda: next(results), (1,))
    found = [item.severity for item in checked.findings if item.kind == "chaos-difference"]
    assert found == ([severity] if severity else [])
