# SPDX-License-Identifier: Apache-2.0
"""How errors of a command end: in one message and a status, also where they end its process."""

from __future__ import annotations

import errno
import math
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NoReturn, TypedDict

import typer

from aclgrad.errors import AclgradError

HANDLED = (AclgradError, ValueError, TypeError, OSError, MemoryError)
"""Errors of a command; others are faults of aclgrad."""


def _of_system(error: OSError) -> str:
    """What the system refused, and where. Of a copy it names the file that is read first."""
    place = error.filename2 or error.filename
    text = f"{place}: {error.strerror}" if place else str(error.strerror or error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        text += ". Next: df -h and df -i tell which disk is full; then run this again"
    return text


def _on_one_line(text: str) -> str:
    """The text, with the names of folders and files that hold newlines in legible form."""
    for word in [*sys.argv[1:], os.path.abspath(".")]:
        for part in word.split("/"):
            if "\n" in part or "\t" in part:
                text = text.replace(part, part.encode("unicode_escape").decode("ascii"))
    return text


def text_of(error: BaseException) -> str:
    """What is said of an error of a command."""
    if isinstance(error, MemoryError):
        return "not enough memory. Next: free -h, or smaller tensors"
    return _on_one_line(_of_system(error) if isinstance(error, OSError) else str(error))


def end(text: str, status: int = 1) -> NoReturn:
    """Print what is said of an error, and end the command."""
    from aclgrad.cli.common import ERR

    with suppress(BrokenPipeError):  # it is an error, read or not
        ERR.print(f"error: {text}", style="red", markup=False)
    raise typer.Exit(status)


def end_of_closed_output(error: BrokenPipeError) -> NoReturn:
    """End the command without a word if nobody reads what it prints any more, as with head and
    grep -q. Another pipe's error is one.
    """
    closed = select.poll()
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            closed.register(stream.fileno(), 0)
    found = [number for number, event in closed.poll(0) if event & select.POLLERR]
    if not found:
        end(text_of(error))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in found:  # what is still to be written has a place
        os.dup2(nowhere, number)
    # The status of a command that was at its end stays.
    raise typer.Exit(getattr(error.__context__, "exit_code", 0))


def in_child(
    work: Callable[[], bool],
    what: str,
    *,
    here: bool = False,
    seconds: float = math.inf,
    late: Callable[[], str] = str,
) -> None:
    """Do the work of a command that runs code of others, in a child that shows what it prints: what
    ends the child is an error of the command. Exits with 1 where the work says that kernels had
    faults. ``here`` and under a debugger, which sees no child, it is done in this process. After
    so many ``seconds`` it is said to be ``late``.
    """
    from aclgrad.running.isolation import SLOW, in_debugger, isolated

    if here or in_debugger():
        if work():
            raise typer.Exit(1)
        return

    def answers() -> Iterator[_Said]:
        try:
            yield {"status": int(work())}
        except typer.Exit as ended:
            yield {"status": ended.exit_code}
        except BrokenPipeError as error:
            yield {"broken": error.args}
        except HANDLED as error:
            yield {"error": text_of(error)}

    said: _Said = {}
    for answer, ended in isolated(answers, time.monotonic() + seconds, prints=True):
        said = answer or said  # and the child goes on to show what it has printed
        if ended is not None and ended[0] == SLOW:
            raise AclgradError(late())
        if ended is not None:
            raise AclgradError(
                f"{what}: {': '.join(ended)}. Next: gdb --args python -m aclgrad, and the words of"
                " this command"
            )
    _end_as(said)


class _Said(TypedDict, total=False):
    """How the work in a child has ended."""

    status: int
    broken: tuple[object, ...]
    error: str


def _end_as(said: _Said) -> None:
    """End as the work in a child has ended."""
    if "broken" in said:
        raise BrokenPipeError(*said["broken"])
    if "error" in said:
        end(said["error"])
    if said.get("status"):
        raise typer.Exit(said["status"])
