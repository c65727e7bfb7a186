# SPDX-License-Identifier: Apache-2.0
"""Runs the Python scripts of a unit test and writes down what came of them.

Started by the ``python3`` that ``aclgrad ut`` puts first in PATH, outside of this package: tests
drop the exit codes of their scripts. Needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

MOST_FILES = 4096
MOST_BYTES = 512 << 20


def files_in(folder: Path) -> dict[str, list[int]]:
    """Size and time of every file, by its name below the folder."""
    found: dict[str, list[int]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and len(found) < MOST_FILES:
            stat = path.stat()
            found[str(path.relative_to(folder))] = [stat.st_size, stat.st_mtime_ns]
    return found


def main(python: str, log: Path, words: list[str]) -> int:
    """Run ``python words...``; its files before and after go to ``log/<n>.json``."""
    number = len(list(log.glob("*.json")))
    here = Path.cwd()
    before = files_in(here)
    kept = ""
    if sum(size for size, _ in before.values()) <= MOST_BYTES:
        # Tests remove what they compared.
        kept = str(log / str(number))
        shutil.copytree(here, kept, ignore_dangling_symlinks=True)
    done = subprocess.run([python, *words], capture_output=True, text=True, errors="replace")
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    entry = {
        "words": words,
        "folder": str(here),
        "status": done.returncode,
        "output": done.stdout,
        "errors": done.stderr,
        "before": before,
        "after": files_in(here),
        "kept": kept,
    }
    (log / f"{number}.json").write_text(json.dumps(entry))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(os.path.abspath(sys.argv[2])), sys.argv[3:]))
