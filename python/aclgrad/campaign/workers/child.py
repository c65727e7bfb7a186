# SPDX-License-Identifier: Apache-2.0
"""The process that runs cases, and the handle that a worker has of it. A crash, a hang or a leak of
a kernel costs that process; it serves on as long as nothing happens.

One line of JSON each way: the parent says what to run, the child says what it is about, then what
became of it.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

Json = dict[str, Any]

GROWTH = 2 << 30
"""Bytes by which a child may grow before another takes its place."""

START_SECONDS = 120.0
_PR_SET_PDEATHSIG = 1


class ChildError(Exception):
    """The child did not do what it was asked; ``kind`` is "crashed", "timed out" or "error"."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Child:
    """One process, and what it is set up for."""

    def __init__(self, setup: Json, environment: Mapping[str, str] | None = None) -> None:
        self.setup = setup
        self.about: Json = {}
        self.first_bytes = self.bytes = 0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        base = {**os.environ, **(environment or {})}
        # Workers share the machine by processes. What a case gives never depends on threads.
        base.setdefault("ACLGRAD_SIM_THREADS", "1")
        self._process = subprocess.Popen(
            [
                *setup.get("before", ()),
                sys.executable,
                "-I",
                "-m",
                "aclgrad.campaign.workers.child",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=base,
            bufsize=0,
            start_new_session=True,  # a terminal sends Ctrl-C to the parent alone
        )
        self._pending = b""
        try:
            self.hello = self._ask(setup, START_SECONDS)
            if "error" in self.hello:
                raise ChildError("error", self.hello["error"])
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def grown(self) -> bool:
        """Whether it holds far more memory than after its first case."""
        return self.bytes - self.first_bytes > GROWTH

    def run(self, item: object, seconds: float) -> Json:
        """What became of one case. Raises `ChildError`, and is of no more use then."""
        self.about = {}
        answer = self._ask({"item": item}, seconds)
        if "error" in answer:
            raise ChildError("error", answer["error"])
        self.bytes = answer["bytes"]
        self.first_bytes = self.first_bytes or self.bytes
        row: Json = answer["row"]
        return row

    def _ask(self, request: Json, seconds: float) -> Json:
        deadline = time.monotonic() + seconds
        with suppress(BrokenPipeError):  # said by the end of its output
            self._to().write(json.dumps(request).encode() + b"\n")
        while True:
            answer = self._line(deadline)
            if "about" not in answer:
                return answer
            self.about = answer["about"]

    def _to(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _line(self, deadline: float) -> Json:
        source = self._process.stdout
        assert source is not None
        while b"\n" not in self._pending:
            ready, _, _ = select.select([source], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                raise ChildError("timed out", "it did not end within the time limit of a case")
            data = os.read(source.fileno(), 1 << 16)
            if not data:
                raise ChildError("crashed", self._end())
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        answer: Json = json.loads(line)
        return answer

    def _end(self) -> str:
        status = self._process.wait()
        what = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(self._errors.tell() - 3000, 0))
        text = self._errors.read().decode("utf-8", "replace").strip()
        return f"{what}\n{text}".strip()

    def kill(self) -> None:
        """End the process and what it has started."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and forget it."""
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


# --- in the child --------------------------------------------------------------------------------


def _bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def serve() -> None:
    """Answer requests until there are no more."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 1)  # operators print
    runner: Any = None

    def say(answer: Json) -> None:
        answers.write(json.dumps(answer).encode() + b"\n")

    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            if "item" not in request:
                runner = _runner(request)
                say({"ready": os.getpid()})
                continue
            about = getattr(runner, "about", None)
            if about is not None:
                say({"about": about(request["item"])})
            row = runner(request["item"])
            say({"row": row, "bytes": _bytes()})
        except Exception:
            say({"error": traceback.format_exc(limit=-6)})


def _runner(setup: Json) -> Any:
    """Make what runs items: ``module:name`` called with a document and a folder of files."""
    for folder in setup.get("path", ()):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    module, _, name = setup["call"].partition(":")
    return getattr(importlib.import_module(module), name)(setup["document"], setup["folder"])


if __name__ == "__main__":
    serve()
