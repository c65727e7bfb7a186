#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lock, requirements/locked.txt: what is wanted, and the files that are taken for it.

``lock.py wanted EXTRA...`` prints what the package wants with these extras, its build and its tools
included. ``lock.py pins NAME...`` prints the pins of packages. ``lock.py update [WORD...]`` makes
the lock anew with uv, to which the words go: ``--upgrade``, ``--upgrade-package NAME``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib


ROOT = Path(__file__).resolve().parent.parent
LOCK = "requirements/locked.txt"
TOOLS = "requirements/tools.in"
OTHER_BUILDS = "requirements/other_builds.txt"


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file, with the standard library's reader or the one that pip brings."""
    document: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return document


class Pin(NamedTuple):
    """One version of one package, and the sums of its files."""

    name: str
    version: str
    marker: str
    sums: tuple[str, ...]

    @property
    def text(self) -> str:
        """The pin as requirements files have it."""
        marker = f" ; {self.marker}" if self.marker else ""
        sums = "".join(f" \\\n    --hash=sha256:{digest}" for digest in self.sums)
        return f"{self.name}=={self.version}{marker}{sums}\n"


def normal(name: str) -> str:
    """The one name of a package that can be written in several ways."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text: str) -> list[Pin]:
    """What a lock pins."""
    found = []
    for block in re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", text, flags=re.M).strip()):
        head = re.fullmatch(r"([\w.-]+)==(\S+?)(?: *; *(.*?))?\s*\\", block.split("\n")[0])
        sums = tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", block))
        if head is None or not sums:
            raise ValueError(f"{LOCK}: got {block[:80]!r}, want NAME==VERSION and its sums")
        found.append(Pin(normal(head[1]), head[2], head[3] or "", sums))
    return found


def wanted(extras: Iterable[str], root: Path = ROOT) -> list[str]:
    """What the package wants with these extras, with what builds it and the tools."""
    document = read_toml(root / "pyproject.toml")
    project = document["project"]

    def of(extra: str) -> Iterator[str]:
        for item in project["optional-dependencies"][extra]:
            own = re.match(rf"{project['name']}\[(.*)\]", item)
            if own is None:
                yield item
            else:
                for inner in own[1].split(","):
                    yield from of(inner.strip())

    tools = (root / TOOLS).read_text(encoding="utf-8").splitlines()
    items = [line for line in tools if line and not line.startswith("#")]
    items += [*document["build-system"]["requires"], *project["dependencies"]]
    items += [item for extra in extras for item in of(extra)]
    return [*dict.fromkeys(items)]


def extras(root: Path = ROOT) -> list[str]:
    """The names of all extras."""
    document = read_toml(root / "pyproject.toml")
    return [*document["project"]["optional-dependencies"]]


def with_other_builds(text: str, root: Path = ROOT) -> str:
    """The lock, in which a package's sums have those of its builds that the index does not have."""
    others = pins((root / OTHER_BUILDS).read_text(encoding="utf-8"))
    made = []
    for pin in pins(text):
        more = {
            digest
            for other in others
            if (other.name, other.version.partition("+")[0]) == (pin.name, pin.version)
            for digest in other.sums
        }
        made.append(pin._replace(sums=tuple(sorted({*pin.sums, *more}))).text)
    return "".join(made)


def update(words: Iterable[str], root: Path = ROOT) -> None:
    """Make the lock anew. Versions stay unless the words say otherwise."""
    command = ["uv", "pip", "compile", "--universal", "--python-version", "3.10", "-q"]
    command += ["--generate-hashes", "--no-header", "--no-annotate", "-o", LOCK, *words]
    command += ["pyproject.toml", TOOLS]
    command += [word for extra in extras(root) for word in ("--extra", extra)]
    subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
    lock = root / LOCK
    lock.write_text(with_other_builds(lock.read_text(encoding="utf-8"), root), encoding="utf-8")


def main() -> None:
    """Do what the first word says."""
    command, *words = sys.argv[1:] or ("",)
    if command == "wanted":
        print("\n".join(wanted(words)))
    elif command == "pins" and words:
        names = [normal(word) for word in words]
        found = [pin for pin in pins((ROOT / LOCK).read_text("utf-8")) if pin.name in names]
        if missing := {*names} - {pin.name for pin in found}:
            sys.exit(
                f"error: {LOCK} has no {', '.join(sorted(missing))}. Next: scripts/lock.py update"
            )
        print("".join(pin.text for pin in found), end="")
    elif command == "update":
        update(words)
    else:
        sys.exit(f"error: got {sys.argv[1:]}, want wanted, pins or update. Next: see {__file__}")


if __name__ == "__main__":
    main()
