# SPDX-License-Identifier: Apache-2.0
"""``aclgrad ut``: unit tests of kernels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from aclgrad.cli.common import OUT, print_json
from aclgrad.cli.options import AutoSync, Json, KeepGoing
from aclgrad.common.display.visible import visible
from aclgrad.reading.auto_sync import Assumed

if TYPE_CHECKING:
    from aclgrad.unit_tests.gtest import TestResult


def ut_command(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="An operator's folder, its tests/ut/op_kernel, or a test_*.cpp."
        ),
    ],
    filter_: Annotated[
        str | None, typer.Option("--filter", help="Tests to run, as --gtest_filter takes them.")
    ] = None,
    define: Annotated[
        list[str] | None,
        typer.Option("--define", "-D", metavar="NAME=VALUE", help="Macro for the compiler."),
    ] = None,
    soc: Annotated[
        str | None, typer.Option(help="SoC in place of the one that the test's CMake list names.")
    ] = None,
    python: Annotated[
        Path | None,
        typer.Option(help="Python that runs the test's own scripts. [default: this one]"),
    ] = None,
    autosync: AutoSync = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Parallel compilations.")] = 0,
    keep_going: KeepGoing = None,
    as_json: Json = False,
) -> None:
    """Build and run gtest unit tests written for CANN's CPU twin (tikicpulib), unchanged, with all
    of the simulator's checks; results are compared with the tests' golden files whatever the tests
    say themselves.
    """
    ok = _run(
        path,
        OUT,
        soc=soc,
        definitions=define or [],
        pattern=filter_,
        python=str(python) if python else None,
        jobs=jobs,
        keep_going=keep_going,
        as_json=as_json,
        autosync=autosync.value if autosync else None,
    )
    if not ok:
        raise typer.Exit(1)


def _run(
    word: str,
    console: Console,
    *,
    soc: str | None,
    definitions: Sequence[str],
    pattern: str | None,
    python: str | None,
    jobs: int,
    keep_going: bool | None,
    as_json: bool,
    autosync: str | None = None,
) -> bool:
    """Build and run the unit tests of a path; returns whether all are fine."""
    from aclgrad.reading.sources import SourcesError
    from aclgrad.unit_tests import gtest
    from aclgrad.unit_tests.test_files import find_tests

    documents = []
    ok = True
    ran = 0
    for test in find_tests(word):
        document: dict[str, object] = {"file": str(test.path), "built": True, "tests": []}
        documents.append(document)

        def tell(assumed: Assumed, document: dict[str, object] = document) -> None:
            document["autosync"] = assumed.as_json()
            if not as_json:
                print(visible(assumed.line), file=sys.stderr)

        try:
            results = gtest.run_file(
                test,
                soc=soc,
                definitions=definitions,
                pattern=pattern,
                python=python,
                jobs=jobs,
                autosync=autosync,
                tell=tell,
                keep_going=keep_going,
            )
        except SourcesError as error:
            if not as_json:
                raise
            document |= {"built": False, "error": str(error)}
            ok = False
            continue
        if pattern and not results:
            documents.remove(document)
            continue
        ran += len(results)
        document["tests"] = [result.as_json() for result in results]
        ok = ok and all(result.ok for result in results)
        if not as_json:
            for result in results:
                _show_test(console, result)
    if ok and not ran and pattern:
        missing = f"{word}: no test that matches {pattern!r}. Next: aclgrad ut {word}"
        if not as_json:
            raise SourcesError(missing)
        documents.append({"file": word, "built": True, "tests": [], "error": missing})
        ok = False
    if as_json:
        print_json({"files": documents, "ok": ok})
    return ok


_MATCHED = {
    "golden": "matches its golden",
    "own golden": "matches its golden, compared here",
    "in the test": "compared in C++",
    "none": "nothing compared",
    "mismatch": "MISMATCH",
    "broken": "NOT JUDGED",
}


def _headline(result: TestResult) -> str:
    """The verdict of a test in a few words; googletest's own is only half of it."""
    matched = _MATCHED[result.verdict.kind]
    count = len(result.errors)
    found = f"{count} finding{'s' if count > 1 else ''}" if count else ""
    if result.ok or result.status != "passed":
        return ", ".join(filter(None, (result.status, matched, found)))
    if count and result.verdict.kind == "mismatch":
        return f"{found}, and with that {matched}; googletest saw nothing wrong"
    return f"{' and '.join(filter(None, (found, matched)))}; googletest saw nothing wrong"


def _show_test(console: Console, result: TestResult) -> None:
    verdict = result.verdict
    console.print(
        f"{'ok    ' if result.ok else 'FAILED'} {result.name}: {_headline(result)}", markup=False
    )
    # The cause comes before what follows from it.
    for finding in result.errors:
        console.print(finding.text or finding.detail, markup=False)
    if len(verdict.comparisons) > 1:
        for one in verdict.comparisons:
            detail = f" ({one.detail})" if one.detail not in ("", one.script) else ""
            name = f"{one.script}: " if one.script else ""
            console.print(f"       {name}{_MATCHED[one.kind]}{detail}", markup=False)
    elif verdict.detail and verdict.kind != "golden":
        after = "after the above: " if result.errors and verdict.kind == "mismatch" else ""
        console.print(f"       {after}{verdict.detail}", markup=False)
    if not result.ok:
        console.print(f"       files and output: {result.folder}", markup=False)
