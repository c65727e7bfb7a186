# SPDX-License-Identifier: Apache-2.0
"""Builds the probes with a toolkit and launches them: on the device, or on the simulator as it is
with other costs and choices.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aclgrad.building.build_tools import find_compiler, need_tool
from aclgrad.building.toolchain import toolchain
from aclgrad.common import cache, files, temporary
from aclgrad.common.locks import alone
from aclgrad.common.sums import content
from aclgrad.errors import ToolkitError
from aclgrad.profiling.calibration import process
from aclgrad.runtime.toolkit import sim_root

SOURCES = Path(__file__).parent / "probes"
SECONDS = 120.0
"""After which a process of probes is ended."""

Array = NDArray[np.generic]


@dataclass(frozen=True)
class Launch:
    """One kernel launch of the probes, timed unless it has an input of its own."""

    name: str
    kernel: str
    params: tuple[int, ...]
    blocks: int = 1
    in_bytes: int = 64
    out_bytes: int = 64
    values: Array | None = field(default=None, compare=False)

    @property
    def timed(self) -> bool:
        """Whether its time counts, else its output does."""
        return self.values is None

    @property
    def counted(self) -> bool:
        """Whether the core's counter is read around what it asks: of one core, as those of several
        need not agree, and not of a kernel that does nothing.
        """
        asks = self.kernel in ("probe_vector", "probe_copies")
        asks = asks or (self.kernel == "probe_scalar" and self.params[0] != 0)
        return self.timed and self.blocks == 1 and asks


@dataclass(frozen=True)
class Answer:
    """What a launch gave: times in us, the bytes of its output, or how it failed. The answer named
    "device" is the name of its SoC and the sizes that the runtime tells.
    """

    times: tuple[float, ...] = ()  # between events
    output: bytes = b""
    error: str = ""
    ticks: tuple[float, ...] = ()  # of the core's counter
    durations: tuple[float, ...] = ()  # as msprof has them


@dataclass(frozen=True)
class Overlay:
    """Costs and choices in place of the simulator's."""

    costs: Mapping[str, float] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, dict[str, float] | dict[str, str]]:
        """As ACLGRAD_CALIBRATION wants it."""
        return {"costs": dict(self.costs), "choices": dict(self.choices)}


def build(toolkit: Path, soc: str) -> Path:
    """The program of the probes, built with a toolkit; nothing is done when it is there."""
    inputs = b"".join(path.read_bytes() for path in sorted(SOURCES.iterdir()) if path.is_file())
    library = toolkit / "lib64" / "libascendcl.so"
    if not library.is_file():
        raise ToolkitError(f"{library} is missing. Next: aclgrad doctor")
    made = [library, *sorted((toolkit / "include").rglob("*.h"))]
    tools = toolchain(find_compiler() or "c++")
    stamp = f"{toolkit}{soc}{content([*made, *tools.files])}{tools.version}".encode()
    folder = cache.root() / "probes" / hashlib.sha256(inputs + stamp).hexdigest()[:16]
    program = folder / "probes"
    with alone(cache.root() / "probes.lock"):
        if not program.is_file():
            _build(folder, toolkit, soc)
    return program


def _build(folder: Path, toolkit: Path, soc: str) -> None:
    cmake = need_tool("cmake")
    commands = (
        [cmake, "-S", str(SOURCES), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release"]
        + [f"-DSOC_VERSION={soc}", f"-DASCEND_CANN_PACKAGE_PATH={toolkit}"],
        [cmake, "--build", str(folder), "--parallel"],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            log = folder / "build.log"
            files.write(log, done.stdout + done.stderr)
            last = (done.stderr or done.stdout).strip().splitlines()[-1:] or [""]
            raise ToolkitError(
                f"the probes do not build with {toolkit}: {last[0]}. Next: read {log}"
            )


def request_of(launch: Launch, times: int, folder: Path) -> str:
    """A line for the program of the probes; what it reads goes into the folder."""
    source, size = "-", launch.in_bytes
    if launch.values is not None:
        path = folder / f"{launch.name}.in"
        path.write_bytes(launch.values.tobytes())
        source, size, times = str(path), launch.values.nbytes, 0
    params = [*launch.params, *[0] * (15 - len(launch.params)), int(launch.counted)]
    words = (launch.name, launch.kernel, launch.blocks, times, size, launch.out_bytes, source)
    return " ".join(map(str, (*words, *params)))


def _times(words: Sequence[str]) -> Answer:
    """What stands behind the name of a launch: us us ... ticks n n ..."""
    at = words.index("ticks") if "ticks" in words else len(words)
    ticks = tuple(map(float, words[at + 1 :]))
    # A core without a counter leaves zeros.
    return Answer(times=tuple(map(float, words[:at])), ticks=ticks if all(ticks) else ())


def _process(
    program: Path,
    device: int,
    launches: Sequence[Launch],
    times: int,
    environment: Mapping[str, str],
    seconds: float,
) -> dict[str, Answer]:
    """One process; launches that it did not come to are not among the answers."""
    with temporary.folder() as folder:
        request, result = folder / "request", folder / "result"
        request.write_text(
            "\n".join(request_of(launch, times, folder) for launch in launches) + "\n"
        )
        words = [str(program), str(device), str(request), str(result)]
        code, said = process.run(words, environment, seconds)
        ended = f"was ended after {seconds:.0f} s" if code is None else f"ended with {code}"
        answers = {}
        lines = result.read_text().splitlines() if result.is_file() else []
        for line in lines:
            launch, *words = line.split(" ")
            if launch == "device":
                answers[launch] = Answer(output=" ".join(words).encode())
            elif words[:1] == ["error"]:
                answers[launch] = Answer(error=f"error {words[1]}: {said.strip()[-400:]}")
            elif words:
                answers[launch] = _times(words)
            else:
                answers[launch] = Answer(output=(folder / f"result.{launch}").read_bytes())
        missing = [launch for launch in launches if launch.name not in answers]
        if missing and not any(answer.error for answer in answers.values()):
            answers[missing[0].name] = Answer(error=f"the process {ended} {said.strip()[-400:]}")
        return answers


def on_device(
    program: Path,
    device: int,
    groups: Iterable[Sequence[Launch]],
    times: int,
    environment: Mapping[str, str],
) -> Iterator[dict[str, Answer]]:
    """Answers group by group, each in processes of its own: a fault costs its launch alone."""
    for group in groups:
        answers: dict[str, Answer] = {}
        left = list(group)
        while left:
            found = _process(program, device, left, times, environment, SECONDS)
            answers |= found
            rest = [launch for launch in left if launch.name not in found]
            if len(rest) == len(left):
                break
            left = rest
        yield answers


class Model:
    """The simulator as it is, with costs and choices that are asked about."""

    def __init__(self, soc: str) -> None:
        """`soc`: a full name, such as Ascend910B2."""
        self.program = build(sim_root(), soc)
        hidden = ("LD_LIBRARY_PATH", "ACLGRAD_CALIBRATION", "ACLGRAD_TESTS_HIDDEN_BOARD")
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in hidden},
            "ACLGRAD_SOC": soc,
            "ACLGRAD_SIM_MODE": "fast",
            "ACLGRAD_SIM_PROFILE": "on",
        }

    def lacking(self, probes: Iterable[Sequence[Launch]]) -> set[str]:
        """Launches that the SoC cannot do, such as an instruction of other architectures."""
        found: set[str] = set()
        every = [list({launch.name: launch for one in probes for launch in one}.values())]
        for answers in on_device(self.program, 0, every, -1, self.environment):
            found |= {name for name, answer in answers.items() if answer.error}
        return found

    def run(self, launches: Sequence[Launch], overlay: Overlay) -> dict[str, Answer]:
        """What the simulator answers."""
        if not launches:
            return {}
        with temporary.folder() as folder:
            path = folder / "overlay.json"
            path.write_text(json.dumps({"overlay": overlay.as_json()}))
            environment = {**self.environment, "ACLGRAD_CALIBRATION": str(path)}
            answers = _process(self.program, 0, launches, -1, environment, 10 * SECONDS)
        # The model does not tell events from msprof's durations.
        answers = {name: replace(one, durations=one.times) for name, one in answers.items()}
        failed = next(((name, one) for name, one in answers.items() if one.error), None)
        if failed:
            raise ToolkitError(
                f"probe {failed[0]} fails on the simulator: {failed[1].error}. Next: aclgrad doctor"
            )
        return answers
