# SPDX-License-Identifier: Apache-2.0
"""An estimate beside what msprof or msopprof measured on a board: the means of the cores, by the
names of its columns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from rich.table import Table

from aclgrad.common import files
from aclgrad.profiling.profiled import Profiled
from aclgrad.profiling.text import pipe_utilization, resource_conflict

if TYPE_CHECKING:
    from rich.console import Console

DURATION = "Task Duration(us)"
_TYPES = ("OP Type", "Op Type", "Op Name")


def _rows(path: Path, option: str) -> list[dict[str, str]]:
    data = files.read(path, f"{option} {path}", "name a folder of msprof", below=[path.parent])
    text = data.decode("utf-8-sig", "replace")
    return [
        {(name or "").strip(): (value or "").strip() for name, value in row.items() if name}
        for row in csv.DictReader(io.StringIO(text))
    ]


def _numbers(rows: Sequence[Mapping[str, str]]) -> dict[str, float]:
    """Means of the columns that are numbers."""
    found = {}
    for name in rows[0] if rows else ():
        try:
            found[name] = mean(float(row[name]) for row in rows if row.get(name))
        except ValueError:  # words, or nothing in any row
            continue
    return found


def summaries(folder: Path, option: str) -> list[tuple[Path, list[dict[str, str]]]]:
    """The rows of each op_summary_*.csv of a folder of msprof, by their columns. `option` named
    the folder. Raises `ValueError` when there is no folder.
    """
    if not folder.is_dir():
        raise ValueError(f"{option} {folder}: no such folder. Next: msprof --output=DIR")
    return [(path, _rows(path, option)) for path in sorted(folder.rglob("op_summary_*.csv"))]


def read(folder: Path, op_type: str) -> dict[str, float]:
    """What a folder of msprof (op_summary_*.csv) or msopprof (PipeUtilization.csv, ...) says of an
    operator. Raises `ValueError` that says what is not there.
    """
    found: dict[str, float] = {}
    for path, rows in summaries(folder, "--compare-board"):
        own = [row for row in rows if any(row.get(name) == op_type for name in _TYPES)]
        if rows and not own:
            there = sorted({row.get("OP Type") or row.get("Op Name") or "" for row in rows})
            raise ValueError(
                f"--compare-board {path}: has {', '.join(there[:6])}, want {op_type}. Next: run"
                " msprof on a program that calls the operator"
            )
        found |= _numbers(own)
    for name in ("OpBasicInfo", "PipeUtilization", "ResourceConflictRatio"):
        for path in sorted(folder.rglob(f"{name}.csv"))[:1]:
            found |= _numbers(_rows(path, "--compare-board"))
    if not found:
        raise ValueError(
            f"--compare-board {folder}: no op_summary_*.csv and no PipeUtilization.csv in it. Next:"
            " msprof --output=DIR --application=..., or msprof op --output=DIR ..."
        )
    return found


def modelled(profile: Mapping[str, Any]) -> dict[str, float]:
    """The same columns of an estimate."""
    cores = range(len(profile["cores"]))
    rows = [pipe_utilization(profile, core) | resource_conflict(profile, core) for core in cores]
    return {DURATION: float(profile["microseconds"]), **_numbers(rows)}


def show(console: Console, found: Profiled, folder: Path) -> None:
    """Print board, model and error of every column that both have."""
    launch = found.launches[found.main]
    board, model = read(folder, launch["op"]), modelled(launch)
    table = Table("", "board", "model", "error", title=f"{launch['op']} on {launch['soc']}")
    for name, value in model.items():
        if name in board and name not in ("block_id", "aiv_total_cycles"):
            error = f"{value / board[name] - 1:+.1%}" if board[name] else "-"
            table.add_row(name, f"{board[name]:.4g}", f"{value:.4g}", error)
    console.print(table)
