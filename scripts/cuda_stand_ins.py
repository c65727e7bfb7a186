# SPDX-License-Identifier: Apache-2.0
"""Lets PyTorch's build for CUDA start where CUDA is not, for versions that have no other build.

Its libraries are linked with CUDA's, which take gigabytes. Here small ones of the same names take
their place: each function that PyTorch's libraries want of them returns 100, which says that there
is no device.
"""

from __future__ import annotations

import collections
import os
import re
import subprocess
from pathlib import Path

_NO_DEVICE = 100
_OF_CUDA = re.compile(r"lib(?:cu|nv|nccl)\w*\.so[.\d]*")

SETTINGS = (
    b"per_process_memory_fraction",
    b"pinned_reserve_segment_size_mb",
    b"pinned_use_background_threads",
)
"""Settings of the allocator that PyTorch's part for CUDA and torch_npu both register, which
PyTorch refuses (``Duplicated key``). Those of CUDA's part get other names, as it is not used."""


def _read(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def wanted(libraries: list[Path]) -> dict[str, dict[str, set[str]]]:
    """Names of CUDA's libraries; by version, what is wanted of each."""
    found: dict[str, dict[str, set[str]]] = {}
    for library in libraries:
        head = _read("objdump", "-p", library)
        names = {name for name in re.findall(r"NEEDED +(\S+)", head) if _OF_CUDA.fullmatch(name)}
        # "required from LIBRARY:" is followed by the versions that are wanted of it.
        versions: dict[str, str] = {}
        for name, rows in re.findall(r"required from (\S+):\n((?: +0x.*\n)*)", head):
            for row in rows.splitlines() if name in names else ():
                versions[row.split()[-1]] = name
        for name in names:
            found.setdefault(name, collections.defaultdict(set))
        for symbol in re.findall(r" [Uu] (\S+)", _read("nm", "-D", library)):
            function, _, version = symbol.partition("@")
            if version in versions:
                found[versions[version]][version].add(function)
            elif not version and names and re.match(r"(?:cu|nv|nccl)[A-Z]|cu[a-z]+[A-Z]", function):
                nearest = max(sorted(names), key=lambda name: _in_common(name, function))
                found[nearest][""].add(function)
    return found


def _in_common(library: str, function: str) -> int:
    """How many letters the name of a library begins with as a function does."""
    return len(os.path.commonprefix([library.removeprefix("lib").lower(), function.lower()]))


def make(name: str, versions: dict[str, set[str]], folder: Path) -> None:
    """Build one library."""
    source, script = folder / f"{name}.c", folder / f"{name}.map"
    functions = sorted(set().union(*versions.values()))
    lines = [f"int {function}(void) {{ return {_NO_DEVICE}; }}" for function in functions]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ["cc", "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{name}"]
    tagged = {version: names for version, names in versions.items() if version}
    if tagged:
        rows = (
            f"{tag} {{ {' '.join(f'{name};' for name in sorted(names))} }};"
            for tag, names in tagged.items()
        )
        script.write_text("\n".join(rows) + "\n", encoding="utf-8")
        words.append(f"-Wl,--version-script,{script}")
    subprocess.run([*words, "-o", str(folder / name), str(source)], check=True)
    source.unlink()
    script.unlink(missing_ok=True)


def put_in(folder: Path) -> None:
    """Put stand-ins beside the libraries of the PyTorch in a folder; a build for CPUs gets none."""
    place = folder / "torch" / "lib"
    for name, versions in wanted(sorted(place.glob("*.so*"))).items():
        if not (place / name).exists():
            make(name, versions, place)
    config = place / "libc10_cuda.so"
    if not config.exists():
        return
    text = config.read_bytes()
    for setting in SETTINGS:
        # Compilers keep a text as pieces of 16 bytes.
        text = text.replace(setting[:16], b"x" + setting[1:16])
    config.write_bytes(text)
