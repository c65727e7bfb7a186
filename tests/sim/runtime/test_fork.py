# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F401, F811 - fixtures are imported by name
"""A forked child uses the libraries afresh, whatever its parent's threads were doing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from acl_harness import compiled
from aclgrad.runtime import Device

PROGRAMS = Path(__file__).parents[1] / "programs"
SOURCES = Path(__file__).resolve().parents[3] / "simulator" / "src"
FORKS_WHILE_BUSY = pytest.mark.no_sanitizer("its own locks and threads are not those of a child")


@pytest.fixture(scope="module")
def fork_busy(toolkit: Path, compiled: Callable[..., Path]) -> Path:
    opp = toolkit / "opp" / "vendors" / "aclgrad" / "op_api"
    flags = [f"-I{opp}/include", f"-L{opp}/lib", "-lcust_opapi", f"-L{toolkit}/lib64", "-lnnopbase"]
    return compiled("fork_busy", *flags, f"-Wl,-rpath,{opp}/lib", "-pthread")


@FORKS_WHILE_BUSY
@pytest.mark.parametrize(("runs", "forks", "threads"), [(6, 1, 8), (2, 12, 8), (2, 3, 1)])
def test_children_of_a_busy_process(fork_busy: Path, runs: int, forks: int, threads: int) -> None:
    """Runs of one fork meet libraries that are being used for the first time."""
    for _ in range(runs):
        done = subprocess.run(
            [fork_busy, str(forks), str(threads)],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]


@FORKS_WHILE_BUSY
def test_python_children_of_a_busy_process(toolkit: Path) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAMS / "fork_busy.py", "10", "8"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


@FORKS_WHILE_BUSY
def test_python_children_during_the_first_call(toolkit: Path) -> None:
    """Modules that the package imports on its first call are whole in a child."""
    script = (
        "import os, signal, threading, numpy as np, aclgrad\n"
        "grad = np.ones((2, 8), np.float32)\n"
        "call = lambda: aclgrad.softmax_backward(grad, grad, dim=-1)\n"
        "threads = [threading.Thread(target=call) for _ in range(4)]\n"
        "for thread in threads: thread.start()\n"
        "if os.fork() == 0:\n"
        "    signal.alarm(60)\n"
        "    call()\n"
        "    os._exit(0)\n"
        "assert os.wait()[1] == 0\n"
    )
    for _ in range(4):
        subprocess.run([sys.executable, "-c", script], timeout=600, check=True)


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn", "torch"])
def test_workers(toolkit: Path, method: str) -> None:
    """In a process of its own: a child of the test run would count as large as that, and a host
    that is short of memory ends the largest first.
    """
    if method == "torch":
        pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, PROGRAMS / "fork_workers.py", method],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_what_the_parent_made_stays_with_it(device: Device) -> None:
    """Its objects do nothing in a child, and are whole afterwards."""
    script = (
        "import os, numpy as np\n"
        "from aclgrad.spec.call import TensorDesc\n"
        "from aclgrad.runtime import open_device\n"
        "device = open_device()\n"
        "buffer = device.upload(np.arange(8, dtype=np.float32))\n"
        "tensor = device.tensor(TensorDesc((8,)), buffer.address)\n"
        "if os.fork() == 0:\n"
        "    acl, nnopbase = device.libraries.acl, device.libraries.nnopbase\n"
        "    stream, address, handle = device.stream, buffer.address, tensor.handle\n"
        "    print(open_device() is device)\n"
        "    print(acl.aclrtFree(address), device.libraries.recent_message())\n"
        "    print(nnopbase.aclDestroyTensor(handle), device.libraries.recent_message())\n"
        "    mine = device.upload(np.ones(8, np.float32))\n"
        "    print(mine.address != address)\n"
        "    buffer.free(), tensor.destroy()\n"
        "else:\n"
        "    os.wait()\n"
        "    print(buffer.read(np.dtype(np.float32)).tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "True" and lines[3] == "True"
    assert lines[1].startswith("107000 ") and "device memory of before the fork" in lines[1]
    assert lines[2].startswith("161002 ") and "a forked child has none of its parent's" in lines[2]
    assert lines[4] == str([float(i) for i in range(8)])


CHANGING = """
import ctypes, os, signal, sys, threading

library = ctypes.CDLL(sys.argv[1])
library.aclsimGetOption.restype = ctypes.c_char_p
names = [b",".join(b"output%d" % i for i in range(1000)), b"y"]
over = threading.Event()


def change():
    while not over.is_set():
        for name in names:
            library.aclsimSetOption(b"partial_outputs", name)


library.aclsimSetOption(b"partial_outputs", names[0])
library.aclsimSetOption(b"held", b"3-5")
threading.Thread(target=change).start()
for _ in range(300):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        whole = library.aclsimGetOption(b"partial_outputs") in names
        os._exit(0 if whole and library.aclsimGetOption(b"held") == b"3-5" else 1)
    if os.waitpid(child, 0)[1] != 0:
        print("a child hangs, or has other options")
        break
over.set()
"""


def test_children_have_the_options_that_a_thread_was_setting(toolkit: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHANGING, str(toolkit / "lib64/libascendcl.so")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_lock_of_the_process_knows_of_forks() -> None:
    """A mutex, thread or once flag of static storage is in PerProcess, or held under HoldFork."""
    lock = (
        r"(?:std::(?:(?:recursive_|shared_|timed_)*mutex|condition_variable|once_flag)"
        r"|(?:aclsim::)?(?:(?:Recursive)?Mutex<[^>\n]*>|Condition))\*?"
    )
    static = re.compile(
        rf"^(?:{lock}|\s*(?:inline |const )*static (?:inline |const )*{lock}) \w+", re.M
    )
    # The same of a struct that has one, and of what it is the type of.
    inside = re.compile(rf"^struct (\w*) ?\{{\n(?:  .*\n|\n)*?  (?:mutable )?{lock} \w+;", re.M)
    # The C library knows of forks where it calls something once.
    known = {"host/crash.cpp": 1, "runtime/state.cpp": 1}
    for path in (*SOURCES.rglob("*.h"), *SOURCES.rglob("*.cpp")):
        name = str(path.relative_to(SOURCES))
        text = path.read_text()
        found = static.findall(text)
        for type_name in inside.findall(text):
            found += re.findall(
                rf"^{type_name} \w+(?:;|\{{)" if type_name else r"^\} \w+;", text, re.M
            )
        assert len(found) == known.get(name, 0), f"{name}: a child may hang in one of {found}"
