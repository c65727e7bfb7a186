# SPDX-License-Identifier: Apache-2.0
"""Vector functions of oneMKL, whose first call must not be one of several threads."""

from __future__ import annotations

import re
from pathlib import Path

import torch

from aclgrad_torch_npu.first_calls import FUNCTIONS
from npu_programs import Program

CALLED = """
import torch
from torch.utils._python_dispatch import TorchDispatchMode

class Calls(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        print("called", func._schema.name.removeprefix("aten::"), result.dtype)
        return result

with Calls():
    import torch_npu
"""


def test_functions_are_those_of_this_pytorch() -> None:
    header = Path(torch.__file__).parent / "include/ATen/cpu/vml.h"
    taken = re.findall(r"^IMPLEMENT_VML_MKL\((\w+),", header.read_text(encoding="utf-8"), re.M)
    assert sorted(FUNCTIONS) == sorted(taken)


def test_each_was_called_once_torch_npu_is_there(program: Program) -> None:
    done = program(CALLED, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    called = set(re.findall(r"^called (\w+) torch\.(\w+)$", done.stdout, re.M))
    wanted = {(name, dtype) for name in FUNCTIONS for dtype in ("float32", "float64")}
    assert wanted <= called, (wanted - called, done.stderr)
