# SPDX-License-Identifier: Apache-2.0
"""``aclgrad calibrate``: what is different on a board is found, and the simulator takes it over."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aclgrad.profiling.calibration import board as boards
from aclgrad.profiling.calibration import measure
from aclgrad.profiling.calibration.board import (
    AS_MODELLED,
    DIFFERS,
    UNDECIDED,
    Board,
    BoardError,
)
from aclgrad.profiling.calibration.probes import plan
from aclgrad.profiling.calibration.runner import Model, Overlay
from hidden_board import SOC, Hidden, draws, hide, library, missed

pytestmark = [
    pytest.mark.journey,
    pytest.mark.skipif(library() is None, reason="needs the build folder of a checkout"),
]

# Board 2 is in test_first_hour.py.
SEEDS = [int(seed) for seed in os.environ.get("ACLGRAD_TESTS_BOARDS", "1").split(",")]
OPERATORS = Path(__file__).with_name("operators_on_board.py")
MATTERS = 0.05  # by which a board changes a time of our operators: else adopting it shows nothing


def aclgrad(
    *words: str | Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [shutil.which("aclgrad", path=str(Path(sys.executable).parent)) or "aclgrad"]
    return subprocess.run([*command, *map(str, words)], env=env, capture_output=True, text=True)


Grid = dict[str, tuple[float, str]]  # modelled time and bits of each call


def on_board(env: dict[str, str]) -> Grid:
    done = subprocess.run([sys.executable, str(OPERATORS)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: Grid = json.loads(done.stdout)
    return found


def off(found: Grid, wanted: Grid) -> dict[str, float]:
    """By what share each time is another one."""
    return {name: found[name][0] / wanted[name][0] - 1 for name in wanted}


def worst(shares: dict[str, float]) -> float:
    return max(map(abs, shares.values()))


@dataclass(frozen=True)
class Measured:
    """A board that matters to our operators, what the kit found of it, and the operators there and
    on the simulator that knows nothing of it.
    """

    hidden: Hidden
    path: Path
    there: Grid
    plain: Grid


@pytest.fixture(scope="module")
def plain() -> Grid:
    return on_board({**os.environ, "ACLGRAD_SOC": SOC})


@pytest.fixture(scope="module", params=SEEDS, ids=lambda seed: f"board {seed}")
def measured(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, plain: Grid
) -> Measured:
    libraries = library()
    assert libraries is not None
    for draw in draws(request.param):
        folder = tmp_path_factory.mktemp("board")
        hidden = hide(draw, folder, libraries)
        there = on_board(hidden.programs)
        if worst(off(plain, there)) > MATTERS:
            break
    path = folder / "board.json"
    done = aclgrad("calibrate", "-o", folder, env=hidden.environment)
    assert done.returncode == 0, done.stderr
    assert f"wrote {path}. Next: aclgrad calibrate --read {path} " in " ".join(done.stdout.split())
    return Measured(hidden, path, there, plain)


def test_what_is_hidden_is_found(measured: Measured) -> None:
    board = boards.read(measured.path)
    assert missed(measured.hidden, board) == []
    found = board.overlay["costs"]
    asked = [name for name in measured.hidden.costs if name in {row.id for row in board.rows}]
    assert len(found) > 0.6 * len(asked)
    assert not measured.path.with_name("board.json.partial").exists()


def test_the_simulator_takes_it_over(measured: Measured) -> None:
    path, there, plain = measured.path, measured.there, measured.plain
    told = aclgrad("calibrate", "--adopt", path.parent)
    assert told.stdout == f"export ACLGRAD_CALIBRATION={shlex.quote(str(path))}\n", told.stderr
    here = on_board({**os.environ, "ACLGRAD_SOC": SOC, "ACLGRAD_CALIBRATION": str(path)})
    assert {name: bits for name, (_, bits) in here.items()} == {
        name: bits for name, (_, bits) in there.items()
    }
    assert worst(off(here, there)) < 0.05, off(here, there)
    assert worst(off(plain, there)) > MATTERS
    assert worst(off(here, there)) < worst(off(plain, there))
    env = {**os.environ, "ACLGRAD_SOC": SOC, "ACLGRAD_CALIBRATION": str(path)}
    assert "board (yours): " in aclgrad("profile", "softmax_grad", "64x1024", env=env).stdout
    why = aclgrad("tiling", "softmax_grad", "64x1024", "--why", env={**env, "ACLGRAD_SOC": SOC})
    assert "(board (yours)): halved" in why.stdout and "another choice" in why.stdout, why.stderr


def test_a_page_says_what_differs(measured: Measured, tmp_path: Path) -> None:
    page = tmp_path / "board.html"
    done = aclgrad("calibrate", "--read", measured.path, "--html", page)
    assert done.returncode == 0, done.stderr
    assert "differs" in done.stdout and "matters for" in done.stdout
    assert "http" not in page.read_text().replace("http-equiv", "")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The simulator as it is, in a board's place."""
    path = tmp_path / "own.json"
    done = aclgrad("calibrate", "-o", path)
    assert done.returncode == 0, done.stderr
    return path


def test_the_simulator_is_as_modelled(own: Path) -> None:
    board = boards.read(own)
    assert board.overlay == {"costs": {}, "choices": {}}
    assert board.count(AS_MODELLED) > 150
    sizes = {row.id for row in board.rows if row.kind == "size"}
    assert sizes == {"soc.vecCores", "soc.l2Bytes", "soc.counterTicks"}
    assert {
        row.source for row in board.rows if row.kind == "cost" and row.measured is not None
    } == {
        "counter",
        "events",
    }
    assert aclgrad("calibrate", "--adopt", own).returncode == 1


def test_a_soc_is_asked_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    done = aclgrad("calibrate", "--soc", "Ascend310P3", "-o", path)
    assert done.returncode == 0, done.stderr
    board = boards.read(path)
    assert board.overlay == {"costs": {}, "choices": {}}
    assert board.count(AS_MODELLED) > 60
    assert any("does not have" in row.note for row in board.rows)


def test_a_copy_holds_up_what_runs_beside_it_alone() -> None:
    """As far as besideVector, which is 0, says that it does."""
    alone, beside = plan(48, 201326592, 196352).timings["beside-vector"].launches
    held = Overlay({"copies.2201.besideVector": 0.5})
    took = {}
    for overlay in (Overlay(), held):
        answers = Model(SOC).run((alone, beside), overlay)
        took[overlay is held] = [answers[one.name].times[0] for one in (alone, beside)]
    assert took[False][0] == took[False][1]
    assert took[True][0] < took[False][0] * 1.005
    assert took[False][1] * 1.1 < took[True][1] < took[False][1] * 1.5


def test_other_sizes_differ() -> None:
    rows = measure._sizes({"vecCores": 48, "l2Bytes": 1 << 20}, {"vecCores": 40})
    assert [row.verdict for row in rows] == [DIFFERS, UNDECIDED]


def edited(path: Path, **change: Any) -> Path:
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    return path


def empty(folder: Path) -> Path:
    path = folder / "board.json"
    boards.write(Board(SOC, "sim", {"aclgrad": "0"}), path)
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"soc": "Ascend910B3"}, "edited by hand"),
        ({"format": 99}, "another version"),
        ({"overlay": {"costs": {"scalar.issue": 9.0}}}, "edited by hand"),
    ],
)
def test_edited_files_are_refused(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(BoardError, match=said):
        boards.read(edited(empty(tmp_path), **change))


def test_files_of_another_register_are_refused(tmp_path: Path) -> None:
    path = empty(tmp_path)
    content = json.loads(path.read_text())
    content["register"] = "0"
    content["sum"] = boards.sum_of({k: v for k, v in content.items() if k != "sum"})
    path.write_text(json.dumps(content))
    with pytest.raises(BoardError, match="another version"):
        boards.read(path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"sum": 1, "format": 1}'])
def test_damaged_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    path.write_text(text)
    with pytest.raises(BoardError, match=r"Next: aclgrad calibrate -o"):
        boards.read(path)


def called_with(path: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "ACLGRAD_CALIBRATION": str(path)}
    program = (
        "import aclgrad, numpy as n; x = n.ones((2, 8), n.float32); aclgrad.softmax_backward(x, x)"
    )
    return subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_the_simulator_opens_regular_files_alone(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else tmp_path)
    found = called_with(path)
    assert found.returncode == 1 and "is not a regular file" in found.stderr, found.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "want"),
        ('{"overlay": {"costs": {"no.cost": 1}}}', "no cost has the name no.cost"),
        ('{"overlay": {"costs": {"scalar.issue": -1}}}', "scalar.issue is -1"),
        ('{"overlay": {"choices": {"exp.rounding": "up"}}}', "exp.rounding"),
        ('{"sum": "0", "overlay": {}}', "another version"),
        (None, "cannot be read"),
    ],
)
def test_the_simulator_refuses_what_it_cannot_take_over(
    text: str | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "board.json"
    if text is not None:
        path.write_text(text)
    done = called_with(path)
    assert done.returncode == 1
    assert said in done.stderr and "Next: aclgrad calibrate --read" in done.stderr


def test_the_simulator_refuses_edited_files(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    board = Board(SOC, "sim", {"aclgrad": "0"})
    board.rows = [
        boards.Row("scalar.issue", "cost", boards.DIFFERS, 1.0, 1.5e-7),
        boards.Row("exp.rounding", "choice", boards.UNDECIDED, "nearest", None),
    ]
    boards.write(board, path)
    done = called_with(path)
    assert done.returncode == 0, done.stderr
    text = path.read_text()
    assert text.count("1.5e-07") == 2
    path.write_text(text.replace("1.5e-07", "2.5e-07", 1))
    done = called_with(path)
    assert done.returncode == 1
    assert "edited by hand. Next: aclgrad calibrate --read" in done.stderr


def test_a_folder_stands_for_its_file(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    for word in ("--read", "--adopt"):
        done = aclgrad("calibrate", word, tmp_path)
        assert done.returncode == 1 and str(path) in done.stderr
        assert f"Next: aclgrad calibrate -o {path}" in " ".join(done.stderr.split())
    boards.write(Board(SOC, "sim", {"aclgrad": "0"}), path)
    assert SOC in aclgrad("calibrate", "--read", tmp_path).stdout


def test_words_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    for words, said in (
        (("--soc", "Ascend9"), "Ascend9"),
        (("--device", "npu"), "ASCEND_HOME_PATH"),
        (("--html", tmp_path / "x.html"), "--read"),
    ):
        env = {name: value for name, value in os.environ.items() if name != "ASCEND_HOME_PATH"}
        done = aclgrad("calibrate", "-o", path, *words, env=env)
        assert done.returncode != 0 and said in done.stderr + done.stdout, words
        assert "Next: " in done.stderr + done.stdout, words
        assert not path.exists()
