#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Walks the list of docs/release.md. Steps that take minutes come last, and only when all before
them are done.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import address
import audit

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
    dated = re.search(rf"^## {re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)$", text, re.M)
    if not dated:
        return f"CHANGELOG.md: no heading '## {version} (YYYY-MM-DD)'"
    unreleased = re.search(r"^## Unreleased\n(.*?)(?=^## )", text, re.M | re.S)
    if unreleased and unreleased[1].strip():
        return f"CHANGELOG.md: entries under 'Unreleased'. Next: move them below {version}"
    if f"date-released: {dated[1]}\n" not in (root / "CITATION.cff").read_text(encoding="utf-8"):
        return f"CITATION.cff: date-released is not CHANGELOG.md's {dated[1]}"
    return ""


def one_address(root: Path = ROOT) -> str:
    """Empty, or what the address of the repository lacks."""
    found = address.repository(root)
    if not found:
        return f"there is none. Next: {address.SETTING}, then scripts/reference.py"
    if not re.fullmatch(r"https://[\w.-]+/[\w./-]+", found):
        return f"got {found!r}, want https://HOST/OWNER/NAME. Next: {address.SETTING}"
    if (root / "CITATION.cff").read_text(encoding="utf-8") != address.citation(root):
        return f"CITATION.cff does not name {found}. Next: scripts/reference.py"
    return ""


def derived_pages() -> str:
    """Empty, or what the generators changed."""
    for words in (("scripts/reference.py",), ("-m", "aclgrad.codegen", "--docs")):
        done = _run(sys.executable, *words)
        if done.returncode:
            return done.stderr.strip()
    return nothing_uncommitted()


def advisories() -> str:
    """Empty, or the pins that have a known vulnerability, or why nobody can tell."""
    problem = audit.check(today=datetime.date.today())
    if not problem and audit.online():
        problem = "PyPI's advisories name a pin or cannot be had, see above"
    return problem


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
    "The repository has an address": one_address,
    "Derived pages are up to date": derived_pages,
    "No pin has a known vulnerability": advisories,
    "The site builds": site,
    "All tests pass": tests,
    "Wheels for both machines": wheels,
}


LONG = (site, tests, wheels)


def main() -> None:
    """Walk the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=int, action="append", metavar="N", help="only this one")
    chosen = parser.parse_args().step or [*range(1, len(STEPS) + 1)]
    missing: list[int] = []
    for number, (title, step) in enumerate(STEPS.items(), 1):
        if number not in chosen:
            continue
        if missing and step in LONG:
            print(f"{number}. {title}: not tried", flush=True)
            continue
        problem = step()
        print(f"{number}. {title}: {problem or 'yes'}", flush=True)
        if problem:
            missing.append(number)
    if missing:
        sys.exit(f"not done: {', '.join(map(str, missing))}")
    if len(chosen) == len(STEPS):
        print("ready: docs/release.md has the commands that follow")


if __name__ == "__main__":
    main()
