# SPDX-License-Identifier: Apache-2.0
"""Properties of the row-reduction tiling: pure functions, which need no simulator.

They are compiled alone and called through ctypes; what the kernel does with its answer is
restated here in Python, so that the two must agree on who handles which element.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from aclgrad.ops import find
from aclgrad.profiling.calls import profile_op, profiling
from aclgrad.runtime import Device
from aclgrad.spec import dtypes
from aclgrad.spec.cases import Case
from aclgrad.testing.run import execute

ROOT = Path(__file__).resolve().parents[3]
UB_REPORTED = 196352  # PlatformAscendC on the 2201 architecture
UB_USABLE = 184 * 1024
PADDED, SHARED_ROWS, COLUMNS, SHARED_COLUMNS, TRANSPOSED, PACKED = range(1, 7)
PAIR, MASK, MASK_RUNS = 0, 1, 2  # RowInputs
MASK_RUN = 16  # kMaskRun

SHIM = """
#include <cstdio>
#include <cstring>
#include "common/row_reduce_tiling.h"
#include "scaled_masked_softmax_grad_v2/row_mask_tiling.h"
extern "C" int Plan(const int64_t* dims, int64_t rank, int64_t axis, uint32_t bytes, int64_t cores,
                    uint64_t ub, int masked, bool wholeBlocks, int64_t events, bool registers,
                    int64_t* head,
                    RowReduceTilingData* data, char* why, size_t n) {
  optiling::ReduceView view;
  optiling::RowReducePlan plan;
  std::string error = optiling::MakeReduceView({dims, dims + rank}, axis, &view);
  if (error.empty()) {
    error = optiling::MakeRowReducePlan("softmax_grad", view, bytes,
                                        {"Ascend910B2", cores, ub, events, wholeBlocks, registers},
                                        &plan,
                                        static_cast<optiling::RowInputs>(masked));
  }
  std::snprintf(why, n, "%s", error.c_str());
  if (!error.empty()) return 1;
  head[0] = static_cast<int64_t>(plan.key);
  head[1] = plan.cores;
  head[2] = static_cast<int64_t>(plan.ubBytes);
  *data = plan.data;
  return 0;
}
extern "C" int Mask(const int64_t* dims, int64_t rank, const int64_t* mask, int64_t maskRank,
                    RowMaskTilingData* data, char* why, size_t n) {
  const std::string error =
      optiling::MakeRowMask({dims, dims + rank}, {mask, mask + maskRank}, data);
  std::snprintf(why, n, "%s", error.c_str());
  return error.empty() ? 0 : 1;
}
"""


FIELDS = re.findall(
    r"FIELD\((\w+)\)", (ROOT / "op_host" / "common" / "row_reduce_data.h").read_text("utf-8")
)


class TilingData(ctypes.Structure):
    """Mirror of RowReduceTilingData."""

    _fields_ = [(name, ctypes.c_int64) for name in FIELDS]


@dataclass(frozen=True)
class Plan:
    """One answer of the tiling function, with the fields of TilingData as plain numbers."""

    path: int
    cores: int
    ub: int
    outer: int
    reduce: int
    inner: int
    colTiles: int
    colTile: int
    coreUnits: int
    extraCores: int
    tileUnits: int
    tileLanes: int
    sideRows: int
    sideLanes: int
    inputsBypassL2: int
    resultsBypassL2: int
    chunk: int
    chunkBuffers: int
    keptChunks: int
    partChunks: int
    pieces: int
    roundsLate: int
    workspaceUnits: int

    def slab(self) -> int:
        """Elements of one a of [A, R, B]."""
        return self.reduce * self.inner

    def axis(self) -> int:
        """Rows of a slab in UB."""
        return self.sideRows or self.reduce

    def width(self) -> int:
        """Lanes of such a row."""
        return self.sideLanes or self.inner

    def units(self) -> int:
        return self.outer * self.colTiles

    def pieces_of(self, core: int) -> list[tuple[int, int]]:
        """The pieces of units that a core takes, a round each, as the kernel computes them."""
        rounds = range(-(-self.units() * self.pieces // self.cores))
        pieces = [at * self.cores + (core + at) % self.cores for at in rounds]
        return [divmod(at, self.pieces) for at in pieces if at < self.units() * self.pieces]

    def end_of(self, unit: int) -> int:
        """The round of its last piece."""
        return ((unit + 1) * self.pieces - 1) // self.cores

    def units_of(self, core: int) -> range:
        """The units that a core handles, as the kernel computes them."""
        first = core * self.coreUnits + min(core, self.extraCores)
        return range(first, first + self.coreUnits + (core < self.extraCores))

    def chunks(self) -> int:
        return -(-self.axis() // self.chunk)

    def parts(self) -> int:
        return -(-self.chunks() // self.partChunks)

    def reduced_by(self, piece: int) -> range:
        """What of the reduction axis a piece of a unit has."""
        mine = -(-self.parts() // self.pieces) * self.partChunks * self.chunk
        first = piece * mine
        return range(min(first, self.axis()), min(first + mine, self.axis()))


PlanFunction = Callable[..., Plan]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The pure functions as a library."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler; install g++ or set CXX")
    folder = tmp_path_factory.mktemp("tiling")
    source = folder / "shim.cpp"
    source.write_text(SHIM)
    library = folder / "shim.so"
    host = ROOT / "op_host"
    parts = ("full_load_tiling", "row_reduce_tiling", "shared_axis")
    sources = [
        str(source),
        *(str(host / "common" / f"{part}.cpp") for part in parts),
        str(host / "scaled_masked_softmax_grad_v2" / "row_mask_tiling.cpp"),
    ]
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    subprocess.run(
        [compiler, *flags, f"-I{host}", *sources, "-o", str(library)],
        check=True,
    )
    return ctypes.CDLL(str(library))


@pytest.fixture(scope="session")
def plan(library: ctypes.CDLL) -> PlanFunction:
    """The tiling function; a call that it refuses raises ValueError."""
    function = library.Plan

    def call(
        dims: tuple[int, ...],
        axis: int,
        size: int,
        cores: int = 48,
        ub: int = UB_REPORTED,
        masked: int = PAIR,
        whole_blocks: bool = False,
        events: int = 8,
        registers: bool = False,
    ) -> Plan:
        head = (ctypes.c_int64 * 3)()
        data = TilingData()
        why = ctypes.create_string_buffer(4096)
        refused = function(
            (ctypes.c_int64 * max(1, len(dims)))(*dims),
            ctypes.c_int64(len(dims)),
            ctypes.c_int64(axis),
            ctypes.c_uint32(size),
            ctypes.c_int64(cores),
            ctypes.c_uint64(ub),
            ctypes.c_int(masked),
            ctypes.c_bool(whole_blocks),
            ctypes.c_int64(events),
            ctypes.c_bool(registers),
            head,
            ctypes.byref(data),
            why,
            ctypes.c_size_t(len(why)),
        )
        if refused:
            raise ValueError(why.value.decode())
        return Plan(*head, *(getattr(data, name) for name in FIELDS))

    return call


def random_dim(rng: random.Random, most: int) -> int:
    """Log-uniform, with sizes next to powers of two and to 32 bytes over-represented."""
    dim = int(most ** rng.random())
    if rng.random() < 0.3:
        dim = (1 << rng.randrange(most.bit_length())) + rng.choice((-1, 0, 1))
    return min(most, max(1, dim))


def random_cases(seed: int, count: int, most: int) -> Iterator[tuple[tuple[int, ...], int, int]]:
    rng = random.Random(seed)
    for _ in range(count):
        rank = rng.randrange(0, 9)
        dims: tuple[int, ...] = tuple(random_dim(rng, most) for _ in range(min(rank, 3)))
        dims += (1,) * (rank - len(dims))
        dims = tuple(rng.sample(dims, len(dims)))
        low = max(1, rank)
        yield dims, rng.randrange(-low, low), rng.choice((2, 4))


def pad(length: int, size: int) -> int:
    lanes = 32 // size
    return -(-length // lanes) * lanes


def is_whole(p: Plan, size: int) -> bool:
    """Whether streams of short slabs are whole blocks, and one copy takes a tile."""
    count = p.tileUnits // 16 * p.slab()
    return count * size % 32 == 0 and count >= 16


def tiles_of(p: Plan, core: int, size: int) -> list[range]:
    """The units of each tile, as the kernel computes them."""
    align = 1
    one_copy = p.path == PACKED or p.path == PADDED and p.reduce % 8 == 0
    one_copy = one_copy or p.path == TRANSPOSED and is_whole(p, size)
    if one_copy and p.coreUnits > p.tileUnits:
        while p.tileUnits % (2 * align) == 0 and p.slab() * size * align % 512:
            align *= 2
        assert p.path != TRANSPOSED or p.slab() * size * align % 512 == 0
        assert p.path != PACKED or p.slab() * size * align % 32 == 0 or p.tileUnits < 8
    todo = p.units_of(core)
    tiles, start = [], todo.start
    while start < todo.stop:
        end = min(start + p.tileUnits - start % align, todo.stop)
        tiles.append(range(start, end))
        start = end
    return tiles


def check_rounds(p: Plan) -> None:
    """Sums are there when a core awaits them, and nobody reads a place that is written again."""
    assert p.roundsLate * p.keptChunks <= p.chunkBuffers - p.keptChunks
    if p.pieces == 1:
        return
    units = range(min(p.units(), 3 * p.workspaceUnits))
    for unit in units:
        begin, end = unit * p.pieces // p.cores, p.end_of(unit)
        assert end <= begin + p.roundsLate  # no core waits for a round that it has not begun
        # Cores that write into the place of a unit saw everyone write what is six rounds older.
        if unit >= p.workspaceUnits:
            assert p.end_of(unit - p.workspaceUnits) <= begin - 6


def check_limits(
    p: Plan, size: int, cores: int, masked: int = PAIR, whole_blocks: bool = False
) -> None:
    """Everything that an instruction or the chip bounds, from the point of view of the kernel."""
    packed = not masked and p.reduce % 8 == 0  # whole blocks once a row is fp32
    row = -(-p.reduce // 16) * 16 if masked else p.reduce if packed else pad(p.reduce, size)
    if p.path == PACKED:
        row = p.reduce
    assert 1 <= p.cores <= cores
    assert p.ub <= UB_USABLE
    # y and f in different bank groups; a 16-bit tile and its fp32 lanes whole repeats apart
    narrow = size == 2 and p.path != TRANSPOSED
    assert p.tileLanes % 128 == (0 if narrow else 64)
    assert p.tileLanes * max(4, 2 * size) < 2**21  # a copy's block length
    if p.chunkBuffers:
        if p.path == SHARED_ROWS and p.reduce % (32 // size) and not whole_blocks:  # packed
            assert p.chunk + 64 // size <= p.tileLanes
        assert p.chunk >= 1
        assert p.tileUnits == 1
        assert p.parts() <= 48
        assert p.cores <= p.pieces * p.units()
        mine = min(p.chunks(), -(-p.parts() // p.pieces) * p.partChunks)
        assert (
            p.keptChunks == mine if mine <= p.chunkBuffers else p.keptChunks == p.chunkBuffers - 2
        )
        if whole_blocks:
            assert p.parts() == p.pieces == 1 and p.roundsLate == p.workspaceUnits == 0
        else:
            assert 4 <= p.chunkBuffers <= 7  # and one event id for the sums
            # No core comes without a part, and no fewer cores would do.
            assert p.reduced_by(p.pieces - 1)
            at_once = min(p.parts(), cores) if p.pieces < p.parts() else p.parts()
            assert -(-p.parts() // p.pieces) == -(-p.parts() // at_once)
            check_rounds(p)
    else:
        assert p.coreUnits >= 1
        assert p.units() == p.cores * p.coreUnits + p.extraCores
        assert 0 <= p.extraCores < p.cores
        assert p.chunk == p.keptChunks == p.partChunks == 0
        assert p.pieces == 1
    if p.path == TRANSPOSED:
        assert p.inner == 1 or p.inner % (32 // size)
        slabs, rest = divmod(p.tileUnits, 16)  # of each stream
        block = 32 // size
        blocks = max(-(-slabs * p.slab() // block), 16 // block)
        if not is_whole(p, size):
            assert p.inner > 1 or size == 2
            blocks += blocks % 2 == 0  # in other bank groups than the stream in front
        assert rest == 0 and 16 * blocks * block <= p.tileLanes
        assert blocks <= 255  # repeats of one TransDataTo5HD
    elif p.path in (PADDED, PACKED):
        assert p.inner == 1
        long = size == 4 or p.reduce < 65 or p.reduce > 511
        long = long or masked == MASK_RUNS and p.reduce <= 128  # then masks are what takes long
        assert p.path == PADDED or (long and p.reduce % 8 and not whole_blocks)
        assert p.path == PADDED or masked != MASK
        # Tiles start on blocks, but where these take more rows than one holds.
        block_rows = 32 // size // math.gcd(p.reduce, 32 // size)
        assert p.path == PADDED or p.tileUnits % block_rows == 0 or p.tileUnits < 2 * block_rows
        assert p.path == PADDED or p.tileUnits * row + 96 // size <= p.tileLanes
        assert p.tileUnits <= 255 * 8  # one Brcb
        assert p.tileUnits * row <= p.tileLanes
        assert not masked or p.tileUnits * pad(p.reduce, 1) * 2 < 2**21
    elif p.path == SHARED_ROWS:
        assert p.inner == 1
        # 16-bit rows that are no whole blocks may fill UB to the last block.
        narrow = size == 2 and p.reduce % 16 != 0 and not whole_blocks
        assert p.chunk % (16 if narrow else 64) == 0
        assert p.chunk <= p.tileLanes
    else:
        assert p.sideRows or (p.colTiles - 1) * p.colTile < p.inner <= p.colTiles * p.colTile
        assert p.colTiles == 1 or p.colTile % (32 // size) == 0
        assert p.colTiles == 1 or p.tileUnits == 1
        rows = p.axis() if p.path == COLUMNS else p.chunk
        unit = pad(rows * p.sideLanes, size) if p.sideRows else rows * pad(p.colTile, size)
        assert p.tileUnits * unit <= p.tileLanes
        assert p.tileUnits * rows <= 4095  # blocks of one copy
    if p.sideRows:
        # Rows are whole periods; what the last has not is little of the slab.
        missing = p.sideRows * p.sideLanes - p.slab()
        period = math.lcm(p.inner, 8 if p.path == COLUMNS else 32 // size)
        assert p.colTiles == 1 and p.path in (COLUMNS, SHARED_COLUMNS)
        assert p.sideLanes % period == 0 and 0 <= missing < p.sideLanes and p.inner * size % 32
        if p.path == COLUMNS:
            assert p.sideLanes == period <= 512
        else:
            assert p.sideLanes <= (624 if p.inner < 40 else 512)
            assert missing <= period + p.slab() // 16 + 1


@pytest.mark.parametrize("most", [50, 5000, 10**6])
def test_limits_hold_for_random_shapes(plan: PlanFunction, most: int) -> None:
    rng = random.Random(most)
    for dims, axis, size in random_cases(most, 4000, most):
        cores = rng.choice((1, 2, 7, 20, 40, 48))
        p = plan(dims, axis, size, cores)
        assert p.outer * p.slab() == math.prod(dims), dims
        check_limits(p, size, cores)


@pytest.mark.parametrize("size", [2, 4])
def test_masked_rows_fit_up_to_the_longest_last_dim(plan: PlanFunction, size: int) -> None:
    rng = random.Random(size)
    packed = 0
    for _ in range(2000):
        dims = tuple(random_dim(rng, most) for most in (64, 64, 5000, 4096))
        cores = rng.choice((1, 7, 40, 48))
        masked = rng.choice((MASK, MASK_RUNS))
        p = plan(dims, -1, size, cores, masked=masked)
        packs = masked == MASK_RUNS and size == 4 and dims[3] % 8 > 0 and dims[3] < 700
        large = math.prod(dims) / cores > 64 * 700
        assert p.path == PACKED if packs and large else p.path in (PADDED, PACKED)
        packed += p.path == PACKED
        assert (p.outer, p.reduce) == (math.prod(dims[:3]), dims[3])
        check_limits(p, size, cores, masked=masked)
    assert packed > 100
    assert plan((1, 1, 1, 4096), -1, 4, masked=MASK).tileUnits == 1
    with pytest.raises(ValueError, match="mask 2x10,240.*shorten the last dim"):
        plan((1, 1, 1, 10240), -1, 4, masked=MASK)


@pytest.mark.parametrize("events", [4, 8])
def test_whole_block_copies_have_a_block_to_store(plan: PlanFunction, events: int) -> None:
    rng = random.Random(events)
    for most in (50, 5000, 10**6):
        for dims, axis, size in random_cases(most, 3000, most):
            cores, block = rng.choice((1, 7, 32)), 32 // size
            p = plan(dims, axis, size, cores, 2**18, whole_blocks=True, events=events)
            assert p.ub <= 248 * 1024
            assert p.pieces == 1
            assert p.tileUnits * p.inner * p.reduce >= block or p.coreUnits <= p.tileUnits
            if p.cores > 1 and not p.chunkBuffers:
                assert p.coreUnits * p.reduce * p.inner >= block * p.colTiles
            if p.path in (COLUMNS, SHARED_COLUMNS) and p.colTiles > 1:
                assert min(p.colTile, p.inner - (p.colTiles - 1) * p.colTile) >= block, dims
            if p.chunkBuffers:
                rest = p.reduce - (p.chunks() - 1) * p.chunk
                assert rest * p.inner >= block, dims
                assert p.parts() == 1
                assert 0 <= p.keptChunks <= p.chunkBuffers == events - 2
                assert p.path == SHARED_COLUMNS or p.chunk % 64 == 0


class RowMask(ctypes.Structure):
    """Mirror of RowMaskTilingData."""

    _fields_ = [(name, ctypes.c_int64) for name in ("run", "period", "step", "rows")]


def row_mask(library: ctypes.CDLL, dims: tuple[int, ...], mask: tuple[int, ...]) -> RowMask:
    data = RowMask()
    why = ctypes.create_string_buffer(4096)
    refused = library.Mask(
        (ctypes.c_int64 * len(dims))(*dims),
        ctypes.c_int64(len(dims)),
        (ctypes.c_int64 * len(mask))(*mask),
        ctypes.c_int64(len(mask)),
        ctypes.byref(data),
        why,
        ctypes.c_size_t(len(why)),
    )
    if refused:
        raise ValueError(why.value.decode())
    return data


def test_rows_take_the_mask_rows_that_broadcasting_gives_them(library: ctypes.CDLL) -> None:
    for dims in itertools.product((1, 2, 3), (1, 2, 4), (1, 3), (5,)):
        for batches, heads in itertools.product({1, dims[0]}, {1, dims[1]}):
            mask = row_mask(library, dims, (batches, heads, *dims[2:]))
            assert mask.rows == batches * heads * dims[2]
            for row, (b, n, s) in enumerate(itertools.product(*map(range, dims[:3]))):
                want = ((b % batches) * heads + n % heads) * dims[2] + s
                assert row // mask.period * mask.step + row % mask.run == want


@pytest.mark.parametrize(
    ("dims", "mask", "words"),
    [
        ((2, 3, 4), (2, 3, 4), ["[2, 3, 4]", "four dims"]),
        ((2, 3, 4, 5), (3, 4, 5), ["[3, 4, 5]", "[2, 3, 4, 5]"]),
        ((2, 3, 4, 5), (2, 3, 1, 5), ["[2, 3, 1, 5]", "first two dims may be 1"]),
        ((2, 3, 4, 5), (2, 2, 4, 5), ["[2, 2, 4, 5]"]),
    ],
)
def test_masks_that_do_not_broadcast(
    library: ctypes.CDLL, dims: tuple[int, ...], mask: tuple[int, ...], words: list[str]
) -> None:
    with pytest.raises(ValueError) as refused:
        row_mask(library, dims, mask)
    for word in words:
        assert word in str(refused.value)


def test_every_element_is_handled_once(plan: PlanFunction) -> None:
    rng = random.Random(7)
    for dims, axis, size in random_cases(11, 1500, 60):
        if math.prod(dims) > 20000:
            continue
        p = plan(dims, axis, size, rng.choice((1, 3, 48)))
        seen = [0] * (p.outer * p.slab())
        width = p.colTile if p.path in (COLUMNS, SHARED_COLUMNS) and not p.sideRows else p.width()
        for core in range(p.cores):
            steps = p.pieces_of(core) if p.chunkBuffers else []
            for tile in [] if p.chunkBuffers else tiles_of(p, core, size):
                assert 1 <= len(tile) <= p.tileUnits
                steps += [(unit, 0) for unit in tile]
            for unit, piece in steps:
                outer, column = divmod(unit, p.colTiles)
                for r in p.reduced_by(piece) if p.chunkBuffers else range(p.axis()):
                    row = r * p.width()
                    last = min((column + 1) * width, p.width(), p.slab() - row)
                    for c in range(column * width, last):
                        seen[outer * p.slab() + row + c] += 1
        assert set(seen) == {1}, (dims, axis, p)


@pytest.mark.parametrize("size", [2, 4])
def test_tiles_of_short_rows_start_on_lines(plan: PlanFunction, size: int) -> None:
    rng = random.Random(size)
    on_lines = 0
    for _ in range(500):
        reduce = 8 * rng.randrange(1, 129)
        p = plan((rng.randrange(50_000, 200_000), reduce), -1, size)
        row = reduce * size
        whole = 512 // math.gcd(row, 512)
        fits = UB_USABLE // (row * (6 if size == 4 else 10) + 36)
        for core in (0, 1, 17, 47):
            starts = [tile.start * row % 512 for tile in tiles_of(p, core, size)[1:]]
            if fits >= 2 * whole:
                assert not any(starts), (reduce, p)
                on_lines += 1
    assert on_lines > 600


@pytest.mark.parametrize("size", [2, 4])
def test_strides_of_short_rows_fit_their_bits(plan: PlanFunction, size: int) -> None:
    """Also where UB is much larger than today's: repeats and strides have 8 bits."""
    paths = set()
    for reduce in range(2, 65):
        for ub in (UB_REPORTED, 8 * UB_REPORTED):
            p = plan((4_000_000, reduce), -1, size, ub=ub)
            paths.add(p.path)
            if p.path != TRANSPOSED:
                continue
            slabs = p.tileUnits // 16
            assert slabs * reduce * size // 32 <= 255, (reduce, ub)
    assert TRANSPOSED in paths


@pytest.mark.parametrize("cores", [1, 3, 20, 40, 48, 64])
def test_cores_that_share_take_each_part_once(plan: PlanFunction, cores: int) -> None:
    shared = 0
    for most in (1000, 20000, 10**6):
        for dims, axis, size in random_cases(most, 1000, most):
            p = plan(dims, axis, size, cores)
            if p.chunkBuffers == 0:
                continue
            shared += p.pieces > 1
            pieces = [p.reduced_by(piece) for piece in range(p.pieces)]
            assert pieces[0].start == 0, dims
            assert pieces[-1].stop == p.axis(), dims
            for piece, following in itertools.pairwise(pieces):
                assert len(piece) > 0, dims
                assert piece.stop == following.start, dims
            if p.units() < 5000:
                taken = [piece for core in range(p.cores) for piece in p.pieces_of(core)]
                every = itertools.product(range(p.units()), range(p.pieces))
                assert sorted(taken) == list(every), dims
    assert shared > 100 or cores == 1


def test_order_of_additions_ignores_cores_and_outer_size(plan: PlanFunction) -> None:
    rng = random.Random(3)
    for dims, axis, size in random_cases(5, 3000, 100000):
        if not 1 <= len(dims) <= 7:
            continue
        a = plan(dims, axis, size, 48)
        b = plan((rng.randrange(1, 50), *dims), axis if axis < 0 else axis + 1, size, 3)
        if a.reduce == 1:
            continue
        # Packed rows are added up as padded ones, and so are those that are transposed.
        alike = (PACKED, TRANSPOSED) if a.inner == 1 else ()
        paths = [PADDED if each.path in alike else each.path for each in (a, b)]
        assert paths[0] == paths[1], (dims, axis)
        assert (a.chunk, a.chunkBuffers) == (b.chunk, b.chunkBuffers), (dims, axis)
        assert (a.partChunks, a.chunkBuffers and a.colTile) == (
            b.partChunks,
            b.chunkBuffers and b.colTile,
        ), dims


def test_few_bytes_use_few_cores_and_many_use_all(plan: PlanFunction) -> None:
    assert plan((1, 32), -1, 4).cores == 1
    assert plan((48, 4), -1, 4).cores == 3  # the third starts when 256 bytes could be done
    assert plan((16, 128), -1, 4).cores == plan((16, 128), -1, 2).cores == 8  # arithmetic is fp32
    assert plan((4096, 4096), -1, 4).cores == 48
    assert plan((4096, 4096), 0, 2).cores >= 40
    assert plan((1, 1000000), -1, 4).cores >= 40  # one row


@pytest.mark.parametrize("size", [2, 4])
def test_columns_of_any_height_keep_most_cores_at_work(plan: PlanFunction, size: int) -> None:
    """One way to share would give some heights groups of just over half of the cores."""
    for reduce in range(600, 9000, 97):
        p = plan((4, reduce, 1024), 1, size)
        assert p.path == SHARED_COLUMNS
        assert p.cores >= 34, (reduce, p)


@pytest.mark.parametrize("size", [2, 4])
def test_columns_that_one_core_can_hold_are_not_shared(plan: PlanFunction, size: int) -> None:
    """In pieces of half a GM line: narrower ones take L2's bandwidth for nothing."""
    for reduce in range(2, 302 if size == 4 else 246):
        p = plan((64, reduce, 1024), 1, size)
        assert p.colTile * size % 256 == 0, p
        if p.path == SHARED_COLUMNS:
            assert p.pieces == 1, p
            assert p.keptChunks == p.chunks(), p


@pytest.mark.parametrize("size", [2, 4])
def test_rows_that_one_core_cannot_hold_are_read_once(plan: PlanFunction, size: int) -> None:
    """Up to what the UB of all cores together holds."""
    for dims, axis in (
        ((128, 65536), -1),
        ((3, 850_000), -1),
        ((3, 500_000 if size == 4 else 1_300_000), -1),
        ((4096, 4096), 0),
        ((64, 1024, 256), 1),
        ((8, 15000, 64), 1),
    ):
        p = plan(dims, axis, size)
        mine = -(-p.parts() // p.pieces) * p.partChunks
        assert p.pieces > 1, dims
        assert p.keptChunks >= min(mine, p.chunks()), dims


def test_offsets_beyond_32_bits(plan: PlanFunction) -> None:
    for dims, axis in (
        ((3, 2**33), 1),
        ((2**33, 3), 1),
        ((5, 2**33), 0),
        ((4, 50000, 2**20), 1),
        ((2**40,), 0),
    ):
        for size in (2, 4):
            check_limits(plan(dims, axis, size), size, 48)


@pytest.mark.parametrize(
    ("dims", "axis", "path"),
    [
        ((), -1, COLUMNS),  # R == 1 is elementwise
        ((7,), 0, TRANSPOSED),
        ((10**6, 3), -1, TRANSPOSED),
        ((10, 60), -1, TRANSPOSED),
        ((10**4, 60), -1, TRANSPOSED),
        ((10, 64), -1, PADDED),
        ((10**5, 63), -1, PACKED),  # 128 of them do not fit
        ((10, 63), -1, PADDED),  # few tiles
        ((10**5, 100), -1, PACKED),
        ((10**4, 104), -1, PADDED),
        ((10**4, 823), -1, PACKED),
        ((10, 6600), -1, PADDED),
        ((10, 7736), -1, PADDED),
        ((10**4, 6569), -1, PACKED),
        ((10, 6569), -1, PADDED),
        ((10, 6577), -1, PADDED),
        ((10, 9129), -1, SHARED_ROWS),  # not with its circle
        ((100, 7040), -1, PADDED),
        ((100, 8192), -1, PADDED),
        ((100, 9296), -1, SHARED_ROWS),
        ((100, 10**6), -1, SHARED_ROWS),
        ((8, 120, 64), 1, COLUMNS),
        ((8, 300, 64), 1, SHARED_COLUMNS),
        ((8, 300, 16), 1, COLUMNS),
        ((8, 30000, 64), 1, SHARED_COLUMNS),
        ((8, 30000, 1), 1, SHARED_ROWS),
        ((8, 10, 5), 1, TRANSPOSED),
        ((8, 512, 7), 1, COLUMNS),
        ((8, 30000, 7), 1, SHARED_COLUMNS),
    ],
)
def test_path(plan: PlanFunction, dims: tuple[int, ...], axis: int, path: int) -> None:
    assert plan(dims, axis, 4).path == path


@pytest.mark.parametrize(
    ("dims", "axis", "size", "cores", "ub", "words"),
    [
        ((2, 3), 2, 4, 48, UB_REPORTED, ["axis 2", "rank 2", "[-2, 1]"]),
        ((), 1, 4, 48, UB_REPORTED, ["axis 1", "rank 0", "[-1, 0]"]),
        ((1,) * 9, 0, 4, 48, UB_REPORTED, ["rank 9", "at most 8"]),
        ((2, 0), 0, 4, 48, UB_REPORTED, ["dim 1", "is 0", "positive"]),
        ((2, -5), 0, 4, 48, UB_REPORTED, ["dim 1", "is -5"]),
        ((2**40, 2**40), 0, 4, 48, UB_REPORTED, ["2^60"]),
        ((2, 3), 0, 8, 48, UB_REPORTED, ["8 B per element", "BF16"]),
        ((2, 3), 0, 4, 0, UB_REPORTED, ["0 vector cores", "at least 1"]),
        (
            (2, 100000),
            1,
            4,
            48,
            12000,
            ["UB needs 6,528 B of 4,096 B", "in (y, g) 4x512", "12,000"],
        ),
    ],
)
def test_refusals_say_what_and_what_instead(
    plan: PlanFunction,
    dims: tuple[int, ...],
    axis: int,
    size: int,
    cores: int,
    ub: int,
    words: list[str],
) -> None:
    with pytest.raises(ValueError) as refused:
        plan(dims, axis, size, cores, ub)
    for word in words:
        assert word in str(refused.value)


# A shape or more of each layout and SoC, and of what changes its buffers: rows of whole blocks and
# others, of which a repeat stride reaches the next or not; columns that lie side by side; shared
# axes of one core and of several.
UB_SHAPES: list[tuple[tuple[int, ...], int]] = [
    ((4096, 1024), -1),
    ((40, 7), -1),
    ((9000, 10), -1),
    ((6000, 197), -1),
    ((2000, 325), -1),
    ((700, 1500), -1),
    ((300, 2305), -1),
    ((60, 9001), -1),
    ((17, 20480), -1),
    ((5, 65537), -1),
    ((2, 300_000), -1),
    ((300, 16, 32), 1),
    ((40, 64, 256), 1),
    ((300, 9, 4), 1),
    ((70, 196, 7), 1),
    ((2, 300, 256), 1),
    ((1, 1024, 512), 1),
    ((3, 9000, 5), 1),
    ((1, 4000, 96), 1),
]
LAYOUTS = ["", "Padded", "Shared", "Columns", "Shared", "Transposed", "Packed", "Registers"]
UB_SOCS = {
    "Ascend910B2": {},
    "Ascend310P3": {"cores": 8, "ub": 2**18, "whole_blocks": True},
    "Ascend910A": {"cores": 32, "ub": 2**18, "whole_blocks": True, "events": 4},
    "Ascend950DT_9571": {"cores": 56, "ub": 253_952, "registers": True},
}


@pytest.mark.sim_only
@pytest.mark.parametrize("soc", UB_SOCS)
@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
def test_the_plan_has_the_ub_that_the_kernel_uses(
    plan: PlanFunction, device: Device, soc: str, dtype: str
) -> None:
    spec = find("softmax_grad")
    device.set_option("soc", soc)
    device.set_option("cores", str(UB_SOCS[soc].get("cores", 48)))
    device.set_option("mode", "fast")
    layouts = set()
    for dims, axis in UB_SHAPES:
        shapes = {arg.name: dims for arg in spec.tensors}
        attrs = spec.defaults() | {"dim": axis}
        told = device.tiling(spec, shapes, dtypes.parse(dtype), attrs)
        facts = dict(UB_SOCS[soc])
        made = plan(dims, axis, dtypes.parse(dtype).numpy.itemsize, **facts)
        assert made.path == told["tilingKey"], (dims, made)
        assert {
            name: told["tiling"][name] for name in ("tileUnits", "tileLanes", "chunkBuffers")
        } == {name: getattr(made, name) for name in ("tileUnits", "tileLanes", "chunkBuffers")}, (
            dims,
            made,
        )
        found = profile_op(device, spec, dims, dtypes.parse(dtype), attrs)
        assert found.kernel["ubPeakBytes"] == made.ub, (dims, made)
        taken = [choice["layout"] for choice in told["choices"] if choice["taken"]]
        assert taken == [told["choices"][-1]["layout"]] == [LAYOUTS[made.path]]
        layouts.add(made.path)
    assert len(layouts) >= (4 if soc in ("Ascend310P3", "Ascend910A") else 5)


def cases_of_grid(op: str, dtype: str) -> list[Case]:
    """The standard grid's contiguous cases of a dtype, one of each shape and dim."""
    spec = find(op)
    found: dict[object, Case] = {}
    for case in spec.cases(spec, False):
        descs = [desc for desc in case.call.tensors.values() if desc is not None]
        plain = all(desc.strides is None and not desc.empty for desc in descs)
        if plain and case.dtype.alias == dtype:
            what = tuple(desc.shape for desc in descs), case.call.attrs.get("dim")
            found.setdefault(what, replace(case, values="zero"))
    return list(found.values())


def inputs_of(case: Case) -> int:
    """RowInputs of a case, as the tiling of masked rows tells them."""
    mask = case.call.tensors.get("mask")
    if mask is None:
        return PAIR
    batches, heads, rows = case.call.tensor("y").shape[:3]
    run = rows
    if mask.shape[1] == heads:
        run *= heads * (batches if mask.shape[0] == batches else 1)
    return MASK_RUNS if run >= MASK_RUN else MASK


@pytest.mark.sim_only
@pytest.mark.parametrize("soc", UB_SOCS)
@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
@pytest.mark.parametrize("op", ["softmax_grad", "scaled_masked_softmax_grad_v2"])
def test_each_case_of_the_grid_uses_the_ub_of_its_plan(
    plan: PlanFunction, device: Device, soc: str, dtype: str, op: str
) -> None:
    spec, facts = find(op), UB_SOCS[soc]
    if facts.get("whole_blocks") and op != "softmax_grad":
        pytest.skip(f"{op} has no kernel there")
    device.set_option("soc", soc)
    device.set_option("cores", str(facts.get("cores", 48)))
    grid = cases_of_grid(op, dtype)
    assert len(grid) > 90
    for case in grid:
        dims = next(desc.shape for desc in case.call.tensors.values() if desc is not None)
        axis = int(str(case.call.attrs.get("dim", -1)))
        made = plan(dims, axis, case.dtype.numpy.itemsize, masked=inputs_of(case), **facts)
        with profiling(device):
            execute(device, spec, case)
        (launch,) = device.profiles()
        assert (launch["tilingKey"], launch["ubPeakBytes"]) == (made.path, made.ub), case.name
