# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: each case of an operator project's ``<stem>_golden.py`` is a test.

pytest imports this package at the start of every session, so it lies beside aclgrad and imports it,
and NumPy with it, only when a golden file is collected.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from aclgrad.cases.grid import ProjectCase
    from aclgrad.cases.project_operator import ProjectOperator
    from aclgrad.testing.run import Outcome

_SUFFIX = "_golden.py"
_TESTS: pytest.StashKey[dict[tuple[str, str], Any]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the group aclgrad; each also stands in the environment that aclgrad reads."""
    group = parser.getgroup("aclgrad", "operator projects of Ascend C")
    group.addoption("--aclgrad-soc", metavar="SOC", help="Simulated SoC, e.g. Ascend910B2.")
    group.addoption(
        "--aclgrad-chaos", metavar="SEED", type=int,
        help="Run every pipe as late as its synchronisation allows.",
    )  # fmt: skip
    group.addoption(
        "--aclgrad-autosync", choices=("on", "off"), help="Count on the compiler's synchronisation."
    )
    group.addoption("--aclgrad-fast", action="store_true", help="Shorter grid: no long rows.")


def pytest_configure(config: pytest.Config) -> None:
    """Make room for what is built once. A long launch draws no line across pytest's own."""
    config.stash[_TESTS] = {}
    os.environ.setdefault("ACLGRAD_SIM_PROGRESS", "off")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a golden file that stands beside op_host."""
    if not file_path.name.endswith(_SUFFIX) or not (file_path.parent / "op_host").is_dir():
        return None
    return GoldenModule.from_parent(parent, path=file_path)


class GoldenModule(pytest.File):
    """The golden file of one operator."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test per case."""
        subject, cases = _cases(self.config, self.path)
        for case in cases:
            yield CaseTest.from_parent(self, name=case.name, subject=subject, case=case)


class CaseTest(pytest.Item):
    """One case of a golden file."""

    def __init__(self, *, subject: ProjectOperator, case: ProjectCase, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.subject, self.case = subject, case

    def runtest(self) -> None:
        """Build what the case needs, run it in a process of its own and judge it."""
        from aclgrad.cases import case_runs

        _build(self.config, self.subject, self.case)
        options = _options(self.config, self.subject.path)
        done = case_runs.run(self.subject, [self.case], options, whole=False)
        if done.refused:
            pytest.skip(f"{self.subject.stem} does not take it: {done.refused[0][1]}")
        outcome = done.outcomes[0]
        if not outcome.passed:
            raise CaseFailed(explain(self.subject, outcome, options))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The message alone: the lines of this plugin say nothing."""
        from aclgrad.errors import AclgradError

        if isinstance(excinfo.value, (CaseFailed, AclgradError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the case is written."""
        own = self.case.own
        line = int(own.place.rpartition(":")[2]) - 1 if own else None
        return self.path, line, self.name


class CaseFailed(AssertionError):
    """A case whose result is wrong, or whose kernel has findings."""


def explain(subject: ProjectOperator, outcome: Outcome, options: Any) -> str:
    """Why a case failed, in the words of assert_close, and the command that repeats it."""
    from aclgrad.reporting.conditions import Conditions

    here = Conditions(
        "sim", options.soc, None, options.seed, False, "", options.autosync,
        str(options.chaos or 0), options.keep_going,
    )  # fmt: skip
    lines = [finding.text or finding.detail for finding in outcome.errors]
    report = outcome.report
    if report is None:
        lines += [] if lines else [outcome.message]
    elif not report.passed:
        wrong = report.total - report.matched
        share = 100 * wrong / max(report.total, 1)
        lines += ["Tensor-likes are not close!", ""]
        lines.append(f"Mismatched elements: {wrong} / {report.total} ({share:.1f}%)")
        if report.worst:
            worst = report.worst[0]
            index = tuple(worst.index)
            relative = abs(worst.actual - worst.golden) / max(abs(worst.golden), 1e-300)
            lines += [
                f"Worst element: at index {index}, got {worst.actual:.9g}, want"
                f" {worst.golden:.9g}: {worst.ulp_of_scale:.1f} ULP of its scale, relative"
                f" difference {relative:.3g}",
                f"Greatest absolute difference: {report.max_abs:.6g}",
            ]
        if report.first_bad is not None:
            lines.append(f"First bad element: {report.first_bad}")
        lines += [*report.reasons, *report.notes]
    if outcome.picture is not None:
        from aclgrad.reporting.pictures import picture_text

        lines += ["", *picture_text.lines(outcome.picture)]
    return "\n".join([*lines, "", f"repeat: {here.repro(outcome.case)}"])


def _options(config: pytest.Config, path: str) -> Any:
    from aclgrad.cases import case_runs
    from aclgrad.reading.auto_sync import assume
    from aclgrad.reading.command_words import soc_name

    soc = soc_name(config.getoption("--aclgrad-soc"))
    sync = assume(path, soc, config.getoption("--aclgrad-autosync")).value
    return case_runs.Options(soc=soc, autosync=sync, chaos=config.getoption("--aclgrad-chaos"))


def _alone(path: Path) -> AbstractContextManager[None]:
    """One process at a time builds one project: workers of ``-n`` wait for the first."""
    from aclgrad.common import cache, locks

    key = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:10]
    return locks.alone(cache.root() / "locks" / f"pytest-{key}")


def _subjects(config: pytest.Config, folder: Path) -> list[ProjectOperator]:
    from aclgrad.cases.project_operator import operators_of
    from aclgrad.reading.command_words import soc_name

    key = ("subjects", str(folder))
    known = config.stash[_TESTS]
    if key not in known:
        with _alone(folder):
            soc = soc_name(config.getoption("--aclgrad-soc"))
            known[key] = operators_of(str(folder), soc)
    found: list[ProjectOperator] = known[key]
    return found


def _cases(config: pytest.Config, path: Path) -> tuple[ProjectOperator, Sequence[ProjectCase]]:
    from aclgrad.errors import AclgradError

    try:
        subjects = _subjects(config, path.parent)
        subject = next(
            (item for item in subjects if item.golden and item.golden.path == path.resolve()), None
        )
        if subject is None:
            names = ", ".join(f"{item.stem}{_SUFFIX}" for item in subjects)
            raise pytest.Collector.CollectError(
                f"{path}: no operator of this name; the project has {names}"
            )
        fast = config.getoption("--aclgrad-fast")
        return subject, subject.cases(fast)
    except AclgradError as error:
        raise pytest.Collector.CollectError(str(error)) from None


def _build(config: pytest.Config, subject: ProjectOperator, case: ProjectCase) -> None:
    known = config.stash[_TESTS]
    key = (f"{subject.path}:{subject.stem}", " ".join(case.row))
    if key not in known:
        with _alone(Path(subject.path)):
            subject.prepare([case])
        known[key] = True


@pytest.fixture
def aclgrad_op(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Call the operator project in which the test stands, or one at a path.

    ``aclgrad_op(x, slope=0.5)`` takes arrays and attributes in the definition's order and returns
    an array, or a tuple of several outputs; ``aclgrad_op.at("../other")`` is another project's.
    """
    folder = next(
        (place for place in (request.path.parent, *request.path.parents)
         if (place / "op_host").is_dir()), request.path.parent
    )  # fmt: skip
    return _Caller(folder, request.path.parent)


class _Caller:
    def __init__(self, folder: Path, base: Path) -> None:
        self._folder, self._base = folder, base
        self._function: Callable[..., Any] | None = None

    def at(self, path: str) -> _Caller:
        """The operator of another project, by a path from the test's folder."""
        return _Caller((self._base / path).resolve(), self._base)

    def __call__(self, *arrays: Any, **attrs: Any) -> Any:
        if self._function is None:
            import aclgrad

            with _alone(self._folder):
                loaded = aclgrad.load(str(self._folder))
            self._function = getattr(loaded, next(iter(loaded)))
        return self._function(*arrays, **attrs)
