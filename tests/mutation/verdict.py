# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that the documentation recommends on a planted operator and says what they
show.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from mutation.faults import Fault

Sign = Literal["named", "elsewhere", "numbers", "warned", "nothing"]
NEAR = 2
"""Lines between a finding and the planted line that still count as its place."""

_NUMBERS = ("wrong-result", "chaos-difference")
_UNWRITTEN = "hint [output-unwritten]"
_PLACE = re.compile(r"([\w./ -]+\.(?:cpp|h|asc|hpp)):(\d+)")


@dataclass(frozen=True)
class Verdict:
    """What the commands said of a fault: the sign, the kinds of the findings and the first text."""

    sign: Sign
    kinds: tuple[str, ...] = ()
    text: str = ""


Found = tuple[str, str, tuple[tuple[str, int], ...]]
"""A finding: its kind, its text, the places of its ends."""


@dataclass(frozen=True)
class Ran:
    """One command: its exit status, its output and its findings."""

    status: int
    text: str
    findings: tuple[Found, ...] = ()
    warnings: tuple[Found, ...] = ()

    def without(self, kinds: frozenset[str]) -> Ran:
        """The same without warnings that the operator has anyway."""
        return replace(self, warnings=tuple(one for one in self.warnings if one[0] not in kinds))


@dataclass(frozen=True)
class Command:
    """Words of `aclgrad`, and what the environment adds to them."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def program(self) -> bool:
        """Whether a program runs, which says what it finds on its error stream."""
        return self.words[0] == "run"


def commands(target: Path, soc: str, dtype: str) -> tuple[Command, ...]:
    """The commands for a project or a program, in the order in which the tutorial uses them. A
    ``dtype`` makes the first ones
    shorter.
    """
    where = (str(target), "--soc", soc)
    if target.suffix == ".asc":
        off = {"ACLGRAD_SIM_AUTOSYNC": "off"}
        seeds = ({**off, "ACLGRAD_SIM_CHAOS": str(seed)} for seed in (1, 2, 3))
        return tuple(Command(("run", *where), each) for each in (off, *seeds, {}))
    late = ("check", *where, "--autosync", "off", "--chaos", "1-3")
    short = ("--fast", *(("--dtype", dtype) if dtype else ()))
    return Command((*late, *short)), Command(late), Command(("check", *where))


def run(command: Command, seconds: float) -> Ran:
    """Run a command and read what it found."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "findings.json"
        words = [sys.executable, "-I", "-m", "aclgrad", *command.words]
        if not command.program:
            words += ["--format", "json", "-o", str(output)]
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=seconds,
                env={**os.environ, **command.environment, "COLUMNS": "4000"},
                cwd=folder,
            )
        except subprocess.TimeoutExpired:
            return Ran(-1, f"did not end within {seconds:g} s")
        text = done.stdout + done.stderr
        if command.program:
            return Ran(done.returncode, text, tuple(faults_in(text)) if done.returncode else ())
        found = json.loads(output.read_text("utf-8")) if output.is_file() else {}
    return Ran(
        done.returncode, text, tuple(_found(found, "error")), tuple(_found(found, "warning"))
    )


def faults_in(text: str) -> Iterator[Found]:
    """What a program that ended with an error said: faults of kernels, else wrong numbers."""
    parts = re.split(r"(?=kernel fault \[|error\[|hint \[)", text)
    kinds = [re.match(r"(?:kernel fault |error)\[([\w-]+)\]", part) for part in parts]
    for kind, part in zip(kinds, parts, strict=True):
        if kind:
            yield kind[1], part, _places(part)
    if not any(kinds) and re.search(r"got .*, want ", text):
        yield "wrong-result", text, ()
        # What a program leaves unwritten may be on purpose, where the numbers are right.
        hints = (part for part in parts if part.startswith(_UNWRITTEN))
        yield from ((_UNWRITTEN, part, _places(part)) for part in hints)


def _places(text: str) -> tuple[tuple[str, int], ...]:
    return tuple((file.strip(), int(line)) for file, line in _PLACE.findall(text))


def _found(document: Mapping[str, object], severity: str) -> list[Found]:
    found = []
    listed = document.get("findings", [])
    assert isinstance(listed, list)
    for item in listed:
        finding = item.get("finding", item)
        if finding.get("severity", "error") != severity:
            continue
        ends = [finding.get("at") or {}, *(finding.get("related") or [])]
        places = tuple((end.get("file", ""), int(end.get("line", 0))) for end in ends)
        text = finding.get("text") or finding.get("detail", "")
        # An error of the host's code has its place in the text.
        places += _places(text)
        found.append((finding["kind"], text, places))
    return found


def judge(fault: Fault, file: str, source: str, ran: Sequence[Ran]) -> Verdict:
    """The best sign that the commands gave of a fault in a file, whose text was ``source``."""
    name, lines = Path(file).name, source.splitlines()
    text = " ".join(lines[fault.line - 1 : fault.last_line])
    first_line = _begin_of_inference(lines, fault.line)
    last_line = max(fault.last_line, _end_of_loop(lines, fault.line))
    operand = (_index(text) if fault.kind in _OF_INDEX else "") or _operand(text)
    # A flag is named by its event: the call that is left has another variable for the same id.
    event = re.search(r"\bHardEvent::\w+", text) if fault.kind in _OF_FLAG else None
    words = "|".join(word for word in (operand, event and event[0]) if word)
    same = re.compile(rf"\b(?:{words})\b") if words else None

    def near(places: Sequence[tuple[str, int]]) -> bool:
        for path, line in places:
            if Path(path).name != name or not 0 < line <= len(lines):
                continue
            if first_line - NEAR <= line <= last_line + NEAR:
                return True
            if same and same.search(lines[line - 1]):
                return True
        return False

    order = ("nothing", "warned", "numbers", "elsewhere", "named")
    best = Verdict("nothing")
    for one in ran:
        found = one.findings
        if not found and one.status != 0:
            found = (("refused", one.text[-400:], _places(one.text)),)
        for kind, text, places in found:
            sign: Sign = "named" if near(places) else "elsewhere"
            if kind in (*_NUMBERS, _UNWRITTEN) and sign == "elsewhere":
                sign = "numbers"
            if order.index(sign) > order.index(best.sign):
                best = Verdict(sign, (kind,), text[:400])
        if best.sign == "nothing" and one.warnings:
            kind, text, _ = one.warnings[0]
            best = Verdict("warned", (kind,), text[:400])
    return best


_OF_FLAG = ("flag-dropped", "flag-twice")

_OF_INDEX = ("core-offset", "core-next", "loop-short", "loop-long")


def _end_of_loop(lines: Sequence[str], line: int) -> int:
    """The last line of the loop that begins at a line, by its brackets; 0 if none does."""
    if not re.match(r"\s*(?:for|while)\b", lines[line - 1]):
        return 0
    depth = 0
    for number, text in enumerate(lines[line - 1 :], line):
        depth += text.count("{") - text.count("}")
        if depth <= 0:
            return number
    return 0


def _begin_of_inference(lines: Sequence[str], line: int) -> int:
    """Where the shape inference that a line is in begins: what it leaves out has no line. The line
    itself elsewhere.
    """
    begins = [number for number in range(1, line) if "InferShapeContext" in lines[number - 1]]
    return begins[-1] if begins and "}" not in lines[begins[-1] : line] else line


def _index(text: str) -> str:
    """The index that a statement declares or that a loop counts; empty for other text."""
    number = r"(?:auto|u?int\d+_t|size_t)"
    found = re.match(rf"\s*(?:for\s*\(\s*)?(?:const\s+)?{number}\s+(\w+)\s*=", text)
    return found[1] if found else ""


def _operand(text: str) -> str:
    """What a planted statement is about: the queue or tensor that is declared or that a method
    belongs to, else the first argument of a call; empty for other text.
    """
    text = re.sub(r"^if \([^()]*\) ", "", text.strip())
    declared = re.match(r"[\w:]+<[^;]*>\s+(\w+)\s*;", text)
    method = re.match(r"(\w+)(?:\.|->)(?!InitBuffer)\w+", text)
    argument = re.match(r"(?:\w+\.)?(?!for\b|if\b|while\b)[\w:]+(?:<[^;]*>)?\s*\(\s*(\w+)", text)
    found = declared or method or argument
    return found[1] if found and not found[1].isdigit() else ""
