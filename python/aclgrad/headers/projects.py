# SPDX-License-Identifier: Apache-2.0
"""Kernels of operator projects in the front end of CANN's op compiler."""

from __future__ import annotations

import concurrent.futures
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from aclgrad.building.build_tools import find_compiler
from aclgrad.building.operator_build import Builder, runnable
from aclgrad.errors import ToolkitError
from aclgrad.headers import op_compiler, standins, trees
from aclgrad.headers.check import HeadersChecked, Skipped, folder_of
from aclgrad.headers.op_compiler import Source, known
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import SourcesError, numpy_name
from aclgrad.spec.definition import Param
from aclgrad.spec.naming import snake_case
from aclgrad.spec.soc import FAMILIES

_REGISTER = "libregister.so"


def sources_of(word: str | Path, jobs: int = 0) -> Iterator[Source]:
    """Every dtype combination on every SoC that the definition names. What op_host registers is
    asked of its build for the simulator.
    """
    sources = locate(word)
    refused: list[SourcesError] = []
    found = False
    for family in filter(known, FAMILIES):
        builder = Builder(sources, family, jobs=jobs)
        described = builder.build_host()
        try:
            ops = runnable(described, sources, family)
        except SourcesError as error:
            refused.append(error)
            continue
        for op in ops:
            found = True
            file = builder.kernel_source(op)
            tiling = builder.tiling_header(op, described)
            include = (*builder.kernel_includes(file), sources.root / "op_host")
            interface = op.config.get("opInterface.value")
            for row in builder.combinations(op):
                yield Source(
                    sources.name,
                    op.type,
                    interface or snake_case(op.type),
                    family,
                    _names(op.inputs),
                    _names(op.outputs),
                    tuple(map(numpy_name, row)),
                    file,
                    include,
                    tuple(word for word in builder.defines(op, row) if "DTYPE_" in word),
                    (tiling,) if tiling else (),
                )
    if not found and refused:
        raise refused[0]


def _names(params: Sequence[Param]) -> tuple[str, ...]:
    return tuple(param.name for param in params)


def check(
    folders: Sequence[Path],
    words: Sequence[str],
    *,
    jobs: int = 0,
    progress: Callable[[int, int, str], None] = lambda done, total, text: None,
) -> HeadersChecked:
    """Run the front end on every kernel of operator projects. Raises `ToolkitError` when the
    folders have no scripts of the op compiler.
    """
    start = time.monotonic()
    sets = trees.find(folders)
    compiler = find_compiler()
    if compiler is None:
        raise ToolkitError("headers: no C++ compiler found. Next: apt-get install g++")
    asked = [source for word in words for source in sources_of(word, jobs)]
    kernels = []
    for headers in sets:
        folder = folder_of(headers, compiler, None)
        standins.prepare_common(headers, folder / "common")
        kernels += op_compiler.plan(headers, asked, compiler, folder)
    if not kernels:
        raise ToolkitError(
            f"headers: no scripts of the op compiler in {', '.join(map(str, folders))}."
            " Next: give a checkout of asc-devkit, or an installation of CANN"
        )
    fronts = []
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        for front in pool.map(op_compiler.Kernel.run, kernels):
            fronts.append(front)
            progress(len(fronts), len(kernels), f"{front.op} {front.soc}")
    # A tiling that is declared field by field is asked of op_host, by CANN's own library.
    asking = [front for front in fronts if any(_REGISTER in error for error in front.errors)]
    skipped = [
        Skipped(
            f"{front.op} {front.soc} {front.dtypes}",
            f"its tiling is declared by BEGIN_TILING_DATA_DEF, which the scripts ask {_REGISTER}"
            " for. Next: source a CANN installation's set_env.sh, or register a plain struct",
        )
        for front in asking
    ]
    judged = tuple(front for front in fronts if front not in asking)
    seconds = time.monotonic() - start
    return HeadersChecked(tuple(sets), (), (), tuple(skipped), (), seconds, judged)
