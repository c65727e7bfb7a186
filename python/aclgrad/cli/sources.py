# SPDX-License-Identifier: Apache-2.0
"""``aclgrad build``, ``run`` and ``ut`` with a path in place of an operator's name."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aclgrad.common.files import check_output
from aclgrad.project.auto_sync import Assumed
from aclgrad.project.request import KernelOptions, is_path, soc_name
from aclgrad.project.sources import SourcesError

if TYPE_CHECKING:
    from rich.console import Console

    from aclgrad import findings
    from aclgrad.project.golden_file import GoldenFile
    from aclgrad.project.layout import Kind
    from aclgrad.project.unit_tests.gtest import TestResult
    from aclgrad.runtime.device import Device


def find(
    words: Sequence[str],
    layout: Kind | None,
    op: str | None,
    entry: str | None,
    include: Sequence[Path] | None,
    define: Sequence[str] | None,
    *,
    quiet: bool = False,
) -> None:
    """Find out what paths hold, say so, and keep what the command line says of them."""
    from aclgrad.project.layout import Choice, choose

    paths = [word for word in words if is_path(word)]
    options = {"--layout": layout, "--op": op, "--entry": entry, "-I": include, "-D": define}
    if not paths:
        given = next((name for name, value in options.items() if value), None)
        if given:
            raise SourcesError(f"{given}: goes with a path. Next: leave it out, or give a path")
        return
    for folder in include or ():
        if not folder.is_dir():
            raise SourcesError(f"-I {folder}: no such folder. Next: -I with one that exists")
    for word in define or ():
        if not re.match(r"[A-Za-z_]\w*(?:=|$)", word):
            raise SourcesError(f"-D {word}: want NAME or NAME=VALUE. Next: e.g. -D TILE=64")
    folders = tuple(folder.resolve() for folder in include or ())
    macros = tuple(f"-D{word}" for word in define or ())
    for word in paths:
        found = choose(word, Choice(layout, op, entry or "", folders, macros))
        if not quiet:
            print(found.line, file=sys.stderr)


def refuse_names(word: str, verb: str) -> None:
    """Raise if a word beside paths names no sources."""
    if not is_path(word):
        raise SourcesError(
            f"{word}: not a path to operator sources; paths and names of own operators do not mix."
            f" Next: one aclgrad {verb} each, or ./{word} for a folder"
        )


def build(
    words: Sequence[str],
    console: Console,
    *,
    soc: str | None,
    dtypes: str | None,
    debug: bool,
    jobs: int,
    commands: Path | None = None,
) -> None:
    """Build operators from their sources and say where their package is."""
    from aclgrad.project import building, single_file
    from aclgrad.spec.dtypes import parse
    from aclgrad.spec.soc import family_of

    names = [parse(word).name for word in dtypes.split(",")] if dtypes else []
    if commands is not None and len(words) > 1:
        raise SourcesError(
            "--compile-commands: one file is for one project. Next: one aclgrad build each"
        )
    for word in words:
        refuse_names(word, "build")
        optimise = "-O0" if debug else "-O2"
        alone = single_file.find(word)
        if alone is not None:
            for made in single_file.build_all(alone, family_of(soc_name(soc)), optimise=optimise):
                console.print(f"built {made}", markup=False)
            continue
        built = building.build(
            word,
            soc=soc_name(soc),
            dtypes=names,
            jobs=jobs,
            optimise=optimise,
            commands=commands,
        )
        console.print(
            f"{', '.join(built.ops)}: {len(built.kernels)} kernels in {built.package}", markup=False
        )
        for header in built.headers:
            console.print(f"  {header}", markup=False)
        console.print(
            f"to call it: export ASCEND_CUSTOM_OPP_PATH={shlex.quote(str(built.package))}; or"
            f" aclgrad run {shlex.quote(word)}"
            " --inputs ...",
            markup=False,
        )


def run_program(
    source: Path,
    words: Sequence[str],
    console: Console,
    environment: Mapping[str, str],
    *,
    soc: str | None,
    as_json: bool,
    assumed: Assumed,
) -> int:
    """Build and run an .asc file; returns its status, or 1 when the checks found an error."""
    from aclgrad.project import single_file
    from aclgrad.spec.soc import family_of

    program = single_file.build(source, family_of(soc_name(soc)))
    if not as_json:
        print(assumed.line, file=sys.stderr)  # what the program prints stays its own
    ended = single_file.run_program(
        [str(program), *words], environment=environment, capture=as_json
    )
    status = ended.status if ended.status > 0 else 128 - ended.status if ended.status else 0
    if as_json:
        document = {
            "program": str(program),
            "status": ended.status,
            "output": ended.output,
            "autosync": assumed.as_json(),
            "findings": list(ended.errors),
        }
        print(json.dumps(document))
    elif ended.errors:
        # The program has printed them.
        console.print(f"{source.name}: {len(ended.errors)} errors found", markup=False)
    return status or int(bool(ended.errors))


def run(
    word: str,
    files: Sequence[str],
    attrs: Sequence[str],
    console: Console,
    open_device: Callable[[], Device],
    *,
    soc: str | None,
    dtype: str | None,
    outputs: str | None,
    save: Path | None,
    as_json: bool,
    kernel: KernelOptions,
    assumed: Assumed | None,
    golden: bool = False,
) -> bool:
    """Run an operator that comes as sources on files; returns whether the checks found an error or
    the golden another result.
    """
    from aclgrad.findings import consequence
    from aclgrad.project import running, single_file, words
    from aclgrad.spec import dtypes

    if save is not None:
        check_output(save, "--save")
    kind = dtypes.parse(dtype) if dtype else None
    inputs = [words.load(name, kind) for name in files]
    wanted = re.sub(r",\s+", ",", outputs).split() if outputs else []
    if assumed is not None and not as_json:
        print(assumed.line, file=sys.stderr)
    alone = single_file.find(word)
    report, verdict = None, ""
    if alone is not None:
        if golden:
            raise SourcesError(
                f"--golden: {word} is a kernel alone, which has no golden. Next: leave --golden out"
            )
        result = single_file.run_kernel(
            alone,
            inputs,
            wanted,
            attrs,
            soc=soc_name(soc),
            blocks=1 if kernel.blocks is None else kernel.blocks,
            tiling=kernel.tiling,
            tiling_key=kernel.tiling_key or 0,
            workspace=kernel.workspace,
            open_device=open_device,
        )
    else:
        if kernel.given():
            raise SourcesError(
                f"{kernel.given()[0]}: {word} comes with op_host, whose tiling decides that. Next:"
                " leave it out"
            )
        own = _golden(word, soc) if golden else None
        result = running.run(
            word, inputs, attrs, soc=soc_name(soc), outputs=wanted, open_device=open_device
        )
        if own is not None:
            from aclgrad.project import trial

            every = [*inputs, *([[]] * (len(own.op["inputs"]) - len(inputs)))]
            values = words.parse_attrs(own.op, attrs)
            report, verdict = trial.judge(own, own.op, every, values, result)
    wrong = bool(result.findings) or (report is not None and not report.passed)
    faults = sum(bool(finding.goes_on) for finding in result.findings)
    if save is not None:
        running.save(save, result)
    if as_json:
        found = {
            name: {"shape": list(array.shape), "dtype": array.dtype.name}
            for name, array in result.outputs.items()
        }
        document: dict[str, object] = {
            "op": result.op,
            "outputs": found,
            "save": str(save) if save else None,
            "after_faults": faults,
            "findings": [finding.text for finding in result.findings],
        }
        if assumed is not None:
            document["autosync"] = assumed.as_json()
        if report is not None:
            document["golden"] = {
                "passed": report.passed,
                "max_ulp": report.max_ulp,
                "max_abs": report.max_abs,
            }
        print(json.dumps(document))
        return wrong
    if faults:
        console.print(consequence(faults), markup=False)
    for name, array in result.outputs.items():
        console.print(f"{result.op} {name}: {array.dtype.name} {list(array.shape)}", markup=False)
    if save is not None:
        console.print(f"saved {save}", markup=False)
    for finding in result.findings:
        console.print(finding.text, markup=False)
    if verdict:
        console.print(verdict, markup=False)
    return wrong


def _golden(word: str, soc: str | None) -> GoldenFile:
    """The golden of the operator that a path names; none is an error before anything runs."""
    from aclgrad.project import building, golden_file, running
    from aclgrad.project.layout import locate
    from aclgrad.spec.soc import family_of

    builder = building.Builder(locate(word), family_of(soc_name(soc)))
    described = builder.build_host()
    op = running.pick(building.runnable(described, builder.sources, builder.soc), builder.sources)
    return golden_file.need(op, builder.sources, word)


def check(
    word: str,
    *,
    soc: str | None,
    dtype: str | None,
    autosync: str | None = None,
    keep_going: bool | None = None,
) -> findings.Result:
    """Run an operator that comes as sources on generated inputs; what the checks found."""
    from aclgrad.project import checking
    from aclgrad.spec import dtypes

    name = dtypes.parse(dtype).name if dtype else ""
    checked = checking.check(
        word, soc=soc_name(soc), dtype=name, autosync=autosync, keep_going=keep_going
    )
    return checked.result(word, soc_name(soc))


def unit_tests(
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
    from aclgrad.project.sources import SourcesError
    from aclgrad.project.unit_tests import gtest
    from aclgrad.project.unit_tests.files import find_tests

    documents = []
    ok = True
    for test in find_tests(word):
        document: dict[str, object] = {"file": str(test.path), "built": True, "tests": []}
        documents.append(document)

        def tell(assumed: Assumed, document: dict[str, object] = document) -> None:
            document["autosync"] = assumed.as_json()
            if not as_json:
                print(assumed.line, file=sys.stderr)

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
        document["tests"] = [result.as_json() for result in results]
        ok = ok and all(result.ok for result in results)
        if not as_json:
            for result in results:
                _show_test(console, result)
    if as_json:
        print(json.dumps({"files": documents, "ok": ok}))
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
