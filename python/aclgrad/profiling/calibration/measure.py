# SPDX-License-Identifier: Apache-2.0
"""A calibration from its beginning to its end: build, launch, compare, fit. What was measured is
kept beside the result until that is there, so that a run which was ended goes on.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aclgrad.common import files
from aclgrad.errors import ToolkitError
from aclgrad.profiling.calibration import register
from aclgrad.profiling.calibration.board import (
    AS_MODELLED,
    DIFFERS,
    UNDECIDED,
    Board,
    BoardError,
    Row,
)
from aclgrad.profiling.calibration.fit import Fit, is_as_modelled
from aclgrad.profiling.calibration.probes import Plan, plan
from aclgrad.profiling.calibration.register import Choice
from aclgrad.profiling.calibration.runner import Answer, Launch, Model, Overlay, build, on_device
from aclgrad.runtime import find_toolkit
from aclgrad.runtime.toolkit import cann_home
from aclgrad.spec.soc import family_of

Told = Callable[[str, int, int], None]

_WHOLE_ARCHS = (2201, 3510)
"""Whose vector cores have all that the probes use."""
_TIMES = 9  # launches of which the median counts, on an NPU
_TOGETHER = 40  # probes in one process, where it need not fear the device


def _groups(every: Sequence[tuple[Launch, ...]], together: int) -> Iterator[list[Launch]]:
    for begin in range(0, len(every), together):
        several = every[begin : begin + together]
        yield list({launch.name: launch for one in several for launch in one}.values())


class _Kept:
    """Answers of the device so far, in a file beside the result."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path, self.header = path, dict(header)
        self.answers: dict[str, Answer] = {}
        try:
            content = json.loads(path.read_bytes())
        except (OSError, ValueError):
            return
        if content.get("header") == self.header:
            self.answers = {
                name: Answer(tuple(times), base64.b64decode(output), error)
                for name, (times, output, error) in content["answers"].items()
            }

    def add(self, answers: Mapping[str, Answer]) -> None:
        self.answers |= answers
        rows = {
            name: (one.times, base64.b64encode(one.output).decode(), one.error)
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
        raise BoardError(f"device {device} does not answer: {said}. Next: aclgrad doctor")
    name, *words = answers["device"].output.decode().split()
    pairs = (word.partition("=") for word in words)
    return name, {size: int(value) for size, _, value in pairs}


def calibrate(
    kind: str, path: Path, *, soc: str | None = None, device: int = 0, told: Told = lambda *_: None
) -> Board:
    """Ask a device everything. `kind`: sim or npu; `soc`: which it has to be."""
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
    lacks = _leave_out(questions, model) if facts["npuArch"] not in _WHOLE_ARCHS else set()
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
    board.rows = _sizes(_found_soc(model.program, 0, model.environment)[1], sizes)
    board.rows += _choices(questions, lacks, kept.answers, model, told)
    board.rows += _costs(questions, facts, kept.answers, model, told)
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
        return UNDECIDED, None, "no probe asks for it"
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
    told: Told,
) -> list[Row]:
    costs = register.costs(facts["name"], facts["npuArch"], facts["l2Bytes"])
    found = Fit(costs, questions.timings, answers, model.run, told).solve()
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
                round(fitted.spread, 4), fitted.why, f"{cost.what}: {cost.depends}",
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
