#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Walks the list of docs/release.md and stops at the first step that is not done."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True)


def versions(root: Path = ROOT) -> dict[str, str]:
    """Every place that says the version."""
    places = {
        "pyproject.toml": r'^version = "([^"]+)"',
        "python/aclgrad/__init__.py": r'^__version__ = "([^"]+)"',
        "CITATION.cff": r"^version: (\S+)",
    }
    found = {}
    for name, pattern in places.items():
        match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.M)
        found[name] = match[1] if match else "no version"
    return found


def nothing_uncommitted() -> str:
    """Empty, or what is not committed."""
    changed = _run("git", "status", "--porcelain").stdout.splitlines()
    return f"{len(changed)} files, first {changed[0]}. Next: git commit" if changed else ""


def one_version(root: Path = ROOT) -> str:
    """Empty, or the places that differ."""
    found = versions(root)
    return "" if len(set(found.values())) == 1 else ", ".join(f"{k}: {v}" for k, v in found.items())


def changelog(root: Path = ROOT) -> str:
    """Empty, or what CHANGELOG.md lacks."""
    version = versions(root)["pyproject.toml"]
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", text, re.M):
        return f"CHANGELOG.md: no heading '## {version} (YYYY-MM-DD)'"
    unreleased = re.search(r"^## Unreleased\n(.*?)(?=^## )", text, re.M | re.S)
    if unreleased and unreleased[1].strip():
        return f"CHANGELOG.md: entries under 'Unreleased'. Next: move them below {version}"
    return ""


def derived_pages() -> str:
    """Empty, or what the generators changed."""
    for words in (("scripts/reference.py",), ("-m", "aclgrad.codegen", "--docs")):
        done = _run(sys.executable, *words)
        if done.returncode:
            return done.stderr.strip()
    return nothing_uncommitted()


def site() -> str:
    """Empty, or why the site does not build."""
    done = subprocess.run(["scripts/docs.sh"], cwd=ROOT)
    return "" if done.returncode == 0 else "scripts/docs.sh failed, see above"


def tests() -> str:
    """Empty, or how to see what failed."""
    done = subprocess.run([".ci/run"], cwd=ROOT)
    return "" if done.returncode == 0 else ".ci/run failed, see above"


def wheels() -> str:
    """Empty, or how to see which wheel is not what it should be."""
    done = subprocess.run(["scripts/wheel.sh", "--twice"], cwd=ROOT)
    return "" if done.returncode == 0 else "scripts/wheel.sh --twice failed, see above"


STEPS: dict[str, Callable[[], str]] = {
    "Nothing is uncommitted": nothing_uncommitted,
    "One version everywhere": one_version,
    "CHANGELOG.md has it": changelog,
    "Derived pages are up to date": derived_pages,
    "The site builds": site,
    "All tests pass": tests,
    "Wheels for both machines": wheels,
}


def main() -> None:
    """Walk the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-tests", action="store_true", help="leave the last two steps out")
    without = parser.parse_args().without_tests
    for number, (title, step) in enumerate(STEPS.items(), 1):
        if without and step in (tests, wheels):
            print(f"{number}. {title}: left out")
            continue
        problem = step()
        print(f"{number}. {title}: {problem or 'yes'}", flush=True)
        if problem:
            sys.exit(1)
    print("ready: docs/release.md has the commands that follow")


if __name__ == "__main__":
    main()
