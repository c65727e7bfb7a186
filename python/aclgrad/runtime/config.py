# SPDX-License-Identifier: Apache-2.0
"""Words for a C++ compiler command that builds and runs aclnn programs."""

from pathlib import Path

from aclgrad.errors import ToolkitError
from aclgrad.runtime.toolkit import Toolkit


def cflags(toolkit: Toolkit) -> list[str]:
    """-I words."""
    return [f"-I{path}" for path in toolkit.include_dirs]


def libs(toolkit: Toolkit) -> list[str]:
    """-L, -Wl,-rpath and -l words; with the run path no environment variable is needed."""
    folders = dict.fromkeys((toolkit.opapi.parent, toolkit.library_dir))
    return [
        *(f"-L{folder}" for folder in folders),
        *(f"-Wl,-rpath,{folder}" for folder in folders),
        "-lcust_opapi",
        "-lnnopbase",
        "-lascendcl",
    ]


def cmake(toolkit: Toolkit) -> Path:
    """Folder of aclgrad-config.cmake: what find_package(aclgrad) reads."""
    if toolkit.device != "sim":
        raise ToolkitError(
            "--cmake: find_package(aclgrad) gives the simulator's toolkit. Next: find_package(ASC)"
            " for CANN's, or --device sim"
        )
    folder = toolkit.root / "share" / "cmake" / "aclgrad"
    if not (folder / "aclgrad-config.cmake").is_file():
        raise ToolkitError(f"--cmake: {folder} has no aclgrad-config.cmake. Next: aclgrad build")
    return folder
