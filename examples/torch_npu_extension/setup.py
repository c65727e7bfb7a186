# SPDX-License-Identifier: Apache-2.0
"""Builds my_operators.cpp against torch and torch_npu: setup.py build_ext --inplace."""

from pathlib import Path

import torch_npu
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension
from torch_npu.utils.cpp_extension import NpuExtension

THIRD_PARTY = Path(torch_npu.__file__).parent / "include" / "third_party"

setup(
    name="my_operators",
    ext_modules=[
        NpuExtension(
            "my_operators",
            ["my_operators.cpp"],
            include_dirs=[str(THIRD_PARTY / "op-plugin"), str(THIRD_PARTY / "acl" / "inc")],
            # The headers ask for it: that of torch 2.13.
            extra_compile_args=["-DCURRENT_VERSION=V2R13", "-O0", "-g0", "-w"],
        )
    ],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False, no_python_abi_suffix=True)},
)
