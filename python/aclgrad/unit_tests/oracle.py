# SPDX-License-Identifier: Apache-2.0
"""Whether a unit test's results are right, from the record of its scripts.

The tests' own verdict is not enough: most drop the exit codes of their compare scripts, some of
which only print a word, and some of which cannot fail at all. So a compare script is run a second
time on spoiled results and must object; where it does not, golden and result are compared here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np

_OBJECTS = re.compile(r"\bFAIL(?:ED|URE)?\b|\[ERROR\]|\bmismatch", re.IGNORECASE)
_GOLDEN = "golden"
_COMPARES = re.compile(r"compare|verify|check", re.IGNORECASE)

_DTYPES: tuple[tuple[str, type | np.dtype, float], ...] = (
    ("bfloat16", ml_dtypes.bfloat16, 2.0**-7),
    ("bf16", ml_dtypes.bfloat16, 2.0**-7),
    ("float32", np.float32, 1e-4),
    ("fp32", np.float32, 1e-4),
    ("float16", np.float16, 1e-3),
    ("fp16", np.float16, 1e-3),
    ("half", np.float16, 1e-3),
    ("uint8", np.uint8, 0),
    ("uint16", np.uint16, 0),
    ("uint32", np.uint32, 0),
    ("uint64", np.uint64, 0),
    ("int8", np.int8, 0),
    ("int16", np.int16, 0),
    ("int32", np.int32, 0),
    ("int64", np.int64, 0),
    ("bool", np.bool_, 0),
    ("float", np.float32, 1e-4),
)
"""Words for a dtype in file names and arguments, and how far a result may be off."""


@dataclass(frozen=True)
class Call:
    """One run of a script."""

    words: tuple[str, ...]
    folder: Path
    status: int
    output: str
    errors: str
    before: Mapping[str, Sequence[int]]
    after: Mapping[str, Sequence[int]]
    kept: Path | None

    @property
    def script(self) -> str:
        """The script's file name."""
        return next((Path(word).name for word in self.words if word.endswith(".py")), "")

    @property
    def compares(self) -> bool:
        """Whether this run is to judge results."""
        return bool(_COMPARES.search(self.script))

    @property
    def broke(self) -> str:
        """Why the script itself did not work, if so."""
        if self.status and re.search(
            r"Traceback \(most recent call last\)|can't open file", self.errors
        ):
            return f"{self.script}: {self.errors.strip().splitlines()[-1]}"
        return (
            f"{self.script} ended with status {self.status}"
            if not self.compares and self.status
            else ""
        )

    @property
    def objects(self) -> bool:
        """Whether it says that results are wrong."""
        return self.status != 0 or bool(_objections(self.output + self.errors))


@dataclass(frozen=True)
class Comparison:
    """What one run of a compare script is worth."""

    script: str
    kind: str  # golden | own golden | mismatch | broken
    detail: str = ""


@dataclass(frozen=True)
class Verdict:
    """What the results of one test are worth: the worst of its comparisons."""

    kind: str  # golden | own golden | in the test | none | mismatch | broken
    detail: str = ""
    comparisons: tuple[Comparison, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether the test counts as failed."""
        return self.kind in ("mismatch", "broken")


_WORST_FIRST = ("mismatch", "broken", "own golden", "golden")


def read_calls(log: Path) -> list[Call]:
    """What the recorder wrote down, in order."""
    calls = []
    for path in sorted(log.glob("*.json"), key=lambda path: int(path.stem)):
        entry = json.loads(path.read_text())
        kept = Path(entry["kept"]) if entry["kept"] else None
        calls.append(
            Call(
                tuple(entry["words"]),
                Path(entry["folder"]),
                entry["status"],
                entry["output"],
                entry["errors"],
                entry["before"],
                entry["after"],
                kept,
            )
        )
    return [call for call in calls if call.script]


def judge(
    calls: Sequence[Call],
    python: str,
    env: Mapping[str, str],
    *,
    asserts: bool,
    complaints: Sequence[str] = (),
) -> Verdict:
    """Judge a test that has ended by itself.

    ``asserts``: it compares something in C++. ``complaints``: what the shell and the build said
    when they could not copy or start a script of the test.
    """
    comparisons = []
    made: dict[Path, Sequence[int]] = {}  # by the scripts; what else appears is the test's
    for call in calls:
        if call.compares:
            results = [
                name
                for name, stamp in call.before.items()
                if made.get(call.folder / name) != stamp
                and _GOLDEN not in Path(name).name.lower()
                and not name.endswith((".py", ".sh"))
            ]
            comparisons.append(_judge_call(call, results, python, env))
        elif call.broke:
            comparisons.append(Comparison(call.script, "broken", call.broke))
        made.update(
            {
                call.folder / name: stamp
                for name, stamp in call.after.items()
                if not call.compares or call.before.get(name) != stamp
            }
        )
    if not any(call.compares for call in calls) and complaints:
        comparisons.append(Comparison("", "broken", f"no compare script has run: {complaints[0]}"))
    for kind in _WORST_FIRST:
        of_kind = [one for one in comparisons if one.kind == kind]
        if of_kind:
            return Verdict(kind, of_kind[0].detail, tuple(comparisons))
    return Verdict("in the test") if asserts else Verdict("none", "the test compares nothing")


_SHELL = re.compile(
    r"^(?:/\S*/)?(?:cp|mv|ln|mkdir|chmod|(?:ba|da)?sh): .*"
    r"(?:No such file|cannot|can't|not found|denied)"
)


def shell_complaints(output: str) -> list[str]:
    """Lines of a test's output in which the shell could not copy or start something."""
    return [line.strip() for line in output.splitlines() if _SHELL.search(line.strip())]


def _judge_call(
    call: Call, results: Sequence[str], python: str, env: Mapping[str, str]
) -> Comparison:
    def of_kind(kind: str, detail: str) -> Comparison:
        return Comparison(call.script, kind, detail)

    if call.kept is None or not results:
        if call.objects and not call.broke:
            return of_kind("mismatch", _said(call))
        return of_kind("broken", call.broke or f"{call.script}: the test wrote no result for it")
    if not call.broke:
        if call.objects:
            return of_kind("mismatch", _said(call))
        if _notices_spoiled(call, results, python, env):
            return of_kind("golden", call.script)
    why = call.broke or f"{call.script} accepts spoiled results"
    compared = _compare(call.kept, results, call.words)
    if compared is None:
        return of_kind("broken", f"{why}, and no golden file matches {', '.join(results)}")
    if compared:
        return of_kind("mismatch", f"{compared} ({why})")
    if not call.broke and all(_nothing_wanted(call.kept, name) for name in results):
        why = f"{', '.join(results)}: the golden has no elements, so there is nothing to read"
    return of_kind("own golden", why)


_PLACEHOLDER = 32
"""Bytes that a test writes at most for an output of no elements."""


def _nothing_wanted(folder: Path, name: str) -> bool:
    """Whether the golden file of a result is empty on purpose."""
    if os.path.getsize(folder / name) > _PLACEHOLDER:
        return False
    goldens = _goldens(folder)
    twins = [gold for gold in goldens if _bare(gold) == _bare(name)] or goldens
    return len(twins) == 1 and os.path.getsize(folder / twins[0]) == 0


def _objections(text: str) -> list[str]:
    """Lines that say so; one that counts 0 mismatches does not."""
    return [
        line.strip()
        for line in text.splitlines()
        if _OBJECTS.search(line) and not re.search(r"PASS|success", line, re.IGNORECASE)
    ]


def _said(call: Call) -> str:
    lines = _objections(call.output + call.errors)
    text = lines[0] if lines else f"it ended with status {call.status}"
    return f"{call.script}: {text}"


def _notices_spoiled(
    call: Call, results: Sequence[str], python: str, env: Mapping[str, str]
) -> bool:
    assert call.kept is not None
    spoiled = call.kept.with_name(call.kept.name + "-spoiled")
    shutil.copytree(call.kept, spoiled, dirs_exist_ok=True)
    for name in results:
        data = np.fromfile(spoiled / name, np.uint8)
        # Exponents change, and so do integers: no tolerance covers it.
        (data ^ np.uint8(0x35)).tofile(spoiled / name)
    done = subprocess.run(
        [python, *call.words],
        cwd=spoiled,
        env=dict(env),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    shutil.rmtree(spoiled)
    return done.returncode != 0 or bool(_objections(done.stdout + done.stderr))


def _goldens(folder: Path) -> list[str]:
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if _GOLDEN in path.name.lower() and path.is_file()
    ]


def _compare(folder: Path, results: Sequence[str], words: Sequence[str]) -> str | None:
    """Compare results with golden files: what differs, "", or None without a golden file."""
    goldens = _goldens(folder)
    pairs = []
    for name in results:
        twin = next((gold for gold in goldens if _bare(gold) == _bare(name)), None)
        size = os.path.getsize(folder / name)
        alike = [gold for gold in goldens if os.path.getsize(folder / gold) == size]
        golden = twin or (alike[0] if len(alike) == 1 else None)
        if _nothing_wanted(folder, name):
            continue
        if golden is None:
            return None
        pairs.append((name, golden))
    wrong = [text for name, golden in pairs if (text := _differ(folder, name, golden, words))]
    return "; ".join(wrong) if results else None


def _bare(name: str) -> str:
    return re.sub(r"golden|output|result|out", "", Path(name).name.lower())


def _differ(folder: Path, name: str, golden: str, words: Sequence[str]) -> str:
    text = " ".join([Path(name).name, Path(golden).name, *words]).lower()
    dtype, tolerance = next(
        ((dtype, tolerance) for word, dtype, tolerance in _DTYPES if word in text),
        (np.uint8, 0.0),
    )
    got, want = np.fromfile(folder / name, dtype), np.fromfile(folder / golden, dtype)
    if got.size != want.size:
        return f"{name}: {got.size} elements, {golden} has {want.size}"
    if tolerance:
        wide_got, wide_want = got.astype(np.float64), want.astype(np.float64)
        bad = ~np.isclose(wide_got, wide_want, rtol=tolerance, atol=tolerance, equal_nan=True)
    else:
        bad = got != want
    if not bad.any():
        return ""
    first = int(np.argmax(bad))
    return (
        f"{name}: {int(bad.sum())} of {bad.size} elements differ from {golden}, first at {first}:"
        f" got {got[first]}, want {want[first]}"
    )
