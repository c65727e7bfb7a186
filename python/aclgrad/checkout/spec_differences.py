# SPDX-License-Identifier: Apache-2.0
"""Whether what CANN would read is what is tested: the definitions that the built host library
registers, held against the specs of this package's operators.
"""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aclgrad.common.sums import sum_of
from aclgrad.errors import ToolkitError
from aclgrad.runtime.toolkit import sim_root
from aclgrad.spec import definition
from aclgrad.spec.definition import Definition
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import FAMILIES, Family

_DESCRIBE = """
import ctypes, sys
register = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[2], mode=ctypes.RTLD_LOCAL)
register.aclsimDescribeOps.restype = ctypes.c_char_p
found = [register.aclsimDescribeOps(soc.encode()).decode() for soc in sys.argv[3:]]
print(*found, sep="\\n")
"""


def check(specs: Sequence[OpSpec], toolkit: Path | None = None) -> None:
    """Raise `ToolkitError` that says where definition and spec differ."""
    found = [text for spec in specs for text in differences(spec, described(toolkit))]
    if found:
        lines = "\n  ".join(found)
        raise ToolkitError(
            f"what CANN would read is not what is tested:\n  {lines}\nNext: fix one of the two"
            " files, then aclgrad build"
        )


_known: dict[tuple[Path, str], dict[str, dict[str, Definition]]] = {}


def described(toolkit: Path | None = None) -> dict[str, dict[str, Definition]]:
    """By SoC family, what is registered by operator type."""
    root = toolkit or sim_root()
    library = (
        root / "opp/vendors/aclgrad/op_impl/ai_core/tbe/op_tiling/lib/linux" / platform.machine()
    ) / "libcust_opmaster_rt2.0.so"
    if not library.is_file():
        raise ToolkitError(f"the operators are not built: no {library}. Next: aclgrad build")
    key = (library, sum_of(str(library))[0])
    if key not in _known:
        names = [item.name for item in FAMILIES]
        command = [sys.executable, "-I", "-c", _DESCRIBE, root / "lib64/libregister.so", library]
        done = subprocess.run(
            [*map(str, command), *names], capture_output=True, text=True, check=False
        )
        if done.returncode:
            reason = (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
            raise ToolkitError(f"op_host does not load: {reason}. Next: nm -uC {library}")
        answers = [definition.registered(line) for line in done.stdout.splitlines()]
        _known[key] = {
            name: {op.type: op for op in answer.ops}
            for name, answer in zip(names, answers, strict=True)
        }
    return _known[key]


def differences(spec: OpSpec, described: Mapping[str, Mapping[str, Definition]]) -> Iterator[str]:
    """What the definition and the spec of an operator say differently."""
    where = f"op_host/{spec.op}/{spec.op}_def.cpp"
    head = f"{spec.op_type}: {where} and python/aclgrad/ops/{spec.op}.py differ"
    any_op = next(iter(described.values())).get(spec.op_type)
    if any_op is None or not any_op.defined:
        yield f"{spec.op_type}: op_host registers no definition of it, want OP_ADD in {where}"
        return
    for there, part, macro in (
        (any_op.tiling, "tiling", "IMPL_OP_OPTILING"),
        (any_op.infer_shape, "inferShape", "IMPL_OP_INFERSHAPE"),
    ):
        if not there:
            yield f"{spec.op_type}: op_host/{spec.op} registers no {part}, want {macro}"
    own = {item.name for item in FAMILIES if spec.kernels_on(item)}
    theirs = {name.lower() for name in any_op.socs}
    if own != theirs:
        yield f"{head} in the SoCs: {_list(theirs)} and {_list(own)}"
    for family in FAMILIES:
        op = described[family.name].get(spec.op_type)
        if family.name in own & theirs and op is not None and op.here:
            yield from _on(spec, family, op, head)


def _on(spec: OpSpec, family: Family, op: Definition, head: str) -> Iterator[str]:
    on = f"on {family.name}"
    want = spec.definition(family)
    for what, items, wanted_items in (
        ("inputs", op.inputs, want.inputs),
        ("outputs", op.outputs, want.outputs),
    ):
        names = [item.name for item in items]
        wanted = [item.name for item in wanted_items]
        if names != wanted:
            yield f"{head} {on} in the {what}: {_list(names)} and {_list(wanted)}"
            return
        kinds = [item.kind == "optional" for item in items]
        if kinds != [item.kind == "optional" for item in wanted_items]:
            yield f"{head} {on} in which {what} are optional"
    rows = op.rows()
    variants = want.rows()
    if sorted(rows) != sorted(variants):
        yield f"{head} {on} in the dtypes: {_rows(rows)} and {_rows(variants)}"
    attrs, own = (
        [(attr.name, attr.kind, _plain(attr.default)) for attr in of.attrs] for of in (op, want)
    )
    if attrs != own:
        yield f"{head} {on} in the attributes: {_attrs(attrs)} and {_attrs(own)}"


def _plain(value: object) -> object:
    return float(value) if isinstance(value, (int, float)) else value


def _list(names: Any) -> str:
    ordered = sorted(names) if isinstance(names, set) else names
    return ", ".join(ordered) or "none"


def _rows(rows: Sequence[Sequence[str]]) -> str:
    return "; ".join(",".join(name.removeprefix("DT_") for name in row) for row in rows) or "none"


def _attrs(attrs: Sequence[tuple[str, str, object]]) -> str:
    return ", ".join(f"{name}: {kind} = {default}" for name, kind, default in attrs) or "none"
