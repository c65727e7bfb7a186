# SPDX-License-Identifier: Apache-2.0
"""Batches of products by IterateBatch and IterateNBatch, on cube cores and asked for by vector
cores, against float64: layouts, matrices that are used several times, sums of a group, bias, and
each mistake as what it is.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from instructions import cube_model as model
from instructions.bench import KernelError, Runtime, compile_kernel
from instructions.mix_library import mixed_library
from instructions.test_matmul import CUBE, field_names

KEY = 12  # one AIC with two AIVs
(
    SYNC, ASYNC, INTO_UB, LOOPS, LOOPS_LATER, _, NO_NUM, PARTIAL, STRIDE_C, SEQUENTIAL, NOT_TOLD,
    NO_SPACE, TAKEN_TWICE,
) = range(13)  # fmt: skip
Array = npt.NDArray[Any]
NORMAL, BSNGD, SBNGD, BNGS = "NORMAL", "BSNGD", "SBNGD", "BNGS1S2"


@pytest.fixture(scope="module")
def on_cubes(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of matmul_batch.cpp for cube cores alone."""
    folder = tmp_path_factory.mktemp("matmul_batch")
    flags = ("-O1", "-g", "-DASCENDC_CUBE_ONLY", CUBE)
    return ctypes.CDLL(str(compile_kernel(toolkit, folder, "matmul_batch", *flags)))


@pytest.fixture(scope="module")
def on_both(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Those of MIX kernels, both halves in one library."""
    folder = tmp_path_factory.mktemp("mix_matmul_batch")
    return mixed_library(toolkit, folder, "matmul_batch")


def lying(arrays: Array, layout: str) -> Array:
    """Matrices of the axes B, N, G, rows, columns as they lie in GM."""
    axes = {BSNGD: (0, 3, 1, 2, 4), SBNGD: (3, 0, 1, 2, 4)}.get(layout, (0, 1, 2, 3, 4))
    return np.ascontiguousarray(arrays.transpose(axes)).reshape(-1)


def from_memory(flat: Array, shape: tuple[int, ...], layout: str) -> Array:
    """The other way round."""
    b, n, g, rows, columns = shape
    if layout == BSNGD:
        return flat.reshape(b, rows, n, g, columns).transpose(0, 2, 3, 1, 4)
    if layout == SBNGD:
        return flat.reshape(rows, b, n, g, columns).transpose(1, 2, 3, 0, 4)
    return flat.reshape(shape)


def offset(matrix: int, shape: tuple[int, ...], layout: str) -> int:
    """The element at which a matrix begins."""
    _, n, g, rows, columns = shape
    if layout == BSNGD:
        return matrix // (n * g) * rows * n * g * columns + matrix % (n * g) * columns
    return matrix * columns * (1 if layout == SBNGD else rows)


def of_nz(matrix: Array) -> Array:
    """Elements in rows, of fractals that lie in columns."""
    rows, columns = matrix.shape
    return matrix.reshape(columns // 16, rows, 16).transpose(1, 0, 2).reshape(-1)


@dataclass
class Batches:
    """Products of all matrices, by calls of so many matrices each."""

    kernel: str
    layout: str
    to: str
    b: int = 1
    n: int = 1
    g: tuple[int, int] = (4, 4)  # of A and of B
    shape: tuple[int, int, int] = (40, 50, 70)
    batch: tuple[int, int] = (4, 4)
    of_c: int = 0  # groups of C; 0: as many as the products have
    trans: tuple[bool, bool] = (False, False)
    bias: bool = False
    way: int = SYNC
    out: npt.DTypeLike = np.float32
    cores: int = 1
    layout_b: str = ""  # as A where it is not given
    told: dict[str, int] = field(default_factory=dict)
    tiling: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        m, n, k = self.shape
        rng = np.random.default_rng(m)
        groups = max(self.g)
        self.layout_b = self.layout_b or self.layout
        self.of_c = self.of_c or groups
        a, b = ((self.b, self.n, g) for g in self.g)
        self.a = rng.uniform(-1, 1, (*a, m, k)).astype(np.float16)
        self.of_b = rng.uniform(-1, 1, (*b, k, n)).astype(np.float16)
        self.shape_of_c = (self.b, self.n, self.of_c, m, n)
        matrices = 1 if self.kernel == "normal_one_bias" else self.b * self.n * self.of_c
        self.of_bias = rng.uniform(-1, 1, (matrices, n)).astype(np.float32)

    def in_memory(self) -> tuple[Array, Array]:
        """A and B with their axes as memory has them."""
        return tuple(
            x.swapaxes(3, 4) if trans else x
            for x, trans in zip((self.a, self.of_b), self.trans, strict=True)
        )  # type: ignore[return-value]

    def want(self) -> Array:
        """In float64."""
        groups = max(self.g)
        a, b = (
            np.repeat(x.astype(np.float64), groups // g, axis=2)
            for x, g in zip((self.a, self.of_b), self.g, strict=True)
        )
        c = a @ b
        if self.of_c == 1 and groups > 1:
            c = c.sum(axis=2, keepdims=True)
        if self.bias:
            matrices = self.of_bias.shape[0]
            shape = (1, 1, 1) if matrices == 1 else self.shape_of_c[:3]
            c = c + self.of_bias.reshape(*shape, 1, -1)
        return c

    def words(self, a: Array, b: Array) -> Array:
        """The tiling, what is done, and where the calls' matrices begin."""
        m, n, k = self.shape
        numbers = {
            "usedCoreNum": self.cores, "M": m, "N": n, "Ka": k, "Kb": k, "singleCoreM": m,
            "singleCoreN": n, "singleCoreK": k, "baseM": 32, "baseN": 32, "baseK": 32, "stepM": 1,
            "stepN": 1, "stepKa": 2, "stepKb": 1, "depthA1": 4, "depthB1": 2, "dbL0A": 2,
            "dbL0B": 2, "dbL0C": 2, "isBias": int(self.bias), "BatchNum": max(self.batch),
        }  # fmt: skip
        for which, axes in (("A", a.shape), ("B", b.shape), ("C", self.shape_of_c)):
            rows, columns = ("S1", "S2") if which == "C" else ("S", "D")
            for axis, size in zip(("B", "N", "G", rows, columns), axes, strict=True):
                numbers[f"{which}LayoutInfo{axis}"] = size
        numbers |= self.tiling
        assert not set(numbers) - set(field_names())
        batch_a, batch_b = self.batch
        groups = max(self.g) if self.of_c == 1 and self.layout != NORMAL else 1
        per_c = max(self.batch) // groups
        every = self.b * self.n * self.of_c // per_c
        calls = 1 if self.kernel.startswith("loops") else every
        told = {
            "trans_a": int(self.trans[0]), "trans_b": int(self.trans[1]), "way": self.way,
            "bias": int(self.bias), "batch_a": batch_a, "batch_b": batch_b, "calls": calls,
            "cores": self.cores, "stride_a": 0, "stride_b": 0, "atomic": 0,
            "per_c": every if self.kernel.startswith("loops") else per_c,
        } | self.told  # fmt: skip
        in_memory = [
            (*x.shape[:3], *(model.up(size, 16) for size in x.shape[3:]))
            if self.kernel == "normal_nz"
            else x.shape
            for x in (a, b)
        ]
        begins = []
        for call in range(calls):
            begins += [
                offset(call * batch_a, in_memory[0], self.layout),
                offset(call * batch_b, in_memory[1], self.layout_b),
                offset(call * per_c, self.shape_of_c, self.to),
                call * per_c * n if self.of_bias.shape[0] > 1 else 0,
            ]
        return np.array(
            [*(numbers.get(name, 0) for name in field_names()), *told.values(), *begins], np.int32
        )

    def run(self, runtime: Runtime, library: ctypes.CDLL) -> Array:
        """C, with its axes in the order B, N, G, rows, columns."""
        a, b = self.in_memory()
        flat = [lying(a, self.layout), lying(b, self.layout_b)]
        if self.kernel == "normal_nz":
            flat = [
                np.concatenate([model.to_nz(x) for x in y.reshape(-1, *y.shape[3:])])
                for y in (a, b)
            ]
        c = np.zeros(int(np.prod(self.shape_of_c)), self.out)
        arrays = [*flat, c, self.of_bias, np.zeros_like(c), self.words(a, b)]
        arrays += [np.zeros(16 * 1024 * 1024, np.uint8)]
        mixed = hasattr(library, "loops")
        blocks = -(-self.cores // 2) if mixed else self.cores
        (got,) = runtime.launch(
            library[self.kernel], arrays, outputs=[2], block_dim=blocks, key=KEY if mixed else 0
        )
        if self.kernel.endswith("_to_nz"):
            matrices = got.reshape(-1, *self.shape_of_c[3:])
            got = np.concatenate([of_nz(matrix) for matrix in matrices])
        return from_memory(got, self.shape_of_c, self.to)

    def check(self, got: Array) -> None:
        """Sums of float, rounded once more to what C is."""
        want = self.want()
        terms = self.shape[2] * (max(self.g) if self.of_c == 1 else 1) + 1
        allowed = terms * 2.0**-22 + np.abs(want) * (2.0**-10 if self.out is np.float16 else 0)
        assert np.all(np.abs(got.astype(np.float64) - want) <= allowed)


LIBRARIES = ["on_cubes", "on_both"]
KINDS = [
    ("normal", NORMAL, NORMAL), ("bsngd", BSNGD, BSNGD), ("sbngd", SBNGD, SBNGD),
    ("bsngd_bngs", BSNGD, BNGS), ("sbngd_bngs", SBNGD, BNGS), ("bngs", BNGS, BNGS),
]  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("trans", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(("kernel", "layout", "to"), KINDS)
def test_layouts(
    runtime: Runtime,
    request: pytest.FixtureRequest,
    library: str,
    kernel: str,
    layout: str,
    to: str,
    trans: tuple[bool, bool],
) -> None:
    """Several calls of several matrices, whose tiles have tails; NORMAL has one axis alone."""
    batches = Batches(kernel, layout, to, 2, 2, (3, 3), batch=(3, 3), trans=trans, cores=2)
    batches.bias = trans[0]
    if layout == NORMAL:
        batches = Batches(kernel, layout, to, 1, 6, (1, 1), batch=(3, 3), trans=trans, cores=2)
    batches.check(batches.run(runtime, request.getfixturevalue(library)))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    ("groups", "batch"), [((4, 1), (4, 1)), ((4, 1), (8, 2)), ((1, 3), (1, 3)), ((4, 2), (4, 2))]
)
@pytest.mark.parametrize(("kernel", "layout", "to"), KINDS[1:])
def test_matrices_that_are_used_several_times(
    runtime: Runtime,
    request: pytest.FixtureRequest,
    library: str,
    kernel: str,
    layout: str,
    to: str,
    groups: tuple[int, int],
    batch: tuple[int, int],
) -> None:
    """One matrix for all of a group."""
    batches = Batches(kernel, layout, to, 1, 2, groups, batch=batch, bias=True)
    batches.check(batches.run(runtime, request.getfixturevalue(library)))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("groups", [(4, 4), (4, 1), (1, 3)])
@pytest.mark.parametrize(("kernel", "layout", "to"), KINDS[1:])
def test_one_sum_for_a_group(
    runtime: Runtime,
    request: pytest.FixtureRequest,
    library: str,
    kernel: str,
    layout: str,
    to: str,
    groups: tuple[int, int],
) -> None:
    """C has one matrix for the group: its products are added up."""
    batches = Batches(kernel, layout, to, 1, 2, groups, batch=groups, of_c=1, bias=True)
    batches.check(batches.run(runtime, request.getfixturevalue(library)))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("groups", [(3, 3), (3, 1)])
@pytest.mark.parametrize("trans", [False, True])
@pytest.mark.parametrize(
    ("kernel", "layouts"),
    [("bngs_by_bsngd", (BNGS, BSNGD)), ("bngs_by_sbngd", (BNGS, SBNGD)),
     ("bsngd_by_bngs", (BSNGD, BNGS)), ("bngs_to_nz", (BNGS, BSNGD)),
     ("normal_to_nz", (NORMAL, NORMAL))],
)  # fmt: skip
def test_layouts_of_their_own_and_nz(
    runtime: Runtime,
    request: pytest.FixtureRequest,
    library: str,
    kernel: str,
    layouts: tuple[str, str],
    trans: bool,
    groups: tuple[int, int],
) -> None:
    """A and B each as its type says, and C in whole fractals: what FlashAttentionScore asks for."""
    a, b = layouts
    to_nz = kernel.endswith("_to_nz")
    shape, to = (48, 64, 70) if to_nz else (40, 50, 70), NORMAL if a == NORMAL else BNGS
    if a == NORMAL:
        batches = Batches(kernel, a, to, 1, 6, (1, 1), shape, (3, 3), cores=2)
    else:
        batches = Batches(kernel, a, to, 2, 2, groups, shape, groups, layout_b=b, cores=2)
    batches.trans = (False, trans)
    batches.check(batches.run(runtime, request.getfixturevalue(library)))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kernel", ["normal_half", "normal_nz", "normal_one_bias"])
def test_types_formats_and_biases(
    runtime: Runtime, request: pytest.FixtureRequest, library: str, kernel: str
) -> None:
    out = np.float16 if kernel == "normal_half" else np.float32
    batches = Batches(kernel, NORMAL, NORMAL, 1, 4, (1, 1), batch=(2, 2), out=out, bias=True)
    batches.check(batches.run(runtime, request.getfixturevalue(library)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_strides_between_matrices(
    runtime: Runtime, request: pytest.FixtureRequest, library: str
) -> None:
    """Every second matrix of B."""
    batches = Batches("normal", NORMAL, NORMAL, 1, 4, (1, 1), batch=(2, 2))
    _, n, k = batches.shape
    batches.told = {"stride_b": 2 * n * k, "calls": 1}
    got = batches.run(runtime, request.getfixturevalue(library))
    want = batches.a.astype(np.float64)[:, :2] @ batches.of_b.astype(np.float64)[:, :4:2]
    np.testing.assert_allclose(got[:, :2], want, atol=1e-4)


@pytest.mark.parametrize("chaos", ["0", "1", "2", "5"])
@pytest.mark.parametrize("cores", [1, 2, 3])
@pytest.mark.parametrize("way", [SYNC, ASYNC])
def test_any_order_of_cores(
    runtime: Runtime, on_both: ctypes.CDLL, way: int, cores: int, chaos: str
) -> None:
    batches = Batches("bsngd_bngs", BSNGD, BNGS, 3, 2, (2, 2), batch=(2, 2), way=way, cores=cores)
    with runtime.options(chaos=chaos):
        batches.check(batches.run(runtime, on_both))


@pytest.mark.parametrize("shape", [(40, 48, 70), (33, 50, 64), (16, 7, 30)])
def test_into_ub(runtime: Runtime, on_both: ctypes.CDLL, shape: tuple[int, int, int]) -> None:
    """Matrix behind matrix, in rows of whole blocks."""
    batches = Batches("normal_ub", NORMAL, NORMAL, 1, 6, (1, 1), shape, batch=(3, 3), cores=2)
    batches.check(batches.run(runtime, on_both))


@pytest.mark.parametrize("way", [LOOPS, LOOPS_LATER])
@pytest.mark.parametrize(
    ("groups", "batch"), [((2, 2), (2, 2)), ((4, 1), (4, 1)), ((2, 2), (4, 4))]
)
def test_batch_after_batch(
    runtime: Runtime, on_both: ctypes.CDLL, way: int, groups: Any, batch: Any
) -> None:
    """IterateNBatch leaves C where SetWorkspace says; the kernel takes it from there."""
    batches = Batches("loops", BSNGD, BNGS, 2, 2, groups, (32, 48, 40), batch, way=way)
    batches.check(batches.run(runtime, on_both))


@pytest.mark.parametrize(
    ("kernel", "layout"), [("loops_bsngd", BSNGD), ("loops_sbngd", SBNGD), ("loops_normal", NORMAL)]
)
def test_loops_in_other_layouts(
    runtime: Runtime, on_both: ctypes.CDLL, kernel: str, layout: str
) -> None:
    """IterateNBatch puts each matrix where the layout of C has it."""
    b, n, g = (1, 8, (1, 1)) if layout == NORMAL else (2, 2, (2, 2))
    batches = Batches(kernel, layout, layout, b, n, g, (32, 48, 40), (2, 2), bias=True, way=LOOPS)
    batches.check(batches.run(runtime, on_both))


MISTAKES: list[tuple[str, dict[str, Any], str]] = [
    ("on_cubes", {"way": NO_NUM}, "nobody has said how many matrices the batches have"),
    ("on_cubes", {"way": PARTIAL}, "enPartialSum in batches is not simulated yet"),
    ("on_both", {"way": PARTIAL}, "enPartialSum in batches is not simulated yet"),
    ("on_cubes", {"way": SEQUENTIAL}, "enSequentialWrite is true, and C goes to GM"),
    ("on_both", {"way": STRIDE_C}, "matrixStrideC is reserved, and it is 1"),
    ("on_both", {"told": {"batch_a": 2}}, "batchA is 2 with 4 matrices in a group, batchB is 4"),
    ("on_cubes", {"batch": (3, 3), "g": (3, 3), "tiling": {"ALayoutInfoN": 2, "BLayoutInfoN": 2,
     "ALayoutInfoG": 2, "BLayoutInfoG": 2}}, "batchA is 3 of 4 matrices"),
    ("on_cubes", {"tiling": {"BLayoutInfoD": 0}}, "the tiling has no layout by SetBLayout"),
    ("on_both", {"tiling": {"ALayoutInfoD": 69}}, "A is 40 x 69 by its layout, and the part"),
    ("on_both", {"shape": (200, 200, 400)}, "matrices of A and 4 of B are [0-9]+ bytes"),
    ("on_both", {"way": NOT_TOLD}, "has an end that is told"),
    ("on_cubes", {"kernel": "bngs_to_nz", "layout": BNGS, "to": BNGS, "layout_b": BSNGD,
     "shape": (40, 64, 70)}, "a matrix has 40 rows, C is NZ"),
]  # fmt: skip


@pytest.mark.plants_faults
@pytest.mark.parametrize(("library", "change", "says"), MISTAKES, ids=str)
def test_mistakes(
    runtime: Runtime,
    request: pytest.FixtureRequest,
    library: str,
    change: dict[str, Any],
    says: str,
) -> None:
    batches = Batches(**{"kernel": "bsngd", "layout": BSNGD, "to": BSNGD, **change})
    with pytest.raises(KernelError, match=rf"matmul-use[\s\S]*{says}"):
        batches.run(runtime, request.getfixturevalue(library))


@pytest.mark.plants_faults
@pytest.mark.parametrize(
    ("way", "says"), [(NO_SPACE, "there is no memory in GM for C"), (TAKEN_TWICE, "all are taken")]
)
def test_mistakes_of_loops(runtime: Runtime, on_both: ctypes.CDLL, way: int, says: str) -> None:
    batches = Batches("loops", BSNGD, BNGS, 2, 2, (2, 2), (32, 48, 40), (2, 2), way=way)
    with pytest.raises(KernelError, match=rf"matmul-use[\s\S]*{says}"):
        batches.run(runtime, on_both)
