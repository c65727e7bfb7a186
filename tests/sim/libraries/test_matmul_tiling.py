# SPDX-License-Identifier: Apache-2.0
"""Tilings of Matmul: each keeps to the published constraints of TCubeTiling, which are written down
here once more, and what no tiling can keep to is refused with a reason.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

FLOAT, HALF, INT8, INT32, BF16, INT4, E4M3, E2M1 = 0, 1, 2, 3, 27, 29, 35, 37
BITS = {FLOAT: 32, HALF: 16, BF16: 16, INT8: 8, INT4: 4, INT32: 32, E4M3: 8, E2M1: 4}
OUT = {FLOAT: FLOAT, HALF: FLOAT, BF16: BF16, INT8: INT32, INT4: INT32, E4M3: FLOAT, E2M1: FLOAT}
INNER, OUTER, NBUFFER33 = 0, 1, 2
NORM, MDL = 0, 1
OF_950 = "Ascend950PR_9599"
SIZES = {  # L1 (of split chips without what the toolkit keeps), L0A and L0B, L0C, BT
    "Ascend910B2": (524288 - 256, 65536, 131072, 1024),
    "Ascend950PR_9599": (524288 - 256, 65536, 262144, 4096),
    "Ascend310P3": (1048576, 65536, 262144, 0),
}
RATES = {  # l2_rate and ddr_rate of the public platform file of each
    "Ascend910B2": (110, 32),
    "Ascend950PR_9599": (100, 31),
    "Ascend310P3": (114, 17),
    "Ascend910A": (110, 32),
}
FIELDS = Path(__file__).parents[3] / "simulator" / "include" / "kernel_tiling" / "tiling_fields.h"


@dataclass
class Product:
    """The words of programs/matmul_tilings.cpp, in order."""

    cores: int
    type: int
    m: int
    n: int
    k: int
    out: int = -1
    bias: int = -1
    trans_a: int = 0
    trans_b: int = 0
    local: int = 0
    fixed: tuple[int, int, int] = (-1, -1, -1)
    single: tuple[int, int, int] = (-1, -1, -1)
    most: tuple[int, int, int] = (-1, -1, -1)
    order: int = 0
    splits_k: int = 0
    l1: int = -1
    l0c: int = -1
    mx: int = 0
    schedule: int = INNER
    config: int = MDL

    def line(self) -> str:
        out = OUT[self.type] if self.out < 0 else self.out
        words = [self.cores, self.type, out, self.bias, self.trans_a, self.trans_b, self.local]
        words += [self.m, self.n, self.k, *self.fixed, *self.single, *self.most]
        words += [self.order, self.splits_k, self.l1, self.l0c, self.mx, self.schedule, self.config]
        return " ".join(map(str, words))


@dataclass
class Tilings:
    """The program, and what it says of products."""

    program: Path
    names: list[str] = field(default_factory=list)

    def of(self, products: list[Product], soc: str = "Ascend910B2") -> list[dict[str, int] | str]:
        """Each one's fields, or why it has none."""
        text = subprocess.run(
            [self.program],
            input="\n".join(product.line() for product in products),
            env=os.environ | {"ACLGRAD_SOC": soc},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        answers: list[dict[str, int] | str] = []
        for line in text.splitlines():
            words = line.split()
            if words[0].startswith("-"):
                assert words[0] == "-1", line  # -2: the structs differ; -3: the getters do
                answers.append(line[3:])
            else:
                assert len(words) == len(self.names) == 50
                answers.append(dict(zip(self.names, map(int, words), strict=True)))
        assert len(answers) == len(products)
        return answers


def built(toolkit: Path, folder: Path, name: str) -> Path:
    """A program of tests/sim/programs, compiled as users compile tiling."""
    source = Path(__file__).parents[1] / "programs" / f"{name}.cpp"
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{toolkit}/include"]
    command += [str(source), "-o", str(folder / name)]
    command += [f"-L{toolkit}/lib64", "-ltiling_api", "-lplatform"]
    command += [f"-Wl,-rpath,{toolkit}/lib64", f"-Wl,-rpath-link,{toolkit}/lib64"]
    subprocess.run(command, check=True)
    return folder / name


@pytest.fixture(scope="module")
def tilings(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> Tilings:
    program = built(toolkit, tmp_path_factory.mktemp("tilings"), "matmul_tilings")
    text = FIELDS.read_text("utf-8")
    fields = text[text.index("ACLSIM_CUBE_TILING") :]
    return Tilings(program, re.findall(r"X\(int32_t, (\w+)\)", fields))


def up(value: int, unit: int) -> int:
    """The next multiple."""
    return -(-value // unit) * unit


def constraints(p: Product, t: dict[str, int], soc: str) -> dict[str, bool]:
    """TCubeTiling's constraints by name, and whether each holds."""
    l1, l0, l0c, bt = SIZES[soc]
    l1 = l1 if p.l1 < 0 else min(l1, p.l1)
    l0c = l0c if p.l0c < 0 else min(l0c, p.l0c)
    bits = BITS[p.type]
    c0 = 256 // bits
    m, n, k = t["baseM"], t["baseN"], t["baseK"]
    single_m, single_n, single_k = t["singleCoreM"], t["singleCoreN"], t["singleCoreK"]
    parts = -(-p.m // single_m) * -(-p.n // single_n) * -(-p.k // single_k)
    steps = -(-single_k // k)
    ka, kb = (-(-single_k // (k * t[step])) for step in ("stepKa", "stepKb"))
    by_a, by_b = t["stepM"] * t["stepKa"], t["stepN"] * t["stepKb"]
    block_a = (up(m, c0) if p.trans_a else m) * k * bits // 8
    block_b = (n if p.trans_b else up(n, c0)) * k * bits // 8
    in_l1 = 0 if p.local == 1 else block_a * t["depthA1"]
    in_l1 += 0 if p.local == 2 else block_b * t["depthB1"]
    in_l1 += n * BITS[p.bias] // 8 if p.bias >= 0 else 0
    if p.mx:  # a byte for 32 elements
        in_l1 += 0 if p.mx == 3 else up(m, 16) * k // 32 * t["depthA1"]
        in_l1 += up(n, 16) * k // 32 * t["depthB1"]
    unit_k = 64 if p.mx else c0 if not p.trans_a and p.trans_b else 16
    cores = max(p.cores, 1)
    outer, order = p.schedule == OUTER, t["iterateOrder"]
    tiles_m = -(-single_m // m)
    return {
        "shape": (t["M"], t["N"], t["Ka"], t["Kb"]) == (p.m, p.n, p.k, p.k),
        "cores": t["usedCoreNum"] == (parts if max(p.single) < 1 else min(parts, cores)) <= cores,
        "single": 0 < single_m <= p.m and 0 < single_n <= p.n and 0 < single_k <= p.k,
        "k is one core's": single_k == p.k or p.splits_k == 1,
        "fixed": all(f < 1 or f == b for f, b in zip(p.fixed, (m, n, k), strict=True)),
        "single is fixed": all(
            f < 1 or f == s for f, s in zip(p.single, (single_m, single_n, single_k), strict=True)
        ),
        "single is in range": single_m <= (p.most[0] if p.most[0] > 0 else p.m)
        and single_n <= (p.most[1] if p.most[1] > 0 else p.n),
        "base is positive": min(m, n, k) > 0,
        "base of m and n": m % 16 == 0 and n % 16 == 0,
        "base of k": k % unit_k == 0,
        "squares of 8 bits": bits != 8 or (p.trans_b == 1 or n % 32 == 0 or p.fixed[1] > 0),
        "extents of Mmad": max(m, n, k) < 4096,
        "L0A": m * k * bits // 8 * t["dbL0A"] <= l0,
        "L0B": n * k * bits // 8 * t["dbL0B"] <= l0,
        "L0C": m * n * 4 * t["dbL0C"] <= l0c,
        "bias table": p.bias < 0 or bt == 0 or n * BITS[p.bias] // 8 <= bt,
        "L1": in_l1 <= l1,
        "shareL1Size": in_l1 <= t["shareL1Size"] + 31 and t["shareL1Size"] <= l1,
        "shareL0CSize": t["shareL0CSize"] == m * n * 4 * t["dbL0C"],
        "double buffers": {t["dbL0A"], t["dbL0B"], t["dbL0C"]} <= {1, 2},
        "depth of A": t["depthA1"] in (by_a, 2 * by_a) and t["depthA1"] > 0,
        "depth of B": t["depthB1"] in (by_b, 2 * by_b) and t["depthB1"] > 0,
        "steps of A": p.config == NORM or steps <= t["stepKa"] or t["stepM"] == 1,
        "steps of B": p.config == NORM or steps <= t["stepKb"] or t["stepN"] == 1,
        "base and part": m <= up(single_m, max(16, c0)) and n <= up(single_n, max(16, c0)),
        "two tiles": not outer
        or (tiles_m if order else -(-single_n // n)) == 1
        or (t["stepM"] if order else t["stepN"]) == t["dbL0C"] == 2,
        "K of two tiles": not outer or p.config == NORM or steps == 1,
        "3 x 3 tiles": p.schedule != NBUFFER33
        or (t["stepM"] == tiles_m <= 3 and t["stepKa"] == t["stepKb"] == steps <= 3),
        "steps of K": ka % kb == 0 or kb % ka == 0,
        "order": t["iterateOrder"] == (p.order - 1 if p.order else t["iterateOrder"]) in (0, 1),
        "bias": t["isBias"] == (p.bias >= 0),
        "factors of scales": t["mxTypePara"] == (0x01010101 if p.mx else 0),
    }


def checked(p: Product, answer: dict[str, int] | str, soc: str = "Ascend910B2") -> dict[str, int]:
    """The tiling, which breaks no constraint."""
    assert isinstance(answer, dict), (p, answer)
    broken = [name for name, holds in constraints(p, answer, soc).items() if not holds]
    assert not broken, (broken, p, {name: value for name, value in answer.items() if value})
    return answer


def extent(rng: np.random.Generator) -> int:
    """Small and large ones, whole fractals and others."""
    return int(2 ** rng.uniform(0, 14)) if rng.random() < 0.6 else 16 * int(rng.integers(1, 300))


def anything(rng: np.random.Generator) -> Product:
    """Any product that has a tiling."""
    kind = int(rng.choice([FLOAT, HALF, BF16, INT8, INT4]))
    product = Product(
        int(rng.choice([0, 1, 2, 7, 20, 24, 48])),
        kind,
        extent(rng),
        extent(rng),
        extent(rng),
        trans_a=int(rng.integers(2)),
        trans_b=int(rng.integers(2)),
        local=int(rng.random() < 0.1),
        order=int(rng.integers(3)),
    )
    if rng.random() < 0.4:
        product.bias = INT32 if kind in (INT8, INT4) else int(rng.choice([FLOAT, HALF]))
    c0 = max(16, 256 // BITS[kind])
    fixed = (int(rng.choice([16, 64, 128])), int(rng.choice([32, 128, 256])), -1)
    if rng.random() < 0.3 and fixed[0] <= up(product.m // 3, 16) and fixed[1] <= up(product.n, c0):
        product.fixed = fixed
    if product.cores and rng.random() < 0.2:
        product.single = (max(1, product.m // 3), product.n, product.k)
    elif product.cores > 8 and rng.random() < 0.2:
        product.most = (up(max(1, product.m // 2), 32), product.n, -1)
    if product.cores and product.bias < 0 and rng.random() < 0.2:
        product.splits_k = 1
    if rng.random() < 0.2:
        product.l1 = int(rng.choice([200_000, 300_000, 512_000]))
    return product


@pytest.mark.parametrize("soc", SIZES)
def test_random_products_keep_to_all_constraints(tilings: Tilings, soc: str) -> None:
    rng = np.random.default_rng(39)
    products = [anything(rng) for _ in range(1500)]
    seen: set[str] = set()
    for product, answer in zip(products, tilings.of(products, soc), strict=True):
        tiling = checked(product, answer, soc)
        seen |= {f"db{tiling['dbL0A']}{tiling['dbL0C']}", f"order{tiling['iterateOrder']}"}
        seen.add("all of A" if tiling["depthA1"] == tiling["stepKa"] else "parts of A")
    assert {"order0", "order1", "all of A", "parts of A", "db21", "db22"} <= seen


def test_products_of_mx_types(tilings: Tilings) -> None:
    """With room for the scales beside both operands, and pairs of scales in each step."""
    rng = np.random.default_rng(64)
    products = []
    for _ in range(600):
        p = anything(rng)
        p.type, p.mx = int(rng.choice([E4M3, E2M1])), int(rng.integers(1, 4))
        p.bias = p.bias if p.bias in (-1, FLOAT, HALF) else FLOAT
        p.local = 0
        products.append(p)
    for product, answer in zip(products, tilings.of(products, OF_950), strict=True):
        checked(product, answer, OF_950)


def test_small_products_of_mx_types_stay_on_one_core(tilings: Tilings) -> None:
    """Programs count on it, whose offsets of scales are those of the first core."""
    products = [Product(32, E4M3, 64, 128, 128, mx=1), Product(32, E4M3, 1024, 1024, 128, mx=1)]
    small, large = tilings.of(products, OF_950)
    assert checked(products[0], small, OF_950)["usedCoreNum"] == 1
    assert checked(products[1], large, OF_950)["usedCoreNum"] > 8


def test_what_mx_types_are_not(tilings: Tilings) -> None:
    def said(product: Product, soc: str = OF_950) -> str:
        (answer,) = tilings.of([product], soc)
        assert isinstance(answer, str)
        return answer

    assert "with MXMODE both are float8_e4m3fn" in said(Product(8, HALF, 64, 64, 64, mx=1))
    assert "Next: SetMadType(MatrixMadType::MXMODE)" in said(Product(8, E2M1, 64, 64, 64))
    assert "with MXMODE it is float, half or" in said(Product(8, E4M3, 64, 64, 64, out=INT8, mx=1))
    fixed = Product(8, E4M3, 64, 64, 96, fixed=(64, 64, 96), mx=1)
    assert "baseK is 96; of these types it is a multiple of 64" in said(fixed)
    mx = Product(8, E4M3, 64, 64, 64, mx=1)
    assert "Ascend910B2 has no products of MX types" in said(mx, "Ascend910B2")


def test_each_constraint_can_fail() -> None:
    """A tiling with one field changed breaks the constraint of that field: the check is one."""
    p = Product(24, HALF, 1024, 1024, 1024, bias=FLOAT)
    good = {
        "usedCoreNum": 16, "M": 1024, "N": 1024, "Ka": 1024, "Kb": 1024, "singleCoreM": 256,
        "singleCoreN": 256, "singleCoreK": 1024, "baseM": 128, "baseN": 256, "baseK": 64,
        "depthA1": 8, "depthB1": 8, "stepM": 1, "stepN": 1, "isBias": 1, "iterateOrder": 0,
        "shareL1Size": 8 * 49152 + 1024, "shareL0CSize": 131072, "stepKa": 4, "stepKb": 4,
        "dbL0A": 2, "dbL0B": 2, "dbL0C": 1, "mxTypePara": 0,
    }  # fmt: skip
    assert all(constraints(p, good, "Ascend910B2").values())
    for name, value, broken in (
        ("usedCoreNum", 15, "cores"),
        ("singleCoreM", 1040, "single"),
        ("singleCoreK", 512, "k is one core's"),
        ("baseM", 120, "base of m and n"),
        ("baseK", 72, "base of k"),
        ("baseM", 272, "L0A"),
        ("baseN", 272, "L0B"),
        ("baseN", 272, "bias table"),
        ("dbL0C", 2, "L0C"),
        ("depthA1", 16, "L1"),
        ("depthA1", 6, "depth of A"),
        ("stepKb", 3, "depth of B"),
        ("stepKa", 3, "steps of K"),
        ("stepM", 2, "steps of A"),
        ("isBias", 0, "bias"),
        ("mxTypePara", 0x01010101, "factors of scales"),
    ):
        held = constraints(p, good | {name: value}, "Ascend910B2")
        assert not held[broken], (name, value)


def test_large_products_use_all_cores_and_the_memories(tilings: Tilings) -> None:
    p = Product(24, HALF, 8192, 8192, 8192)
    (answer,) = tilings.of([p])
    tiling = checked(p, answer)
    assert tiling["usedCoreNum"] == 24
    assert tiling["baseM"] * tiling["baseN"] * 4 == 131072  # all of L0C
    assert tiling["dbL0A"] == 2
    assert tiling["depthA1"] == 2 * tiling["stepKa"]


def test_a_square_is_shared_along_m(tilings: Tilings) -> None:
    """Programs of two cores count on it."""
    p = Product(2, HALF, 512, 512, 128)
    (answer,) = tilings.of([p])
    tiling = checked(p, answer)
    assert (tiling["singleCoreM"], tiling["singleCoreN"]) == (256, 512)


def test_parts_of_k(tilings: Tilings) -> None:
    """A small result of a long K is shared by parts of K, when that is allowed."""
    plain = Product(24, HALF, 16, 16, 8192)
    split = Product(24, HALF, 16, 16, 8192, splits_k=1)
    one, all_cores = (
        checked(p, answer)
        for p, answer in zip((plain, split), tilings.of([plain, split]), strict=True)
    )
    assert one["usedCoreNum"] == 1
    assert all_cores["usedCoreNum"] > 8
    assert all_cores["singleCoreK"] < 1024


@pytest.mark.parametrize(
    ("product", "said"),
    [
        (Product(24, HALF, 0, 64, 64), r"M, N and K are 0, 64 and 64"),
        (Product(24, HALF, 64, 64, 64, out=INT32), r"A is of half, C of int32"),
        (Product(24, INT8, 64, 64, 64, out=FLOAT), r"A is of int8, C of float"),
        (Product(24, HALF, 64, 64, 64, bias=INT8), r"the bias is of int8"),
        (Product(24, FLOAT, 64, 64, 64, fixed=(64, 64, 8)), r"baseK is 8; .* multiple of 16"),
        (Product(24, HALF, 12, 64, 64, fixed=(32, 64, -1)), r"baseM is 32, .* 12: it is up to 16"),
        (Product(0, INT8, 64, 65, 64, fixed=(-1, 112, -1)), r"baseN is 112, .* 65: it is up to 96"),
        (
            Product(24, HALF, 512, 64, 64, single=(64, 64, -1), fixed=(128, -1, -1)),
            r"baseM is 128, and a core's part is 64",
        ),
        (Product(2, HALF, 64, 9760, 9760, local=2), r"or a B in L1 that fits"),
        (Product(0, FLOAT, 1024, 512, 512, schedule=NBUFFER33), r"no tile fits"),
        (Product(0, HALF, 480, 512, 384, fixed=(-1, 256, -1), schedule=NBUFFER33), r"no tile fits"),
        (Product(0, FLOAT, 384, 512, 192, fixed=(96, -1, -1), schedule=NBUFFER33), r"no tile fits"),
        (Product(0, HALF, 64, 64, 64, schedule=NBUFFER33, config=NORM), r"MDL, which is 1, not 0"),
        (Product(0, HALF, 16, 16, 2048, fixed=(16, 16, -1), schedule=OUTER), r"no tile fits"),
        (
            Product(24, HALF, 512, 512, 64, fixed=(256, 256, -1)),
            r"no tile fits: baseM 256 to 256, baseN 256 to 256 .* 131072 of L0C",
        ),
        (
            Product(24, FLOAT, 512, 512, 64, bias=FLOAT, fixed=(16, 512, -1)),
            r"float with a bias .* 1024 of the bias table",
        ),
        (Product(24, HALF, 64, 64, 64, l1=1000), r"in 1000 bytes of L1"),
        (Product(24, HALF, 64, 64, 64, l0c=512), r"512 of L0C"),
        (Product(2, HALF, 640, 640, 64, most=(64, 64, -1)), r"SetSingleRange: no part"),
        (Product(2, HALF, 64, 64, 64, bias=FLOAT, splits_k=1), r"EnableMultiCoreSplitK"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_has_no_tiling_is_refused(tilings: Tilings, product: Product, said: str) -> None:
    (answer,) = tilings.of([product])
    assert isinstance(answer, str), answer
    assert re.search("MatmulApi Tiling: .*" + said, answer), answer


def test_whole_memories_are_given(tilings: Tilings) -> None:
    """Less than a tile needs, in each memory, and just enough of it."""
    fixed = (128, 256, 64)
    enough = 2 * 128 * 64 + 2 * 256 * 64
    products = [
        Product(0, HALF, 128, 256, 64, fixed=fixed, l1=enough),
        Product(0, HALF, 128, 256, 64, fixed=fixed, l1=enough - 1),
        Product(0, HALF, 128, 256, 64, fixed=fixed, l0c=131071),
    ]
    fits, no_l1, no_l0c = tilings.of(products)
    checked(products[0], fits)
    assert isinstance(no_l1, str)
    assert isinstance(no_l0c, str)


@pytest.mark.parametrize("soc", [*SIZES, "Ascend910A"])
def test_what_tiling_is_told_of_memories(toolkit: Path, tmp_path: Path, soc: str) -> None:
    """L0A, L0B, L0C, L1, FB and BT, then the rates of L2, HBM and UB, by PlatformAscendC; what the
    matrix unit takes, by which tiling chooses: one that reads nothing there takes each SoC for one
    without Fixpipe.
    """
    program = tmp_path / "core_memories"
    source = Path(__file__).parents[1] / "programs" / "core_memories.cpp"
    command = ["g++", "-std=c++17", f"-I{toolkit}/include", str(source), "-o", str(program)]
    command += [f"-L{toolkit}/lib64", "-lplatform", f"-Wl,-rpath,{toolkit}/lib64"]
    command += [f"-Wl,-rpath-link,{toolkit}/lib64"]
    subprocess.run(command, check=True)
    environment = os.environ | {"ACLGRAD_SOC": soc}
    told = subprocess.run([program], env=environment, check=True, capture_output=True, text=True)
    l1, l0, l0c, bt = SIZES.get(soc, SIZES["Ascend310P3"])
    fb = {"Ascend910B2": 2048, "Ascend950PR_9599": 4096}.get(soc, 0)
    kept = 256 if bt else 0
    sizes, rates, intrinsics = told.stdout.splitlines()
    assert list(map(int, sizes.split())) == [l0, l0, l0c, l1 + kept, fb, bt]
    l2_rate, ddr_rate = RATES[soc]
    # Memories without a rate tell 0, and a unit test may set others.
    assert list(map(int, rates.split())) == [l2_rate, ddr_rate, 0, 7]
    fixpipe, to_bt, to_ub, mmad, kind = intrinsics.split()
    split = soc in ("Ascend910B2", "Ascend950PR_9599")
    assert kind == ("split" if split else "-")
    assert fixpipe == ("f32,s32,f16" if split else "-")
    assert ("bf16" in to_bt.split(",")) == (soc == "Ascend950PR_9599")
    assert (to_bt == "-") == (to_ub != "-") == (not split)
    assert "f32f16f16" in mmad.split(",") and ("f322f32" in mmad.split(",")) == split


def test_schedules_keep_to_their_constraints(tilings: Tilings) -> None:
    """3 x 3 tiles of A in L1; two tiles of an Iterate, side by side across the order."""
    rng = np.random.default_rng(33)
    products: list[Product] = []
    while len(products) < 800:
        p = anything(rng)
        p.schedule = int(rng.choice([OUTER, NBUFFER33]))
        p.config = MDL if p.schedule == NBUFFER33 else int(rng.choice([NORM, MDL]))
        p.k = p.k if p.config == NORM else int(rng.integers(1, 200))
        p.m = p.m if p.schedule == OUTER else int(rng.integers(1, 300))
        p.single, p.most, p.fixed = (-1, -1, -1), (-1, -1, -1), (-1, -1, -1)
        products.append(p)
    answers = tilings.of(products)
    given = [
        (p, checked(p, answer))
        for p, answer in zip(products, answers, strict=True)
        if isinstance(answer, dict)
    ]
    assert len(given) > 700
    assert {t["stepM"] for p, t in given if p.schedule == NBUFFER33} == {1, 2, 3}
    assert {(t["stepM"], t["stepN"]) for p, t in given if p.schedule == OUTER} >= {(1, 2), (2, 1)}


def test_schedules_may_have_one_buffer_of_l0(tilings: Tilings) -> None:
    """With two of them three tiles of K are too small for all of it."""
    p = Product(0, FLOAT, 800, 2048, 64, schedule=NBUFFER33)
    (answer,) = tilings.of([p])
    assert checked(p, answer)["dbL0A"] == 1


def test_cores_get_parts_of_b_that_l1_holds(tilings: Tilings) -> None:
    """Kernels copy all of it where it fits; else each core copies its columns."""
    whole, large = (
        Product(8, FLOAT, 512, 64, 1024, local=2),
        Product(8, FLOAT, 64, 1024, 768, local=2),
    )
    of_whole, of_large = (
        checked(p, answer)
        for p, answer in zip((whole, large), tilings.of([whole, large]), strict=True)
    )
    assert of_whole["singleCoreN"] == 64
    assert of_large["singleCoreN"] * 768 * 4 <= SIZES["Ascend910B2"][0]


@pytest.mark.parametrize("soc", ["Ascend910B2", OF_950])
def test_what_the_calls_answer(toolkit: Path, tmp_path: Path, soc: str) -> None:
    program = built(toolkit, tmp_path, "matmul_tiling_calls")
    environment = os.environ | {"ACLGRAD_SOC": soc}
    told = subprocess.run([program], env=environment, check=True, capture_output=True, text=True)
    lines = told.stdout.splitlines()
    reasons = dict(line.split("! ", 1) for line in lines if "! " in line)
    numbers = {
        name: list(map(int, rest.split()))
        for name, rest in (line.split(": ", 1) for line in lines if "! " not in line)
    }
    assert numbers == {
        "fixed": [-1, -1, -1, -1, 0, 0],
        "fixed base": [0, 64, 32, 64, 32],
        "space": [0, -1, -1, -1, -1, -1, -1, 0],
        "space kept": [0],
        "cores": [0, 4096, 128, 128, 8, 4, 2],
        "normal": [0, 3, 32, 1, 1, 80, 5, 64, 5, 32, 1, 1, 64, 5],
        "batches": [0, -1, 0],
        "of 910B": [
            -1,
            0,
            0,
            0,
            0,
            0,
        ],  # a bias of 512 columns, of 256, of 256 from L1; rows of 494
        "of 310P": [0, 0, -1, -1, 0, 1],
        "of 950": [0, 0, 0, 0, 0, 0],
        "told chip": [0, 1],
        "halves": [0, 0, 0, int(soc == OF_950)],
        "buffers": [0, 300, 900, 70],
    }
    assert "baseM is 24; it is a multiple of 16 up to 4080" in reasons["fixed"]
    assert "4 matrices of A of 163840 bytes and 1 of B of 10240" in reasons["batches"]
