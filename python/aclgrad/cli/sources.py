# SPDX-License-Identifier: Apache-2.0
"""Paths on a command line: what they hold, their build, and programs."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aclgrad.cli.common import print_json
from aclgrad.common.display.visible import visible
from aclgrad.reading.auto_sync import Assumed
from aclgrad.reading.command_words import is_path, soc_name
from aclgrad.reading.sources import SourcesError

if TYPE_CHECKING:
    from rich.console import Console

    from aclgrad.cli.options import OfPath


def choose(words: Sequence[str], of_path: OfPath, *, quiet: bool = False) -> None:
    """Find out what paths hold, say so, and keep what the command line says of them."""
    from aclgrad.reading.layout import Choice
    from aclgrad.reading.layout import choose as keep

    paths = [word for word in words if is_path(word)]
    include, define = of_path.include or (), of_path.define or ()
    if not paths:
        options = ("--layout", "--op", "--entry", "-I", "-D", "--debug")
        given = [name for name, value in zip(options, vars(of_path).values(), strict=True) if value]
        if given:
            raise SourcesError(f"{given[0]}: goes with a path. Next: leave it out, or give a path")
        return
    for folder in include:
        if not folder.is_dir():
            raise SourcesError(f"-I {folder}: no such folder. Next: -I with one that exists")
    for word in define:
        if not re.match(r"[A-Za-z_]\w*(?:=|$)", word):
            raise SourcesError(f"-D {word}: want NAME or NAME=VALUE. Next: e.g. -D TILE=64")
    chosen = Choice(
        of_path.layout,
        of_path.only,
        of_path.entry or "",
        tuple(folder.resolve() for folder in include),
        tuple(f"-D{word}" for word in define),
        of_path.debug,
    )
    for word in paths:
        found = keep(word, chosen)
        if not quiet:
            print(visible(found.line), file=sys.stderr)


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
    jobs: int,
    commands: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Build operators from their sources and say where their package is."""
    from aclgrad.building import operator_build
    from aclgrad.running import kernel_file
    from aclgrad.spec.dtypes import parse
    from aclgrad.spec.soc import family_of

    names = [parse(word).name for word in dtypes.split(",")] if dtypes else []
    if commands is not None and len(words) > 1:
        raise SourcesError(
            "--compile-commands: one file is for one project. Next: one aclgrad build each"
        )
    for word in words:
        refuse_names(word, "build")
        alone = kernel_file.find(word)
        if alone is not None:
            for made in kernel_file.build_all(alone, family_of(soc_name(soc))):
                console.print(f"built {made}", markup=False)
            continue
        built = operator_build.build(
            word,
            soc=soc_name(soc),
            dtypes=names,
            jobs=jobs,
            commands=commands,
            progress=progress,
        )
        console.print(
            f"{', '.join(built.ops)}: {len(built.kernels)} kernels in {built.package}", markup=False
        )
        for source, why in built.left_out.items():
            console.print(f"left out {source}, which does not build: {why}", markup=False)
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
    from aclgrad.running import kernel_file
    from aclgrad.spec.soc import family_of

    program = kernel_file.build(source, family_of(soc_name(soc)))
    if not as_json:
        print(visible(assumed.line), file=sys.stderr)  # what the program prints stays its own
    ended = kernel_file.run_program(
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
            "hints": list(ended.hints),
        }
        print_json(document)
        return status or int(bool(ended.errors))
    for hint in ended.hints_of_values:
        print(visible(hint), file=sys.stderr)
    if ended.errors:
        # The program has printed them.
        console.print(f"{source.name}: {len(ended.errors)} errors found", markup=False)
    return status or int(bool(ended.errors))
