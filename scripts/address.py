# SPDX-License-Identifier: Apache-2.0
"""The address of the repository: one setting, ``Repository`` below ``[project.urls]`` in
pyproject.toml. The site, CITATION.cff and the metadata of wheels take it from there. A tree without
it is whole: pages then show paths in place of links to sources, and a release is refused.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTING = 'Repository = "https://HOST/OWNER/aclgrad" below [project.urls] in pyproject.toml'
_LINE = re.compile(r"^repository-code: .*\n", re.M)


def repository(root: Path = ROOT) -> str:
    """The address, or nothing."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    section = re.search(r"^\[project\.urls\]\n(.*?)(?=^\[|\Z)", text, re.M | re.S)
    found = section and re.search(r'^Repository\s*=\s*"([^"]*)"', section[1], re.M)
    return found[1].rstrip("/") if found else ""


def citation(root: Path = ROOT) -> str:
    """CITATION.cff with the address, or without one."""
    text = _LINE.sub("", (root / "CITATION.cff").read_text(encoding="utf-8"))
    address = repository(root)
    return f"{text}repository-code: {address}\n" if address else text
