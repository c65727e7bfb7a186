# SPDX-License-Identifier: Apache-2.0
"""Small packages for the installer's tests, and ways to stop a run in the middle."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from aclgrad.packaging import archive
from aclgrad.packaging.content import Content

ARCH = platform.machine()
TILING = f"op_impl/ai_core/tbe/op_tiling/lib/linux/{ARCH}/libcust_opmaster_rt2.0.so"
TOOLS = (
    "bash", "cat", "chmod", "chown", "cp", "df", "dirname", "flock", "gzip", "head", "ln", "mkdir",
    "mktemp", "mv", "printf", "readlink", "realpath", "rm", "rmdir", "sha256sum", "sort", "stat",
    "tail", "tar", "timeout", "tr", "uname",
)  # fmt: skip
"""What the installer may use: bash, coreutils, tar, gzip, flock."""

SKIPPING = "#!/usr/bin/env bash\necho no device\nexit 77\n"


def content(
    version: str = "1.0",
    vendor: str = "tiny",
    operators: Mapping[str, str] | None = None,
    self_test: str = SKIPPING,
    more: Mapping[str, bytes] | None = None,
) -> Content:
    """A package of a few bytes."""
    operators = operators or {"TinyGrad": "tiny_grad"}
    kernel = "op_impl/ai_core/tbe/kernel/ascend910b"
    files = {
        "op_api/lib/libcust_opapi.so": f"api of {vendor} {version}".encode(),
        TILING: f"tiling of {vendor} {version}".encode(),
        "op_api/include/aclnnop/aclnn_tiny.h": b"// tiny\n",
        "bin/self_test": self_test.encode(),
        "bin/set_env.bash": b"# nothing\n",
        "version.info": f"version={version}\n".encode(),
        **{f"{kernel}/{op}/{name}_float32.so": b"kernel" for name, op in operators.items()},
        # Files that only one version has.
        f"op_impl/of_{version}.txt": version.encode(),
        **(more or {}),
    }
    tiling = "op_impl/ai_core/tbe/op_tiling"
    links = {f"{tiling}/liboptiling.so": TILING.removeprefix(f"{tiling}/")}
    made = Content(vendor, "sim", ARCH, ("ascend910b",), operators, files, links, version)
    files["scripts/uninstall.sh"] = archive.uninstaller(made)
    return made


def write(folder: Path, made: Content) -> Path:
    """The package file."""
    return Path(archive.write_run(folder, made).path)


def clean_environment(**more: str) -> dict[str, str]:
    """Without what decides where a package goes and which libraries are found."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ASCEND", "ACLGRAD", "LD_"))
    }
    return {**kept, **more}


def run(script: Path, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a package file or an installed script."""
    return subprocess.run(
        ["bash", str(script), *map(str, words)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=600,
        stdin=subprocess.DEVNULL,
        env=clean_environment(**environment),
    )


def good(script: Path, *words: object, **environment: str) -> str:
    """Run it; it must succeed."""
    done = run(script, *words, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def refused(script: Path, *words: object, match: str, **environment: str) -> str:
    """Run it; it must fail with one message that names the next step."""
    done = run(script, *words, **environment)
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert match in done.stderr, done.stderr
    assert "error: " in done.stderr and "Next: " in done.stderr, done.stderr
    return done.stderr


def snapshot(folder: Path) -> dict[str, object]:
    """Every file, link and folder below, with modes and bytes."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        mode = stat.S_IMODE(path.lstat().st_mode)
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_dir():
            found[name] = mode
        else:
            found[name] = (mode, path.read_bytes())
    return found


def tool_folder(folder: Path) -> Path:
    """A PATH with the permitted tools and nothing else."""
    folder.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        if found is not None:
            (folder / name).symlink_to(found)
    return folder


# Each call of a tool counts; the one that is chosen fails, kills the whole run, or is the first of
# those that fail.
_WRAPPER = """#!{bash}
read -r count < "$TOOL_COUNT"
printf '%d\\n' "$((++count))" > "$TOOL_COUNT"
printf '%s\\n' "{name} $*" >> "$TOOL_COUNT.log"
if ((count == TOOL_STOP)) || [[ $TOOL_HOW == break && $count -gt $TOOL_STOP ]]; then
  [[ $TOOL_HOW != kill ]] || kill -9 0
  printf '%s\\n' "${{TOOL_MESSAGE:-{name}: planted fault}}" >&2
  exit 1
fi
exec {real} "$@"
"""
STEPS = ("mkdir", "mv", "rm", "tar")
"""Tools between whose calls the state of the target changes."""
_COUNTED = ("chmod", "cp", "ln", "mkdir", "mv", "rm", "rmdir", "tar")


def faulty_tools(folder: Path, names: tuple[str, ...] = _COUNTED) -> Path:
    """A PATH in which the tools that change something can be made to fail or to kill."""
    tool_folder(folder)
    for name in names:
        real = os.readlink(folder / name)
        (folder / name).unlink()
        text = _WRAPPER.format(bash=os.readlink(folder / "bash"), name=name, real=real)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def stopped(script: Path, *words: object, tools: Path, at: int, how: str = "kill") -> int | None:
    """Run with the fault at the `at`-th call of a tool. None when the run has fewer calls."""
    count = tools / "count"
    count.write_text("0\n")
    environment = clean_environment(
        PATH=str(tools), TOOL_COUNT=str(count), TOOL_STOP=str(at), TOOL_HOW=how
    )
    # A session of its own: the kill takes every process of the run, as a power cut does.
    with subprocess.Popen(
        ["bash", str(script), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    ) as process:
        process.communicate(timeout=600)
    if int(count.read_text()) < at:
        return None
    if how == "kill":
        assert process.returncode == -signal.SIGKILL
    return process.returncode
