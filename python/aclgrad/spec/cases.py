# SPDX-License-Identifier: Apache-2.0
"""The standard test grid: what is computed, on which layout, with which values. A case is data and
makes its own arrays.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from aclgrad.common import host_memory
from aclgrad.spec.api import Api
from aclgrad.spec.call import AttrValue, Call, TensorDesc, row_major
from aclgrad.spec.dtypes import BF16, DOUBLE, FLOAT, FLOAT16, Array, DType

BLOCK_BYTES = 32
"""Unit of a copy between GM and UB: tails around its multiples are where kernels break."""


ORDINARY = ("uniform", "normal", "wide", "probability", "log_probability")
"""Values that are run at several scales: numbers of a magnitude, without special ones."""

EXPONENTS = (-10, -20)
"""The scales 2^-10 and 2^-20, beside 1."""

_SCALED_IN_FAST = 4
"""One case in so many is run at the smaller scales too in the short grid."""


@dataclass(frozen=True)
class Case:
    """One call of the grid. Layouts are part of the call's tensor descriptions.

    The incoming gradient is multiplied by 2 to the ``exponent``.
    """

    name: str
    op: str
    call: Call
    values: str = "uniform"
    exponent: int = 0
    guessed: bool = False  # It comes of a standard grid, so the operator may refuse it.

    @property
    def dtype(self) -> DType:
        """Dtype of the first tensor."""
        return next(desc.dtype for desc in self.call.tensors.values() if desc is not None)

    @property
    def word(self) -> str:
        """What commands call the operator."""
        return self.op

    @property
    def place(self) -> str:
        """File and line where somebody has written it; empty where nobody has."""
        return ""

    @property
    def of_project(self) -> bool:
        """Whether the operator comes as sources, and has no spec in this package."""
        return False

    @property
    def seed(self) -> int:
        """Fixed by the name, so that a failure repeats on its own."""
        return zlib.crc32(f"{self.op}:{self.name}".encode())

    def storages(self, spec: Api, seed: int = 0) -> dict[str, Array]:
        """Contents of the storage of each input, flat, rounded to its dtype."""
        rng = np.random.default_rng((self.seed, seed))
        found = {
            arg.name: fill(rng, self.values, self.call.tensor(arg.name), index)
            for index, arg in enumerate(spec.input_args)
        }
        for name in spec.scaled if self.exponent else ():
            found[name] = scaled(found[name], self.exponent)
        return found


def scaled(values: Array, exponent: int) -> Array:
    """Values times a power of two, in their dtype."""
    kind = np.dtype(np.complex128 if values.dtype.kind == "c" else np.float64)
    host_memory.need(values.size * (kind.itemsize + values.itemsize), "values at a smaller scale")
    wide = values.astype(kind)
    wide *= 2.0**exponent
    return wide.astype(values.dtype)


def has_room(dtypes: Iterable[DType], magnitude: float, exponent: int) -> bool:
    """Whether numbers of a magnitude are more than subnormal ones at a scale. Of the dtypes of
    these kernels float16 alone ends soon.
    """
    least = 2.0**-12 if FLOAT16 in dtypes else 2.0**-120
    return magnitude * 2.0**exponent >= least


def exponents(number: int, fast: bool) -> tuple[int, ...]:
    """The scales at which a case is run beside 1, by its number."""
    return EXPONENTS if not fast or number % _SCALED_IN_FAST == 0 else ()


def at_scales(
    cases: Iterable[Case], fast: bool, typical: Callable[[Case], float] = lambda case: 1.0
) -> Iterator[Case]:
    """Each case, and those with ordinary values at the smaller scales too, as gradients are small.
    ``typical`` says how large results are at scale 1. The short grid does so for one case in four.
    """
    for number, case in enumerate(cases):
        yield case
        descs = [desc for desc in case.call.tensors.values() if desc is not None]
        if case.values not in ORDINARY or any(desc.empty for desc in descs):
            continue
        for exponent in exponents(number, fast):
            if has_room((desc.dtype for desc in descs), typical(case), exponent):
                yield replace(case, name=f"{case.name}-2^{exponent}", exponent=exponent)


def view(storage: Array, desc: TensorDesc) -> Array:
    """Return the view of a flat storage that a description means."""
    return np.lib.stride_tricks.as_strided(
        storage[desc.offset :] if not desc.empty else storage[:0],
        desc.shape,
        [stride * storage.itemsize for stride in desc.view_strides],
    )


def fill(rng: np.random.Generator, values: str, desc: TensorDesc, index: int) -> Array:
    """Random contents for one storage. ``index`` is the tensor's place among the inputs."""
    size = math.prod(desc.storage_shape)
    chosen = values == "special_each" or (values == "special" and index == 0)
    # One array of float64 at a time and the result; NumPy's choice takes three.
    most = max(3 * 8 * chosen, 8 + desc.dtype.numpy.itemsize)
    host_memory.need(size * most, "random values of a tensor")
    if desc.dtype.name == "bool":
        return rng.random(size) < 0.3
    if values == "zero":
        return np.zeros(size, desc.dtype.numpy)
    data = rng.uniform(-5, 5, size)
    mean, deviation = rng.uniform(-5, 5), rng.uniform(0.1, 2)
    if values == "normal":
        del data
        data = rng.normal(mean, deviation, size)
    elif values in ("probability", "log_probability") and index > 0:
        # The sizes that a forward softmax has: rows sum to about 1.
        del data
        data = rng.exponential(1.0, size)
        data /= max(desc.shape[-1] if desc.shape else 1, 1)
        if values == "log_probability":
            np.log(data, out=data)
    elif values == "wide" and index > 0:
        # To where exp() nearly overflows and vanishes in float32.
        data *= 16
    elif values in _SPECIAL and size and index == 0:
        data[rng.integers(0, size, max(1, size // 50))] = _SPECIAL[values]
    elif values.startswith("all_"):
        data.fill(_SPECIAL[values.removeprefix("all_")])
    elif chosen:
        del data
        data = rng.choice(
            [-np.inf, np.inf, np.nan, -0.0, 0.0, 1.0, -3.5],
            size,
            p=[0.01] * 3 + [0.2, 0.2, 0.3, 0.27],
        )
    return data.astype(desc.dtype.numpy, copy=False)


_SPECIAL = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}


def strided(desc: TensorDesc, layout: str) -> TensorDesc:
    """Return the description of the same view in another memory layout."""
    shape, rank = desc.shape, desc.rank
    if layout == "contiguous":
        return desc
    if layout == "offset":
        return replace(desc, offset=5, storage=(desc.size + 11,), strides=row_major(shape))
    if layout == "gaps":
        # Every other element of the last dim, rows padded.
        wide = (*shape[:-1], 2 * shape[-1] + 3) if rank else (3,)
        strides = (*row_major(wide)[:-1], 2) if rank else ()
        return replace(desc, strides=strides, offset=1, storage=wide)
    if layout == "transposed":
        back = row_major(shape[::-1])[::-1]
        return replace(desc, strides=back, storage=shape[::-1])
    if layout == "expanded":
        strides = (0, *row_major(shape[1:])) if rank else ()
        return replace(desc, strides=strides, storage=(1, *shape[1:]) if rank else ())
    raise ValueError(f"layout: got {layout!r}")


def _shapes(block: int, fast: bool) -> Iterator[tuple[tuple[int, ...], int]]:
    """Shape and reduction dim, from the degenerate to the long."""
    yield (), -1
    yield (), 0
    yield (1,), 0
    yield (1,) * 8, 3
    by_rank = [
        (5,),
        (3, 7),
        (2, 5, 9),
        (2, 3, 4, 5),
        (2, 3, 2, 2, 7),
        (2, 2, 3, 2, 2, 5),
        (2, 1, 3, 2, 2, 1, 5),
    ]
    for shape in (*by_rank, (2, 1, 2, 3, 1, 2, 2, 3)):
        for dim in range(-1, len(shape) - 1):
            yield shape, dim
    for blocks in (1, 2, 8, 9) if fast else (1, 2, 3, 8, 9, 16, 32, 64):
        for length in (blocks * block - 1, blocks * block, blocks * block + 1):
            yield (3, length), -1
            yield (length, 3), 0
    for shape in ((13, 127), (5, 1009), (211, 3), (31, 17, 7)):
        for dim in range(len(shape)):
            yield shape, dim
    for shape, dim in (
        ((300, 1), 1),
        ((1, 300), 0),
        ((1025, 2), -1),
        ((2, 1025), 0),
        ((4, 65, 33), 1),
    ):
        yield shape, dim
    yield (64, 1024), -1
    yield (1024, 64), 0
    yield (2, 8191), -1
    yield (1, 1 << 16), -1
    yield (1 << 16, 2), 0
    if not fast:
        yield (255, 1023), -1
        yield (3, 8192, 5), 1
        yield (2, (1 << 17) - 1), -1
        yield ((1 << 17) + 1, 3), 0
        yield (1 << 20,), 0
        yield (1, 1, 1 << 20), 0
    for empty in ((0,), (0, 3), (3, 0), (2, 0, 4)):
        yield empty, -1


def shapes(block: int, fast: bool) -> list[tuple[int, ...]]:
    """Shapes of the grid for operators without a reduction dim."""
    return list(dict.fromkeys(shape for shape, _ in _shapes(block, fast)))


@dataclass(frozen=True)
class Point:
    """What a case of the grid of element-wise operators is about, beside its dtype."""

    shape: tuple[int, ...]
    values: str
    layout: str = "contiguous"
    out_layout: str = "contiguous"

    @property
    def words(self) -> list[str]:
        """For names."""
        words = ["x".join(map(str, self.shape)) or "scalar", self.values]
        layouts = (self.layout, self.out_layout)
        return words if layouts == ("contiguous",) * 2 else [*words, ">".join(layouts)]


def elementwise_points(itemsize: int, fast: bool) -> Iterator[Point]:
    """Grid for operators that compute each element on its own."""
    block = BLOCK_BYTES // itemsize
    kinds = ("uniform", "normal", "wide")
    for count, shape in enumerate(shapes(block, fast)):
        yield Point(shape, kinds[count % len(kinds)])
    specials = ("nan", "inf", "-inf", "special", "special_each", "zero")
    for values in (*specials, "all_nan", "all_inf", "all_-inf"):
        yield Point((6, 2 * block + 1), values)
    for shape in ((4, 6, 2 * block + 1), ()):
        for layout in ("offset", "gaps", "transposed", "expanded"):
            yield Point(shape, "normal", layout)
        for layout in ("offset", "gaps", "transposed"):
            yield Point(shape, "normal", "contiguous", layout)
        yield Point(shape, "normal", "transposed", "gaps")


def elementwise_grid(spec: Api, fast: bool) -> Iterator[Case]:
    """Grid for operators that compute each element on its own and have no attribute."""
    for dtype in spec.kernel_dtypes:
        points = elementwise_points(dtype.numpy.itemsize, fast)
        yield from at_scales((_of_point(spec, dtype, point) for point in points), fast)


def _of_point(spec: Api, dtype: DType, point: Point) -> Case:
    tensors: dict[str, TensorDesc | None] = {}
    for arg in spec.tensors:
        layout = point.out_layout if arg.out else point.layout
        desc = strided(TensorDesc(point.shape, dtype), layout)
        tensors[arg.name] = TensorDesc((1,), dtype) if arg.unused else desc
    name = "-".join([dtype.alias, *point.words])
    return Case(name, spec.op, Call(tensors, spec.defaults()), point.values)


def same_shape_grid(spec: Api, fast: bool, forward: str = "probability") -> Iterator[Case]:
    """Grid for operators whose tensors all have one shape and whose attribute is a dim.

    ``forward`` names the values that a forward function leaves for its gradient.
    """
    for dtype in spec.kernel_dtypes:
        yield from at_scales(_grid_of(spec, dtype, fast, forward), fast, _of_probabilities)


def _of_probabilities(case: Case) -> float:
    """Size of a gradient: a row of probabilities as factors makes it smaller by its length."""
    if case.values != "probability":
        return 1.0
    shape = case.call.tensor(next(iter(case.call.tensors))).shape
    return 2.5 / max(shape[-1] if shape else 1, 1)


def _grid_of(spec: Api, dtype: DType, fast: bool, forward: str) -> Iterator[Case]:
    def case(
        shape: tuple[int, ...],
        dim: int,
        values: str = "uniform",
        layout: str = "contiguous",
        out_layout: str = "contiguous",
        out_dtype: DType | None = None,
    ) -> Case:
        tensors: dict[str, TensorDesc | None] = {}
        for arg in spec.tensors:
            desc = TensorDesc(shape, (out_dtype or dtype) if arg.out else dtype)
            tensors[arg.name] = strided(desc, out_layout if arg.out else layout)
        attrs: dict[str, AttrValue] = {**spec.defaults(), spec.attr_args[0].name: dim}
        words = [dtype.alias, "x".join(map(str, shape)) or "scalar", f"dim{dim}", values]
        if (layout, out_layout) != ("contiguous", "contiguous"):
            words.append(f"{layout}>{out_layout}")
        if out_dtype:
            words.append(f"to-{out_dtype.alias}")
        return Case("-".join(words), spec.op, Call(tensors, attrs), values)

    block = BLOCK_BYTES // dtype.numpy.itemsize
    kinds = ("uniform", "normal", forward)
    for count, (shape, dim) in enumerate(_shapes(block, fast)):
        yield case(shape, dim, kinds[count % len(kinds)])
    for values in ("nan", "inf", "-inf", "special", "zero", "all_nan", "all_inf", "all_-inf"):
        yield case((6, 2 * block + 1), -1, values)
        yield case((2 * block + 1, 6), 0, values)
    for shape, dim in (((4, 6, 2 * block + 1), -1), ((4, 6, 2 * block + 1), 1), ((), 0)):
        for layout in ("offset", "gaps", "transposed", "expanded"):
            yield case(shape, dim, "normal", layout)
        for layout in ("offset", "gaps", "transposed"):
            yield case(shape, dim, "normal", "contiguous", layout)
        yield case(shape, dim, "normal", "transposed", "gaps")
    for out_dtype in (FLOAT, FLOAT16, BF16, DOUBLE):
        if out_dtype != dtype:
            yield case((3, 2 * block + 1), -1, "uniform", out_dtype=out_dtype)
            yield case((3, 2 * block + 1), 0, "normal", "gaps", "transposed", out_dtype)
