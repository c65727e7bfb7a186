# SPDX-License-Identifier: Apache-2.0
"""Children that run operators: what the parent hears of an exception that ends one."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from aclgrad.errors import AclgradError
from aclgrad.running.isolation import CRASHED, case_by_case, in_turn, isolated


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("7 is odd"), r"ValueError: 7 is odd"),
        (AssertionError(), r"AssertionError"),
        (OSError(28, "No space left on device", "/x"), r"OSError: .*No space left.*'/x'"),
        (AclgradError("x: 9 MB wanted. Next: less"), r"x: 9 MB wanted\. Next: less"),
        (MemoryError(), r"MemoryError; the \w.* leaves [\d,]+ MB. Next: smaller .*"),
        (None, r"MemoryError: Unable to allocate .*; the \w.* leaves [\d,]+ MB. Next: smaller .*"),
        (SystemExit(3), r"SystemExit: 3"),
        (UnicodeError("a\nb\udcff"), r"UnicodeError: a\nb\udcff"),
    ],
)
def test_exception_of_a_child(error: BaseException | None, words: str) -> None:
    """After the answers that came before it."""

    def work() -> Iterator[dict[str, Any]]:
        yield {"label": "first"}
        if error is not None:
            raise error
        np.empty(1 << 62, np.uint8)

    first, last = isolated(work, time.monotonic() + 60)
    assert first == ({"label": "first"}, None)
    answer, ended = last
    assert answer is None and ended is not None
    assert ended[0] == CRASHED and re.fullmatch(words, ended[1], re.DOTALL), ended


def test_child_that_the_system_ends() -> None:
    """Out of memory, say: nothing else tells why."""

    def work() -> Iterator[dict[str, Any]]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield {}

    ((answer, ended),) = isolated(work, time.monotonic() + 60)
    assert answer is None and ended is not None and ended[0] == CRASHED
    assert re.fullmatch(r"SIGKILL in .*too much: the \w.* leaves [\d,]+ MB. Next: .*", ended[1])


def in_a_minute(_: int) -> float:
    return time.monotonic() + 60


def test_what_ends_a_process_ends_one_case() -> None:
    """The next process goes on behind it, also behind the first and the last case."""
    fatal = (0, 2, 3, 5)

    def work(first: int) -> Iterator[dict[str, Any]]:
        for number in range(first, 6):
            if number in fatal:
                os.kill(os.getpid(), signal.SIGTERM)
            yield {"number": number, "process": os.getpid()}

    found = [*case_by_case(6, work, in_a_minute)]
    assert [answer and answer["number"] for answer, _ in found] == [None, 1, None, None, 4, None]
    assert [ended and ended[0] for _, ended in found] == [
        CRASHED if number in fatal else None for number in range(6)
    ]
    assert len({answer["process"] for answer, _ in found if answer}) == 2


def test_a_process_without_an_answer_is_the_last() -> None:
    assert [*case_by_case(3, lambda _: iter(()), in_a_minute)] == []


def test_the_rest_that_nobody_wants_is_ended() -> None:
    def work(_: int) -> Iterator[dict[str, Any]]:
        yield {"process": os.getpid()}
        time.sleep(3600)

    answers = case_by_case(2, work, in_a_minute)
    answer, _ = next(answers)
    assert answer is not None
    answers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(answer["process"], 0)


@pytest.mark.parametrize("prints", [True, False])
def test_what_a_child_prints(prints: bool, capfd: pytest.CaptureFixture[str]) -> None:
    """From Python and from C, whose buffers a process that ends at once would lose."""

    def work() -> Iterator[dict[str, Any]]:
        os.write(1, b"written ")
        ctypes.CDLL(None).printf(b"printed\n")
        yield {}

    assert [*isolated(work, in_a_minute(0), prints=prints)] == [({}, None)]
    assert capfd.readouterr().out == ("written printed\n" if prints else "")


def test_parts_run_at_the_same_time_and_answer_in_turn() -> None:
    """Each waits for the other: one after the other they would never end. A crash ends one case of
    one part.
    """
    read, write = os.pipe()
    other, end = os.pipe()

    def of_part(part: int) -> Callable[[int], Iterator[dict[str, Any]]]:
        def work(first: int) -> Iterator[dict[str, Any]]:
            for case in range(first, 3):
                if case == 1 and part == 0:
                    os.write(write, b"x")
                    os.read(other, 1)
                    os.kill(os.getpid(), signal.SIGSEGV)
                if case == 1:
                    os.read(read, 1)
                    os.write(end, b"x")
                yield {"label": f"{part}.{case}"}

        return work

    parts = [case_by_case(3, of_part(part), in_a_minute) for part in range(2)]
    labels = [answer and answer["label"] for answer, _ in in_turn(parts)]
    assert labels == ["0.0", "1.0", None, "1.1", "0.2", "1.2"]
    for number in (read, write, other, end):
        os.close(number)


def test_parts_that_nobody_wants_are_ended() -> None:
    """Also when one part has no answer."""

    def work(_: int) -> Iterator[dict[str, Any]]:
        yield {"process": os.getpid()}
        time.sleep(3600)

    def none(_: int) -> Iterator[dict[str, Any]]:
        return iter(())

    found = [*in_turn([case_by_case(2, each, in_a_minute) for each in (work, none)])]
    ((answer, _),) = found
    assert answer is not None
    with pytest.raises(ProcessLookupError):
        os.kill(answer["process"], 0)


@pytest.mark.parametrize("status", [0, 3])
def test_child_that_code_of_others_ends(status: int) -> None:
    """Also one that says that all is well."""

    def work() -> Iterator[dict[str, Any]]:
        yield {"label": "first"}
        os._exit(status)

    first, last = isolated(work, time.monotonic() + 60)
    assert first == ({"label": "first"}, None)
    assert last == (None, (CRASHED, f"it ended the process with status {status}"))
