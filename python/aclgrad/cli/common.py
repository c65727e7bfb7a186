# SPDX-License-Identifier: Apache-2.0
"""What the commands share: terminals, progress bars, and how a device is opened."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from aclgrad.cli.options import DeviceName, Running
from aclgrad.cli.progress_lines import Lines
from aclgrad.common.display.terminal import Terminal
from aclgrad.runtime.device import Device
from aclgrad.runtime.settings import Settings

OUT = Terminal()
ERR = Terminal(stderr=True)
_PARTIAL = "ACLGRAD_SIM_PARTIAL_OUTPUTS"
_PROGRESS = "ACLGRAD_SIM_PROGRESS"


def allow_partial(names: Sequence[str] | None) -> None:
    """Have this process, and programs that it starts, expect no more of these outputs."""
    if names:
        os.environ[_PARTIAL] = ",".join(names)


def print_json(document: object) -> None:
    """The one document of a command with --json."""
    print(json.dumps(document))


def progress(console: Console) -> Lines | Progress:
    """A bar that is gone when its work is done; without a terminal a line every ten seconds."""
    if not console.is_terminal:
        return Lines()
    os.environ.setdefault(_PROGRESS, "off")  # the simulator's line would be drawn across the bar
    return Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(), console=console, transient=True,
    )  # fmt: skip


def settings_of(running: Running) -> Settings:
    """What the options say of the device; what they leave out stays as it is."""
    if running.soc is not None and running.device is DeviceName.npu:
        raise ValueError("--soc names a simulated SoC; an NPU is what it is. Next: leave --soc out")
    return Settings(
        device=running.device.value,
        soc=running.soc,
        checked=running.check,
        autosync=running.autosync and running.autosync.value,
        chaos=running.chaos,
        keep_going=running.keep_going,
    )


def open_device(running: Running) -> Device:
    """Open the device that the options name."""
    return settings_of(running).open()
