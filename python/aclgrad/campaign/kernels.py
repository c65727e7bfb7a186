# SPDX-License-Identifier: Apache-2.0
"""Kernels of other people's checkouts, as scripts/compatibility.py tries them."""

from __future__ import annotations

import importlib
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from aclgrad.campaign.description import CampaignError
from aclgrad.common.cache import root as cache_root
from aclgrad.runtime.toolkit import checkout

Json = dict[str, Any]


@cache
def _script() -> Any:
    source = checkout()
    if source is None:
        raise CampaignError(
            "compatibility: needs a checkout of aclgrad, whose scripts know the libraries. Next:"
            " git clone it, and run the campaign from there"
        )
    for folder in (source / "scripts", source / "python"):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    return importlib.import_module("compatibility")


@cache
def _kernels(path: Path) -> dict[str, Any]:
    found, _ = _script().kernels_of(path)
    return {kernel.name: kernel for kernel in found}


def names(path: Path, only: str) -> list[str]:
    """Kernels of a checkout whose name a regular expression is found in."""
    return [name for name in _kernels(path) if re.search(only, name)]


def tried(word: str) -> Json:
    """Build one and run it; ``word`` is CHECKOUT::NAME."""
    place, _, name = word.partition("::")
    kernel = _kernels(Path(place))[name]
    cache = cache_root() / "compatibility"
    cache.mkdir(exist_ok=True)
    result = _script().attempt(kernel, cache, True)
    row: Json = {"name": name, "dtype": "any", "message": str(result["why"])}
    if result["finding"]:
        return row | {"verdict": "finding", "cause": result["finding"]}
    if result["match"].startswith("mis"):
        return row | {"verdict": "wrong", "cause": result["match"][:200]}
    if result["ran"] == "clean":
        return row | {"verdict": "passed", "cause": result["match"]}
    return row | {"verdict": "failed", "cause": result["why"][:200]}
