# SPDX-License-Identifier: Apache-2.0
"""Progress where no terminal shows a bar: a line every ten seconds, with what is done of what."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from rich.progress import TaskID

from aclgrad.common.display.visible import visible

SECONDS = 10.0


class Bar(Protocol):
    """What shows how far work is: `rich.progress.Progress`, or `Lines`."""

    def add_task(self, description: str, /, *, total: float | None) -> TaskID:
        """Begin a task."""

    def advance(self, task: TaskID, /, steps: float = 1) -> None:
        """So much more is done."""

    def update(self, task: TaskID, /, *, description: str) -> None:
        """Set what the task is at."""


@dataclass
class _Task:
    description: str
    total: float | None
    completed: float = 0


class Lines:
    """Takes what `rich.progress.Progress` takes of us. Work of less than ten seconds says nothing;
    lines go to the error stream, as results are on the other.
    """

    def __init__(self, seconds: float = SECONDS, file: int = 2) -> None:
        self._seconds, self._file = seconds, file
        self._tasks: list[_Task] = []
        self._told = 0  # the task that something was last heard of
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def __enter__(self) -> Lines:
        """Begin to count the seconds."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Say no more."""
        self._stop.set()
        self._thread.join()

    def add_task(self, description: str, total: float | None = 100) -> TaskID:
        """Begin a task. Lines tell of the one that last went on, at first of the first."""
        self._tasks.append(_Task(description, total))
        return TaskID(len(self._tasks) - 1)

    def advance(self, task: int, steps: float = 1) -> None:
        """So much more is done."""
        self._tasks[task].completed += steps
        self._told = task

    def update(self, task: int, **values: str | float | None) -> None:
        """Set description, total or completed."""
        for name, value in values.items():
            setattr(self._tasks[task], name, value)
        self._told = task

    def line(self, seconds: float) -> str:
        """``softmax_grad on Ascend910B2: 120 of 489 after 20 s``."""
        if not self._tasks:
            command = " ".join(["aclgrad", *sys.argv[1:3]])
            return f"{command}: preparing, after {seconds:.0f} s"
        task = self._tasks[self._told]
        if task.total and task.completed >= task.total:
            task = self._tasks[min(self._told + 1, len(self._tasks) - 1)]
        done = f": {task.completed:g} of {task.total:g}" if task.total else ""
        return f"{task.description.strip()}{done} after {seconds:.0f} s"

    def _tell(self) -> None:
        started = time.monotonic()
        while not self._stop.wait(self._seconds):
            text = self.line(time.monotonic() - started)
            # No lock of a stream, which a child that is forked meanwhile would keep for ever.
            try:
                os.write(self._file, f"{visible(text)}\n".encode())
            except OSError:
                return


_shown: list[Lines] = []  # of the running command, where it has no bar of its own


@contextmanager
def telling(description: str) -> Iterator[None]:
    """Lines for a command whose output is its own: a bar would be drawn across it."""
    with Lines() as shown:
        shown.add_task(description, total=None)
        _shown.append(shown)
        try:
            yield
        finally:
            _shown.remove(shown)


def tell(description: str, done: int, total: int) -> None:
    """What the running command is at, for the next line."""
    for shown in _shown:
        shown.update(TaskID(0), description=description, completed=done, total=total)
