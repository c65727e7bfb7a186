# SPDX-License-Identifier: Apache-2.0
"""Results as Parquet, by operator and dtype. A file holds the cases that its name says, so the
files are the record of what is done: nothing else has to be kept in step with them.
"""

from __future__ import annotations

import json
import os
import re
import socket
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aclgrad.campaign.plans.description import CampaignError
from aclgrad.common import files, locks
from aclgrad.common.data import parse_json

Json = dict[str, Any]

ROWS = "rows"
ABOUT = "campaign.json"
LOCK = "campaign.lock"
_NAME = re.compile(r"(\d+)-(\d+)\.parquet")
_MANY = 24
"""Files of a folder above which they are put together at the end."""

TEXTS = (
    *("do", "soc", "shape", "attributes", "layout", "values", "mode", "autosync", "keep_going"),
    *("name", "verdict", "cause", "message", "worst_at", "version"),
)
NUMBERS = ("index", "chaos", "seed", "cores", "retries")
REALS = ("worst_ulp", "modelled_us", "share", "wall_seconds")


def schema() -> Any:
    """Columns of a file; operator and dtype are those of its folder."""
    import pyarrow as pa

    return pa.schema(
        [
            *((name, pa.int64()) for name in NUMBERS),
            *((name, pa.string()) for name in TEXTS),
            *((name, pa.float64()) for name in REALS),
            ("findings", pa.list_(pa.string())),
        ]
    )


@dataclass
class Ranges:
    """Numbers that are there, as ranges in their order."""

    firsts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    @staticmethod
    def of(found: Sequence[tuple[int, int]]) -> Ranges:
        """Join what overlaps or touches."""
        made = Ranges()
        for first, end in sorted(found):
            if made.ends and first <= made.ends[-1]:
                made.ends[-1] = max(made.ends[-1], end)
            else:
                made.firsts.append(first)
                made.ends.append(end)
        return made

    def __contains__(self, number: int) -> bool:
        """Whether a number is there."""
        at = bisect_right(self.firsts, number) - 1
        return at >= 0 and number < self.ends[at]

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return sum(end - first for first, end in zip(self.firsts, self.ends, strict=True))

    def missing(self, size: int) -> Iterator[tuple[int, int]]:
        """Ranges below ``size`` that are not there."""
        at = 0
        for first, end in zip(self.firsts, self.ends, strict=True):
            if first > at:
                yield at, min(first, size)
            at = end
        if at < size:
            yield at, size


class Store:
    """A campaign's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: int | None = None

    # -- one campaign at a time -------------------------------------------------------------------

    @contextmanager
    def held(self, title: str) -> Iterator[Store]:
        """Keep other campaigns out. Raises `CampaignError` when one is in. The kernel gives the
        store back when its holder dies.
        """
        new = [place for place in (self.folder, *self.folder.parents) if not place.exists()]
        files.make_folder(self.folder, "--out")
        about = f"{title!r}, process {os.getpid()} on {socket.gethostname()}"
        try:
            with locks.at_once(self.folder / LOCK, about) as self._lock:
                # A campaign that was killed may have left half-written files.
                for left in (self.folder / ROWS).rglob(files.UNFINISHED):
                    left.unlink(missing_ok=True)
                yield self
        except locks.BusyError as error:
            raise CampaignError(
                f"--out {self.folder}: another campaign writes there ({error}). Next: wait until it"
                " has ended, or --out with another folder"
            ) from None
        except OSError as error:
            if error.filename is None or Path(error.filename) != self.folder / LOCK:
                raise
            raise CampaignError(
                f"--out {self.folder}: {LOCK}: {error.strerror}. Next: --out with another folder"
            ) from None
        finally:
            self._lock = None
            with suppress(OSError):
                for place in new:
                    place.rmdir()  # nothing was written

    # -- which campaign ---------------------------------------------------------------------------

    def begin(self, about: Json) -> None:
        """Make the folder, or go on in it. Raises `CampaignError` where another campaign is."""
        place = self.folder / ABOUT
        if place.is_file():
            try:
                before = parse_json(files.read(place, str(place), "--out").decode())
            except ValueError:
                before = {}
            for name, words in (
                ("digest", "results of another campaign file"),
                ("version", "results of another aclgrad"),
            ):
                if before.get(name) != about[name]:
                    raise CampaignError(
                        f"--out {self.folder}: holds {words} ({before.get(name)}, this is"
                        f" {about[name]}). Next: --out with another folder; --against"
                        f" {self.folder} compares them"
                    )
            return
        if (self.folder / ROWS).exists():
            raise CampaignError(
                f"--out {self.folder}: has rows, but no {ABOUT}. Next: --out with another folder"
            )
        files.make_folder(self.folder, "--out")
        files.write(place, json.dumps(about, indent=1) + "\n", "--out")

    def about(self) -> Json:
        """What `begin` wrote. Raises `CampaignError`."""
        try:
            place = self.folder / ABOUT
            found: Json = parse_json(files.read(place, str(place), "").decode())
        except (files.FileError, ValueError):
            raise CampaignError(
                f"{self.folder}: holds no campaign. Next: the folder that --out named"
            ) from None
        return found

    # -- writing ----------------------------------------------------------------------------------

    def add(self, rows: Sequence[Json], version: str) -> None:
        """Write rows: a file for each run of numbers of one operator and dtype."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._lock is not None and not locks.is_at(self._lock, self.folder / LOCK):
            raise CampaignError(
                f"--out {self.folder}: was removed or moved while this campaign ran. Next: give the"
                " same command again"
            )
        columns = schema()
        for (operator, dtype, first), group in _runs(rows).items():
            folder = self.folder / ROWS / f"operator={quote(operator)}" / f"dtype={quote(dtype)}"
            files.make_folder(folder, "--out")
            table = pa.Table.from_pylist(
                [{name: _value(name, row, version) for name in columns.names} for row in group],
                schema=columns,
            )
            name = f"{first:012d}-{first + len(group):012d}.parquet"
            with files.writing(folder / name, "--out") as file:
                pq.write_table(table, file)

    def gather(self) -> None:
        """Put files together that follow one another; what is put together goes last."""
        import pyarrow.parquet as pq

        for folder, found in self._folders().items():
            if len(found) < _MANY:
                continue
            whole = Ranges.of(found)
            for first, end in zip(whole.firsts, whole.ends, strict=True):
                parts = [pair for pair in found if first <= pair[0] < end]
                if len(parts) < 2:
                    continue
                with (
                    files.writing(folder / _file(first, end), "--out") as file,
                    pq.ParquetWriter(file, schema()) as writer,
                ):
                    for pair in sorted(parts):
                        with pq.ParquetFile(folder / _file(*pair)) as part:
                            writer.write_table(part.read())
                for pair in parts:
                    (folder / _file(*pair)).unlink()

    # -- reading ----------------------------------------------------------------------------------

    def _folders(self) -> dict[Path, list[tuple[int, int]]]:
        """Ranges by folder. One within another is what a stop left of files put together."""
        found: dict[Path, list[tuple[int, int]]] = {}
        for folder in sorted((self.folder / ROWS).glob("operator=*/dtype=*")):
            names = (_NAME.fullmatch(path.name) for path in folder.iterdir())
            pairs = sorted(
                ((int(m[1]), int(m[2])) for m in names if m), key=lambda pair: (pair[0], -pair[1])
            )
            kept: list[tuple[int, int]] = []
            for pair in pairs:
                if kept and pair[1] <= kept[-1][1]:
                    continue
                kept.append(pair)
            found[folder] = kept
        return found

    def done(self) -> Ranges:
        """Numbers of the cases that have a row."""
        return Ranges.of([pair for pairs in self._folders().values() for pair in pairs])

    def paths(self) -> list[Path]:
        """All files of rows."""
        return [
            folder / _file(*pair) for folder, pairs in self._folders().items() for pair in pairs
        ]

    def table(self, columns: Sequence[str] | None = None) -> Any:
        """All rows, with operator and dtype; or some columns of them."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        whole = schema().append(pa.field("operator", pa.string()))
        whole = whole.append(pa.field("dtype", pa.string()))
        paths = [str(path) for path in self.paths()]
        if not paths:
            return whole.empty_table().select(columns or whole.names)
        kinds = ds.partitioning(
            pa.schema([("operator", pa.string()), ("dtype", pa.string())]), flavor="hive"
        )
        data = ds.dataset(
            paths, schema=whole, format="parquet", partitioning=kinds,
            partition_base_dir=str(self.folder / ROWS),
        )  # fmt: skip
        return data.to_table(columns=list(columns) if columns else None)


def _file(first: int, end: int) -> str:
    return f"{first:012d}-{end:012d}.parquet"


def _value(name: str, row: Json, version: str) -> Any:
    if name == "version":
        return version
    value = row.get(name)
    if name in NUMBERS:
        return int(value or 0)
    if name in TEXTS:
        return str(value or "")
    if name == "findings":
        return list(value or ())
    return None if value is None else float(value)


def _runs(rows: Sequence[Json]) -> dict[tuple[str, str, int], list[Json]]:
    """Rows of one operator and dtype whose numbers follow one another."""
    found: dict[tuple[str, str, int], list[Json]] = defaultdict(list)
    last: tuple[str, str, int] | None = None
    for row in sorted(rows, key=lambda row: int(row["index"])):
        if last is not None and found[last]:
            before = found[last][-1]
            same = (row["operator"], row["dtype"]) == last[:2]
            if same and row["index"] == before["index"] + 1:
                found[last].append(row)
                continue
        last = (row["operator"], row["dtype"], int(row["index"]))
        found[last].append(row)
    return found
