# SPDX-License-Identifier: Apache-2.0
"""What a run of the grid ran on, and the command that repeats one of its cases."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from aclgrad import __version__
from aclgrad.spec.cases import Case


@dataclass(frozen=True)
class Conditions:
    """Everything besides the case that decides a result."""

    device: str
    soc: str
    mode: str | None = None
    seed: int = 0
    fast: bool = False
    finished: str = ""
    autosync: str | None = None
    chaos: str = "0"
    keep_going: bool | None = None
    tolerance: str = ""

    def repro(self, case: Case, command: str = "test", choice: Sequence[str] = ()) -> str:
        """Shell command that runs one case again under the same conditions. ``choice`` are the
        words that choose the case, if not its name.
        """
        words = ["aclgrad", command, case.word, *(choice or ["--case", case.name])]
        words += ["--soc", self.soc] if self.device == "sim" else ["--device", self.device]
        if self.seed:
            words += ["--seed", str(self.seed)]
        if self.fast:
            words.append("--fast")
        if self.autosync == "off":
            words += ["--autosync", "off"]
        if self.chaos != "0":
            words += ["--chaos", self.chaos]
        if self.tolerance and command == "test":
            words += ["--tolerance", self.tolerance]
        if self.mode == "fast":
            words.append("--no-check")
        if self.keep_going is not None:
            words.append("--keep-going" if self.keep_going else "--no-keep-going")
        return shlex.join(words)

    def described(self) -> list[tuple[str, str]]:
        """Label and value of each condition, with the versions in use."""
        pairs = [
            ("SoC", self.soc),
            ("device", {"sim": "simulator", "npu": "NPU"}.get(self.device, self.device)),
            ("mode", self.mode or "not applicable"),
            *([("automatic synchronisation", "off")] if self.autosync == "off" else []),
            *([("chaos seed", self.chaos)] if self.chaos != "0" else []),
            *([("after faults", "kernels go on")] if self.keep_going else []),
            *([("tolerance", f"{self.tolerance} ULP of the scale")] if self.tolerance else []),
            ("grid", "fast" if self.fast else "full"),
            ("seed", str(self.seed)),
            ("aclgrad", __version__),
            ("Python", platform.python_version()),
            *((name, _version(name)) for name in ("numpy", "ml_dtypes")),
            ("host", f"{platform.system()} {platform.machine()}"),
        ]
        return [*pairs, ("finished", self.finished)] if self.finished else pairs


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
