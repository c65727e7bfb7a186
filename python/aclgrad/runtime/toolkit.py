# SPDX-License-Identifier: Apache-2.0
"""Where the libraries are. Nothing is loaded here."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from aclgrad.errors import ToolkitError

ACL, NNOPBASE, OPAPI = "libascendcl.so", "libnnopbase.so", "libcust_opapi.so"
_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Toolkit:
    """The folders of one toolkit and of one operator package."""

    device: str  # sim | npu
    root: Path
    library_dir: Path
    include_dirs: tuple[Path, ...]
    opp: Path  # holds vendors/
    opapi: Path

    @property
    def libraries(self) -> tuple[Path, ...]:
        """Libraries in the order in which they are loaded."""
        return self.library_dir / ACL, self.library_dir / NNOPBASE, self.opapi

    def missing(self) -> list[Path]:
        """Libraries that are not there."""
        return [path for path in self.libraries if not path.is_file()]


def checkout() -> Path | None:
    """Folder of the source checkout that this package runs from; None when installed."""
    root = _PACKAGE.parents[1]
    return root if (root / "CMakeLists.txt").is_file() and (root / "op_kernel").is_dir() else None


def sim_root() -> Path:
    """Folder of the simulator's toolkit: ACLGRAD_TOOLKIT, a checkout's build, or the installed
    one.
    """
    override = os.environ.get("ACLGRAD_TOOLKIT")
    if override:
        return Path(override)
    source = checkout()
    return source / "build" / "sim" / "toolkit" if source else _PACKAGE / "toolkit"


def _sim() -> Toolkit:
    root = sim_root()
    vendor = root / "opp" / "vendors" / "aclgrad" / "op_api"
    return Toolkit(
        "sim",
        root,
        root / "lib64",
        (root / "include", vendor / "include", vendor / "include" / "aclnnop"),
        root / "opp",
        vendor / "lib" / OPAPI,
    )


def cann_home() -> Path:
    """Folder of the CANN toolkit of this environment. Raises `ToolkitError` without one."""
    home = os.environ.get("ASCEND_HOME_PATH")
    if not home:
        raise ToolkitError(
            "--device npu: ASCEND_HOME_PATH is not set, so no CANN toolkit can be found. Next: "
            "source <CANN>/set_env.sh, or use --device sim"
        )
    root = Path(home)
    if not root.is_dir():
        raise ToolkitError(
            f"--device npu: ASCEND_HOME_PATH is {home}, which is not a folder. Next: source"
            " <CANN>/set_env.sh of an installed CANN toolkit, or use --device sim"
        )
    return root


def _npu() -> Toolkit:
    root = cann_home()
    opp = Path(os.environ.get("ASCEND_OPP_PATH") or root / "opp")
    custom = [Path(p) for p in os.environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":") if p]
    vendors = [*custom, *sorted((opp / "vendors").glob("*"))]
    candidates = [vendor / "op_api" / "lib" / OPAPI for vendor in vendors]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        places = (
            ", ".join(map(str, vendors)) or f"{opp / 'vendors'}; ASCEND_CUSTOM_OPP_PATH is unset"
        )
        raise ToolkitError(
            f"--device npu: no {OPAPI} in an operator package; looked in {places}."
            " Next: aclgrad build --device npu --soc SOC in a checkout, or install the operator"
            " package built for this CANN; or use --device sim"
        )
    include = found.parents[1] / "include"
    return Toolkit(
        "npu", root, root / "lib64", (root / "include", include, include / "aclnnop"), opp, found
    )


DeviceKind = Literal["sim", "npu"]


def check_kind(device: object) -> DeviceKind:
    """The device, or an error that says what there is."""
    if device == "sim":
        return "sim"
    if device == "npu":
        return "npu"
    raise ToolkitError(
        f"device: got {device!r}, want sim or npu: the simulator, or an NPU with CANN. Next:"
        " device='sim'"
    )


def find_toolkit(device: str = "sim") -> Toolkit:
    """Return the toolkit for a device. Raises `ToolkitError` that says what is missing and what to
    run.
    """
    check_kind(device)
    toolkit = _sim() if device == "sim" else _npu()
    missing = toolkit.missing()
    if missing:
        names = ", ".join(str(path) for path in missing)
        if device == "npu":
            raise ToolkitError(
                f"--device npu: missing {names}. Next: source <CANN>/set_env.sh of a complete"
                " toolkit; the simulator is never used in its place"
            )
        action = "aclgrad build" if checkout() else "pip install --force-reinstall aclgrad"
        raise ToolkitError(f"the simulator's toolkit is not built: missing {names}. Next: {action}")
    return toolkit
