# SPDX-License-Identifier: Apache-2.0
"""Whether an operator's own build lets the device compiler synchronise for it.

CANN's builds do unless they are told otherwise: by ``auto_sync`` in an ascendc_config.json, by
AUTO_SYNC of a kernel's CMake list, or by the compile option ``--cce-auto-sync=off``, which wins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aclgrad.common.data import parse_json
from aclgrad.common.files import FileError, text_of
from aclgrad.reading import cmake_text
from aclgrad.spec.naming import pascal_case
from aclgrad.spec.soc import family_of

ENVIRONMENT = "ACLGRAD_SIM_AUTOSYNC"
CONFIG = "ascendc_config.json"

_FOLDERS = ("", "scripts/kernel/binary_config", "scripts", "cmake", "config", "configs", "conf")
"""Where projects keep their ascendc_config.json, below one of the folders above the operator."""

_SKIPPED = {"build", "build_out", "tests", "third_party", ".git", ".venv", "node_modules"}

_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s()"]+')
_OPTION = re.compile(r"--cce-auto-sync(?:=(\w+))?(?![\w-])")

_KEYWORDS = {"OP_NAME", "COMPUTE_UNIT", "COMPUTE_UNITS", "OPTIONS", "AUTO_SYNC", "KERNEL_SRC"}
_BY_OPERATOR = {"add_ops_compile_options", "npu_op_kernel_options"}
_BY_KERNEL = {"add_kernel_sources", "add_modules_sources", "add_all_modules_sources"}
_BY_TARGET = {"ascendc_compile_options", "target_compile_options"}
_FOR_ALL = {"add_compile_options"}
_TARGETS = {"ascendc_library", "ascendc_fatbin_library", "add_executable", "add_library"}


@dataclass(frozen=True)
class Assumed:
    """What a run assumes of the device compiler, and why."""

    on: bool
    why: str
    chosen: bool = False  # by --autosync

    @property
    def value(self) -> str:
        """As the simulator's option spells it."""
        return "on" if self.on else "off"

    @property
    def line(self) -> str:
        """For people."""
        return f"autosync {self.value}: {self.why}"

    @property
    def words(self) -> str:
        """What a command that repeats the run needs to say."""
        return f" --autosync {self.value}" if self.chosen else ""

    def as_json(self) -> dict[str, str]:
        """For programs."""
        return {"value": self.value, "why": self.why}


def assume(word: str | Path, soc: str, chosen: str | None = None) -> Assumed:
    """What to assume for the sources at a path: the option, the environment, then their build."""
    if chosen is not None:
        return Assumed(chosen == "on", "--autosync", chosen=True)
    if value := os.environ.get(ENVIRONMENT):
        return Assumed(value != "off", ENVIRONMENT)
    path = Path(word).expanduser().resolve()
    unit = family_of(soc).name
    folder = path if path.is_dir() else path.parent
    if folder.name in ("op_kernel", "op_host"):
        folder = folder.parent
    lone = path.is_file() and path.parent.name != "op_kernel"
    names = set() if lone else operators(folder)
    return (
        _of_options(folder, path if path.is_file() else None, names, unit)
        or _of_config(folder, names, unit)
        or Assumed(True, "CANN's default, no build file of the project says otherwise")
    )


def operators(folder: Path) -> set[str]:
    """Types that an operator's folder defines; by the folder's name when none is found."""
    types: set[str] = set()
    for file in sorted((folder / "op_host").rglob("*.cpp")):
        types |= set(re.findall(r"\bOP_ADD\(\s*(\w+)", _read(file)))
    return types or {pascal_case(folder.name)}


def _read(file: Path) -> str:
    try:
        return text_of(file)
    except FileError:
        return ""


def _above(folder: Path) -> Iterator[Path]:
    """The folder and those above it, up to the project's root."""
    home = Path.home()
    for place in (folder, *folder.parents):
        if place == place.parent or place == home:
            return
        yield place
        if (place / ".git").exists():
            return


def _named(file: Path, root: Path, line: int) -> str:
    return f"{file.relative_to(root) if file.is_relative_to(root) else file}:{line}"


# --- ascendc_config.json --------------------------------------------------------------------------


def _of_config(folder: Path, names: set[str], unit: str) -> Assumed | None:
    for root in _above(folder):
        for below in _FOLDERS:
            file = root / below / CONFIG
            if not file.is_file():
                continue
            text = _read(file)
            try:
                entries = parse_json(text)
            except ValueError as error:
                raise ValueError(
                    f"{file}: not JSON: {error}. Next: fix it, or say --autosync on or off"
                ) from None
            if (found := _of_entries(entries, names, unit)) is None:
                continue
            name, on = found
            lines = text.splitlines()
            spelled = re.compile(rf'"name"\s*:\s*"{re.escape(name)}"')
            at = next((i for i, line in enumerate(lines, 1) if spelled.search(line)), 0)
            return Assumed(on, f"{_named(file, root, at)} says so of {name} on {unit}")
    return None


def _of_entries(entries: object, names: set[str], unit: str) -> tuple[str, bool] | None:
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict) or entry.get("name") not in names:
            continue
        units = entry.get("compute_units")
        if isinstance(units, list) and unit not in units:
            continue
        options = _for_unit(entry.get("compile_options"), unit)
        chosen = _chosen(options if isinstance(options, list) else [])
        if chosen is None:
            flag = _for_unit(entry.get("auto_sync"), unit)
            if not isinstance(flag, bool):
                continue
            chosen = flag
        return str(entry["name"]), chosen
    return None


def _for_unit(value: object, unit: str) -> object:
    """The value for a compute unit: some keys have one for each."""
    return value.get(unit) if isinstance(value, dict) else value


def _chosen(options: Sequence[object]) -> bool | None:
    """What a list of compile options says; the last one counts."""
    found = None
    for option in options:
        for match in _OPTION.finditer(str(option)):
            found = match[1] != "off"
    return found


# --- CMake ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Call:
    """A call in a CMake list."""

    name: str
    words: tuple[str, ...]
    line: int

    def after(self, keyword: str) -> list[str]:
        """The words behind a keyword, up to the next one."""
        if keyword not in self.words:
            return []
        rest = self.words[self.words.index(keyword) + 1 :]
        end = next((i for i, word in enumerate(rest) if word in _KEYWORDS), len(rest))
        return list(rest[:end])

    @property
    def units(self) -> list[str]:
        """The compute units that it is for; empty for all."""
        return self.after("COMPUTE_UNIT") + self.after("COMPUTE_UNITS")


def _calls(file: Path) -> list[_Call]:
    """The calls of a CMake list, with the variables that it sets itself put in."""
    calls = []
    variables: dict[str, list[str]] = {}
    for made in cmake_text.calls(_read(file)):
        words: list[str] = []
        for word in _WORD.findall(made.arguments):
            plain = word.strip('"')
            name = re.fullmatch(r"\$\{(\w+)\}", plain)
            words += variables.get(name[1], [plain]) if name else [plain]
        call = _Call(made.name, tuple(words), made.line)
        if call.name == "set" and words:
            variables[words[0]] = words[1:]
        calls.append(call)
    return calls


def _lists(folder: Path, root: Path) -> Iterator[Path]:
    """An operator's own CMake files, then those of the folders above it."""
    own = [folder, *(folder / name for name in ("op_kernel", "op_host", "cmake"))]
    for place in [*own, *(place for place in _above(folder) if place != folder)]:
        if place.is_dir() and place.name not in _SKIPPED:
            yield from (file for file in [place / "CMakeLists.txt"] if file.is_file())
            if place in (folder, root):
                yield from sorted(place.glob("*.cmake"))


def _of_options(folder: Path, source: Path | None, names: set[str], unit: str) -> Assumed | None:
    places = list(_above(folder))
    root = places[-1] if places else folder
    weak: Assumed | None = None
    for file in _lists(folder, root):
        own = file.parent == folder or folder in file.parents
        calls = _calls(file)
        for call in calls:
            if call.units and unit not in call.units:
                continue
            if not _concerns(call, calls, source, names, own):
                continue
            where = _named(file, root, call.line)
            chosen = _chosen(call.words)
            if chosen is not None:
                return Assumed(chosen, f"{where} says --cce-auto-sync={'on' if chosen else 'off'}")
            flag = [word.lower() for word in call.after("AUTO_SYNC")[:1]]
            if flag and weak is None and call.name in _BY_KERNEL:
                weak = Assumed(
                    flag[0] not in ("false", "off", "0"), f"{where} says AUTO_SYNC {flag[0]}"
                )
    return weak


def _concerns(
    call: _Call, calls: Sequence[_Call], source: Path | None, names: set[str], own: bool
) -> bool:
    """Whether a call of a CMake list is about the operator, or the file."""
    if call.name in _BY_OPERATOR:
        return bool({*names, "ALL"} & set(call.words))
    if call.name in _BY_KERNEL:
        return own
    if call.name in _FOR_ALL:
        return True
    if call.name == "set" and call.words:
        return bool(re.fullmatch(r"CMAKE_(ASC|CCE)_FLAGS\w*", call.words[0]))
    if call.name == "set_source_files_properties":
        return source is not None and _names(call, source)
    if call.name in _BY_TARGET and call.words:
        target = call.words[0]
        of_target = [other for other in calls if other.name in _TARGETS and target in other.words]
        if source is None:
            return own
        return any(_names(other, source) for other in of_target)
    return False


def _names(call: _Call, source: Path) -> bool:
    return any(Path(word).name == source.name for word in call.words)
