# SPDX-License-Identifier: Apache-2.0
"""The precision report: a table for people, JSON for programs, HTML to look into, JUnit for CI."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aclgrad.common import files
from aclgrad.reporting import history
from aclgrad.reporting.conditions import Conditions
from aclgrad.reporting.groups import Group, groups_of
from aclgrad.reporting.table import Row, as_json, remarks, rows
from aclgrad.testing.refusals import RefusedCase
from aclgrad.testing.run import Outcome

FORMATS = {"html": "precision.html", "json": "precision.json", "junit": "junit.xml"}
"""File of each format."""


def parse_formats(text: str) -> tuple[str, ...]:
    """``html,json`` -> ("html", "json"), in the order of `FORMATS`."""
    words = [word.strip() for word in text.split(",")]
    if unknown := [word for word in words if word not in FORMATS]:
        raise ValueError(f"report format: got {unknown[0]!r}, want a list like {','.join(FORMATS)}")
    return tuple(name for name in FORMATS if name in words)


def is_formats(text: str) -> bool:
    """Whether every word of a comma list is a format."""
    return all(word.strip() in FORMATS for word in text.split(","))


def write(folder: Path, document: dict[str, Any]) -> Path:
    """Write precision.json into a folder that is made on demand."""
    return _put(folder / FORMATS["json"], json.dumps(document, indent=1) + "\n")


def write_formats(
    folder: Path,
    formats: Sequence[str],
    outcomes: Sequence[Outcome],
    conditions: Conditions,
    refused: Sequence[RefusedCase] = (),
) -> list[Path]:
    """Write the report in every format that is asked for."""
    made = []
    runs: list[dict[str, Any]] = []
    if "html" in formats or "json" in formats:
        runs = [*history.read(folder), history.summary(outcomes, conditions)][-history.KEPT :]
        _put(folder / history.FILE, json.dumps(runs) + "\n")
    if "html" in formats:
        from aclgrad.reporting import html  # its templates take as long as a small run

        made.append(_put(folder / FORMATS["html"], html.page(outcomes, conditions, runs, refused)))
    if "json" in formats:
        made.append(write(folder, as_json(outcomes, conditions, refused)))
    if "junit" in formats:
        from aclgrad.reporting import junit

        made.append(_put(folder / FORMATS["junit"], junit.document(outcomes, conditions, refused)))
    return made


def _put(path: Path, text: str) -> Path:
    files.make_folder(path.parent, "report")
    files.write(path, text, "report")
    return path


__all__ = [
    "FORMATS",
    "Conditions",
    "Group",
    "Row",
    "as_json",
    "groups_of",
    "is_formats",
    "parse_formats",
    "remarks",
    "rows",
    "write",
    "write_formats",
]
