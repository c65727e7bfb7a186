# SPDX-License-Identifier: Apache-2.0
"""Runs a wheel for another machine under qemu-user and compares, bit for bit, with this machine.

A part of scripts/wheel.py. The other machine's Python and C library come from Debian, into a folder
of the build; its compiler is the cross compiler, whose programs run in the emulator unasked.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from wheel_tools import ROOT, WheelError, compiler_of, run, say

# Both machines run every instruction, the five programs, and one case in GRID of the operators'
# grid.
TESTS = (
    "tests/sim/instructions",
    "tests/sim/libraries/test_seed_programs.py",
    "tests/sim/operators/test_precision_grid.py",
)
GRID = 8
# aarch64 divides integers by zero without a signal. The emulator lets a signal in only between two
# blocks of instructions, so not every endless loop ends.
LEFT_OUT = "not divides_by_zero and not endless"
DEBIAN = {"aarch64": "arm64"}
_PACKAGES = ("python3", "python3-minimal", "libstdc++6", "libgcc-s1", "zlib1g")
_COMPILED = ("numpy", "ml_dtypes", "markupsafe", "hypothesis")  # all else is Python

# A compiler whose programs are scripts that run the program in the emulator; libraries are as ever.
_COMPILER = """#!/bin/bash
{compiler} "$@" || exit
out=a.out
while (($#)); do
  [[ $1 != -o ]] || out=$2
  shift
done
if [[ -f $out ]] && {readelf} -lW -- "$out" 2>/dev/null | grep -q INTERP; then
  mv -- "$out" "$out.elf"
  printf '#!/bin/sh\\nexec {emulator} -L {root} "%s" "$@"\\n' "$(realpath -- "$out.elf")" >"$out"
  chmod +x -- "$out"
fi
"""

# Lets a kernel (6.7 or later) run the other machine's programs by the emulator, in a namespace that
# nobody else sees: the installer starts programs of the package by their paths.
_NAMESPACE = r"""set -euo pipefail
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf %s ":other:M::$magic:$mask:$1:F" >/proc/sys/fs/binfmt_misc/register
shift
"$@"
"""
_INSTALL = (
    'bash "$1" --install-path="$2" --toolkit="$3" && bash "$1" --install-path="$2" --uninstall'
)


def need(arch: str) -> None:
    """Raise `WheelError` when something is missing that the proof takes."""
    for tool, package in ((f"qemu-{arch}", "qemu-user"), ("apt-get", "apt"), ("dpkg", "dpkg")):
        if shutil.which(tool) is None:
            raise WheelError(f"proof: no {tool}. Next: apt-get install {package}, or --no-prove")


def make_root(arch: str) -> Path:
    """The other machine's Python, its C library and the compiled packages that tests want; made
    once.
    """
    place = ROOT / "build" / f"{arch}-root"
    wanted = "\n".join([*_PACKAGES, *_versions()])
    if (place / "made").is_file() and (place / "made").read_text() == wanted:
        return place
    shutil.rmtree(place, ignore_errors=True)
    for folder in ("apt/lists/partial", "apt/cache/archives/partial", "root", "site"):
        (place / folder).mkdir(parents=True)
    words = [f"APT::Architecture={DEBIAN[arch]}", f"APT::Architectures={DEBIAN[arch]}"]
    words += [f"Dir::State::Lists={place}/apt/lists", "Dir::State::status=/dev/null"]
    words += [f"Dir::Cache={place}/apt/cache", "Debug::NoLocking=1"]
    apt = ["apt-get", "-qq", *(word for each in words for word in ("-o", each))]
    run([*apt, "update"])
    run([*apt, "install", "-y", "--no-install-recommends", "--download-only", *_PACKAGES])
    for package in sorted((place / "apt/cache/archives").glob("*.deb")):
        run(["dpkg", "-x", package, place / "root"])
    version = re.sub(r"\D*(\d+\.\d+)", r"\1", (place / "root/usr/bin/python3").readlink().name)
    platforms = ("manylinux_2_28", "manylinux2014", "manylinux_2_17")
    pip = [sys.executable, "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-deps"]
    pip += ["--only-binary=:all:", "--implementation=cp", f"--python-version={version}"]
    pip += [f"--platform={name}_{arch}" for name in platforms]
    if os.environ.get("ACLGRAD_NEWEST") != "1":
        pip += ["--require-hashes", "-c", str(ROOT / "requirements/locked.txt")]
    run([*pip, "--target", place / "site", *_versions()])
    (place / "made").write_text(wanted)
    return place


def _versions() -> list[str]:
    """The compiled packages, of the versions that are installed here."""
    from importlib.metadata import version

    return [f"{name}=={version(name)}" for name in _COMPILED]


def environment(arch: str, place: Path, wheel: Path) -> tuple[dict[str, str], list[str]]:
    """Unpack the wheel; an environment whose ``g++`` is the other machine's, and the folders of its
    modules.
    """
    installed, programs = place / "wheel", place / "bin"
    for folder in (installed, programs):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    emulator, root = f"qemu-{arch}", place / "root"
    compiler = shutil.which(compiler_of(arch))
    scripts = {
        "python3": f'#!/bin/sh\nexec {emulator} -L {root} -0 "$0" {root}/usr/bin/python3 "$@"\n',
        "g++": _COMPILER.format(
            compiler=compiler, readelf=f"{arch}-linux-gnu-readelf", emulator=emulator, root=root
        ),
    }
    scripts["c++"] = scripts["g++"]
    scripts["uname"] = f'#!/bin/sh\n[ "$1" = -m ] && exec echo {arch}\nexec {_tool("uname")} "$@"\n'
    for name, text in scripts.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    packages = next(Path(path) for path in sys.path if path.endswith("site-packages"))
    return (
        {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"},
        [str(place / "site"), str(installed), str(packages)],
    )


def _digests(folder: Path) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for path in sorted(folder.glob("*.json")):
        found |= json.loads(path.read_text())
    return found


def _pytest(python: str, folder: Path, first: list[str], given: dict[str, str]) -> str:
    """Run the tests; their last line."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tests = [str(ROOT / name) for name in ("tests", "tests/null", "tests/sim")]
    given = {**given, "PYTHONPATH": os.pathsep.join((*first, *tests))}
    options = ["-q", "-p", "digests", "--digests", folder, "--every", GRID, "-k", LEFT_OUT]
    options += ["-p", "no:cacheprovider", "-o", "pythonpath=", "-n", os.cpu_count() or 1]
    log = run([python, "-m", "pytest", *options, *TESTS], cwd=ROOT, **given)
    return next(line for line in reversed(log.splitlines()) if " passed" in line)


def _tool(name: str) -> str:
    return shutil.which(name) or name


def installed(arch: str, installer: Path, place: Path, given: dict[str, str]) -> str:
    """Install the package with its self-test, which runs every operator, and remove it."""
    space = [_tool("unshare"), "-Urm", "bash", "-c", _NAMESPACE, "bash", _tool(f"qemu-{arch}")]
    probe = subprocess.run([*space, "true"], capture_output=True, text=True)
    if probe.returncode:
        return f"the installer was not tried: {probe.stderr.strip()[-200:]}"
    with tempfile.TemporaryDirectory(prefix="aclgrad-installer-") as folder:
        target = Path(folder)
        words = ["bash", "-c", _INSTALL, "bash", installer, target]
        log = run([*space, *words, place / "wheel/aclgrad/toolkit"],
                  cwd=ROOT, **given, QEMU_LD_PREFIX=str(place / "root"))  # fmt: skip
        tested = re.findall(r"^self-test: (\w+) ok$", log, re.M)
        if not tested or any(target.iterdir()):
            raise WheelError(f"{installer.name}: no self-test, or something is left:\n{log}")
    return f"{installer.name}: installed, {len(tested)} operators tested, removed"


def prove(arch: str, wheel: Path, installer: Path) -> None:
    """Raise `WheelError` where the other machine computes anything else."""
    need(arch)
    say(f"{arch}: proving {wheel.name} in the emulator; first its Python and C library")
    place = make_root(arch)
    given, modules = environment(arch, place, wheel)
    say(f"{arch}: {installed(arch, installer, place, given)}")
    say(f"{arch}: the same tests here")
    folders = [ROOT / "build" / "digests" / name for name in ("here", arch)]
    clean = {"ACLGRAD_TOOLKIT": "", "ASCEND_CUSTOM_OPP_PATH": ""}
    say(f"  {_pytest(sys.executable, folders[0], [str(ROOT / 'python')], clean)}")
    say(f"{arch}: and there")
    say(f"  {_pytest(f'{place}/bin/python3', folders[1], modules, clean | given)}")
    here, there = map(_digests, folders)
    say(f"{arch}: {compared(here, there)}")


def compared(here: dict[str, list[object]], there: dict[str, list[object]]) -> str:
    """What agrees; raises `WheelError` that names what does not."""
    differ = [test for test in sorted({*here, *there}) if here.get(test) != there.get(test)]
    if differ or not here:
        raise WheelError(
            f"proof: results differ in {len(differ)} of {len(here)} tests:\n"
            + "\n".join(f"  {test}" for test in differ[:20])
        )
    total = sum(int(str(count)) for count, _ in here.values())
    return f"{total:,} bytes of results in {len(here)} tests are the same but for signs of NaNs"
