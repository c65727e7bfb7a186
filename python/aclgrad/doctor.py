# SPDX-License-Identifier: Apache-2.0
"""Looks at everything that a run depends on; every problem comes with the command that mends it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from aclgrad import __version__
from aclgrad.build import find_compiler, find_tool
from aclgrad.errors import ToolkitError
from aclgrad.ops import all_specs
from aclgrad.runtime import toolkit as toolkits
from aclgrad.soc import DEFAULT_SOC, family_of

_VARIABLES = (
    "ACLGRAD_TOOLKIT",
    "ACLGRAD_SOC",
    "ACLGRAD_SIM_MODE",
    "ACLGRAD_SIM_THREADS",
    "ACLGRAD_SIM_CORES",
    "ASCEND_HOME_PATH",
    "ASCEND_OPP_PATH",
    "ASCEND_CUSTOM_OPP_PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "CXX",
)
_LOAD = "import ctypes,sys; [ctypes.CDLL(p, mode=ctypes.RTLD_GLOBAL) for p in sys.argv[1:]]"


@dataclass(frozen=True)
class Finding:
    """One line of the report. ``status`` is ok, note or problem."""

    what: str
    value: str
    status: str = "ok"
    fix: str = ""

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        return asdict(self)


def examine(device: str = "sim") -> list[Finding]:
    """Return all findings. Loads libraries in a child process only."""
    return [*_python(), *_build_tools(), *_libraries(device), *_soc(), *_environment()]


def _python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 10)
    yield Finding(
        "python",
        f"{version} at {sys.executable}",
        "ok" if good else "problem",
        "" if good else "install Python 3.10 or later",
    )
    yield Finding("aclgrad", f"{__version__} at {Path(__file__).parent}")
    source = toolkits.checkout()
    yield Finding(
        "installed as", f"checkout {source}" if source else "package with its toolkit inside"
    )


def _build_tools() -> Iterator[Finding]:
    needed = toolkits.checkout() is not None
    compiler = find_compiler()
    if compiler is None:
        yield Finding("C++ compiler", "none", "problem", "apt-get install g++")
    else:
        yield Finding("C++ compiler", f"{_first_line([compiler, '--version'])} at {compiler}")
    for tool in ("cmake", "ninja"):
        path = find_tool(tool)
        if path is not None:
            yield Finding(tool, f"{_first_line([path, '--version'])} at {path}")
        else:
            yield Finding(
                tool,
                "none",
                "problem" if needed else "note",
                f"{sys.executable} -m pip install {tool}",
            )


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run ({error})"
    return (done.stdout or done.stderr).partition("\n")[0].strip() or "does not answer"


def _libraries(device: str) -> Iterator[Finding]:
    try:
        toolkit = toolkits.find_toolkit(device)
    except ToolkitError as error:
        text, _, fix = str(error).partition(" Next: ")
        yield Finding("toolkit", text, "problem", fix)
        return
    yield Finding("toolkit", str(toolkit.root))
    for path in toolkit.libraries:
        yield Finding(path.name, str(path))
    load = subprocess.run(
        [sys.executable, "-c", _LOAD, *map(str, toolkit.libraries)],
        capture_output=True,
        text=True,
        check=False,
    )
    if load.returncode:
        last = (load.stderr.strip().splitlines() or [f"exit status {load.returncode}"])[-1]
        fix = "aclgrad build" if device == "sim" else "source <CANN>/set_env.sh"
        yield Finding("loading", last, "problem", fix)
    else:
        yield Finding("loading", "all libraries load together")
    for spec in all_specs():
        yield _operator(spec.op, toolkit)


def _operator(op: str, toolkit: toolkits.Toolkit) -> Finding:
    vendor = toolkit.opapi.parents[2]
    kernels = sorted(vendor.glob(f"op_impl/ai_core/tbe/kernel/*/{op}/*"))
    if kernels:
        socs = sorted({path.parent.parent.name for path in kernels})
        return Finding(op, f"{len(kernels)} kernels for {', '.join(socs)} in {vendor}")
    fix = (
        "aclgrad build" if toolkit.device == "sim" else "install the operator package for this SoC"
    )
    return Finding(op, f"no kernels under {vendor}", "problem", fix)


def _soc() -> Iterator[Finding]:
    name = os.environ.get("ACLGRAD_SOC", DEFAULT_SOC)
    try:
        family = family_of(name)
    except ValueError as error:
        yield Finding("simulated SoC", str(error), "problem", f"export ACLGRAD_SOC={DEFAULT_SOC}")
    else:
        yield Finding("simulated SoC", f"{name} ({family.product}, architecture {family.npu_arch})")


def _environment() -> Iterator[Finding]:
    for name in _VARIABLES:
        if name in os.environ:
            yield Finding(name, os.environ[name], "note")
    ours = toolkits.sim_root() / "lib64"
    for folder in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")):
        other = Path(folder) / toolkits.ACL
        if other.is_file() and Path(folder).resolve() != ours.resolve():
            yield Finding(
                "library shadow",
                f"{other}: C++ programs would load it before the simulator's",
                "note",
                "for simulator runs: unset LD_LIBRARY_PATH",
            )
