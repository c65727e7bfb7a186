# SPDX-License-Identifier: Apache-2.0
"""What the simulator's checks found: read from its JSON, merged over cases, rendered as text, JSON
and SARIF.

May import: ``common``, ``common.display``.
"""

from aclgrad.findings.finding import (
    Finding,
    Place,
    Slice,
    Timeline,
    consequence,
    errors_of,
    from_json,
    parse,
    read_report,
)
from aclgrad.findings.formats import as_json, render
from aclgrad.findings.kinds import ERROR, HINT, HOST_KINDS, KINDS, RESULT_KINDS, WARNING, Kind
from aclgrad.findings.merged import Merged, Refused, Result, Run, merge, merged_json
from aclgrad.findings.sarif import as_sarif
from aclgrad.findings.text import describe, print_text

__all__ = [
    "ERROR",
    "HINT",
    "KINDS",
    "HOST_KINDS",
    "RESULT_KINDS",
    "WARNING",
    "Finding",
    "Kind",
    "Merged",
    "Place",
    "Refused",
    "Result",
    "Run",
    "Slice",
    "Timeline",
    "as_json",
    "as_sarif",
    "consequence",
    "describe",
    "errors_of",
    "from_json",
    "merge",
    "merged_json",
    "parse",
    "print_text",
    "read_report",
    "render",
]
