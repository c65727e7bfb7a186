# SPDX-License-Identifier: Apache-2.0
"""Operator packages in the order in which aclnn calls look into them. Nothing is loaded here."""

from __future__ import annotations

import os
import platform
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from aclgrad.common import rebuild
from aclgrad.common.data import parse_json
from aclgrad.common.files import FileError, text_of

_LINKED = "/lib64/libascendcl.so"
"""The toolkit's library that kernels are linked with."""
_SOURCES = frozenset({"op_host", "op_kernel"})
_TBE = Path("op_impl/ai_core/tbe")
_PRIORITY = re.compile(r"^\s*load_priority\s*=(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Candidate:
    """One vendor folder. ``problem`` says why it gives nothing, ``fix`` what fixes that."""

    root: Path
    why: str
    problem: str = ""
    fix: str = ""

    @cached_property
    def operators(self) -> dict[str, tuple[str, ...]]:
        """Families of SoCs by OpType."""
        found: dict[str, set[str]] = {}
        for path in self.root.glob(f"{_TBE}/config/*/aic-*-ops-info.json"):
            try:
                names = parse_json(text_of(path))
            except (FileError, ValueError):
                continue
            for op_type in names:
                found.setdefault(op_type, set()).add(path.parent.name)
        # The simulator's kernel files begin with their OpType.
        for path in self.root.glob(f"{_TBE}/kernel/*/*/*_*.so"):
            found.setdefault(path.name.partition("_")[0], set()).add(path.parents[1].name)
        return {op_type: tuple(sorted(socs)) for op_type, socs in sorted(found.items())}

    def kernels(self, op: str) -> list[Path]:
        """Kernel files of one operator."""
        files = self.root.glob(f"{_TBE}/kernel/*/{op}/*")
        return sorted(path for path in files if path.suffix in (".so", ".o"))

    @cached_property
    def devices(self) -> frozenset[str]:
        """Where its kernels run: npu (.o), sim (.so)."""
        names = {".o": "npu", ".so": "sim"}
        kernels = self.root.glob(f"{_TBE}/kernel/*/*/*")
        return frozenset(names[path.suffix] for path in kernels if path.suffix in names)

    @property
    def opapi(self) -> Path:
        """Where its library of aclnn functions would be."""
        return self.root / "op_api" / "lib" / "libcust_opapi.so"

    @property
    def tiling(self) -> Path | None:
        """Its tiling library for this machine."""
        folder = self.root / _TBE / "op_tiling"
        places = (
            folder / "lib" / "linux" / platform.machine() / "libcust_opmaster_rt2.0.so",
            folder / "liboptiling.so",
        )
        return next((path for path in places if path.exists()), None)

    def outdated(self, toolkit: Path) -> tuple[str, str]:
        """What has changed since `aclgrad build` made it, and the command that makes it again; two
        empty texts if nothing has. Headers of another simulator are compared with this one's.
        """
        kernels = sorted(self.root.glob(f"{_TBE}/kernel/*/*/*.so"))
        outputs = [path for path in (self.tiling, self.opapi, *kernels) if path is not None]
        linked = (path.partition(_LINKED) for path in chain(*map(rebuild.made_from, outputs)))
        other = next((root for root, found, rest in linked if found and not rest), str(toolkit))
        seen: dict[str, None] = {}

        def today(path: str) -> str:
            return f"{toolkit}{path.removeprefix(other)}" if path.startswith(f"{other}/") else path

        for output in outputs:
            if file := rebuild.changed_source(output, today, seen):
                sources = map(Path, seen)
                folders = [path.parents[1] for path in sources if path.parent.name in _SOURCES]
                command = " ".join(["aclgrad build", *map(shlex.quote, map(str, folders[:1]))])
                return f"{self.root} was built before {file} was changed", command
        return "", ""

    @property
    def version(self) -> str:
        """First version that its version.info states."""
        try:
            text = text_of(self.root / "version.info")
        except FileError:
            return ""
        found = re.search(r"^\s*(?:version|custom_opp_compiler_version)\s*=\s*(\S+)", text, re.M)
        return found[1] if found else ""


def look_up(own_opp: Path | None) -> list[Candidate]:
    """Candidates by priority: ASCEND_CUSTOM_OPP_PATH, ASCEND_OPP_PATH, the toolkit's own folder.

    A folder that is named twice counts once.
    """
    found = [*_custom(), *_opp()]
    if own_opp is not None:
        found += _vendors(own_opp / "vendors", "the toolkit's own")
    unique: dict[Path, Candidate] = {}
    for candidate in found:
        unique.setdefault(candidate.root.resolve(), candidate)
    return list(unique.values())


def outdated(toolkit: Path) -> Iterator[str]:
    """A line about each package of ASCEND_CUSTOM_OPP_PATH that its sources have left behind."""
    for candidate in _custom():
        what, command = candidate.outdated(toolkit)
        if what:
            yield f"{what}. Next: {command}"


def root_of(library: Path) -> Path:
    """The package that a library lies in."""
    return next(path.parent for path in library.parents if path.name == "op_impl")


@contextmanager
def first(root: Path) -> Iterator[None]:
    """Have calls look into a package before all others. For one thread at a time."""
    name = "ASCEND_CUSTOM_OPP_PATH"
    before = os.environ.get(name)
    os.environ[name] = f"{root}:{before}" if before else str(root)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before


def _custom() -> Iterator[Candidate]:
    name = "ASCEND_CUSTOM_OPP_PATH"
    entries = [entry for entry in os.environ.get(name, "").split(":") if entry]
    for number, entry in enumerate(entries, 1):
        root = Path(entry)
        why = name if len(entries) == 1 else f"{name}, entry {number}"
        nested = sorted(path.parent for path in root.glob("*/op_impl")) or sorted(
            path.parent for path in root.glob("vendors/*/op_impl")
        )
        if nested:
            better = [*entries[: number - 1], *map(str, nested), *entries[number:]]
        else:
            better = [other for other in entries if other != entry]
        fix = f"export {name}={':'.join(better)}" if better else f"unset {name}"
        if not root.is_dir():
            yield Candidate(root, why, "no such folder", fix)
        elif not os.access(root, os.R_OK | os.X_OK):
            yield Candidate(root, why, "this user may not read it", f"sudo chmod -R a+rX {root}")
        elif not (root / "op_impl").is_dir():
            text = "it holds packages but is none" if nested else "no operator package: no op_impl"
            yield Candidate(root, why, text, fix)
        else:
            yield Candidate(root, why)


def _opp() -> Iterator[Candidate]:
    name = "ASCEND_OPP_PATH"
    value = os.environ.get(name)
    if not value:
        return
    if not Path(value).is_dir():
        yield Candidate(Path(value), name, "no such folder", f"unset {name}")
        return
    yield from _vendors(Path(value) / "vendors", name)


def _vendors(vendors: Path, why: str) -> Iterator[Candidate]:
    config = vendors / "config.ini"
    present = sorted(path.parent.name for path in vendors.glob("*/op_impl"))
    match = None
    try:
        match = _PRIORITY.search(text_of(config)) if config.exists() else None
    except FileError as error:
        problem = str(error).removeprefix(f"{config}: ").partition(". Next: ")[0]
        fix = f"sudo chmod a+r {config}" if config.is_file() else f"sudo rm {config}"
        yield Candidate(config, why, problem, fix)
    if match is None:
        for name in present:
            yield Candidate(vendors / name, why)
        return
    listed = [name.strip() for name in match[1].split(",") if name.strip()]
    for name in listed:
        if name in present:
            yield Candidate(vendors / name, f"{why}, load_priority")
        else:
            rest = ",".join(other for other in listed if other != name)
            fix = f"sed -i 's/^load_priority=.*/load_priority={rest}/' {config}"
            yield Candidate(vendors / name, f"{why}, load_priority", "not installed", fix)
    for name in present:
        if name not in listed:
            order = ",".join([name, *listed])
            fix = f"sed -i 's/^load_priority=.*/load_priority={order}/' {config}"
            text = "installed, but not in load_priority: never looked at"
            yield Candidate(vendors / name, why, text, fix)
