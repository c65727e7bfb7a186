# SPDX-License-Identifier: Apache-2.0
"""Other choices of the tiling: that the list fits the sources, and what is said of them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from aclgrad.errors import ToolkitError
from aclgrad.profiling import alternatives

ROOT = Path(__file__).resolve().parents[2]
LISTED = alternatives.load(ROOT)["alternatives"]


@pytest.mark.parametrize("name", LISTED)
def test_each_alternative_changes_one_place(name: str) -> None:
    change = LISTED[name]
    text = (ROOT / change["file"]).read_text()
    assert alternatives.changed(text, change, name) != text
    with pytest.raises(ToolkitError, match=r"does not have its line once. Next: "):
        alternatives.changed("", change, name)


def test_sources_are_put_back(tmp_path: Path) -> None:
    alternatives.copy_sources(ROOT, tmp_path, "softmax_grad")
    name, change = next(iter(LISTED.items()))
    path = tmp_path / change["file"]
    before = path.read_text()
    with pytest.raises(RuntimeError), alternatives.applied(tmp_path, name, change):
        assert path.read_text() != before
        raise RuntimeError
    assert path.read_text() == before


def test_sources_have_a_place_that_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what was compiled there is found again; nothing of a killed run stays in it."""
    monkeypatch.setenv("ACLGRAD_CACHE", str(tmp_path))
    change = next(iter(LISTED.values()))
    with alternatives.kept_sources(ROOT, "softmax_grad") as first:
        (first / change["file"]).write_text("an alternative")
    with alternatives.kept_sources(ROOT, "softmax_grad") as again:
        assert again == first and again.is_relative_to(tmp_path)
        assert (again / change["file"]).read_text() == (ROOT / change["file"]).read_text()
    with alternatives.kept_sources(ROOT, "log_sigmoid_grad") as other:
        assert other != first


@pytest.mark.parametrize(
    ("other", "said"),
    [(8.0, "half as many would be faster by 20 % at these costs"), (9.0, "the choice holds")],
)
def test_what_is_said(other: float, said: str) -> None:
    cost = {"cost": "vadd", "evidence": "board (yours)", "halved": 9.0, "doubled": 12.0}
    text = io.StringIO()
    console = Console(file=text, width=100)
    own = alternatives.Estimate(10.0, "vec: 80% of the time", [cost])
    alternatives.show(console, own, {"half as many": other, "twice as many": 12.0})
    assert said.replace(" %", "%") in text.getvalue().replace(" %", "%")
    assert "rests on vadd (board (yours)): halved 9.0 us, doubled 12.0 us" in text.getvalue()
