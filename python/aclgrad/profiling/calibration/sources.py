# SPDX-License-Identifier: Apache-2.0
"""Where the time of a launch is read: between events, in msprof's summary, or by the counter of the
core that runs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from aclgrad.profiling.calibration.probes import EMPTY, Timing
from aclgrad.profiling.calibration.runner import Answer

EVENTS, MSPROF, COUNTER = "events", "msprof", "counter"
PREFERRED = (COUNTER, MSPROF, EVENTS)
"""The counter has nothing of the launch in it, msprof has the launch and not the host."""

TICKS = {2201: 50.0, 3510: 1000.0}
"""Ticks of the counter in a microsecond, by architecture, as documented for GetSystemCycle."""

_FINE = 0.01  # of a reading: the counter is used where its tick is less

DISAGREE = "disagree by"
"""Said of a row of which two sources tell different times."""

Take = Callable[[tuple[float, ...]], float]


class Clock:
    """Reads times by one source after another, with the board's length of a tick."""

    def __init__(self, ticks: float, measured: Mapping[str, Answer]) -> None:
        """`ticks`: in a microsecond; 0 where there is no counter."""
        self.tick = 1 / ticks if ticks else 0.0
        empty = measured.get(EMPTY.name, Answer())
        self._based = {source for source in PREFERRED if self._all(empty, source)}

    def _all(self, answer: Answer, source: str) -> tuple[float, ...]:
        """The times of a launch in us."""
        if source == EVENTS:
            return answer.times
        if source == MSPROF:
            return answer.durations
        return tuple(count * self.tick for count in answer.ticks) if self.tick else ()

    def count(self, timing: Timing, answers: Mapping[str, Answer], source: str) -> int:
        """How often all of its launches were timed."""
        counts = [
            len(self._all(answers.get(launch.name, Answer()), source)) for launch in timing.launches
        ]
        return min(counts, default=0)

    def times(
        self, timing: Timing, answers: Mapping[str, Answer], source: str, take: Take
    ) -> dict[str, float]:
        """The time of each launch, without what an empty one takes; {} where one has none."""
        base = 0.0
        if source in self._based and not timing.whole:
            base = median(self._all(answers[EMPTY.name], source))
        if not self.count(timing, answers, source):
            return {}
        return {
            launch.name: take(self._all(answers[launch.name], source)) - base
            for launch in timing.launches
        }

    def best(self, timing: Timing, answers: Mapping[str, Answer]) -> str:
        """The best source that has times of a probe, and fine ones; the events' where none has."""
        for source in (timing.only,) if timing.only else PREFERRED:
            if source == COUNTER and not self.resolution(timing, answers) <= _FINE:
                continue
            if self.count(timing, answers, source):
                return source
        return timing.only or EVENTS

    def reading(
        self, timing: Timing, answers: Mapping[str, Answer], source: str, take: Take
    ) -> float:
        """The number of a probe; nan where a launch has no such time."""
        times = self.times(timing, answers, source, take)
        return _number(timing, times)

    def spread(self, timing: Timing, answers: Mapping[str, Answer], source: str) -> float:
        """By what share the reading differs between repetitions, as half of their middle range, or
        by a tick.
        """
        reading = self.reading(timing, answers, source, median)
        if not math.isfinite(reading) or not reading:
            return 0.0
        least = self.resolution(timing, answers) if source == COUNTER else 0.0
        repeats = self.count(timing, answers, source)
        if repeats < 3:
            return least
        found = sorted(
            self.reading(timing, answers, source, _at(index)) for index in range(repeats)
        )
        cut = repeats // 4
        return max(least, abs(found[-1 - cut] - found[cut]) / 2 / abs(reading))

    def resolution(self, timing: Timing, answers: Mapping[str, Answer]) -> float:
        """By what share a tick of the counter moves the reading."""
        times = self.times(timing, answers, COUNTER, median)
        reading = _number(timing, times)
        if not math.isfinite(reading) or not reading:
            return math.inf
        moved = (_number(timing, {**times, name: times[name] + self.tick}) for name in times)
        return max(abs(number - reading) for number in moved) / abs(reading)


def _number(timing: Timing, times: Mapping[str, float]) -> float:
    try:
        return timing.reading(times) if times else math.nan
    except ZeroDivisionError:  # a time that is that of an empty launch
        return math.nan


def _at(index: int) -> Take:
    return lambda times: times[index]


def median(times: tuple[float, ...]) -> float:
    """The middle one, which a slow launch does not move."""
    ordered = sorted(times)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def ticks_of(measured: Mapping[str, Answer]) -> float:
    """Ticks in a microsecond, of the launches that tell best: the longest and the shortest."""
    both = [
        (median(one.times), median(one.ticks))
        for one in measured.values()
        if one.times and one.ticks
    ]
    if len(both) < 2:
        return 0.0
    (least, few), (most, many) = min(both), max(both)
    return (many - few) / (most - least) if most > least else 0.0
