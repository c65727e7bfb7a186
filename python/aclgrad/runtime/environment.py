# SPDX-License-Identifier: Apache-2.0
"""The simulator in CANN's place: for a program that is started, or for this process."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from aclgrad.errors import ToolkitError
from aclgrad.runtime.toolkit import Toolkit, sim_root


def set_env(toolkit: Toolkit) -> Path:
    """Return the script to be sourced that does for a shell what `variables` does for a program."""
    path = toolkit.root / "set_env.sh"
    if not path.is_file():
        raise ToolkitError(f"--set-env: {toolkit.root} has no set_env.sh. Next: aclgrad build")
    return path


def python_folder(toolkit: Toolkit) -> Path:
    """Return the folder of the Python package that follows torch_npu."""
    return toolkit.root / "python"


def variables(toolkit: Toolkit, base: Mapping[str, str], soc: str | None = None) -> dict[str, str]:
    """Return a program's environment: ``base`` with the simulator's folders in front."""
    root = str(toolkit.root)
    changed = {
        **base,
        "ASCEND_HOME_PATH": root,
        "ASCEND_TOOLKIT_HOME": root,
        "ASCEND_OPP_PATH": str(toolkit.opp),
    }
    _prepend(changed, "LD_LIBRARY_PATH", toolkit.library_dir)
    _prepend(changed, "PATH", toolkit.root / "bin")
    _prepend(changed, "PYTHONPATH", python_folder(toolkit))
    if soc is not None:
        changed["ACLGRAD_SOC"] = soc
    return changed


def _prepend(variables: MutableMapping[str, str], name: str, folder: Path) -> None:
    present = [word for word in variables.get(name, "").split(":") if word]
    if str(folder) not in present:
        variables[name] = ":".join([str(folder), *present])


def enter(toolkit: Toolkit, soc: str | None = None) -> None:
    """Put the simulator in CANN's place for this process and those that it starts.

    The loader no longer reads LD_LIBRARY_PATH, so the libraries are loaded here: whoever asks for
    one of their names later gets what is loaded.
    """
    if toolkit.root != sim_root():
        raise ToolkitError(f"{toolkit.root} is not the simulator. Next: device='sim'")
    foreign = _loaded("libascendcl.so") - {str((toolkit.library_dir / "libascendcl.so").resolve())}
    if foreign:
        raise ToolkitError(
            f"{', '.join(sorted(foreign))} is loaded already, so the simulator cannot take its"
            " place. Next: aclgrad exec -- python PROGRAM, or import aclgrad.torch.npu first"
        )
    os.environ.update(variables(toolkit, os.environ, soc))
    folder = str(python_folder(toolkit))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    # Each as soon as those are there that it is linked with.
    left = sorted(toolkit.library_dir.glob("lib*.so"))
    while left:
        failed: dict[Path, OSError] = {}
        for path in left:
            try:
                ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
            except OSError as error:
                failed[path] = error
        if len(failed) == len(left):
            raise ToolkitError(f"{next(iter(failed.values()))}. Next: aclgrad build")
        left = list(failed)


def _loaded(name: str) -> set[str]:
    """Files of that name in this process."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    except OSError:
        return set()
    words = (line.split(maxsplit=5) for line in lines)
    return {word[5] for word in words if len(word) == 6 and Path(word[5]).name == name}
