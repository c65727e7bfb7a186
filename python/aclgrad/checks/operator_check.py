# SPDX-License-Identifier: Apache-2.0
"""Runs an operator that comes as sources on generated inputs, under all checks.

Inference, tiling and kernel are other people's code: they run in a child process, one case after
the other until one is taken, and whatever ends the child ends that case only.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from aclgrad import findings
from aclgrad.building import operator_build
from aclgrad.cases.definition_lines import with_definition
from aclgrad.cases.made_inputs import MadeCase, Recipe
from aclgrad.cases.tiling_fields import unset_tiling
from aclgrad.checks.exploration import (
    CLEAN,
    FAULTY,
    REFUSED,
    MadeOutcome,
    Settler,
    Tried,
    explore,
)
from aclgrad.common.data import rebuilt
from aclgrad.common.files import text_of
from aclgrad.errors import AclnnError
from aclgrad.findings.finding import Written, finding_from_json, written
from aclgrad.reading.auto_sync import Assumed, assume
from aclgrad.reading.definition_rules import inference_place
from aclgrad.reading.sources import SourcesError, numpy_name
from aclgrad.running import operator_call
from aclgrad.running.isolation import CRASHED, SLOW, case_by_case, first_reason
from aclgrad.runtime.device import Device
from aclgrad.runtime.settings import Settings
from aclgrad.spec.definition import Definition
from aclgrad.spec.dtypes import Array, in_memory
from aclgrad.testing.run import Checked, UnsetTiling, check_findings
from aclgrad.testing.writers import writers_of

Judge = Callable[[Definition, MadeCase, "operator_call.Outputs"], str]
"""Compares a result: "matched", "mismatched: why", or "" when it does not know."""

TAKEN, ALL = "taken", "all"
"""What `run_cases` may stop at, beside CLEAN."""

_COUNTED = 1 << 15
"""Elements of inputs from which on the copies of each core to the output are counted."""

_GRACE = 30.0
"""Seconds that a case may take which began before the time was up."""

_MOST_DTYPES = 3
"""Dtypes of the first input for which an operator is checked unless one is named."""

_HOST_CRASH = re.compile(
    r"^(?:\w+: )?(.* (?:crashed: (?:SIG|it wrote)|hangs: an endless loop).*)$", re.MULTILINE
)
"""What the simulator says of op_host code that raises a signal or does not end."""

_FILLING = 0xFF
"""Each byte of device memory that nothing was written to (kPoisonByte of the simulator)."""

_NOT_LAUNCHED = "no kernel was launched: all outputs are empty"

_WROTE_NOTHING = "the kernel wrote to no output: their shapes are a guess, which no inference gave"

_REFUSALS = (AclnnError, SourcesError, ValueError, KeyError, TypeError)
"""What a call raises that does not take its inputs."""

_HANGS_PER_LIMIT = 12
"""A hang that a case shows must be found within the time limit of all cases, also one whose loop
issues instructions, which takes ten times as long.
"""


def prefer_float(rows: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The dtype combination to try: float32 first, as results are easiest to judge there."""
    return next((row for row in rows if row and row[0] == "DT_FLOAT"), rows[0])


def run_cases(
    builder: operator_build.Builder,
    op: Definition,
    row: Sequence[str],
    given: Iterable[MadeCase],
    *,
    soc: str,
    judge: Judge | None = None,
    seconds: float = 30.0,
    until: str = CLEAN,
    grace: float = 0.0,
    autosync: str | None = None,
    keep_going: bool | None = None,
    seeds: Sequence[int] = (),
) -> list[MadeOutcome]:
    """Run cases of a built operator until one is clean, is taken, or (ALL) to the end; a time limit
    for all together. With ``grace`` a case that has begun may take that much longer. What is clean
    runs again with each of the ``seeds`` of chaos mode.
    """
    queue = list(given)
    outcomes: list[MadeOutcome] = []
    deadline = time.monotonic() + seconds
    settings = Settings(soc=soc, autosync=autosync, keep_going=keep_going)

    def work(first: int) -> Iterator[_Answer]:
        return _work(
            builder, op, row, queue[first:], settings, judge, until, seconds, deadline, seeds
        )

    for answer, ended in case_by_case(len(queue), work, lambda _: deadline + grace, deadline):
        if answer is not None:
            outcomes.append(_from_json(answer))
        elif ended is not None:
            outcomes.append(MadeOutcome(queue[len(outcomes)].label, *ended))
        if _enough(outcomes[-1], until):
            break
    return outcomes


class _Answer(TypedDict, total=False):
    """What a child says of a case: the fields of a `MadeOutcome`."""

    label: str
    status: str
    message: str
    pieces: int
    launched: bool
    wrote: bool
    found: list[Written]
    verdict: str
    seconds: float


@dataclass
class MadeCall:
    """A made case that is computed, and what its first run gave."""

    device: Device
    builder: operator_build.Builder
    op: Definition
    row: Sequence[str]
    case: MadeCase
    result: operator_call.Outputs | None = None
    pieces: int | None = None  # copies of a core to the output; None when nobody counted

    def compute(self) -> Array:
        """Compute it. All results as one array, by which two runs are compared."""
        case = self.case
        got = operator_call.call(
            self.device, self.builder, self.op, self.row, case.inputs, case.attrs, case.outputs
        )
        if self.result is None:
            self.result = got
            if self._counted:
                self.pieces = _pieces(self.device, next(iter(got.outputs.values()), None))
        return operator_call.flat(got)

    @property
    def _counted(self) -> bool:
        return sum(array.size for param in self.case.inputs for array in param) >= _COUNTED

    def checked(self, unset: UnsetTiling) -> Checked:
        """What the checks say of it."""
        self.device.keep_writers(self._counted)
        try:
            return check_findings(
                self.device, self.op.type, self.compute, unset=unset, refusals=_REFUSALS
            )
        finally:
            self.device.keep_writers(False)


def _enough(outcome: MadeOutcome, until: str) -> bool:
    return (until == CLEAN and outcome.ran) or (until == TAKEN and outcome.taken)


def best(outcomes: Sequence[MadeOutcome]) -> MadeOutcome | None:
    """The outcome that says most: a clean run, else a finding, a crash, a time limit, a call that
    did nothing, a refusal.
    """
    order = (CLEAN, FAULTY, SLOW, CRASHED, "", REFUSED)

    def place(outcome: MadeOutcome) -> int:
        return order.index("" if outcome.status == CLEAN and not outcome.ran else outcome.status)

    return min(outcomes, key=place, default=None)


def _work(  # noqa: C901
    builder: operator_build.Builder,
    op: Definition,
    row: Sequence[str],
    rest: Sequence[MadeCase],
    settings: Settings,
    judge: Judge | None,
    until: str,
    seconds: float,
    deadline: float,
    seeds: Sequence[int],
) -> Iterator[_Answer]:
    """In the child: an outcome per case."""
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = str(builder.package)
    device = settings.open()
    if limit := float(device.option("hang_limit") or 0):
        device.set_option("hang_limit", f"{min(limit, seconds / _HANGS_PER_LIMIT):g}")
    partial = device.option("partial_outputs") or "none"
    unset = unset_tiling(device, builder)
    for case in rest:
        if time.monotonic() > deadline:
            return
        # Nobody knows how much of an output is to be written if its shape is a guess.
        guessed = bool(case.outputs)
        device.set_option("partial_outputs", "*" if guessed else partial)
        started = time.monotonic()
        answer: _Answer = {"label": case.label}

        call = MadeCall(device, builder, op, row, case)
        checked = call.checked(unset)
        status, found = CLEAN, checked.findings
        if checked.result is None:
            crash = _HOST_CRASH.search(checked.error)
            status = CRASHED if crash else REFUSED
            answer["message"] = crash[1] if crash else checked.error
        elif call.pieces is not None:
            answer["pieces"] = call.pieces
        answer["launched"] = status != CLEAN or checked.launched
        if not answer["launched"]:
            answer["message"] = _NOT_LAUNCHED
        outputs = call.result.outputs if call.result else {}
        if guessed and status == CLEAN and (names := _untouched(outputs)):
            found += _places_of(device, call.compute, names, len(outputs), partial)
            if len(names) == len(outputs):
                answer["wrote"], answer["message"] = False, _WROTE_NOTHING
        if seeds and status == CLEAN and not findings.errors_of(found):
            late = check_findings(device, op.type, call.compute, seeds)
            known = {item.key for item in found}
            found += tuple(item for item in late.findings if item.key not in known)
        errors = findings.errors_of(found)
        if not guessed:
            found = with_definition(found, device, builder, op, row, case.inputs, case.attrs)
        answer["status"] = FAULTY if errors else status
        answer["found"] = [written(item) for item in found]
        if judge and call.result and status == CLEAN:
            answer["verdict"] = judge(op, case, call.result)
        answer["seconds"] = round(time.monotonic() - started, 2)
        yield answer
        # The stream is useless after an error of a running kernel.
        ran = answer["launched"] and answer.get("wrote", True)
        enough = until == TAKEN or (until == CLEAN and ran)
        if errors or (enough and answer["status"] == CLEAN):
            return


_RANGE_OF = re.compile(r"bytes \[\d+, (\d+)\).* of its (\d+) bytes are unwritten, in 1 range")


def _with_inference(
    outcomes: Sequence[MadeOutcome], op: Definition, builder: operator_build.Builder
) -> list[MadeOutcome]:
    """Outcomes in which an output whose end is unwritten in every case, of those that show it, also
    has the line of the shape inference: the kernel may be right, and the shape too large.
    """
    ends: dict[object, bool] = {}
    for outcome in outcomes:
        for item in outcome.found:
            if item.kind == "output-unwritten":
                found = _RANGE_OF.search(item.detail)
                whole = found is not None and found[1] == found[2]
                ends[item.key] = ends.get(item.key, True) and whole
    if not any(ends.values()):
        return [*outcomes]
    file, _, line = inference_place(builder.sources, op.type).rpartition(":")
    if not file:
        return [*outcomes]
    text = text_of(Path(file)).splitlines()[int(line) - 1].strip()
    place = findings.Place("", "shape inference", "gives the shape", file, int(line), text)
    return [
        dataclasses.replace(
            outcome,
            found=tuple(
                dataclasses.replace(item, related=(*item.related, place))
                if ends.get(item.key)
                else item
                for item in outcome.found
            ),
        )
        for outcome in outcomes
    ]


def _untouched(outputs: Mapping[str, Array]) -> list[str]:
    """Outputs that hold nothing but what the simulator fills new memory with."""
    return [
        name
        for name, array in outputs.items()
        if array.size and (in_memory(array.reshape(-1)).view(np.uint8) == _FILLING).all()
    ]


def _places_of(
    device: Device,
    call: Callable[[], object],
    names: Sequence[str],
    outputs: int,
    partial: str,
) -> tuple[findings.Finding, ...]:
    """Findings for outputs of a guessed shape of which no byte was written, with their places: the
    call is run again. Warnings where no output was written, as the kernel may have had nothing to
    do with these shapes.
    """
    device.set_option("partial_outputs", partial)
    device.clear_findings()
    with contextlib.suppress(AclnnError):
        call()
    return tuple(
        item
        if len(names) < outputs
        else dataclasses.replace(
            item,
            severity=findings.WARNING,
            invented=f"the shape of {item.buffer}, which no inference gave",
        )
        for item in device.findings()
        if item.kind == "output-unwritten" and item.buffer in names
    )


def _pieces(device: Device, array: Array | None) -> int:
    """The most copies of one core to an output."""
    writers = None if array is None or not array.size else writers_of(device, array.size)
    if writers is None:
        return 0
    begins = np.r_[0, np.flatnonzero(np.diff(writers.pieces)) + 1]
    cores = writers.cores[begins]
    return int(np.bincount(cores[cores >= 0]).max(initial=0))


def _from_json(data: _Answer) -> MadeOutcome:
    return rebuilt(MadeOutcome, data, found=tuple(map(finding_from_json, data["found"])))


@dataclass(frozen=True)
class GeneratedCheck:
    """An operator with the outcomes of its cases, and lines about what was left out."""

    op: str
    outcomes: tuple[MadeOutcome, ...]
    assumed: Assumed
    notes: tuple[str, ...] = ()
    hollow: str = ""  # why the cases prove too little

    @property
    def taken(self) -> list[MadeOutcome]:
        """The cases that the operator did not refuse."""
        return [outcome for outcome in self.outcomes if outcome.status != REFUSED]

    @property
    def refused(self) -> list[findings.Refused]:
        """The cases that inference or tiling did not take."""
        return [
            findings.Refused(outcome.label, first_reason(outcome.message))
            for outcome in self.outcomes
            if outcome.status == REFUSED
        ]

    def runs(self, word: str, soc: str, chaos: str = "") -> list[findings.Run]:
        """As reports want it; ``chaos`` are the seeds as a command takes them."""
        again = f"aclgrad check {word} --soc {soc}{self.assumed.words}"
        again += f" --chaos {chaos}" if chaos else ""
        return [
            findings.Run(outcome.label, again + outcome.choice, outcome.found)
            for outcome in self.taken
        ]


def _rows(
    op: Definition, rows: Sequence[tuple[str, ...]], dtype: str
) -> tuple[list[tuple[str, ...]], list[str]]:
    """The dtype combinations to check, and the dtypes of the first input that are left out."""
    if dtype:
        wanted = [row for row in rows if row and numpy_name(row[0]) == dtype]
        if not wanted:
            offered = ", ".join(sorted({numpy_name(row[0]) for row in rows if row}))
            raise SourcesError(
                f"{op.type}: no kernel whose first input is {dtype}. Next: --dtype with one of"
                f" {offered}"
            )
        return wanted[:1], []
    first = prefer_float(rows)
    others = {row[:1]: row for row in reversed(rows) if row[:1] != first[:1]}
    order = ("DT_FLOAT16", "DT_BF16")
    rest = sorted(
        reversed(others.values()),
        key=lambda row: order.index(row[0]) if row and row[0] in order else len(order),
    )
    left = [numpy_name(row[0]) for row in rest[_MOST_DTYPES - 1 :] if row]
    return [first, *rest[: _MOST_DTYPES - 1]], left


def check(
    word: str,
    *,
    soc: str,
    jobs: int = 0,
    dtype: str = "",
    fast: bool = False,
    seconds: float = 60.0,
    autosync: str | None = None,
    keep_going: bool | None = None,
    seeds: Sequence[int] = (),
) -> GeneratedCheck:
    """Build an operator for some dtypes of its first input and run generated cases."""
    assumed = assume(word, soc, autosync)
    builder, described, op = operator_call.located(word, soc, jobs)
    rows, left_dtypes = _rows(op, builder.combinations(op), dtype)
    builder.build_kernels(op, rows, described)
    builder.build_api([op])
    deadline = time.monotonic() + seconds
    outcomes: list[MadeOutcome] = []
    taken: list[Recipe] = []
    left, refused, tiles = 0, 0, False
    for row in rows:

        def run(
            given: Sequence[MadeCase],
            row: Sequence[str] = row,
            until: str = ALL,
            least: float = 0.0,
        ) -> list[MadeOutcome]:
            return run_cases(
                builder,
                op,
                row,
                given,
                soc=soc,
                seconds=max(deadline - time.monotonic(), least),
                until=until,
                grace=_GRACE,
                autosync=assumed.value,
                keep_going=keep_going,
                seeds=seeds,
            )

        until_taken = functools.partial(run, until=TAKEN)
        tried = explore(op, row, soc, run, until_taken, fast=fast, known=taken)
        styles = taken or _taken(tried)
        # Whether a finding is an error does not depend on the time that is left.
        Settler(op, row, functools.partial(run, least=_GRACE), styles).settle(tried)
        taken = taken or styles[:1]
        _raise_crashes(op, word, tried)
        name = numpy_name(row[0]) if row else ""
        outcomes += [
            dataclasses.replace(
                outcome,
                label=f"{name}: {outcome.label}" if len(rows) > 1 else outcome.label,
                choice=_choice(case, name),
            )
            for case, outcome in zip(tried.cases, tried.outcomes, strict=True)
        ]
        left += tried.left
        refused += tried.refused
        tiles = tiles or tried.tiles
    outcomes = _with_inference(outcomes, op, builder)
    notes = tuple(_notes(left, left_dtypes, tiles, seconds, fast))
    checked = GeneratedCheck(op.type, tuple(outcomes), assumed, notes)
    if not checked.taken:
        raise SourcesError(
            f"{op.type}: it took none of {len(outcomes)} generated inputs: {_reasons(outcomes)}."
            f" Next: aclgrad run {word} --inputs ... with inputs of your own"
        )
    if not any(outcome.launched for outcome in checked.taken):
        place = inference_place(builder.sources, op.type)
        raise SourcesError(
            f"{op.type}: no kernel was launched in {len(checked.taken)} cases whose inputs have"
            f" elements: all outputs are empty\n  shape inference: {place or builder.sources}\n"
            "Next: set each dim of the output's shape there"
        )
    return dataclasses.replace(checked, hollow=_hollow(word, checked, refused))


def _reasons(outcomes: Sequence[MadeOutcome], most: int = 3) -> str:
    """Why cases were refused: the most frequent reasons, which differ in more than numbers."""
    texts = [first_reason(outcome.message) for outcome in outcomes]
    alike = Counter(re.sub(r"\d+", "0", text) for text in texts)
    example = {re.sub(r"\d+", "0", text): text.rstrip(".") for text in texts}
    found = [f"{example[key]} ({count} times)" for key, count in alike.most_common(most)]
    return "; ".join(found) or "no case fits its definition"


def _hollow(word: str, checked: GeneratedCheck, refused: int) -> str:
    """Why a check says little: of the generated shapes it refused more than it took."""
    tried = len(checked.taken)
    if refused <= tried:
        return ""
    return (
        f"{checked.op}: {refused} generated shapes were refused and {tried} tried, so the check"
        f" says little: {checked.refused[-1].reason}. Next: --shape with shapes that it takes,"
        f" cases() of a golden file (aclgrad new --from {word}), or --allow-refusals"
    )


def _choice(case: MadeCase, dtype: str) -> str:
    """Options that run a case alone, if --shape says all of it; else the dtype."""
    words = f" --dtype {dtype}" if dtype else ""
    recipe = case.recipe
    if case.invented or recipe is None or recipe.style != "same" or recipe.turned:
        return words
    return f" --shape {'x'.join(map(str, recipe.base))}{words}"


def _taken(tried: Tried) -> list[Recipe]:
    """A recipe for each style that the operator takes."""
    found: dict[tuple[str, bool, str], Recipe] = {}
    for case, outcome in zip(tried.cases, tried.outcomes, strict=True):
        if outcome.taken and case.recipe:
            key = (case.recipe.style, case.recipe.optionals, case.recipe.alone)
            found.setdefault(key, case.recipe)
    return [*found.values()]


def _raise_crashes(op: Definition, word: str, tried: Tried) -> None:
    """A crash of host code is the operator's fault and ends the check, and so is a crash of the
    kernel on plain inputs. A crash of the kernel on invented inputs is a warning.
    """
    for at, (case, outcome) in enumerate(zip(tried.cases, tried.outcomes, strict=True)):
        if outcome.status not in (CRASHED, SLOW):
            continue
        if not case.invented or _HOST_CRASH.search(outcome.message):
            raise SourcesError(
                f"{op.type}: {outcome.message}, inputs {outcome.label}. Next: aclgrad run {word}"
                " --inputs ... with inputs of these shapes, under gdb"
            )
        finding = findings.Finding(
            "call-failed",
            findings.WARNING,
            op.type,
            detail=f"{outcome.status}: {outcome.message}",
            text=outcome.message,
            invented=case.invented,
        )
        tried.outcomes[at] = dataclasses.replace(outcome, found=(*outcome.found, finding))


def _notes(
    left: int, left_dtypes: Sequence[str], tiles: bool, seconds: float, fast: bool
) -> Iterator[str]:
    if fast:
        yield (
            "--fast left out: most lengths around blocks, most ranks, shapes that differ between"
            " inputs, optional inputs"
        )
    if left:
        yield f"{left} {'case' if left == 1 else 'cases'} not tried: {seconds:g} s were over"
    if left_dtypes:
        yield f"dtypes not tried: {', '.join(left_dtypes)}. Next: --dtype with one of them"
    if not tiles:
        yield "in no case a core was seen to write more than two tiles"
