# SPDX-License-Identifier: Apache-2.0
"""What the commands share: terminals, progress bars, and how a device is opened."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from aclgrad import runtime
from aclgrad.cli.options import DeviceName, Running
from aclgrad.cli.progress_lines import Lines
from aclgrad.common.display.terminal import Terminal
from aclgrad.spec.soc import family_of

OUT = Terminal()
ERR = Terminal(stderr=True)
_PARTIAL = "ACLGRAD_SIM_PARTIAL_OUTPUTS"
_PROGRESS = "ACLGRAD_SIM_PROGRESS"


def allow_partial(names: Sequence[str] | None) -> None:
    """Have this process, and programs that it starts, expect no more of these outputs."""
    if names:
        os.environ[_PARTIAL] = ",".join(names)


def progress(console: Terminal) -> Any:
    """A bar that is gone when its work is done; without a terminal a line every ten seconds."""
    if not console.is_terminal:
        return Lines()
    os.environ.setdefault(_PROGRESS, "off")  # the simulator's line would be drawn across the bar
    return Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), console=console, transient=True,
    )  # fmt: skip


def open_device(running: Running) -> Any:
    """Open the device that the options name; what they leave out stays as it is. Commands show what
    the checks found, so that faults which a kernel went on after are no exceptions.
    """
    if running.soc is not None:
        if running.device is DeviceName.npu:
            raise ValueError(
                "--soc names a simulated SoC; an NPU is what it is. Next: leave --soc out"
            )
        family_of(running.soc)
    opened = runtime.open_device(running.device.value)
    chosen = {
        "soc": running.soc,
        "mode": None if running.check is None else "checked" if running.check else "fast",
        "autosync": running.autosync and running.autosync.value,
        "chaos": None if running.chaos is None else str(running.chaos),
        "keep_going": None if running.keep_going is None else "on" if running.keep_going else "off",
        "partial_outputs": os.environ.get(_PARTIAL),
        "progress": os.environ.get(_PROGRESS) or None,
    }
    for name, value in chosen.items():
        if value is not None:
            opened.set_option(name, value)
    opened.takes_faults = True
    return opened
