# SPDX-License-Identifier: Apache-2.0
"""Runs commands of aclgrad for tests of what they do. Each is a process of its own, forked from one
that has imported what they need: imports take more than half of a short command's time. How
commands start is tested elsewhere.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

_STARTS = ("ASAN", "GLIBC", "LC_", "LD_", "MALLOC_", "OPENBLAS", "PYTHON", "TSAN", "UBSAN")
"""Variables that a process obeys when it starts."""
_MOST = 1 << 17  # bytes of a request: words and environment
_SECONDS = 600.0  # a command that takes longer hangs


def run(
    *words: object, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What ``python -m aclgrad`` prints, and its status, with these variables besides."""
    import processor_time  # what a server has no use for

    given = [*map(str, words)]
    env = {**os.environ, **(environment or {})}
    server, process = _server(
        *((name, env[name]) for name in sorted(env) if name.startswith(_STARTS))
    )
    request = json.dumps({"words": given, "cwd": str(cwd or Path.cwd()), "env": env}).encode()
    with _printed() as out, _printed() as err:
        socket.send_fds(server, [request], [out.fileno(), err.fileno()])
        try:
            answer = json.loads(server.recv(_MOST))
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)  # the command with it
            _server.cache_clear()
            raise
        processor_time.add(answer["seconds"])
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read())
    return subprocess.CompletedProcess(["aclgrad", *given], answer["status"], *said)


_printed = partial(tempfile.TemporaryFile, "w+", encoding="utf-8", errors="surrogateescape")
"""What a command has printed, with its ends of lines as those of subprocess."""


@cache
def _server(*obeyed: tuple[str, str]) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Begins a process whose children are commands of this one that start with these variables; it
    ends with this one.
    """
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    number = there.fileno()
    others = {name: value for name, value in os.environ.items() if not name.startswith(_STARTS)}
    words = [sys.executable, __file__, str(number)]
    process = subprocess.Popen(
        words, env=others | dict(obeyed), pass_fds=[number], start_new_session=True
    )
    there.close()
    here.settimeout(_SECONDS)
    return here, process


def _import_most() -> None:
    """All but the commands themselves: their terminals belong to the process that prints."""
    import aclgrad.cli.check
    import aclgrad.cli.run
    import aclgrad.cli.test
    import aclgrad.codegen.render  # noqa: F401

    for name in [name for name in sys.modules if name.startswith("aclgrad.cli")]:
        del sys.modules[name]


def _serve(connection: socket.socket) -> None:
    _import_most()
    while True:
        data, descriptors, _, _ = socket.recv_fds(connection, _MOST, 2)
        if not data:
            return
        child = os.fork()
        if child == 0:
            break
        for number in descriptors:
            os.close(number)
        _, status, used = os.wait4(child, 0)
        answer = {
            "status": os.waitstatus_to_exitcode(status),
            "seconds": used.ru_utime + used.ru_stime,
        }
        connection.send(json.dumps(answer).encode())
    connection.close()
    asked = json.loads(data)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for target, number in enumerate(descriptors, 1):
        os.dup2(number, target)
        os.close(number)
    os.chdir(asked["cwd"])
    sys.path[0] = os.getcwd()  # as with -m
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = ["aclgrad", *asked["words"]]
    runpy.run_module("aclgrad", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
