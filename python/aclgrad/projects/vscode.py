# SPDX-License-Identifier: Apache-2.0
"""What `aclgrad new` writes for Visual Studio Code: tasks whose findings are marked in the sources,
a gdb session inside of the kernel, settings.
"""

from __future__ import annotations

import json
import sys
from typing import Any

PATTERNS: tuple[list[dict[str, Any]], ...] = (
    [
        {"regexp": r"^(?:kernel fault|misuse) \[([\w-]+)\] ?(.*)$", "code": 1, "message": 2},
        {"regexp": r"^  at (.+):(\d+)$", "file": 1, "line": 2},
    ],
    [
        {"regexp": r"^(\w+)\[([\w-]+)\] (.*)$", "severity": 1, "code": 2, "message": 3},
        {"regexp": r"^  \S.*$"},
        {"regexp": r"^  at (.+):(\d+)$", "file": 1, "line": 2},
    ],
)
"""Findings as `test`, `run` and pytest show them, and as `check` does."""

_PYTHON = "${config:python.defaultInterpreterPath}"
_BUILD = "build for gdb"


def _words(*words: str) -> list[str]:
    return ["-I", "-m", "aclgrad", *words]


def _task(label: str, words: list[str], group: str = "") -> dict[str, Any]:
    matchers: list[Any] = ["$gcc"]
    for pattern in PATTERNS:
        place = ["autoDetect", "${workspaceFolder}"]
        matchers.append({"owner": "aclgrad", "fileLocation": place, "pattern": pattern})
    task: dict[str, Any] = {
        "label": label,
        "type": "process",
        "command": _PYTHON,
        "args": words,
        "options": {"cwd": "${workspaceFolder}"},
        "problemMatcher": matchers,
    }
    return task | ({"group": {"kind": group, "isDefault": True}} if group else {})


def files(stem: str, case: str) -> dict[str, str]:
    """The files of a project by their paths; ``case`` is one that is worth a look."""
    tasks = [
        _task("build", _words("build", "."), "build"),
        _task("test", _words("test", "."), "test"),
        _task("check", _words("check", ".", "--autosync", "off", "--chaos", "1")),
        _task(_BUILD, _words("build", ".", "--debug")),
    ]
    launch = {
        "name": f"{stem}: inside of the kernel",
        "type": "cppdbg",
        "request": "launch",
        "program": _PYTHON,
        "args": _words("test", ".", "--debug", "--case", "${input:case}"),
        "cwd": "${workspaceFolder}",
        # The cores run one after the other, in this process.
        "environment": [{"name": "ACLGRAD_SIM_THREADS", "value": "1"}],
        "MIMode": "gdb",
        "setupCommands": [{"text": "-gdb-set breakpoint pending on"}],
        "preLaunchTask": _BUILD,
    }
    asked = {"id": "case", "type": "promptString", "description": "Case", "default": case}
    documents: dict[str, dict[str, Any]] = {
        "extensions": {
            "recommendations": [
                "llvm-vs-code-extensions.vscode-clangd",
                "ms-vscode.cpptools",
                "ms-python.python",
            ]
        },
        "settings": {
            "python.defaultInterpreterPath": sys.executable,  # the one that has aclgrad
            "python.testing.pytestEnabled": True,
            # clangd reads the compile_commands.json that each build writes.
            "clangd.arguments": ["--background-index", "--header-insertion=never"],
            "C_Cpp.intelliSenseEngine": "disabled",
            "files.associations": {"*.asc": "cpp"},
        },
        "tasks": {"version": "2.0.0", "tasks": tasks},
        "launch": {"version": "0.2.0", "configurations": [launch], "inputs": [asked]},
    }
    return {
        f".vscode/{name}.json": json.dumps(document, indent=2) + "\n"
        for name, document in documents.items()
    }
