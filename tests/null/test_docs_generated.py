# SPDX-License-Identifier: Apache-2.0
"""API pages, support table and example programs against the specs.

After a wanted change: pytest tests/null --update, or python -m aclgrad.codegen --docs.
"""

from __future__ import annotations

import difflib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aclgrad.codegen import docs, examples
from aclgrad.common import page_sections
from aclgrad.ops import all_specs
from aclgrad.spec.op_spec import OpSpec, replace
from other_operators import LOSS, MASKED

ROOT = Path(__file__).resolve().parents[2]
SPECS = [*all_specs(), MASKED]


def named(spec: OpSpec) -> str:
    return spec.op


def test_generated_documents_are_the_checked_in_ones(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--update"):
        docs.write(ROOT)
    made = docs.documents(ROOT)
    assert docs.stale(ROOT, made) == [], "pages of operators that are no more; run --update"
    for path, text in made.items():
        name = path.relative_to(ROOT).as_posix()
        there = path.read_text().splitlines() if path.is_file() else []
        diff = "\n".join(difflib.unified_diff(there, text.splitlines(), name, name, lineterm=""))
        assert not diff, f"{diff}\nIf the change is wanted: pytest tests/null --update"


def test_a_second_run_writes_nothing_and_drops_what_is_stale(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "operators.md"
    old = tmp_path / "docs" / "api" / "gone_grad.md"
    old.parent.mkdir(parents=True)
    begin, end = (f"<!-- support table: {word} -->" for word in ("generated", "end"))
    page.write_text(f"head\n{begin}\nformer table\n{end}\ntail\n")
    old.touch()
    first = docs.write(tmp_path)
    assert old in first and not old.exists() and len(first) == 2 * len(all_specs()) + 2
    assert docs.write(tmp_path) == []
    text = page.read_text()
    assert text.startswith("head\n") and text.endswith("tail\n") and "former" not in text


@pytest.mark.parametrize("mark", ["<!-- {} -->", "      # {}"])
def test_a_section_of_a_page_is_replaced(mark: str, tmp_path: Path) -> None:
    page = tmp_path / "page"
    begin, end = mark.format("parts: generated"), mark.format("parts: end")
    page.write_text(f"head\n{begin}\nold\n{end}\ntail")
    page_sections.write(page, "parts", "new")
    assert page.read_text() == f"head\n{begin}\nnew\n{end}\ntail\n"
    assert page_sections.filled(page, "parts", "new\n") == page.read_text()
    for text in ("no marks", f"{begin}\n", page.read_text() * 2):
        with pytest.raises(ValueError, match="sections of the name parts, want one. Next: "):
            page_sections.filled("page.md", "parts", "new", text)


@pytest.mark.parametrize("spec", SPECS, ids=named)
def test_page_tells_the_whole_contract(spec: OpSpec, tmp_path: Path) -> None:
    page = docs.api_page(spec, tmp_path)
    for arg in spec.args:
        assert f"| `{arg.name}` |" in page and f"    {arg.c_type} {arg.name},\n" in page
    assert f"aclgrad.{spec.function}(" in page and spec.formula in page
    codes = re.findall(r"^\| \d+ \| (\d+) \| `\w+` \| (.*) \|$", page, re.M)
    want = [(c.code, c.doc(spec)) for c in spec.checks] + spec.late_codes() + [(0, "otherwise")]
    assert [(int(code), text) for code, text in codes] == want
    assert "None" not in page.replace("=None", "") and "Undefined" not in page


def test_support_table_lists_what_is_built_and_nothing_else() -> None:
    only_fp32 = replace(LOSS, kernels={"ascend310p": LOSS.kernels["ascend910b"]})
    heads, _, row = docs.support_table([only_fp32]).splitlines()
    assert "Atlas inference (310P)" in heads and "Atlas A2" not in heads
    assert "| fp32 |" in row and "fp16" not in row
    both = docs.support_table([only_fp32, MASKED]).splitlines()
    assert "Atlas A2 (910B)" in both[0] and "Atlas A3 (910_93)" in both[0]
    assert "| - | - | fp32 |" in both[2] and "| fp32 fp16 bf16 | fp32 fp16 bf16 | - |" in both[3]


@pytest.mark.parametrize("spec", SPECS, ids=named)
def test_example_call_is_good(spec: OpSpec) -> None:
    made = examples.example(spec)
    assert spec.predict(made.call) == 0
    assert made.result.any() and made.printed.count("\n") == 2


@pytest.mark.parametrize("spec", SPECS, ids=named)
def test_python_example_makes_the_inputs_of_the_program(spec: OpSpec, tmp_path: Path) -> None:
    page = docs.api_page(spec, tmp_path)
    body = page.partition("```python\n")[2].partition("```")[0]
    names: dict[str, object] = {}
    exec(body.partition("print(")[0].replace("import aclgrad\n", ""), names)
    made = examples.example(spec)
    for arg in spec.input_args:
        if not arg.unused:
            got = names[arg.python]
            want = made.inputs[arg.name]
            assert got.dtype == want.dtype and (got == want).all()  # type: ignore[attr-defined]
            assert examples.braces(want.flatten()) in docs.program(spec)


@pytest.mark.parametrize("spec", SPECS, ids=named)
def test_programs_are_formatted(spec: OpSpec, tmp_path: Path) -> None:
    tool = Path(sys.executable).parent / "clang-format"
    found = str(tool) if tool.is_file() else shutil.which("clang-format")
    if found is None:
        pytest.skip("clang-format is not installed")
    words = [found, "--dry-run", "-Werror", f"--style=file:{ROOT / '.clang-format'}"]
    source = tmp_path / "example.cpp"
    source.write_text(docs.program(spec))
    done = subprocess.run([*words, str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_command_says_what_it_wrote(tmp_path: Path) -> None:
    def codegen(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "aclgrad.codegen", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=600)

    assert codegen().returncode == 2
    done = codegen("--out", str(tmp_path / "gen"))
    assert done.returncode == 0 and "generated" in done.stdout
    assert codegen("--out", str(tmp_path), "--docs").returncode == 2
