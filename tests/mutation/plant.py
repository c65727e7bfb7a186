# SPDX-License-Identifier: Apache-2.0
"""The cases of ``do = "mutation"``: which faults an operator gets, and what becomes of one."""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from aclgrad.common.cache import root as cache_root
from aclgrad.reading.sources import OTHER_ARCHITECTURE
from aclgrad.spec.soc import family_of
from mutation import faults, verdict
from mutation.judged import judged

KERNEL_SUFFIXES = (".cpp", ".h", ".asc")
_SCAFFOLD = "new:"


class Unknown(ValueError):
    """A word that names no operator."""


def operators(word: str, folder: Path) -> list[str]:
    """The operators that a word of a campaign file means: folders and programs by a pattern,
    ``new:KIND``.
    """
    if word.startswith(_SCAFFOLD):
        return [word]
    pattern = str(Path(os.path.expandvars(word)).expanduser())
    if unset := re.search(r"\$\{?(\w+)", pattern):
        raise Unknown(
            f"{word}: {unset[1]} is not set. Next: git clone the library,"
            f" {unset[1]}=/path/to/it aclgrad campaign ..."
        )
    top = Path(os.path.expandvars(word.partition("/")[0]))
    if word.startswith("$") and not top.is_dir():
        raise Unknown(f"{word}: {top}: no such folder. Next: git clone the library there")
    base = Path("/") if Path(pattern).is_absolute() else folder.resolve()
    found = (
        sorted(base.glob(pattern.lstrip("/"))) if "*" in pattern else [(base / pattern).resolve()]
    )
    kept = [path.resolve() for path in found if path.suffix == ".asc" or _is_project(path)]
    if not kept:
        raise Unknown(f"{word}: no operator project (a folder with OP_ADD) and no .asc program")
    return [str(path) for path in kept]


def _is_project(path: Path) -> bool:
    """Whether a folder has a kernel and an OpDef that is registered: `aclgrad check` takes it."""
    host = (path / "op_host").rglob("*.cpp")
    return (path / "op_kernel").is_dir() and any(
        "OP_ADD(" in file.read_text("utf-8", "replace") for file in host
    )


def planned(operator: str, trials: int, seed: int, soc: str = "") -> list[str]:
    """Faults of an operator as words, at most ``trials``, drawn so that all kinds have nearly as
    many. What is not compiled for a SoC gets none.
    """
    root, name = original(operator)
    by_kind: dict[str, list[str]] = defaultdict(list)
    for file, side in _compiled(_sources(root, name), name, soc):
        source = (root / file).read_text("utf-8", "replace")
        main = faults.main_of(source) if file.endswith(".asc") else len(source)
        for number, fault in enumerate(faults.faults(source, side)):
            # A program's main function has what is right: a fault there is none of the kernel.
            if fault.start < main:
                by_kind[fault.kind].append(f"{operator}::{file}::{number}")
    draw = random.Random(seed)
    for words in by_kind.values():
        draw.shuffle(words)
    chosen: list[str] = []
    while len(chosen) < trials and any(by_kind.values()):
        for kind in list(by_kind):
            if by_kind[kind] and len(chosen) < trials:
                chosen.append(by_kind[kind].pop())
    return chosen


def tried(word: str, soc: str, seconds: float) -> dict[str, Any]:
    """Plant one fault, run the commands, and say what they showed as a row of the store."""
    operator, file, number = word.split("::")
    root, name = original(operator)
    side = dict(_sources(root, name))[file]
    source = (root / file).read_text("utf-8", "replace")
    fault = list(faults.faults(source, side))[int(number)]
    dtype = "fp32" if side == "kernel" and _has_float(root / name) else ""
    try:
        shows = quiet(operator, soc, dtype, seconds)
    except Unknown as error:
        return {
            "name": name_of(operator, file, fault),
            "verdict": "refused",
            "cause": "the operator fails as it is",
            "message": str(error),
        }
    with _planted(root, file, fault.plant(source)) as place:
        ran = []
        for at, command in enumerate(verdict.commands(place / name, soc, dtype)):
            if at not in shows:
                continue
            ran.append(verdict.run(command, seconds).without(shows[at]))
            if verdict.judge(fault, file, source, ran).sign in ("named", "elsewhere"):
                break
        found = verdict.judge(fault, file, source, ran)
    return row_of(operator, file, source, fault, found)


def name_of(operator: str, file: str, fault: faults.Fault) -> str:
    """What a row calls a fault."""
    return f"{fault.kind} {Path(operator).name}/{file}:{fault.line}"


def row_of(
    operator: str, file: str, source: str, fault: faults.Fault, found: verdict.Verdict
) -> dict[str, Any]:
    """What was shown of a fault, as a row of the store."""
    kind = next(item for item in faults.KINDS if item.name == fault.kind)
    row: dict[str, Any] = {
        "name": name_of(operator, file, fault),
        "findings": list(found.kinds),
        "message": f"{fault.describe(source)}\n{found.text}"[:2000],
    }
    planted = source.splitlines()[fault.line - 1]
    reason = judged(fault.kind, Path(operator).name, file, planted)
    if found.sign == "nothing" and reason:
        return row | {"verdict": "passed", "cause": reason}
    if found.sign == "nothing":
        return row | {"verdict": "failed", "cause": f"nothing: {fault.kind}"}
    cause = found.sign if kind.visible else f"{found.sign}: in bounds and in order"
    return row | {"verdict": "passed", "cause": cause}


@cache
def quiet(operator: str, soc: str, dtype: str, seconds: float) -> dict[int, frozenset[str]]:
    """The commands, by number, that end with 0 and without an error on the operator as it is: only
    these can show a fault. Each with the kinds of its warnings, which show none.
    """
    root, name = original(operator)
    with _copied(root) as place:
        ran = [
            verdict.run(command, seconds) for command in verdict.commands(place / name, soc, dtype)
        ]
    kept = {
        at: frozenset(kind for kind, _, _ in one.warnings)
        for at, one in enumerate(ran)
        if one.status == 0 and not one.findings
    }
    if not kept:
        text = " ".join(ran[-1].text[-400:].split())
        raise Unknown(f"{operator}: no command passes without a fault: {text}")
    return kept


def _has_float(operator: Path) -> bool:
    """Whether a definition has float32, so that one dtype is enough to begin with."""
    sources = (operator / "op_host").glob("*.cpp")
    return any("DT_FLOAT," in text or "DT_FLOAT}" in text for text in map(Path.read_text, sources))


def sources(operator: str) -> list[tuple[Path, faults.Side]]:
    """The files that faults are planted in."""
    root, name = original(operator)
    return [(root / file, side) for file, side in _sources(root, name)]


def original(operator: str) -> tuple[Path, str]:
    """The folder that is copied with an operator, and the operator's path in it."""
    if operator.startswith(_SCAFFOLD):
        return _scaffold(operator.removeprefix(_SCAFFOLD)), "."
    path = Path(operator)
    if path.suffix == ".asc":
        # A program brings the folders above it from which it includes headers.
        above = re.findall(r'^#include "((?:\.\./)+)', path.read_text("utf-8", "replace"), re.M)
        root = path.parents[max((steps.count("../") for steps in above), default=0)]
        return root, str(path.relative_to(root))
    done = subprocess.run(
        ["git", "-C", str(path), "rev-parse", "--show-toplevel"],
        capture_output=True,
        text=True,
        check=False,
    )
    top = Path(done.stdout.strip()) if done.returncode == 0 else path.parent
    # An operator of this checkout needs its neighbours alone, one of a library the library.
    if (top / "simulator").is_dir() and (top / "op_kernel").is_dir():
        top = path.parent.parent
    return top, str(path.relative_to(top))


def _scaffold(kind: str) -> Path:
    place = cache_root() / "mutation" / f"new-{kind}"
    with _lock(place):
        if not (place / "op_kernel").is_dir():
            command = [
                sys.executable,
                "-I",
                "-m",
                "aclgrad",
                "new",
                "planted",
                str(place),
                "--like",
                kind,
            ]
            subprocess.run(command, check=True, capture_output=True)
    return place


def _sources(root: Path, name: str) -> list[tuple[str, faults.Side]]:
    """The source files of an operator that faults are planted in."""
    if name.endswith(".asc"):
        return [(name, "kernel")]
    found: list[tuple[str, faults.Side]] = []
    sides: tuple[tuple[str, faults.Side], ...] = (("op_kernel", "kernel"), ("op_host", "host"))
    for folder, side in sides:
        top = root / name / folder
        for path in sorted(top.rglob("*")):
            other = {"tests", "examples", "op_api", "op_graph"} & set(path.relative_to(top).parts)
            if path.suffix in KERNEL_SUFFIXES and not other:
                found.append((str(path.relative_to(root)), side))
    return found


def _compiled(
    found: list[tuple[str, faults.Side]], name: str, soc: str
) -> list[tuple[str, faults.Side]]:
    """The files that are compiled for a SoC: those for Ascend 950 for it alone, and of kernels that
    have such files no other ones for it.
    """
    later = {item for item in found if OTHER_ARCHITECTURE.search(item[0].removeprefix(name))}
    if not soc or name.endswith(".asc"):
        return found
    if family_of(soc).npu_arch != 3510:
        return [item for item in found if item not in later]
    whole = all(side == "host" for _, side in later)
    return [item for item in found if item in later or item[1] == "host" or whole]


@contextmanager
def _lock(place: Path) -> Iterator[None]:
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{place}.lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _planted(root: Path, file: str, text: str) -> Iterator[Path]:
    """A copy of the operator with one file replaced."""
    with _copied(root) as copy:
        (copy / file).write_text(text, "utf-8")
        try:
            yield copy
        finally:
            shutil.copyfile(root / file, copy / file)


@contextmanager
def _copied(root: Path) -> Iterator[Path]:
    """A copy of the operator's folder, kept by this process for its next fault."""
    digest = hashlib.sha256(f"{root}{os.getpid()}".encode()).hexdigest()[:16]
    copy = cache_root() / "mutation" / digest
    if not copy.is_dir():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(
            root, copy, ignore=shutil.ignore_patterns(".git", "report", "build"), symlinks=True
        )
    yield copy
