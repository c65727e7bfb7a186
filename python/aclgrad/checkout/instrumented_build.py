# SPDX-License-Identifier: Apache-2.0
"""Instrumented builds of the simulator and the operators, and programs that run with one:
``python -m aclgrad.checkout.instrumented_build address COMMAND``.
"""

from __future__ import annotations

import enum
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from aclgrad.errors import ToolkitError
from aclgrad.runtime.toolkit import checkout


class Sanitizer(str, enum.Enum):
    """The words of ``aclgrad build --sanitize``."""

    address = "address"
    thread = "thread"


_LIBRARIES = {Sanitizer.address: ("asan", "ubsan"), Sanitizer.thread: ("tsan",)}
_OPTIONS = {
    # The interpreter never frees everything; the fuzzer looks for leaks by itself.
    Sanitizer.address: {
        "ASAN_OPTIONS": "halt_on_error=1:detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    },
    Sanitizer.thread: {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1"},
}


def build_folder(source: Path, sanitizer: Sanitizer | None) -> Path:
    """Return the folder of a checkout's build; instrumented builds have one each."""
    return source / "build" / (f"sim-{sanitizer.value}" if sanitizer else "sim")


def _runtime(folder: Path, library: str) -> str:
    """Return the path of a sanitizer's own library, of the compiler that built ``folder``."""
    cache = (folder / "CMakeCache.txt").read_text(errors="replace")
    found = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache, re.MULTILINE)
    compiler = found[1] if found else "g++"
    name = f"lib{library}.so"
    asked = [compiler, f"-print-file-name={name}"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    path = Path(done.stdout.strip())
    if done.returncode or not path.is_absolute():
        raise ToolkitError(
            f"{compiler} has no {name}, which must be loaded before Python is. Next: apt-get"
            f" install g++, delete {folder}, then aclgrad build --sanitize again, with CXX=g++"
        )
    return str(path)


def command_line(sanitizer: Sanitizer, command: Sequence[str]) -> list[str]:
    """Return the command that runs ``command`` with the instrumented build in the ordinary one's
    place. Raises `ToolkitError` when that is not built.
    """
    source = checkout()
    if source is None:
        raise ToolkitError(
            "instrumented builds need a source checkout, this package is installed. Next: clone the"
            " repository and run scripts/fuzz.sh"
        )
    folder = build_folder(source, sanitizer)
    if not (folder / "toolkit" / "lib64" / "libascendcl.so").is_file():
        raise ToolkitError(
            f"{folder} is not built. Next: aclgrad build --sanitize {sanitizer.value}"
        )
    # Instrumented libraries need these from the start, and Python itself is not instrumented.
    preload = [_runtime(folder, name) for name in _LIBRARIES[sanitizer]]
    words = {
        "ACLGRAD_TOOLKIT": str(folder / "toolkit"),
        "LD_LIBRARY_PATH": ":".join(
            filter(None, (str(folder / "toolkit/lib64"), os.environ.get("LD_LIBRARY_PATH")))
        ),
        "LD_PRELOAD": " ".join([*preload, *os.environ.get("LD_PRELOAD", "").split()]),
    }
    options = dict(_OPTIONS[sanitizer])
    if sanitizer is Sanitizer.thread:
        # NumPy's products are not instrumented, so that nothing orders their threads for it.
        words["OPENBLAS_NUM_THREADS"] = "1"
        options["TSAN_OPTIONS"] += f":suppressions='{source / 'tests/fuzz/thread.supp'}'"
    for name, text in options.items():
        words[name] = ":".join(filter(None, (text, os.environ.get(name))))
    run = ["env", *(f"{name}={text}" for name, text in words.items()), *command]
    if sanitizer is Sanitizer.thread:
        # It has fixed places for everything, and between random ones device memory may not fit.
        setarch = shutil.which("setarch")
        if setarch is None:
            raise ToolkitError("setarch is not installed. Next: apt-get install util-linux")
        run = [setarch, "--addr-no-randomize", *run]
    return run


def main(words: Sequence[str]) -> int:
    """Entry point: replaces the process."""
    names = [each.value for each in Sanitizer]
    if len(words) < 2 or words[0] not in names:
        got = " ".join(words) or "nothing"
        print(
            f"error: got {got!r}, want {' or '.join(names)} and a command. Next: python -m"
            " aclgrad.checkout.instrumented_build address aclgrad test",
            file=sys.stderr,
        )
        return 2
    try:
        run = command_line(Sanitizer(words[0]), words[1:])
        os.execvp(run[0], run)
    except (ToolkitError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
