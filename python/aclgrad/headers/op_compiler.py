# SPDX-License-Identifier: Apache-2.0
"""Runs the front end of CANN's op compiler on kernels, up to its calls of the device compiler.

Its scripts lie in checkouts of asc-devkit (9.x) and in installations (8.x and 9.x). A stand-in for
the device compiler, made in a cache folder, preprocesses with the host's compiler and refuses to
compile: what the scripts infer and raise until then is the result.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aclgrad.codegen.render import kernel_variants, write_if_different
from aclgrad.common import temporary
from aclgrad.headers.trees import HeaderSet
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import ARCHITECTURE_WORDS, FAMILIES, Family

CHILD = Path(__file__).with_name("op_compiler_child.py")
PACKAGES = ("asc_op_compile_base.asc_op_compiler", "tbe.tikcpp")
_PLACES = (
    "tools/build",
    "python/site-packages",
    "*-linux/python/site-packages",
    "compiler/python/site-packages",
    "toolkit/python/site-packages",
)
_TIMEOUT = 300.0
_CUBE_WORDS = {2201: "__DAV_C220_CUBE__", 3510: "__DAV_C310_CUBE__"}
_SHORT = {
    "ascend910b": "Ascend910B",
    "ascend910_93": "Ascend910_93",
    "ascend950": "Ascend950",
    "ascend310p": "Ascend310P",
    "ascend910": "Ascend910",
}
_STAND_IN = '''\
#!{python} -IB
"""Preprocesses, and notes everything else that the op compiler asks its tools for."""
import json
import os
import sys

words = sys.argv[1:]
if "-E" in words:
    arch = next((w.rpartition("-")[2] for w in words if w.startswith("--cce-aicore-arch=")), "")
    kept, rest = [], iter(words)
    for word in rest:
        if word in ("-x", "-mllvm"):
            next(rest, None)
        elif word != "-c" and not word.startswith(("--cce", "-cce", "-fcce")):
            kept.append(word)
    own = {words!r} + ({cube!r} if arch == "cube" else {vector!r})
    os.execvp(own[0], own[:1] + ["-w", "-x", "c++"] + own[1:] + kept)
with open({calls!r}, "a") as log:
    log.write(json.dumps([os.path.basename(sys.argv[0]), *words]) + "\\n")
sys.exit(93)
'''


@dataclass(frozen=True)
class Scripts:
    """One generation of the op compiler's scripts, and the headers that go with it."""

    package: str
    path: Path
    headers: HeaderSet

    @property
    def name(self) -> str:
        """Module name, as imports have it."""
        return self.package.partition(".")[0]


@dataclass(frozen=True)
class Front:
    """What the front end makes of one kernel."""

    op: str
    headers: str
    scripts: str
    soc: str
    dtypes: str
    keys: tuple[str, ...]
    types: Mapping[str, str]  # of a tiling key
    structs: tuple[str, ...]
    arguments: tuple[str, ...]
    user_workspace: bool
    reached: bool  # its call of the device compiler
    errors: tuple[str, ...]
    absent: tuple[str, ...]  # modules that were replaced by empty ones

    @property
    def kernel_types(self) -> str:
        """Types, the most frequent first; without one the compiler decides."""
        if not self.types:
            return "left to the compiler"
        by_type: dict[str, list[str]] = {}
        for key, kind in self.types.items():
            by_type.setdefault(kind.removeprefix("KERNEL_TYPE_"), []).append(key)
        ordered = sorted(by_type.items(), key=lambda item: -len(item[1]))
        first, *others = ordered
        told = [f"{', '.join(sorted(keys, key=int))}: {kind}" for kind, keys in others]
        return "; ".join([first[0], *told])

    @property
    def tiling_keys(self) -> str:
        """All of them."""
        return ", ".join(sorted(self.keys, key=int))

    @property
    def result(self) -> str:
        """Verdict in a few words."""
        return self.errors[0] if self.errors else "reaches the compiler"

    def as_json(self) -> dict[str, object]:
        """Everything, for programs."""
        return {
            "op": self.op,
            "headers": self.headers,
            "scripts": self.scripts,
            "soc": self.soc,
            "dtypes": self.dtypes,
            "ok": not self.errors,
            "tiling_keys": [int(key) for key in self.keys],
            "kernel_types": dict(self.types),
            "tiling_structs": list(self.structs),
            "arguments": list(self.arguments),
            "user_workspace": self.user_workspace,
            "reaches_compiler": self.reached,
            "errors": list(self.errors),
            "absent_modules": list(self.absent),
        }


def find(headers: HeaderSet) -> list[Scripts]:
    """Return the scripts that lie in a header set's folders."""
    found = []
    for name, root, _ in headers.sources:
        if not root.is_dir() or (not headers.installed and name != "asc-devkit"):
            continue
        for place in _PLACES:
            for folder in sorted(root.glob(place)):
                for package in PACKAGES:
                    if (folder / package.replace(".", "/") / "compile_op.py").is_file():
                        found.append(Scripts(package, folder, headers))
    return found


@dataclass(frozen=True)
class Source:
    """A kernel of one dtype combination on one SoC, as the op compiler is asked for it."""

    op: str  # stem of its files
    op_type: str
    entry: str
    family: Family
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dtypes: tuple[str, ...]
    file: Path
    include: tuple[Path, ...]
    defines: tuple[str, ...]
    prelude: tuple[Path, ...] = ()  # headers that the op compiler makes and includes first

    @property
    def label(self) -> str:
        """Dtypes as file names have them."""
        return "_".join(self.dtypes)


def sources_of(specs: Sequence[OpSpec], root: Path) -> Iterator[Source]:
    """All kernels of a checkout, on every SoC that runs them."""
    include = (root / "op_kernel", root / "op_host")
    for spec in specs:
        inputs = tuple(item.name for item in spec.inputs)
        outputs = tuple(item.name for item in spec.outputs)
        file = root / "op_kernel" / spec.op / f"{spec.op}.cpp"
        for family in FAMILIES:
            if family.name not in spec.dtypes or family.name not in _SHORT:
                continue
            for variant in kernel_variants(spec):
                if variant.family.npu_arch == family.npu_arch:
                    dtypes = tuple(dtype.name for dtype in variant.dtypes)
                    yield Source(
                        spec.op, spec.op_type, spec.op, family, inputs, outputs, dtypes, file,
                        include, tuple(f"-D{define}" for define in variant.defines),
                    )  # fmt: skip


def known(family: Family) -> bool:
    """Whether the op compiler's scripts know a SoC family by a name of their own."""
    return family.name in _SHORT


@dataclass(frozen=True)
class Kernel:
    """One run of the front end."""

    scripts: Scripts
    source: Source
    compiler: str
    common: Path  # headers that every installation has, see header_standins
    cache: Path

    def run(self) -> Front:
        """Run it in a folder of its own, which does not stay."""
        self.cache.mkdir(parents=True, exist_ok=True)
        with temporary.folder(self.cache) as folder:
            return _front(self, _answer(self, folder))


def plan(headers: HeaderSet, sources: Iterable[Source], compiler: str, cache: Path) -> list[Kernel]:
    """Every kernel for every generation of the scripts."""
    sources = list(sources)
    return [
        Kernel(scripts, source, compiler, cache / "common", cache / "op_compiler")
        for scripts in find(headers)
        for source in sources
    ]


def _answer(kernel: Kernel, folder: Path) -> dict[str, object]:
    tools = folder / "bin"
    tools.mkdir()
    _stand_in(tools, folder / "calls.jsonl", kernel)
    asked, told = folder / "request.json", folder / "answer.json"
    asked.write_text(json.dumps(_request(kernel, folder)), encoding="utf-8")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("ASCEND", "TE_"))
    }
    environment["PATH"] = f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    command = [sys.executable, "-IB", str(CHILD), str(asked), str(told)]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"raised": f"ran for more than {_TIMEOUT:.0f} s"}
    if not told.is_file():
        return {"raised": f"ended with status {done.returncode}: {done.stderr.strip()[-200:]}"}
    answer: dict[str, object] = json.loads(told.read_text("utf-8"))
    return answer


def _stand_in(tools: Path, calls: Path, kernel: Kernel) -> None:
    family = kernel.source.family
    include = [*kernel.scripts.headers.kernel, kernel.common, *kernel.source.include]
    common = [f"-D__NPU_ARCH__={family.npu_arch}", f"-D__CCE_AICORE__={family.cce_aicore}"]
    first, *rest = ARCHITECTURE_WORDS[family.npu_arch]
    made = [word for path in kernel.source.prelude for word in ("-include", str(path))]
    cube = [f"-D{word}=1" for word in (_CUBE_WORDS.get(family.npu_arch), "__DAV_CUBE__") if word]
    text = _STAND_IN.format(
        python=sys.executable,
        words=[kernel.compiler, *common, f"-D{first}=1", *(f"-I{path}" for path in include), *made],
        cube=cube,
        vector=[f"-D{word}=1" for word in dict.fromkeys((*rest, "__DAV_VEC__"))],
        calls=str(calls),
    )
    for name in ("bisheng", "ccec", "ld.lld", "llvm-objdump"):
        write_if_different(tools / name, text)
        (tools / name).chmod(0o755)


def _request(kernel: Kernel, folder: Path) -> dict[str, object]:
    source = kernel.source
    tensors = [
        {
            "name": name,
            "param_name": name,
            "paramType": "required",
            "dtype": dtype,
            "format": "ND",
            "ori_format": "ND",
            "shape": [-2],
            "ori_shape": [-2],
            "range": [],
        }
        for name, dtype in zip((*source.inputs, *source.outputs), source.dtypes, strict=True)
    ]
    short = _SHORT[source.family.name]
    return {
        "package": kernel.scripts.package,
        "path": str(kernel.scripts.path),
        "work": str(folder),
        "source": str(source.file),
        "entry": source.entry,
        "op_type": source.op_type,
        "kernel_name": f"{source.op_type}_{source.label}",
        "inputs": tensors[: len(source.inputs)],
        "outputs": tensors[len(source.inputs) :],
        "attrs": [],
        "param_types": ["required"] * len(tensors),
        "options": [*source.defines, "-x", "cce"],
        "soc": {
            "SHORT_SOC_VERSION": short,
            "SOC_VERSION": short,
            "FULL_SOC_VERSION": short,
            "AICORE_TYPE": "AiCore",
        },
    }


def _front(kernel: Kernel, answer: Mapping[str, Any]) -> Front:
    scripts = kernel.scripts
    found = answer.get("inferred") or {}
    reached = any("-c" in call[1:] for call in answer.get("calls", []))
    errors = []
    if answer.get("lacks"):
        module = str(answer["lacks"])
        first = module.partition(".")[0]
        ours = first in {package.partition(".")[0] for package in PACKAGES}
        step = "give a whole installation" if ours else f"{sys.executable} -m pip install {first}"
        errors.append(
            f"the scripts in {scripts.path} import {module}, which this Python has not."
            f" Next: {step}"
        )
    # It prints errors and goes on. Those of a refused compilation are none.
    for line in str(answer.get("said_of_source" if reached else "said") or "").splitlines():
        error = re.search(r"\[ERROR\]\s+(?:\[\w+\]\s+)?(\S.*)", line)
        if error and " " in error[1].strip():
            errors.append(error[1].strip())
    if answer.get("raised") and not reached:
        where = f" ({answer['where']})" if answer.get("where") else ""
        errors.append(f"{answer['raised']}{where}")
    types = found.get("tiling_key_kernel_type") or {}
    structs = (found.get("tiling_key_struct_map") or {}).values()
    return Front(
        kernel.source.op,
        scripts.headers.name,
        scripts.name,
        kernel.source.family.name,
        kernel.source.label,
        tuple(found.get("tiling_key_list") or ()),
        {key: str(types[key]) for key in sorted(types, key=int)},
        tuple(dict.fromkeys(map(str, structs))),
        tuple(answer.get("arguments") or ()),
        bool(answer.get("user_workspace")),
        reached,
        tuple(errors),
        tuple(answer.get("missing") or ()),
    )
