# SPDX-License-Identifier: Apache-2.0
"""Processor time of each test, that of processes which it starts and waits for included: what a
busy machine does not change. junit files have it as a property, the end of a run lists the most.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

PROPERTY = "processor_seconds"
_MOST = 30
_LEAST = 1.0
_start = pytest.StashKey[float]()
_elsewhere = [0.0]


def add(used: float) -> None:
    """Count what a process has used that another one has waited for."""
    _elsewhere[0] += used


def seconds() -> float:
    """What this process and those that it has waited for have used."""
    return sum(os.times()[:4]) + _elsewhere[0]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """What fixtures set up counts for the first test that wants them."""
    item.stash[_start] = seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Hand it on with the last report of a test."""
    report = yield
    if call.when == "teardown":
        used = seconds() - item.stash.get(_start, seconds())
        report.user_properties.append((PROPERTY, round(used, 2)))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the tests that have used most, and the sum of all."""
    reports = (one for group in terminalreporter.stats.values() for one in group)
    used: dict[str, float] = {
        report.nodeid: float(str(dict(report.user_properties)[PROPERTY]))
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "teardown"
    }
    most = sorted(used.items(), key=lambda item: -item[1])[:_MOST]
    if not most or most[0][1] < _LEAST:
        return
    terminalreporter.section("processor time")
    for name, value in most:
        if value >= _LEAST:
            terminalreporter.write_line(f"{value:7.1f} s  {name}")
    terminalreporter.write_line(f"{sum(used.values()):7.1f} s  all {len(used)} tests")
