# SPDX-License-Identifier: Apache-2.0
"""Findings as JSON, and the choice of a form."""

from __future__ import annotations

import io
import json
from typing import Any

from aclgrad import __version__
from aclgrad.findings.merged import Result, merged_json
from aclgrad.findings.sarif import as_sarif
from aclgrad.findings.text import print_text


def as_json(result: Result) -> dict[str, Any]:
    """Everything, for programs; docs/debugging.md lists the names."""
    return {
        "aclgrad": __version__,
        "conditions": dict(result.conditions),
        "cases": result.cases,
        "errors": result.errors,
        "warnings": result.warnings,
        "hints": result.hints,
        "refused": [vars(item).copy() for item in result.refused],
        "notes": list(result.notes),
        "findings": [merged_json(item) for item in result.found],
    }


def render(result: Result, form: str) -> str:
    """Return the text of a report file: text, json or sarif."""
    if form == "text":
        from aclgrad.common.display.terminal import Terminal

        page = io.StringIO()
        print_text(result, Terminal(page))
        return page.getvalue()
    document = as_json(result) if form == "json" else as_sarif(result)
    return json.dumps(document, indent=1) + "\n"
