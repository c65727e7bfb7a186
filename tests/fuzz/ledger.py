# SPDX-License-Identifier: Apache-2.0
"""Known failures. A failure is only tolerated by an entry here, and an entry needs an issue."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ISSUE = re.compile(r"#[1-9]\d*\b")


@dataclass(frozen=True)
class Finding:
    """A known failure: ``match`` is searched in its repro line and message, ``reason`` says why it
    stays.
    """

    match: str
    reason: str

    def __post_init__(self) -> None:
        """Refuse an entry that nobody could look up, or that would swallow everything."""
        if not _ISSUE.search(self.reason):
            raise ValueError(
                f"reason: got {self.reason!r}, want one that names its issue as '#12'; open one"
            )
        if not self.match or re.search(self.match, "") is not None:
            raise ValueError(f"match: got {self.match!r}, which every failure matches")

    def covers(self, text: str) -> bool:
        """Whether a failure is this one."""
        return re.search(self.match, text) is not None


LEDGER: tuple[Finding, ...] = ()


def excuse(text: str, ledger: tuple[Finding, ...] = LEDGER) -> Finding | None:
    """Return the entry that a failure falls under."""
    return next((finding for finding in ledger if finding.covers(text)), None)


def stale(seen: set[Finding], ledger: tuple[Finding, ...] = LEDGER) -> list[str]:
    """One line per entry that a run should have met and did not."""
    return [
        f"xpass: {finding.match!r} ({finding.reason}) did not fail: fixed? remove the entry"
        for finding in ledger
        if finding not in seen
    ]
