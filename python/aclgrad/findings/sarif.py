# SPDX-License-Identifier: Apache-2.0
"""Findings as SARIF, which code hosts and editors read."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aclgrad import __version__
from aclgrad.common import files
from aclgrad.common.display.visible import visible
from aclgrad.findings.finding import Finding, Place
from aclgrad.findings.kinds import ERROR, WARNING
from aclgrad.findings.merged import Merged, Result, merged_json
from aclgrad.findings.text import _relative


def as_sarif(result: Result, root: Path | None = None) -> dict[str, Any]:
    """SARIF 2.1.0. Locations below ``root`` are relative to it, as code hosts want them."""
    root = root or files.repository(Path.cwd())  # code hosts count paths from there
    kinds: dict[str, Finding] = {}
    for item in result.found:
        kinds.setdefault(item.finding.kind, item.finding)
    order = list(kinds)
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "aclgrad check",
                        "version": __version__,
                        "rules": [_rule(finding) for finding in kinds.values()],
                    }
                },
                "originalUriBaseIds": {"SRCROOT": {"uri": root.as_uri().rstrip("/") + "/"}},
                "invocations": [{"executionSuccessful": True}],
                "properties": {**result.conditions, "cases": result.cases},
                "results": [
                    _sarif_result(item, order.index(item.finding.kind), root)
                    for item in result.found
                ],
            }
        ],
    }
    return {name: _shown(value) for name, value in document.items()}


def _shown(value: Any, name: str = "") -> Any:
    """Texts of others as they are: SARIF takes ``[x](1)`` in a message for a link."""
    if isinstance(value, dict):
        return {
            key: _shown(item, f"{name}.{key}" if key == "text" else key)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if not isinstance(value, str):
        return value
    shown = visible(value)
    return shown.replace("](", "\\](") if name == "message.text" else shown


def _level(severity: str) -> str:
    return {ERROR: "error", WARNING: "warning"}.get(severity, "note")


def _rule(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.kind,
        "name": "".join(map(str.capitalize, re.findall(r"[A-Za-z]+", finding.kind))) or "Finding",
        "shortDescription": {"text": finding.title},
        "help": {"text": finding.advice or finding.title},
        "defaultConfiguration": {"level": _level(finding.severity)},
    }


def _sarif_result(item: Merged, rule: int, root: Path) -> dict[str, Any]:
    finding = item.finding
    parts = [finding.title, finding.where, *finding.detail.splitlines(), finding.advice]
    parts += [*finding.going_on, *finding.on_invented]
    if item.repro:
        parts.append(f"Repeat: {item.repro}")
    print_hash = hashlib.sha256(repr((finding.kind, finding.op, finding.at.text)).encode())
    # A place that only the end of the kernel shows has no line, but the other end may.
    first, *others = [p for p in (finding.at, *finding.related) if p.known] or [finding.at]
    return {
        "ruleId": finding.kind,
        "ruleIndex": rule,
        "level": _level(finding.severity),
        "message": {"text": "\n".join(part.strip() for part in parts if part)},
        "locations": [_location(first, root, finding.op)],
        "relatedLocations": [
            {**_location(place, root, finding.op), "id": number, "message": {"text": _note(place)}}
            for number, place in enumerate(others)
        ],
        "partialFingerprints": {"kindOpSource/v1": print_hash.hexdigest()[:32]},
        "properties": {
            name: value
            for name, value in merged_json(item).items()
            if name not in ("kind", "title", "severity", "at", "related", "detail", "advice")
        },
    }


def _note(place: Place) -> str:
    return ", which ".join(filter(None, (place.name, place.note))) or "the other end"


def _location(place: Place, root: Path, op: str) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if place.known:
        path = Path(place.file)
        if path.is_absolute() and not path.is_relative_to(root):
            artifact = {"uri": path.as_uri()}
        else:
            artifact = {
                "uri": quote(_relative(place.file, root), errors="surrogateescape"),
                "uriBaseId": "SRCROOT",
            }
        region: dict[str, Any] = {"startLine": place.line}
        if place.text:
            region["snippet"] = {"text": place.text}
        location["physicalLocation"] = {"artifactLocation": artifact, "region": region}
    if op:
        location["logicalLocations"] = [{"fullyQualifiedName": op, "kind": "function"}]
    return location
