# SPDX-License-Identifier: Apache-2.0
"""A folder that looks like a CANN toolkit, for runs of the CANN build without one.

Its headers are the simulator's, its libraries empty, its operator tools the scripts below. What it
proves: CMake projects configure and generate, sources are found, options are passed.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

from aclgrad.runtime.toolkit import sim_root

ROOT = Path(__file__).resolve().parents[3]
HEADERS = sim_root() / "include"
HERE = Path(__file__).parent
LIBRARIES = ("exe_graph", "register", "tiling_api", "mmpa", "nnopbase", "ascendcl", "opapi")

# Called as op_build <library> <folder> [--compute_unit=<family>]: writes what the real one writes.
OP_BUILD = """\
#!{python}
import sys
from pathlib import Path
sys.path.insert(0, {package!r})
from aclgrad.ops import all_specs
from aclgrad.packaging.operators import of_spec
from aclgrad.packaging.ops_info import op_proto, ops_info
from aclgrad.spec.soc import family
out = Path(sys.argv[2])
units = sys.argv[3].partition("=")[2].split(";")
for unit in units:
    lines = []
    for spec in all_specs():
        for op in of_spec(spec) if spec.kernels_on(family(unit)) else ():
            lines.append(f"[{{op.op_type}}]")
            for section, values in ops_info(op, family(unit)).items():
                lines += [f"{{section}}.{{key}}={{value}}" for key, value in values.items()]
    (out / f"aic-{{unit}}-ops-info.ini").write_text("\\n".join(lines) + "\\n")
(out / "op_proto.h").write_text(op_proto(op for spec in all_specs() for op in of_spec(spec)))
(out / "op_proto.cc").write_text("namespace ge {{}}\\n")
"""

# Called as asc_opc <py> --input_param=<json> --output=<folder> ...: checks that the kernel compiles
# for the simulator with the macros and options that the toolkit's scripts pass on.
ASC_OPC = """\
#!{python}
import json, os, re, subprocess, sys
from pathlib import Path
options = dict(word[2:].partition("=")[::2] for word in sys.argv[2:] if word.startswith("--"))
param = json.loads(Path(options["input_param"]).read_text())["op_list"][0]
ctypes = {{"float16": "half", "float32": "float", "bfloat16": "bfloat16_t", "bool": "bool"}}
enums = {{"float16": "DT_FLOAT16", "float32": "DT_FLOAT", "bfloat16": "DT_BF16", "bool": "DT_BOOL"}}
words = ["-D__NPU_ARCH__=2201", "-D__CCE_AICORE__=220", "-I{include}"]
for tensor in param["inputs"] + param["outputs"]:
    tensor = tensor[0] if isinstance(tensor, list) else tensor
    name = tensor["name"].upper()
    words += [f"-DDTYPE_{{name}}={{ctypes[tensor['dtype']]}}"]
    words += [f"-DORIG_DTYPE_{{name}}={{enums[tensor['dtype']]}}"]
words += re.findall(r"'(-I[^']+)'", Path(sys.argv[1]).read_text())
source = os.environ["BUILD_KERNEL_SRC"]
command = ["g++", "-std=c++17", "-fsyntax-only", *words, source]
done = subprocess.run(command, capture_output=True, text=True)
if done.returncode:
    sys.exit(f"{{' '.join(command)}}\\n{{done.stderr}}")
stem = Path(options["output"]) / param["bin_filename"]
stem.with_suffix(".o").write_bytes(b"kernel")
support = {{"simplifiedKey": [stem.name], "simplifiedKeyMode": 0, "inputs": [], "outputs": []}}
support |= {{f"optional{{way}}Mode": "gen_placeholder" for way in ("Input", "Output")}}
document = {{"binFileName": stem.name, "binFileSuffix": ".o", "kernelName": stem.name}}
document |= {{"coreType": "VectorCore", "supportInfo": support}}
stem.with_suffix(".json").write_text(json.dumps(document))
"""


def make_toolkit(home: Path, style: str, modules: Path | None = None) -> Path:
    """Fill ``home``. ``style`` is ASC (CANN 9) or template (CANN 8); ``modules`` are the real CMake
    modules instead of the stand-in.
    """
    absent = {"level0"} if style == "ASC" else {"level0", "log", "op_common"}
    (home / "include").mkdir(parents=True)
    for path in HEADERS.iterdir():
        if path.name not in absent:
            (home / "include" / path.name).symlink_to(path)
    if style != "ASC":
        (home / "include" / "log").mkdir()
        for path in (HEADERS / "log").iterdir():
            if path.name != "log.h":
                (home / "include" / "log" / path.name).symlink_to(path)
    (home / "compiler").mkdir()
    version = "9.1.0" if style == "ASC" else "8.1.RC1"
    (home / "compiler" / "version.info").write_text(f"Version={version}\n")
    script(home / "tools/opbuild/op_build", OP_BUILD)
    script(home / "bin/asc_opc", ASC_OPC)
    if style == "ASC":
        target = home / "compiler/tikcpp/ascendc_kernel_cmake"
        target.parent.mkdir()
        target.symlink_to(modules or HERE / "modules")
    else:
        target = home / "tools/op_project_templates/ascendc/customize"
        shutil.copytree(modules or HERE / "template", target)
    return home


def script(path: Path, text: str) -> None:
    """Write a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = {
        "python": sys.executable,
        "package": str(ROOT / "python"),
        "include": str(HEADERS),
    }
    path.write_text(text.format(**values))
    path.chmod(0o755)


def add_libraries(home: Path) -> None:
    """Empty libraries to link with."""
    folder = home / "lib64"
    folder.mkdir()
    (folder / "empty.cpp").touch()
    for name in LIBRARIES:
        words = ["g++", "-shared", "empty.cpp", "-o", f"lib{name}.so"]
        subprocess.run(words, cwd=folder, check=True)
    subprocess.run(["g++", "-c", "empty.cpp", "-o", "empty.o"], cwd=folder, check=True)
    subprocess.run(["ar", "rcs", "librt2_registry.a", "empty.o"], cwd=folder, check=True)
    (home / f"{platform.machine()}-linux").mkdir(exist_ok=True)
