# SPDX-License-Identifier: Apache-2.0
"""Profiles of a program with kernels in it (.asc): it runs as a process of its own, and each of its
launches leaves a profile.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import weakref
from collections.abc import Sequence
from pathlib import Path

from aclgrad.common import temporary
from aclgrad.findings import errors_of, from_json
from aclgrad.profiling.profiled import Json, Profiled, ProfileError, changes_of, lines_of
from aclgrad.reading.auto_sync import Assumed
from aclgrad.running import kernel_file
from aclgrad.spec.soc import family_of

LIMIT = "ACLGRAD_PROFILE_SECONDS"


def endless(what: str, seconds: int) -> str:
    """What to say of a kernel that does not end."""
    return (
        f"{what}: still running after {seconds} s: a loop without an end, or more work than that."
        f" Next: a smaller shape, gdb as docs/debugging.md has it, or {LIMIT}={10 * seconds}"
    )


class Files:
    """What the program's launches left in a folder, which goes when nobody needs it any more."""

    def __init__(self) -> None:
        made = temporary.Folder()
        self.folder = made.path
        weakref.finalize(self, made.remove)

    def launches(self) -> list[Json]:
        """A summary of each launch, in the order in which they ended."""
        path = self.folder / "launches"
        if not path.is_file():
            return []
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]

    def profile_lines(self, launch: int, cores: Sequence[int] = ()) -> list[Json]:
        """As `Device.profile_lines`, for the cores that were asked for when the program ran."""
        by_core = json.loads((self.folder / f"{launch}.lines.json").read_text("utf-8"))
        return [row for core in map(str, cores) for row in by_core[core]] or list(by_core["all"])

    def profile_changes(self, launch: int) -> list[Json]:
        """As `Device.profile_changes`."""
        kept = json.loads((self.folder / f"{launch}.lines.json").read_text("utf-8"))
        return list(kept["changes"])

    def write_trace(self, launch: int, cores: Sequence[int], path: Path) -> None:
        """As `Device.write_trace`; the cores are those that were asked for."""
        shutil.copyfile(self.folder / f"{launch}.trace.json", path)


def profile_program(
    source: Path,
    words: Sequence[str],
    *,
    soc: str,
    cores: Sequence[int] | None = (),
    vector_cores: int | None = None,
    quiet: bool = False,
    seconds: int = 900,
    assumed: Assumed | None = None,
    keep_going: bool = False,
    sensitivity: bool = False,
) -> Profiled:
    """Build a program, run it with its own words, and estimate all of its launches. ``cores`` are
    those of traces and of lines by core; those that tell most when there are none, nothing when
    it is None.
    """
    if not source.is_file():
        raise ProfileError(f"{source}: no such file. Next: give the path of an .asc file")
    program = kernel_file.build_program(source, family_of(soc))
    files = Files()
    environment = {
        "ACLGRAD_SOC": soc,
        "ACLGRAD_SIM_MODE": "fast",
        "ACLGRAD_SIM_KEEP_GOING": str(int(keep_going)),
        "ACLGRAD_SIM_PROFILE": "on",
        "ACLGRAD_SIM_SENSITIVITY": "on" if sensitivity else "off",
        "ACLGRAD_SIM_PROFILE_REPORT": str(files.folder),
        "ACLGRAD_SIM_PROFILE_CORES": "none" if cores is None else ",".join(map(str, cores)),
    }
    if assumed is not None:
        environment["ACLGRAD_SIM_AUTOSYNC"] = assumed.value
    if vector_cores is not None:
        environment["ACLGRAD_SIM_CORES"] = str(vector_cores)
    try:
        ended = kernel_file.run_program(
            [str(program), *words], environment=environment, capture=quiet, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise ProfileError(endless(str(source), seconds)) from None
    again = " ".join(["aclgrad run", str(source), *(["--", *words] if words else [])])
    faults = tuple(errors_of(map(from_json, ended.findings)))
    if ended.errors and not keep_going:
        raise ProfileError(
            f"{source}: {ended.errors[0].splitlines()[0]}. Next: {again} shows the whole report"
        )
    if ended.status and not faults:
        raise ProfileError(f"{source}: the program ended with status {ended.status}. Next: {again}")
    launches = files.launches()
    if not launches:
        raise ProfileError(
            f"{source}: the program ended without a launch, so there is nothing to time. Next:"
            f" {again}"
        )
    floors = [(item["readOnce"], item["writtenOnce"]) for item in launches]
    found = Profiled(
        source.name,
        "",
        "",
        soc,
        [item["profile"] for item in launches],
        sum(read for read, _ in floors),
        sum(written for _, written in floors),
        note=" ".join(words),
        floors=floors,
        by=files,
        kept=tuple(index for index, item in enumerate(launches) if item["whole"]),
    )
    found.lines = lines_of(files, found.main)
    found.changes = changes_of(files, found.main)
    found.faults = faults
    return found


__all__ = ["LIMIT", "Files", "endless", "profile_program"]
