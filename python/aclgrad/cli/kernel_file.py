# SPDX-License-Identifier: Apache-2.0
"""``aclgrad check`` of a kernel file or an .asc program, which `aclgrad run` runs with all checks
and a report of its findings.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aclgrad.cli.options import Checked, KernelFile, OfPath
from aclgrad.common import temporary
from aclgrad.reading.command_words import is_path
from aclgrad.testing import selection

if TYPE_CHECKING:
    from aclgrad.findings import Run


@dataclass(frozen=True)
class Given:
    """What the command line says of the launch."""

    inputs: Sequence[str]
    outputs: Sequence[str]
    attrs: Sequence[str]
    kernel: KernelFile
    of_path: OfPath
    checked: Checked

    def words(self) -> list[str]:
        """The same for `aclgrad run`."""
        options: list[tuple[str, object]] = [("--inputs", name) for name in self.inputs]
        options += [("--outputs", shapes) for shapes in self.outputs]
        options += [("--attr", attr) for attr in self.attrs]
        options += [(f"--{n.replace('_', '-')}", v) for n, v in vars(self.kernel).items()]
        options += [("--layout", self.of_path.layout and self.of_path.layout.value)]
        options += [("--op", self.of_path.only), ("--entry", self.of_path.entry)]
        options += [("-I", folder) for folder in self.of_path.include or ()]
        options += [("-D", word) for word in self.of_path.define or ()]
        options += [("--soc", self.checked.soc)]
        options += [("--autosync", self.checked.autosync and self.checked.autosync.value)]
        options += [("--partial-output", name) for name in self.checked.partial_output or ()]
        words = [str(word) for pair in options if pair[1] is not None for word in pair]
        if self.checked.keep_going is not None:
            words.append("--keep-going" if self.checked.keep_going else "--no-keep-going")
        return words


def alone(words: Sequence[str], of_path: OfPath) -> str | None:
    """The word, if it is one alone and names a kernel file or a program."""
    if len(words) != 1 or not is_path(words[0]) or not Path(words[0]).is_file():
        return None
    from aclgrad.cli import sources
    from aclgrad.running import kernel_file as kernel_files

    sources.choose(words, of_path, quiet=True)
    return words[0] if kernel_files.find(words[0]) else None


def check(word: str, given: Given, chaos: str | None, case: object) -> list[Run]:
    """The findings of a run, and of one for each seed of chaos."""
    if case:
        raise ValueError(
            f"check {word}: a kernel file has no cases and no definition. Next: --inputs and"
            " --outputs say what it is launched with"
        )
    seeds = selection.seeds(chaos) if chaos else ()
    return [_run(word, given, seed) for seed in (None, *seeds)]


def _run(word: str, given: Given, seed: int | None) -> Run:
    from aclgrad import findings

    words = ["run", word, *given.words(), "--check"]
    words += [] if seed is None else ["--chaos", str(seed)]
    with temporary.folder() as folder:
        report = folder / "findings"
        done = subprocess.run(
            [sys.executable, "-I", "-m", "aclgrad", *words],
            env={**os.environ, "ACLGRAD_SIM_REPORT": str(report)},
            capture_output=True,
            text=True,
            check=False,
        )
        found = findings.read_report(report) if report.is_file() else []
    if done.returncode and not findings.errors_of(found):
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no message"]
        raise ValueError(f"check {word}: {said[-1].removeprefix('error: ')}")
    label = word if seed is None else f"{word} chaos {seed}"
    return findings.Run(label, f"aclgrad {shlex.join(words)}", tuple(found))
