# SPDX-License-Identifier: Apache-2.0
"""Costs from times. The model is turned round by running it: the probes are launched on the
simulator with trial costs until its times are those of the board.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aclgrad.profiling.calibration.probes import EMPTY, Timing
from aclgrad.profiling.calibration.register import Cost
from aclgrad.profiling.calibration.runner import Answer, Launch, Overlay
from aclgrad.profiling.calibration.sources import (
    COUNTER,
    DISAGREE,
    PREFERRED,
    Clock,
    median,
)

Run = Callable[[Sequence[Launch], Overlay], Mapping[str, Answer]]

_LEAST = 0.15  # of a reading's relative change by a cost's: below, the probe does not tell
_RESIDUAL = 0.03  # of a reading that the model does not reach
_CLOSE = 0.004
_SAME = 0.05
_HEAVY = 0.06  # half the distance of two sizes that are tried
_MOST_ROUNDS = 12
_STEP = 0.6  # of a logarithm, in one round
_TRIAL = 0.1
_LARGEST_SPREAD = 0.1
_LARGEST_SHARE = 0.02  # of a cost that may be 0, and what is as good as 0
_FEWEST_US = 0.002  # differences below are noise


@dataclass(frozen=True)
class Fitted:
    """A cost as a board has it."""

    value: float | None  # None: not decided
    spread: float  # relative, from repeated launches
    why: str = ""  # why it is not decided
    source: str = ""  # of the times


def _parameter(timing: Timing, value: float) -> float:
    """What is moved: a logarithm, or the cost itself."""
    if timing.linear:
        return value
    value = 1 / value if timing.inverse else value
    return math.log(max(value - timing.beyond, 1e-6))


def _value(timing: Timing, parameter: float) -> float:
    if timing.linear:
        return max(0.0, parameter)
    value = math.exp(parameter) + timing.beyond
    return min(1 / value if timing.inverse else value, timing.most)


NO_PROBE = "no probe asks for it"


class Fit:
    """All costs of a SoC that have a probe."""

    def __init__(
        self,
        costs: Sequence[Cost],
        timings: Mapping[str, Timing],
        measured: Mapping[str, Answer],
        run: Run,
        clock: Clock,
        told: Callable[[str, int, int], None] = lambda *_: None,
    ) -> None:
        """`run` launches on the simulator, `clock` reads the times; `told` hears what is done of
        what.
        """
        self._run, self._clock, self._told = run, clock, told
        self._measured = measured
        self._builtin = {cost.id: cost.value for cost in costs}
        self._timings = {
            cost.id: timings[cost.probe] for cost in costs if cost.probe and cost.probe in timings
        }
        self._sources = {
            name: clock.best(timing, measured) for name, timing in self._timings.items()
        }
        self._wanted = {name: self._read(name, measured) for name in self._timings}
        self._spreads = {
            name: clock.spread(timing, measured, self._sources[name])
            for name, timing in self._timings.items()
        }
        self._why: dict[str, str] = {}
        self._slopes: dict[str, float] = {}
        usable = {name: timing for name, timing in self._timings.items() if self._usable(name)}
        moved = [name for name, timing in usable.items() if not timing.heavy and not timing.steps]
        self._moved = [name for name in moved if not usable[name].late]
        self._late = [name for name in moved if usable[name].late]
        self._stepped = [name for name, timing in usable.items() if timing.steps]
        found = {name: self._wanted[name] for name, timing in usable.items() if timing.heavy}
        self._at = self._builtin | found

    def _read(self, name: str, answers: Mapping[str, Answer], source: str = "") -> float:
        source = source or self._sources[name]
        return self._clock.reading(self._timings[name], answers, source, median)

    def _usable(self, name: str) -> bool:
        wanted = self._wanted[name]
        if not math.isfinite(wanted):
            self._why[name] = "a launch of its probe failed"
        elif wanted < _FEWEST_US and not self._timings[name].heavy:
            self._why[name] = "its probe shows no difference"
        elif self._spreads[name] > 1:
            self._why[name] = f"repeated launches differ by {self._spreads[name]:.0%}"
        return name not in self._why

    def _overlay(self, changed: Mapping[str, float] | None = None) -> Overlay:
        values = {**self._at, **(changed or {})}
        return Overlay(
            {name: value for name, value in values.items() if value != self._builtin[name]}
        )

    def _answers(
        self, names: Sequence[str], changed: Mapping[str, float] | None = None
    ) -> Mapping[str, Answer]:
        launches = {
            launch.name: launch for name in names for launch in self._timings[name].launches
        }
        return self._run(list({**launches, EMPTY.name: EMPTY}.values()), self._overlay(changed))

    def _readings(
        self, names: Sequence[str], changed: Mapping[str, float] | None = None
    ) -> dict[str, float]:
        answers = self._answers(names, changed)
        return {name: self._read(name, answers) for name in names}

    @staticmethod
    def _together(moved: Sequence[str]) -> list[list[str]]:
        """Costs that can be tried at one time: those of instructions do not touch each other."""
        groups: dict[str, list[str]] = {}
        for name in moved:
            field = name.rsplit(".", 1)[1]
            groups.setdefault(field if name.startswith("instructions.") else name, []).append(name)
        return list(groups.values())

    def _measure_slopes(self, moved: Sequence[str]) -> None:
        groups = self._together(moved)
        before = self._readings(moved)
        for index, names in enumerate(groups):
            self._told("sensitivities", index, len(groups))
            changed = {
                name: _value(
                    self._timings[name], _parameter(self._timings[name], self._at[name]) + _TRIAL
                )
                for name in names
            }
            after = self._readings(names, changed)
            for name in names:
                self._slopes[name] = (
                    math.log(after[name] / before[name]) / _TRIAL
                    if after[name] > 0 and before[name] > 0
                    else 0.0
                )

    def _choose_steps(self) -> None:
        for name in self._stepped:
            timing = self._timings[name]
            found = {step: self._readings([name], {name: step})[name] for step in timing.steps}
            best = min(found, key=lambda step: abs(found[step] - self._wanted[name]))
            own = found[best]
            close = [step for step, value in found.items() if abs(value - own) <= _CLOSE * own]
            if abs(own - self._wanted[name]) > _RESIDUAL * own or len(close) > 1:
                self._why[name] = "no value of it explains the times"
            else:
                self._why.pop(name, None)
                self._at[name] = best

    def _tick(self, name: str) -> float:
        """By what share a tick moves what the probe is read by: no fit is better."""
        if self._sources[name] != COUNTER:
            return 0.0
        return self._clock.resolution(self._timings[name], self._measured)

    def _disagree(self, name: str, answers: Mapping[str, Answer]) -> str:
        """Which source says something else than the one that was believed."""
        timing, chosen = self._timings[name], self._sources[name]
        for source in PREFERRED if not timing.whole else ():
            wanted, got = (
                self._read(name, self._measured, source),
                self._read(name, answers, source),
            )
            if source == chosen or not (math.isfinite(wanted) and got):
                continue
            off = abs(wanted - got) / abs(got)
            spread = self._clock.spread(timing, self._measured, source)
            if off > _RESIDUAL + self._spreads[name] + spread:
                return f"{chosen} and {source} {DISAGREE} {off:.0%}"
        return ""

    def _round(self, moved: Sequence[str], last: dict[str, tuple[float, float]]) -> float:
        """Moves every cost once; returns the largest residual before."""
        found = self._readings(moved)
        worst = 0.0
        for name in moved:
            timing, got = self._timings[name], found[name]
            if not got > 0 or abs(self._slopes[name]) < _LEAST:
                continue
            at = _parameter(timing, self._at[name])
            if name in last and abs(at - last[name][0]) > 0.02:
                slope = (math.log(got) - last[name][1]) / (at - last[name][0])
                if 0.3 * abs(self._slopes[name]) < abs(slope) < 3 * abs(self._slopes[name]):
                    self._slopes[name] = slope
            residual = math.log(self._wanted[name]) - math.log(got)
            worst = max(worst, abs(residual) - self._tick(name))
            last[name] = (at, math.log(got))
            move = max(-_STEP, min(_STEP, residual / self._slopes[name]))
            if abs(residual) > _CLOSE / 4:
                self._at[name] = _value(timing, at + move)
        return worst

    def solve(self) -> dict[str, Fitted]:
        """Every cost of the SoC."""
        self._measure_slopes(self._moved)
        for pass_ in range(2):
            self._move(self._moved, pass_ * _MOST_ROUNDS)
            self._choose_steps()
        self._measure_slopes(self._late)
        self._move(self._late, 2 * _MOST_ROUNDS)
        every = self._moved + self._late
        self._measure_slopes(every)  # where the costs are now, a probe may tell less
        final = self._answers(every + self._stepped)
        return {name: self._fitted(name, final) for name in self._builtin}

    def _move(self, moved: Sequence[str], done: int) -> None:
        """Moves costs until the readings are those of the board, or no nearer."""
        last: dict[str, tuple[float, float]] = {}
        for index in range(_MOST_ROUNDS if moved else 0):
            self._told("costs", done + index, 3 * _MOST_ROUNDS)
            if self._round(moved, last) < _CLOSE:
                break

    def _fitted(self, name: str, final: Mapping[str, Answer]) -> Fitted:
        timing = self._timings.get(name)
        if timing is None:
            return Fitted(None, 0.0, NO_PROBE)
        source = self._sources[name]
        if name in self._why:
            return Fitted(None, self._spreads[name], self._why[name], source)
        if timing.heavy:
            return Fitted(self._wanted[name], max(_HEAVY, self._spreads[name]), source=source)
        spread, why = self._spreads[name], ""
        if not timing.steps:
            slope, got, wanted = self._slopes[name], self._read(name, final), self._wanted[name]
            spread /= max(abs(slope), 1e-9)
            if abs(slope) < _LEAST:
                why = "its probe is bound by something else"
            elif not got > 0 or abs(math.log(wanted / got)) > _RESIDUAL:
                why = "no value of it explains the times"
            elif spread > (_LARGEST_SHARE if timing.linear else _LARGEST_SPREAD):
                why = f"repeated launches differ by {spread:.0%}"
        why = why or self._disagree(name, final)
        return Fitted(None if why else self._at[name], spread, why, source)


def is_as_modelled(cost: Cost, fitted: Fitted) -> bool:
    """Whether a decided cost is the simulator's own."""
    assert fitted.value is not None
    if not cost.value:
        return fitted.value <= max(_LARGEST_SHARE, fitted.spread)
    return abs(fitted.value - cost.value) <= max(_SAME, fitted.spread) * abs(cost.value)
