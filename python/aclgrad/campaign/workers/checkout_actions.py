# SPDX-License-Identifier: Apache-2.0
"""The actions of campaigns that scripts/campaign_actions.py of a checkout has: the package that
users install has no fuzzer, no faults to plant and no list of other people's libraries.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

from aclgrad.campaign.plans.description import CampaignError
from aclgrad.campaign.plans.plan import Cell
from aclgrad.runtime.toolkit import checkout

NAMES = frozenset({"fuzz", "compatibility", "mutation", "against"})


class Runner(Protocol):
    """Runs cases, one after the other."""

    def __call__(self, cell: Cell) -> dict[str, object]:
        """The verdict of a case and what belongs to it."""


class Compared(Protocol):
    """One call of an operator that somebody else has too."""

    op: str
    alias: str
    soc: str


class Actions(Protocol):
    """What scripts/campaign_actions.py has."""

    def names(self, path: Path, only: str) -> list[str]:
        """Kernels of a library whose name a regular expression is found in."""

    def mutated(self, word: str, folder: Path) -> list[str]:
        """The operators that a mutation sweep's word means. Raises ValueError."""

    def faults(self, operator: str, trials: int, seed: int, soc: str) -> list[str]:
        """At most ``trials`` faults of what is compiled of an operator for a SoC, as words."""

    def compared(self, path: Path, only: str) -> Mapping[int, Compared]:
        """Calls to compare, by their numbers, of operators whose name a regular expression is found
        in. Raises ValueError.
        """

    def Runner(self, limit: float) -> Runner:
        """Runs cases of at most ``limit`` seconds."""


@cache
def load() -> Actions:
    """The checkout's. Raises `CampaignError` where the package was installed without one."""
    source = checkout()
    if source is None:
        raise CampaignError(
            f"{', '.join(sorted(NAMES))}: need a checkout of aclgrad, whose scripts and tests they"
            " use. Next: git clone it, and run the campaign from there"
        )
    if str(source / "scripts") not in sys.path:
        sys.path.insert(0, str(source / "scripts"))
    found: Actions = importlib.import_module("campaign_actions")
    return found
