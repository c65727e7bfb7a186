# SPDX-License-Identifier: Apache-2.0
"""One run of the compiler, which is repeated only where something has changed, and what its errors
say is missing.
"""

from __future__ import annotations

import glob
import itertools
import os
import re
import secrets
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aclgrad.building import toolchain
from aclgrad.building.toolchain import Toolchain
from aclgrad.common import files, rebuild
from aclgrad.common.locks import alone
from aclgrad.reading.cpp_text import without_launches
from aclgrad.reading.sources import Missing

_DIAGNOSES: tuple[tuple[str, str], ...] = (
    ("header", r"fatal error: (\S+): No such file"),
    ("member", r"has no member named ‘([^’]+)’"),
    ("api", r"static assertion failed: (\S+) is not in this simulator"),
    ("api", r"static assertion failed: (\S+) exists on architectures"),
    ("other", r"static assertion failed: matrix units: "),
    ("api", r"‘([^’]+)’ was not declared in this scope"),
    ("api", r"‘([^’]+)’ has not been declared"),
    ("api", r"‘([^’]+)’ is not a member of ‘"),
    ("api", r"‘([^’]+)’ in namespace ‘[^’]+’ does not name"),
    ("api", r"‘([^’]+)’ does not name a (?:type|template type)"),
    ("api", r"‘([^’]+)’ is not a (?:type|template)"),
    ("api", r"no member named ‘([^’]+)’"),
    ("api", r"no declaration matches ‘([^’]+)’"),
    ("form", r"no matching function for call to ‘([^’(<]+)"),
    ("form", r"(?:too many|too few|invalid) (?:arguments|argument|conversion)[^‘]*‘([^’]+)’"),
    ("form", r"template argument.*invalid"),
    ("api", r"there are no arguments to ‘([^’]+)’"),
    ("symbol", r"undefined reference to `([^']+)'"),
)


def diagnose(text: str) -> Missing:
    """Find the first error in a compiler's output and what it lacks."""
    for line in text.splitlines():
        match = re.match(r"(.*?):(\d+):\d+: (?:fatal )?error: (.*)", line)
        link = re.search(r"undefined reference to .*", line)
        if match is None and link is None:
            continue
        place = f"{match[1]}:{match[2]}" if match else line.split(": undefined", maxsplit=1)[0]
        message = match[3] if match else line
        for kind, pattern in _DIAGNOSES:
            found = re.search(pattern, line)
            if found:
                name = found[1] if found.groups() else ""
                return Missing(kind, name, place, message)
        return Missing("other", "", place, message)
    lines = text.strip().splitlines() or ["no output"]
    # Without a place: a full disk, a compiler that was killed.
    return Missing("other", "", "", next((line for line in lines if "error: " in line), lines[-1]))


_SPACES = re.compile(
    r"\[[ \t]*(?:host[ \t]*,[ \t]*)?aicore[ \t]*\]"
    r"(?=(?:\s|\n#[^\n]*\n)*(?:~|(?!mutable\b)[A-Za-z_]))"
)
"""What the device compiler's words for functions stand for, where sources write or define them by
hand, with the declaration behind it: neither a subscript nor a lambda. To C++ it means nothing, and
no macro can take it away.
"""
_SPELT = re.compile(
    r"error: expected .* before ‘\[’|\[[ \t]*(?:host[ \t]*,[ \t]*)?aicore[ \t]*\]|<<<"
)
"""A compiler's output shows the form, or its place alone if a macro of a system header has it. What
launches a kernel is a form, too, in headers that kernels share with host code.
"""


def _is_source(word: str) -> bool:
    return word.endswith((".cpp", ".cc", ".cxx")) and not word.startswith("-")


def _preprocessing(command: Sequence[str], text: Path) -> list[str]:
    """The command that only expands the source of another one. Headers that are parsed already are
    expanded again, from copies: clang would leave them out, and not all of them are in its output.
    """
    words = [*command, "-E"]
    for at, (word, after) in enumerate(itertools.pairwise(command)):
        if word == "-o":
            words[at + 1] = str(text)
        elif word == "-include" and os.path.isfile(f"{after}.gch"):
            copy = text.with_name(f"{text.name}.h")
            files.write(copy, Path(after).read_bytes(), "header")
            words[at + 1] = str(copy)
    return words


def _name_parsed(command: Sequence[str], text: Path, listed: Path) -> None:
    """Put a header that is parsed already in place of its copy, which goes, in what was read."""

    def escaped(name: str) -> str:
        return re.sub(r"([ #])", r"\\\1", name).replace("$", "$$")

    for word, after in itertools.pairwise(command):
        if word == "-include" and os.path.isfile(f"{after}.gch") and listed.is_file():
            copy = escaped(str(text.with_name(f"{text.name}.h")))
            said = listed.read_text("utf-8", "surrogateescape").replace(copy, escaped(after))
            files.write(listed, said.encode("utf-8", "surrogateescape"), "list of headers")


def _of_text(command: Sequence[str], text: Path) -> list[str]:
    """The command with expanded text for its source: headers and dependencies are no part."""
    words: list[str] = []
    skip = False
    for word in command:
        if skip or word == "-MD":
            skip = False
        elif word in ("-include", "-MF", "-MT"):
            skip = True
        elif _is_source(word):
            words += ["-x", "c++-cpp-output", str(text), "-x", "none"]
        else:
            words.append(word)
    return words


@dataclass(frozen=True)
class Step:
    """One run of the compiler; done again when anything that it depends on has changed."""

    output: Path
    command: tuple[str, ...]
    tools: Toolchain

    @property
    def depfile(self) -> Path:
        """What the compiler writes with -MD: the toolkit's headers are among its inputs."""
        return self.output.with_name(self.output.name + ".d")

    def _key(self) -> str:
        return toolchain.key(self.command, self.tools)

    def fresh(self) -> bool:
        """Whether the output is there and what a run would give."""
        return rebuild.fresh(self.output, self._key())

    def run(self) -> str | None:
        """Compile unless fresh. Returns the compiler's output when it fails."""
        if self.fresh():
            return None
        with alone(rebuild.lock_of(self.output)):
            # Whoever had the lock may have made it.
            made = self.fresh() or rebuild.restore(self.output, self._key())
            return None if made else self._make()

    def _make(self) -> str | None:
        """Compile aside: others may be reading what is there, and the compiler of a run that was
        killed may still be writing its own file.
        """
        for old in self.output.parent.glob(f"{glob.escape(self.output.name)}.*.part*"):
            old.unlink(missing_ok=True)
        part = self.output.with_name(f"{self.output.name}.{secrets.token_hex(4)}.part")
        listed = part.with_name(part.name + ".d")
        aside = {str(self.output): str(part), str(self.depfile): str(listed)}
        command = [aside.get(word, word) for word in self.command]

        text = part.with_name(part.name + ".ii")

        def run(words: Sequence[str]) -> str | None:
            done = subprocess.run(
                words, capture_output=True, text=True, errors="replace", check=False
            )
            status = f"{words[0]} ended with status {done.returncode}"
            return (done.stderr or done.stdout or status) if done.returncode else None

        def compile_aside() -> str | None:
            listed.unlink(missing_ok=True)
            error = run(command)
            if error is None or not _SPELT.search(error):
                return error
            error = run(_preprocessing(command, text))
            if error is None:
                _name_parsed(command, text, listed)
                expanded = _SPACES.sub("", text.read_text("utf-8", "surrogateescape"))
                expanded = without_launches(expanded) if "<<<" in expanded else expanded
                files.write(text, expanded.encode("utf-8", "surrogateescape"), "source")
                error = run(_of_text(command, text))
            return error

        def keep() -> None:
            if listed.is_file():
                listed.replace(self.depfile)
            part.replace(self.output)

        try:
            return rebuild.make(
                self.output,
                self._key(),
                rebuild.Inputs(toolchain.named_inputs(self.command, self.tools)),
                compile_aside,
                lambda since: toolchain.inputs_of(self.command, self.tools, listed, since),
                keep=keep,
            )
        finally:
            for path in (part, listed, text, text.with_name(f"{text.name}.h")):
                path.unlink(missing_ok=True)
