# SPDX-License-Identifier: Apache-2.0
"""Board experiments with published times, and the launches that follow them.

Times are microseconds. Sources: the Ascend C documentation's best-practice measurements (Add, data
copy, UB banks, chains of reductions, products of matrices), msKPP's on-board tables (single
copies), times of CANN's kernels in public benchmark metadata (elementwise).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace

import cycle_model

# The boards' tiles filled UB to the last byte, which the framework keeps: ours are a bit smaller.
PING_PONG = (0, 32768, 65536, 98304, 131072, 163840)
PING_PONG_950 = tuple(41984 * i for i in range(6))
# Sources 256 bytes apart modulo the bank groups.
APART = (0, 32512, 131072, 65536, 98048, 163584)


@dataclass(frozen=True)
class Parameters:
    """The struct of kernels.cpp."""

    rows: int = 0
    columns: int = 0
    tile: int = 0
    tile_rows: int = 1
    times: int = 1
    parts: int = 1
    shift: int = 0
    bypass: int = 0
    at: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    stride: tuple[int, int] = (0, 0)

    def pack(self) -> bytes:
        """Bytes of the struct."""
        words = (self.tile, self.tile_rows, self.times, self.parts, self.shift, self.bypass)
        return struct.pack("<2Q6I6I2I", self.rows, self.columns, *words, *self.at, *self.stride)


@dataclass(frozen=True)
class BoardCase:
    """One launch, and what boards took for it."""

    group: str
    name: str
    soc: str
    kernel: str
    block_dim: int
    parameters: Parameters
    board: dict[str, float]  # by quantity: task, aiv or aic, scalar, and pipes
    x: int = 0  # bytes
    y: int = 0
    z: int = 0
    scale: float = 1.0  # the board's work is so many times that of the launch
    fitted: tuple[str, ...] = field(
        default=()
    )  # quantities that constants of the model were fitted to
    cube: bool = False  # it runs on cube cores


def _add(
    soc: str,
    name: str,
    kernel: str,
    cores: int,
    tile: int,
    board: dict[str, float],
    *,
    rows: int = 8192,
    bypass: int = 0,
    at: tuple[int, ...] = PING_PONG,
    fitted: tuple[str, ...] = (),
) -> BoardCase:
    size = rows * 8192 * 2
    return BoardCase(
        "add fp16 8192x8192",
        name,
        soc,
        kernel,
        cores,
        Parameters(rows=rows, columns=8192, tile=tile, bypass=bypass, at=at),
        board,
        size,
        size,
        size,
        8192 / rows,
        fitted,
    )


def _columns(*values: float) -> dict[str, float]:
    names = ("task", "aiv", "vec", "scalar", "mte2", "mte3")
    return dict(zip(names, values, strict=True))


def _adds() -> list[BoardCase]:
    b1, b950 = "Ascend910B1", "Ascend950PR_9589"
    small = (0, 8192, 16384, 0, 0, 0)
    return [
        _add(
            b1,
            "0 scalar loop, 1 core",
            "add_scalar",
            1,
            4096,
            {"aiv": 1239688.63, "scalar": 1233742.494},
            rows=16,
            at=small,
            fitted=("aiv", "scalar"),
        ),
        _add(
            b1,
            "1 vector, 1 core, 8 KiB",
            "add_single",
            1,
            4096,
            _columns(6909.6, 6909.1, 761.65, 231.2, 6208.8, 2613.2),
            rows=512,
            at=small,
            fitted=("scalar", "mte2"),
        ),
        _add(
            b1,
            "2 48 cores, 8 KiB",
            "add_single",
            48,
            4096,
            _columns(306.58, 297.14, 15.885, 8.219, 215.485, 54.33),
            at=small,
            fitted=("task", "aiv"),
        ),
        _add(
            b1,
            "3 32 KiB",
            "add_single",
            48,
            16384,
            _columns(268.5, 261.5, 12.845, 2.833, 184.369, 57.354),
            fitted=("task", "aiv"),
        ),
        _add(
            b1,
            "4 double buffer",
            "add_double",
            48,
            16256,
            _columns(264.02, 257.56, 12.846, 2.796, 250.528, 84.988),
            fitted=("task", "aiv"),
        ),
        _add(
            b1,
            "5 reads bypass L2",
            "add_double",
            48,
            16256,
            _columns(187.68, 185.15, 12.846, 4.479, 175.997, 160.291),
            bypass=1,
        ),
        _add(
            b1,
            "6 no bank conflict",
            "add_double",
            48,
            16256,
            _columns(184.52, 178.49, 6.954, 3.424, 171.611, 121.442),
            bypass=1,
            at=APART,
        ),
        _add(
            b950,
            "1 vector, 1 core, 8 KiB",
            "add_single",
            1,
            4096,
            {"aiv": 8924.0, "vec": 943.362},
            rows=512,
            at=small,
            fitted=("aiv",),
        ),
        _add(
            b950,
            "2 64 cores, 8 KiB",
            "add_single",
            64,
            4096,
            {"task": 310.489, "vec": 15.465},
            at=small,
            fitted=("task", "vec"),
        ),
        _add(
            b950,
            "3 41 KiB",
            "add_single",
            64,
            20992,
            {"task": 251.684, "vec": 11.121},
            at=PING_PONG_950,
            fitted=("vec",),
        ),
        _add(
            b950,
            "4 double buffer",
            "add_double",
            64,
            20992,
            {"task": 247.665, "vec": 10.976},
            at=PING_PONG_950,
        ),
        _add(
            b950,
            "5 reads bypass L2",
            "add_double",
            64,
            20992,
            {"task": 182.04, "vec": 10.997},
            bypass=1,
            at=PING_PONG_950,
        ),
    ]


def _read(
    soc: str, name: str, board: dict[str, float], parameters: Parameters, fitted: bool
) -> BoardCase:
    cores = 48 if soc == "Ascend910B1" else 64
    return BoardCase(
        "copy fp16 12288x12288",
        name,
        soc,
        "read_tiles",
        cores,
        parameters,
        board,
        parameters.rows * parameters.columns * 2,
        scale=12288 / parameters.rows,
        fitted=tuple(board) if fitted else (),
    )


def _copies() -> list[BoardCase]:
    cases = []
    whole = Parameters(rows=12288, columns=12288, tile=1024, tile_rows=64)
    for soc, cores, board, fitted in (
        (
            "Ascend910B1",
            48,
            (548.161, 220.772, 202.657, 259.047, 816.05, 354.56, 474.717, 307.38),
            "1347",
        ),
        (
            "Ascend950PR_9589",
            64,
            (881.13, 205.99, 185.66, 189.16, 740.75, 354.19, 339.38, 333.08),
            "1478",
        ),
    ):
        for name, parameters in (
            ("1 1 x 128 B", replace(whole, tile=64, tile_rows=1, rows=768)),
            ("2 64 x 128 B", replace(whole, tile=64)),
            ("3 64 x 2 KiB", whole),
            ("4 rows of 12287", replace(whole, columns=12287)),
            ("5 4 times, whole", replace(whole, times=4)),
            ("6 4 times, in quarters", replace(whole, times=4, parts=4)),
        ):
            quantity = "aiv" if name[0] in "56" else "mte2"
            took = {quantity: board[int(name[0]) - 1]}
            cases.append(_read(soc, name, took, parameters, name[0] in fitted))
        for name, shift in (("7 same address", 0), ("8 shifted", 1)):
            same = Parameters(rows=128 * cores, columns=512, tile=64, tile_rows=128, shift=shift)
            cases.append(
                BoardCase(
                    "copy fp16, all cores all of it",
                    name,
                    soc,
                    "read_same",
                    cores,
                    same,
                    {"mte2": board[int(name[0]) - 1]},
                    same.rows * same.columns * 2,
                    fitted=("mte2",) if name[0] in fitted else (),
                )
            )
    return cases


def _banks() -> list[BoardCase]:
    rows = [
        ("1 none", (0, 0x10100, 0x20000), (1, 8), 2390, True),
        ("2 reads in one bank", (0, 0x4000, 0x10000), (1, 8), 4167, True),
        ("3 reads in one group", (0, 0x10000, 0x14100), (1, 8), 4167, False),
        ("4 write in the bank of a read", (0, 0x10100, 0x4000), (1, 8), 2389, False),
        ("5 write a block off", (0, 0x10100, 0x4020), (1, 8), 3751, True),
        ("6 write over a read", (0, 0x10100, 0x10100), (1, 8), 2390, False),
        ("7 one block read, next by 32 B", (0, 0x10100, 0x10100), (0, 1), 3584, True),
        ("8 one block read, next by 256 B", (0, 0x10100, 0x10100), (0, 8), 2389, False),
    ]
    return [
        BoardCase(
            "banks, 1000 x Add",
            name,
            "Ascend910B1",
            "bank",
            1,
            Parameters(times=1000, at=(*at, 0, 0, 0), stride=stride),
            {"inside": 0.02 * ticks},
            fitted=("inside",) if fitted else (),
        )
        for name, at, stride, ticks, fitted in rows
    ]


def _chains() -> list[BoardCase]:
    return [
        BoardCase(
            "100 x sum of 256 fp32",
            name,
            "Ascend910B1",
            "reduce_chain",
            1,
            Parameters(times=100, shift=kind),
            {"inside": time},
            fitted=("inside",) if fitted else (),
        )
        for kind, name, time, fitted in (
            (0, "two WholeReduceSum", 13.0, True),
            (1, "three BlockReduceSum", 13.94, True),
            (2, "one of each", 8.44, False),
        )
    ]


# KiB, cycles at 1.8 GHz.
_HIT = {
    1: 216.5,
    4: 237.9,
    8: 239.2,
    12: 269.4,
    16: 299.8,
    24: 357.9,
    32: 484.5,
    48: 594.9,
    64: 746.7,
    128: 1228.6,
    191: 1765.5 * 191 / 192,
}
_MISS = {
    1: 235.3,
    4: 290.9,
    8: 321.3,
    12: 377.6,
    16: 404.0,
    24: 534.2,
    32: 711.6,
    48: 1065.2,
    64: 1425.9,
    128: 2799.3,
    191: 4189.0,
}
_WRITE = {
    1: 150.7,
    4: 181.1,
    8: 237.4,
    12: 271.5,
    16: 316.2,
    24: 385.3,
    32: 506.8,
    48: 749.7,
    64: 992.8,
    76: 1184.4,
}
_FITTED_KIB = (1, 4, 8, 16, 32, 64, 191)


def _curves() -> list[BoardCase]:
    cases = []
    for name, soc, kernel, curve, quantity, moves in (
        ("GM to UB from L2", "Ascend910B3", "copy_in", _HIT, "mte2", False),
        ("GM to UB from memory", "Ascend910B1", "copy_in", _MISS, "mte2", True),
        ("UB to GM", "Ascend910B1", "copy_out", _WRITE, "mte3", True),
    ):
        times = 100
        for kib, cycles in curve.items():
            size = kib * 1024
            cases.append(
                BoardCase(
                    f"one copy, {name}",
                    f"{kib} KiB",
                    soc,
                    kernel,
                    1,
                    Parameters(tile=size, times=times, stride=(size if moves else 0, 0)),
                    {quantity: cycles / 1800},
                    size * times,
                    scale=1 / times,
                    fitted=(quantity,) if kib in _FITTED_KIB or (kib, moves) == (24, False) else (),
                )
            )
    return cases


def _elementwise() -> list[BoardCase]:
    def case(
        name: str,
        soc: str,
        kernel: str,
        shape: tuple[int, int],
        size: int,  # bytes of a tensor
        inputs: int,
        board: float,
        tile: int,
        fitted: bool = False,
    ) -> BoardCase:
        cores = 48 if soc == "Ascend910B2" else 64
        tiles = -(-shape[0] * shape[1] // tile)
        return BoardCase(
            "elementwise",
            name,
            soc,
            kernel,
            min(cores, tiles),
            Parameters(rows=shape[0], columns=shape[1], tile=tile),
            {"task": board},
            size,
            size if inputs == 2 else 0,
            size,
            fitted=("task",) if fitted else (),
        )

    rows = [
        ("sigmoid fp32 2048x2048", "sigmoid_float", (2048, 2048), 4, 1, 18.14, 15.23, 8192),
        ("sigmoid fp32 1537x769", "sigmoid_float", (1537, 769), 4, 1, 6.6, 6.42, 6208),
        ("maximum fp32 2048x2048", "maximum_float", (2048, 2048), 4, 2, 30.22, 27.285, 6144),
        ("maximum fp32 1009x1021", "maximum_float", (1009, 1021), 4, 2, 9.16, 7.82, 5376),
        ("sigmoid fp16 8192x8192", "sigmoid_half", (8192, 8192), 2, 1, 142.2, 168.32, 12288),
        ("maximum fp16 363x367x373", "maximum_half", (363, 136891), 2, 2, 188.04, 205.47, 12288),
    ]
    cases = []
    for name, kernel, shape, width, inputs, b2, b950, tile in rows:
        size = shape[0] * shape[1] * width
        cases.append(case(name, "Ascend910B2", kernel, shape, size, inputs, b2, tile))
        launch = name == "sigmoid fp32 1537x769"  # that of 950 is fitted to it
        cases.append(
            case(name, "Ascend950PR_9589", kernel, shape, size, inputs, b950, tile, launch)
        )
    for count in (256, 2048, 16384):
        size = count * 1024 * 2
        law = 3.2 + size / 1.61e6 + size / 4.68e6  # us, that of CANN's elementwise kernels on 910B2
        name = f"relu fp16 {count}x1024, by the law"
        shape = (count, 1024)
        cases.append(case(name, "Ascend910B2", "relu_half", shape, size, 1, law, 16384, True))
    return cases


def _cycle_model() -> list[BoardCase]:
    cases = [
        BoardCase(
            "cycle model, many tiles" if one.tiles > 1 else f"cycle model, {one.family}",
            one.name,
            cycle_model.SOC,
            one.symbol,
            one.cores,
            Parameters(),
            {"kernel": one.nanoseconds / 1000},
            cycle_model.MOST * cycle_model.APART,
            0,
            cycle_model.MOST * cycle_model.APART,
            fitted=("kernel",) if one.fitted else (),
        )
        for one in cycle_model.kernels()
    ]
    return cases + [
        BoardCase(
            "cycle model, cores together",
            name,
            cycle_model.SOC,
            name.lower(),
            8,
            Parameters(),
            {"kernel": took / 1000},
            4096,
            4096,
            4096,
            fitted=("kernel",),
        )
        for name, took in (("AtomicAdd", 2243.03), ("SyncAll", 7255.15), ("IBSetWait", 9129.09))
    ]


def _quantiser() -> list[BoardCase]:
    """TurboQuantCompressLatent of ops-nn, its README: as many rows together as fit, or one."""
    cases = []
    cores, most = 40, 12
    for rows, together, took in (
        (1, most, 4.38),
        (32, most, 5.32),
        (128, most, 6.72),
        (512, most, 12.86),
        (1024, most, 20.22),
        (4096, most, 64.22),
        (16384, most, 242.62),
        (1024, 1, 50.34),
        (4096, 1, 187.38),
    ):
        each = -(-rows // cores)
        cases.append(
            BoardCase(
                "quantiser, rows of 512 fp32",
                f"{rows} rows, {min(each, together)} together",
                "Ascend910B4",
                "quantise_rows",
                -(-rows // each),
                Parameters(rows=rows, tile=min(each, together)),
                {"task": took},
                rows * 2048,
                512,
                rows * 320,
            )
        )
    return cases


def _polar() -> list[BoardCase]:
    """Polar of ops-math, experimental, its own report on 910B4."""
    return [
        BoardCase(
            "polar fp32",
            name,
            "Ascend910B4",
            "polar",
            cores,
            Parameters(rows=count, tile=2048),
            {"task": took},
            count * 4,
            count * 4,
            count * 8,
            scale=whole / count,
        )
        for name, whole, count, cores, took in (
            ("2x6x10", 120, 120, 1, 11.64),
            ("3x5x17x269", 68595, 68595, 32, 26.94),
            ("4096x4096", 1 << 24, 1 << 22, 40, 931.68),
        )
    ]


def _register_functions() -> list[BoardCase]:
    """Examples of asc-devkit for Ascend 950: reg_compute, bank_conflict_3510."""
    soc, mhz = "Ascend950PR_9589", 1650
    cases = [
        BoardCase(
            group,
            name,
            soc,
            "gelu",
            1,
            Parameters(times=2, tile=8192, shift=shift),
            {"vec": took},
            scale=64,
            fitted=("vec",) if fitted else (),
        )
        for group, name, shift, took, fitted in (
            ("gelu", "0 function by function", 0, 147.9, False),
            ("gelu", "1 one vector function", 1, 66.3, True),
            ("gelu and a bell", "0 half registers", 2, 244.0, False),
            ("gelu and a bell", "1 one loop", 3, 125.0, True),
            ("gelu and a bell", "2 two loops", 4, 97.0, False),
        )
    ]
    cases += [
        BoardCase(
            "softmax of 128 rows of 128",
            name,
            soc,
            "softmax_rows",
            1,
            Parameters(shift=shift),
            {"vec": took / mhz},
            fitted=("vec",) if shift in (2, 3) else (),
        )
        for name, shift, took in (
            ("2 row by row, masks counted", 2, 3413),
            ("3 two rows, masks counted", 3, 2197),
            ("4 row by row, whole masks", 4, 3424),
            ("5 two rows, whole masks", 5, 1785),
        )
    ]
    full, apart, row = (0, 0x5000, 0xA000, 0, 0, 0), (0, 0, 0x4100, 0, 0, 0), (64, 1)
    cases += [
        BoardCase(
            f"{kind} of registers' accesses",
            name,
            soc,
            "register_banks",
            1,
            Parameters(
                times=100, shift=shift, at=at, stride=read, tile=write[0], tile_rows=write[1]
            ),
            {"inside": took / mhz},
            scale=0.01,
            fitted=("inside",) if name[0] in "67" else (),
        )
        for kind, name, shift, at, read, write, took in (
            ("banks", "1 sources in one bank", 1, (0, 0x5000, 0xA100, 0, 0, 0), row, row, 133.3),
            ("banks", "2 a source and result", 1, (0, 0x5100, 0xA000, 0, 0, 0), row, row, 147.1),
            ("banks", "6 all in one bank", 1, full, row, row, 142.1),
            ("banks", "7 the same, two at a time", 2, full, row, row, 133.1),
            ("blocks", "11 blocks by row", 3, apart, row, row, 44.3),
            ("blocks", "12 blocks by column", 3, apart, (8, 8), (8, 8), 151.0),
            ("blocks", "13 one block again and again", 3, apart, (64, 0), row, 44.1),
            ("blocks", "14 one register again and again", 3, apart, (0, 1), row, 44.1),
        )
    ]
    return cases


def _products() -> list[BoardCase]:
    """Products of 8192 x 8192 half by base blocks, as asc-devkit's best practices describe them.

    24 cores have 4 x 6 parts of C, of which the last column is a third as wide; 32 cores of Ascend
    950 have 4 x 8. The rows of the Matmul API have only times of pipes: its scalar code is not that
    of our kernel.
    """
    b1, b950, size = "Ascend910B1", "Ascend950PR_9589", 8192
    cases = []
    for name, soc, cores, part, base, steps, board, fitted in (
        (
            "0 base 64 x 64, 1 core",
            b1,
            1,
            (512, 512),
            (64, 64),
            (1, 1),
            {"mte2": 582515.828},
            ("mte2",),
        ),
        (
            "1 base 128 x 256, 1 core",
            b1,
            1,
            (512, 512),
            (128, 256),
            (1, 1),
            {"cube": 81477.188, "mte1": 52003.703, "mte2": 195613.432},
            ("mte2",),
        ),
        (
            "3 the same, 24 cores",
            b1,
            24,
            (256, 1536),
            (128, 256),
            (1, 1),
            {"cube": 3394.884, "mte1": 2166.824, "mte2": 8616.671},
            (),
        ),
        (
            "5 many blocks in L1",
            b1,
            24,
            (512, 1536),
            (128, 256),
            (8, 4),
            {"task": 4121.16, "aic": 3670.7, "cube": 3081.664, "mte1": 2538.348, "mte2": 3552.248},
            (),
        ),
        (
            "5 many blocks in L1",
            b950,
            32,
            (512, 1024),
            (256, 256),
            (4, 4),
            {
                "task": 2572.047,
                "aic": 2571.44,
                "cube": 2564.813,
                "mte1": 828.001,
                "mte2": 1874.267,
                "fixpipe": 221.997,
            },
            (),
        ),
    ):
        m = part[0] * (4 if cores > 1 else 1)
        n = size if cores > 1 else part[1]
        at = (*part, *base, *steps)
        cases.append(
            BoardCase(
                "product fp16 8192x8192x8192",
                name,
                soc,
                "product",
                cores,
                Parameters(rows=m, columns=n, tile=size, shift=int(steps != (1, 1)), at=at),
                board,
                2 * m * size,
                2 * n * size,
                2 * m * n,
                scale=size / m * size / n,
                fitted=fitted,
                cube=True,
            )
        )
    return cases


CASES = [
    *(*_adds(), *_copies(), *_banks(), *_chains(), *_curves(), *_elementwise(), *_cycle_model()),
    *(*_quantiser(), *_polar(), *_register_functions(), *_products()),
]
