# SPDX-License-Identifier: Apache-2.0
"""The probes under msprof: how long each launch took by its summary.

A folder of ours has, beside what msprof writes, the request that the probes' program was given.
The summary has kernels by name and in the order of their starts, the request says which is which.
"""

from __future__ import annotations

import shlex
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from aclgrad.common import files
from aclgrad.errors import ToolkitError
from aclgrad.profiling import against_board
from aclgrad.profiling.calibration import process
from aclgrad.profiling.calibration.runner import Launch, request_of

TIMES = 5
_SECONDS = 900.0
_OPTION = "--msprof"
_START = "Task Start Time(us)"


def tool() -> str | None:
    """msprof, where the toolkit of the environment has one."""
    return shutil.which("msprof")


def durations(
    program: Path,
    device: int,
    launches: Sequence[Launch],
    folder: Path,
    environment: Mapping[str, str],
) -> dict[str, tuple[float, ...]]:
    """Microseconds of each launch. What the folder has is read; otherwise msprof fills it."""
    request = "\n".join(request_of(launch, TIMES, folder) for launch in launches) + "\n"
    if not (folder.is_dir() and against_board.summaries(folder, _OPTION)):
        _collect(program, device, request, folder, environment)
    asked = folder / "request"
    if not asked.is_file() or asked.read_text() != request:
        raise ToolkitError(
            f"{_OPTION} {folder}: was not made by these probes. Next: name a folder that is not"
            " there yet"
        )
    return read(folder, launches)


def _collect(
    program: Path, device: int, request: str, folder: Path, environment: Mapping[str, str]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    files.write(folder / "request", request, _OPTION)
    words = [str(program), str(device), str(folder / "request"), str(folder / "result")]
    msprof = tool()
    if msprof is None:
        command = shlex.join(["msprof", f"--output={folder}", *words])
        raise ToolkitError(
            f"{_OPTION} {folder}: no msprof on the PATH. Next: source <CANN>/set_env.sh, or run"
            f" {command} where there is one"
        )
    code, said = process.run([msprof, f"--output={folder}", *words], environment, _SECONDS)
    if code is None:
        raise ToolkitError(
            f"{_OPTION}: msprof did not end within {_SECONDS:.0f} s. Next: --msprof off"
        )
    if code != 0:
        last = said.strip().splitlines()[-1:] or ["it says nothing"]
        raise ToolkitError(f"{_OPTION}: msprof ended with {code}: {last[0]}. Next: --msprof off")


def read(folder: Path, launches: Sequence[Launch]) -> dict[str, tuple[float, ...]]:
    """What a folder says of launches that were all done, one after the other."""
    kernels = {launch.kernel for launch in launches}
    there: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for path, rows in against_board.summaries(folder, _OPTION):
        for row in rows:
            kernel = next((name for name in kernels if name in row.get("Op Name", "")), None)
            if kernel is None:
                continue
            try:
                time = float(row[against_board.DURATION])
                start = float(row.get(_START) or len(there[kernel]))
            except (KeyError, ValueError):
                raise ToolkitError(
                    f"{_OPTION} {path}: {kernel} has no {against_board.DURATION} that is a number."
                    " Next: --msprof off"
                ) from None
            there[kernel].append((start, time))
    wanted: dict[str, list[Launch]] = defaultdict(list)
    for launch in launches:
        wanted[launch.kernel].append(launch)
    found = {}
    for kernel, several in wanted.items():
        got = [time for _, time in sorted(there[kernel])]
        each = TIMES + 1
        if len(got) != each * len(several):
            raise ToolkitError(
                f"{_OPTION} {folder}: its op_summary_*.csv has {len(got)} launches of {kernel},"
                f" {each * len(several)} were made. Next: --msprof off"
            )
        for index, launch in enumerate(several):  # the first of a launch is not counted
            found[launch.name] = tuple(got[index * each + 1 : (index + 1) * each])
    return found
