# SPDX-License-Identifier: Apache-2.0
"""Whether another choice of the tiling would be faster: the operator's sources with one place
changed, estimated at the costs in force. benchmarks/choices.toml of a checkout has the changes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from aclgrad.common import cache, files
from aclgrad.common.locks import alone
from aclgrad.errors import ToolkitError
from aclgrad.runtime.toolkit import checkout
from aclgrad.spec import dtypes
from aclgrad.spec.op_spec import OpSpec
from aclgrad.testing import user_data

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from rich.console import Console

_SHARED = "common/row_reduce"
"""What a tiling includes whose choices are listed."""


@dataclass(frozen=True)
class Estimate:
    """Time of a launch, and the costs that decide it."""

    us: float
    bound: str
    deciding: Sequence[Mapping[str, object]]


def load(root: Path) -> dict[str, Any]:
    """The list of alternatives and cases."""
    return tomllib.loads((root / "benchmarks" / "choices.toml").read_text("utf-8"))


def copy_sources(root: Path, folder: Path, op: str) -> None:
    """The operator's sources, as they are."""
    for tree in ("op_host", "op_kernel"):
        for part in ("common", op):
            shutil.copytree(root / tree / part, folder / tree / part)


def changed(text: str, change: Mapping[str, str], name: str) -> str:
    """A source with an alternative in it."""
    if text.count(change["from"]) != 1:
        raise ToolkitError(
            f"benchmarks/choices.toml: {name}: {change['file']} does not have its line once. Next:"
            " change `from` to what stands there now"
        )
    return text.replace(change["from"], change["to"])


@contextmanager
def applied(folder: Path, name: str, change: Mapping[str, str]) -> Iterator[None]:
    """The sources with an alternative, in one place: only what it changes is built again."""
    path = folder / change["file"]
    before = path.read_text("utf-8")
    files.write(path, changed(before, change, name), str(path))
    try:
        yield
    finally:
        files.write(path, before, str(path))


def estimate(words: Sequence[str]) -> Estimate:
    """What ``aclgrad profile`` with these words says, in a process of its own: one process
    registers an operator once.
    """
    command = [sys.executable, "-I", "-m", "aclgrad", "profile", *words, "--sensitivity", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ToolkitError((done.stderr or done.stdout).strip().rpartition("error: ")[2])
    found = json.loads(done.stdout)
    us = found["microseconds"]
    rows = sorted(
        found["sensitivity"],
        key=lambda row: -max(abs(row["halved"] - us), abs(row["doubled"] - us)),
    )
    return Estimate(us, found["boundWords"], rows)


def call_of(spec: OpSpec, shape: str, dtype: str, attrs: Sequence[str]) -> list[str]:
    """What says to a command about the operator's sources which call is meant."""
    kernels = [row for rows in spec.kernels.values() for row in rows]
    row = next(row for row in kernels if row[0] is dtypes.parse(dtype))
    values = user_data.parse_attrs(spec, attrs)
    words = [f"{shape}:{each.alias or each.name}" for each in row[: len(spec.inputs)]]
    for attr in spec.attrs:
        value = str(values[attr.arg]).lower()
        words += [
            "--attr",
            f"{attr.name}=[{value}]" if attr.type == "ListInt" else f"{attr.name}={value}",
        ]
    return [*words, "--op", spec.op_type]


def others(
    spec: OpSpec,
    shape: str,
    dtype: str,
    attrs: Sequence[str],
    soc: str,
    told: Callable[[str], None],
) -> dict[str, float]:
    """Microseconds of the alternatives of a row reduction, by their names."""
    root = checkout()
    if root is None or _SHARED not in _tiling(root, spec.op):
        return {}
    found = {}
    with kept_sources(root, spec.op) as folder:
        words = [str(folder), *call_of(spec, shape, dtype, attrs), "--soc", soc]
        for name, change in load(root)["alternatives"].items():
            told(name)
            try:
                with applied(folder, name, change):
                    found[name] = estimate(words).us
            except ToolkitError as error:
                # The operator's kernel has not all paths: no choice of its tiling.
                if "tiling-key-unknown" not in str(error):
                    raise
    return found


@contextmanager
def kept_sources(root: Path, op: str) -> Iterator[Path]:
    """The operator's sources in a place that stays: what was compiled of each alternative before is
    found again there.
    """
    name = hashlib.sha256(str(root).encode()).hexdigest()[:10]
    folder = cache.root() / f"choices-{name}" / op
    with alone(folder.with_name(f"{op}.lock")):
        # A run that was killed has left its alternative in there.
        shutil.rmtree(folder, ignore_errors=True)
        copy_sources(root, folder, op)
        yield folder


def _tiling(root: Path, op: str) -> str:
    path = root / "op_host" / op / f"{op}_tiling.cpp"
    return path.read_text("utf-8") if path.is_file() else ""


def show(console: Console, own: Estimate, found: Mapping[str, float]) -> None:
    """Print what the choice takes, what decides that, and what others would take."""
    console.print(f"{own.us:.1f} us at the costs in force; bound by {own.bound}")
    for row in own.deciding[:3]:
        console.print(
            f"  rests on {row['cost']} ({row['evidence']}): halved {row['halved']:.1f} us,"
            f" doubled {row['doubled']:.1f} us"
        )
    if not found:
        console.print(
            "no other choices are listed: benchmarks/choices.toml has those of row reductions"
        )
        return
    table = Table("another choice", "us", "this one takes")
    for name, us in found.items():
        table.add_row(name, f"{us:.1f}", f"{own.us / us:.2f} times that")
    console.print(table)
    best = min(found, key=lambda name: found[name])
    faster = 1 - found[best] / own.us
    if faster > 0.15:
        console.print(f"{best} would be faster by {faster:.0%} at these costs")
    else:
        console.print("the choice holds: no other is faster by more than 15 % at these costs")
