# SPDX-License-Identifier: Apache-2.0
"""What a word of the command line names, and how to launch a kernel file."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aclgrad.common.files import text_of
from aclgrad.spec import soc


def is_path(word: str) -> bool:
    """Whether a word names sources: a kernel file, a folder with op_kernel, op_host or kernels."""
    if word.endswith((".cpp", ".cc", ".asc")) or os.sep in word or word in (".", ".."):
        return True
    folder = Path(word)
    if folder.is_file():
        return True
    return _is_project(folder) or _has_kernels(folder)


def _has_kernels(folder: Path) -> bool:
    """Whether kernel files lie in a folder, which is not the one of an operator of this package."""
    if not folder.is_dir() or folder.resolve().parent.name == "op_kernel":
        return False
    texts = (text_of(file) for file in folder.glob("*.cpp"))
    return any("__global__" in text for text in texts)


def _is_project(folder: Path) -> bool:
    return (folder / "op_kernel").is_dir() or (folder / "op_host").is_dir()


def here(words: Sequence[str] | None) -> list[str]:
    """The words of a command line; without any the current folder, if it holds an operator project
    and is no checkout of this one.
    """
    if words:
        return list(words)
    folder = Path.cwd()
    own = (folder / "python" / "aclgrad").is_dir()
    return ["."] if not own and _is_project(folder) else []


def is_shape(word: str) -> bool:
    """Whether a word is SHAPE or SHAPE:DTYPE."""
    return bool(re.fullmatch(r"(scalar|\d+([xX,]\d+)*)(:\w+)?", word))


def soc_name(name: str | None) -> str:
    """The SoC of an option, of the environment, or the default."""
    return soc.chosen(name)


@dataclass(frozen=True)
class KernelOptions:
    """How to launch a kernel file: what an operator's tiling would say."""

    blocks: int | None = None
    tiling: str | None = None
    tiling_key: int | None = None
    workspace: int | None = None

    def given(self) -> list[str]:
        """The options that were set, as the command line spells them."""
        return [
            f"--{name.replace('_', '-')}" for name, value in vars(self).items() if value is not None
        ]
