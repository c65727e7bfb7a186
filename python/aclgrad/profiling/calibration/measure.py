# SPDX-License-Identifier: Apache-2.0
"""A calibration from its beginning to its end: build, launch, compare, fit. What was measured is
kept beside the result until that is there, so that a run which was ended goes on.
"""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from aclgrad.common import files, temporary
from aclgrad.common.data import parse_json
from aclgrad.errors import ToolkitError
from aclgrad.profiling.calibration import msprof, register
from aclgrad.profiling.calibration.board import (
    AS_MODELLED,
    DIFFERS,
    UNDECIDED,
    Board,
    BoardError,
    Row,
)
from aclgrad.profiling.calibration.fit import NO_PROBE, Fit, is_as_modelled
from aclgrad.profiling.calibration.probes import EMPTY, Plan, plan
from aclgrad.profiling.calibration.register import Choice
from aclgrad.profiling.calibration.runner import Answer, Launch, Model, Overlay, build, on_device
from aclgrad.profiling.calibration.sources import TICKS, Clock, median, ticks_of
from aclgrad.runtime import find_toolkit
from aclgrad.runtime.toolkit import cann_home
from aclgrad.spec.soc import family_of

Told = Callable[[str, int, int], None]
Warn = Callable[[str], None]

AUTO, OFF = "auto", "off"
"""When msprof is used: if an NPU's environment has it, or never. Any other word is a folder."""

_WHOLE_ARCH = 2201
"""The architecture whose vector cores have all that the probes use, such as sorting structures."""
_CONSTANT = 0.1  # of a reading, by which that of a constant may be off
_COUNTER = 0.02  # by which the counter may tick at another rate
_TIMES = 9  # launches of which the median counts, on an NPU
_TOGETHER = 40  # probes in one process, where it need not fear the device


def _groups(every: Sequence[tuple[Launch, ...]], together: int) -> Iterator[list[Launch]]:
    for begin in range(0, len(every), together):
        several = every[begin : begin + together]
        yield list({launch.name: launch for one in several for launch in one}.values())


class _Kept:
    """Answers of the device so far, in a file beside the result."""

    def __init__(self, path: Path, header: Mapping[str, object]) -> None:
        self.path, self.header = path, dict(header)
        self.answers: dict[str, Answer] = {}
        try:
            content = parse_json(files.read(path, str(path), "").decode())
        except (files.FileError, ValueError):
            return
        if content.get("header") == self.header:
            self.answers = {
                name: Answer(tuple(times), base64.b64decode(output), error, tuple(ticks))
                for name, (times, output, error, ticks) in content["answers"].items()
            }

    def add(self, answers: Mapping[str, Answer]) -> None:
        self.answers |= answers
        rows = {
            name: (one.times, base64.b64encode(one.output).decode(), one.error, one.ticks)
            for name, one in self.answers.items()
        }
        files.write(self.path, json.dumps({"header": self.header, "answers": rows}), "-o")

    def done(self) -> None:
        self.path.unlink(missing_ok=True)


def _supported(soc: str) -> dict[str, Any]:
    """The simulator's row of a SoC."""
    facts = next((row for row in register.socs() if row["name"] == soc), None)
    if facts is None:
        raise BoardError(f"the simulator knows no SoC {soc}. Next: aclgrad doctor")
    return facts


def _leave_out(questions: Plan, model: Model) -> set[str]:
    """Take the probes out that use what the SoC does not have; returns their names."""
    every = [*questions.values.values(), *(one.launches for one in questions.timings.values())]
    lacking = model.lacking(every)
    lacks = set()
    for name, launches in list(questions.values.items()):
        if any(launch.name in lacking for launch in launches):
            lacks.add(name)
            del questions.values[name]
    for name, timing in list(questions.timings.items()):
        if any(launch.name in lacking for launch in timing.launches):
            lacks.add(name)
            del questions.timings[name]
    return lacks


def _found_soc(
    program: Path, device: int, environment: Mapping[str, str]
) -> tuple[str, dict[str, int]]:
    """The device's name, and the sizes that its runtime tells."""
    answers = next(
        on_device(program, device, [[Launch("hello", "probe_scalar", (0, 0))]], 1, environment)
    )
    if "device" not in answers:
        said = answers["hello"].error if "hello" in answers else "no answer"
        raise BoardError(
            f"device {device} does not answer: {said}. It may be absent, or another process may"
            " hold it. Next: aclgrad doctor, and npu-smi info, which lists who uses a board;"
            " --number asks another one"
        )
    name, *words = answers["device"].output.decode().split()
    pairs = (word.partition("=") for word in words)
    return name, {size: int(value) for size, _, value in pairs}


def calibrate(
    kind: str,
    path: Path,
    *,
    soc: str | None = None,
    device: int = 0,
    under: str = AUTO,
    told: Told = lambda *_: None,
    warn: Warn = lambda _: None,
) -> Board:
    """Ask a device everything. `kind`: sim or npu; `soc`: which it has to be; `under`: msprof, as
    `AUTO`, `OFF` or a folder of it.
    """
    files.check_output(path, "-o")
    toolkit = cann_home() if kind == "npu" else find_toolkit(kind).root
    environment = dict(os.environ)
    if kind == "sim":
        soc = soc or environment.get("ACLGRAD_SOC") or None
        environment |= {"ACLGRAD_SIM_PROFILE": "on", "ACLGRAD_SIM_MODE": "fast"}
        environment |= {"ACLGRAD_SOC": soc} if soc else {}
    if soc is not None:
        family_of(soc)
        _supported(soc)
    told("build", 0, 1)
    program = build(toolkit, soc or "Ascend910B2")
    name, sizes = _found_soc(program, device, environment)
    if soc is not None and name != soc:
        raise BoardError(f"device {device} is a {name}, --soc is {soc}. Next: leave --soc out")
    facts = _supported(name)
    questions = plan(facts["vecCores"], facts["l2Bytes"], facts["ubTilingBytes"])
    model = Model(name)
    lacks = _leave_out(questions, model) if facts["npuArch"] != _WHOLE_ARCH else set()
    board = Board(name, kind, _versions(toolkit))
    kept = _Kept(
        path.with_name(path.name + ".partial"),
        {
            "register": register.digest(),
            "soc": name,
            "device": kind,
            "program": program.parent.name,
        },
    )
    _ask(program, device, questions, kind, environment, kept, told)
    timed = [one for one in kept.answers.values() if one.times or one.output]
    if not timed:
        failed = next((one.error for one in kept.answers.values() if one.error), "no answer")
        raise BoardError(f"device {device}: every probe fails: {failed}. Next: aclgrad doctor")
    answers = _profiled(program, device, questions, kept.answers, environment, kind, under, warn)
    board.rows = _sizes(_found_soc(model.program, 0, model.environment)[1], sizes)
    documented = TICKS.get(facts["npuArch"], 0.0)
    counter = _counter(documented, answers)
    board.rows += [counter] if documented else []
    board.rows += _choices(questions, lacks, answers, model, told)
    ticks = counter.measured if counter.verdict == DIFFERS else documented
    assert isinstance(ticks, float)
    clock = Clock(ticks, answers)
    board.rows += _costs(questions, facts, answers, model, clock, told)
    board.rows += _constants(questions, answers, model, clock, board)
    return board


def finish(path: Path) -> None:
    """Remove what was kept for going on."""
    path.with_name(path.name + ".partial").unlink(missing_ok=True)


def _versions(toolkit: Path) -> dict[str, str]:
    from aclgrad import __version__

    versions = {"aclgrad": __version__}
    for info in sorted(toolkit.glob("*/ascend_toolkit_install.info")) + [toolkit / "version.info"]:
        if info.is_file():
            versions["toolkit"] = info.read_text(errors="replace").strip()[:200]
            break
    return versions


def _ask(
    program: Path,
    device: int,
    questions: Plan,
    kind: str,
    environment: Mapping[str, str],
    kept: _Kept,
    told: Told,
) -> None:
    every = [*questions.values.values(), *(one.launches for one in questions.timings.values())]
    left = [probe for probe in every if any(launch.name not in kept.answers for launch in probe)]
    together = _TOGETHER if kind == "sim" else 1
    done = len(every) - len(left)
    told("probes", done, len(every))
    times = _TIMES if kind == "npu" else -1
    for answers in on_device(program, device, _groups(left, together), times, environment):
        kept.add(answers)
        done = min(done + together, len(every))
        told("probes", done, len(every))


def _profiled(
    program: Path,
    device: int,
    questions: Plan,
    answers: Mapping[str, Answer],
    environment: Mapping[str, str],
    kind: str,
    under: str,
    warn: Warn,
) -> dict[str, Answer]:
    """The answers, with msprof's durations of launches that go well and do not take long."""
    if under == OFF or (under == AUTO and (kind != "npu" or msprof.tool() is None)):
        return dict(answers)
    every = [one.launches for one in questions.timings.values() if not one.heavy]
    launches = {launch.name: launch for one in every for launch in one}
    timed = [launch for name, launch in launches.items() if answers[name].times]
    with ExitStack() as stack:
        folder = stack.enter_context(temporary.folder()) if under == AUTO else Path(under)
        try:
            found = msprof.durations(program, device, timed, folder, environment)
        except ToolkitError as error:
            if under != AUTO:
                raise
            warn(f"{error}: without msprof, times are those of events and of the counter")
            return dict(answers)
    return {name: replace(one, durations=found.get(name, ())) for name, one in answers.items()}


def _counter(documented: float, answers: Mapping[str, Answer]) -> Row:
    """Ticks of GetSystemCycle in a microsecond of the events' time."""
    got = ticks_of(answers)
    same = abs(got - documented) <= _COUNTER * documented
    return Row(
        "soc.counterTicks", "size",
        UNDECIDED if not got else AS_MODELLED if same else DIFFERS,
        documented, got or None, "a microsecond",
        note="" if got else "no launch was counted",
        depends="how the counter's times are read",
    )  # fmt: skip


def _sizes(own: Mapping[str, int], told: Mapping[str, int]) -> list[Row]:
    """What the runtime says of the SoC beside what the simulator says. Nothing takes it over:
    another size is another SoC.
    """
    what = {"vecCores": "how many cores work", "l2Bytes": "the order of tiles past L2"}
    rows = []
    for name, depends in what.items():
        got = told.get(name)
        same = AS_MODELLED if got == own[name] else DIFFERS
        rows.append(
            Row(
                f"soc.{name}", "size", UNDECIDED if got is None else same, float(own[name]),
                None if got is None else float(got), depends=depends,
                note="the runtime does not tell it" if got is None else "",
            )
        )  # fmt: skip
    return rows


# --- choices --------------------------------------------------------------------------------


def _differing(wanted: bytes, got: bytes) -> int:
    return sum(a != b for a, b in zip(wanted, got, strict=True)) if len(wanted) == len(got) else -1


def _choices(
    questions: Plan, lacks: set[str], answers: Mapping[str, Answer], model: Model, told: Told
) -> list[Row]:
    choices = register.choices()
    launches = [launch for probe in questions.values.values() for launch in probe]
    own = model.run(launches, Overlay())
    rows = []
    for index, choice in enumerate(choices):
        told("choices", index, len(choices))
        asked = questions.values.get(choice.probe or "", ())
        verdict, measured, note = _judged(choice, asked, answers, own, model)
        if choice.probe in lacks:
            note = "the SoC does not have what its probe uses"
        rows.append(
            Row(
                choice.id, "choice", verdict, choice.chosen or choice.what, measured, note=note,
                depends=f"{choice.api}: {choice.depends}",
            )
        )  # fmt: skip
    return rows


def _judged(
    choice: Choice,
    asked: Sequence[Launch],
    answers: Mapping[str, Answer],
    own: Mapping[str, Answer],
    model: Model,
) -> tuple[str, str | None, str]:
    if not asked:
        return UNDECIDED, None, choice.unasked or NO_PROBE
    failed = [answers[one.name].error for one in asked if answers[one.name].error]
    if failed:
        return DIFFERS, None, failed[0]

    def same(found: Mapping[str, Answer]) -> bool:
        return all(answers[one.name].output == found[one.name].output for one in asked)

    if same(own):
        return AS_MODELLED, choice.chosen or None, ""
    for alternative in choice.alternatives:
        if same(model.run(asked, Overlay(choices={choice.id: alternative}))):
            return DIFFERS, alternative, ""
    worst = {one.name: _differing(answers[one.name].output, own[one.name].output) for one in asked}
    told = ", ".join(f"{name}: {count} bytes" for name, count in worst.items() if count)
    return DIFFERS, None, f"as none of the alternatives ({told})"


# --- costs ----------------------------------------------------------------------------------


def _costs(
    questions: Plan,
    facts: Mapping[str, Any],
    answers: Mapping[str, Answer],
    model: Model,
    clock: Clock,
    told: Told,
) -> list[Row]:
    costs = register.costs(facts["name"], facts["npuArch"], facts["l2Bytes"])
    found = Fit(costs, questions.timings, answers, model.run, clock, told).solve()
    rows = []
    for cost in costs:
        fitted = found[cost.id]
        if fitted.value is None:
            verdict = UNDECIDED
        else:
            verdict = AS_MODELLED if is_as_modelled(cost, fitted) else DIFFERS
        rows.append(
            Row(
                cost.id, "cost", verdict, cost.value, fitted.value, cost.unit,
                round(fitted.spread, 4), cost.unasked or fitted.why,
                f"{cost.what}: {cost.depends}", fitted.source,
            )
        )  # fmt: skip
    return rows


def _constants(
    questions: Plan, answers: Mapping[str, Answer], model: Model, clock: Clock, board: Board
) -> list[Row]:
    """Whether the probes of the model's constants read what the model reads with the board's costs.
    Nothing takes another one over.
    """
    constants = register.constants()
    asked = [questions.timings[one.probe] for one in constants if one.probe in questions.timings]
    launches = {launch.name: launch for timing in asked for launch in timing.launches}
    costs = Overlay(board.overlay["costs"])
    own = model.run([*launches.values(), EMPTY], costs) if launches else {}
    rows = []
    for one in constants:
        timing = questions.timings.get(one.probe or "")
        verdict, note, spread, source = UNDECIDED, one.unasked or NO_PROBE, 0.0, ""
        if timing is not None:
            source = clock.best(timing, answers)
            wanted = clock.reading(timing, answers, source, median)
            got = clock.reading(timing, own, source, median)
            spread = clock.spread(timing, answers, source)
            note = f"its probe reads {wanted:.3g}, the model {got:.3g}"
            if math.isfinite(wanted) and spread <= _CONSTANT:
                same = abs(wanted - got) <= (_CONSTANT + spread) * abs(got)
                verdict, note = (AS_MODELLED, "") if same else (DIFFERS, note)
        rows.append(
            Row(
                f"model.{one.where}", "constant", verdict, one.value, None, "",
                round(spread, 4), note, f"{one.what}: {one.depends}", source,
            )
        )  # fmt: skip
    return rows


def check(board: Board) -> None:
    """Raise unless the simulator can take a board over."""
    if not any(board.overlay.values()):
        raise ToolkitError(
            f"the board of {board.soc} says nothing that the simulator does not do already. Next:"
            " aclgrad calibrate --read shows what is not decided"
        )
