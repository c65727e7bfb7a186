# SPDX-License-Identifier: Apache-2.0
"""What ``aclgrad doctor --device npu`` finds of CANN and of the devices."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from aclgrad.checkout import cann_build
from aclgrad.errors import ToolkitError
from aclgrad.runtime import toolkit as toolkits


@dataclass(frozen=True)
class DoctorLine:
    """One line of the report. ``status`` is ok, note or problem."""

    what: str
    value: str
    status: str = "ok"
    fix: str = ""

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        return asdict(self)


def findings() -> Iterator[DoctorLine]:
    """What --device npu needs beside libraries."""
    try:
        found = cann_build.find_cann()
    except ToolkitError as error:
        text, _, fix = str(error).removeprefix("build --device npu: ").partition(" Next: ")
        yield DoctorLine("building with CANN", text, "note", fix)
    else:
        style = {"ASC": "find_package(ASC)", "template": "the 8.x project template"}[found.style]
        text = f"CANN {found.version} at {found.home}, by {style} in {found.modules}"
        yield DoctorLine("building with CANN", text)
    yield _npu()


_DEVICES = """
import ctypes, sys
acl = ctypes.CDLL(sys.argv[1])
acl.aclrtGetSocName.restype = ctypes.c_char_p
count = ctypes.c_uint32()
code = acl.aclInit(None) or acl.aclrtGetDeviceCount(ctypes.byref(count))
soc = acl.aclrtGetSocName() if count.value and not acl.aclrtSetDevice(0) else None
print(code, count.value, soc.decode() if soc else "", flush=True)
"""


def _npu() -> DoctorLine:
    """What the toolkit's runtime says of the devices; without a toolkit, what /dev says."""
    there = sorted(path.name for path in Path("/dev").glob("davinci[0-9]*"))
    nodes = f"/dev has {', '.join(there) or 'no davinci*'}"
    fix = "npu-smi info" if there else "npu-smi info; docker run --device /dev/davinci0 ..."
    library = Path(os.environ.get("ASCEND_HOME_PATH") or "none") / "lib64" / toolkits.ACL
    if not library.is_file():
        return DoctorLine("NPU", f"{nodes}; no toolkit to ask", "note" if there else "problem", fix)
    command = [sys.executable, "-I", "-c", _DEVICES, str(library)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return DoctorLine("NPU", f"no answer within a minute; {nodes}", "problem", fix)
    lines = done.stdout.splitlines() or ["-1 0 "]
    code, count, soc = lines[-1].split(" ", 2)
    if code == "0" and count != "0":
        return DoctorLine("NPU", f"{count}, {soc}")
    said = (done.stderr.strip().splitlines() or [f"aclInit or aclrtGetDeviceCount: {code}"])[-1]
    return DoctorLine("NPU", f"none ({said}); {nodes}", "problem", fix)
