# SPDX-License-Identifier: Apache-2.0
"""What comes before what: streams and the host, cores, pipes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from aclgrad.runtime import Device
from compile_once import compile_once

SOURCES = Path(__file__).parent / "order"
Found = list[dict[str, Any]]


@pytest.fixture(scope="module")
def toolkit(session_device: Device) -> Path:
    return session_device.libraries.toolkit.root


def line_of(source: str, mark: str) -> int:
    lines = (SOURCES / source).read_text().splitlines()
    return next(at for at, line in enumerate(lines, 1) if line.endswith(f"// @{mark}"))


def run(
    folder: Path, toolkit: Path, source: str, *words: str, **environment: str
) -> tuple[str, str, Found]:
    """Output, error stream and findings of one case of a program."""
    command = [str(toolkit / "bin" / "ascc"), "-g", "--npu-arch=dav-2201", str(SOURCES / source)]
    program = compile_once(folder, source.removesuffix(".asc"), command)
    report = folder / "findings.jsonl"
    report.unlink(missing_ok=True)
    done = subprocess.run(
        [program, *words],
        env={**os.environ, "ACLGRAD_SIM_REPORT": str(report), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    found = (
        [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    )
    return done.stdout, done.stderr, found


def errors(found: Found) -> list[str]:
    return [finding["kind"] for finding in found if finding["severity"] == "error"]


STREAMS = {
    "kernels": ["stream-race"],
    "overwrites": ["stream-race"],
    "copy": ["stream-race"],
    "default": ["stream-race"],
    "third": ["stream-race"],
    "query": ["stream-race"],
    "callback": ["stream-race"],
    "shared": [],
    "halves": [],
    "freed": ["host-use-after-free"],
    "pinned_freed": ["host-use-after-free"],
    "pinned_overwritten": ["host-unsynchronised"],
    "pinned_early": ["host-unsynchronised"],
    "pinned_during": ["host-unsynchronised"],
    "pinned_copied": ["stream-race"],
    "device": ["host-wrong-handle"],
}


@pytest.mark.no_thread_sanitizer("it sees what one stream does to another")
# The callback may have run before the second launch, and then the host knows.
@pytest.mark.parametrize("name", sorted(STREAMS.keys() - {"callback"}))
def test_streams_without_a_wait(name: str, tmp_path: Path, toolkit: Path) -> None:
    output, text, found = run(tmp_path, toolkit, "streams.asc", name, "0", ACLGRAD_DEVICES="2")
    assert errors(found) == STREAMS[name], (output, text)
    for kind in STREAMS[name]:
        assert text.count(f"[{kind}]") == 1  # said, and once
    if name in ("pinned_overwritten", "pinned_early", "pinned_during"):
        assert "// @line" in found[0]["at"]["text"], found[0]
    if name == "freed":
        assert "reads" in found[0]["detail"] and "writes" not in found[0]["detail"]


@pytest.mark.parametrize("name", STREAMS)
def test_streams_with_it(name: str, tmp_path: Path, toolkit: Path) -> None:
    output, text, found = run(tmp_path, toolkit, "streams.asc", name, "1", ACLGRAD_DEVICES="2")
    assert errors(found) == [], (output, text)
    assert output.startswith("done"), output


def test_findings_are_not_printed_where_they_are_off(tmp_path: Path, toolkit: Path) -> None:
    for words in ("off", "stream-race=off"):
        _, text, found = run(tmp_path, toolkit, "streams.asc", "copy", "0", ACLGRAD_FINDINGS=words)
        assert [(one["kind"], one["severity"]) for one in found] == [("stream-race", "off")]
        assert "stream-race" not in text


SIGNALS = {
    "right": [],
    "by_copy": [],
    "rounds": [],
    "no_wait": ["gm-conflict"],
    "not_cleaned": ["gm-cache"],
    "stale_poll": ["gm-cache"],
    "no_poll": ["gm-conflict"],
    "right_copies": [],
    "by_copy_copies": [],
    "rounds_copies": [],
    "no_wait_copies": ["gm-conflict"],
    "not_cleaned_copies": ["gm-cache"],
    "no_poll_copies": ["gm-conflict"],
    "all_wait": [],
    "all_look": ["gm-conflict"],
}


@pytest.mark.parametrize("threads", ["1", "4"])
@pytest.mark.parametrize("name", SIGNALS)
def test_a_word_of_gm_as_a_signal(name: str, threads: str, tmp_path: Path, toolkit: Path) -> None:
    output, text, found = run(tmp_path, toolkit, "cores.asc", name, ACLGRAD_SIM_THREADS=threads)
    assert sorted(set(errors(found))) == SIGNALS[name], text
    if not SIGNALS[name]:
        assert output == "0, 0 wrong\n"


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_queue_for_both_ways_under_chaos(seed: int, tmp_path: Path, toolkit: Path) -> None:
    output, text, found = run(
        tmp_path, toolkit, "cores.asc", "both_ways", ACLGRAD_SIM_CHAOS=str(seed)
    )
    assert (output, errors(found)) == ("0, 0 wrong\n", []), text


def test_writes_with_gaps(tmp_path: Path, toolkit: Path) -> None:
    for name, want in (("alternate", []), ("alternate_overlaps", ["race-write-after-write"])):
        _, text, found = run(tmp_path, toolkit, "cores.asc", name, ACLGRAD_SIM_AUTOSYNC="off")
        assert errors(found) == want, text


def test_flags_that_count(tmp_path: Path, toolkit: Path) -> None:
    output, text, found = run(tmp_path, toolkit, "cores.asc", "counted")
    assert (output, errors(found)) == ("0, 0 wrong\n", []), text
    assert "flag-set-twice" in [f["kind"] for f in found]
    _, text, found = run(tmp_path, toolkit, "cores.asc", "counted_unpaired")
    twice = next(f for f in found if f["kind"] == "flag-set-twice")
    assert twice["severity"] == "error" and twice["at"]["line"] == line_of("cores.asc", "second")


def test_two_ends_are_one_finding(tmp_path: Path, toolkit: Path) -> None:
    _, text, found = run(tmp_path, toolkit, "cores.asc", "in_place")
    assert errors(found) == ["race-read-after-write"], text
    assert found[0]["at"]["line"] == line_of("cores.asc", "scale")
    assert found[0]["related"][0]["line"] == line_of("cores.asc", "load")
    assert found[0]["buffer"] == "work"  # the second InitBuffer of its line
    assert text.count("[race-read-after-write]") == 1


@pytest.mark.parametrize(
    ("name", "hints"),
    [("add_floats", ["atomic-order"]), ("add_integers", []), ("most_of_floats", [])],
)
def test_sums_of_floats_depend_on_the_order(
    name: str, hints: list[str], tmp_path: Path, toolkit: Path
) -> None:
    _, text, found = run(tmp_path, toolkit, "cores.asc", name)
    assert [f["kind"] for f in found] == hints, text


def test_the_last_waits_are_not_redundant(tmp_path: Path, toolkit: Path) -> None:
    output, text, found = run(tmp_path, toolkit, "cores.asc", "slots")
    assert (output, found) == ("0, 0 wrong\n", []), text
    _, text, found = run(tmp_path, toolkit, "cores.asc", "slots_keeps")
    assert [(f["kind"], f["at"]["line"]) for f in found] == [
        ("event-id-pair", line_of("cores.asc", "take"))
    ]
