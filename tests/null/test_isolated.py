# SPDX-License-Identifier: Apache-2.0
"""Children that run operators: what the parent hears of an exception that ends one."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from aclgrad.errors import AclgradError
from aclgrad.running.isolation import CRASHED, isolated


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
