# SPDX-License-Identifier: Apache-2.0
"""A machine with CANN and an NPU, for the walk of docs/first_hour.md without either: a stand-in
toolkit whose libraries are a simulator's.

Its "NPU" computes, so that programs above the toolkit line run to their end. Its package is the
simulator's: `build --device npu` configures, generates and stages, and compiles nothing.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from aclgrad.runtime.toolkit import sim_root
from cann_standin.toolkit import HERE, make_toolkit, script

# Called as msprof --output=DIR COMMAND...: runs it, and writes a summary as the real one does. Its
# times are those of the model, times STANDIN_MSPROF_FACTOR.
MSPROF = """\
#!{python}
import json, os, pathlib, subprocess, sys, tempfile

folder = pathlib.Path(sys.argv[1].removeprefix("--output="))
folder = folder / "PROF_000001/mindstudio_profiler_output"
factor = float(os.environ.get("STANDIN_MSPROF_FACTOR", "1"))
with tempfile.TemporaryDirectory() as report:
    reports = {{"ACLGRAD_SIM_PROFILE_REPORT": report, "ACLGRAD_SIM_PROFILE_CORES": "none"}}
    done = subprocess.run(sys.argv[2:], env=os.environ | reports)
    launches = pathlib.Path(report, "launches").read_text().splitlines()
lines = ["Device_id,Op Name,OP Type,Task Start Time(us),Task Duration(us)"]
for at, line in enumerate(launches):
    one = json.loads(line)["profile"]
    lines.append(f"0,aclnn_{{one['op']}},{{one['op']}},{{at}},{{factor * one['microseconds']}}")
folder.mkdir(parents=True, exist_ok=True)
(folder / "op_summary_20250101.csv").write_text("\\n".join(lines) + "\\n")
sys.exit(done.returncode)
"""
NPU_SMI = "#!/bin/bash\necho 'NPU 0  910B2  OK'\n"


def make_machine(home: Path, libraries: Mapping[str, Path], environment: Mapping[str, str]) -> Path:
    """Fill ``home``; returns its set_env.sh. ``libraries`` replace those of the simulator by name,
    ``environment`` is what they need.
    """
    make_toolkit(home, "ASC")
    modules = home / "compiler/tikcpp/ascendc_kernel_cmake"
    modules.unlink()
    shutil.copytree(HERE / "modules", modules)
    own = sim_root() / "compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake"
    (modules / "ascendc.cmake").write_text(f"include({own})\n")
    (home / "lib64").mkdir()
    for path in (sim_root() / "lib64").iterdir():
        (home / "lib64" / path.name).symlink_to(libraries.get(path.name, path))
    script(home / "bin/msprof", MSPROF)
    script(home / "bin/npu-smi", NPU_SMI)
    values = {
        **environment,
        "ASCEND_HOME_PATH": str(home),
        "STANDIN_PACKAGE": str(sim_root() / "opp/vendors/aclgrad"),
        "STANDIN_SKIPS_DEFINITIONS": "1",
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in values.items()]
    lines += [f'export {name}="{home / at}${{{name}:+:${name}}}"' for name, at in _PATHS.items()]
    path = home / "set_env.sh"
    path.write_text("\n".join(lines) + "\n")
    return path


_PATHS = {"PATH": "bin", "LD_LIBRARY_PATH": "lib64"}
