# SPDX-License-Identifier: Apache-2.0
"""ACLGRAD_FINDINGS: what a finding counts as, by kind and by file."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclgrad.runtime import Device
from test_order import run


@pytest.fixture(scope="module")
def toolkit(session_device: Device) -> Path:
    return session_device.libraries.toolkit.root


@pytest.mark.parametrize(
    ("words", "severity"),
    [
        ("error", "error"),
        ("warn", "warning"),
        ("off", "off"),
        ("gm-out-of-bounds=warn", "warning"),
        ("@levels.asc=warn", "warning"),
        ("@lev*=off,gm-out-of-bounds=error", "off"),
        ("gm-out-of-bounds@levels.asc=error,off", "error"),
        ("gm-out-of-bounds@evels.asc=warn", "error"),
        ("stream-race=off,warn,gm-out-of-bounds=error", "error"),
    ],
)
def test_what_a_finding_counts_as(words: str, severity: str, tmp_path: Path, toolkit: Path) -> None:
    output, text, found = run(tmp_path, toolkit, "levels.asc", "past_end", ACLGRAD_FINDINGS=words)
    assert [(one["kind"], one["severity"]) for one in found] == [("gm-out-of-bounds", severity)]
    # With less than an error the kernel runs on, and has the numbers.
    assert output == ("status 507035, last -1\n" if severity == "error" else "status 0, last 55\n")
    lines = [line for line in text.splitlines() if "gm-out-of-bounds" in line]
    if severity == "warning":
        assert len(lines) == 1 and "aclgrad: warning [gm-out-of-bounds] in past_end at " in lines[0]
    else:
        assert len(lines) == (severity == "error"), text


def test_what_ends_a_core_is_an_error(tmp_path: Path, toolkit: Path) -> None:
    output, _, found = run(tmp_path, toolkit, "levels.asc", "hangs", ACLGRAD_FINDINGS="warn")
    assert [(one["kind"], one["severity"]) for one in found] == [("deadlock", "error")]
    assert output == "status 507035, last -1\n"


def test_words_that_are_none_are_named(tmp_path: Path, toolkit: Path) -> None:
    for words in ("loud", "deadlock=loud", "=warn", "deadlock@=warn", "off,"):
        output, text, _ = run(tmp_path, toolkit, "levels.asc", "past_end", ACLGRAD_FINDINGS=words)
        assert "status 0" not in output
        assert "ACLGRAD_FINDINGS has" in text and "KIND@FILE=warn" in text, text
