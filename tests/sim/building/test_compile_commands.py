# SPDX-License-Identifier: Apache-2.0
"""compile_commands.json of operator projects: where it is written, and that its words compile."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from package_files import clean_environment

pytestmark = pytest.mark.journey

PROJECTS = Path(__file__).parents[1] / "projects"


@pytest.fixture(scope="module")
def cache(operator_cache: Path) -> str:
    """The cache, which calls here name as they have no other variable of ours."""
    return str(operator_cache)


def build(cache: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Build as users do."""
    return subprocess.run(
        [sys.executable, "-m", "aclgrad", "build", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=600,
        env=clean_environment(ACLGRAD_CACHE=cache),
    )


def test_editors_see_every_source(cache: str, tmp_path: Path) -> None:
    """Host and kernel sources, with words that compile; only where somebody asked for the file."""
    library = tmp_path / "library"
    shutil.copytree(PROJECTS, library)
    project = library / "math/scale_add"
    file = project / "compile_commands.json"
    before = sorted(project.rglob("*"))
    done = build(cache, project)
    assert done.returncode == 0, done.stderr
    assert sorted(project.rglob("*")) == before, "nothing in a stranger's project"

    (project / ".gitignore").write_text("*.o\n/compile_commands.json\n")
    done = build(cache, project)
    assert done.returncode == 0, done.stderr
    entries = json.loads(file.read_text())
    seen = {Path(entry["file"]).relative_to(project).as_posix() for entry in entries}
    assert "op_kernel/scale_add.cpp" in seen
    assert {path.relative_to(project).as_posix() for path in project.glob("op_host/*.cpp")} <= seen
    for entry in entries:
        assert not {"-MD", "-MF", "-o"} & set(entry["arguments"])
        subprocess.run(
            [*entry["arguments"], "-fsyntax-only"], check=True, cwd=entry["directory"], timeout=300
        )

    # Also where a source is wrong, which is when an editor is wanted most.
    kernel = project / "op_kernel/scale_add.cpp"
    kernel.write_text(kernel.read_text() + "wrong\n")
    file.unlink()
    assert build(cache, project).returncode == 1 and file.is_file()

    # Somebody else's file stays.
    other = [{"directory": "/elsewhere/build", "file": "a.cpp", "arguments": ["c++"]}]
    file.write_text(json.dumps(other))
    build(cache, project)
    assert json.loads(file.read_text()) == other
    asked = tmp_path / "asked.json"
    build(cache, project, "--compile-commands", asked)
    assert json.loads(asked.read_text()) == entries


def test_words_that_do_not_go_together(cache: str, tmp_path: Path) -> None:
    square = PROJECTS / "math/square"
    file = tmp_path / "commands.json"
    done = build(cache, square, PROJECTS / "math/scale_add", "--compile-commands", file)
    assert done.returncode == 1 and "Next: one aclgrad build each" in done.stderr
    done = build(cache, "softmax_grad", "--compile-commands", file)
    assert done.returncode == 1 and "build/sim/compile_commands.json" in done.stderr
    assert not file.exists()
