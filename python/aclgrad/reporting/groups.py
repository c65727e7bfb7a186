# SPDX-License-Identifier: Apache-2.0
"""Failures by their cause: what one change of the source is likely to fix is one group."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aclgrad.testing.run import Outcome


@dataclass(frozen=True)
class Group:
    """Failures of one cause, in the order in which they ran; the first one speaks for all."""

    title: str
    outcomes: tuple[Outcome, ...]

    @property
    def first(self) -> Outcome:
        """The one that is told in full: the smallest result, as it is the easiest to look at."""
        return min(self.outcomes, key=lambda item: item.report.total if item.report else 0)

    @property
    def op(self) -> str:
        """What reports call the operator."""
        return self.outcomes[0].case.op

    @property
    def count_text(self) -> str:
        """``1 case``, ``208 cases``."""
        return f"{len(self.outcomes)} case{'s' * (len(self.outcomes) > 1)}"


def groups_of(outcomes: Sequence[Outcome]) -> list[Group]:
    """The failures among outcomes, the largest group first."""
    found: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if not outcome.passed:
            found.setdefault((outcome.case.op, _cause(outcome)), []).append(outcome)
    groups = [Group(cause, tuple(items)) for (_, cause), items in found.items()]
    return sorted(groups, key=lambda group: -len(group.outcomes))


def _cause(outcome: Outcome) -> str:
    """Kind and line of a finding, the pattern of wrong elements, or what was said."""
    if outcome.errors:
        finding = outcome.errors[0]
        place = next((p for p in (finding.at, *finding.related) if p.known), None)
        line = f" at {Path(place.file).name}:{place.line}" if place else ""
        return f"{finding.title}{line} ({finding.kind})"
    if outcome.picture is not None:
        return outcome.picture.cause
    if outcome.report is not None:
        return "wrong result"
    # Shapes and addresses are of the case, not of the cause.
    lines = [line.strip() for line in outcome.message.splitlines() if line.strip()]
    return re.sub(r"0x[0-9a-f]+|\d+(?:\s*[x,]\s*\d+)*", "#", lines[0])[:200] if lines else "failed"
