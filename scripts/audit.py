#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a version that the lock pins has a known vulnerability.

Without options it compares the pins with requirements/advisories.toml, which needs no network.
``--update FROM`` writes that file anew from a folder or a zip of OSV documents (a clone of
pypa/advisory-database, or OSV's export for PyPI). ``--online`` asks PyPI through pip-audit.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]
from lock import LOCK, ROOT, Pin, normal, pins, read_toml
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

ADVISORIES = "requirements/advisories.toml"
MOST_DAYS = 30
YAML = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C reads a clone of the database in a minute, the other in a quarter of an hour."""


class AuditError(Exception):
    """A message for the user."""


class Advisory(NamedTuple):
    """What databases say of one package; ``sources`` are the ids of their records."""

    id: str
    package: str
    affected: list[str]
    sources: list[str]
    published: datetime.date


def read(root: Path = ROOT) -> dict[str, Any]:
    """The dated file."""
    document = read_toml(root / ADVISORIES)
    for item in document["advisory"]:
        if not item.get("sources") or not isinstance(item.get("published"), datetime.date):
            raise AuditError(f"{ADVISORIES}: {item['id']}: got no sources or no published date")
    known = {item["id"] for item in document["advisory"]}
    for item in document.get("accepted", []):
        if item["id"] not in known or not item["reason"].strip():
            raise AuditError(
                f"{ADVISORIES}: accepted {item['id']}: got no such advisory or no reason"
            )
    if not isinstance(document["date"], datetime.date) or not document["source"]:
        raise AuditError(f"{ADVISORIES}: got no date or no source")
    return document


def vulnerable(found: list[Pin], document: dict[str, Any]) -> list[str]:
    """A line for each pin that an advisory names."""
    accepted = {(item["id"], normal(item["package"])) for item in document.get("accepted", [])}
    lines = []
    for item in document["advisory"]:
        name = normal(item["package"])
        for pin in found:
            if pin.name != name or (item["id"], name) in accepted:
                continue
            for versions in item["affected"]:
                try:
                    hit = SpecifierSet(versions).contains(pin.version, prereleases=True)
                except InvalidSpecifier:
                    raise AuditError(
                        f"{ADVISORIES}: {item['id']}: got {versions!r}, want <2.0,>=1.5"
                    ) from None
                if hit:
                    lines.append(f"{pin.name} {pin.version}: {item['id']} ({versions})")
                    break
    return lines


def documents(source: Path) -> Iterator[dict[str, Any]]:
    """OSV documents of a folder or a zip, JSON or YAML."""
    if source.is_dir():
        files = (path for path in sorted(source.rglob("*")) if ".git" not in path.parts)
        texts = ((path.suffix, path.read_bytes()) for path in files if path.is_file())
        yield from _parsed(texts)
    elif zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            texts = ((Path(name).suffix, archive.read(name)) for name in sorted(archive.namelist()))
            yield from _parsed(texts)
    else:
        raise AuditError(f"--update {source}: got neither a folder nor a zip of OSV documents")


def _parsed(texts: Iterator[tuple[str, bytes]]) -> Iterator[dict[str, Any]]:
    for suffix, data in texts:
        if suffix == ".json":
            document = json.loads(data)
        elif suffix in (".yaml", ".yml"):
            document = YAML(data).get_single_data()
        else:
            continue
        if isinstance(document, dict) and "affected" in document and not document.get("withdrawn"):
            yield document


def public(version: str) -> str:
    """A version without its local label, which no range can have: 2.6.0 of 2.6.0+cu124, which some
    records write as 2.6.0-cu124.
    """
    try:
        return Version(version).public
    except InvalidVersion:
        return Version(version.partition("-")[0]).public


def affected(item: dict[str, Any]) -> list[str]:
    """The versions of one package in an OSV document, as pip writes them."""
    found = []
    for part in item.get("ranges", []):
        if part["type"] != "ECOSYSTEM":
            continue
        low = ""
        events = [
            (kind, public(version)) for event in part["events"] for kind, version in event.items()
        ]
        for kind, version in sorted(events, key=lambda pair: Version(pair[1])):
            if kind == "introduced":
                low = "" if version == "0" else f">={version}"
                found.append(low or ">=0")
            elif kind in ("fixed", "last_affected") and found:
                bound = f"{'<' if kind == 'fixed' else '<='}{version}"
                found[-1] = ",".join(filter(None, (low, bound)))
    return found or [f"=={version}" for version in item.get("versions", [])]


def collect(source: Path, names: set[str]) -> list[Advisory]:
    """Every advisory on a package that is pinned, once for each package that it names."""
    rows: dict[tuple[str, str], Advisory] = {}
    for document in documents(source):
        others = [name for name in document.get("aliases", []) if name.startswith("CVE-")]
        date = datetime.date.fromisoformat(
            str(document.get("published") or document["modified"])[:10]
        )
        for item in document["affected"]:
            package = normal(item["package"]["name"])
            # Versions of other packages may be none that pip knows.
            if item["package"]["ecosystem"] != "PyPI" or package not in names:
                continue
            try:
                versions = affected(item)
            except InvalidVersion as error:
                raise AuditError(f"--update {source}: {document['id']}: {error}") from None
            name = (others or [document["id"]])[0]
            old = rows.get((name, package), Advisory(name, package, [], [], date))
            rows[name, package] = old._replace(
                affected=[*dict.fromkeys([*old.affected, *versions])],
                sources=[*dict.fromkeys([*old.sources, document["id"]])],
                published=min(old.published, date),
            )
    found = sorted(row for row in rows.values() if row.affected)
    if not found:
        raise AuditError(f"--update {source}: got no advisory on any package of {LOCK}")
    return found


def write(rows: list[Advisory], source: str, date: datetime.date, root: Path = ROOT) -> None:
    """Write the dated file; what was accepted with a reason stays where its advisory does."""
    kept = [
        item for item in read(root).get("accepted", []) if item["id"] in {row.id for row in rows}
    ]
    head = (root / ADVISORIES).read_text(encoding="utf-8").split("\n\n")[0]
    parts = [head, f"source = {json.dumps(source)}\ndate = {date.isoformat()}"]
    parts += [
        f"[[accepted]]\nid = {json.dumps(item['id'])}\npackage = {json.dumps(item['package'])}\n"
        f"reason = {json.dumps(item['reason'])}"
        for item in kept
    ]
    parts += [
        f"[[advisory]]\nid = {json.dumps(row.id)}\npackage = {json.dumps(row.package)}\n"
        f"affected = {json.dumps(row.affected)}\nsources = {json.dumps(row.sources)}\n"
        f"published = {row.published.isoformat()}"
        for row in rows
    ]
    (root / ADVISORIES).write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def check(root: Path = ROOT, today: datetime.date | None = None) -> str:
    """Empty, or which pins are vulnerable, or that the file is too old for a release."""
    document = read(root)
    lines = vulnerable(pins((root / LOCK).read_text(encoding="utf-8")), document)
    if lines:
        return (
            "\n  ".join([f"{len(lines)} pins of {LOCK} have a known vulnerability", *lines])
            + "\nNext: scripts/lock.py update --upgrade-package NAME"
        )
    age = ((today or datetime.date.today()) - document["date"]).days
    if today is not None and age > MOST_DAYS:
        return (
            f"{ADVISORIES} is of {document['date']}, at most {MOST_DAYS} days are allowed."
            " Next: scripts/audit.py --update FROM"
        )
    return ""


def online(root: Path = ROOT) -> int:
    """Ask PyPI. A package that it cannot tell of fails the audit."""
    words = ["--strict", "--disable-pip", "--require-hashes", "--progress-spinner", "off"]
    command = [sys.executable, "-I", "-m", "pip_audit", *words, "-r", str(root / LOCK)]
    return subprocess.run(command).returncode


def main() -> int:
    """Do what the options say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", type=Path, metavar="FROM")
    parser.add_argument("--source", help="with --update: name and version of what FROM is")
    parser.add_argument("--date", type=datetime.date.fromisoformat, help="with --update: its date")
    parser.add_argument("--online", action="store_true")
    options = parser.parse_args()
    try:
        if options.online:
            return online()
        if options.update:
            if not options.source or not options.date:
                raise AuditError("--update: want --source TEXT and --date YYYY-MM-DD of FROM")
            names = {pin.name for pin in pins((ROOT / LOCK).read_text(encoding="utf-8"))}
            write(collect(options.update, names), options.source, options.date)
        problem = check()
    except (AuditError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    document = read()
    print(
        f"no pin of {LOCK} is in the {len(document['advisory'])} advisories of {document['date']}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
