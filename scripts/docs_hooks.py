# SPDX-License-Identifier: Apache-2.0
"""What the site needs beyond its pages, for mkdocs (``hooks`` of mkdocs.yml).

Links to files outside of docs/ (sources, examples) work on a code host. The site shows their path,
or links to the repository if pyproject.toml has its address.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any
from urllib.parse import urlsplit

import address

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)#\s]+|[\w./-]+\.yml)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """Name the repository in the head of each page."""
    if found := address.repository():
        config.repo_url, config.repo_name = found, urlsplit(found).path.strip("/")
    return config


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Replace links that lead out of docs/."""
    folder = posixpath.dirname(page.file.src_uri)

    def outside(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", folder, found[2]))
        if path.startswith("docs/") and not path.endswith(".yml"):
            return found[0]
        if config.repo_url:
            return f"[{found[1]}]({config.repo_url.rstrip('/')}/blob/main/{path})"
        return found[1] if found[1].strip("`") == path else f"{found[1]} (`{path}`)"

    return _LINK.sub(outside, markdown)
