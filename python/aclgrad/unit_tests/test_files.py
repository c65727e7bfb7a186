# SPDX-License-Identifier: Apache-2.0
"""Finds the gtest files of an operator."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from aclgrad.common.files import text_of
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import Sources, SourcesError
from aclgrad.unit_tests.cmake_lists import TESTS


@dataclass(frozen=True)
class TestFile:
    """A gtest source and the operator whose kernel it runs."""

    path: Path
    sources: Sources

    @property
    def folder(self) -> Path:
        """The op_kernel folder of the tests."""
        return self.sources.root / TESTS

    @cached_property
    def text(self) -> str:
        """What the file says."""
        return text_of(self.path)

    def asserts(self, name: str) -> bool:
        """Whether a test, or what it shares with others, compares something in C++."""
        suite, case = (re.sub(r"/\w+$", "", part) for part in name.split("."))
        own = (suite.rsplit("/", maxsplit=1)[-1], case)
        text = self.text
        for match in reversed(
            list(re.finditer(r"\bTEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", text))
        ):
            if match.groups() != own:
                text = text[: match.start()] + text[_body_end(text, match.end()) :]
        return bool(
            re.search(r"\b(?:EXPECT|ASSERT)_(?:EQ|NEAR|FLOAT|DOUBLE|STREQ|LE|LT|GE|GT|TRUE)", text)
        )

    @property
    def runs_scripts(self) -> bool:
        """Whether it starts Python scripts, if only from a helper that it includes."""
        return ".py" in self.text or "system(" in self.text

    def kernel_for(self, arch: int) -> Path:
        """The kernel's source: the one that the test is named after, else the operator's."""
        stem = _plain(self.path).removeprefix("test_")
        kernels = self.sources.kernels_for(arch) or list(self.sources.kernels)
        named = [path for path in kernels if stem.startswith(_plain(path))]
        own = [path for path in kernels if _plain(path) == self.sources.name]
        chosen = [*sorted(named, key=lambda path: -len(_plain(path))), *own, *kernels]
        return chosen[0]


def _plain(path: Path) -> str:
    """The stem of a file without the word for architecture 3510."""
    return path.stem.removesuffix("_apt")


def _body_end(text: str, start: int) -> int:
    """Where the braces that open after start have closed."""
    depth = 0
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return start + brace.end()
    return len(text)


def find_tests(word: str | Path) -> list[TestFile]:
    """The test files of an operator's folder, of its tests folder, or the one file given."""
    path = Path(word).expanduser().resolve()
    if not path.exists():
        raise SourcesError(
            f"{word}: no such file or folder. Next: give an operator's folder, e.g."
            " ops-nn/activation/glu"
        )
    root = next(
        (
            folder
            for folder in (path, *path.parents)
            if (folder / "op_kernel").is_dir() and folder.name != "ut"
        ),
        None,
    )
    if root is None:
        raise SourcesError(
            f"{word}: no folder above it has op_kernel, so there is no kernel to test."
            " Next: give an operator's folder, or a test in its tests/ut/op_kernel"
        )
    sources = locate(root)
    if path.is_file():
        return [TestFile(path, sources)]
    # Those for architecture 3510 are called so, or lie in a folder that is.
    files = sorted((root / TESTS).rglob("test_*.cpp"))
    if not files:
        raise SourcesError(
            f"{root / TESTS}: no test_*.cpp there or below. Next: give the test file itself"
        )
    return [TestFile(file, sources) for file in files]
