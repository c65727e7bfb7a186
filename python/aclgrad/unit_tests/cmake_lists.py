# SPDX-License-Identifier: Apache-2.0
"""What the CMake lists of a unit test say: its SoCs, compile options and sources, and the scripts
that its build copies.

CMake itself reads them, in script mode: variables, lists, functions and file commands mean what
they mean in the library's own build, and what would make a target is written down instead.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aclgrad.codegen.render import render, write_if_different
from aclgrad.common.files import text_of
from aclgrad.reading.sources import OTHER_ARCHITECTURE, Sources, SourcesError
from aclgrad.spec.soc import DEFAULT_SOC, FAMILIES, family_of

TESTS = Path("tests/ut/op_kernel")

_RECORDED = (
    "AddOpTestCase",
    "AddOpsTestCase",
    "add_custom_command",
    "add_custom_target",
    "target_compile_options",
)
_IGNORED = (
    "add_dependencies",
    "add_executable",
    "add_library",
    "add_modules_ut_sources",
    "add_opkernel_ut_modules",
    "add_subdirectory",
    "add_test",
    "enable_testing",
    "find_package",
    "get_property",
    "message",
    "project",
    "set_property",
    "set_source_files_properties",
    "set_target_properties",
    "target_compile_definitions",
    "target_include_directories",
    "target_link_directories",
    "target_link_libraries",
    "target_link_options",
    "target_sources",
)
_COMMAND_WORDS = re.compile(
    r"ALL|APPEND|ARGS|BYPRODUCTS|COMMAND|COMMAND_EXPAND_LISTS|COMMENT|DEPENDS|DEPFILE|JOB_POOL"
    r"|MAIN_DEPENDENCY|OUTPUT|POST_BUILD|PRE_BUILD|PRE_LINK|SOURCES|TARGET|USES_TERMINAL|VERBATIM"
    r"|WORKING_DIRECTORY"
)
_COPIES = ("cp", "install", "ln", "mkdir", "mv")
"""Programs of custom commands that bring files to where tests look for them."""


@dataclass(frozen=True)
class UnitTestCase:
    """One AddOpTestCase."""

    op: str
    socs: str
    options: tuple[str, ...]
    sources: tuple[Path, ...] = ()


@dataclass(frozen=True)
class TestLists:
    """What the lists of one test file say; ``made``: what they have put into the build folder."""

    __test__ = False

    cases: tuple[UnitTestCase, ...] = ()
    made: Path | None = None
    problems: tuple[str, ...] = ()

    later: bool = False  # the test is for architecture 3510, as its name or its folder says

    @property
    def case(self) -> UnitTestCase:
        """The first case for a SoC that the test is for, else the first that is simulated."""
        here = [case for case in self.cases if self._soc_of(case)]
        return next(iter([*here, *self.cases]), UnitTestCase("", "", ()))

    def _soc_of(self, case: UnitTestCase) -> str | None:
        found = socs_in(case.socs)
        fitting = [name for name in found if (family_of(name).npu_arch == 3510) == self.later]
        return next(iter([*fitting, *found]), None)

    @property
    def soc(self) -> str | None:
        """The SoC that the lists name for the test; None where they name none.

        Raises:
            SourcesError: those that they name are not simulated.
        """
        found = self._soc_of(self.case)
        if found is None and self.case.socs:
            raise SourcesError(
                f"the test is for {self.case.socs}, which is not simulated. Next: --soc"
                f" {DEFAULT_SOC}, if the kernel is for that too"
            )
        return found or (_FIRST["ascend950"] if self.later else None)


_FIRST = {
    "ascend910b": DEFAULT_SOC,
    "ascend910_93": "Ascend910_9392",
    "ascend950": "Ascend950PR_9589",
    "ascend310p": "Ascend310P3",
    "ascend910": "Ascend910A",
}
"""What stands for a family of which lists name no member."""


def socs_in(words: str) -> list[str]:
    """The SoCs of a CMake list that are simulated, as CANN spells them."""
    found = []
    for word in re.split(r"[;,\s]+", words.strip()):
        if family := _FIRST.get(word.lower()):
            found.append(family)
            continue
        rest = re.sub(r"^ascend", "", word, flags=re.IGNORECASE)
        kind, bar, number = rest.partition("_")
        for name in (f"Ascend{kind.upper()}{bar}{number}", f"Ascend{rest}"):
            if any(re.fullmatch(one.socs, name) for one in FAMILIES if one.name in _FIRST):
                found.append(name)
                break
    return found


def library_view(sources: Sources, folder: Path) -> Path:
    """A view of the library in ``folder/tree``; returns the folder in which its own build runs
    tests.

    The operator's tests are copied, as scripts write next to themselves.
    """
    repository, root = sources.repository, sources.root
    below = root.relative_to(repository).parts if root.is_relative_to(repository) else ()
    here, there = folder / "tree", repository
    for part in (*below, "tests"):
        here.mkdir(parents=True, exist_ok=True)
        for path in there.iterdir():
            if path.name not in (part, "build"):
                (here / path.name).symlink_to(path)
        here, there = here / part, there / part
    if there.is_dir():
        shutil.copytree(there, here)
    work = folder / "tree" / "build" / TESTS
    work.mkdir(parents=True)
    return work


def read(test: Path, sources: Sources, place: Path) -> TestLists:
    """Have CMake read the lists nearest to a test; ``place`` is a folder for what that makes."""
    problems: list[str] = []
    below = test.relative_to(sources.root) if test.is_relative_to(sources.root) else test.name
    later = bool(OTHER_ARCHITECTURE.search(str(below)))
    for folder in (test.parent, sources.root / TESTS, sources.root):
        text = _text(folder)
        if not any(name in text for name in _RECORDED):
            continue
        shutil.rmtree(place, ignore_errors=True)
        work = library_view(sources, place)
        calls, error = _run_cmake(folder, text, sources, place, later)
        problems += [error] if error else []
        problems += _copy_scripts(calls, work)
        cases = tuple(_cases(calls, place / "tree", sources.repository))
        if cases or error:
            return TestLists(cases, place / "tree" / "build", tuple(problems), later)
    return TestLists(problems=tuple(problems), later=later)


def _text(folder: Path) -> str:
    lists = folder / "CMakeLists.txt"
    if not lists.is_file():
        return ""
    return re.sub(r"(?m)^\s*#.*$", "", text_of(lists))


def _run_cmake(
    folder: Path, text: str, sources: Sources, place: Path, later: bool
) -> tuple[list[list[str]], str]:
    cmake = shutil.which("cmake")
    if cmake is None:
        raise SourcesError(
            f"{folder / 'CMakeLists.txt'}: only CMake can read it, and it is not installed. Next:"
            " apt-get install cmake, or pip install cmake"
        )
    tree, record = place / "tree", place / "calls.jsonl"
    inside = folder.is_relative_to(sources.repository)
    source = tree / folder.relative_to(sources.repository) if inside else folder
    binary = tree / "build"
    variables = {
        "ASCEND_COMPUTE_UNIT": "ascend950" if later else "ascend910b",
        "CMAKE_BINARY_DIR": binary,
        "CMAKE_CURRENT_BINARY_DIR": binary / TESTS,
        "CMAKE_CURRENT_SOURCE_DIR": source,
        "CMAKE_SOURCE_DIR": tree,
        "KERNEL_STAGING_DIR": binary / "tbe/ascendc",
        "OPS_MATH_DIR": tree,
        "OPS_NN_DIR": tree,
        "OP_KERNEL_UT": "ON",
        "PROJECT_BINARY_DIR": binary,
        "PROJECT_SOURCE_DIR": tree,
        "UT_TEST_ALL": "ON",
    }
    called = sorted(set(re.findall(r"(?m)^\s*([A-Za-z_]\w*)\s*\(", text)))
    script = place / "read.cmake"
    write_if_different(
        script,
        render(
            "project/test_lists.cmake.j2",
            source=source,
            record=record,
            variables=variables,
            ignored=_IGNORED,
            recorded=_RECORDED,
            called=called,
        ),
    )
    done = subprocess.run(
        [cmake, "-P", str(script)],
        cwd=binary / TESTS,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    lines = record.read_text().splitlines() if record.is_file() else []
    error = " ".join(done.stderr.split()) if done.returncode else ""
    return [json.loads(line) for line in lines], error


def _by_keyword(words: Sequence[str]) -> dict[str, list[list[str]]]:
    """Arguments of a custom command or target by their keywords."""
    found: dict[str, list[list[str]]] = {}
    rest: list[str] = []
    for word in words:
        if _COMMAND_WORDS.fullmatch(word):
            rest = []
            found.setdefault(word, []).append(rest)
        else:
            rest.append(word)
    return found


def _copy_scripts(calls: Sequence[Sequence[str]], work: Path) -> list[str]:
    """Run the custom commands that copy; what they say when they fail."""
    problems = []
    for call in calls:
        if call[0] not in ("add_custom_command", "add_custom_target"):
            continue
        parts = _by_keyword(call[1:])
        folder = next((words[0] for words in parts.get("WORKING_DIRECTORY", []) if words), work)
        for words in parts.get("COMMAND", []):
            name = Path(words[0]).name if words else ""
            if name not in _COPIES and not (name == "cmake" and words[1:2] == ["-E"]):
                continue
            done = subprocess.run(
                words, cwd=folder, capture_output=True, text=True, errors="replace", check=False
            )
            if done.returncode:
                problems.append(" ".join(done.stderr.split()) or f"{shlex.join(words)} failed")
    return problems


def _options(text: str) -> list[str]:
    """A word of options as a compiler gets it: split at blanks and semicolons."""
    try:
        return [word for word in shlex.split(text.replace(";", " ")) if word]
    except ValueError:
        return text.replace(";", " ").split()


def _cases(calls: Sequence[Sequence[str]], tree: Path, repository: Path) -> Iterator[UnitTestCase]:
    """The cases that the calls name, with paths in the library itself."""

    def real(word: str) -> str:
        return word if str(tree / "build") in word else word.replace(str(tree), str(repository))

    plain = []
    for name, *words in calls:
        if name == "AddOpTestCase" and words:
            # The operator's name may be left out.
            unnamed = re.match(r"ascend", words[0], re.IGNORECASE)
            op, socs, options = ["", *words, "", ""][:3] if unnamed else [*words, "", ""][:3]
            yield UnitTestCase(op, socs, tuple(map(real, _options(options))))
        elif name == "AddOpsTestCase":
            parts: dict[str, list[str]] = {}
            rest: list[str] = []
            for word in words:
                if word in (
                    "OP_NAME",
                    "OTHER_COMPILE_OPTIONS",
                    "SOC_VERSION",
                    "TILING_SRC_FILES",
                    "UT_SRC_FILES",
                ):
                    rest = parts.setdefault(word, [])
                else:
                    rest.append(word)
            listed = [
                Path(real(item))
                for word in parts.get("UT_SRC_FILES", [])
                for item in word.split(";")
                if item
            ]
            yield UnitTestCase(
                "".join(parts.get("OP_NAME", [])),
                ";".join(parts.get("SOC_VERSION", [])),
                tuple(map(real, _options(" ".join(parts.get("OTHER_COMPILE_OPTIONS", []))))),
                tuple(path.resolve() for path in listed),
            )
        elif name == "target_compile_options":
            plain += [real(word) for word in words[1:]]
    kept, soc = [], ""
    for index, word in enumerate(plain):
        version = re.match(r'-DUT_SOC_VERSION="?(\w+)', word)
        soc = version[1] if version else soc
        if word.startswith("-D") and not version:
            kept.append(word)
        elif plain[index - 1] == "-include" and index:
            kept += ["-include", word]
    if kept:
        yield UnitTestCase("", soc, tuple(kept))
