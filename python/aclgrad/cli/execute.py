# SPDX-License-Identifier: Apache-2.0
"""``aclgrad exec``: a program with the simulator in place of CANN."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import typer

from aclgrad.cli import known
from aclgrad.cli.options import Soc
from aclgrad.common import temporary


def exec_command(
    program: Annotated[
        list[str],
        typer.Argument(metavar="-- PROGRAM ARGUMENTS...", help="The program and its arguments."),
    ],
    soc: Soc = None,
    devices: Annotated[
        int | None, typer.Option("--devices", min=1, help="How many NPUs there are; default 1.")
    ] = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Run without the simulator's checks.")
    ] = False,
    fast: Annotated[bool, typer.Option("--fast", hidden=True)] = False,  # its former name
    allow_findings: Annotated[
        bool,
        typer.Option("--allow-findings", help="Exit with the program's status in any case."),
    ] = False,
) -> None:
    """Run a program with the simulator in place of CANN: aclgrad exec -- python train.py. The
    Python may be that of another environment without aclgrad. Exit status: the program's, or 1 if
    that is 0 and the simulator found errors. Findings that aclgrad-known.toml lists are warnings.
    """
    from aclgrad.runtime import find_toolkit
    from aclgrad.runtime.environment import variables
    from aclgrad.runtime.packages import outdated
    from aclgrad.spec.soc import family_of

    if soc is not None:
        family_of(soc)
    toolkit = find_toolkit("sim")
    changed = variables(toolkit, os.environ, soc)
    for text in outdated(toolkit.root):
        typer.echo(f"warning: exec: {text}", err=True)
    if devices is not None:
        changed["ACLGRAD_DEVICES"] = str(devices)
    if no_check or fast:
        changed["ACLGRAD_SIM_MODE"] = "fast"
    _know(changed)
    found = shutil.which(program[0], path=changed.get("PATH"))
    if found is None:
        what = "is not executable" if Path(program[0]).exists() else "is no program"
        raise ValueError(f"exec: {program[0]} {what}. Next: aclgrad exec -- python {program[0]}")
    if allow_findings:
        os.execve(found, program, changed)
    status, errors = _watched(found, program, changed)
    if status == 0 and errors:
        kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(errors).items())
        raise ValueError(
            f"exec: {program[0]} ended with 0, and the simulator found errors: {kinds}. Next: fix"
            " what the reports above name, or aclgrad exec --allow-findings"
        )
    raise typer.Exit(status)


def _know(environment: dict[str, str]) -> None:
    """Make warnings of what aclgrad-known.toml lists; what the caller says of findings comes after
    it, and decides.
    """
    if not (place := Path(known.NAME)).is_file():
        return
    words, said = known.levels(known.read(place), datetime.now(timezone.utc).date())
    for line in said:
        typer.echo(line, err=True)
    theirs = environment.get("ACLGRAD_FINDINGS", "")
    if levels := ",".join(filter(None, [*words, theirs])):
        environment["ACLGRAD_FINDINGS"] = levels


def _watched(
    path: str, program: list[str], environment: Mapping[str, str]
) -> tuple[int, list[str]]:
    """Run a program as a child that gets our signals: its exit status, and the kinds of the errors
    that it and its children have reported and that ACLGRAD_FINDINGS does not turn off.
    """
    with temporary.folder() as folder:
        # A report that the caller asked for may hold findings of earlier programs.
        report = Path(environment.get("ACLGRAD_SIM_REPORT") or folder / "findings")
        before = report.stat().st_size if report.is_file() else 0
        child = os.fork()
        if child == 0:
            with contextlib.suppress(OSError):
                os.execve(path, program, {**environment, "ACLGRAD_SIM_REPORT": str(report)})
            os._exit(126)
        with _forwarded(child):
            _, ended = os.waitpid(child, 0)
        status = os.waitstatus_to_exitcode(ended)
        errors = list(_errors(report, before, environment.get("ACLGRAD_FINDINGS", "")))
    if status < 0:
        with contextlib.suppress(OSError):  # SIGKILL has no other
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)  # ends as the program did
    return status, errors


@contextlib.contextmanager
def _forwarded(child: int) -> Iterator[None]:
    """Hand on what ends a process. The terminal sends SIGINT and SIGQUIT to the child itself."""

    def hand_on(number: int, _: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    handlers = {signal.SIGTERM: hand_on, signal.SIGHUP: hand_on}
    kept = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    for number in (signal.SIGINT, signal.SIGQUIT):
        kept[number] = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _errors(report: Path, start: int, shown: str) -> Iterator[str]:
    """The kinds of the errors behind a place of a report."""
    words = shown.split(",")
    with contextlib.suppress(OSError), report.open("rb") as file:
        file.seek(start)
        for line in file:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                finding = json.loads(line)
                kind = finding["kind"]
                off = f"{kind}=off" in words or ("off" in words and f"{kind}=error" not in words)
                if finding["severity"] == "error" and not off:
                    yield kind
