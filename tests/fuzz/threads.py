# SPDX-License-Identifier: Apache-2.0
"""Runs ``threads.cpp``: threads that use and destroy one another's handles, and kernels on as many
host threads.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from aclgrad.checkout import instrumented_build
from aclgrad.checkout.instrumented_build import Sanitizer
from aclgrad.errors import AclgradError
from aclgrad.runtime.toolkit import checkout, find_toolkit

_PROGRAM = Path(__file__).with_suffix(".cpp")
_TIME_LIMIT = 600


def compile_line(toolkit: Path, sanitizer: Sanitizer | None = None) -> list[str]:
    """Return the command that compiles the program for a toolkit, without ``-o``."""
    package = toolkit / "opp/vendors/aclgrad/op_api"
    folders = (toolkit / "lib64", package / "lib")
    return [
        os.environ.get("CXX", "g++"), "-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror",
        *((f"-fsanitize={sanitizer.value}",) if sanitizer else ()),
        f"-I{toolkit}/include", f"-I{package}/include", str(_PROGRAM),
        *(f"{word}{folder}" for folder in folders for word in ("-L", "-Wl,-rpath,")),
        "-lascendcl", "-lnnopbase", "-lcust_opapi", "-pthread",
    ]  # fmt: skip


def run(
    program: Path, threads: int, steps: int, seed: int, sanitizer: Sanitizer | None = None
) -> str:
    """Run the program once; returns what is wrong, with the command that repeats it."""
    command = [str(program), str(threads), str(steps), str(seed)]
    if sanitizer:
        command = instrumented_build.command_line(sanitizer, command)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIME_LIMIT, check=False,
            env={**os.environ, "ACLGRAD_SIM_THREADS": str(threads)},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{threads} threads, seed {seed}: no end after {_TIME_LIMIT} s"
    if done.returncode == 0:
        return ""
    # A sanitizer says first what is wrong, the rest is stacks.
    says = ("ERROR: AddressSanitizer", "runtime error:", "WARNING: ThreadSanitizer")
    text = done.stdout + done.stderr
    start = max(0, *map(text.find, says))
    again = f"python -m fuzz.threads --threads {threads} --steps {steps} --seed {seed}"
    again += f" --sanitize {sanitizer.value}" if sanitizer else ""
    return f"{threads} threads ended with {done.returncode}: {again}\n{text[start:][:6000]}"


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser("python -m fuzz.threads", description=__doc__)
    parser.add_argument("--threads", type=int, action="append", help="2, 4 and 8 without it")
    parser.add_argument("--steps", type=int, default=500, help="of each thread")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sanitize", choices=("address", "thread"), help="an instrumented build")
    args = parser.parse_args(argv)
    sanitizer = Sanitizer(args.sanitize) if args.sanitize else None
    try:
        root = checkout()
        if sanitizer and root is not None:
            toolkit = instrumented_build.build_folder(root, sanitizer) / "toolkit"
        else:
            toolkit = find_toolkit("sim").root
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "threads"
            line = compile_line(toolkit, sanitizer)
            subprocess.run([*line, "-o", str(program)], check=True)
            failures = []
            for threads in args.threads or (2, 4, 8):
                failure = run(program, threads, args.steps, args.seed, sanitizer)
                print(failure or f"{threads} threads: no fault", flush=True)
                failures += [failure] if failure else []
    except (AclgradError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
