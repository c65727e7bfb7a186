# SPDX-License-Identifier: Apache-2.0
"""Stand-in for an op compiler's front end: reads a kernel, then calls its compiler."""

import collections
import os
import re
import subprocess
from pathlib import Path

from .global_storage import global_var_storage

NATIVE = os.environ.get("STAND_IN_IMPORT")  # a test's way to have a module missing
if NATIVE:
    __import__(NATIVE)

Found = collections.namedtuple(
    "Found", "tiling_key_list tiling_key_kernel_type tiling_key_struct_map no_set_kernel_type"
)


class KernelInfoInfer:
    """Reads the preprocessed source."""

    @staticmethod
    def get_tiling_key_list_and_simple_infer_code_channel(source, options, output):
        """Preprocess and read keys and types."""
        command = ["bisheng", "-c", "-O3", "-E", *options, "--cce-aicore-arch=dav-x-vec"]
        subprocess.run([*command, source, "-o", output], check=True)
        text = Path(output).read_text()
        if "HANG" in text:
            os._exit(3)
        keys = re.findall(r"TILING_KEY_IS\((\d+)\)", text) or ["0"]
        types = dict(re.findall(r"KERNEL_TASK_TYPE\((\d+), (\w+)\)", text))
        default = re.search(r"KERNEL_TASK_TYPE_DEFAULT\((\w+)\)", text)
        if types and set(types) != set(keys) and not default:
            raise Exception("must provide default kernel type")
        if default:
            types = {key: types.get(key, default[1]) for key in keys}
        for word in re.findall(r"TILING_KEY_IS\((\D\w*)\)", text):
            print(f"2026-01-01 [ERROR] [ascend910b] {word} can not be processed")
        return Found(keys, types, dict.fromkeys(keys, "TinyTiling"), not types)


def compile_op(source, entry, info, options, _channel, _more, _extended):
    """Compile an operator: everything but the compiler's own work."""
    meta = Path("kernel_meta")
    meta.mkdir()
    short = global_var_storage.values["ascendc_short_soc_version"]
    words = [f"-DSHORT={short}", *(word for word in options if word.startswith("-D"))]
    found = KernelInfoInfer.get_tiling_key_list_and_simple_infer_code_channel(
        source, words, str(meta / "kernel.i")
    )
    names = [one["name"] for one in (*info.inputs, *info.outputs)]
    pointers = ", ".join(f"GM_ADDR {name}" for name in (*names, "workspace", "tiling"))
    (meta / "one_kernel.cpp").write_text(
        f"void auto_gen_{entry}_kernel({pointers}) {{ GetUserWorkspace(workspace); }}"
    )
    for key in found.tiling_key_list:
        done = subprocess.run(["bisheng", "-c", str(meta / "one_kernel.cpp"), f"-DKEY={key}"])
        if done.returncode:
            raise Exception("An error occurred during compile phases")
