# SPDX-License-Identifier: Apache-2.0
"""Builds the operators with a CANN toolkit's own CMake functions."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aclgrad.building.build_tools import need_tool
from aclgrad.common.files import text_of
from aclgrad.errors import ToolkitError
from aclgrad.runtime.toolkit import checkout
from aclgrad.spec.soc import Family, family_of

_TEMPLATE = "tools/op_project_templates/ascendc/customize"
_PROJECT = """\
# Made by `aclgrad build --device npu`: the toolkit's template on the sources of a checkout.
cmake_minimum_required(VERSION 3.21)
project(aclgrad_npu LANGUAGES C CXX)
include({root}/cmake/cann/template.cmake)
"""


@dataclass(frozen=True)
class Cann:
    """A toolkit that can build operators."""

    home: Path
    version: str
    style: str  # ASC: find_package(ASC); template: the project template of 8.x
    modules: Path  # folder of asc-config.cmake, or of the template


def find_cann() -> Cann:
    """Return the toolkit of ASCEND_HOME_PATH. Raises `ToolkitError` that says what is missing."""
    value = os.environ.get("ASCEND_HOME_PATH")
    if not value:
        raise ToolkitError(
            "build --device npu: ASCEND_HOME_PATH is not set, so no CANN toolkit can be found."
            " Next: source <CANN>/set_env.sh, or build for the simulator: aclgrad build"
        )
    home = Path(value)
    if not home.is_dir():
        raise ToolkitError(
            f"build --device npu: ASCEND_HOME_PATH is {value}, which is not a folder. Next: source"
            " <CANN>/set_env.sh of an installed CANN toolkit"
        )
    machine = platform.machine()
    places = (
        home / f"{machine}-linux" / "lib64" / "cmake",
        home / "lib64" / "cmake",
        home / f"{machine}-linux" / "tikcpp" / "ascendc_kernel_cmake",
        home / "compiler" / "tikcpp" / "ascendc_kernel_cmake",
    )
    for folder in places:
        if (folder / "asc-config.cmake").is_file():
            return Cann(home, version_of(home), "ASC", folder)
    for template in (home / _TEMPLATE, home / "toolkit" / _TEMPLATE):
        if (template / "cmake" / "func.cmake").is_file():
            return Cann(home, version_of(home), "template", template)
    raise ToolkitError(
        f"build --device npu: {home} has neither asc-config.cmake (CANN 9; looked in"
        f" {', '.join(str(folder) for folder in places)}) nor {_TEMPLATE} (CANN 8). Next: install"
        " the CANN toolkit package (Ascend-cann-toolkit), not the runtime alone, then source its"
        " set_env.sh"
    )


def version_of(home: Path) -> str:
    """Version of an installation, as it says itself."""
    for pattern in ("*-linux/ascend_toolkit_install.info", "compiler/version.info"):
        for path in sorted(home.glob(pattern)):
            text = text_of(path)
            if found := re.search(r"^version=(\S+)", text, re.MULTILINE | re.IGNORECASE):
                return found[1]
    return "unknown"


@dataclass(frozen=True)
class Build:
    """A configured build for one family of SoCs."""

    cann: Cann
    family: Family
    folder: Path

    @property
    def cmake(self) -> Path:
        """CMake's build folder."""
        return self.folder / "cmake"

    @property
    def install(self) -> Path:
        """Where the package is staged."""
        return self.folder / "package"

    @property
    def vendor(self) -> Path:
        """The package's vendor folder."""
        return self.install / "packages" / "vendors" / "aclgrad"


def configure(soc: str | None, folder: Path | None = None) -> Build:
    """Check what is there and run CMake; ``folder`` instead of build/npu-<family>."""
    root = checkout()
    if root is None:
        raise ToolkitError(
            "build --device npu: this package is installed, not a source checkout. Next: clone the"
            " repository and run scripts/build.sh --device npu --soc <SoC>"
        )
    cann = find_cann()
    if soc is None:
        raise ToolkitError(
            "build --device npu: kernels are compiled for one SoC; got none. Next: add --soc, e.g."
            " --soc Ascend910B2 (npu-smi info shows the name)"
        )
    if " " in str(root):
        raise ToolkitError(
            f"build --device npu: the checkout's path {root} has a space, which CANN's scripts do"
            " not quote. Next: move the checkout"
        )
    family = family_of(soc)
    made = Build(cann, family, folder or root / "build" / f"npu-{family.name}")
    if cann.style == "template":
        source = _stage(cann, root, made.folder)
    else:
        source = root / "cmake" / "cann"
    _run(_configuration(made, source), made.folder, "configure")
    return made


def build_npu(
    soc: str | None,
    *,
    jobs: int = 0,
    folder: Path | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Path:
    """Build all operators for one family of SoCs; return the package's vendor folder."""
    progress("configuring")
    made = configure(soc, folder)
    cann = made.cann
    progress(f"compiling for {made.family.name} with CANN {cann.version} ({cann.style})")
    build = [need_tool("cmake"), "--build", str(made.cmake), "--parallel"]
    build += [str(jobs or os.cpu_count() or 1)]
    _run(build, made.folder, "host")
    progress("compiling kernels")
    _run([*build, "--target", "binary"], made.folder, "kernels")
    shutil.rmtree(made.install, ignore_errors=True)
    progress("staging the package")
    stage = [need_tool("cmake"), "--install", str(made.cmake), "--prefix", str(made.install)]
    _run(stage, made.folder, "install")
    if not (made.vendor / "op_api" / "lib" / "libcust_opapi.so").is_file():
        raise ToolkitError(
            f"build --device npu: the toolkit's build ended without an error, but {made.vendor} has"
            f" no op_api/lib/libcust_opapi.so. Next: read {made.folder}/install.log"
        )
    return made.vendor


def _stage(cann: Cann, root: Path, folder: Path) -> Path:
    """Make a project of the toolkit's template; what is there already is replaced."""
    project = folder / "project"
    for name in ("cmake", "scripts"):
        shutil.rmtree(project / name, ignore_errors=True)
        shutil.copytree(cann.modules / name, project / name)
    (project / "op_kernel").mkdir(exist_ok=True)
    (project / "op_kernel" / "CMakeLists.txt").write_text("add_kernels_compile()\n")
    (project / "CMakeLists.txt").write_text(_PROJECT.format(root=root))
    return project


def _configuration(made: Build, source: Path) -> list[str]:
    values = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_INSTALL_PREFIX": str(made.install),
        "ACLGRAD_PYTHON": sys.executable,
        "ACLGRAD_INSTALL_DIR": str(made.install),
        "ASCEND_PYTHON_EXECUTABLE": "python3",
        "ASCEND_CANN_PACKAGE_PATH": str(made.cann.home),
        "ASCEND_COMPUTE_UNIT": made.family.name,
        "ENABLE_SOURCE_PACKAGE": "False",
        "ENABLE_BINARY_PACKAGE": "True",
        "vendor_name": "aclgrad",
    }
    if made.cann.style == "ASC":
        values["ASC_DIR"] = str(made.cann.modules)
    # The toolkit's kernel targets call $(MAKE).
    words = ["-S", str(source), "-B", str(made.cmake), "-G", "Unix Makefiles"]
    return [need_tool("cmake"), *words, *(f"-D{key}={value}" for key, value in values.items())]


def _run(command: list[str], folder: Path, step: str) -> None:
    """Run a step; its output goes to a file, the end of it into the error."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{step}.log"
    with log.open("w") as out:
        # Here and not in the current folder, where Python would look for modules first.
        done = subprocess.run(
            command, cwd=folder, stdout=out, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
        raise ToolkitError(
            f"build --device npu: {step} failed:\n{tail}\nNext: read {log}; docs/cann_build.md"
        )
