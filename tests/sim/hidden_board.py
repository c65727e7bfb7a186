# SPDX-License-Identifier: Apache-2.0
"""A board to hold ``aclgrad calibrate`` against: the simulator with random differences that the kit
is not told of (simulator/src/soc/overlay_path.cpp).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from aclgrad.common.locks import alone
from aclgrad.profiling.calibration import register
from aclgrad.profiling.calibration.board import AS_MODELLED, DIFFERS, UNDECIDED, Board
from aclgrad.runtime.toolkit import checkout, sim_root

SOC = "Ascend910B2"


@dataclass(frozen=True)
class Hidden:
    """What is different, and the environments of the probes and of other programs on that board."""

    costs: dict[str, float]
    choices: dict[str, str]
    environment: dict[str, str]
    programs: dict[str, str]


def library() -> Path | None:
    """Folder of the library that plays the board, built on demand; None where nothing is built."""
    source = checkout()
    build = source / "build" / "sim" if source else None
    if build is None or not (build / "CMakeCache.txt").is_file():
        return None
    command = ["cmake", "--build", str(build), "--target", "board", "--parallel", "2"]
    with alone(build / "board.lock"):  # several boards at a time
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return build / "board" / "lib64"


def changed(value: float, name: str, rng: random.Random) -> float:
    """A cost times a random factor of 0.5 to 2, as far as hardware could have it."""
    factor = 2 ** rng.uniform(-1, 1)
    if name.endswith(".besideVector"):
        return rng.uniform(0.05, 0.2)
    if name.endswith(".alignment"):
        return rng.choice([128.0, 256.0])
    if name.endswith(".unaligned"):
        return 1 + (value - 1) * factor
    if name.endswith(".sameLine"):
        return 1 / (1 + (1 / value - 1) * factor)
    if name.endswith(".requestBytes"):
        return min(512.0, value * factor)
    return value * factor


def draws(seed: int) -> Iterator[int]:
    """Seeds of a board and of those in its place, as chance may hide what no operator notices."""
    return count(seed, 1000)


def hide(seed: int, folder: Path, libraries: Path) -> Hidden:
    """About a third of everything that can differ."""
    rng = random.Random(seed)
    facts = next(row for row in register.socs() if row["name"] == SOC)
    costs = {
        cost.id: changed(cost.value, cost.id, rng)
        for cost in register.costs(SOC, facts["npuArch"], facts["l2Bytes"])
        if (cost.value > 0 or cost.id.endswith(".besideVector")) and rng.random() < 0.3
    }
    choices = {
        choice.id: rng.choice(choice.alternatives)
        for choice in register.choices()
        if choice.alternatives and rng.random() < 0.4
    }
    path = folder / "hidden.json"
    path.write_text(json.dumps({"overlay": {"costs": costs, "choices": choices}}))
    paths = [str(libraries), str(sim_root() / "lib64"), os.environ.get("LD_LIBRARY_PATH", "")]
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": ":".join(filter(None, paths)),
        "ACLGRAD_TESTS_HIDDEN_BOARD": str(path),
        "ACLGRAD_SOC": SOC,
    }
    toolkit = _toolkit(folder / "toolkit", libraries)
    return Hidden(costs, choices, environment, {**environment, "ACLGRAD_TOOLKIT": str(toolkit)})


def _toolkit(folder: Path, libraries: Path) -> Path:
    """The simulator's toolkit, but for the library that plays the board."""
    (folder / "lib64").mkdir(parents=True)
    for part in sim_root().iterdir():
        if part.name != "lib64":
            (folder / part.name).symlink_to(part)
    for part in (sim_root() / "lib64").iterdir():
        own = libraries / part.name
        (folder / "lib64" / part.name).symlink_to(own if own.is_file() else part)
    return folder


def missed(hidden: Hidden, board: Board) -> list[str]:
    """Rows of a board that are wrong about what was hidden; rows that say "not decided" are not."""
    found = []
    for row in board.rows:
        if row.verdict == UNDECIDED:
            continue
        if row.kind in ("size", "constant"):
            if row.verdict != AS_MODELLED:  # nobody hides another SoC, or another kind of model
                found.append(f"{row.id}: {row.measured}")
            continue
        if row.kind == "choice":
            wanted = hidden.choices.get(row.id)
            if wanted != (row.measured if row.verdict == DIFFERS else None):
                found.append(f"{row.id}: {row.verdict} {row.measured}, hidden {wanted}")
            continue
        assert isinstance(row.measured, float) and isinstance(row.modelled, (int, float))
        true = hidden.costs.get(row.id, row.modelled)
        least = 0.02 if row.id.endswith(".besideVector") else 0.0
        if abs(row.measured - true) > max(0.1 * true, least):
            found.append(f"{row.id}: {row.measured:g}, hidden {true:g}, built in {row.modelled:g}")
    return found
