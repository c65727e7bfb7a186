#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wall time of products of half by the basic API, by NumPy's of float32 on the same threads.

    benchmarks/matmul.py --write docs/simulator.md

matmul.asc beside it is the kernel. NumPy and both modes take turns. Results are compared with
float64 first.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aclgrad.common import files, page_sections
from aclgrad.common.temporary import folder
from aclgrad.reading.layout import locate
from aclgrad.running.kernel_file import build_program
from aclgrad.spec.soc import DEFAULT_SOC, family_of

HERE = Path(__file__).resolve().parent
MODES = ("fast", "checked")
LIMITS = {"fast": 3, "checked": 10}
_REPEATS = 10
"""Products of a round, of which the fastest counts."""


def _seconds_of_numpy(a: np.ndarray, b: np.ndarray) -> float:
    """The least wall time of a product in float32."""
    left, right = a.astype(np.float32), b.astype(np.float32)
    out = np.empty_like(left)
    least = np.inf
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        np.matmul(left, right, out=out)
        least = min(least, time.perf_counter() - begin)
    return float(least)


def _seconds_of_kernel(program: Path, paths: Sequence[Path], size: int, mode: str) -> float:
    """The least wall time of a launch."""
    command = [
        sys.executable,
        "-I",
        "-m",
        "aclgrad",
        "exec",
        *(["--fast"] if mode == "fast" else []),
    ]
    words = [*command, "--", program, *paths, str(size), str(_REPEATS)]
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def row(program: Path, size: int, rounds: int) -> str:
    """Milliseconds and ratios of products of ``size`` cubed."""
    generator = np.random.default_rng(size)
    a, b = (generator.uniform(-1, 1, (size, size)).astype(np.float16) for _ in range(2))
    least = dict.fromkeys(("numpy", *MODES), np.inf)
    with folder() as parts:
        paths = [parts / name for name in ("a", "b", "c")]
        files.write(paths[0], a.tobytes(), "a")
        files.write(paths[1], b.tobytes(), "b")
        for _ in range(rounds):
            least["numpy"] = min(least["numpy"], _seconds_of_numpy(a, b))
            for mode in MODES:
                seconds = _seconds_of_kernel(program, paths, size, mode)
                least[mode] = min(least[mode], seconds)
                got = np.fromfile(paths[2], np.float32).reshape(size, size)
                want = a.astype(np.float64) @ b.astype(np.float64)
                np.testing.assert_allclose(got, want, rtol=0, atol=1e-6 * size)
    cells = [
        f"{least[mode] * 1e3:.1f} ms, {least[mode] / least['numpy']:.1f} ({LIMITS[mode]})"
        for mode in MODES
    ]
    return f"| {size} x {size} x {size} | {least['numpy'] * 1e3:.1f} ms | {' | '.join(cells)} |"


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024, 2048])
    page_sections.add_option(parser)
    words = parser.parse_args(argv)
    program = build_program(locate(HERE / "matmul.asc"), family_of(DEFAULT_SOC))
    lines = ["| half, on Atlas A2 | NumPy, float32 | fast | checked |", "|---|---|---|---|"]
    lines += [row(program, size, words.rounds) for size in words.sizes]
    page_sections.show(words.write, "matmul", "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
