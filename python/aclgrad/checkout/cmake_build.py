# SPDX-License-Identifier: Apache-2.0
"""Drives CMake and Ninja on build/sim, or an instrumented build beside it, and says what was
rebuilt.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aclgrad.building.build_tools import find_compiler, find_tool, need_tool
from aclgrad.checkout.instrumented_build import Sanitizer, build_folder
from aclgrad.checkout.ninja_by_content import OwnBuild
from aclgrad.common import files, temporary
from aclgrad.common.locks import alone
from aclgrad.errors import ToolkitError
from aclgrad.runtime.toolkit import checkout

_STATUS = re.compile(r"^\[(\d+)/(\d+)\] (.*)$")
_PRODUCT = re.compile(r"Linking CXX .*?(\S+)$")
_OBJECT = re.compile(r"CMakeFiles/([^/]+)\.dir/(?:.*/)?([^/]+)\.o$")
_SHARED_TARGETS = (
    "toolkit_headers",
    "cust_opapi",
    "cust_opmaster",
    "opapi",
    "nnopbase",
    "ascendcl",
    "register",
)


@dataclass(frozen=True)
class BuildResult:
    """Libraries that were linked again; empty when everything was up to date."""

    folder: Path
    rebuilt: tuple[str, ...]
    steps: int


_GLOBS = re.compile(r"^build \S*cmake\.verify_globs: VERIFY_GLOBS.*\n(?:  .*\n)*", re.MULTILINE)


def is_current(folder: Path) -> bool:
    """Whether Ninja would make nothing in a build folder, which is left as it is."""
    cmake, ninja = find_tool("cmake"), find_tool("ninja")
    manifest, globs = folder / "build.ninja", folder / "CMakeFiles" / "VerifyGlobs.cmake"
    if cmake is None or ninja is None or not manifest.is_file():
        return False
    if globs.is_file():
        done = subprocess.run(
            [cmake, "-P", str(globs)], capture_output=True, text=True, check=False
        )
        if "GLOB mismatch" in done.stdout + done.stderr:
            return False
    with temporary.folder() as place:
        # Each run of the manifest itself looks at the folders first, and a dry one ends there.
        dry = place / "build.ninja"
        files.write(dry, _GLOBS.sub("", manifest.read_text(encoding="utf-8")), "file")
        done = subprocess.run(
            [ninja, "-C", str(folder), "-f", str(dry), "-n", "build.ninja", "all"],
            capture_output=True,
            text=True,
            check=False,
        )
    return done.returncode == 0 and "no work to do" in done.stdout


def _configure(
    source: Path,
    folder: Path,
    debug: bool,
    sanitizer: Sanitizer | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    cmake, ninja = need_tool("cmake"), need_tool("ninja")
    build_type = "Debug" if debug else "RelWithDebInfo"
    wanted = {
        "CMAKE_BUILD_TYPE": build_type,
        "ACLGRAD_SANITIZE": sanitizer.value if sanitizer else "",
        "Python3_EXECUTABLE": sys.executable,
        "CMAKE_MAKE_PROGRAM": ninja,
    }
    cache = folder / "CMakeCache.txt"
    if cache.is_file() and (folder / "build.ninja").is_file():
        have = dict(
            re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(errors="replace"), re.MULTILINE)
        )
        if all(have.get(key) == value for key, value in wanted.items()):
            return  # Ninja runs CMake again by itself when a CMake file changes
    command = [cmake, "-S", str(source), "-B", str(folder), "-G", "Ninja"]
    command += [f"-D{key}={value}" for key, value in wanted.items()]
    # CMake asks Python where it is, and Python looks for modules in the current folder first.
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        text = (done.stderr or done.stdout).strip()
        raise ToolkitError(
            f"CMake failed in {folder}:\n{text}\nNext: fix the error above, then aclgrad build"
        )


def build(
    ops: Sequence[str] = (),
    *,
    debug: bool = False,
    sanitizer: Sanitizer | None = None,
    jobs: int = 0,
    progress: Callable[[int, int, str], None] = lambda done, total, text: None,
    folder: Path | None = None,
) -> BuildResult:
    """Build the simulator and operators, in build/sim or build/sim-<sanitizer> if no other
    ``folder`` is given. Raises `ToolkitError` with the compiler's output.
    """
    source = checkout()
    if source is None:
        raise ToolkitError(
            "build: this package is installed, not a source checkout, and comes built. Next:"
            " aclgrad doctor; to change an operator, clone the repository and run scripts/build.sh"
        )
    if find_compiler() is None:
        raise ToolkitError(
            "build: no C++ compiler found"
            + (f" (CXX={os.environ['CXX']})" if "CXX" in os.environ else "")
            + ". Next: apt-get install g++, or set CXX to a compiler"
        )
    folder = folder or build_folder(source, sanitizer)

    def waiting() -> None:
        print(f"waiting for another build in {folder}", file=sys.stderr, flush=True)

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolkitError(
            f"build: cannot write {folder}: {error.strerror}. Next: chmod u+w {source}"
        ) from None
    if not os.access(folder, os.W_OK):
        raise ToolkitError(
            f"build: cannot write {folder}. Next: chmod -R u+w {folder}, or delete it"
        )
    with alone(folder / ".aclgrad-build.lock", waiting):
        return _build(source, folder, ops, debug, sanitizer, jobs, progress)


def step_name(text: str) -> str:
    """What ninja's line of a step is about: ``ascendcl: checks.cpp``, ``libascendcl.so``."""
    found = _OBJECT.search(text)
    return f"{found[1]}: {found[2]}" if found else text.rpartition(" ")[2].rpartition("/")[2]


def _compiler_of(folder: Path) -> str:
    """The compiler that a folder is configured for, unless another one is asked for."""
    wanted = find_compiler() or "c++"
    if "CXX" in os.environ:
        return wanted
    try:
        text = (folder / "CMakeCache.txt").read_text(errors="replace")
    except OSError:
        return wanted
    kept = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", text, re.MULTILINE)
    return kept[1] if kept and shutil.which(kept[1]) else wanted


def _build(
    source: Path,
    folder: Path,
    ops: Sequence[str],
    debug: bool,
    sanitizer: Sanitizer | None,
    jobs: int,
    progress: Callable[[int, int, str], None],
) -> BuildResult:
    # Operators by name are built beside one whose spec has a fault.
    chosen = {"ACLGRAD_SKIP_BROKEN_SPECS": "1"} if ops else {}
    environment = {**os.environ, "NINJA_STATUS": "[%f/%t] ", **chosen}
    ninja = need_tool("ninja")
    own = OwnBuild(folder, ninja, _compiler_of(folder))
    own.prepare(os.environ)
    _configure(source, folder, debug, sanitizer, environment)
    command = [ninja, "-C", str(folder)]
    if jobs:
        command.append(f"-j{jobs}")
    if ops:
        command += [*ops, *_SHARED_TARGETS]
    output: list[str] = []
    products: list[str] = []
    steps = 0
    try:
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
            cwd=folder,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                status = _STATUS.match(line)
                if status is None:
                    output.append(line)
                    continue
                steps, total, text = int(status[1]), int(status[2]), status[3]
                progress(steps, total, step_name(text))
                if product := _PRODUCT.search(text):
                    products.append(Path(product[1]).name)
    finally:
        own.finish(steps)
    if process.returncode:
        text = "".join(line for line in output if not line.startswith("ninja: Entering")).strip()
        raise ToolkitError(
            f"the build failed:\n{text}\nNext: fix the error above, then aclgrad build"
        )
    return BuildResult(folder, tuple(products), steps)
