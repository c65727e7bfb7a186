# SPDX-License-Identifier: Apache-2.0
"""What a run of pytest came to: by the file that ``--junitxml`` writes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import defusedxml.ElementTree  # type: ignore[import-untyped]

FOLDERS = re.compile(r"(?<![\w./-])/(?:[\w.+-]+/)+")
"""Folders before a name: where a file is says nothing to those who read it elsewhere."""


class Outcomes(NamedTuple):
    """What became of tests."""

    ran: set[str]
    failed: dict[str, str]
    """The first line of what each failed test says, without folders of the machine."""


def outcomes(result: Path) -> Outcomes:
    """Read the file; a test that is skipped counts for nothing."""
    ran: set[str] = set()
    failed: dict[str, str] = {}
    for case in defusedxml.ElementTree.parse(result).getroot().iter("testcase"):
        # A test that fails and then cannot be taken down has two of them.
        name = f"{case.get('classname')}::{case.get('name')}"
        if case.find("skipped") is not None:
            continue
        ran.add(name)
        for end in (*case.findall("failure"), *case.findall("error")):
            lines = [line for line in (end.get("message") or "").splitlines() if line.strip()]
            line = (lines or ["no message"])[0].strip()
            failed.setdefault(name, FOLDERS.sub("", line)[:200])
    return Outcomes(ran, failed)
