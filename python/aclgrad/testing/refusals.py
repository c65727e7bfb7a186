# SPDX-License-Identifier: Apache-2.0
"""Cases that were left out of a run, because the operator or the SoC does not take them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RefusedCase:
    """A case that was not computed, and what its inference, its tiling or the SoC says."""

    op: str
    case: str
    reason: str
    unsupported: bool = False  # by the SoC: documented, and no choice of the operator's code


@dataclass(frozen=True)
class Reason:
    """Cases of one operator that were left out for one reason."""

    op: str
    text: str
    cases: tuple[str, ...]

    @property
    def line(self) -> str:
        """For people: how many, why, and which is the first."""
        count = len(self.cases)
        return (
            f"{count} case{'s' * (count != 1)} refused: {self.op}: {self.text}; the first is"
            f" {self.cases[0]}"
        )


def reasons(refused: Sequence[RefusedCase]) -> list[Reason]:
    """Group cases by operator and reason; reasons that differ in their numbers only are one."""
    groups: dict[tuple[str, str], list[RefusedCase]] = {}
    for item in refused:
        groups.setdefault((item.op, re.sub(r"\d+", "0", item.reason)), []).append(item)
    return [
        Reason(op, items[0].reason, tuple(item.case for item in items))
        for (op, _), items in groups.items()
    ]


def too_many(refused: Sequence[RefusedCase], tried: Sequence[str]) -> str:
    """Why a run proves too little: an operator refused more cases than were tried. ``tried`` has
    the operator of each case that was. Empty if none did. What the SoC does not support is no
    refusal of the operator's.
    """
    own = [item for item in refused if not item.unsupported]
    for op in dict.fromkeys(item.op for item in own):
        left = sum(item.op == op for item in own)
        done = sum(name == op for name in tried)
        if left > done:
            return (
                f"{op}: {left} case{'s were' if left > 1 else ' was'} refused and {done} tried, so"
                " the run says little. Next: describe the cases that it takes in cases() of"
                f" {op}_golden.py, or --allow-refusals"
            )
    return ""
