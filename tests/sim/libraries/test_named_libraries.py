# SPDX-License-Identifier: Apache-2.0
"""Libraries that programs look for by CANN's names, and functions that are there by name only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aclgrad.runtime.toolkit import sim_root

NAMES = Path(__file__).parent / "torch_npu_names.txt"
TABLE = Path(__file__).parents[3] / "simulator" / "src" / "unsupported" / "functions.json"

CALLS = """
import ctypes, json, sys
folder, table = sys.argv[1], json.load(open(sys.argv[2]))
acl = ctypes.CDLL(folder + '/libascendcl.so')
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
nothing = (ctypes.c_void_p(),) * 6
wrong = []
for group in table['groups']:
    library = ctypes.CDLL(f"{folder}/lib{group['library']}.so")
    for name in group['functions'] + group.get('nothing', []):
        code = getattr(library, name)(*nothing)
        text = (acl.aclGetRecentErrMsg() or b'').decode()
        want = group['code'] if name in group['functions'] else 0
        says = text.startswith(name + ': ') and group['feature'] in text
        if code != want or not says or group['instead'] not in text:
            wrong.append((name, code, text))
    for name in group.get('quiet', []):
        code = getattr(library, name)(*nothing)
        if code != group['code'] or acl.aclGetRecentErrMsg():
            wrong.append((name, code))
marks = table['annotations']
library = ctypes.CDLL(f"{folder}/lib{marks['library']}.so")
for name in marks['functions']:
    if getattr(library, name)(*nothing) != 0 or acl.aclGetRecentErrMsg():
        wrong.append(name)
print(json.dumps(wrong))
"""


def test_functions_that_are_not_there_say_so() -> None:
    """Each has its documented code, its name in the message, and what to do instead."""
    command = [sys.executable, "-I", "-c", CALLS, str(sim_root() / "lib64"), str(TABLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize("library", [*json.loads(TABLE.read_text())["libraries"], "graph"])
def test_each_library_opens_by_itself(library: str) -> None:
    """With its own name inside, and with what it needs beside it."""
    path = sim_root() / "lib64" / f"lib{library}.so"
    code = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    subprocess.run([sys.executable, "-I", "-c", code, str(path)], check=True, env=environment)
    dynamic = subprocess.run(
        ["readelf", "-d", str(path)], check=True, capture_output=True, text=True
    ).stdout
    assert f"soname: [lib{library}.so]" in dynamic and "$ORIGIN" in dynamic


def test_a_program_linked_with_libgraph_alone(tmp_path: Path) -> None:
    """libgraph.so stands for libregister.so and libascendcl.so, functions and data."""
    source = tmp_path / "main.cpp"
    source.write_text(
        "#include <cstdio>\n#include <typeinfo>\n"
        '#include "acl/acl.h"\n#include "graph/ascend_string.h"\n'
        'int main() {\n  ge::AscendString text("there");\n'
        '  std::printf("%s %d", text.GetString(), aclInit(nullptr));\n}\n'
    )
    lib = sim_root() / "lib64"
    program = tmp_path / "main"
    subprocess.run(
        [
            "g++",
            "-std=c++20",
            str(source),
            f"-I{sim_root() / 'include'}",
            f"-L{lib}",
            "-lgraph",
            f"-Wl,-rpath,{lib}",
            "-o",
            str(program),
        ],
        check=True,
    )
    assert (
        subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
        == "there 0"
    )


@pytest.mark.parametrize("name", ["libtorch_npu.so", "libother.so"])
def test_what_a_framework_keeps_is_no_leak(tmp_path: Path, name: str) -> None:
    """torch_npu keeps streams and memory until the process ends; anybody else's are listed."""
    source = tmp_path / "keeps.cpp"
    source.write_text(
        '#include "acl/acl.h"\nextern "C" int Keep() {\n'
        "  void *memory, *stream, *event;\n"
        "  return aclInit(nullptr) + aclrtSetDevice(0) + aclrtCreateStream(&stream) +\n"
        "         aclrtCreateEvent(&event) +\n"
        "         aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);\n}\n"
    )
    lib = sim_root() / "lib64"
    made = tmp_path / name
    build = ["g++", "-shared", "-fPIC", str(source), f"-I{sim_root() / 'include'}", f"-L{lib}"]
    subprocess.run([*build, "-lascendcl", f"-Wl,-rpath,{lib}", "-o", str(made)], check=True)
    code = (
        "import ctypes, sys; lib = ctypes.CDLL(sys.argv[1]); assert lib.Keep() == 0;"
        "ctypes.CDLL('libascendcl.so').aclFinalize()"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, str(made)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LD_LIBRARY_PATH": str(lib)},
    )
    listed = "1 device block(s) of 64 bytes, 1 stream(s), 1 event(s)"
    assert (listed in done.stderr) == (name == "libother.so"), done.stderr


def wanted() -> dict[str, list[str]]:
    """By name of a function: how torch_npu comes to it, and the versions that do."""
    lines = [line.split() for line in NAMES.read_text().splitlines() if not line.startswith("#")]
    every = lines[0][1:]
    assert lines[0][0] == "versions" and "2.13.0" in every
    return {
        f"{name} ({how})": every if versions == ["*"] else versions
        for name, how, *versions in lines[1:]
    }


def lacking(names: dict[str, list[str]], there: set[str]) -> dict[str, list[str]]:
    """Those that no library has."""
    return {name: versions for name, versions in names.items() if name.split()[0] not in there}


def test_what_torch_npu_wants_by_name() -> None:
    """Every published version: a new release, once its names are in the file, shows its gap."""
    there: set[str] = set()
    for library in (sim_root() / "lib64").glob("*.so"):
        if library.name == "libgraph.so":
            continue  # names without what is behind them
        command = ["nm", "-D", "--defined-only", str(library)]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        there.update(line.split()[-1] for line in listed.splitlines())
    names = wanted()
    assert len(names) > 300
    assert lacking(names, there) == {}
    planted = {"aclrtFromTheFuture (looked-up)": ["9.9.9"]}
    assert lacking({**names, **planted}, there) == planted
