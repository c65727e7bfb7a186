# SPDX-License-Identifier: Apache-2.0
"""A campaign file: what its words mean, and an error with the line for every word that means
nothing.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from aclgrad import ops
from aclgrad.campaign.plans import axes
from aclgrad.common import files
from aclgrad.common.data import absurd, parse_toml
from aclgrad.errors import AclgradError
from aclgrad.reading import command_words
from aclgrad.spec import dtypes
from aclgrad.spec.soc import family_of
from aclgrad.testing import selection
from aclgrad.testing.api import LAYOUTS, VALUES

ALONE = ("fuzz", "unit-tests", "compatibility", "against", "mutation")
"""Actions that have cases of their own."""

ACTIONS = ("precision", "check", "profile", *ALONE)

SEARCHES = ("worst-ulp", "worst-share", "finding")
_OUT_LAYOUTS = ("contiguous", "offset", "gaps", "transposed")


_MOST_SECONDS = 10_000_000
_MOST_TRIALS = 1_000_000
_MOST_TEXT, _MOST_CSV = 1 << 20, 16 << 20


class CampaignError(AclgradError):
    """A campaign that cannot run; the text names the line and the next step."""


@dataclass(frozen=True)
class Sweep:
    """One ``[[sweep]]``: the product of its lists."""

    do: tuple[str, ...] = ("precision",)
    operators: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    socs: tuple[str, ...] = ()
    cases: str = ""
    shapes: tuple[str, ...] = ()
    random: Mapping[str, Any] | None = None
    csv: str = ""
    attributes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    layouts: tuple[str, ...] = ("contiguous",)
    values: tuple[str, ...] = ("uniform",)
    modes: tuple[str, ...] = ("checked",)
    chaos: tuple[int, ...] = (0,)
    autosync: tuple[str, ...] = ()
    keep_going: tuple[bool, ...] = ()
    seeds: tuple[int, ...] = (0,)
    search: str = ""
    trials: int = 100
    checkouts: tuple[str, ...] = ()
    only: str = ""
    environment: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    models: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of the CSV
    number: int = 0  # of the file's sweeps


@dataclass(frozen=True)
class Campaign:
    """A whole file."""

    path: Path
    text: str
    title: str
    limit: float
    piece: float
    shrink: bool
    sweeps: tuple[Sweep, ...]

    def refuse(self, sweep: Sweep | int, key: str, text: str, value: Any = None) -> CampaignError:
        """An error at the line of a key, or of one of its values."""
        number = sweep if isinstance(sweep, int) else sweep.number
        return refusal(self.path, self.text, number, key, text, value)


_KEYS = {item.name.replace("_", "-") for item in fields(Sweep)} - {"models", "number"}
_TOP = {"title", "limit", "piece", "shrink", "sweep"}


def load(path: Path) -> Campaign:
    """Read a file. Raises `CampaignError`."""
    advice = "aclgrad campaign FILE.toml; docs/campaigns.md has some"
    data = files.read(path, str(path), advice, most=_MOST_TEXT)
    try:
        text = data.decode()
        document = parse_toml(text)
    except ValueError as error:  # of TOML or of UTF-8
        line = re.search(r"at line (\d+)", str(error))
        place = f"{path}:{line[1]}" if line else f"{path}"
        raise CampaignError(f"{place}: {error}. Next: fix the line") from None
    return parse(path, text, document)


def parse(path: Path, text: str, document: Mapping[str, Any]) -> Campaign:
    """Give every word its meaning. Raises `CampaignError`."""
    known = sorted(_KEYS | _TOP)
    sweeps = document.get("sweep", [{}])
    if not isinstance(sweeps, list) or not all(isinstance(item, dict) for item in sweeps):
        raise refusal(path, text, -1, "sweep", "got one value, want [[sweep]] tables")
    for number, table in enumerate([document, *sweeps], -1):
        for key in table:
            if key not in _KEYS and not (number < 0 and key in _TOP):
                near = difflib.get_close_matches(key, known, 1)
                hint = f"Next: {near[0]}" if near else f"Next: one of {', '.join(known)}"
                raise refusal(path, text, number, key, "is not a key of a campaign file", hint=hint)
            if key != "sweep" and (why := absurd(table[key])):
                raise refusal(path, text, number, key, why)
    common = {key: value for key, value in document.items() if key in _KEYS}
    title = document.get("title", path.stem)
    shrink = document.get("shrink", True)
    seconds = {"limit": 300, "piece": 3} | {
        key: document[key] for key in ("limit", "piece") if key in document
    }
    if not isinstance(title, str):
        raise refusal(path, text, -1, "title", f"got {title!r}, want a text")
    for key, value in seconds.items():
        if (
            not isinstance(value, (int, float))
            or isinstance(value, bool)
            or not (0 < value <= _MOST_SECONDS)
        ):
            want = f"want seconds, at most {_MOST_SECONDS}"
            raise refusal(path, text, -1, key, f"got {value!r}, {want}")
    if not isinstance(shrink, bool):
        raise refusal(path, text, -1, "shrink", f"got {shrink!r}, want true or false")
    made = []
    for number, table in enumerate(sweeps):
        reader = _Reader(path, text, number, {**common, **table}, set(table))
        made.append(reader.sweep())
    limit, piece = float(seconds["limit"]), float(seconds["piece"])
    return Campaign(path, text, title, limit, piece, shrink, tuple(made))


@dataclass
class _Reader:
    """Turns one table into a `Sweep`."""

    path: Path
    text: str
    number: int
    table: Mapping[str, Any]
    own: set[str]  # keys of the sweep, the others stand at the top of the file

    def refuse(self, key: str, text: str, value: Any = None) -> CampaignError:
        return refusal(
            self.path, self.text, self.number if key in self.own else -1, key, text, value
        )

    def sweep(self) -> Sweep:  # noqa: C901
        made: dict[str, Any] = {}
        words: dict[str, Callable[[str], Any]] = {
            "do": _one_of(ACTIONS),
            "operators": str,
            "dtypes": lambda word: dtypes.parse(word).alias or dtypes.parse(word).name,
            "socs": _soc,
            "layouts": _layout,
            "values": _one_of(VALUES),
            "modes": _one_of(("checked", "fast")),
            "autosync": _one_of(("on", "off")),
            "checkouts": str,
        }
        for key, meaning in words.items():
            if key in self.table:
                made[key] = tuple(dict.fromkeys(self._words(key, meaning)))
        made |= {key: _by_rank(made[key]) for key in ("operators",) if key in made}
        for key, zero in (("chaos", True), ("seeds", True)):
            if key in self.table:
                made[key] = self._numbers(key, zero)
        if "keep-going" in self.table:
            given = self._list("keep-going")
            for item in given:
                if not isinstance(item, bool):
                    raise self.refuse("keep-going", f"got {item!r}, want true or false", item)
            made["keep_going"] = tuple(dict.fromkeys(given))
        for key in ("cases", "search", "csv", "only"):
            if key in self.table and not isinstance(self.table[key], str):
                raise self.refuse(key, f"got {self.table[key]!r}, want a text")
        made |= {key: self.table[key] for key in ("csv", "only") if key in self.table}
        for key, wanted in (("cases", ("grid", "fast")), ("search", SEARCHES)):
            if key in self.table:
                if self.table[key] not in wanted:
                    raise self.refuse(key, f"got {self.table[key]!r}, want {' or '.join(wanted)}")
                made[key] = self.table[key]
        made |= self._shapes()
        for key in ("attributes", "environment"):
            if key in self.table:
                made[key] = self._named_lists(key)
        if "trials" in self.table:
            trials = self.table["trials"]
            if type(trials) is not int or not 1 <= trials <= _MOST_TRIALS:
                raise self.refuse("trials", f"got {trials!r}, want 1 to {_MOST_TRIALS}")
            made["trials"] = trials
        found = Sweep(**made, number=self.number)
        self._fits(found)
        return found

    def _list(self, key: str) -> list[Any]:
        given = self.table[key]
        found = given if isinstance(given, list) else [given]
        if not found:
            raise self.refuse(key, "is an empty list, so that there is no case")
        return found

    def _words(self, key: str, meaning: Callable[[str], object]) -> list[Any]:
        found = []
        for word in self._list(key):
            if not isinstance(word, str):
                raise self.refuse(key, f"got {word!r}, want a text", word)
            try:
                found.append(meaning(word))
            except ValueError as error:
                raise self.refuse(key, str(error), word) from None
        return found

    def _numbers(self, key: str, zero: bool) -> tuple[int, ...]:
        found: list[int] = []
        for item in self._list(key):
            if type(item) is int and 0 <= item < 2**31:
                found.append(item)
                continue
            if item == "0" and zero:
                found.append(0)
                continue
            try:
                first, _, last = str(item).partition("-")
                lead = [0] if first == "0" else []
                found += [*lead, *selection.seeds(f"1-{last}" if lead else str(item))]
            except ValueError:
                most = selection.MOST_SEEDS
                want = f"a number such as 7, or a text such as '0-20', of {most} at most"
                raise self.refuse(key, f"got {item!r}, want {want}", item) from None
        return tuple(dict.fromkeys(found))

    def _shapes(self) -> dict[str, Any]:
        made: dict[str, object] = {}
        if "shapes" in self.table:
            shapes = []
            for item in self._list("shapes"):
                plain = isinstance(item, list) and all(type(dim) is int for dim in item)
                text = "x".join(map(str, item)) or "scalar" if plain else item
                if not isinstance(text, str):
                    raise self.refuse("shapes", f"got {item!r}, want texts such as '8x1..64'", item)
                try:
                    axes.box(text)
                except ValueError as error:
                    raise self.refuse("shapes", str(error), item) from None
                shapes.append(text)
            made["shapes"] = tuple(shapes)
        if "random" in self.table:
            given = self.table["random"]
            try:
                if not isinstance(given, dict):
                    raise ValueError(f"got {given!r}, want a table such as {{ count = 100 }}")
                axes.drawn(given)
            except ValueError as error:
                raise self.refuse("random", str(error)) from None
            made["random"] = dict(given)
        if "csv" in self.table:
            place = self.path.parent / str(self.table["csv"])
            folders = (files.repository(self.path.parent), Path.cwd())
            try:
                data = files.read(
                    place, str(place), "a CSV file beside this one", most=_MOST_CSV, below=folders
                )
                made["models"] = axes.models(data.decode())
            except files.FileError as error:
                raise self.refuse("csv", str(error)) from None
            except (ValueError, csv.Error) as error:
                raise self.refuse("csv", f"{place}: {error}") from None
        return made

    def _named_lists(self, key: str) -> dict[str, tuple[object, ...]]:
        given = self.table[key]
        if not isinstance(given, dict):
            raise self.refuse(key, f"got {given!r}, want a table {{ dim = [-1, 0] }}")
        found = {}
        for name, values in given.items():
            listed = values if isinstance(values, list) else [values]
            if not listed:
                raise self.refuse(key, f"{name} is an empty list", name)
            text = key == "environment"
            found[name] = tuple(str(value) if text else value for value in listed)
        return found

    def _fits(self, found: Sweep) -> None:
        """What goes together, and what is missing."""
        alone = [word for word in found.do if word in ALONE]
        if alone and len(found.do) > 1:
            raise self.refuse("do", f"{alone[0]} has cases of its own. Next: a [[sweep]] for it")
        if found.environment and alone != ["unit-tests"]:
            raise self.refuse("environment", "is for do = 'unit-tests' alone")
        if alone in (["compatibility"], ["against"]):
            if not found.checkouts:
                raise self.refuse("do", f"{alone[0]} needs checkouts = ['path', ...]")
            return
        if alone in (["unit-tests"], ["mutation"]) and not found.operators:
            raise self.refuse("do", f"{alone[0]} needs operators = ['path', ...]")
        if alone:
            return
        if not (found.cases or found.shapes or found.random or found.csv):
            key = "do" if "do" in self.table else "operators"
            raise self.refuse(key, "there is no case: want shapes, random, csv or cases = 'grid'")
        if found.cases:
            for key in ("shapes", "random", "csv", "attributes", "layouts", "values", "search"):
                if key in self.table:
                    raise self.refuse(key, f"cases = '{found.cases}' have their own; keep one")


def _by_rank(words: Sequence[str]) -> tuple[str, ...]:
    """Names of operators, where a word means those of any rank or of one."""
    found: list[str] = []
    for word in words:
        rank = re.fullmatch(r"all of (?:any rank|rank (\d))", word)
        wanted = int(rank[1]) if rank and rank[1] else None
        found += [spec.op for spec in ops.need_all() if spec.rank == wanted] if rank else [word]
    return tuple(dict.fromkeys(found))


def _one_of(wanted: Sequence[str]) -> Callable[[str], str]:
    def meaning(word: str) -> str:
        if word not in wanted:
            near = difflib.get_close_matches(word, wanted, 1)
            raise ValueError(
                f"got {word!r}, want {', '.join(wanted)}" + (f". Next: {near[0]}" if near else "")
            )
        return word

    return meaning


def _soc(word: str) -> str:
    family_of(word)
    return word


def _layout(word: str) -> str:
    given, arrow, out = word.partition(">")
    if given not in LAYOUTS or (arrow and out not in _OUT_LAYOUTS):
        raise ValueError(
            f"got {word!r}, want {', '.join(LAYOUTS)}, or with that of the output 'gaps>transposed'"
        )
    return word


def is_path(word: str, folder: Path) -> Path | None:
    """The project that an operator's word names, from the file's folder on; None for a name."""
    place = (folder / Path(word).expanduser()).resolve()
    beside = any((place / half).is_dir() for half in ("op_kernel", "op_host"))
    return place if beside or command_words.is_path(word) else None


# --- lines ---------------------------------------------------------------------------------------


def refusal(
    path: Path, text: str, sweep: int, key: str, what: str, value: object = None, hint: str = ""
) -> CampaignError:
    """An error at a line of the file; ``sweep`` -1 is what stands above all sweeps."""
    line = line_of(text, sweep, key, value)
    if "Next: " not in what:
        what += f". {hint or 'Next: fix the line; docs/campaigns.md lists the words'}"
    return CampaignError(f"{path}:{line}: {key}: {what}")


def line_of(text: str, sweep: int, key: str, value: object = None) -> int:
    """Where a key of a table stands, or one of its values."""
    lines = text.splitlines()
    heads = [at for at, line in enumerate(lines) if re.match(r"\s*\[\[\s*sweep\s*\]\]", line)]
    first, last = 0, heads[0] if heads else len(lines)
    if sweep >= 0 and heads:
        first = heads[min(sweep, len(heads) - 1)]
        last = next((at for at in heads if at > first), len(lines))
    word = re.escape(key)
    found = re.compile(rf"\s*(?:\[\s*(?:sweep\.)?{word}\s*\]|[\"']?{word}[\"']?\s*[=.])")
    at = next((at for at in range(first, last) if found.match(lines[at])), None)
    if at is None:
        # Inside a table on one line, or a key that the file leaves out.
        near = (at for at in range(first, last) if re.search(rf"\b{word}\b", lines[at]))
        at = next(near, first if heads else 0)
    if value is None:
        return at + 1
    wanted = value if isinstance(value, str) else str(value).lower()
    for place in range(at, last):
        if place > at and re.match(r"\s*[\w\"'-]+\s*=|\s*\[\[?\w", lines[place]):
            break
        if wanted in lines[place]:
            return place + 1
    return at + 1
