# SPDX-License-Identifier: Apache-2.0
"""The rule by which something is built again: the content of what it was made from, and never the
order of time stamps (docs/decisions/0002-rebuild-by-content.md).

Beside each output lies a record, ``<output>.made``: how it was made (``key``), the sums of the
files that were read, the names that were looked for in vain, and the output's own sum. The output
is fresh when all of these are as the record says.

What an output was before stays beside it as ``<output>.<sum>.earlier``, with its record: a change
that is undone is not built again.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aclgrad.common.locks import if_free
from aclgrad.common.sums import INTERFACE, Status, now, remember, settled, status_of, sum_of

_RECORD = ".made"
_TRIES = 3
"""How often something is made while others write its inputs."""

EARLIER = ".earlier"
_MOST_EARLIER = 16
_BYTES_EARLIER = 8_000_000
"""How much of what an output was before is kept: larger ones are not, precompiled headers above
all.
"""

_SOURCES = frozenset({".asc", ".c", ".cc", ".cpp", ".h", ".hpp", ".inc"})

Entry = tuple[str, str, Status]
"""A file, its sum, and the status that it had then."""


@dataclass(frozen=True)
class Inputs:
    """What something was made from."""

    files: Mapping[str, str] = field(default_factory=dict)
    """Paths, and of which kind their sum is."""

    absent: Mapping[str, Iterable[str]] = field(default_factory=dict)
    """Names by folder that would have been taken had they been there."""


def record_of(output: Path) -> Path:
    """Where it is written down what an output was made from."""
    return output.with_name(output.name + _RECORD)


def lock_of(output: Path) -> Path:
    """Held by whoever makes an output."""
    return output.with_name(output.name + ".lock")


def unchanged(output: Path) -> bool:
    """Whether all files that an output was made from are as they were, whatever asks for it now."""
    try:
        record = json.loads(record_of(output).read_text("utf-8", "surrogateescape"))
        return _today(record) is not None
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return False


def made_from(output: Path) -> list[str]:
    """The files that an output was made from; none if no record says so."""
    return [path for path, _, _ in _recorded(output)[1]]


def changed_source(
    output: Path, today: Callable[[str], str] = str, seen: dict[str, None] | None = None
) -> str | None:
    """The first source or header that an output was made from and that holds something else now,
    or None. ``today`` gives the place where a recorded file is now, ``seen`` gets all files in
    their order. A file that is gone proves nothing: the sources may be on another machine.
    """
    seen = {} if seen is None else seen
    last, files = _recorded(output)
    for path, known, old in files:
        if path in seen:
            continue
        seen[path] = None
        place = today(path)
        if Path(path).suffix in _SOURCES:
            with suppress(OSError):
                status = status_of(place)
                same = status == old and settled(status, last)
                if not same and sum_of(place)[0] != known:
                    return place
        if found := changed_source(Path(path), today, seen):
            return found
    return None


def _recorded(output: Path) -> tuple[int, list[Entry]]:
    """When the inputs of an output were seen, and what they were."""
    try:
        record = json.loads(record_of(output).read_text("utf-8", "surrogateescape"))
        files = [(path, known, tuple(status)) for path, known, *status in record["files"]]
        return int(record["seen"]), files
    except (OSError, ValueError, KeyError, TypeError):
        return 0, []


def fresh(output: Path, key: str) -> bool:
    """Whether an output is what making it now would give."""
    place = record_of(output)
    try:
        text = place.read_text("utf-8", "surrogateescape")
        record: dict[str, object] = json.loads(text)
        if record["key"] != key:
            return False
        today = _today(record)
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return False
    if today is None:
        return False
    if today is not record:
        _refresh(output, text, today)
    return True


def restore(output: Path, key: str) -> bool:
    """Put back what an output was before, if that is what making it now would give: a change was
    undone, another branch checked out. The caller holds its lock.
    """
    for place in _earlier(output):
        kept = place.with_name(place.name.removesuffix(_RECORD))
        try:
            record = json.loads(place.read_text("utf-8", "surrogateescape"))
            record["output"][0] = str(kept)
            today = _today(record) if record["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            continue
        if today is None:
            continue
        _set_aside(output)
        try:
            kept.replace(output)
            known = [str(output), today["output"][1], *status_of(str(output))]
            _write(record_of(output), {**today, "output": known})
        except OSError:
            return False  # made as ever
        finally:
            place.unlink(missing_ok=True)
        return True
    return False


def _earlier(output: Path) -> list[Path]:
    """Records of what an output was before, the last first."""
    pattern = f"{glob.escape(output.name)}.*{EARLIER}{_RECORD}"
    found = []
    for place in output.parent.glob(pattern):
        with suppress(OSError):
            found.append((place.stat().st_mtime_ns, place))
    return [place for _, place in sorted(found, reverse=True)]


def _set_aside(output: Path) -> None:
    """Keep an output and take its record away; whoever reads it goes on reading it."""
    place = record_of(output)
    with suppress(OSError):
        name = hashlib.sha256(place.read_bytes()).hexdigest()[:16]
        kept = output.with_name(f"{output.name}.{name}{EARLIER}")
        if output.stat().st_size <= _BYTES_EARLIER:
            kept.unlink(missing_ok=True)
            os.link(output, kept)
            place.replace(record_of(kept))
            os.utime(record_of(kept))
    # Without its record the output is not fresh, whenever this ends.
    place.unlink(missing_ok=True)
    size = 0
    for number, old in enumerate(_earlier(output)):
        kept = old.with_name(old.name.removesuffix(_RECORD))
        with suppress(OSError):
            size += kept.stat().st_size
        if number >= _MOST_EARLIER or size > _BYTES_EARLIER:
            old.unlink(missing_ok=True)
            kept.unlink(missing_ok=True)


def _today(record: dict[str, Any]) -> dict[str, Any] | None:
    """The record, or one that knows today's statuses if that is of use; None when something has
    changed.
    """
    seen, last = now(), int(record["seen"])
    files: list[object] = []
    read = False
    for path, known, *old in (record["output"], *record["files"]):
        status = status_of(path)
        kind = INTERFACE if known.startswith(INTERFACE) else ""
        if status != tuple(old) or not settled(status, last):
            found, status = sum_of(path, kind)
            if found != known:
                return None
            read = True
        else:
            remember(path, kind, status, known)
        files.append([path, known, *status])
    folders: list[object] = []
    for path, names, *old in record["folders"]:
        status = status_of(path)
        if status != tuple(old) or not settled(status, last):
            if not set(names.split("/")).isdisjoint(os.listdir(path)):
                return None
            read = True
        folders.append([path, names, *status])
    if not read:
        return record
    return {**record, "seen": seen, "output": files[0], "files": files[1:], "folders": folders}


def _refresh(output: Path, old: str, record: Mapping[str, object]) -> None:
    """Write down the statuses of files that were read again, so that next time they are not; not
    while another makes the output.
    """
    with if_free(lock_of(output)) as held, suppress(OSError):  # it is read again next time
        place = record_of(output)
        if held and place.read_text("utf-8", "surrogateescape") == old:
            _write(place, record)


def _write(place: Path, record: Mapping[str, object]) -> None:
    part = place.with_name(f"{place.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(record, separators=(",", ":")), "utf-8", "surrogateescape")
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def _sums(files: Mapping[str, str]) -> dict[str, Entry]:
    found = {}
    for path, kind in files.items():
        try:
            found[path] = (path, *sum_of(path, kind))
        except OSError:
            continue
    return found


def _steady(before: Mapping[str, Entry], after: Mapping[str, Entry], begun: int) -> bool:
    """Whether each file held during the whole time what it holds now."""
    return all(
        entry[:2] == before[path][:2] if path in before else settled(entry[2], begun)
        for path, entry in after.items()
    )


def make(
    output: Path,
    key: str,
    known: Inputs,
    run: Callable[[], str | None],
    inputs: Callable[[int], Inputs],
    *,
    keep: Callable[[], None] = lambda: None,
) -> str | None:
    """Make an output; the caller holds its lock. ``run`` makes it aside and returns what went
    wrong, ``inputs`` tells what it has read since a time, and ``keep`` puts it into its place. Made
    again when an input was written meanwhile: what is summed is what was read. ``known`` are inputs
    that can be named before.
    """
    record: dict[str, object] | None = None
    error: str | None = None
    for _ in range(_TRIES):
        begun = now()
        before = _sums(known.files)
        error = run()
        if error is None:
            known = inputs(begun)
        after = _sums(known.files)
        steady = _steady(before, after, begun)
        if steady and (error is not None or len(after) == len(known.files)):
            if error is None:
                record = {"key": key, "seen": begun, **_listed(after, known.absent)}
            break
    _set_aside(output)
    if error is not None:
        output.unlink(missing_ok=True)
        return error
    keep()
    if record is not None:
        found, status = sum_of(str(output))
        _write(record_of(output), {**record, "output": [str(output), found, *status]})
    return None


def _listed(files: Mapping[str, Entry], absent: Mapping[str, Iterable[str]]) -> dict[str, object]:
    folders = []
    for path, names in absent.items():
        try:
            folders.append([path, "/".join(sorted(names)), *status_of(path)])
        except OSError:
            continue
    return {
        "files": [[path, found, *status] for path, found, status in files.values()],
        "folders": folders,
    }
