#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the wheels and the installers: what scripts/wheel.sh calls, which says what comes out."""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import wheel_proof
from wheel_tools import ROOT, TOOLS, WheelError, compiler_of, run, say

from aclgrad.common.files import write

MOST_BYTES = 12_000_000


def commit_time(source: Path) -> str:
    """Seconds of the commit, for everything that has a time in it."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    done = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=source, capture_output=True, text=True
    )
    return given or done.stdout.strip() or "315532800"


def objcopy_of(arch: str) -> str:
    """The objcopy that knows its files."""
    return "objcopy" if arch == platform.machine() else f"{arch}-linux-gnu-objcopy"


def need(arch: str) -> None:
    """Raise `WheelError` when the machine's tools are not there."""
    own = arch == platform.machine()
    if not own and not (ROOT / f"cmake/{arch}.cmake").is_file():
        raise WheelError(
            f"--arch {arch}: there is no cmake/{arch}.cmake, {platform.machine()} builds for itself"
            " and for aarch64. Next: leave --arch out"
        )
    for tool in (compiler_of(arch), objcopy_of(arch)):
        if shutil.which(tool) is None:
            package = "g++ binutils" if own else f"g++-{arch}-linux-gnu"
            raise WheelError(f"--arch {arch}: no {tool}. Next: apt-get install {package}")


def build(arch: str, source: Path) -> Path:
    """Build the toolkit of a machine; returns its folder."""
    folder = source / "build" / ("sim" if arch == platform.machine() else arch)
    words: list[object] = [f"-DPython3_EXECUTABLE={sys.executable}"]
    words += [f"-DCMAKE_MAKE_PROGRAM={TOOLS / 'ninja'}"]
    if arch != platform.machine():
        words += ["--toolchain", source / f"cmake/{arch}.cmake"]
    run(["cmake", "-G", "Ninja", "-S", source, "-B", folder, *words], cwd=source)
    run(["ninja", "-C", folder], cwd=source)
    return folder / "toolkit"


def wheels(
    arch: str, source: Path, toolkit: Path, output: Path, *, debug: bool = True
) -> list[Path]:
    """Make the wheel, and with ``debug`` the one of its debug information."""
    epoch = commit_time(source)
    with tempfile.TemporaryDirectory(prefix="aclgrad-wheel-") as place:
        made = Path(place)
        settings = {
            "cmake.define.ACLGRAD_PREBUILT": toolkit,
            "cmake.define.ACLGRAD_OBJCOPY": shutil.which(objcopy_of(arch)),
            "build-dir": made / "build",
        }
        if debug:
            settings["cmake.define.ACLGRAD_DEBUG_FILES"] = made / "debug"
        options = ["--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
        options += [word for name, value in settings.items() for word in ("-C", f"{name}={value}")]
        # The tag of a wheel for another machine, as that machine's Python would have it.
        other = {"_PYTHON_HOST_PLATFORM": f"linux-{arch}"} if arch != platform.machine() else {}
        words = [sys.executable, "-I", "-m", "pip", "wheel", *options, "-w", made, source]
        run(words, cwd=source, SOURCE_DATE_EPOCH=epoch, **other)
        plain = next(made.glob("aclgrad-*.whl"))
        if other and arch not in plain.name:
            plain = retagged(plain, f"linux_{arch}")
        before = _libraries(plain)
        words = [sys.executable, "-I", "-m", "auditwheel", "repair", "-w", made / "tagged", plain]
        said = run(words, cwd=made, SOURCE_DATE_EPOCH=epoch)
        tagged = next((made / "tagged").glob("*.whl"), None)
        # Its libraries find one another by their names and need of others what manylinux has.
        if tagged is None or _libraries(tagged) != before:
            raise WheelError(
                f"auditwheel changed or refused the libraries of {plain.name}:\n{said}"
            )
        output.mkdir(parents=True, exist_ok=True)
        wheel = output / tagged.name
        with zipfile.ZipFile(tagged) as archive:
            files = {
                item.filename: (archive.read(item), bool(item.external_attr >> 16 & 0o111))
                for item in archive.infolist()
                if not item.is_dir()
            }
        write_wheel(wheel, files, epoch)
        files_made = [wheel, *([_debug_wheel(wheel, made / "debug", epoch)] if debug else [])]
    return files_made


def _sum_of(toolkit: Path) -> str:
    """The sum of the names and the content of all that goes into the wheel of this checkout."""
    parts = [toolkit, ROOT / "python"]
    paths = [ROOT / name for name in ("pyproject.toml", "README.md", "CMakeLists.txt")]
    paths += [path for part in parts for path in part.rglob("*") if path.suffix != ".pyc"]
    found = hashlib.sha256()
    for path in sorted(paths):
        if path.is_file():
            data = path.read_bytes()
            found.update(f"{path.relative_to(ROOT)}\0{len(data)}\0".encode())
            found.update(data)
    return found.hexdigest()


def of_checkout(output: Path) -> Path | None:
    """Make the wheel of what `aclgrad build` has built in this checkout, and remove the earlier one
    of this machine; nothing when that one was made of the same content (docs/decisions/0002).
    """
    arch, toolkit = platform.machine(), ROOT / "build/sim/toolkit"
    others = sorted(output.glob(f"aclgrad-*_{arch}.whl"))
    record = output / f".aclgrad-{arch}.made"
    content = _sum_of(toolkit)
    if len(others) == 1 and record.is_file():
        wheel = hashlib.sha256(others[0].read_bytes()).hexdigest()
        if record.read_text() == f"{content} {wheel}\n":
            return None
    with tempfile.TemporaryDirectory(prefix="aclgrad-wheel-") as place:
        (made,) = wheels(arch, ROOT, toolkit, Path(place), debug=False)
        record.unlink(missing_ok=True)
        for other in others:
            other.unlink()
        output.mkdir(parents=True, exist_ok=True)
        packed = Path(shutil.move(made, output / made.name))
    write(record, f"{content} {hashlib.sha256(packed.read_bytes()).hexdigest()}\n", "wheel")
    return packed


def retagged(wheel: Path, tag: str) -> Path:
    """The same wheel for another platform."""
    words = [sys.executable, "-I", "-m", "wheel", "tags", "--platform-tag", tag, "--remove", wheel]
    run(words, cwd=wheel.parent)
    return next(wheel.parent.glob(f"aclgrad-*{tag}.whl"))


def _libraries(wheel: Path) -> dict[str, int]:
    """Sums of what a machine runs."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            item.filename: item.CRC
            for item in archive.infolist()
            if item.filename.endswith(".so") or re.search("/bin/.", item.filename)
        }


def write_wheel(wheel: Path, files: Mapping[str, tuple[bytes, bool]], epoch: str) -> None:
    """Write a wheel: in order, with one time, modes 644 and 755, whatever the umask and the clock
    were. ``files`` has contents and whether they are programs; RECORD is made anew.
    """
    record = next(name for name in files if name.endswith(".dist-info/RECORD"))
    names = sorted(name for name in files if name != record)
    lines = []
    for name in names:
        data = files[name][0]
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    lines.append(f"{record},,")
    moment = time.gmtime(max(int(epoch), 315532800))[:6]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in [*names, record]:
            data, program = files[name]
            item = zipfile.ZipInfo(name, moment)
            item.compress_type = zipfile.ZIP_DEFLATED
            item.create_system = 3
            item.external_attr = (0o100755 if program else 0o100644) << 16
            archive.writestr(item, "\n".join(lines) + "\n" if name == record else data)


def _debug_wheel(wheel: Path, folder: Path, epoch: str) -> Path:
    """A wheel of files that gdb looks for beside the libraries of the other one."""
    _, version, _, _, tag = wheel.name.removesuffix(".whl").split("-")
    info = f"aclgrad_debug-{version}.dist-info"
    about = (
        f"Metadata-Version: 2.1\nName: aclgrad-debug\nVersion: {version}\n"
        "Summary: Debug information of aclgrad's simulator, for gdb\nLicense: Apache-2.0\n"
        f"Requires-Dist: aclgrad=={version}\n"
    )
    kind = f"Wheel-Version: 1.0\nGenerator: aclgrad\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    files = {
        f"aclgrad/toolkit/{path.relative_to(folder).as_posix()}": (path.read_bytes(), False)
        for path in folder.rglob("*.debug")
        if path.is_file()
    }
    for name, text in (("METADATA", about), ("WHEEL", kind), ("RECORD", "")):
        files[f"{info}/{name}"] = (text.encode(), False)
    target = wheel.with_name(f"aclgrad_debug-{version}-py3-none-{tag}.whl")
    write_wheel(target, files, epoch)
    return target


def installer(arch: str, source: Path, toolkit: Path, output: Path) -> Path:
    """Make the operators' installer."""
    words = [TOOLS / "aclgrad", "package", "--output", output]
    given = {"PYTHONPATH": str(source / "python"), "ACLGRAD_TOOLKIT": str(toolkit)}
    run(words, cwd=source, CXX=compiler_of(arch), **given)
    return output / f"custom_opp_aclgrad_linux-{arch}.run"


def make(arch: str, source: Path, output: Path) -> list[Path]:
    """Everything for one machine, and its sizes."""
    say(f"{arch}: building")
    toolkit = build(arch, source)
    say(f"{arch}: packing")
    made = wheels(arch, source, toolkit, output)
    if (size := made[0].stat().st_size) > MOST_BYTES:
        raise WheelError(f"{made[0].name} has {size:,} bytes, at most {MOST_BYTES:,} are allowed")
    made.append(installer(arch, source, toolkit, output))
    for path in made:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        say(f"  {path.name}: {path.stat().st_size / 1e6:.1f} MB, sha256 {digest[:16]}")
    return made


def again(arch: str, made: Iterable[Path]) -> None:
    """Make it all once more, in a copy of the commit that has another name, from nothing."""
    with tempfile.TemporaryDirectory(prefix="another-place-") as place:
        copy = Path(place) / "with" / "a longer name"
        run(["git", "clone", "-q", "--no-local", ROOT, copy])
        say(f"{arch}: a second time, in {copy}")
        others = make(arch, copy, Path(place) / "dist")
        for one, other in zip(made, others, strict=True):
            if one.read_bytes() != other.read_bytes():
                raise WheelError(
                    f"{one.name}: two builds of one commit differ: {difference(one, other)}"
                )
    say(f"{arch}: both builds have the same bytes")


def difference(one: Path, other: Path) -> str:
    """The first part that differs."""
    if one.suffix != ".whl":
        return "the installer"
    with zipfile.ZipFile(one) as first, zipfile.ZipFile(other) as second:
        if first.namelist() != second.namelist():
            return f"names: {sorted({*first.namelist()} ^ {*second.namelist()})[:3]}"
        names = [n for n in first.namelist() if first.read(n) != second.read(n)]
    return f"{len(names)} files, first {names[0]}" if names else "times or modes"


def main() -> int:
    """Make what the options name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", action="append", choices=("x86_64", "aarch64"))
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--no-prove", action="store_true")
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--of-build", action="store_true")
    options = parser.parse_args()
    if options.of_build:
        try:
            wheel = of_checkout(options.output.resolve())
        except WheelError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        print(f"wheel: {wheel}" if wheel else "wheel: up to date")
        return 0
    arches = options.arch or sorted({platform.machine(), "aarch64"}, key=platform.machine().__ne__)
    try:
        for arch in arches:
            need(arch)
        if options.twice:
            changed = subprocess.run(
                ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True
            )
            if changed.stdout:
                raise WheelError("--twice: two builds of one commit are compared, and something is"
                                 " not committed. Next: git commit")  # fmt: skip
        for arch in arches:
            made = make(arch, ROOT, options.output.resolve())
            if options.twice:
                again(arch, made)
            if arch != platform.machine() and not options.no_prove:
                build(platform.machine(), ROOT)  # what it is compared with
                wheel_proof.prove(arch, made[0], made[-1])
    except WheelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
