# SPDX-License-Identifier: Apache-2.0
"""What a run of the compiler depends on besides its words: the version of each tool, variables of
the environment, the files that it read, the libraries that it linked, and where it looked for
headers and libraries in vain.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from aclgrad.common.rebuild import Inputs
from aclgrad.common.sums import Status, kind_of, settled, status_of

VARIABLES = (
    "COMPILER_PATH",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "C_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "LD_RUN_PATH",
    "LIBRARY_PATH",
    "SOURCE_DATE_EPOCH",
)
"""What compilers read of the environment."""

_INCLUDE = re.compile(
    rb"^[ \t]*#[ \t]*(?:include(?:_next)?|import)[ \t]*([<\"])([^>\"\n]+)[>\"]"
    rb"|__has_include(?:_next)?[ \t]*\([ \t]*([<\"])([^>\"\n]+)[>\"]",
    re.MULTILINE,
)
_FOLDER_WORDS = ("-isystem", "-idirafter", "-iquote", "-I")


@dataclass(frozen=True)
class Toolchain:
    """A compiler as it is now, and the tools that it calls."""

    compiler: str
    version: str  # what it says of itself, also where its path is that of a script
    files: tuple[str, ...]  # of the tools


def toolchain(compiler: str) -> Toolchain:
    """Ask a compiler what it is. Asked for each build: another one may answer to the same name."""
    done = subprocess.run([compiler, "-v"], capture_output=True, text=True, check=False)
    version = done.stderr
    found = [shutil.which(compiler) or compiler]
    if wrapper := re.search(r"^COLLECT_LTO_WRAPPER=(\S+)$", version, re.MULTILINE):
        found.append(str(Path(wrapper[1]).with_name("cc1plus")))
    found += filter(None, map(shutil.which, ("as", "ld")))
    # The resolved file: what alternatives of a system point to is another one tomorrow.
    files = dict.fromkeys(os.path.realpath(path) for path in found)
    return Toolchain(compiler, version, tuple(path for path in files if os.path.isfile(path)))


def key(command: Sequence[str], tools: Toolchain) -> str:
    """All that decides about an output and is no file."""
    given = [f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ]
    return "\n".join([*given, shlex.join(command), tools.version])


def named_inputs(command: Sequence[str], tools: Toolchain) -> dict[str, str]:
    """Files that the words of a command name, its tools among them."""
    found = dict.fromkeys(tools.files, "")
    program = shutil.which(command[0])
    if program is not None and command[0] != tools.compiler:
        found[os.path.realpath(program)] = ""
        # The compiler of .asc files knows the SoCs.
        socs = Path(program).parents[1] / "share/aclgrad/soc.json"
        if Path(program).name == "ascc" and socs.is_file():
            found[str(socs)] = ""
    outputs = {after for word, after in _pairs(command) if word in ("-o", "-MF", "-MT")}
    for word in command[1:]:
        for path in (word, word.partition("=")[2], word.rpartition("=")[2]):
            if os.path.isabs(path) and path not in outputs and os.path.isfile(path):
                found[path] = kind_of(path)
    for option, word in _pairs(command):
        # Headers that were parsed before: the compiler lists nothing of what is in them.
        if option == "-include" and os.path.isfile(f"{word}.gch"):
            found[f"{word}.gch"] = ""
    return found


def inputs_of(command: Sequence[str], tools: Toolchain, depfile: Path | None, since: int) -> Inputs:
    """What a run that began at a time has read, and what it looked for in vain."""
    listed = read_depfile(depfile) if depfile is not None else []
    files = {**dict.fromkeys(listed, ""), **named_inputs(command, tools)}
    lookups = _Lookups(since)
    if listed:
        _add_headers(lookups, command, tools, listed)
    files |= _add_libraries(lookups, command, tools)
    return Inputs(files, lookups.absent)


def read_depfile(path: Path) -> list[str]:
    """The files that a compiler says it has read: the right side of its rule for make. A compiler
    that is called in this folder may name files relative to it, as ccache has it do.
    """
    try:
        text = path.read_text("utf-8", "surrogateescape").replace("\\\n", " ")
    except OSError:
        return []
    rule = re.match(r"(?:[^\\:\n]|\\.|:(?=\S))*:[ \n]", text)
    words = re.findall(r"(?:\\.|[^\s\\])+", text[rule.end() :] if rule else "")
    names = [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]
    return [os.path.abspath(name) for name in names]


class _Lookups:
    """Names that are not where they were looked for. Each becomes a name in a folder that exists:
    of folders that do not, the topmost is what was not there.
    """

    def __init__(self, since: int) -> None:
        self._since = since
        self._folders: dict[str, bool] = {}
        self.absent: dict[str, set[str]] = {}

    def _exists(self, folder: str) -> bool:
        known = self._folders.get(folder)
        if known is None:
            known = self._folders[folder] = os.path.isdir(folder)
        return known

    def add(self, folder: str, name: str, read: set[str]) -> None:
        """Note that a name was looked for in a folder, if it was not found there."""
        path = os.path.join(folder, name)
        head, leaf = os.path.split(path)
        while not self._exists(head):
            head, leaf = os.path.split(head)
            if not leaf:
                return
            path = os.path.join(head, leaf)
        if path in read or leaf in (".", ".."):
            return
        try:
            status = status_of(path)
        except OSError:
            status = None
        # The run may not have seen a file that came after it had begun.
        if status is None or not settled(status, self._since):
            self.absent.setdefault(head, set()).add(leaf)


@lru_cache(maxsize=4096)
def _names(path: str, _: Status) -> frozenset[tuple[bytes, bytes]]:
    with open(path, "rb") as file:
        text = file.read()
    return frozenset((one[0] or one[2], one[1] or one[3]) for one in _INCLUDE.findall(text))


def _pairs(command: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(command, command[1:], strict=False)


def _folders(command: Sequence[str]) -> Iterator[str]:
    """Where a command looks for headers."""
    for word in command:
        for option in _FOLDER_WORDS:
            if word.startswith(option) and word != option:
                yield word[len(option) :]
    for option, word in _pairs(command):
        if option in _FOLDER_WORDS:
            yield word
    if os.path.basename(command[0]) == "ascc":
        yield str(Path(command[0]).parents[1] / "include")
    for name in ("CPATH", "CPLUS_INCLUDE_PATH"):
        yield from filter(None, os.environ.get(name, "").split(os.pathsep))


@lru_cache(maxsize=16)
def _own_folders(tools: Toolchain) -> tuple[list[str], list[str]]:
    """Where a compiler looks by itself for headers, and for libraries."""
    command = [tools.compiler, "-E", "-v", "-x", "c++", os.devnull, "-o", os.devnull]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    listed = re.search(r"<\.\.\.> search starts here:\n(.*?)End of search list", said, re.DOTALL)
    listed = listed or re.search(r"search starts here:\n(.*?)End of search", said, re.DOTALL)
    headers = [line.strip() for line in listed[1].splitlines()] if listed else []
    asked = [tools.compiler, "-print-search-dirs"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    places = re.search(r"^libraries: =(.*)$", found, re.MULTILINE)
    libraries = places[1].split(":") if places else []
    return headers, [*dict.fromkeys(os.path.realpath(path) for path in libraries if path)]


def _add_headers(
    lookups: _Lookups, command: Sequence[str], tools: Toolchain, listed: Iterable[str]
) -> None:
    folders = dict.fromkeys([*_folders(command), *_own_folders(tools)[0]])
    read = {*listed}
    wanted: set[str] = set()
    for path in listed:
        try:
            names = _names(path, status_of(path))
        except OSError:
            continue
        beside = os.path.dirname(path)
        for quote, spelled in names:
            name = os.fsdecode(spelled)
            wanted.add(name)
            if quote == b'"':
                lookups.add(beside, name, read)
        # Named by a macro: what it is called in each folder that it could have been found in.
        wanted.update(
            path[len(folder) + 1 :] for folder in folders if path.startswith(f"{folder}/")
        )
    for folder in folders:
        for name in wanted:
            if not os.path.isabs(name):
                lookups.add(folder, name, read)


def _add_libraries(lookups: _Lookups, command: Sequence[str], tools: Toolchain) -> dict[str, str]:
    """Libraries that a command links by name."""
    names = [word[2:] for word in command if word.startswith("-l") and len(word) > 2]
    if not names:
        return {}
    folders = [word[2:] for word in command if word.startswith("-L") and len(word) > 2]
    folders += filter(None, os.environ.get("LIBRARY_PATH", "").split(os.pathsep))
    folders += _own_folders(tools)[1]
    found: dict[str, str] = {}
    for name in names:
        for path in (f"{folder}/lib{name}{end}" for folder in folders for end in (".so", ".a")):
            if os.path.isfile(path):
                found[path] = kind_of(path)
                break
            lookups.add(*os.path.split(path), set())
    return found
