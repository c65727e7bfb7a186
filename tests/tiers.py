# SPDX-License-Identifier: Apache-2.0
"""Which files of tests scripts/test.sh runs: by the marks in their ``pytestmark``, which are read
without importing anything.
"""

from __future__ import annotations

import re
from pathlib import Path

MARKS = {
    "journey": "compiles whole projects, wheels or installers, or walks the documentation's"
    " commands: only with --all. A tenth of the tests and half of the time",
    "quick": "with --quick too, between two edits: at most a minute on two idle cores with all of"
    " tests/null but what starts many processes",
    "many_processes": "of tests/null, and not with --quick",
    "sanitized": "with --quick --sanitize: at most a minute on an instrumented build",
}
TIERS = ("all", "ordinary", "quick", "sanitized", "journeys")


def marks(path: Path) -> set[str]:
    """The marks of a file."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r"^pytestmark = .*?(?=^[^\s\])]|\Z)", text, re.MULTILINE | re.DOTALL)
    return {*re.findall(r"pytest\.mark\.(\w+)", found[0] if found else "")} & {*MARKS}


def belongs(path: Path, tier: str) -> bool:
    """Whether a file of tests is run."""
    found = marks(path)
    if tier == "quick":
        in_null = "null" in path.parts and "journey" not in found
        return "quick" in found or (in_null and "many_processes" not in found)
    chosen = {"ordinary": "journey" not in found, "journeys": "journey" in found}
    return chosen.get(tier, tier == "all" or tier in found)
