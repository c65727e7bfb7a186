# SPDX-License-Identifier: Apache-2.0
"""Runs an operator that comes as sources on generated inputs, under all checks.

Inference, tiling and kernel are other people's code: they run in a child process, one case after
the other until one is taken, and whatever ends the child ends that case only.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from aclgrad import findings
from aclgrad.errors import AclnnError
from aclgrad.project import building, running
from aclgrad.project.auto_sync import Assumed, assume
from aclgrad.project.inputs import Case, cases
from aclgrad.project.layout import locate
from aclgrad.project.sources import SourcesError, numpy_name
from aclgrad.runtime import open_device
from aclgrad.spec.soc import family_of

Judge = Callable[[Mapping[str, Any], Case, "running.Result"], str]
"""Compares a result: "matched", "mismatched: why", or "" when it does not know."""

REFUSED, CLEAN, FAULTY, CRASHED, SLOW = "refused", "clean", "finding", "crashed", "timed out"

_HOST_CRASH = re.compile(
    r"^\w+: (.* (?:crashed: (?:SIG|it wrote)|hangs: an endless loop).*)$", re.MULTILINE
)
"""What the simulator says of op_host code that raises a signal or does not end."""

_HANGS_PER_LIMIT = 12
"""A hang that a case shows must be found within the time limit of all cases, also one whose loop
issues instructions, which takes ten times as long.
"""


@dataclass(frozen=True)
class Outcome:
    """What one case showed."""

    label: str
    status: str
    message: str = ""
    found: tuple[findings.Finding, ...] = ()
    verdict: str = ""
    seconds: float = 0.0

    @property
    def ran(self) -> bool:
        """Whether the kernel has run to its end without an error."""
        return self.status == CLEAN

    @property
    def errors(self) -> list[findings.Finding]:
        """Findings that are no hints."""
        return [item for item in self.found if item.severity == findings.ERROR]


def prefer_float(rows: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The dtype combination to try: float32 first, as results are easiest to judge there."""
    return next((row for row in rows if row and row[0] == "DT_FLOAT"), rows[0])


def run_cases(
    builder: building.Builder,
    op: Mapping[str, Any],
    row: Sequence[str],
    given: Iterable[Case],
    *,
    soc: str,
    judge: Judge | None = None,
    seconds: float = 30.0,
    until_clean: bool = True,
    autosync: str | None = None,
    keep_going: bool | None = None,
) -> list[Outcome]:
    """Run cases of a built operator until one is clean; a time limit for all together."""
    queue = list(given)
    outcomes: list[Outcome] = []
    deadline = time.monotonic() + seconds
    while len(outcomes) < len(queue) and time.monotonic() < deadline:
        rest = queue[len(outcomes) :]
        work = lambda rest=rest: _work(  # noqa: E731
            builder, op, row, rest, soc, judge, until_clean, seconds, autosync, keep_going
        )
        for answer, ended in isolated(work, deadline):
            if answer is not None:
                outcomes.append(_from_json(answer))
            elif ended and len(outcomes) < len(queue):
                outcomes.append(Outcome(queue[len(outcomes)].label, *ended))
        if until_clean and outcomes and outcomes[-1].ran:
            break
    return outcomes


def best(outcomes: Sequence[Outcome]) -> Outcome | None:
    """The outcome that says most: a clean run, else a finding, a crash, a time limit, a refusal."""
    order = (CLEAN, FAULTY, SLOW, CRASHED, REFUSED)
    return min(outcomes, key=lambda outcome: order.index(outcome.status), default=None)


def _work(
    builder: building.Builder,
    op: Mapping[str, Any],
    row: Sequence[str],
    rest: Sequence[Case],
    soc: str,
    judge: Judge | None,
    until_clean: bool,
    seconds: float,
    autosync: str | None,
    keep_going: bool | None,
) -> Iterator[dict[str, Any]]:
    """In the child: an outcome per case."""
    os.environ["ASCEND_CUSTOM_OPP_PATH"] = str(builder.package)
    device = open_device()
    device.set_option("soc", soc)
    if autosync is not None:
        device.set_option("autosync", autosync)
    if keep_going is not None:
        device.set_option("keep_going", "on" if keep_going else "off")
    device.takes_faults = True
    if limit := float(device.option("hang_limit") or 0):
        device.set_option("hang_limit", f"{min(limit, seconds / _HANGS_PER_LIMIT):g}")
    partial = device.option("partial_outputs") or "none"
    for case in rest:
        # Where the shapes of outputs are a guess, nobody knows how much of them is to be written.
        device.set_option("partial_outputs", "*" if case.outputs else partial)
        started = time.monotonic()
        answer: dict[str, Any] = {"label": case.label}
        device.clear_findings()
        try:
            result = running.call(device, builder, op, row, case.inputs, case.attrs, case.outputs)
            status = CLEAN
        except (AclnnError, SourcesError, ValueError, KeyError, TypeError) as error:
            answer["message"] = str(error)
            status = REFUSED
            if crash := _HOST_CRASH.search(answer["message"]):
                answer["message"] = crash.group(1)
                status = CRASHED
        found = device.findings()
        errors = [item for item in found if item.severity == findings.ERROR]
        answer["status"] = FAULTY if errors else status
        answer["found"] = [dataclasses.asdict(item) for item in found]
        if judge and status == CLEAN:
            answer["verdict"] = judge(op, case, result)
        answer["seconds"] = round(time.monotonic() - started, 2)
        yield answer
        # What ended in an error while the kernel ran leaves the stream useless.
        if errors or (until_clean and answer["status"] == CLEAN):
            return


def _from_json(data: dict[str, Any]) -> Outcome:
    return Outcome(found=tuple(map(finding_from_json, data.pop("found"))), **data)


def finding_from_json(item: dict[str, Any]) -> findings.Finding:
    """A finding that a child has sent."""
    item["at"] = findings.Place(**item["at"])
    item["related"] = tuple(findings.Place(**place) for place in item["related"])
    if line := item["timeline"]:
        line["slices"] = tuple(findings.Slice(**each) for each in line["slices"])
        for name in ("lanes", "ends", "arrows"):
            line[name] = tuple(map(tuple, line[name]))
        item["timeline"] = findings.Timeline(**line)
    return findings.Finding(**item)


def isolated(
    work: Callable[[], Iterator[dict[str, Any]]], deadline: float
) -> Iterator[tuple[dict[str, Any] | None, tuple[str, str] | None]]:
    """What work yields in a forked child, and how it ended when it did not end well."""
    read, write = os.pipe()
    sys.stdout.flush()
    running.enter("")
    child = os.fork()
    if child == 0:
        _be_child(work, read, write)
    os.close(write)
    pending = b""
    ended: tuple[str, str] | None = None
    with os.fdopen(read, "rb", buffering=0) as stream:
        while True:
            ready, _, _ = select.select([stream], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                os.kill(child, signal.SIGKILL)
                ended = (SLOW, "it did not end within the time limit")
                break
            data = stream.read(1 << 16)
            if not data:
                break
            pending += data
            *lines, pending = pending.split(b"\n")
            for line in lines:
                yield json.loads(line), None
    _, status = os.waitpid(child, 0)
    if ended is None and os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        ended = (CRASHED, f"{name} in {running.entered()}")
    elif ended is None and os.WEXITSTATUS(status):
        ended = (CRASHED, f"it ended the process with status {os.WEXITSTATUS(status)}")
    if ended is not None:
        yield None, ended


def _be_child(work: Callable[[], Iterator[dict[str, Any]]], read: int, write: int) -> NoReturn:
    """Never returns: the parent's exit handlers are not the child's."""
    status = 0
    try:
        os.close(read)
        quiet = os.open(os.devnull, os.O_RDWR)
        os.dup2(quiet, 1)  # operators print
        os.dup2(quiet, 2)
        with os.fdopen(write, "wb") as stream:
            for answer in work():
                stream.write(json.dumps(answer).encode() + b"\n")
                stream.flush()
    except BaseException:
        traceback.print_exc()
        status = 1
    os._exit(status)


@dataclass(frozen=True)
class Checked:
    """An operator with the outcomes of its cases."""

    op: str
    outcomes: tuple[Outcome, ...]
    assumed: Assumed

    @property
    def taken(self) -> list[Outcome]:
        """The cases that the operator did not refuse."""
        return [outcome for outcome in self.outcomes if outcome.status != REFUSED]

    def runs(self, word: str, soc: str) -> list[findings.Run]:
        """As reports want it."""
        again = f"aclgrad check {word} --soc {soc}{self.assumed.words}"
        return [findings.Run(outcome.label, again, outcome.found) for outcome in self.taken]


def check(
    word: str,
    *,
    soc: str,
    jobs: int = 0,
    dtype: str = "",
    limit: int = 24,
    seconds: float = 60.0,
    autosync: str | None = None,
    keep_going: bool | None = None,
) -> Checked:
    """Build an operator for one dtype combination and run generated cases."""
    assumed = assume(word, soc, autosync)
    builder = building.Builder(locate(word), family_of(soc), jobs=jobs)
    described = builder.build_host()
    op = running.pick(building.runnable(described, builder.sources, builder.soc), builder.sources)
    rows = builder.combinations(op)
    row = prefer_float(rows)
    if dtype:
        wanted = [row for row in rows if row and numpy_name(row[0]) == dtype]
        if not wanted:
            offered = ", ".join(sorted({numpy_name(row[0]) for row in rows if row}))
            raise SourcesError(
                f"{op['type']}: no kernel whose first input is {dtype}. Next: --dtype with one of"
                f" {offered}"
            )
        row = wanted[0]
    builder.build_kernel(builder.kernel(op, row), described)
    builder.build_api([op])
    outcomes = run_cases(
        builder,
        op,
        row,
        cases(op, row, limit),
        soc=soc,
        seconds=seconds,
        until_clean=False,
        autosync=assumed.value,
        keep_going=keep_going,
    )
    checked = Checked(op["type"], tuple(outcomes), assumed)
    ended = [outcome for outcome in outcomes if outcome.status in (CRASHED, SLOW)]
    if ended:
        raise SourcesError(
            f"{op['type']}: {ended[0].message}, inputs {ended[0].label}. Next: aclgrad run {word}"
            " --inputs ... with inputs of these shapes, under gdb"
        )
    if not checked.taken:
        raise SourcesError(
            f"{op['type']}: it took none of {len(outcomes)} generated inputs:"
            f" {first_reason(outcomes[-1].message) if outcomes else 'no case fits its definition'}."
            f" Next: aclgrad run {word} --inputs ... with inputs of your own"
        )
    return checked


def first_reason(message: str) -> str:
    """The line of an error that names the cause: reports of op_host come last."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
