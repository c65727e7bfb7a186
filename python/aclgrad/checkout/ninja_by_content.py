# SPDX-License-Identifier: Apache-2.0
"""Makes Ninja, which compares time stamps, build a checkout by content: outputs that it would take
for fresh although what they were made from is another are deleted before it runs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aclgrad.building.toolchain import VARIABLES, toolchain
from aclgrad.common.sums import Status, now, settled, status_of, sum_of
from aclgrad.errors import ToolkitError

MANIFEST = ".aclgrad-build.json"
_FLAGS = ("CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS", *VARIABLES)
"""What CMake reads when it configures a folder for the first time, and compilers always."""
_EDGE = re.compile(r"^build (.*)$", re.MULTILINE)
_WORD = re.compile(r"(?:\$.|[^\s$:|])+|\|\||\||:")


@dataclass
class Graph:
    """What Ninja makes from what."""

    made: set[str] = field(default_factory=set)
    users: dict[str, set[str]] = field(default_factory=dict)
    """Outputs by each file that they are made from."""

    configured_from: set[str] = field(default_factory=set)

    def add(self, outputs: Iterable[str], inputs: Iterable[str]) -> None:
        """One step."""
        for name in inputs:
            self.users.setdefault(name, set()).update(outputs)

    @property
    def leaves(self) -> set[str]:
        """Files that somebody else has made."""
        return {*self.users, *self.configured_from} - self.made


def graph_of(folder: Path, ninja: str) -> Graph:
    """Read build.ninja, and the headers that the compiler has read, from Ninja's own log."""
    graph = Graph()

    def place(word: str) -> str:
        return os.path.normpath(os.path.join(folder, word))

    try:
        text = (folder / "build.ninja").read_text("utf-8", "surrogateescape")
    except OSError:
        return graph
    for line in _EDGE.findall(text.replace("$\n", "")):
        words = _WORD.findall(line)
        at = words.index(":")
        names = [re.sub(r"\$(.)", r"\1", word) for word in words]
        outputs = [place(word) for word in names[:at] if word not in ("|", "||")]
        inputs = [place(word) for word in names[at + 2 :] if word not in ("|", "||")]
        rule = words[at + 1]
        # Files that nothing makes are phony too, so that it is no error when one is gone.
        if inputs or rule != "phony":
            graph.made.update(outputs)
        if rule == "RERUN_CMAKE":
            graph.configured_from.update(inputs)
        elif rule != "phony":
            graph.add(outputs, inputs)
    done = subprocess.run(
        [ninja, "-C", str(folder), "-t", "deps"], capture_output=True, check=False
    )
    output: list[str] = []
    for line in done.stdout.decode("utf-8", "surrogateescape").splitlines():
        if line.startswith("    "):
            graph.add(output, [place(line[4:])])
        elif line:
            output = [place(line.rpartition(": #deps")[0])]
    return graph


def _begun(folder: Path) -> dict[str, int]:
    """When the step of each output began that Ninja ran last."""
    try:
        lines = (folder / ".ninja_log").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return {}
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {
        os.path.normpath(os.path.join(folder, row[3])): int(row[2]) for row in rows if len(row) == 5
    }


def _look(path: str, old: Any, seen: int) -> tuple[str, Status | None]:
    """A file's sum, which is not computed where its status proves that it is the old one."""
    try:
        status = status_of(path)
        if old and status == tuple(old[1:]) and settled(status, seen):
            return str(old[0]), status
        return ("", status) if os.path.isdir(path) else sum_of(path)
    except OSError:
        return "gone", None


@dataclass
class OwnBuild:
    """What a build folder was made from, as of the last build."""

    folder: Path
    ninja: str
    compiler: str

    def __post_init__(self) -> None:
        try:
            self._old: dict[str, Any] = json.loads((self.folder / MANIFEST).read_text("utf-8"))
            self._old["files"], self._old["seen"]
        except (OSError, ValueError, TypeError, KeyError):
            self._old = {}
        self._changed: set[str] = set()
        self._files: dict[str, object] = {}
        self._seen = 0

    def prepare(self, environment: Mapping[str, str]) -> None:
        """Before anything runs: nothing is left that Ninja would wrongly take for fresh."""
        self._seen = now()
        settings = self._settings(environment)
        if self._old and settings != self._old["settings"]:
            self._start_anew()
        self._settings_now = settings
        old, seen = self._old.get("files", {}), self._old.get("seen", 0)
        found = {path: _look(path, entry, seen) for path, entry in old.items()}
        self._changed = {path for path, (text, _) in found.items() if text != old[path][0]}
        self._files = {path: [text, *(status or ())] for path, (text, status) in found.items()}
        if self._changed or self._log_status() != self._old.get("log"):
            self._delete_stale()
        self._write()

    def finish(self, steps: int) -> None:
        """After Ninja, also where it failed: what it has not made again is not fresh either."""
        log = self._old.get("log")
        if not steps and not self._changed and log is not None and log == self._log_status():
            self._write(done=True)
            return
        graph, begun = graph_of(self.folder, self.ninja), _begun(self.folder)
        for path in self._changed:
            for output in graph.users.get(path, ()):
                if begun.get(output, 0) < self._seen:
                    _delete(output)
        for path in graph.leaves:
            # One that was written meanwhile is left out: nothing says which content was read.
            if path not in self._files:
                text, status = _look(path, None, 0)
                if status is None or settled(status, self._seen):
                    self._files[path] = [text, *(status or ())]
        self._files = {path: self._files[path] for path in graph.leaves & self._files.keys()}
        self._write(done=graph.leaves == self._files.keys())

    def _settings(self, environment: Mapping[str, str]) -> list[str]:
        """All that a whole folder depends on: the compiler as it is now, and flags."""
        tools = toolchain(self.compiler)
        sums = [f"{path} {sum_of(path)[0]}" for path in tools.files]
        given = [f"{name}={environment[name]}" for name in _FLAGS if environment.get(name)]
        return [self.compiler, tools.version, *sums, *given]

    def _start_anew(self) -> None:
        """Nothing of what is there is of use: CMake keeps flags and compilers, Ninja objects."""
        if (self.folder / "build.ninja").is_file():
            subprocess.run(
                [self.ninja, "-C", str(self.folder), "-t", "clean"],
                capture_output=True,
                check=False,
            )
        for name in ("CMakeCache.txt", "build.ninja"):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / "CMakeFiles", ignore_errors=True)

    def _delete_stale(self) -> None:
        """Delete outputs of files that have changed without a time stamp that Ninja would see."""
        graph, begun = graph_of(self.folder, self.ninja), _begun(self.folder)
        for path in self._changed:
            if path in graph.configured_from:
                (self.folder / "build.ninja").unlink(missing_ok=True)
            try:
                written = status_of(path)[3]
            except OSError:
                continue  # Ninja sees what is gone
            for output in graph.users.get(path, ()):
                if begun.get(output, 0) >= written:
                    _delete(output)
        configured = self.folder / "build.ninja"
        if configured.is_file():
            begun[str(configured)] = configured.stat().st_mtime_ns
        for path in graph.leaves - self._files.keys():
            text, status = _look(path, None, 0)
            if status is None:
                continue
            # No sum is known: it must not have been written since the step began.
            users = {*graph.users.get(path, ())}
            if path in graph.configured_from:
                users.add(str(configured))
            stale = [name for name in users if name in begun and not settled(status, begun[name])]
            for output in stale:
                _delete(output)
            if not stale:
                self._files[path] = [text, *status]

    def _log_status(self) -> list[int]:
        try:
            return [*status_of(str(self.folder / ".ninja_log"))]
        except OSError:
            return []

    def _write(self, *, done: bool = False) -> None:
        document = {
            "settings": self._settings_now,
            "seen": self._seen,
            # Until Ninja has ended, its log is looked at again.
            "log": self._log_status() if done else None,
            "files": self._files,
        }
        part = self.folder / f"{MANIFEST}.part"
        part.write_text(json.dumps(document, separators=(",", ":")), "utf-8")
        part.replace(self.folder / MANIFEST)


def _delete(output: str) -> None:
    try:
        os.unlink(output)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise ToolkitError(
            f"build: cannot delete {output}, which is older than its sources say:"
            f" {error.strerror}. Next: delete the build folder"
        ) from None


def changed_since(folder: Path, root: Path) -> list[Path]:
    """Files of a checkout that are not what its build was made from."""
    try:
        old = json.loads((folder / MANIFEST).read_text("utf-8"))
        files, seen = old["files"], old["seen"]
    except (OSError, ValueError, TypeError, KeyError):
        return []
    others = (folder, Path(sys.prefix))
    own = {
        path: entry
        for path, entry in files.items()
        if Path(path).is_relative_to(root) and not any(map(Path(path).is_relative_to, others))
    }
    found = {path for path, entry in own.items() if _look(path, entry, seen)[0] != entry[0]}
    return sorted(map(Path, found))
