# SPDX-License-Identifier: Apache-2.0
"""Jinja2 environment and the list of generated files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jinja2

from aclgrad.codegen import template_cache
from aclgrad.common import files
from aclgrad.ops import need_all
from aclgrad.spec import naming
from aclgrad.spec.dtypes import DType
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import FAMILIES, Family, family

_TEMPLATES = Path(__file__).parent / "templates"

_COLUMNS = 100

ACLNN_NAMES = {
    0: "ACLNN_SUCCESS",
    161001: "ACLNN_ERR_PARAM_NULLPTR",
    161002: "ACLNN_ERR_PARAM_INVALID",
    561000: "ACLNN_ERR_INNER",
    561003: "ACLNN_ERR_INNER_FIND_KERNEL_ERROR",
    561101: "ACLNN_ERR_INNER_CREATE_EXECUTOR",
    561103: "ACLNN_ERR_INNER_NULLPTR",
}
"""The codes that generated sources return, as opdev/op_errno.h spells them."""


def environment(folder: Path) -> jinja2.Environment:
    """Templates of sources in a folder: nothing is escaped, an unknown name is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        bytecode_cache=template_cache.kept(),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )


@cache
def _environment() -> jinja2.Environment:
    env = environment(_TEMPLATES)
    env.filters["camel"] = naming.camel
    env.filters["code"] = ACLNN_NAMES.__getitem__
    env.globals["families"] = FAMILIES
    return env


def render(template: str, **context: object) -> str:
    """Return the text of one template, C++ folded to the project's line length."""
    text = _environment().get_template(template).render(**context)
    if not template.endswith(".py.j2"):
        text = re.sub(r"\n{3,}", "\n\n", text)
    if template.endswith((".h.j2", ".cpp.j2")):
        text = "".join(_fold(line) for line in text.splitlines(keepends=True))
    return text


def _fold(line: str) -> str:
    """Break a long line after a comma outside string literals, or a comment between words."""
    if line.rstrip().endswith("\\"):
        return line  # of a macro
    indent = len(line) - len(line.lstrip())
    comment = line.lstrip().startswith("//")
    lead = " " * indent + "// " if comment else " " * max(indent, min(indent + 4, 8))
    done = ""
    while len(line.rstrip("\n")) > _COLUMNS:
        quoted = False
        cut = 0
        for at, char in enumerate(line[:_COLUMNS]):
            quoted ^= char == '"' and line[at - 1] != "\\"
            if at > indent + 3 and (
                char == " " if comment else line[at - 1 : at + 1] == ", " and not quoted
            ):
                cut = at
        if not cut:
            break
        done += line[:cut].rstrip() + "\n"
        line = lead + line[cut:].lstrip()
    return done + line


@dataclass(frozen=True)
class Variant:
    """One kernel build: an architecture and a dtype for every input and output."""

    family: Family
    dtypes: tuple[DType, ...]
    defines: tuple[str, ...]  # what the operator compiler would pass

    @property
    def stem(self) -> str:
        """Dtypes as file names have them."""
        return "_".join(dtype.name for dtype in self.dtypes)


def kernel_variants(spec: OpSpec) -> Iterator[Variant]:
    """Kernel builds of one operator."""
    names = [item.name for item in (*spec.inputs, *spec.outputs)]
    for soc, combinations in spec.kernels.items():
        for dtypes in combinations:
            defines: list[str] = []
            for name, dtype in zip(names, dtypes, strict=True):
                macro = naming.dtype_macro(name)
                defines += [f"{macro}={dtype.device}", f"ORIG_{macro}={dtype.ge}"]
            yield Variant(family(soc), dtypes, tuple(defines))


def variants(spec: OpSpec) -> Iterator[str]:
    """Kernel builds of one operator in the form that cmake/operators.cmake reads."""
    for item in kernel_variants(spec):
        arch = item.family
        fields = (arch.name, str(arch.npu_arch), str(arch.cce_aicore), item.stem)
        yield "|".join((*fields, ",".join(item.defines)))


def public_headers(spec: OpSpec) -> dict[str, str]:
    """Headers for callers, by path under aclnnop/. Older toolkits look in level2/."""
    text = render("aclnn.h.j2", spec=spec, guard=naming.include_guard(spec.header))
    name = f"aclnn_{spec.header}.h"
    return {name: text, f"level2/{name}": text}


def sources(spec: OpSpec) -> dict[str, str]:
    """Sources of libcust_opapi.so, by path under op_api/."""
    return {
        f"aclnn_{spec.header}.cpp": render("aclnn.cpp.j2", spec=spec),
        f"{spec.op}.h": render("l0.h.j2", spec=spec),
        f"{spec.op}.cpp": render("l0.cpp.j2", spec=spec),
    }


def generate(out: Path, include_dir: Path, specs: Iterable[OpSpec] | None = None) -> list[Path]:
    """Write every file that differs from what is there; return the paths written."""
    chosen = tuple(need_all() if specs is None else specs)
    build_list = [(spec, list(variants(spec))) for spec in chosen]
    files = {out / "operators.cmake": render("operators.cmake.j2", operators=build_list)}
    for folder in (include_dir, include_dir / "level2"):
        files[folder / "aclnn_util.h"] = render("aclnn_util.h.j2")
    for spec in chosen:
        files |= {include_dir / path: text for path, text in public_headers(spec).items()}
        files |= {out / "op_api" / path: text for path, text in sources(spec).items()}
    return [path for path, text in files.items() if write_if_different(path, text)]


def write_if_different(path: Path, text: str) -> bool:
    """Keep the time stamp of a file whose text is already right, so that nothing is rebuilt."""
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    files.make_folder(path.parent, "folder")
    files.write(path, text, "file")
    return True
