# SPDX-License-Identifier: Apache-2.0
"""Documents derived from the specs: API pages, the support table, example programs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from aclgrad.codegen import examples
from aclgrad.codegen.render import ACLNN_NAMES, render, write_if_different
from aclgrad.common import page_sections
from aclgrad.golden.limits import LIMITS
from aclgrad.ops import need_all
from aclgrad.spec.arguments import Tensor
from aclgrad.spec.dtypes import DType
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import FAMILIES, Family

_WIDTH = 120


def api_page(spec: OpSpec, root: Path) -> str:
    """Reference page of one operator."""
    made = examples.example(spec)
    notes = root / "docs" / "ops" / f"{spec.op}.md"
    return render(
        "api.md.j2",
        spec=spec,
        example=made,
        call=examples.python_call(spec, made.attrs),
        codes=_codes(spec),
        limits={d.label: LIMITS[d.name] for d in spec.kernel_dtypes},
        design_notes=f"../ops/{spec.op}.md" if notes.is_file() else "",
        taken=lambda arg: _taken(spec, arg),
        built=lambda family: labels(_built(spec, family)),
        labels=labels,
        casts=_taken(spec, spec.output_args[0]) != "table below",
        power=lambda value: f"2^{math.log2(value):g}",
        nested=examples.nested,
        wrap=_wrap,
    )


def _codes(spec: OpSpec) -> list[tuple[int, str, str]]:
    rows = [(check.code, check.doc(spec)) for check in spec.checks]
    rows += spec.late_codes()
    return [(code, ACLNN_NAMES[code], text) for code, text in [*rows, (0, "otherwise")]]


def _taken(spec: OpSpec, arg: Tensor) -> str:
    if arg.dtypes:
        return labels(arg.dtypes)
    if arg.unused:
        return "any"
    checked = any(
        arg.name in (getattr(check, "arg", ""), getattr(check, "other", ""))
        and "dtype" in check.kind
        for check in spec.checks
    )
    return "table below" if checked else "any that the result casts to"


def _built(spec: OpSpec, family: Family) -> list[DType]:
    return list(dict.fromkeys(variant[0] for variant in spec.kernels_on(family)))


def labels(dtypes: Iterable[DType]) -> str:
    """Names in the spelling of the aclnn documents."""
    return ", ".join(dtype.label for dtype in dtypes)


def _wrap(text: str, lead: str = "", hang: str = "", width: int = _WIDTH) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=lead,
        subsequent_indent=hang,
        break_long_words=False,
        break_on_hyphens=False,
    )


def support_table(specs: Sequence[OpSpec]) -> str:
    """Rows for docs/operators.md: what a kernel is built for, nothing else."""
    shown = [item for item in FAMILIES if any(spec.kernels_on(item) for spec in specs)]
    heads = [f"{item.product} ({item.name.removeprefix('ascend').upper()})" for item in shown]
    lines = [
        "| operator | Python | " + " | ".join(heads) + " | checked |",
        "|---" * (len(shown) + 3) + "|",
    ]
    for spec in specs:
        cells = [" ".join(d.alias for d in _built(spec, item)) or "-" for item in shown]
        lines.append(
            f"| [`{spec.api}`](api/{spec.op}.md) | `{spec.function}` | "
            + " | ".join(cells)
            + " | simulator: case grid against float64 golden |"
        )
    return "\n".join(lines) + "\n"


def program(spec: OpSpec) -> str:
    """C++ example of one operator."""
    made = examples.example(spec)
    first = examples.packed(
        f"  CHECK({spec.api}GetWorkspaceSize(",
        [*examples.cpp_words(spec, made.attrs), "&workspaceSize", "&executor"],
        "));",
    )
    second = examples.packed(
        f"  CHECK({spec.api}(",
        ["workspace.get()", "workspaceSize", "executor", "stream"],
        "));",
    )
    return render(
        "example.cpp.j2",
        spec=spec,
        example=made,
        first=first,
        second=second,
        braces=examples.braces,
        cpp_types=examples.CPP_TYPES,
        wrap=_wrap,
    )


def documents(root: Path, specs: Iterable[OpSpec] | None = None) -> dict[Path, str]:
    """Every generated document of a checkout, by path."""
    chosen = tuple(need_all() if specs is None else specs)
    page = root / "docs" / "operators.md"
    files = {page: page_sections.filled(page, "support table", support_table(chosen))}
    listed = {
        root / "mkdocs.yml": "".join(
            f"          - {spec.api}: api/{spec.op}.md\n" for spec in chosen
        ),
        **dict.fromkeys(
            (root / "docs" / "index.md", root / "docs" / "index.zh.md"),
            ",\n".join(f"[{spec.api}](api/{spec.op}.md)" for spec in chosen),
        ),
    }
    for path, lines in listed.items():
        if path.is_file():
            files[path] = page_sections.filled(path, "operators", lines)
    for spec in chosen:
        files[root / "docs" / "api" / f"{spec.op}.md"] = api_page(spec, root)
        files[root / "examples" / f"aclnn_{spec.header}.cpp"] = program(spec)
    return files


def stale(root: Path, files: Iterable[Path]) -> list[Path]:
    """Generated files of operators that are no more."""
    there = {*(root / "docs" / "api").glob("*.md"), *(root / "examples").glob("aclnn_*.cpp")}
    return sorted(there - set(files))


def write(root: Path) -> list[Path]:
    """Bring the documents of a checkout up to date; return the paths that changed."""
    files = documents(root)
    changed = [path for path, text in files.items() if write_if_different(path, text)]
    for path in stale(root, files):
        path.unlink()
        changed.append(path)
    return changed
