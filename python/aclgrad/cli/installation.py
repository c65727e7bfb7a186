# SPDX-License-Identifier: Apache-2.0
"""Looks at everything that a run depends on; every problem comes with the command that fixes it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from aclgrad import __version__
from aclgrad.building.build_tools import find_compiler, find_tool
from aclgrad.cli import npu
from aclgrad.cli.npu import DoctorLine
from aclgrad.common import cache
from aclgrad.errors import ToolkitError
from aclgrad.ops import all_specs, broken
from aclgrad.runtime import packages
from aclgrad.runtime import toolkit as toolkits
from aclgrad.spec.soc import DEFAULT_SOC, chosen, family_of

_VARIABLES = (
    "ACLGRAD_TOOLKIT",
    "ACLGRAD_SOC",
    "ACLGRAD_SIM_MODE",
    "ACLGRAD_SIM_THREADS",
    "ACLGRAD_SIM_CORES",
    "ACLGRAD_DEVICES",
    "ACLGRAD_SIM_AUTOSYNC",
    "ACLGRAD_SIM_CHAOS",
    "ACLGRAD_SIM_HANG_LIMIT",
    "ACLGRAD_SIM_PROGRESS",
    "ACLGRAD_SIM_REPORT",
    "ASCEND_HOME_PATH",
    "ASCEND_OPP_PATH",
    "ASCEND_CUSTOM_OPP_PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "CXX",
)
_TORCH_NPU = ("2.13.0",)
"""Releases of torch_npu that were tried on the simulator."""
_REINSTALL = "pip install --force-reinstall aclgrad"
_PACKAGE = Path(__file__).parents[1]

_LOAD = "import ctypes,sys; [ctypes.CDLL(p, mode=ctypes.RTLD_GLOBAL) for p in sys.argv[1:]]"


def examine(device: str = "sim", python: str = sys.executable) -> list[DoctorLine]:
    """Return all findings. Loads libraries in a child process only. ``python``: whose PyTorch."""
    own = npu.findings() if device == "npu" else _soc()
    return [
        *_python(),
        *_build_tools(),
        *libraries(device),
        *own,
        *_torch(python),
        *_of_exec(),
        *_extras(),
        *_cache(),
        *_environment(device),
    ]


def _python() -> Iterator[DoctorLine]:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 10)
    yield DoctorLine(
        "python",
        f"{version} at {sys.executable}",
        "ok" if good else "problem",
        "" if good else "install Python 3.10 or later",
    )
    yield DoctorLine("aclgrad", f"{__version__} at {_PACKAGE}")
    for folder, where in _places_of_modules():
        other = Path(folder, "aclgrad")
        if (other / "__init__.py").is_file() and other.resolve() != _PACKAGE.resolve():
            fix = f"take {folder} out of {where}"
            yield DoctorLine("another aclgrad", f"{other}: programs may import it", "note", fix)
    source = toolkits.checkout()
    yield DoctorLine(
        "installed as", f"checkout {source}" if source else "package with its toolkit inside"
    )


def _places_of_modules() -> Iterator[tuple[str, str]]:
    """Folders that Python looks into, and what names them."""
    variable = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    yield from ((folder, "PYTHONPATH") for folder in dict.fromkeys(variable))
    yield from ((folder, "sys.path") for folder in sys.path if folder and folder not in variable)


def _build_tools() -> Iterator[DoctorLine]:
    needed = toolkits.checkout() is not None
    compiler = find_compiler()
    if compiler is None:
        yield DoctorLine("C++ compiler", "none", "problem", "apt-get install g++")
    else:
        yield DoctorLine("C++ compiler", f"{_first_line([compiler, '--version'])} at {compiler}")
    for tool in ("cmake", "ninja"):
        path = find_tool(tool)
        if path is not None:
            yield DoctorLine(tool, f"{_first_line([path, '--version'])} at {path}")
        else:
            yield DoctorLine(
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


def libraries(device: str) -> Iterator[DoctorLine]:
    """Findings about the toolkit, the operator packages and the libraries alone."""
    try:
        toolkit = toolkits.find_toolkit(device)
    except ToolkitError as error:
        text, _, fix = str(error).partition(" Next: ")
        lacks_operators = device == "npu" and toolkits.OPAPI in text
        yield DoctorLine("toolkit", text, "note" if lacks_operators else "problem", fix)
        opp = toolkits.sim_root() / "opp" if device == "sim" else None
        yield from _packages(packages.look_up(opp), device, None)
        return
    yield DoctorLine("toolkit", f"{toolkit.root} ({_why(device)})")
    yield from _version(toolkit)
    yield from _stale(device)
    for path in toolkit.libraries:
        yield DoctorLine(path.name, str(path))
    load = subprocess.run(
        [sys.executable, "-I", "-c", _LOAD, *map(str, toolkit.libraries)],
        capture_output=True,
        text=True,
        check=False,
    )
    if load.returncode:
        last = (load.stderr.strip().splitlines() or [f"exit status {load.returncode}"])[-1]
        fix = "aclgrad build" if device == "sim" else "source <CANN>/set_env.sh"
        yield DoctorLine("loading", last, "problem", fix)
    else:
        yield DoctorLine("loading", "all libraries load together")
    found = packages.look_up(toolkit.opp)
    yield from _packages(found, device, toolkit.root)
    usable = [candidate for candidate in found if not candidate.problem]
    yield from _operators(usable, toolkit)
    yield from _copies(usable, toolkit)


def _why(device: str) -> str:
    if device == "npu":
        return "ASCEND_HOME_PATH"
    if os.environ.get("ACLGRAD_TOOLKIT"):
        return "ACLGRAD_TOOLKIT"
    return "built in this checkout" if toolkits.checkout() else "inside the installed package"


def _version(toolkit: toolkits.Toolkit) -> Iterator[DoctorLine]:
    """Python and toolkit of different versions are a problem that looks like another one."""
    stamp = toolkit.root / "share/cmake/aclgrad/aclgrad-config-version.cmake"
    if toolkit.device != "sim" or not stamp.is_file():
        return
    found = re.search(r'set\(PACKAGE_VERSION "(.*?)"\)', stamp.read_text(encoding="utf-8"))
    if found and found[1] != __version__:
        fix = "unset ACLGRAD_TOOLKIT" if os.environ.get("ACLGRAD_TOOLKIT") else "aclgrad build"
        text = f"{found[1]}, but this Python package is {__version__}"
        yield DoctorLine("toolkit version", text, "problem", fix)


def _stale(device: str) -> Iterator[DoctorLine]:
    """Sources that are newer than what would be loaded."""
    source = toolkits.checkout()
    tools = all(map(find_tool, ("cmake", "ninja")))
    if device != "sim" or source is None or not tools or os.environ.get("ACLGRAD_TOOLKIT"):
        return
    from aclgrad.checkout.cmake_build import is_current

    folder = source / "build" / "sim"
    if is_current(folder):
        yield DoctorLine("build", "up to date with the sources")
    else:
        yield DoctorLine("build", f"{folder} is older than the sources", "note", "aclgrad build")


def _packages(
    found: list[packages.Candidate], device: str, toolkit: Path | None
) -> Iterator[DoctorLine]:
    for number, candidate in enumerate(found, 1):
        name, place = f"package {number}", f"{candidate.root} ({candidate.why})"
        if candidate.problem:
            yield DoctorLine(name, f"{place}: {candidate.problem}", "problem", candidate.fix)
            continue
        version = f", version {candidate.version}" if candidate.version else ""
        yield DoctorLine(
            name, f"{place}: {', '.join(candidate.operators) or 'no kernels'}{version}"
        )
        if candidate.devices and device not in candidate.devices:
            other = "an NPU" if device == "sim" else "the simulator"
            text = f"{candidate.root} has kernels for {other} only"
            yield DoctorLine(
                "package for another device", text, "problem", _without(candidate.root)
            )
        if device == "sim" and toolkit is not None:
            what, command = candidate.outdated(toolkit)
            if what:
                yield DoctorLine(name, what, "problem", command)
        if candidate.tiling is None:
            text = f"{candidate.root} has no tiling library for {platform.machine()}"
            yield DoctorLine(name, text, "problem", "install the package again, for this machine")
    owners: dict[str, list[packages.Candidate]] = {}
    for candidate in found:
        for op_type in () if candidate.problem else candidate.operators:
            owners.setdefault(op_type, []).append(candidate)
    shared: dict[tuple[Path, ...], list[str]] = {}
    for op_type, candidates in owners.items():
        if len(candidates) > 1:
            shared.setdefault(tuple(c.root for c in candidates), []).append(op_type)
    for roots, op_types in shared.items():
        first, *others = roots
        # Packages that were installed go before the toolkit's own: that is what they are for.
        last = next(c for c in found if c.root == roots[-1])
        meant = len(roots) == 2 and last.why.startswith("the toolkit's own")
        yield DoctorLine(
            "same operator twice",
            f"{', '.join(op_types)}: {first} goes before {', '.join(map(str, others))}",
            "note" if meant else "problem",
            f"to use the other: {_without(first)}" if meant else _without(*others),
        )


def _without(*roots: Path) -> str:
    """Command that takes packages out of the look-up."""
    entries = [e for e in os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":") if e]
    rest = [entry for entry in entries if Path(entry) not in roots]
    if rest != entries:
        return (
            f"export ASCEND_CUSTOM_OPP_PATH={shlex.quote(':'.join(rest))}"
            if rest
            else "unset ASCEND_CUSTOM_OPP_PATH"
        )
    script = next((r / "scripts" / "uninstall.sh" for r in roots), None)
    if script is not None and script.is_file():
        return f"bash {shlex.quote(str(script))}"
    return f"remove {', '.join(map(str, roots))} from load_priority in its config.ini"


def _operators(usable: list[packages.Candidate], toolkit: toolkits.Toolkit) -> Iterator[DoctorLine]:
    for fault in broken():
        text = f"{fault.path}:{fault.line}: {fault.why}"
        yield DoctorLine(fault.op, text, "problem", "fix the line, then aclgrad build")
    for spec in all_specs():
        owner = next((c for c in usable if c.kernels(spec.op)), None)
        if owner is None:
            fix = (
                ("aclgrad build" if toolkits.checkout() else _REINSTALL)
                if toolkit.device == "sim"
                else "install the operator package for this SoC"
            )
            looked = ", ".join(str(c.root) for c in usable) or "no package"
            yield DoctorLine(spec.op, f"no kernels; looked in {looked}", "problem", fix)
            continue
        kernels = owner.kernels(spec.op)
        socs = sorted({path.parent.parent.name for path in kernels})
        yield DoctorLine(spec.op, f"{len(kernels)} kernels for {', '.join(socs)} in {owner.root}")


def _copies(usable: list[packages.Candidate], toolkit: toolkits.Toolkit) -> Iterator[DoctorLine]:
    """Copies of libcust_opapi.so: which one is loaded, and whether it fits the kernels."""
    folders = [f for f in os.environ.get("LD_LIBRARY_PATH", "").split(":") if f]
    linked = [Path(folder) / toolkits.OPAPI for folder in folders]
    present = [path for path in linked if path.is_file()]
    program, why = (
        (present[0], "LD_LIBRARY_PATH") if present else (toolkit.opapi, "aclgrad config --libs")
    )
    yield DoctorLine(f"{toolkits.OPAPI} of C++ programs", f"{program} ({why})")
    copies = [toolkit.opapi, *present, *(c.opapi for c in usable if c.opapi.is_file())]
    places = sorted({path.resolve() for path in copies})
    if len(places) > 1:
        text = ", ".join(map(str, places))
        yield DoctorLine(f"copies of {toolkits.OPAPI}", text, "note")
    owner = next((c for c in usable if c.operators), None)
    if owner is None or not owner.opapi.is_file():
        return
    for loaded, user in ((toolkit.opapi, "Python"), (program, "C++ programs")):
        if _digest(loaded) != _digest(owner.opapi):
            fix = (
                f"source {shlex.quote(str(owner.root / 'bin/set_env.bash'))}"
                if user != "Python" and (owner.root / "bin" / "set_env.bash").is_file()
                else _without(owner.root)
            )
            yield DoctorLine(
                f"{toolkits.OPAPI} and kernels",
                f"{user} would load {loaded}, but kernels and tiling of another build, from"
                f" {owner.root}",
                "problem",
                fix,
            )


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


_VERSIONS = """
import json
from importlib import metadata
found = {}
for name in ("torch", "torch_npu"):
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def _run_python(python: str, script: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a script away from the current folder, whose modules it must not take."""
    return subprocess.run(
        [python, *options, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd="/",
    )


def _torch(python: str) -> Iterator[DoctorLine]:
    """PyTorch and its NPU backend: whether the two fit, and what import torch would load."""
    try:
        # PYTHONPATH, where torch_npu may be, is that of this Python.
        own = () if python == sys.executable else ("-I",)
        done = _run_python(python, _VERSIONS, *own)
        found: dict[str, str] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        fix = "name the Python of an environment: aclgrad doctor --python PATH/bin/python"
        yield DoctorLine("torch", f"{python} does not say what it has ({error})", "problem", fix)
        return
    if python != sys.executable:
        yield DoctorLine("python of torch", python)
    if "torch" in found:
        yield DoctorLine("torch", found["torch"])
    if "torch_npu" not in found:
        if python != sys.executable:
            lacks = "no torch_npu" if "torch" in found else "neither torch nor torch_npu"
            version = _TORCH_NPU[-1]
            fix = f"{python} -m pip install torch=={version} torch_npu=={version}"
            yield DoctorLine("torch_npu", f"{python} has {lacks}", "note", fix)
        return
    backend = found["torch_npu"]
    wanted = re.match(r"\d+\.\d+\.\d+", backend)
    base = found.get("torch", "none").partition("+")[0]
    if wanted is None or base == wanted[0]:
        yield DoctorLine("torch_npu", f"{backend}, which fits torch {base}")
    else:
        fix = f"{python} -m pip install torch=={wanted[0]}"
        yield DoctorLine(
            "torch_npu", f"{backend} wants torch {wanted[0]}, not {base}", "problem", fix
        )
    if backend not in _TORCH_NPU:
        tried = " and ".join(_TORCH_NPU)
        yield DoctorLine(
            "torch_npu", f"{backend} was not tried on the simulator; {tried} was", "note"
        )
    script = (
        "import json, torch; from pathlib import Path; print(json.dumps([torch.npu.is_available(),"
        " *sorted({line.split()[-1] for line in Path('/proc/self/maps').read_text().splitlines()"
        " if line.endswith('/libascendcl.so')})]))"
    )
    try:
        done = _run_python(python, script, "-I")
    except subprocess.TimeoutExpired:
        yield DoctorLine(
            "import torch", "does not end", "problem", "aclgrad exec -- python PROGRAM"
        )
        return
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        text = f"fails here, as torch loads torch_npu ({last})"
        yield DoctorLine("import torch", text, "note", "aclgrad exec -- python PROGRAM")
        return
    available, *loaded = json.loads(done.stdout.splitlines()[-1])
    devices = "an NPU" if available else "no NPU"
    yield DoctorLine("import torch", f"loads torch_npu and {', '.join(loaded)}, and sees {devices}")


_ASKED = """
import importlib.util as u, platform, sys
print(platform.python_version(), *(n for n in ("torch", "torch_npu") if u.find_spec(n)))
"""


def _of_exec() -> Iterator[DoctorLine]:
    """The Python that `aclgrad exec -- python` starts, where it is another than this one."""
    found = shutil.which("python") or shutil.which("python3")
    if found is None:
        yield DoctorLine("python of exec", "no python on PATH", "note", "apt-get install python3")
        return
    if os.path.realpath(sys.prefix) == os.path.realpath(Path(found).parents[1]):
        return
    try:
        done = subprocess.run(
            [found, "-I", "-c", _ASKED], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield DoctorLine(
            "python of exec", f"{found}: does not run ({error})", "note", "another PATH"
        )
        return
    version, *has = done.stdout.split() or ["does not answer"]
    modules = " and ".join(has) or "neither torch nor torch_npu"
    yield DoctorLine("python of exec", f"{version} at {found}, with {modules}")


_EXTRAS = {
    "watch": ("test --watch", ("watchfiles",)),
    "campaign": ("campaign", ("dask", "distributed", "pyarrow", "optuna")),
    "torch": ("aclgrad.torch", ("torch",)),
    "torch-npu": ("exec with PyTorch on the simulated NPU", ("torch", "torch_npu")),
    "docs": ("scripts/docs.sh", ("mkdocs", "mkdocstrings")),
}
"""What needs more than the package itself: by the name of its extra."""


def _extras() -> Iterator[DoctorLine]:
    """Which of these cannot run yet, before somebody needs it."""
    for extra, (what, modules) in _EXTRAS.items():
        if extra == "docs" and toolkits.checkout() is None:
            continue
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        if missing:
            fix = f"{sys.executable} -m pip install 'aclgrad[{extra}]'"
            text = f"not installed: {', '.join(missing)}"
            yield DoctorLine(f"for {what}", text, "note", fix)


def _cache() -> Iterator[DoctorLine]:
    """Where builds are kept, and how much that is."""
    try:
        folder = cache.place()
        if not folder.exists():
            yield DoctorLine("cache", f"{folder}: nothing there yet")
            return
        cache.root()
    except ToolkitError as error:
        text, _, fix = str(error).removeprefix("cache: ").partition(" Next: ")
        yield DoctorLine("cache", text, "problem", fix)
        return
    size = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += os.lstat(os.path.join(above, name)).st_size
    parsed = sum(path.stat().st_size for path in (folder / "parsed").glob("*.gch"))
    text = f"{folder}: {size / 1e6:.0f} MB, {parsed / 1e6:.0f} MB of it precompiled headers"
    yield DoctorLine("cache", f"{text}; delete it at will")


def _soc() -> Iterator[DoctorLine]:
    name = chosen()
    try:
        family = family_of(name)
    except ValueError as error:
        yield DoctorLine(
            "simulated SoC", str(error), "problem", f"export ACLGRAD_SOC={DEFAULT_SOC}"
        )
    else:
        yield DoctorLine(
            "simulated SoC", f"{name} ({family.product}, architecture {family.npu_arch})"
        )


def _environment(device: str) -> Iterator[DoctorLine]:
    for name in _VARIABLES:
        if name in os.environ:
            yield DoctorLine(name, os.environ[name], "note")
    if device == "npu":
        return
    ours = toolkits.sim_root() / "lib64"
    for folder in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")):
        other = Path(folder) / toolkits.ACL
        if other.is_file() and Path(folder).resolve() != ours.resolve():
            yield DoctorLine(
                "library shadow",
                f"{other}: C++ programs would load it before the simulator's",
                "note",
                "for simulator runs: unset LD_LIBRARY_PATH",
            )
