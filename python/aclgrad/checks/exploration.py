# SPDX-License-Identifier: Apache-2.0
"""Generated cases that `aclgrad check` tries on an operator without a golden: which shapes, and
whether a finding rests on inputs that the operator may not allow.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from aclgrad.cases.made_inputs import (
    BASES,
    DRAWS,
    TOGETHER,
    TWOS,
    MadeCase,
    Recipe,
    Shape,
    made,
    made_attr,
    other_way,
    styles,
)
from aclgrad.findings import ERROR, KINDS, WARNING, Finding
from aclgrad.running.isolation import CRASHED, SLOW
from aclgrad.runtime import soc_table
from aclgrad.spec import dtypes
from aclgrad.spec.definition import Definition

BLOCK_BYTES = 32
"""Unit of a copy between GM and UB."""

_MOST_STYLES = 4
"""Ways in which the shapes of inputs belong together that are tried on several shapes."""

_MOST_ELEMENTS = 1 << 24
"""Larger cases are not tried: they take too long."""

_MOST_ASKED = 3
"""Cases of one finding that are run again until it is held for one of invented inputs."""

_MOST_ALONE = 6
"""Optional inputs that are given alone."""

_ENOUGH = 5
"""Cases that the operator takes from which on what all of them show is of no single shape."""

_PIECES = 3
"""Copies by one core to one output after which it is known to have had several tiles."""

REFUSED, CLEAN, FAULTY = "refused", "clean", "finding"


@dataclass(frozen=True)
class MadeOutcome:
    """What one case showed."""

    label: str
    status: str
    message: str = ""
    found: tuple[Finding, ...] = ()
    verdict: str = ""
    seconds: float = 0.0
    pieces: int = 0  # most copies of one core to the first output, 0 when nobody counted
    choice: str = ""  # options of `aclgrad check` that choose this case alone
    launched: bool = True  # whether it came to a kernel: none runs where outputs are empty
    wrote: bool = True  # false where it wrote to none of its outputs, whose shapes are a guess

    @property
    def ran(self) -> bool:
        """Whether a kernel has run to its end without an error, and done anything."""
        return self.status == CLEAN and self.launched and self.wrote

    @property
    def taken(self) -> bool:
        """Whether inference and tiling took it, and gave what can be launched."""
        launched = not any(item.kind in _NO_LAUNCH for item in self.errors)
        return self.status == CLEAN or (self.status == FAULTY and launched)

    @property
    def errors(self) -> list[Finding]:
        """Findings that fail a check."""
        return [item for item in self.found if item.severity == ERROR]


Run = Callable[[Sequence[MadeCase]], list[MadeOutcome]]
"""Runs cases; fewer outcomes than cases where the time was up."""


def chip(soc: str) -> tuple[int, int]:
    """Vector cores of a SoC, and the bytes of UB that each of them has."""
    return soc_table.number(soc, "vecCores"), soc_table.number(soc, "ubBytes")


def shapes(itemsize: int, cores: int, fast: bool = False) -> list[Shape]:
    """Lengths 1, around blocks of 32 bytes and prime; one row, fewer rows than cores and more; one
    to four axes.
    """
    block = max(BLOCK_BYTES // itemsize, 1)
    if fast:
        return [(7, 33), (1,), (3, 5, 2 * block + 1)]
    return [
        (1,),
        (block - 1,) if block > 1 else (2,),
        (block,),
        (block + 1,),
        (7 * block,),
        (9 * block,),
        (1009,),
        (1, 1),
        (5, 1),
        (1, 4 * block + 3),
        (3, block - 1) if block > 1 else (3, 2),
        (7, 33),
        (3, 7 * block),
        (3, 9 * block),
        (53, 127),
        (3 * cores + 5, 2 * block + 1),
        (3, 5, 17),
        (2, 1, 8 * block + 1),
        (2, 3, 5, 7),
        (1, 3, 17, 31),
    ]


def ladder(base: Shape, itemsize: int, cores: int, ub: int) -> Iterator[Shape]:
    """Ever more elements, in all axes but the last if there are several. The last have more than UB
    holds for each core, so that no tile is large enough for them.
    """
    most = cores * ub // itemsize
    for total in (1 << 16, 1 << 19, most + most // 16):
        if len(base) < 2:
            yield (total + 37,)
        else:
            inner = (*(max(dim, 1) | 1 for dim in base[1:-1]), 509)
            yield (total // math.prod(inner) + 1, *inner)


def long_row(base: Shape, itemsize: int, ub: int) -> Shape:
    """Rows that UB does not hold."""
    return (*(min(dim, 3) for dim in base[:-1]), ub // itemsize + 37)


def long_rows(base: Shape, itemsize: int, cores: int, ub: int) -> Shape:
    """Several rows for each core that are too long to be taken together."""
    return (2 * cores + 5, *(1 for _ in base[1:-1]), ub // itemsize // 4 + 37)


def _doubled(base: Shape, taken: Shape) -> Shape:
    """For operators whose rows have two halves."""
    return (*base[:-1], 2 * base[-1])


def _whole(base: Shape, taken: Shape) -> Shape:
    """For operators that take rows of so many elements only."""
    return (*base[:-1], -(-base[-1] // taken[-1]) * taken[-1])


@dataclass
class Tried:
    """Cases with their outcomes, and what was not tried."""

    cases: list[MadeCase] = field(default_factory=list)
    outcomes: list[MadeOutcome] = field(default_factory=list)
    left: int = 0  # cases for which there was no time
    refused: int = 0  # shapes that it refused, in styles of which it takes others
    tiles: bool = False  # whether a core was seen to have several


def explore(
    op: Definition,
    row: Sequence[str],
    soc: str,
    run: Run,
    until_taken: Run,
    *,
    fast: bool = False,
    known: Sequence[Recipe] = (),
) -> Tried:
    """Find out which styles of inputs the operator takes, and run the shapes in those. Styles that
    are ``known`` of another dtype are not sought again.
    """
    explorer = _Explorer(op, row, soc, run, until_taken, fast)
    taken = [*known] or explorer.styles_taken()
    if not known and not fast:
        taken += explorer.alone(taken)
        explorer.switch(taken)
    for place, first in enumerate(taken):
        flat = explorer.try_shapes(first, brief=fast or bool(known) or place > 0)
        explorer.seek_tiles([*([(1,)] if flat else []), first.base], first)
    return explorer.tried


class _Explorer:
    """Runs an operator of one row of dtypes on ever more generated cases, each once."""

    def __init__(
        self,
        op: Definition,
        row: Sequence[str],
        soc: str,
        run: Run,
        until_taken: Run,
        fast: bool,
    ) -> None:
        self.op, self.row, self.fast = op, row, fast
        self.run, self.until_taken = run, until_taken
        first = row[0].removeprefix("DT_") if row else "FLOAT"
        self.itemsize = dtypes.by_label(first).numpy.itemsize
        self.cores, self.ub = chip(soc)
        self.tried = Tried()
        self._seen: set[str] = set()

    def _fresh(self, recipes: Iterable[Recipe]) -> list[MadeCase]:
        """Cases that were not made before and are not too large."""
        found = {case.label: case for case in (made(self.op, self.row, one) for one in recipes)}
        new = [
            case
            for label, case in found.items()
            if label not in self._seen and case.reach <= _MOST_ELEMENTS
        ]
        self._seen.update(found)
        return new

    def _add(self, given: Sequence[MadeCase], runner: Run) -> list[MadeOutcome]:
        got = runner(given)
        self.tried.cases += given[: len(got)]
        self.tried.outcomes += got
        return got

    def _taken(self, recipes: Iterable[Recipe]) -> list[Recipe]:
        """The first of some recipes that the operator takes, if there is one."""
        found = self._fresh(recipes)
        return _first_taken(found, self._add(found, self.until_taken))

    def styles_taken(self) -> list[Recipe]:
        """Styles of inputs that the operator takes, on shapes of several axes if it does."""
        taken: list[Recipe] = []
        optional = any(item.kind == "optional" for item in self.op.inputs)
        # One element, and one axis, go in styles too that the operator does not take otherwise.
        several = [base for base in BASES if len(base) > 1]
        for bases in (several, [base for base in BASES if len(base) == 1], [(1,)]):
            if taken:
                break
            for given in (False, True) if optional else (False,):
                for style in styles(self.op, self.row):
                    if len(taken) >= _MOST_STYLES * (1 + given) or (self.fast and taken):
                        break
                    taken += self._taken(Recipe(base, style, given) for base in bases)
        return taken

    def alone(self, taken: Sequence[Recipe]) -> list[Recipe]:
        """Recipes with one optional input each, as some may not be given together."""
        names = [item.name.lower() for item in self.op.inputs if item.kind == "optional"]
        if len(names) < 2 or not taken:
            return []
        first = taken[0]
        found: list[Recipe] = []
        for name in names[:_MOST_ALONE]:
            found += self._taken(
                dataclasses.replace(first, optionals=True, alone=name, style=style)
                for style in dict.fromkeys((first.style, *styles(self.op, self.row)))
            )
        return found

    def switch(self, taken: Sequence[Recipe]) -> None:
        """Try each attribute that chooses between two ways the other way."""
        self._add(self._fresh(_switches(self.op, taken)), self.run)

    def _wanted(self, first: Recipe, brief: bool) -> list[Shape]:
        wanted = [*shapes(self.itemsize, self.cores, brief)]
        if len(first.base) > 2:
            # It may take no fewer axes.
            tails = [(1,) * len(first.base), tuple(range(2, 2 + len(first.base)))]
            wanted += [*tails, (*first.base[:-1], first.base[-1] + 1)]
        # A core may have several tiles because it has many rows, or because its rows are long.
        wanted.append(long_row((2, 1), self.itemsize, self.ub))
        if not brief:
            # Those that UB holds once may not fit with all that a kernel keeps of a row.
            wanted += [long_row(first.base, self.itemsize, self.ub // part) for part in (1, 4)]
            if len(first.base) > 1:
                wanted.append(long_rows(first.base, self.itemsize, self.cores, self.ub))
        return wanted

    def try_shapes(self, first: Recipe, *, brief: bool) -> bool:
        """Run a style on many shapes; where most are refused, on shapes that its rows may need.
        Whether one axis was taken, which can be split anywhere.
        """
        wanted, flat = self._wanted(first, brief), False
        for change in (None, _doubled, _whole):
            if change is not None:
                wanted = [change(base, first.base) for base in wanted]
            found = self._fresh(dataclasses.replace(first, base=base) for base in wanted)
            got = self._add(found, self.run)
            self.tried.left += len(found) - len(got)
            ran = [(case.recipe, out) for case, out in zip(found, got, strict=False) if case.recipe]
            flat = flat or any(out.taken and len(recipe.base) == 1 for recipe, out in ran)
            wanted = [recipe.base for recipe, out in ran if out.status == REFUSED]
            if 2 * len(wanted) < len(found):
                break
        self.tried.refused += len(wanted)
        return flat

    def seek_tiles(self, starts: Sequence[Shape], first: Recipe) -> None:
        """Run ever larger shapes until a core has several tiles."""
        for start in starts:
            if self.tried.tiles:
                return
            for base in ladder(start, self.itemsize, self.cores, self.ub):
                changed = (base, _doubled(base, first.base), _whole(base, first.base))
                step = self._fresh(dataclasses.replace(first, base=other) for other in changed)
                got = self._add(step, self.until_taken)
                self.tried.left += bool(step) and not got
                if not got or got[-1].status == REFUSED:
                    break
                # No tile has room for the largest.
                largest = math.prod(base) * self.itemsize > self.cores * self.ub
                if got[-1].pieces >= _PIECES or got[-1].status != CLEAN or largest:
                    self.tried.tiles = True
                    break


def _first_taken(cases: Sequence[MadeCase], outcomes: Sequence[MadeOutcome]) -> list[Recipe]:
    """The recipe of the first case that the operator took, if there is one."""
    taken = (
        case.recipe
        for case, outcome in zip(cases, outcomes, strict=False)
        if outcome.taken and case.recipe
    )
    return [*itertools.islice(taken, 1)]


def _switches(op: Definition, taken: Sequence[Recipe]) -> Iterator[Recipe]:
    """Every attribute that chooses between two ways, the other way: without optional inputs, and
    with each choice of them that is taken.
    """
    firsts = {(recipe.optionals, recipe.alone): recipe for recipe in reversed(taken)}
    for attr in op.attrs:
        for recipe in firsts.values():
            if other_way(made_attr(attr, recipe.base)) is not None:
                yield dataclasses.replace(recipe, turned=attr.name)


_ANY_VALUES = frozenset(
    name
    for name, kind in KINDS.items()
    if kind.group in ("queues and flags", "redundancy")
    or name.startswith("race-")
    or name == "chaos-difference"
) - {"deadlock", "block-event"}  # fmt: skip
"""What follows from the order of instructions: one other draw that shows it is enough."""

HOST_CODE = frozenset(
    name for name, kind in KINDS.items() if kind.group == "definition, inference and tiling"
)
"""Faults of host code. It has to refuse what an operator does not take: no inputs excuse them."""

_NO_LAUNCH = frozenset({"tiling-block-dim", "tiling-key-unknown"})
"""Faults of a tiling after which no kernel runs: it may be that it meant to refuse the call."""

_BETWEEN_CORES = ("gm-conflict", "gm-line-shared")

_UNSET = ("undefined-read", "output-unwritten")

_UPDATES = re.compile(r"^(Sparse|Fused|Resource)*(Apply|Inplace|Assign)|Momentum|Sgd|Adam")
"""Types of operators that graphs use to update variables: those are inputs in their definitions."""

_WHOLE_OUTPUT = re.compile(r"; (\d+) of its \1 bytes are unwritten")

Cause = tuple[str, tuple[str, str, int]]


def _cause(finding: Finding) -> Cause:
    return finding.kind, finding.at.key


def _of_order(finding: Finding) -> bool:
    """Whether a finding follows from the order of instructions. Which parts of GM meet is what
    indices say.
    """
    return finding.kind in _ANY_VALUES and finding.space != "GM"


def stays(finding: Finding, shown: Sequence[Sequence[Finding]], *, exactly: bool = False) -> bool:
    """Whether a finding is there too among those of all other cases, or of one where one is enough;
    ``exactly``: with the same numbers.
    """
    there = [
        any(
            _cause(item) == _cause(finding) and (not exactly or item.detail == finding.detail)
            for item in found
        )
        for found in shown
    ]
    if _of_order(finding):
        return any(there)
    return bool(there) and all(there)


class Settler:
    """Tells findings that rest on invented inputs from those that any inputs would give, by running
    the case again with other values and with other shapes.
    """

    def __init__(
        self, op: Definition, row: Sequence[str], run: Run, taken: Sequence[Recipe]
    ) -> None:
        self._op, self._row, self._run = op, row, run
        self._styles = [*dict.fromkeys((item.style, item.optionals, item.alone) for item in taken)]
        self._known: dict[str, MadeOutcome | None] = {}
        self._certain: set[Cause] = set()
        self._resting: dict[Cause, list[str]] = {}
        self._switches: dict[str, str] = {}
        self._chooses: dict[Cause, str] = {}
        self._everywhere: set[Cause] = set()

    def settle(self, tried: Tried) -> None:
        """Make warnings of the findings that rest on invented inputs."""
        for at, (case, outcome) in enumerate(zip(tried.cases, tried.outcomes, strict=True)):
            if any(finding.kind == "output-unwritten" for finding in outcome.errors):
                outcome = tried.outcomes[at] = self._asked_for(case, outcome)
            found = tuple(self._updated(self._chosen(case, one)) for one in outcome.found)
            tried.outcomes[at] = dataclasses.replace(outcome, found=found)
        taken = [outcome.errors for outcome in tried.outcomes if outcome.taken]
        if len(taken) >= _ENOUGH:
            self._everywhere = set.intersection(*({_cause(one) for one in each} for each in taken))
        for case, outcome in zip(tried.cases, tried.outcomes, strict=True):
            self._known[case.label] = outcome
            if not case.invented:
                self._certain |= {_cause(finding) for finding in outcome.errors}
        for at, (case, outcome) in enumerate(zip(tried.cases, tried.outcomes, strict=True)):
            if case.invented and outcome.errors:
                found = tuple(self._judged(case, finding) for finding in outcome.found)
                tried.outcomes[at] = dataclasses.replace(outcome, found=found)

    def _asked_for(self, case: MadeCase, outcome: MadeOutcome) -> MadeOutcome:
        """An outcome in which outputs that an attribute leaves out are warnings: none of their
        bytes is written, others are, and with the attribute the other way they are too.
        """
        assert case.recipe is not None
        missing = {
            finding.buffer
            for finding in outcome.errors
            if finding.kind == "output-unwritten" and _WHOLE_OUTPUT.search(finding.detail)
        }
        if len(missing) >= len(self._op.outputs):
            return outcome
        for attr in self._op.attrs:
            if missing <= self._switches.keys():
                break
            if other_way(case.attrs[attr.name]) is None:
                continue
            other = made(self._op, self._row, dataclasses.replace(case.recipe, turned=attr.name))
            shown = self._outcome(other)
            if shown is None or not shown.taken:
                continue
            still = {item.buffer for item in shown.errors if item.kind == "output-unwritten"}
            for name in missing - still:
                self._switches.setdefault(
                    name, f"attribute {attr.name} was {case.attrs[attr.name]}"
                )
        found = tuple(
            dataclasses.replace(finding, severity=WARNING, invented=self._switches[finding.buffer])
            if finding.kind == "output-unwritten"
            and finding.buffer in missing & self._switches.keys()
            else finding
            for finding in outcome.found
        )
        return dataclasses.replace(outcome, found=found)

    def _chosen(self, case: MadeCase, finding: Finding) -> Finding:
        """A warning for an error that shows only because of the numbers in other inputs than the
        first, by which a kernel may choose what it computes.
        """
        others = [item.name for item in self._op.inputs[1:] if item.kind != "optional"]
        if finding.severity != ERROR or finding.kind not in _UNSET or not others:
            return finding
        cause = _cause(finding)
        if cause not in self._chooses:
            assert case.recipe is not None
            other = made(self._op, self._row, dataclasses.replace(case.recipe, values=TWOS))
            shown = self._outcome(other)
            there = shown is None or not shown.taken or stays(finding, [shown.errors])
            self._chooses[cause] = "" if there else f"values of {', '.join(others)}"
        why = self._chooses[cause]
        return dataclasses.replace(finding, severity=WARNING, invented=why) if why else finding

    def _updated(self, finding: Finding) -> Finding:
        """A warning for a write into an input of an operator that updates some, by its type."""
        if finding.kind != "gm-write-to-input" or not _UPDATES.search(self._op.type):
            return finding
        why = f"whether {self._op.type} updates an input, of which its definition says nothing"
        return dataclasses.replace(finding, severity=WARNING, invented=why)

    def _judged(self, case: MadeCase, finding: Finding) -> Finding:
        cause = _cause(finding)
        certain = cause in self._certain or finding.kind in HOST_CODE
        # A kernel that has it whatever the shapes are cannot be right for any.
        certain |= cause in self._everywhere and finding.kind in _ANY_VALUES
        if finding.severity != ERROR or certain:
            return finding
        known = self._resting.setdefault(cause, [])
        if len(known) < _MOST_ASKED:
            why = self._why(case, finding)
            if not why:
                self._certain.add(cause)  # the others are errors too: see `findings.merge`
                return finding
            known.append(why)
        return dataclasses.replace(finding, severity=WARNING, invented=known[-1])

    def _why(self, case: MadeCase, finding: Finding) -> str:
        """The invented inputs that a finding rests on, empty if it does on none."""
        assert case.recipe is not None
        parts: list[str] = []
        order = finding.kind.startswith("race-") or finding.kind in _BETWEEN_CORES
        if case.repeats and finding.space == "GM" and order:
            parts += case.values  # a place that is named twice is written twice
        if case.values and not parts:
            draws = [dataclasses.replace(case.recipe, values=values) for values in DRAWS]
            # Indices may leave parts of an output unwritten, if callers fill the output before.
            exactly = finding.kind == "output-unwritten"
            if not self._stays(case, draws, finding, exactly=exactly):
                parts += case.values
        name = case.recipe.turned
        if name and not isinstance(case.attrs[name], bool):
            plain = [dataclasses.replace(case.recipe, turned="")]
            if not self._stays(case, plain, finding):
                parts.append(f"attribute {name} was {case.attrs[name]}")
        shapes_ = self._free_shapes(case, finding) if case.shapes else ()
        if shapes_:
            recipes = [
                dataclasses.replace(case.recipe, style=style, optionals=given, alone=alone)
                for style, given, alone in self._styles
            ]
            if not self._stays(case, recipes, finding):
                parts += shapes_
        return "; ".join(parts)

    def _stays(
        self, case: MadeCase, recipes: Sequence[Recipe], finding: Finding, *, exactly: bool = False
    ) -> bool:
        """Whether a finding is there too in cases that are made otherwise."""
        others = [made(self._op, self._row, recipe) for recipe in recipes]
        shown = [
            outcome.errors
            for other in others
            if other.label != case.label
            and (outcome := self._outcome(other)) is not None
            and outcome.taken
        ]
        return stays(finding, shown, exactly=exactly)

    def _free_shapes(self, case: MadeCase, finding: Finding) -> tuple[str, ...]:
        """Shapes that inference and tiling would have taken whatever they are, and without which a
        finding may not be there. Those of an input for which they refuse others are of the
        operator's contract.
        """
        assert case.recipe is not None
        free = []
        for text in case.shapes:
            # A kernel has code of its own for inputs that are given together, and its order.
            if text.endswith(TOGETHER) and _of_order(finding):
                continue
            name = text.partition(" ")[0]
            odd = made(self._op, self._row, dataclasses.replace(case.recipe, odd=name))
            outcome = self._outcome(odd) if odd.label != case.label else None
            unknown = outcome is None or outcome.status in (CRASHED, SLOW)
            shown = outcome.errors if outcome and outcome.taken else None
            if unknown or (shown is not None and not stays(finding, [shown])):
                free.append(text)
        return tuple(free)

    def _outcome(self, case: MadeCase) -> MadeOutcome | None:
        if case.label not in self._known:
            got = self._run([case])
            self._known[case.label] = got[0] if got else None
        return self._known[case.label]
