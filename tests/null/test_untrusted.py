# SPDX-License-Identifier: Apache-2.0
"""Files that files name, documents of anybody, and text that others wrote."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from aclgrad.campaign import expand
from aclgrad.campaign.plans import description
from aclgrad.campaign.plans.description import CampaignError
from aclgrad.common import data, files
from aclgrad.common.display.terminal import Terminal
from aclgrad.common.display.visible import visible
from aclgrad.errors import AclgradError
from aclgrad.findings import Result, Run, as_sarif, from_json, merge, print_text, read_report
from aclgrad.profiling import profiled
from aclgrad.profiling.calibration import board
from aclgrad.reading import layout
from aclgrad.reporting import findings_page, history, junit, report
from aclgrad.spec.soc import family
from aclgrad.testing import selection
from aclgrad.testing.run import Outcome
from test_findings import check_sarif
from test_findings_page import OTHER, RACE, moved
from test_report import parse_junit

DEEP = "[" * 100_000

# --- files ---------------------------------------------------------------------------------------


def fifo(place: Path) -> Path:
    os.mkfifo(place / "fifo")
    return place / "fifo"


def huge(place: Path) -> Path:
    (place / "huge").touch()
    os.truncate(place / "huge", 1 << 40)  # takes no room
    return place / "huge"


@pytest.mark.parametrize("kind", ["a pipe", "a device", "longer than"])
@pytest.mark.parametrize(
    "name",
    ["CMakeLists.txt", "relu_golden.py", "op_host/relu_def.cpp", "op_kernel/relu.cpp",
     "op_kernel/deep/relu_impl.h"],
)  # fmt: skip
def test_what_a_build_opens_is_a_regular_file(name: str, kind: str, tmp_path: Path) -> None:
    for folder in ("op_host", "op_kernel/deep"):
        (tmp_path / folder).mkdir(parents=True)
    path = tmp_path / name
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a device":
        path.symlink_to("/dev/zero")
    else:
        path.symlink_to(huge(tmp_path))
    for word in (tmp_path, tmp_path / "op_kernel"):
        with pytest.raises(AclgradError, match=f"{name}: is {kind}"):
            layout.find(word)


def outside(place: Path) -> Path:
    (place / "link").symlink_to("/etc/passwd")
    return place / "link"


def folder_outside(place: Path) -> Path:
    (place / "folder").symlink_to("/etc")
    return place / "folder" / "passwd"


Named = Callable[[Path], Path]
BAD: dict[str, Named] = {
    "device": lambda _: Path("/dev/zero"), "fifo": fifo, "huge": huge, "link": outside,
    "linked folder": folder_outside, "absolute": lambda _: Path("/etc/passwd"),
    "above": lambda _: Path("../" * 20 + "etc/passwd"),
    "folder": lambda place: place, "memory": lambda _: Path("/proc/self/mem"),
    "nothing": lambda place: place / "none",
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_a_report_names_is_no_reason_to_show_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.cpp").write_text("int own_line;\n")
    named = str(BAD[name](tmp_path))
    places = [RACE["at"] | {"file": file, "line": 1} for file in (named, "here.cpp")]
    lines = [json.dumps(RACE | {"at": place, "text": ""}) for place in places]
    Path("evil.json").write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", "findings", "evil.json", "--html", "page.html"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1 and "page: page.html" in done.stderr, done.stderr
    page = Path("page.html").read_text()
    assert "own_line" in page and "root:" not in page and len(page) < 100_000


@pytest.mark.parametrize("name", BAD)
def test_what_a_campaign_names(name: str, tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    named = BAD[name](tmp_path)
    file.write_text(f"operators = 'softmax_grad'\ncsv = {str(named)!r}\n")
    with pytest.raises(CampaignError) as refused:
        expand.expand(description.load(file))
    text = str(refused.value)
    assert text.startswith(f"{file}:2: csv: ") and "Next: " in text and "root:" not in text, text


READERS: dict[str, Callable[[Path], object]] = {
    "campaign": description.load, "report": read_report, "board": board.read,
    "profile": profiled.from_json,
}  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["device", "fifo", "huge", "folder", "memory", "nothing"])
def test_what_a_user_names(reader: str, name: str, tmp_path: Path) -> None:
    """An endless file would end with the time of the test."""
    with pytest.raises((RuntimeError, ValueError)) as refused:
        READERS[reader](BAD[name](tmp_path))
    assert "Next: " in str(refused.value), refused.value


def test_a_file_within_is_read_through_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "text").write_text("12345")
    (tmp_path / "link").symlink_to("real")
    place = tmp_path / "link" / "text"
    assert files.read(place, "it", "", below=[tmp_path / "link"]) == b"12345"
    with pytest.raises(files.FileError, match="is longer than 4 bytes"):
        files.read(place, "it", "", most=4)
    with pytest.raises(files.FileError, match="lies outside"):
        files.read(place, "it", "", below=[tmp_path / "other"])


# --- documents -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{\n"a": NaN}', "got nan, want a finite number: line 2"),
        ('{"a":\n\n-Infinity}', "got -inf, want a finite number: line 3"),
        ('{"a": 1e999}', "got inf, want a finite number: line 1"),
        ('{"a": ' + "9" * 100_000 + "}", "hexadecimal digits, want 64 bits: line 1"),
        ('{"a": 18446744073709551616}', "17 hexadecimal digits"),
        ("\n" + DEEP, "is nested deeper than 64 lists and tables: line 2"),
        ('{"a":' * 100_000, "is nested deeper than 64"),
        ("[1,", "Expecting value"),
    ],
)
def test_json_of_anybody(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        data.parse_json(text)


def test_json_that_is_fine() -> None:
    for value in (
        {"NaN": '\\"NaN, [[[ 1e999', "a": [1.5e300, -3, 2**64 - 1]},
        "[" * 99,
        True,
        None,
    ):
        assert data.parse_json(json.dumps(value)) == value
    assert data.parse_json("[" * 64 + "]" * 64)


@pytest.mark.parametrize(
    ("line", "key", "words"),
    [
        ("limit = nan", "limit", "got nan, want a finite number"),
        ("limit = inf", "limit", "got inf, want a finite number"),
        ("limit = 1e300", "limit", "at most 10000000"),
        ("piece = -inf", "piece", "got -inf"),
        ("trials = 99999999999", "trials", "want 1 to 1000000"),
        ("shapes = '1..2147483647x1..2147483647'", "shapes", "want at most 32 dims"),
        ("shapes = '" + "x".join("1" * 99) + "'", "shapes", "want at most 32 dims"),
        ("shapes = '1..99999999999'", "shapes", "want dims below"),
        ("random = { count = 99999999999999999999 }", "random", "hexadecimal digits"),
        ("random = { count = 9999999999999 }", "random", "count: got 9999999999999"),
        ("random = { dim = [1, 9999999999999] }", "random", "dim: got"),
        ("chaos = '0-2147483647'", "chaos", "got '0-2147483647'"),
        ("seeds = '1-9999999'", "seeds", "got '1-9999999'"),
        ("attributes = { dim = [nan] }", "attributes", "got nan"),
        ("attributes = { dim = " + "[" * 90 + "]" * 90 + " }", "attributes", "nested deeper"),
        ("title" + ".a" * 5000 + " = 1", "title", "nested deeper than 64"),
        ("x = " + DEEP, "", "is nested deeper than 64 lists and tables (at line 2)"),
    ],
)  # fmt: skip
def test_a_campaign_of_anybody(line: str, key: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text(f"operators = 'softmax_grad'\n{line}\n")
    with pytest.raises(CampaignError) as refused:
        description.load(file)
    text = str(refused.value)
    assert text.startswith(f"{file}:2: {key}") and words in text and "Next: " in text, text[:300]


def test_a_csv_of_anybody(tmp_path: Path) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text("operators = 'softmax_grad'\ncsv = 'a.csv'\n")
    for content in ("shape\n" + "x" * 200_000, "shape\n\0\n", "shape\n" + '"' * 3, "\udcff"):
        (tmp_path / "a.csv").write_text(content, errors="surrogateescape")
        with pytest.raises(CampaignError, match=r":2: csv: "):
            description.load(file)


@pytest.mark.parametrize(
    "entry",
    [
        RACE | {"at": RACE["at"] | {"line": -5}}, RACE | {"at": RACE["at"] | {"line": 10**12}},
        RACE | {"at": RACE["at"] | {"line": float("inf")}}, RACE | {"core": float("nan")},
        RACE | {"count": 10**40}, RACE | {"begin": 1e999}, moved(mhz=1e-300), moved(end=1e300),
        moved(ends=[[0, -1e300, 1e300], [1, 0, 1]]), RACE | {"related": OTHER}, [1], "text",
    ],
)  # fmt: skip
def test_a_finding_of_anybody(entry: Any, tmp_path: Path) -> None:
    file = tmp_path / "found.jsonl"
    file.write_text("\n" + json.dumps(entry) + "\n")
    with pytest.raises(ValueError, match=r"found.jsonl:2: got .* want a finding as a line of JSON"):
        read_report(file)


def test_other_documents_of_anybody(tmp_path: Path) -> None:
    for text in (DEEP, "[NaN]", '{"format": 1e999}'):
        (tmp_path / board.FILE).write_text(text)
        with pytest.raises(board.BoardError, match="line 1"):
            board.read(tmp_path)
        (tmp_path / history.FILE).write_text(text)
        assert history.read(tmp_path) == []
        (tmp_path / "profile").write_text(text)
        with pytest.raises((ValueError, RuntimeError)):
            profiled.from_json(tmp_path / "profile")


# --- text ----------------------------------------------------------------------------------------

EVIL = "k.cpp:100: :bomb: [red]x[/red] [link=http://e]l[/link] [a](1) "
EVIL += "\x1b[31m\x1b]0;t\x07 \u202eevil \x9b1m \b\r\udc80 <b>&amp;"
RAW = "\x1b\x07\u202e\x9b\b\r\udc80"
SHOWN = r"\x1b[31m\x1b]0;t\x07 \u202eevil \x9b1m \x08\r\udc80"


def test_what_is_made_visible() -> None:
    assert visible("a b\u00a0ç 漢字 é\n\tx\r\ny 😀") == "a b\u00a0ç 漢字 é\n\tx\ny 😀"
    for letter in "\0\x1b\x7f\x85\xad\u061c\u200b\u200e\u2028\u2066\u2069\ufeff\U000e0041\ud800":
        assert visible(f"a{letter}").isascii() and visible(f"a{letter}") != f"a{letter}"
    assert visible(EVIL).endswith(SHOWN + " <b>&amp;")


def test_terminals() -> None:
    from rich.table import Table

    page = io.StringIO()
    console = Terminal(page, width=400)
    table = Table(title=EVIL)
    table.add_column(EVIL)
    table.add_row(EVIL)
    for shown in (EVIL, table):
        console.print(shown)
    text = page.getvalue()
    assert not set(text) & set(RAW) and SHOWN in text
    assert text.count("k.cpp:100: :bomb: [red]x[/red] [link=http://e]l[/link]") == 4


def test_every_console_of_the_package_is_a_terminal() -> None:
    package = Path(files.__file__).parents[1]
    made = [
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if " Console(" in (text := path.read_text("utf-8")) or "rich.print" in text
        or "=Console(" in text or "from rich import" in text
    ]  # fmt: skip
    assert made == []


def test_progress_of_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a bar, and as lines."""
    from aclgrad.cli import common, progress_lines

    page = io.StringIO()
    monkeypatch.setattr(Terminal, "is_terminal", True)
    with common.progress(Terminal(page, width=400)) as bar:
        assert isinstance(bar, Progress)
        bar.add_task("[red]x[/red] :bomb: \u202e")
        bar.refresh()
    assert "[red]x[/red] :bomb:" in page.getvalue() and "\u202e" not in page.getvalue()
    read, write = os.pipe()
    with progress_lines.Lines(0.01, write) as told:
        told.add_task(EVIL)
        text = os.read(read, 10_000).decode()
    assert SHOWN in text and not set(text) & set(RAW)


def evil() -> Result:
    place = {"pipe": EVIL, "instruction": EVIL, "note": EVIL, "file": "/k.cpp", "line": 3}
    entry: Any = RACE | {
        "kind": EVIL, "severity": "error", "op": EVIL, "buffer": EVIL, "detail": EVIL,
        "advice": EVIL, "soc": EVIL, "tiling": EVIL, "text": EVIL, "goesOn": EVIL,
        "at": place | {"text": EVIL}, "related": [place | {"file": f"{EVIL}.cpp", "text": EVIL}],
    }  # fmt: skip
    lanes = [[0, EVIL], [0, EVIL], [0, EVIL], [0, EVIL]]
    slices = [[1, 100, 500, 0, EVIL, EVIL, 1]]
    entry["timeline"] = RACE["timeline"] | {"lanes": lanes, "slices": slices}
    run = Run(EVIL, f"aclgrad check {EVIL}", (from_json(entry),))
    return Result(tuple(merge([run])), 1, {EVIL: EVIL}, (), (EVIL,))


class Reader(HTMLParser):
    """What a browser would show, and which elements there are."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.tags = "", set[str]()

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)


def test_findings_in_every_form() -> None:
    result = evil()
    page = io.StringIO()
    print_text(result, Terminal(page))
    html = findings_page.page(result, Path("/nowhere"))
    reader = Reader()
    reader.feed(html)
    assert f"{SHOWN} <b>&amp;" in reader.text
    sarif = json.loads(json.dumps(as_sarif(result, Path("/nowhere"))))
    strings: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, str):
            strings.append(value)
        for item in (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        ):
            collect(item)

    check_sarif(sarif)
    collect(sarif)
    (found,) = sarif["runs"][0]["results"]
    assert SHOWN in found["message"]["text"] and r"[a\](1)" in found["message"]["text"]
    assert found["locations"][0]["physicalLocation"]["region"]["snippet"]["text"].count("[a](1)")
    for text in (page.getvalue(), html, *strings):
        assert not set(text) & set(RAW)
        assert ":bomb:" in text or len(text) < 2000


def test_junit_of_anybody() -> None:
    case = selection.choose(
        selection.operators(["softmax_grad"]), fast=True, family=family("ascend910b")
    ).groups[0][1][0]  # fmt: skip
    from dataclasses import replace

    outcome = Outcome(replace(case, name=EVIL), False, EVIL, 0.1)
    conditions = report.Conditions("sim", EVIL)
    text = junit.document([outcome], conditions)
    root = parse_junit(text)
    assert not set(text) & set(RAW) and SHOWN in (root.findtext(".//failure") or "")
    assert [SHOWN in each.get("name", "") for each in root.iter("testcase")] == [True]


def test_an_error_message_of_a_command(tmp_path: Path) -> None:
    """An environment variable and a line number that looks like an emoji."""
    evil_soc = "x.cpp:100: \x1b[31m\u202e"
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", "tiling", "softmax_grad", "8x8", "--soc", evil_soc],
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "FORCE_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 1
    assert "x.cpp:100: " in done.stderr and r"\u202e" in done.stderr, done.stderr
    assert "\u202e" not in done.stderr and "\U0001f4af" not in done.stderr
