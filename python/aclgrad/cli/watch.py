# SPDX-License-Identifier: Apache-2.0
"""``aclgrad test --watch``: builds and tests again whatever changes, until Ctrl-C."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aclgrad.checkout.cmake_build import build
from aclgrad.cli.common import OUT
from aclgrad.common.sums import sum_of
from aclgrad.errors import AclgradError, ToolkitError
from aclgrad.reading import command_words
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import SourcesError
from aclgrad.runtime.toolkit import checkout
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import Family, family_of
from aclgrad.spec.soc import family as family_named
from aclgrad.testing import selection

_SOURCES = (".cpp", ".cc", ".h", ".hpp", ".asc", ".py", ".json", ".cmake", ".txt")
_MADE = {"__pycache__", "build", "build_out", "report"}
_SETTLE_MS = 50  # editors write a file in several steps
_KERNELS = "toolkit/opp/vendors/aclgrad/op_impl/ai_core/tbe/kernel"


@dataclass(frozen=True)
class Watched:
    """What is tested again by itself, and where its sources lie."""

    name: str
    folders: tuple[Path, ...]
    build: Callable[[], object] = lambda: None  # a path is built by its test


def changes(folders: Iterable[Path], report: Path | None = None) -> Iterator[set[Path]]:
    """Sources that now hold something else, in groups; not what a round writes, which is its
    ``report``. Raises `ToolkitError` without watchfiles.
    """
    try:
        from watchfiles import watch
    except ImportError:
        raise ToolkitError(
            "test --watch: watchfiles is not installed. Next: "
            f"{sys.executable} -m pip install 'watchfiles>=0.22'"
        ) from None
    there = sorted({folder for folder in folders if folder.exists()})

    def sources() -> dict[Path, str]:
        paths = (path for folder in there for path in sorted(folder.rglob("*")))
        return {path: _content(path) for path in paths if not _is_made(path, there, report)}

    seen = sources()

    def groups() -> Iterator[set[Path]]:
        found = sources()  # what was written during the first round
        while True:
            wanted = {path for path, text in found.items() if text != seen.get(path, "")}
            seen.update(found)
            if wanted:
                yield wanted
            paths = {Path(path) for _, path in next(changed, ())}
            if not paths:
                return
            found = {path: _content(path) for path in paths if not _is_made(path, there, report)}

    changed = watch(*there, debounce=10 * _SETTLE_MS, step=_SETTLE_MS, raise_interrupt=True)
    return groups()


def _content(path: Path) -> str:
    """The sum of a source, which nothing but another content changes; of all else nothing."""
    try:
        return sum_of(str(path))[0] if path.suffix in _SOURCES and path.is_file() else ""
    except OSError:
        return ""


def _is_made(path: Path, folders: Iterable[Path], report: Path | None) -> bool:
    """Whether a file comes of a round: a report, or what lies in a folder of builds and caches."""
    if report is not None and report in path.parents:
        return True
    below = next((path.relative_to(each) for each in folders if each in path.parents), Path())
    return any(part.startswith(".") or part in _MADE for part in below.parts[:-1])


def of_spec(spec: OpSpec, family: Family) -> Watched:
    """An operator of this checkout. Only kernels that the family runs are built."""
    root = checkout()
    if root is None:
        raise ToolkitError(
            f"test --watch: {spec.op} comes built, without its sources. Next: a source checkout, or"
            " the path of an operator project of your own"
        )
    parts = ("common", spec.op)
    halves = [root / half / part for half in ("op_kernel", "op_host") for part in parts]
    kernels = [
        f"{_KERNELS}/{name}/{spec.op}/{spec.op_type}_{'_'.join(dtype.name for dtype in row)}.so"
        for name, rows in spec.kernels.items()
        if family_named(name).npu_arch == family.npu_arch
        for row in rows
    ]
    return Watched(
        spec.op,
        (*halves, root / "python/aclgrad/ops" / f"{spec.op}.py"),
        lambda: build(kernels),
    )


def of_path(word: str) -> Watched:
    """An operator project, or a file of one."""
    path = Path(word).expanduser().resolve()
    folder = path if path.is_dir() else path.parent
    try:
        # Headers that operators of a repository share are sources as well.
        shared = [root for root in locate(word).roots if root != root.parent]
    except SourcesError:
        shared = []  # a round says what is missing
    return Watched(word, (folder, *(root for root in shared if folder not in root.parents)))


def watch_words(ops: list[str], listed: str | None, soc: str | None, report: Path) -> None:
    """Watch what the command line names, and hand its other words on to each round. ``report`` is
    where these write their results.
    """
    named = ops if listed else command_words.here(ops)
    if any(map(command_words.is_path, named)):
        watched = [of_path(word) for word in named]
    else:
        family = family_of(command_words.soc_name(soc))
        watched = [of_spec(spec, family) for spec in selection.operators(named, listed)]
    own = {"test", "--watch", "--ops", f"--ops={listed}", *ops, *([listed] if listed else [])}
    words = [word for word in sys.argv[1:] if word not in own]
    fast = [] if {"--fast", "--case"} & {*words} else ["--fast"]
    watch(watched, [*words, *fast], report.resolve())


def watch(watched: Sequence[Watched], words: Sequence[str], report: Path | None = None) -> None:
    """Test all once, and what changed whenever something does; ``words`` go to ``aclgrad test``."""
    source = changes([folder for item in watched for folder in item.folders], report)
    _round(watched, words)
    for paths in source:
        hit = [item for item in watched if any(_below(path, item.folders) for path in paths)]
        OUT.print(f"\nchanged: {', '.join(sorted(path.name for path in paths))}", markup=False)
        _round(hit, words)


def _below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path == folder or folder in path.parents for folder in folders)


def _round(watched: Sequence[Watched], words: Sequence[str]) -> None:
    """Build and test; an error is shown and waits for the next change."""
    begin = time.monotonic()
    names = [item.name for item in watched]
    try:
        for item in watched:
            item.build()
        # Libraries of kernels stay loaded as long as a process lives.
        command = [sys.executable, "-I", "-m", "aclgrad", "test", *names, *words]
        status = subprocess.run(command, check=False).returncode
        verdict = "passed" if status == 0 else "FAILED"
    except AclgradError as error:
        OUT.print(str(error), markup=False)
        verdict = "not built"
    seconds = time.monotonic() - begin
    OUT.print(
        f"{', '.join(names)}: {verdict} after {seconds:.1f} s; waiting for changes, Ctrl-C ends",
        markup=False,
    )
