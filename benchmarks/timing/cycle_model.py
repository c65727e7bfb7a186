# SPDX-License-Identifier: Apache-2.0
"""Source of the kernels in cycle_model.txt: those that CANN's cycle model of Ascend 950 timed.

Each row there is a kernel of our own of the published one's structure: its family; its name; types
and elements of the tensors that it copies in (x0, x1, ...) and out (z0, z1, ...), and of other
buffers (r0, r1, ...); the calls, with n elements of a tile; nanoseconds without the launch; whether
a cost was fitted to it. A type without a number of elements is one of a kernel of many tiles. What
they compute is of no account.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).resolve().parent / "cycle_model.txt"
SOC = "Ascend950PR_9599"
TILES, TILE, CORES = 16, 128, 8  # of kernels of many tiles
APART = TILES * TILE * CORES * 4  # bytes between two tensors of a side
MOST = 5  # tensors of a side


@dataclass(frozen=True)
class Tensor:
    """A tensor in UB: its type and its elements."""

    dtype: str
    count: int

    @classmethod
    def all_of(cls, text: str) -> list[Tensor]:
        """Those of words `type*count`, or `type` for the elements of one tile of many."""
        words = [word.partition("*") for word in text.split()]
        return [cls(dtype, int(own or TILE)) for dtype, _, own in words]


@dataclass(frozen=True)
class Kernel:
    """One row: a kernel, and its time."""

    family: str
    name: str
    into: list[Tensor]
    out: list[Tensor]
    rooms: list[Tensor]
    call: str
    nanoseconds: float
    fitted: bool = False
    cores: int = 1
    tiles: int = 1

    @property
    def symbol(self) -> str:
        """Its name in the library."""
        return f"cycle_{self.name}"

    @property
    def source(self) -> str:
        """Its code."""
        lines = [
            f'extern "C" __global__ __aicore__ void {self.symbol}(GM_ADDR x, GM_ADDR, GM_ADDR z,'
            " GM_ADDR) {",
            "TPipe pipe;",
        ]
        sides = (("in", "VECIN", self.into), ("out", "VECOUT", self.out))
        buffers = 2 if self.tiles > 1 else 1
        for side, position, tensors in sides:
            for i, one in enumerate(tensors):
                lines += [
                    f"TQue<QuePosition::{position}, 1> {side}{i};",
                    f"pipe.InitBuffer({side}{i}, {buffers}, {one.count} * sizeof({one.dtype}));",
                ]
        for i, one in enumerate(self.rooms):
            lines += [
                f"TBuf<TPosition::VECCALC> room{i};",
                f"pipe.InitBuffer(room{i}, {one.count} * sizeof({one.dtype}));",
            ]
        if self.tiles > 1:
            lines.append(f"for (uint32_t tile = 0; tile < {self.tiles}; ++tile) {{")
            at = f"(GetBlockIdx() * {self.tiles} + tile) * {self.into[0].count}"
            lines.append(f"const uint64_t at = {at};")
        else:
            lines.append("constexpr uint64_t at = 0;")
        lines.append(f"[[maybe_unused]] constexpr uint32_t n = {(self.into or self.out)[0].count};")
        into, out = list(enumerate(self.into)), list(enumerate(self.out))
        place = "Global<{0}>({1} + {2} * {3}, at, {4})"
        lines += [f"LocalTensor<{t.dtype}> x{i} = in{i}.AllocTensor<{t.dtype}>();" for i, t in into]
        for i, t in into:
            gm = place.format(t.dtype, "x", i, APART, t.count)
            lines.append(f"DataCopy(x{i}, {gm}, {t.count});")
        lines += [f"in{i}.EnQue(x{i});" for i, _ in into]
        lines += [f"x{i} = in{i}.DeQue<{t.dtype}>();" for i, t in into]
        lines += [f"LocalTensor<{t.dtype}> z{i} = out{i}.AllocTensor<{t.dtype}>();" for i, t in out]
        for i, t in enumerate(self.rooms):
            lines.append(f"LocalTensor<{t.dtype}> r{i} = room{i}.Get<{t.dtype}>();")
        lines.append(f"{self.call};")
        lines += [f"out{i}.EnQue(z{i});" for i, _ in out]
        lines += [f"in{i}.FreeTensor(x{i});" for i, _ in into]
        lines += [f"z{i} = out{i}.DeQue<{t.dtype}>();" for i, t in out]
        for i, t in out:
            gm = place.format(t.dtype, "z", i, APART, t.count)
            lines.append(f"DataCopy({gm}, z{i}, {t.count});")
        lines += [f"out{i}.FreeTensor(z{i});" for i, _ in out]
        return "\n".join([*lines, "}"] + ["}"] * (self.tiles > 1)) + "\n"


def kernels() -> list[Kernel]:
    """All rows of the table."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        words = [word.strip() for word in line.split(" | ")]
        family, name, into, out, rooms, call, time, *fitted = words
        many = bool(into) and "*" not in into
        cores, tiles = (CORES, TILES) if many else (1, 1)
        sources, results, scratch = map(Tensor.all_of, (into, out, rooms))
        found.append(
            Kernel(
                family,
                name,
                sources,
                results,
                scratch,
                call,
                float(time),
                bool(fitted),
                cores,
                tiles,
            )
        )
    return found
