# SPDX-License-Identifier: Apache-2.0
"""Plain language, as far as a program can tell: docs/style.md's table, and patterns of sentences
that have to be read twice.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STYLE = ROOT / "docs/style.md"
ROW = re.compile(r"^\| ([^|]+) \| [^|]+ \|$", re.M)
BEFORE = [row for row in ROW.findall(STYLE.read_text()) if row != "before"]
PATTERNS = {
    r"\bone stands in\b|\byou stand in\b": "the current directory",
    r"\bwords? (?:for|of) (?:a|the) (?:C\+\+ )?compiler\b": "compiler flags",
    r"\bsays? nothing of\b": "does not tell",
    r"\bof (?:itself|themselves) is nothing\b": "name the subject",
    r"\bwhat is not,? is not\b": "an aphorism",
    r"\bno(?:thing|body) but (?:itself|himself)\b": "an aphorism",
    r"^(?:Nor|Neither) (?:is|does|has) \w+ (?:else|more)\.": "a fragment",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bbegins? to be\b": "a verb",
    r"\bgets? on\b(?! the)": "makes progress",
    r"\bplays? no part\b": "does not matter",
    r"\bin vain\b": "nothing ends the wait",
    r"\bnothing of (?:it|them|these|ours)\b": "none of it",
    r"\bof others\b": "other people's",
}
"""Patterns of prose in Markdown, and what to write instead."""
WORDS = (
    "golden", "grid", "case", "finding", "fault", "hint", "chaos", "floor", "checked and fast mode",
    "ulp of the scale", "auto-sync", "campaign", "refused case", "scaffold",
)  # fmt: skip
"""Words of our own that pages use."""
# The changelog is history.
LEFT_OUT = re.compile(r"^CHANGELOG\.md$|\.zh\.md$")
FENCE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.M | re.S)


COMMENT = re.compile(r"^\s*(//+|#)(?: |$)(.*)")
DOCSTRING = re.compile(r'^\s*r?"""(?=(?:Of|That|Whose|And|Nor)\b)(.{,60})')
OPENING = re.compile(r"(?:of|whose|what|that|and|which|nor|where(?=[^,]*$))\b", re.I)
"""How a comment or docstring opens whose subject comes late or never; "Where UB is full, ..." has
one.
"""


def openings(text: str) -> list[str]:
    """Comments with a line of their own that do not open with their subject."""
    found = []
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        match = COMMENT.match(line)
        if match and match[1] != before and OPENING.match(match[2]):
            found.append(f"line {number}: {match[2][:60]}")
        before = match[1] if match else ""
        if docstring := DOCSTRING.match(line):
            found.append(f"line {number}: {docstring[1]}")
    return found


def tracked(*patterns: str) -> list[str]:
    done = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, text=True
    )
    names = [name for name in done.stdout.split("\0") if (ROOT / name).is_file()]
    if not names:
        pytest.skip("no git checkout")
    return names


def found(text: str, phrases: list[str]) -> list[str]:
    """The phrases of a text, however its lines are broken."""
    flat = re.sub(r"\s*\n\s*(?:(?://|#|\*)\s?)?", " ", text)
    return [phrase for phrase in phrases if phrase in flat]


def unplain(text: str) -> list[str]:
    """Lines of a page's prose with a pattern, and what to write."""
    prose = FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    return [
        f"line {prose.count(chr(10), 0, match.start()) + 1}: {match[0]!r}: write {better!r}"
        for pattern, better in PATTERNS.items()
        for match in re.finditer(pattern, prose, re.M | re.I)
    ]


def test_sentences_of_the_table_do_not_occur() -> None:
    assert len(BEFORE) > 15
    others = {"docs/style.md", "tests/null/test_prose.py", "CHANGELOG.md"}
    bad = {}
    for name in tracked(
        *("*.md", "*.py", "*.h", "*.cpp", "*.asc", "*.def", "*.inc", "*.sh", "*.toml", "*.yml"),
        *("*.json", "*.j2", "*.cmake"),
    ):
        if name not in others and (hit := found((ROOT / name).read_text("utf-8"), BEFORE)):
            bad[name] = hit
    assert not bad, f"docs/style.md says what to write instead: {bad}"


@pytest.mark.parametrize(
    "name",
    [name for name in tracked("*.md") if not LEFT_OUT.search(name) and name != "docs/style.md"],
)
def test_page_is_plain(name: str) -> None:
    assert not unplain((ROOT / name).read_text("utf-8"))


def test_comments_open_with_their_subject() -> None:
    kinds = ("h", "cpp", "asc", "def", "inc", "py", "sh", "cmake", "j2", "toml")
    rooms = ("simulator", "python", "op_kernel", "op_host", "scripts", "cmake", "benchmarks")
    bad = {}
    for name in tracked(*(f"{room}/*.{kind}" for room in rooms for kind in kinds)):
        if hit := openings((ROOT / name).read_text("utf-8")):
            bad[name] = hit
    assert not bad, f"docs/style.md, rule 1: {bad}"


def test_comments_of_scaffolds_fit_in_a_line() -> None:
    """`render` would break a longer one in the middle of a sentence."""
    for name in tracked("python/aclgrad/codegen/templates/new/*.j2"):
        for line in (ROOT / name).read_text("utf-8").splitlines():
            assert len(line) <= 100 or not line.lstrip().startswith("//"), f"{name}: {line}"


def test_words_of_our_own_are_in_the_glossary() -> None:
    """Words that pages use in a sense of their own."""
    glossary = (ROOT / "docs/glossary.md").read_text("utf-8").lower()
    for word in WORDS:
        assert word in glossary, f"docs/glossary.md does not explain {word!r}"


def test_a_planted_sentence_is_seen() -> None:
    assert found("// Yours are as\n// good as ours.\n", BEFORE) == ["Yours are as good as ours"]
    assert found("It goes\nwell when a table ends it.", BEFORE) == ["It goes well when"]
    assert not found("Your operators are first-class.", BEFORE)
    assert unplain("a\n\nThe folder that you stand in.\n") == [
        "line 3: 'you stand in': write 'the current directory'"
    ]
    assert openings("x\n  // Of the default: its key.\n") == ["line 2: Of the default: its key."]
    assert openings("# What a script cannot do\n") and openings("// Where elements lie.\n")
    assert openings('    """Of the process."""\n') == ['line 1: Of the process."""']
    assert not openings("// The kernel writes\n// what it has.\n")
    assert not openings("// Where UB is full, chunks wait.\nint of;  // of MIX kernels\n")
    assert not unplain("```\nthe folder you stand in\n```\n`mend`\n")
