# SPDX-License-Identifier: Apache-2.0
"""host/lock.h: a thread that takes locks out of their order ends the process, with both names. A
fault of an operator's code under a lock ends it, too (host/crash.h).
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from compile_once import compile_once

SOURCES = Path(__file__).resolve().parents[3] / "simulator" / "src"
PROGRAM = Path(__file__).parents[1] / "programs" / "lock_order.cpp"
COMMAND = [os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror"]
COMMAND += [f"-I{SOURCES}", str(PROGRAM), str(SOURCES / "host/lock.cpp"), "-pthread"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("ordered", ""),
        ("inverted", 'takes "first" of row 3 and holds "second" of row 7'),
        ("beside", 'takes "beside" of row 7 and holds "second" of row 7'),
        ("twice", 'takes "first" of row 3 and holds "first" of row 3'),
    ],
)
def test_the_order_is_checked(tmp_path: Path, words: str, says: str) -> None:
    program = compile_once(tmp_path, "lock_order", [*COMMAND, "-DACLSIM_CHECKS_LOCKS"])
    done = subprocess.run([program, words], capture_output=True, text=True, check=False)
    assert done.stdout == "in order\n"
    assert (done.returncode == 0) == (not says), done.stderr
    assert says in done.stderr and ("Next: see which threads" in done.stderr) == bool(says)


def test_other_builds_have_plain_mutexes(tmp_path: Path) -> None:
    check = tmp_path / "plain.cpp"
    check.write_text(
        '#include "host/lock.h"\n'
        'static_assert(std::is_same_v<aclsim::Mutex<1, "a">, std::mutex>);\n'
        'static_assert(std::is_same_v<aclsim::RecursiveMutex<1, "a">, std::recursive_mutex>);\n'
        "static_assert(std::is_same_v<aclsim::Condition, std::condition_variable>);\n"
    )
    subprocess.run([*COMMAND[:6], f"-I{SOURCES}", "-fsyntax-only", str(check)], check=True)


@pytest.mark.no_thread_sanitizer("it holds signals back until the next call")
@pytest.mark.parametrize("where", ["outside", "before", "inside", "twice"])
def test_a_fault_under_a_lock_ends_the_process(toolkit: Path, tmp_path: Path, where: str) -> None:
    """Else whoever wants the lock next would wait for ever. The allocator has one as well."""
    libraries = toolkit / "lib64"
    command = [*COMMAND[:6], f"-I{SOURCES}", str(PROGRAM.with_name("fault_under_lock.cpp"))]
    command += [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lascendcl"]
    program = compile_once(tmp_path, "fault_under_lock", command)
    done = subprocess.run([program, where], capture_output=True, text=True, check=False, timeout=60)
    if where == "inside":
        assert done.returncode == -signal.SIGSEGV and not done.stdout
        assert "the fault came under a lock, and ends the process. Next: " in done.stderr
    elif where == "twice":
        assert done.returncode != 0 and not done.stdout, done.stderr
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "SIGSEGV at address 0x8\n" * 2
