#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/pictures anew: pages that aclgrad writes, as chromium shows them.

.venv/bin/python scripts/pictures.py [NAME...]
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aclgrad.common import files

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
TUTORIAL = ROOT / "docs" / "tutorial" / "first_kernel.md"
ACLGRAD = Path(sys.executable).parent / "aclgrad"
WIDTH = 1100
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.M | re.S)
_FINDING_ONLY = """
header, #kinds, #findings > h2, article ~ article, article > .command { display: none }
body { padding: 0 } article { margin: 0 }
"""


@dataclass(frozen=True)
class Picture:
    """What writes the page, into a folder, how high the picture is, and what is left out."""

    page: Callable[[Path], Path]
    height: int
    style: str = ""


def _run(folder: Path, *words: str, status: int = 0) -> None:
    done = subprocess.run([ACLGRAD, *words], cwd=folder, capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"aclgrad {' '.join(words)}: {done.stdout}{done.stderr}")


def profile(folder: Path) -> Path:
    """The page of a profile."""
    page = folder / "profile.html"
    _run(ROOT, "profile", "softmax_grad", "4096x1024", "--cores", "0", "--html", str(page))
    return page


def finding(folder: Path) -> Path:
    """The page of the finding that the tutorial plants in its fourth part."""
    text = TUTORIAL.read_text(encoding="utf-8")
    fourth = text.index("\n## 4. ")
    until = text.index("```console", fourth)
    for kind, title, body in _BLOCK.findall(text[:until]):
        if title:
            files.write(folder / title, body, title)
        elif kind == "diff":
            subprocess.run(["git", "apply"], input=body, text=True, cwd=folder, check=True)
        elif made := re.search(r"^\$ aclgrad (new (\S+)[^&\n]*)", body, re.M):
            _run(folder, *made[1].split())
            folder /= made[2]
    page = folder / "findings.html"
    words = ("--shape", "8x1000", "--dtype", "fp32", "--html", str(page))
    _run(folder, "check", *words, status=1)
    return page


MADE = {
    "profile.png": Picture(profile, 1040),
    "finding.png": Picture(finding, 600, _FINDING_ONLY),
}


def shoot(page: Path, picture: Picture, to: Path) -> None:
    """What a browser shows of the page, in light colours."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        sys.exit("no chromium. Next: apt-get install chromium")
    shown = page.with_suffix(".shown.html")
    text = page.read_text(encoding="utf-8")
    files.write(shown, text.replace("</style>", f"{picture.style}</style>", 1), shown.name)
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    size = f"--window-size={WIDTH},{picture.height}"
    command = [browser, *words, size, f"--screenshot={to}", shown.as_uri()]
    subprocess.run(command, check=True, capture_output=True)


def main(names: list[str]) -> None:
    """Make those that are named, or all."""
    for name in names or MADE:
        with tempfile.TemporaryDirectory() as folder:
            picture = MADE[name]
            shoot(picture.page(Path(folder)), picture, PICTURES / name)
        print(f"docs/pictures/{name}: {(PICTURES / name).stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main(sys.argv[1:])
