# SPDX-License-Identifier: Apache-2.0
"""Scratch of the high-level API as host tiling gets it, against the published factors."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

REPEAT = 256
ELEMENTS = 300
# Temporaries of the operand's size: half, float, float whose source may be overwritten.
FACTORS = {
    "Log": (0, 0, 0),
    "Log10": (0, 0, 0),
    "Floor": (2, 0, 0),
    "Ceil": (2, 1, 1),
    "Round": (1, 0, 0),
    "Trunc": (2, 1, 1),
    "Frac": (4, 0, 0),
    "Fmod": (8, 1, 1),
    "Sign": (3, 3, 3),
    "Sin": (8, 3, 2),
    "Cos": (8, 3, 2),
    "Tan": (10, 4, 4),
    "Asin": (6, 2, 2),
    "Acos": (6, 2, 2),
    "Atan": (12, 5, 5),
    "Sinh": (4, 1, 1),
    "Cosh": (6, 2, 2),
    "Tanh": (4, 1, 1),
    "Asinh": (3, 3, 3),
    "Acosh": (2, 1, 1),
    "Atanh": (4, 1, 1),
    "Erf": (8, 3, 3),
    "Erfc": (16, 7, 7),
    "Digamma": (16, 7, 6),
    "Xor": (1, 1, 1),
    "Sigmoid": (1, 1, 1),
    "GeGLU": (4, 0, 0),
    "SwiGLU": (6, 0, 0),
}
# Most, least, factor, beside it; by type size and whether the source may be overwritten.
OTHERS = {
    ("Exp", 2, False): (4 * 1200, 4 * REPEAT, 8, 0),
    ("Exp", 4, True): (2 * 1200, 2 * REPEAT, 3, 0),
    ("Log2", 2, False): (2 * 600, REPEAT, 2, 0),
    ("Log2", 4, False): (0, 0, 0, 0),
    ("ReGlu", 2, False): (6 * 600, 6 * REPEAT, 6, 0),
    ("ReGlu", 4, False): (REPEAT, REPEAT, 1, 0),
    ("Gelu", 2, False): (3 * 1200, 3 * REPEAT, 0, 0),
    ("PowerTensors", 4, False): (4 * 1200 + REPEAT, 5 * REPEAT, 4, REPEAT),
    ("PowerScalar", 4, False): (5 * 1200 + REPEAT, 6 * REPEAT, 5, REPEAT),
    ("PowerScalar", 2, False): (14 * 600 + REPEAT, 8 * REPEAT, 14, REPEAT),
    ("Clamp", 2, False): (300, 128, 1, 0),
    ("Clamp", 4, False): (300, 64, 1, 0),
    ("Axpy", 2, False): (4 * 600, 4 * REPEAT, 4, 0),
    ("Axpy", 4, False): (0, 0, 1, 0),
    ("Lgamma", 2, False): (26 * 600, 26 * REPEAT, 13, 0),
    ("Lgamma", 4, True): (7 * 1200, 7 * REPEAT, 8, 0),
    ("DropOut", 2, False): (2 * 300 * 4, 512, 0, 0),
    # In half, 4096 elements at a time; the mask without its padding unless it may be overwritten.
    ("SelectWithBytesMask", 4, False): (2 * 6016 + 512 + 6016, 2 * 4096 + 512 + 6016, 0, 0),
    ("SelectWithBytesMask", 4, True): (2 * 6016 + 512, 2 * 4096 + 512, 0, 0),
    ("Sum", 2, False): (32, 32, 0, 0),
    ("Sum", 4, False): (64, 64, 0, 0),
    ("CumSumLast", 4, False): (32 * 32 * 4 * 2, 16 * 32 * 4 * 2, 0, 0),
    ("CumSumLast", 2, False): (32 * 32 * 2 * 3, 16 * 32 * 2 * 3, 0, 0),
    ("CumSumFirst", 2, False): (20 * 32 * 4, 20 * 32 * 4, 0, 0),
    ("CumSumFirst", 4, False): (0, 0, 0, 0),
    ("BroadCast", 4, False): ((16 * 8 + 12 * 24) * 4, (8 * 8 + 8 * 24) * 4, 0, 0),
    ("ReduceMaxAR", 4, False): (3 * 256, 3 * 256, 0, 0),
    ("ReduceMaxAR", 2, False): (3 * 32, 3 * 32, 0, 0),
    ("ReduceMaxAR", 4, True): (0, 0, 0, 0),
    ("ReduceMaxRA", 4, False): (2 * 416, 2 * 416, 0, 0),
    ("ReduceAnyAR", 4, False): (3 * 256, 3 * 256, 0, 0),
    ("ReduceAnyAR", 4, True): (0, 0, 0, 0),
    ("ReduceAllBytes", 4, False): (2 * 128 + 3 * 32, 2 * 128 + 3 * 32, 0, 0),
    ("ReduceSumAR", 4, False): (3 * 64 * 4, 3 * 64 * 4, 0, 0),
    # 20 rows fit: 16 of 64 at a time, four times.
    ("LogSoftMax", 4, False): (64 * 200 * 4, 200 * 4, 16, 4),
    ("LogSoftMax", 2, False): (64 * 208 * 4, 208 * 4, 16, 4),
    ("SoftMax", 4, False): (0, 8, 16, 4),
    ("SoftMaxEven", 4, False): (0, 0, 16, 4),
    ("SoftMaxOfBytes", 4, False): (0, 0, 0, 0),
    # 6 rows of 64: three temporaries of a row, two blocks of means and variances.
    ("LayerNorm", 4, False): (3 * 1536 + 64, 3 * 256 + 64, 3 * 64, 6),
    ("LayerNorm", 4, True): (2 * 1536 + 64, 2 * 256 + 64, 3 * 64, 6),
    ("LayerNorm", 2, False): (3 * 1536 + 64, 3 * 256 + 64, 3 * 64, 6),
    ("LayerNormRows", 4, False): (2 * 256 + 2 * 8 * 256 + 32, 2 * 256 + 32, 3 * 64, 2),
    ("LayerNormRows", 2, False): (2 * 256 + 2 * 8 * 256 + 32, 4 * 256 + 32, 6 * 64, 1),
    ("Normalize", 4, False): (2 * 256 + 2 * 8 * 256, 2 * 256, 0, 0),
    ("Normalize", 2, False): (2 * 256 + 2 * 8 * 256, 4 * 256, 0, 0),
    ("WelfordUpdate", 4, False): (5 * 512, 512, 0, 0),
    ("WelfordUpdate", 4, True): (5 * 256, 256, 0, 0),
    ("WelfordUpdate", 2, True): (5 * 768, 768, 0, 0),
    ("WelfordFinalize", 4, False): ((2 * 64 + 2 * 320) * 4, 1024, 0, 0),
    # 288 floats: four rows and a block; with half a row takes two.
    ("RmsNorm", 4, False): ((6 * 64 + 8) * 4, (64 + 8) * 4, 4, 2),
    ("RmsNorm", 2, False): ((2 * 6 * 64 + 16) * 4, (2 * 64 + 8) * 4, 4, 2),
    # Groups of two channels of 32.
    ("GroupNorm", 4, False): (3 * 1024 + 64, 3 * 256 + 64, 3, 1),
    ("GroupNorm", 4, True): (2 * 1024 + 64, 2 * 256 + 64, 3, 1),
    ("BatchNorm", 4, False): (3 * 2048 + 512, 3 * 256 + 512, 24, 2),
    ("BatchNorm", 2, False): (3 * 2048 + 512, 3 * 512 + 512, 32, 2),
    ("TopK", 4, False): (64 * 20, 64 * 20, 16, 2),
    ("AscendQuant", 2, False): (608, 512, 0, 0),
    ("AscendDequant", 4, False): ((64 + 300 + 108) * 4, (64 + 100 + 108) * 4, 1, 172),
    ("AscendAntiQuant", 2, False): (0, 0, 0, 0),
    ("AscendAntiQuant", 4, False): (2048, 2048, 0, 2048),
    ("SortConcat", 2, False): (64 * 8, 0, 0, 0),
    ("SortConcat", 4, False): (64 * 8, 0, 0, 0),
    ("Mean", 4, False): (32, 32, 1, 0),
    ("Arange", 4, False): (0, 0, 0, 0),
    ("SoftmaxFlash", 4, False): (64 * (32 + 256) * 4, (32 + 256) * 4, 8, 8),
    ("SoftmaxFlashV2", 4, False): (64 * 72 * 4, 8 * 72 * 4, 16, 1),
    ("SoftmaxFlashV2", 2, False): (64 * 200 * 4, 8 * 200 * 4, 16, 1),
}


@pytest.fixture(scope="module")
def sizes(
    toolkit: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, int, bool], tuple[int, ...]]:
    """What programs/high_sizes.cpp prints."""
    program = tmp_path_factory.mktemp("sizes") / "high_sizes"
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{toolkit}/include"]
    command += [str(Path(__file__).parents[1] / "programs" / "high_sizes.cpp"), "-o", str(program)]
    command += [f"-L{toolkit}/lib64", "-lregister", "-lascendcl"]
    command += [f"-Wl,-rpath,{toolkit}/lib64", f"-Wl,-rpath-link,{toolkit}/lib64"]
    subprocess.run(command, check=True)
    text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    table = {}
    for line in text.splitlines():
        name, width, reused, *numbers = line.split()
        table[name, int(width), reused == "1"] = tuple(map(int, numbers))
    return table


@pytest.mark.parametrize("name", FACTORS)
def test_functions_of_an_element(
    sizes: dict[tuple[str, int, bool], tuple[int, ...]], name: str
) -> None:
    """Least is one repeat per temporary, most is the whole operand."""
    for width in (2, 4):
        for reused in (False, True):
            half, single, in_place = FACTORS[name]
            count = half if width == 2 else in_place if reused else single
            factor = half if width == 2 else single
            want = (count * ELEMENTS * width, count * REPEAT, factor, 0)
            assert sizes[name, width, reused] == want


@pytest.mark.parametrize("key", OTHERS, ids=str)
def test_other_sizes(
    sizes: dict[tuple[str, int, bool], tuple[int, ...]], key: tuple[str, int, bool]
) -> None:
    """Functions with formulas of their own."""
    assert sizes[key] == OTHERS[key]
