# SPDX-License-Identifier: Apache-2.0
"""How a device runs calls."""

from __future__ import annotations

import os
from dataclasses import dataclass

from aclgrad.runtime.device import Device, open_device
from aclgrad.spec.soc import family_of

_FROM_ENVIRONMENT = {
    "partial_outputs": "ACLGRAD_SIM_PARTIAL_OUTPUTS",
    "progress": "ACLGRAD_SIM_PROGRESS",
}
"""Options that a command may set in the environment while the simulator is loaded."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Options of the simulator; None leaves one as it is."""

    device: str = "sim"
    soc: str | None = None
    checked: bool | None = None
    autosync: str | None = None
    chaos: int | None = None
    keep_going: bool | None = None

    def open(self) -> Device:
        """Open the device for somebody who shows what the checks found: faults that a kernel went
        on after are no exceptions.
        """
        if self.soc is not None:
            family_of(self.soc)  # refuses what is no SoC
        device = open_device(self.device)
        chosen = {
            "soc": self.soc,
            "mode": None if self.checked is None else "checked" if self.checked else "fast",
            "autosync": self.autosync,
            "chaos": None if self.chaos is None else str(self.chaos),
            "keep_going": None if self.keep_going is None else "on" if self.keep_going else "off",
            **{name: os.environ.get(key) or None for name, key in _FROM_ENVIRONMENT.items()},
        }
        for name, value in chosen.items():
            if value is not None:
                device.set_option(name, value)
        device.takes_faults = True
        return device
