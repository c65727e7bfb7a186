# SPDX-License-Identifier: Apache-2.0
"""What `aclgrad package --from DIR` takes from a folder."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from aclgrad.errors import AclgradError
from aclgrad.packaging import package
from package_files import ARCH, TILING

LINK = "op_impl/ai_core/tbe/op_tiling/liboptiling.so"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A vendor folder as a build leaves it, its own link included."""
    made = tmp_path / "vendor"
    for name in (f"op_api/lib/{package.OPAPI}", "op_api/include/a.h", TILING, "version.info"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(name)
    (made / LINK).symlink_to(Path(TILING).relative_to(Path(LINK).parent))
    return made


def listen(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's name is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


def setuid(path: Path) -> None:
    path.write_text("x")
    path.chmod(0o4755)


def setgid(path: Path) -> None:
    path.write_text("x")
    path.chmod(0o2755)


MAKERS: list[tuple[Callable[[Path], object], str]] = [
    (lambda path: path.symlink_to("/etc/passwd"), "a link to /etc/passwd"),
    (lambda path: path.symlink_to("a.h"), "a link to a.h"),
    (lambda path: path.symlink_to("/etc"), "a link to /etc"),
    (lambda path: path.symlink_to("nothing"), "a link to nothing"),
    (os.mkfifo, "a device, pipe or socket"),
    (listen, "a device, pipe or socket"),
    (setuid, "a setuid or setgid program"),
    (setgid, "a setuid or setgid program"),
]


def test_plain_files_and_the_own_link(folder: Path) -> None:
    files = package._built_files(folder, ["ascend910b"], ARCH)
    assert set(files) == {
        f"op_api/lib/{package.OPAPI}",
        "op_api/include/a.h",
        TILING,
        "version.info",
    }


@pytest.mark.parametrize(("make", "kind"), MAKERS)
@pytest.mark.parametrize("place", ["op_api/include/more.h", "bin/tool", "op_api/lib/x.so"])
def test_all_else_is_refused_by_name(
    make: Callable[[Path], object], kind: str, place: str, folder: Path
) -> None:
    path = folder / place
    path.parent.mkdir(exist_ok=True)
    make(path)
    want = f"package: {re.escape(str(path))} is {kind}; .*Next: "
    with pytest.raises(AclgradError, match=want):
        package._built_files(folder, ["ascend910b"], ARCH)


def test_the_own_link_leads_nowhere_else(folder: Path) -> None:
    (folder / LINK).unlink()
    (folder / LINK).symlink_to("/etc/passwd")
    with pytest.raises(AclgradError, match=f"{re.escape(LINK)} is a link to /etc/passwd"):
        package._built_files(folder, ["ascend910b"], ARCH)
