# SPDX-License-Identifier: Apache-2.0
"""``aclgrad test --watch``: which changes it sees, and what it does then."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aclgrad.cli import watch
from aclgrad.errors import ToolkitError
from aclgrad.ops import all_specs
from aclgrad.spec.soc import family


def test_sources_that_change_are_seen(tmp_path: Path) -> None:
    """A write into the folder or below it; not one into a file that is no source."""
    (tmp_path / "op_kernel").mkdir()
    seen: list[set[Path]] = []

    def look() -> None:
        seen.append(next(watch.changes([tmp_path, tmp_path / "none"])))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    for at in range(600):
        (tmp_path / "notes.swp").write_text(str(at))
        (tmp_path / "op_kernel/scale.cpp").write_text(str(at))
        thread.join(0.1)
        if not thread.is_alive():
            break
    assert seen == [{tmp_path / "op_kernel/scale.cpp"}]


def test_what_a_round_writes_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports, wherever they go, caches, and files that are written with what they held."""
    names = {
        "op_kernel/scale.cpp": False,  # touched
        "results/history.json": False,
        "results/precision.json": False,
        "report/precision.json": False,
        "__pycache__/a.py": False,
        ".cache/a.json": False,
        "build/a.json": False,
        "op_host/new.h": True,
        "op_host/gone.h": True,
    }
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    (tmp_path / "op_host/new.h").unlink()

    def watched(*_: Any, **__: Any) -> Iterator[set[tuple[int, str]]]:
        for name, is_change in names.items():
            path = tmp_path / name
            if name.endswith("gone.h"):
                path.unlink()
            else:
                path.write_text("1" if name.endswith(".cpp") and not is_change else "2")
            yield {(1, str(path))}

    monkeypatch.setitem(sys.modules, "watchfiles", SimpleNamespace(watch=watched))
    source = watch.changes([tmp_path], tmp_path / "results")
    (tmp_path / "op_kernel/early.cpp").write_text("1")  # during the first round
    assert next(source) == {tmp_path / "op_kernel/early.cpp"}
    seen = [str(path.relative_to(tmp_path)) for group in source for path in group]
    assert seen == [name for name, is_change in names.items() if is_change]


def test_only_what_changed_is_built_and_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    built: list[str] = []
    tested: list[list[str]] = []

    def fail() -> None:
        built.append("b")
        raise ToolkitError("b.cpp:3: error")

    items = [
        watch.Watched("a", (tmp_path / "a", tmp_path / "common"), lambda: built.append("a")),
        watch.Watched("b", (tmp_path / "b", tmp_path / "common"), fail),
    ]
    groups = [
        {tmp_path / "a/a.cpp"},
        {tmp_path / "b/b.h"},
        {tmp_path / "common/c.h"},
    ]

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        tested.append(command[command.index("test") :])
        return SimpleNamespace(returncode=len(tested) - 1)

    def changes(folders: Any, report: Path | None) -> Iterator[set[Path]]:
        assert set(folders) == {tmp_path / name for name in ("a", "b", "common")}
        yield from groups

    monkeypatch.setattr(watch, "changes", changes)
    monkeypatch.setattr(subprocess, "run", run)
    watch.watch(items[:1] + items[1:], ["--fast"])
    assert built == ["a", "b", "a", "b", "a", "b"]
    assert tested == [["test", "a", "--fast"]]
    out = capsys.readouterr().out
    assert "changed: a.cpp\n" in out and "a: passed after " in out
    assert out.count("b.cpp:3: error") == 3 and "a, b: not built after" in out


def test_operators_of_a_checkout() -> None:
    """Kernels of the SoC that is simulated, and all files that they are made of."""
    spec = next(spec for spec in all_specs() if spec.op == "log_sigmoid_grad")
    made = watch.of_spec(spec, family("ascend910b"))
    names = {"/".join(folder.parts[-2:]) for folder in made.folders}
    assert names == {
        "op_kernel/common",
        "op_kernel/log_sigmoid_grad",
        "op_host/common",
        "op_host/log_sigmoid_grad",
        "ops/log_sigmoid_grad.py",
    }
    assert all(folder.exists() for folder in made.folders)


def test_without_the_library_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(ToolkitError, match=r"Next: .*-m pip install 'watchfiles>=0\.22'"):
        next(watch.changes([tmp_path]))
