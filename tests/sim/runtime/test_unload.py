# SPDX-License-Identifier: Apache-2.0
"""A program may close the simulator's libraries: their threads run on, so their code stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import _ctypes, ctypes, os, sys, time

library = ctypes.CDLL(sys.argv[1])
arguments = ctypes.create_string_buffer(1024)
returned = ctypes.c_int32()
text = ctypes.create_string_buffer(200)
called = library.aclsimCallForeign(
    ctypes.CDLL(None).getppid, arguments, ctypes.byref(returned), text, len(text)
)
assert called == 0 and returned.value == os.getppid(), text.value
assert len(os.listdir("/proc/self/task")) > 1, "no watchdog"
_ctypes.dlclose(library._handle)
time.sleep(0.6)  # the watchdog looks four times a second
print("alive", sys.argv[1] in open("/proc/self/maps").read())
"""


def test_watchdog_outlives_its_library(toolkit: Path) -> None:
    library = (toolkit / "lib64" / "libascendcl.so").resolve()
    command = [sys.executable, "-I", "-c", PROGRAM, str(library)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "alive True\n"), done.stderr
