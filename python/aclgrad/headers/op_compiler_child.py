# SPDX-License-Identifier: Apache-2.0
"""Runs the front end of CANN's op compiler on one kernel, in a process of its own.

    python -I op_compiler_child.py REQUEST.json ANSWER.json

Imports nothing of aclgrad: the scripts of the op compiler, of either generation, fill this process.
What they take from native libraries (facts of the SoC) comes from the request. Modules that a
checkout lacks are replaced by empty ones, and named in the answer.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import io
import json
import os
import re
import sys
import traceback
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

STAND_INS = ("tbe.tvm", "tbe.common", "te")  # packages with native parts


class Nothing:
    """Takes any call and has any attribute."""

    def __call__(self, *_args: Any, **_named: Any) -> Nothing:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __bool__(self) -> bool:
        return False


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands behind all other finders: makes what they do not find, if it is known to be native."""

    def __init__(self, known: dict[str, Any]) -> None:
        self.known = known
        self.made: list[str] = []

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if not any(name == one or name.startswith(f"{one}.") for one in STAND_INS):
            return None
        self.made.append(name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        vars(module).update(self.known)


class Context:
    """The compile's context where the real one is not at hand."""

    def __init__(self) -> None:
        self.workspaces: dict[str, int] = {}

    def add_workspace(self, name: str, size: int) -> None:
        self.workspaces[name] = size

    def get_compile_info(self) -> dict[str, Any]:
        return {}

    def get_addition(self, _key: str) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


class Refused(Exception):
    """What the op compiler raises through its error manager."""


def refuse(_code: Any, text: Any) -> None:
    raise Refused(" ".join(map(str, text)) if isinstance(text, (tuple, list)) else str(text))


def _compile_command(source: str, output: str, _name: str = "") -> list[str]:
    return ["ccec", "-c", "-O2", source, "-o", output]


def facts(request: dict[str, Any]) -> Callable[[str], str]:
    """SoC facts by the names of the platform library; 0 for what nothing here depends on."""
    table = {str(key): str(value) for key, value in request["soc"].items()}
    return lambda key: table.get(key, "0")


class Run:
    """One kernel."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.answer: dict[str, Any] = {"missing": []}
        self.work = Path(request["work"])
        self.context: Any = Context()
        self.said = io.StringIO()

    def __call__(self) -> dict[str, Any]:
        said = self.said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                self._drive()
            except ModuleNotFoundError as error:
                self.answer["lacks"] = error.name or str(error)
            except SystemExit as end:
                self.answer["raised"] = f"exit status {end.code}"
            except BaseException as error:
                self.answer["raised"] = str(error).strip() or type(error).__name__
                self.answer["where"] = _place(error, self.request["path"])
        self.answer["said"] = said.getvalue()
        calls = self.work / "calls.jsonl"
        lines = calls.read_text().splitlines() if calls.is_file() else []
        self.answer["calls"] = [json.loads(line) for line in lines]
        return self.answer

    def _drive(self) -> None:
        sys.path.insert(0, self.request["path"])
        package = self.request["package"]
        root = package.split(".")[0]
        spec = facts(self.request)
        config: dict[str, Any] = {
            "kernel_meta_parent_dir": str(self.work),
            "tir.op_debug_config": "",
        }
        config |= {"op_debug_config": "", "enable_vector_core": False}
        finder = Missing(
            {
                "get_soc_spec": spec,
                "get_current_build_config": lambda key="all": config.get(key, False),
                "get_context": lambda: self.context,
                "raise_tbe_python_err": refuse,
                "enable_vector_core": "enable_vector_core",
                "op_debug_config": "op_debug_config",
                "kernel_meta_parent_dir": "kernel_meta_parent_dir",
                "_build_aicore_compile_cmd": _compile_command,
                "_ASCEND_OPP_PATH_ENV": "ASCEND_OPP_PATH",
                "_ASCEND_OPP_PATH_DEFAULT": str(self.work),
                "_BUILTIN_TILING_PATH": "tiling",
                "_CUSTOM_TILING_PATH_DEFAULT": "tiling",
                "op_impl_path": "op_impl",
                "so_arch_path2": "tiling",
                "tiling_so_arch_path": "tiling",
            }
        )
        sys.meta_path.append(finder)
        platform = types.ModuleType("asc_platform")
        vars(platform).update(
            _get_soc_spec=spec,
            _set_soc_spec=lambda _key: "success",
            _init_soc_spec=lambda *_words: "success",
            _te_update_version=lambda *_words: "success",
            _set_platform_info_res=lambda *_words: True,
            _set_core_num_by_core_type=lambda _word: True,
        )
        sys.modules["asc_op_compile_base.c_api.asc_platform"] = platform
        try:
            compiler = importlib.import_module(f"{package}.compile_op")
            tiling = importlib.import_module(f"{package}.get_op_tiling")
            store = importlib.import_module(f"{package}.global_storage").global_var_storage
        finally:
            self.answer["missing"] = sorted(set(finder.made))
        store.set_variable("ascendc_short_soc_version", self.request["soc"]["SHORT_SOC_VERSION"])
        self._watch(compiler, package)
        self._compile(compiler, tiling, root)

    def _watch(self, compiler: Any, package: str) -> None:
        """Keep what is inferred from the preprocessed text."""
        infer = compiler.KernelInfoInfer
        name = "get_tiling_key_list_and_simple_infer_code_channel"
        real = getattr(infer, name)

        def watched(*args: Any, **named: Any) -> Any:
            found = real(*args, **named)
            self.answer["inferred"] = _inferred(found)
            self.answer["said_of_source"] = self.said.getvalue()
            return found

        setattr(infer, name, staticmethod(watched))

    def _compile(self, compiler: Any, tiling: Any, root: str) -> None:
        request = self.request
        info = tiling.OpInfo(
            kernel_name=request["kernel_name"],
            op_type=request["op_type"],
            inputs=request["inputs"],
            outputs=request["outputs"],
            attrs=request["attrs"],
            impl_mode="",
            origin_inputs=request["inputs"],
            origin_outputs=request["outputs"],
            param_type_dynamic=False,
            mc2_ctx=[],
            param_type_list=request["param_types"],
            init_value_list=[None] * len(request["outputs"]),
            output_shape_depend_on_compute=[],
        )
        with contextlib.ExitStack() as stack:
            os.chdir(self.work)
            context = self._module(f"{root}.common.context.op_context")
            if context is not None:
                self.context = stack.enter_context(context.OpContext("dynamic"))
            config = self._module(f"{root}.common.buildcfg")
            if config is not None:
                stack.enter_context(config.build_config(kernel_meta_parent_dir=str(self.work)))
            try:
                compiler.compile_op(
                    request["source"],
                    request["entry"],
                    info,
                    list(request["options"]),
                    -1,
                    "{}",
                    {"valueDepend": {}},
                )
            finally:
                self._left()

    def _module(self, name: str) -> Any:
        """A module that is really there."""
        try:
            module = importlib.import_module(name)
        except ImportError:
            return None
        return None if isinstance(module, _Module) else module

    def _left(self) -> None:
        """Read what the front end wrote for the compiler: the function around the kernel."""
        for path in sorted((self.work / "kernel_meta").glob("*_kernel.cpp")):
            text = path.read_text(errors="replace")
            head = re.search(rf"\bauto_gen_{self.request['entry']}_kernel\(([^)]*)\)", text)
            if head is not None:
                self.answer["arguments"] = [word.split()[-1] for word in head[1].split(",")]
                self.answer["user_workspace"] = "GetUserWorkspace(" in text
                return


def _inferred(found: Any) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(key): plain(one) for key, one in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [plain(one) for one in value]
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        return getattr(value, "name", None) or str(value)

    return {key: plain(value) for key, value in found._asdict().items()}


def _place(error: BaseException, path: str) -> str:
    """Where the op compiler's own scripts raised it."""
    trace = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in trace if frame.filename.startswith(path)]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


if __name__ == "__main__":
    asked = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps(Run(asked)()))
