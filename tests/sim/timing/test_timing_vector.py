# SPDX-License-Identifier: Apache-2.0
"""How long vector functions of Ascend 950 take: chains by latency, independent work by ports."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SIMULATOR = ROOT / "simulator" / "src"
COSTS = json.loads((SIMULATOR / "timing" / "costs.json").read_text(encoding="utf-8"))
AROUND = COSTS["vectorFunction"]["head"] + COSTS["vectorFunction"]["drain"]

Cycles = Callable[[Sequence[str]], int]


def forward(name: str) -> int:
    """Cycles until a dependent instruction may start, of 32-bit lanes."""
    return int(COSTS["registers"]["3510"][name][0])


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """timing_vector.cpp."""
    folder = tmp_path_factory.mktemp("schedule")
    make = [sys.executable, str(SIMULATOR / "make_table.py")]
    make += [str(SIMULATOR / "timing" / "costs.json"), str(folder / "cost_table.inc")]
    subprocess.run(make, check=True)
    command = ["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
    command += [f"-I{SIMULATOR}", f"-I{ROOT / 'simulator' / 'include'}"]
    command += [str(Path(__file__).with_name("timing_vector.cpp"))]
    command += [str(SIMULATOR / "timing" / f"{name}.cpp") for name in ("costs", "vector_schedule")]
    subprocess.run([*command, "-o", str(folder / "schedule")], check=True)
    return folder / "schedule"


@pytest.fixture(scope="module")
def cycles(schedule: Path) -> Cycles:
    """Of one program."""

    def run(program: Sequence[str]) -> int:
        text = "\n".join([*program, "end 0 -\n"])
        done = subprocess.run(
            [str(schedule)], input=text, capture_output=True, text=True, check=True
        )
        return int(done.stdout.split()[0])

    return run


@pytest.mark.parametrize("name", ["Add", "Mul", "Exp", "ReduceSum"])
def test_a_chain_takes_each_latency(cycles: Cycles, name: str) -> None:
    assert cycles([f"{name} 32 x x"] * 12) == 12 * forward(name)


@pytest.mark.parametrize(
    ("name", "bits", "each"),
    [
        ("Add", 32, 0.5),  # two ports
        ("Exp", 32, 2),  # each of them takes one every four cycles
        ("Exp", 16, 4),
        ("ReduceSum", 32, 1),  # one port
        ("LoadAlign", 32, 0.5),
        ("StoreAlign", 32, 1),
    ],
)
def test_independent_ones_take_the_ports(cycles: Cycles, name: str, bits: int, each: float) -> None:
    few, many = (cycles([f"{name} {bits} x{i}" for i in range(n)]) for n in (40, 140))
    assert many - few == 100 * each


def test_slow_units_leave_the_ports_to_others(cycles: Cycles) -> None:
    """Between two exponentials, additions start."""
    alone = cycles([f"Exp 32 x{i}" for i in range(64)])
    both = [line for i in range(64) for line in (f"Exp 32 x{i}", f"Add 32 y{i}")]
    assert cycles(both) <= alone + 2


def test_loads_and_stores_share_ub(cycles: Cycles) -> None:
    """A load and a store a cycle, or two loads."""
    pairs = [line for i in range(100) for line in (f"LoadAlign 32 x{i}", f"StoreAlign 32 y{i}")]
    more = [
        line for i in range(100) for line in (f"LoadAlign 32 x{i}",) * 2 + (f"StoreAlign 32 y{i}",)
    ]
    assert 100 <= cycles(pairs) <= 112
    assert 150 <= cycles(more) <= 162


def test_later_work_overtakes_a_chain(cycles: Cycles) -> None:
    """Out of the queue, as far as that reaches."""
    chain = ["Exp 32 x x"] * 4
    assert cycles([*chain, *(f"Add 32 y{i}" for i in range(32))]) == cycles(chain)
    long = ["Exp 32 x x"] * 70
    assert cycles([*long, "Exp 32 y"]) == cycles(long)


def test_the_queue_is_not_endless(cycles: Cycles) -> None:
    """What stands so far behind an instruction comes when that is done."""
    queue = int(COSTS["vectorFunction"]["queue"])
    one = ["Exp 32 x x"] * (2 * queue)
    other = ["Exp 32 y y"] * (2 * queue)
    # Side by side they would take as long as one; the second waits for the first one's last ones.
    assert cycles(one + other) == pytest.approx(3 * queue * forward("Exp"), rel=0.02)


def test_loops_hold_instructions_back(cycles: Cycles) -> None:
    """The first turn of a loop costs more than those that follow."""
    times = COSTS["vectorFunction"]
    body = [f"Add 32 {name}" for name in "abcd"]

    def looped(turns: int, loops: int) -> int:
        begin = [f"place {10 * loop} -" for loop in range(loops)]
        return cycles([line for start in begin for _ in range(turns) for line in (start, *body)])

    least = cycles(body * 40)
    assert looped(40, 1) == pytest.approx(
        max(least, 40 * 4 / times["dispatch"] + 39 * times["turn"] + times["loop"]), abs=12
    )
    many, few = looped(2, 20), looped(20, 2)
    assert many - few == pytest.approx(18 * times["loop"] - 18 * times["turn"], abs=8)


def test_barriers_hold_loads_back(cycles: Cycles) -> None:
    stored = ["LoadAlign 32 x", "StoreAlign 32 - x"]
    free = cycles([*stored, "LoadAlign 32 y"])
    held = cycles([*stored, "LocalMemBar 32 -", "LoadAlign 32 y"])
    assert held == free + forward("LoadAlign")


@pytest.mark.parametrize(
    ("name", "bits", "loads", "slope", "start"),
    [
        ("Add", 32, 2, 1.25, 55),
        ("Mul", 32, 2, 1.19, 56),
        ("Exp", 32, 1, 1.97, 63),
        ("Exp", 16, 1, 3.76, 66),
        ("Cast", 32, 1, 1.32, 52),
    ],
)
def test_lines_of_another_simulator(
    cycles: Cycles, name: str, bits: int, loads: int, slope: float, start: int
) -> None:
    """Whole tiles of one instruction: within a third a repeat, and 7 cycles of the rest."""

    def tile(repeats: int) -> int:
        lines = []
        for i in range(repeats):
            sources = [f"s{i}.{j}" for j in range(loads)]
            lines += [f"LoadAlign {bits} {source}" for source in sources]
            lines += [f"{name} {bits} r{i} {' '.join(sources)}", f"StoreAlign {bits} - r{i}"]
        return cycles(lines) + AROUND

    few, many = tile(16), tile(80)
    assert (many - few) / 64 == pytest.approx(slope, rel=0.33)
    assert few - (many - few) / 4 == pytest.approx(start, abs=7)


def test_what_has_no_cost_is_named(schedule: Path) -> None:
    text = "Frobnicate 32 x\nAdd 32 y x\nend 0 -\n"
    done = subprocess.run([str(schedule)], input=text, capture_output=True, text=True, check=True)
    assert done.stdout.split()[1:] == ["Frobnicate"]
