# SPDX-License-Identifier: Apache-2.0
"""Test kernels for both halves of an AI core, compiled as ascc compiles a MIX kernel."""

from __future__ import annotations

import ctypes
from pathlib import Path

from compile_once import compile_once
from instructions.bench import HERE

A2, A5 = "2201", "3510"  # __NPU_ARCH__ of the architectures whose cores come in halves
_CORES = {A2: "220", A5: "310"}  # __CCE_AICORE__


def mixed_library(toolkit: Path, folder: Path, name: str, arch: str = A2) -> ctypes.CDLL:
    """Both halves of a source in one library."""
    core = _CORES[arch]
    compiler = ["g++", "-std=c++17", "-fPIC", "-Wall", "-Wextra", "-Werror", "-O1", "-g"]
    compiler += ["-fno-omit-frame-pointer", f"-D__NPU_ARCH__={arch}", f"-D__CCE_AICORE__={core}"]
    compiler += [f"-D__DAV_C{core}__", "-DACLSIM_HALVES", f"-I{toolkit}/include"]
    halves = []
    for half in ("VEC", "CUBE"):
        command = [*compiler, f"-D__DAV_C{core}_{half}__", "-c", str(HERE / f"{name}.cpp")]
        halves.append(compile_once(folder, f"{name}_{half}.o", command))
    vectors, cubes = halves
    joined = compile_once(
        folder, f"{name}_half.o", [str(toolkit / "bin" / "ascc"), "--cube-half", str(cubes)]
    )
    linked = ["g++", "-shared", str(vectors), str(joined), f"-L{toolkit}/lib64", "-lascendcl"]
    linked += ["-lc", f"-Wl,-rpath,{toolkit}/lib64", "-Wl,-z,defs"]
    return ctypes.CDLL(str(compile_once(folder, f"{name}.so", linked)))
