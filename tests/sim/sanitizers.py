# SPDX-License-Identifier: Apache-2.0
"""The sanitizer of this process, and what programs need to load an instrumented build."""

from __future__ import annotations

import os

KINDS = {"address": "libasan", "thread": "libtsan"}


def loaded() -> str | None:
    """Its kind, or None."""
    first = os.environ.get("LD_PRELOAD", "")
    return next((kind for kind, library in KINDS.items() if library in first), None)


def variables() -> dict[str, str]:
    """The environment of a program that is to have nothing else of this process's."""
    if not loaded():
        return {}
    return {k: v for k, v in os.environ.items() if k == "LD_PRELOAD" or k.endswith("SAN_OPTIONS")}
