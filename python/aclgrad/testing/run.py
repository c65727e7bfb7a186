# SPDX-License-Identifier: Apache-2.0
"""Runs cases of the grid on a device and judges them."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from aclgrad.errors import AclnnError
from aclgrad.findings import ERROR, HINT, Finding, Run, consequence
from aclgrad.golden.limits import Tolerance
from aclgrad.golden.precision import Errors, Report, compare, measure
from aclgrad.runtime import Device
from aclgrad.runtime.library import LaunchStats
from aclgrad.runtime.memory import Tensor
from aclgrad.spec.call import TensorDesc
from aclgrad.spec.cases import Case, view
from aclgrad.spec.dtypes import Array, DType
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.steps import Launch
from aclgrad.testing.picture import Picture, of_result

_CANARY = 0xA5
"""Fills the output's storage before a run; bytes outside the view must still hold it afterwards."""


@dataclass(frozen=True)
class Outcome:
    """What became of one case, and the bytes that it moved in GM, 0 when nobody counted."""

    case: Case
    passed: bool
    message: str
    seconds: float
    report: Report | None = None
    moved_bytes: int = 0
    floor_bytes: int = 0
    findings: tuple[Finding, ...] = ()
    launched: bool = False
    picture: Picture | None = None
    refused: bool = False  # by inference or tiling, without a finding

    @property
    def traffic(self) -> float | None:
        """Bytes moved in GM by the least that would do."""
        return (
            self.moved_bytes / self.floor_bytes if self.moved_bytes and self.floor_bytes else None
        )

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that fail the case."""
        return tuple(finding for finding in self.findings if finding.severity == ERROR)

    @property
    def after_faults(self) -> int:
        """Faults before the numbers, whose consequence these may be."""
        return sum(bool(finding.goes_on) for finding in self.errors) if self.report else 0

    def run(self, repro: str) -> Run:
        """Return the findings of `aclgrad check`; a failure that no check explains is one too."""
        found = self.findings
        if not self.passed and not self.errors:
            kind = "wrong-result" if self.report else "call-failed"
            found += (Finding(kind, op=self.case.op, detail=self.message, text=self.message),)
        return Run(self.case.name, repro, found, self.launched)


Refusals = tuple[type[Exception], ...]
"""What a computation raises that ends without a result."""


@dataclass(frozen=True)
class Checked:
    """A computation and what the checks say about it. ``result`` is None when it failed with
    ``error``; ``stats`` are of its first run, None when nobody counted.
    """

    result: Array | None
    error: str
    findings: tuple[Finding, ...]
    stats: LaunchStats | None = None

    @property
    def launched(self) -> bool:
        """Whether a kernel ran, as far as anybody knows."""
        return self.stats is None or self.stats.launches > 0


UNSET = "tiling-unset"

Naming = Callable[[Finding], Finding | None]
"""Puts names of fields into a finding of bytes that tiling leaves unset; None for padding."""


class UnsetTiling:
    """Finds out whether kernels depend on tiling data that the tiling function does not set: with
    other bytes there the result has to be the same bit for bit.

    One call shows nothing where its data do not need the field, such as a slope for negative
    numbers. So what a tiling key leaves unset is tried in its 1st, 2nd, 4th, 8th ... call, until
    it is named.
    """

    def __init__(self, device: Device, naming: Naming) -> None:
        self._device = device
        self._naming = naming
        self._calls: Counter[tuple[int, str]] = Counter()
        self._named: set[tuple[int, str]] = set()

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Let checked calls say what their tiling leaves unset, as hints for ``judge``."""
        if self._device.option("mode") != "checked":
            yield
            return
        self._device.set_option("tiling_buffer", "watched")
        try:
            yield
        finally:
            self._device.set_option("tiling_buffer", "cleared")

    def judge(
        self,
        found: Sequence[Finding],
        result: Array | None,
        compute: Callable[[], Array],
    ) -> tuple[Finding, ...]:
        """The findings of a watched run without these hints, and with an error for each on which
        the kernel depends.
        """
        rest = tuple(item for item in found if item.kind != UNSET)
        told = {(item.tiling_key, item.detail): item for item in found if item.kind == UNSET}
        self._calls.update(told.keys())
        tried = {
            key: item
            for key, item in told.items()
            if key not in self._named and self._calls[key].bit_count() == 1
        }
        named = [item for one in tried.values() if (item := self._naming(one)) is not None]
        if not named:
            return rest
        self._device.set_option("tiling_buffer", "filled")
        try:
            text = _told_apart(_attempt(self._device, compute), Checked(result, "", rest))
        finally:
            self._device.set_option("tiling_buffer", "cleared")
        if not text:
            return rest
        self._named |= tried.keys()
        return rest + tuple(
            dataclasses.replace(
                item, severity=ERROR, detail=f"{item.detail}; with other bytes there {text}"
            )
            for item in named
        )

    def attempt(self, compute: Callable[[], Array], refusals: Refusals = (AclnnError,)) -> Checked:
        """Run ``compute``, and again where that may show something."""
        with self.watch():
            checked = _attempt(self._device, compute, refusals)
        found = self.judge(checked.findings, checked.result, compute)
        return dataclasses.replace(checked, findings=found)


def _told_apart(other: Checked, first: Checked) -> str:
    """How a run with other bytes ended otherwise; empty where it did not, or did not get far."""

    def errors(checked: Checked) -> dict[object, Finding]:
        return {item.key: item for item in checked.findings if item.severity == ERROR}

    if other.result is None and not errors(other):
        return ""
    for key, item in errors(other).items():
        if key not in errors(first):
            place = f" at {item.at.file}:{item.at.line}" if item.at.known else ""
            return f"there is {item.kind}{place}"
    for key, item in errors(first).items():
        if key not in errors(other):
            return f"{item.kind} is gone"
    if other.result is None or first.result is None:
        return ""
    return difference(other.result, first.result, "the run with zeros")


def check_findings(
    device: Device,
    op: str,
    compute: Callable[[], Array],
    chaos: Sequence[int] = (),
    unset: UnsetTiling | None = None,
    refusals: Refusals = (AclnnError,),
) -> Checked:
    """Run ``compute``, and again for each chaos seed: the result has to be the same bit for bit.
    What the order of floating-point sums of several cores may change is a hint. ``unset`` is what
    looks for tiling data that nobody set.

    Where a finding has failed the launch, the results that chaos leads to are those without checks.
    """
    device.reset_stats()
    checked = unset.attempt(compute, refusals) if unset else _attempt(device, compute, refusals)
    if not chaos:
        return checked
    found = list(checked.findings)
    options = {name: device.option(name) or "" for name in ("mode", "chaos")}
    try:
        expected = checked
        if checked.result is None:
            device.set_option("mode", "fast")
            expected = _attempt(device, compute)
        for seed in chaos:
            device.set_option("chaos", str(seed))
            late = _attempt(device, compute)
            known = {finding.key for finding in found}
            found += [f for f in late.findings if f.severity == ERROR and f.key not in known]
            if expected.result is None:
                continue
            text = late.error if late.result is None else difference(late.result, expected.result)
            if text:
                sums = any(item.kind == "atomic-order" for item in (*found, *late.findings))
                rounded = (
                    sums
                    and late.result is not None
                    and _differ_by_rounding(late.result, expected.result)
                )
                soc = device.option("soc") or ""
                found.append(_chaos_difference(op, soc, seed, text, rounded=rounded))
    finally:
        for name, value in options.items():
            device.set_option(name, value)
    return dataclasses.replace(checked, findings=tuple(found))


def _attempt(
    device: Device, compute: Callable[[], Array], refusals: Refusals = (AclnnError,)
) -> Checked:
    device.clear_findings()
    result, error = None, ""
    try:
        result = compute()
    except refusals as raised:
        error = str(raised)
    return Checked(result, error, device.findings(), device.stats())


_ROUNDINGS = 256
"""Roundings of the largest number of a result that the order of a sum may change."""


def _differ_by_rounding(got: Array, want: Array) -> bool:
    """Whether two results differ no more than two orders of a floating-point sum do."""
    if want.dtype.kind != "f" and want.dtype.name != "bfloat16":
        return False
    rounding = 2.0**-7 if want.dtype.name == "bfloat16" else float(np.finfo(want.dtype.name).eps)
    one, other = got.astype(np.float64), want.astype(np.float64)
    known = np.isfinite(other)
    if not np.array_equal(one[~known], other[~known], equal_nan=True):
        return False
    scale = float(np.abs(other[known]).max(initial=0.0))
    return bool((np.abs(one[known] - other[known]) <= _ROUNDINGS * rounding * scale).all())


def _chaos_difference(op: str, soc: str, seed: int, text: str, *, rounded: bool) -> Finding:
    advice = (
        "The order in which cores add floating-point numbers changes from run to run: see"
        " atomic-order."
        if rounded
        else "Hardware runs the pipes side by side: wrong numbers now and then. Order the"
        " instructions by queues, flags or barriers; the other findings name them."
    )
    return Finding(
        "chaos-difference",
        severity=HINT if rounded else ERROR,
        op=op,
        soc=soc,
        detail=f"chaos seed {seed}: {text}",
        advice=advice,
    )


def difference(got: Array, want: Array, run: str = "the run in program order") -> str:
    """Say where two arrays of one dtype and shape differ, of which ``want`` is that of ``run``;
    empty when they do not. One NaN is as good as another, zeros have signs.
    """
    pairs = [np.ascontiguousarray(a).reshape(-1) for a in (got, want)]
    size = pairs[0].itemsize
    first, second = (a.view(np.uint8).reshape(-1, size) for a in pairs)
    differ = (first != second).any(axis=1)
    # Not isnan, which integers do not have.
    places = np.flatnonzero(differ & ~((pairs[0] != pairs[0]) & (pairs[1] != pairs[1])))
    if not places.size:
        return ""
    at = int(places[0])
    return (
        f"{places.size} of {pairs[0].size} elements differ from {run}, first"
        f" at {at}: {pairs[0][at]} for {pairs[1][at]}"
    )


def floor_parts(spec: OpSpec, case: Case) -> tuple[int, int]:
    """Least bytes that kernels can read and write: each input once, each output once."""
    like = case.call.tensor(next(step.like for step in spec.lowering if isinstance(step, Launch)))
    read = [case.call.tensor(arg.name) for arg in spec.kernel_args]

    def size(descs: Iterable[TensorDesc]) -> int:
        return sum(desc.size * desc.dtype.numpy.itemsize for desc in descs)

    return size(read), size([like] * len(spec.outputs))


def execute(
    device: Device, spec: OpSpec, case: Case, seed: int = 0
) -> tuple[Array, NDArray[np.uint8]]:
    """Compute one case; return the flat storage of the output and the bytes that were in it
    before.
    """
    storages = case.storages(spec, seed)
    tensors: dict[str, Tensor | None] = {}
    buffers = []
    for arg in spec.input_args:
        buffers.append(device.upload(storages[arg.name]))
        tensors[arg.name] = device.tensor(case.call.tensor(arg.name), buffers[-1].address)
    name = spec.output_args[0].name
    desc = case.call.tensor(name)
    before = np.full(math.prod(desc.storage_shape) * desc.dtype.numpy.itemsize, _CANARY, np.uint8)
    out = device.upload(before)
    tensors[name] = device.tensor(desc, out.address)
    device.call(spec, tensors, case.call.attrs)
    return out.read(desc.dtype.numpy), before


def inputs_of(spec: OpSpec, case: Case, seed: int = 0) -> dict[str, Array]:
    """Views of a case's inputs."""
    storages = case.storages(spec, seed)
    return {
        arg.name: view(storages[arg.name], case.call.tensor(arg.name)) for arg in spec.input_args
    }


def golden(spec: OpSpec, case: Case, seed: int = 0) -> NDArray[np.float64]:
    """Golden result of a case in float64."""
    return spec.evaluate(inputs_of(spec, case, seed), case.call.attrs)


def _expected(
    spec: OpSpec, case: Case, seed: int
) -> tuple[NDArray[np.float64], DType, Array | None]:
    """The golden of a case, the dtype that it is computed in, and the largest terms."""
    return (
        golden(spec, case, seed),
        spec.computed_dtype(case.call),
        spec.magnitudes(inputs_of(spec, case, seed), case.call.attrs),
    )


def measure_case(
    spec: OpSpec, case: Case, actual: Array, seed: int = 0, tolerance: Tolerance = None
) -> Errors:
    """The errors of a result of a case, by which `judge_case` decides."""
    wanted, computed, terms = _expected(spec, case, seed)
    return measure(actual, wanted, computed.numpy, terms=terms, tolerance=tolerance)


def judge_case(
    spec: OpSpec, case: Case, actual: Array, seed: int = 0, tolerance: Tolerance = None
) -> Report:
    """The verdict on a result of a case."""
    wanted, computed, terms = _expected(spec, case, seed)
    return compare(actual, wanted, computed.numpy, terms=terms, tolerance=tolerance)


@dataclass(frozen=True)
class Judged:
    """What is said of a result; ``wrong`` is what no report says."""

    report: Report | None
    message: str
    picture: Picture | None = None
    wrong: bool = False


class CaseCall(Protocol):
    """A case of an operator that is computed and judged: one of ours or a project's."""

    @property
    def case(self) -> Case:
        """The case."""

    @property
    def op(self) -> str:
        """What findings call the operator."""

    def compute(self) -> Array:
        """Compute it. All results as one array, by which two runs are compared."""

    def explained(self, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Findings with what else is known of their causes."""

    def failure(self, error: str, errors: Sequence[Finding]) -> tuple[str, bool]:
        """What is said of a call without a result, and whether the operator refused it."""

    def judge(self) -> Judged:
        """The verdict on the result."""

    def floor(self) -> tuple[int, int]:
        """Least bytes that kernels can read and write."""


def run_call(
    device: Device,
    call: CaseCall,
    chaos: Sequence[int] = (),
    unset: UnsetTiling | None = None,
) -> Outcome:
    """Compute and judge one case. A refused call, a kernel fault or a finding of a check is a
    failed case, not an exception.
    """
    device.keep_writers(True)
    try:
        return _run_call(device, call, chaos, unset)
    finally:
        device.keep_writers(False)


def _run_call(
    device: Device, call: CaseCall, chaos: Sequence[int], unset: UnsetTiling | None
) -> Outcome:
    start = time.perf_counter()
    checked = check_findings(device, call.op, call.compute, chaos, unset)
    found, stats = call.explained(checked.findings), checked.stats
    errors = [finding for finding in found if finding.severity == ERROR]
    if checked.result is None:
        message, refused = call.failure(checked.error, errors)
        seconds = time.perf_counter() - start
        return Outcome(
            call.case,
            False,
            message,
            seconds,
            findings=found,
            launched=checked.launched,
            refused=refused,
        )
    judged = call.judge()
    report = judged.report
    return Outcome(
        call.case,
        (report is None or report.passed) and not judged.wrong and not errors,
        behind(errors, judged.message),
        time.perf_counter() - start,
        report,
        0 if stats is None else stats.gm_read_bytes + stats.gm_write_bytes,
        sum(call.floor()),
        found,
        checked.launched,
        judged.picture,
    )


@dataclass
class SpecCall:
    """A case of an operator with a spec."""

    device: Device
    spec: OpSpec
    case: Case
    seed: int
    tolerance: Tolerance
    result: tuple[Array, NDArray[np.uint8]] | None = None  # and what was there before

    @property
    def op(self) -> str:
        """See `CaseCall`."""
        return self.spec.op

    def compute(self) -> Array:
        """See `CaseCall`."""
        storage, before = execute(self.device, self.spec, self.case, self.seed)
        self.result = self.result or (storage, before)
        return storage

    def explained(self, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """See `CaseCall`."""
        return found

    def failure(self, error: str, errors: Sequence[Finding]) -> tuple[str, bool]:
        """See `CaseCall`."""
        return error, False

    def judge(self) -> Judged:
        """See `CaseCall`."""
        assert self.result is not None
        (storage, before), spec, case = self.result, self.spec, self.case
        desc = case.call.tensor(spec.output_args[0].name)
        actual = view(storage, desc)
        report = judge_case(spec, case, actual, self.seed, self.tolerance)
        picture = None
        if not report.passed:
            measured = measure_case(spec, case, actual, self.seed, self.tolerance)
            picture = of_result(self.device, measured, actual, case.call.attrs)
        inside = np.zeros(storage.size, bool)
        if not desc.empty:
            view(inside, desc)[...] = True
        outside = ~np.repeat(inside, storage.itemsize)
        spoiled = int((storage.view(np.uint8)[outside] != before[outside]).sum())
        message = str(report)
        if spoiled:
            where = f"{spoiled} bytes outside the view of the output were overwritten"
            message = f"FAILED: {where}\n{message}"
        return Judged(report, message, picture, wrong=bool(spoiled))

    def floor(self) -> tuple[int, int]:
        """See `CaseCall`."""
        return floor_parts(self.spec, self.case)


def run_case(
    device: Device,
    spec: OpSpec,
    case: Case,
    seed: int = 0,
    chaos: Sequence[int] = (),
    tolerance: Tolerance = None,
) -> Outcome:
    """Compute and judge one case of an operator with a spec: see `run_call`."""
    return run_call(device, SpecCall(device, spec, case, seed, tolerance), chaos)


def behind(errors: Sequence[Finding], message: str) -> str:
    """What is said of a result, behind the findings that may be why."""
    if faults := sum(bool(finding.goes_on) for finding in errors):
        message = f"{consequence(faults)}\n{message}"
    return "\n".join([*(finding.text or finding.detail for finding in errors), message])
