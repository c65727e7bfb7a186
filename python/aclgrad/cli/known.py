# SPDX-License-Identifier: Apache-2.0
"""Findings that somebody knows of and leaves for now: ``aclgrad-known.toml``, in which each entry
has a reason and an end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from aclgrad.common import files
from aclgrad.common.data import parse_toml
from aclgrad.findings import Merged, Result
from aclgrad.findings.kinds import HINT, KINDS

NAME = "aclgrad-known.toml"
_WORDS = {"kind", "file", "op", "reason", "until"}
_ADVICE = "docs/debugging.md, known findings, shows an entry"


@dataclasses.dataclass(frozen=True)
class Known:
    """One entry."""

    kind: str
    reason: str
    until: date
    file: str = ""
    op: str = ""

    def covers(self, item: Merged) -> bool:
        """Whether it names a finding: by kind, and by source file and operator where it says so."""
        finding = item.finding
        sources = [place.file for place in (finding.at, *finding.related)]
        here = not self.file or any(
            file == self.file or file.endswith(f"/{self.file}") for file in sources
        )
        return finding.kind == self.kind and here and self.op in ("", finding.op)

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.file, self.op)))


def read(path: Path) -> list[Known]:
    """The entries of a file. Raises ValueError that names what is wrong."""
    text = files.read(path, str(path), _ADVICE).decode("utf-8", "replace")
    try:
        document = parse_toml(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}. Next: {_ADVICE}") from None
    entries = document.pop("known", [])
    if document or not isinstance(entries, list):
        raise ValueError(f"{path}: want tables [[known]] alone. Next: {_ADVICE}")
    return [_entry(path, number, entry) for number, entry in enumerate(entries, 1)]


def _entry(path: Path, number: int, entry: object) -> Known:
    def refuse(why: str) -> ValueError:
        return ValueError(f"{path}: entry {number}: {why}. Next: {_ADVICE}")

    if not isinstance(entry, dict) or not {"kind", "reason", "until"} <= entry.keys() <= _WORDS:
        raise refuse("want kind, reason and until, and if need be file and op")
    words = {name: value for name, value in entry.items() if name != "until"}
    if not all(isinstance(value, str) and value.strip() for value in words.values()):
        raise refuse("want text for kind, reason, file and op")
    if entry["kind"] not in KINDS:
        raise refuse(f"kind: got {entry['kind']!r}, which no finding has")
    if type(entry["until"]) is not date:
        raise refuse(f"until: got {entry['until']!r}, want a date such as 2026-12-31")
    return Known(until=entry["until"], **words)


def apply(result: Result, known: Sequence[Known], today: date) -> tuple[Result, list[str]]:
    """The result without findings that are known, and what to say of them. An entry past its end
    leaves its findings in the result.
    """
    said = []
    left = list(result.found)
    for entry in known:
        hit = [item for item in left if item.finding.severity != HINT and entry.covers(item)]
        if not hit:
            said.append(f"known: {entry}: not found any more; remove the entry")
        elif entry.until < today:
            said.append(f"known: {entry}: expired on {entry.until}: {entry.reason}")
        else:
            left = [item for item in left if item not in hit]
            said.append(f"known until {entry.until}: {len(hit)} {entry}: {entry.reason}")
    return dataclasses.replace(result, found=tuple(left)), said


def levels(known: Sequence[Known], today: date) -> tuple[list[str], list[str]]:
    """Entries as words of ACLGRAD_FINDINGS, by which their findings are warnings, and what to say
    of them. The variable cannot name operators, so an entry for one alone stays without effect.
    """
    words, said = [], []
    for entry in known:
        if entry.until < today:
            said.append(f"known: {entry}: expired on {entry.until}: {entry.reason}")
        elif entry.op:
            said.append(f"known: {entry}: exec knows no operators; name a file instead")
        else:
            words.append(f"{entry.kind}@{entry.file}=warn" if entry.file else f"{entry.kind}=warn")
            said.append(f"known until {entry.until}: {entry}: {entry.reason}")
    return words, said
