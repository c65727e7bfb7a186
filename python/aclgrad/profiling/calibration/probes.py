# SPDX-License-Identifier: Apache-2.0
"""Which launches ask each question of the register, and what is read from their times."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from aclgrad.profiling.calibration.runner import SOURCES, Launch

Times = Mapping[str, float]
KB = 1024
EMPTY = Launch("launch", "probe_scalar", (0, 0))
"""A kernel that does nothing."""
_LARGE = 65536  # bytes of the copies that the curves are scaled by
_SCAN = 100 * 512  # bytes of L2's lines that a copy of its probe touches


@dataclass(frozen=True)
class Timing:
    """How one cost shows: launches, and a number of their times that follows the cost."""

    launches: tuple[Launch, ...]
    reading: Callable[[Times], float]
    beyond: float = 0.0
    """1 for factors of which only what lies above 1 is looked for."""
    inverse: bool = False
    """For factors below 1: what lies above 1 is that of its inverse."""
    steps: tuple[float, ...] = ()
    """Costs that are one of these."""
    heavy: bool = False
    """Takes seconds on the simulator, and the reading is the cost."""
    most: float = float("inf")
    """What the cost cannot be above."""
    linear: bool = False
    """Costs that may be 0; the reading follows them in proportion."""
    late: bool = False
    """Its launches are long and rest on other costs: found when those are."""
    only: str = ""
    """The one source of times that shows it."""
    whole: bool = False
    """Reads a launch with all that comes with it, which is another time by each source."""


@dataclass
class Plan:
    """All probes of a SoC."""

    values: dict[str, tuple[Launch, ...]] = field(default_factory=dict)  # by probe
    timings: dict[str, Timing] = field(default_factory=dict)  # by probe


def _numbers(table: str) -> list[tuple[int, str, int]]:
    """Number, name and widths of the rows of an .inc file."""
    text = (SOURCES / table).read_text(encoding="utf-8")
    rows = re.findall(r"^PROBE\((\d+), ([\w-]+), (\d+),", text, re.MULTILINE)
    return [(int(number), name, int(widths)) for number, name, widths in rows]


def widths(row: int) -> list[int]:
    """32, 16, or both."""
    return [width for width in (32, 16) if row & width]


# --- values ---------------------------------------------------------------------------------

_COUNT = 2048


def _operands(width: int, seed: int) -> np.ndarray:
    """Two operands: special values first, then all magnitudes."""
    rng = np.random.default_rng(seed)
    dtype = np.float32 if width == 32 else np.float16
    info = np.finfo(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.5, -2.5, 3.5, 65504.0, 65520.0]
    special += [-65520.0, 70000.0, 127.5, 128.5, -128.5, 32767.5, 2147483648.0, -3e9]
    special += [np.nan, -1.5, np.nan]  # which of several counts
    special += [
        float(info.tiny),
        float(info.smallest_subnormal),
        float(info.max),
        1 + float(info.eps),
    ]
    operands = []
    for shift in (0, 3):
        spread = 30 if width == 32 else 6
        wide = rng.standard_normal(_COUNT) * np.exp(rng.uniform(-spread, spread, _COUNT))
        usual = rng.standard_normal(_COUNT) * 4
        both = np.where(rng.random(_COUNT) < 0.5, wide, usual)
        with np.errstate(over="ignore"):
            values = both.astype(dtype)
            values[: len(special)] = np.roll(np.array(special), shift).astype(dtype)
        operands.append(values)
    return np.concatenate(operands)


def _table(width: int, seed: int) -> np.ndarray:
    """Offsets of elements, which are as good as bit patterns of masks and indices."""
    size = width // 8
    return (np.random.default_rng(seed).integers(0, _COUNT, _COUNT) * size).astype(np.uint32)


def _value_launches(
    names: Mapping[str, int], number: Mapping[str, int], what: list[str]
) -> tuple[Launch, ...]:
    launches = []
    for name in what:
        for width in widths(names[name]):
            values = np.concatenate(
                [_operands(width, number[name]).view(np.uint8), _table(width, 7).view(np.uint8)]
            )
            launches.append(
                Launch(
                    f"{name}.{width}",
                    "probe_values",
                    (number[name], width),
                    out_bytes=_COUNT * 4,
                    values=values,
                )
            )
    return tuple(launches)


_VALUES = {
    "values exp": ["exp"],
    "values ln": ["ln"],
    "values reciprocal": ["reciprocal"],
    "values rsqrt": ["rsqrt"],
    "values axpy": ["axpy", "mul-add-dst"],
    "values fused-mul-add": ["fused-mul-add"],
    "values sum": ["whole-sum", "block-sum", "reduce-sum"],
    "values sum-half": ["pair-sum"],
    "values compare-ne": ["compare-ne"],
    "values cast-half": ["half-floor", "half-ceil", "half-trunc", "half-odd"],
    "values nan-index": ["whole-max", "reduce-max"],
    "values gathermask": ["gather-mask"],
    "values sort-nan": ["sort"],
    "values relu-cast": ["mul-cast"],
    "values div": ["div", "sqrt"],
    "values max": ["max", "min"],
    "values relu": ["relu", "leaky-relu", "abs"],
    "values cast": [
        *("half-rint", "half-round", "int32-rint", "int32-trunc", "int32-floor", "int16-rint"),
        *("float-rint", "float-of-half", "int8-of-half", "bf16-rint"),
    ],
    "values compare": ["compare-lt", "compare-eq", "compare-ge"],
    "values select": ["select"],
    "values gather": ["gather", "brcb"],
    "values mask": ["masked-add"],
    "values sort-half": ["sort-half"],
    "values sign": ["sign"],
    "values compare-register": ["compare-register"],
    "values strided-max": ["strided-max"],
    "values quant": ["quant"],
    "values transdata": ["transdata"],
    "values softmax-grad": ["softmax-grad"],
    "values power": ["power"],
}
_PADS = {"values pad-bare": (0, 20), "values pad-register": (2, 20)}


def _values(ub_bytes: int) -> dict[str, tuple[Launch, ...]]:
    rows = _numbers("values.inc")
    names = {name: found for _, name, found in rows}
    number = {name: index for index, name, _ in rows}
    probes = {probe: _value_launches(names, number, what) for probe, what in _VALUES.items()}
    probes["values ub-size"] = (
        Launch(
            "ub-size", "probe_ub", (ub_bytes,), out_bytes=-(-ub_bytes // KB) * 32,
            values=np.zeros(16, np.float32),
        ),
    )  # fmt: skip
    elements = np.zeros((3, 8), np.float32)  # of 32 bytes each, as opapi.h has them
    elements[0, :1].view(np.int32)[:] = 2
    elements[1, :1].view(np.float16)[:1] = 0.1
    elements[2, 0] = 1 << 24
    probes["values eq-number"] = (
        Launch("eq-number", "compare_numbers", (), out_bytes=elements.nbytes, values=elements),
    )
    ramp = np.arange(1, 65, dtype=np.float32)
    for probe, params in _PADS.items():
        probes[probe] = (
            Launch(probe.replace(" ", "-"), "probe_pad", params, out_bytes=4096, values=ramp),
        )
    return probes


# --- times ----------------------------------------------------------------------------------


def _vector(
    name: str, number: int, width: int, repeats: int, times: int,
    *, waits: int = 0, b: int = 256, d: int = 0, less: int = 0, brief: int = 0, apart: int = 8,
) -> Launch:  # fmt: skip
    params = (number, width, repeats, times, waits, b, d, less, brief, apart)
    return Launch(name, "probe_vector", params)


def _copies(
    name: str, block: int, times: int,
    *, writes: int = 0, blocks: int = 1, step: int = 0, distance: int = 0, per_core: int = 0,
    before: int = 0, waits: int = 0, bypass: int = 0, around: int = 0, both: int = 0,
    vectors: int = 0, cores: int = 1,
) -> Launch:  # fmt: skip
    step = step or block
    reach = around if around else distance * times
    size = before + per_core * (cores - 1) + reach + step * blocks + block
    params = (writes, block, blocks, step, times, distance, per_core, before, waits, bypass, around)
    return Launch(
        name,
        "probe_copies",
        (*params, both, vectors),
        blocks=cores,
        in_bytes=64 if writes else size,
        out_bytes=size if writes or both else 64,
    )


def _difference(less: Launch, more: Launch) -> Timing:
    """By how much one launch takes longer than another one."""
    return Timing((less, more), lambda t: t[more.name] - t[less.name])


def _between(make: Callable[[str, int], Launch], probe: str, few: int, many: int) -> Timing:
    """What `many - few` passes take: the launch and the start are not part of it."""
    name = probe.replace(" ", "-")
    short, long = make(f"{name}-{few}", few), make(f"{name}-{many}", many)
    return _difference(short, long)


def _against(less: Launch, more: Launch, **kinds: object) -> Timing:
    """By what share one launch takes longer than another one."""
    return Timing(
        (less, more),
        lambda t: t[more.name] / t[less.name] - 1,
        **kinds,  # type: ignore[arg-type]
    )


def _ratio(one: Launch, other: Launch) -> Timing:
    return Timing((one, other), lambda t: t[one.name] / t[other.name])


def _beside(alone: Launch, beside: Launch) -> Timing:
    """How one launch's time compares with another's, for a cost that may be 0."""
    return Timing((alone, beside), lambda t: t[beside.name] / t[alone.name], linear=True)


def _vector_timings() -> dict[str, Timing]:
    found = {}
    number = {}
    for index, name, both in _numbers("instructions.inc"):
        number[name] = index
        converted = name.partition("-")[2]
        for width in widths(both):
            word = converted or ("float" if width == 32 else "half")
            name = name.partition("-")[0]
            short = _vector(f"{name}-{word}-16", index, width, 16, 256)
            long = _vector(f"{name}-{word}-64", index, width, 64, 256)
            found[f"vector {name} {word}"] = _difference(short, long)
        width = widths(both)[0]
        few = _vector(f"{name}-waited-64", index, width, 1, 64, waits=1)
        many = _vector(f"{name}-waited-320", index, width, 1, 320, waits=1)
        found[f"vector {name} waited"] = _difference(few, many)
    add = number["vadd"]
    plain = _vector("add-plain", add, 32, 64, 512)

    def pair(probe: str, less: Launch, more: Launch) -> None:
        found[probe] = _difference(less, more)

    pair(
        "least-cycles",
        _vector("least-1", add, 32, 160, 128, brief=1),
        _vector("least-17", add, 32, 160, 128, brief=17),
    )
    pair(
        "partial-repeat",
        _vector("partial-no", add, 32, 32, 512),
        _vector("partial-yes", add, 32, 32, 512, less=1),
    )
    shared = _vector("bank-groups", add, 32, 64, 512, b=0)
    found["group-count"] = _ratio(shared, _vector("bank-next", add, 32, 64, 512, b=256))
    written = _vector("bank-writes", add, 32, 64, 512, d=65536 + 36864 + 32)
    found["bank-bytes"] = _ratio(written, _vector("bank-before", add, 32, 64, 512, d=32))
    pair("bank-groups", plain, shared)
    pair("bank-turns", plain, _vector("bank-turns", add, 32, 64, 512, apart=16))
    pair("bank-writes", plain, written)
    return found


def _scalar_timings() -> dict[str, Timing]:
    def scalar(what: int) -> Callable[[str, int], Launch]:
        return lambda name, times: Launch(
            name, "probe_scalar", (what, times), in_bytes=64 * times + 4 * KB
        )

    def cores(what: int, blocks: int) -> Callable[[str, int], Launch]:
        return lambda name, times: Launch(
            name, "probe_cores", (what, times), blocks=blocks, out_bytes=64 * KB
        )

    def behind(few: int) -> Launch:
        """What the scalar pipe takes to issue so many instructions that wait for a copy."""
        params = (8, 1, few)
        return Launch(f"queue-depth-{few}", "probe_scalar", params, in_bytes=32 * KB)

    few, many = behind(24), behind(40)
    return {
        "queue-depth": Timing(
            (few, many), lambda t: 1 - t[few.name] / t[many.name], only="counter"
        ),
        "sync": _between(scalar(1), "sync", 1000, 4000),
        "queue": _between(scalar(3), "queue", 500, 2000),
        "scalar-access": _between(scalar(4), "scalar-access", 500, 2000),
        "gm-miss": _between(scalar(5), "gm-miss", 100, 400),
        "gm-hit": _between(scalar(6), "gm-hit", 1000, 4000),
        "issue": _between(scalar(7), "issue", 500, 2000),
        "meet": _between(cores(0, 8), "meet", 16, 64),
        "mark": _between(cores(1, 2), "mark", 2, 8),
        "launch": Timing((EMPTY,), lambda t: t[EMPTY.name], whole=True),
    }


def _copy_timings(cores: int, l2_bytes: int) -> dict[str, Timing]:
    large = _LARGE

    def passes(probe: str, few: int, many: int, **how: int) -> Timing:
        return _between(lambda name, times: _copies(name, times=times, **how), probe, few, many)

    def lines(name: str, copies: int, passes_: int) -> Launch:
        """Half of each line of L2, once or several times."""
        per_core = copies * _SCAN
        return _copies(
            name, 256, copies * passes_, blocks=_SCAN // 512, step=512, distance=_SCAN,
            per_core=per_core, around=per_core, cores=cores,
        )  # fmt: skip

    past = int(2.2 * l2_bytes / cores / large) + 1  # of a cache twice as large too
    timings = {
        "read-rate": passes("read-rate", 16, 64, block=large),
        "miss-rate": passes("miss-rate", 16, 48, block=large, distance=large, bypass=1),
        "write-rate": passes("write-rate", 16, 48, block=large, distance=large, writes=1),
        "read-latency": passes("read-latency", 128, 512, block=32, waits=1),
        "write-latency": passes("write-latency", 128, 512, block=32, waits=1, writes=1),
        "small-copies": passes("small-copies", 512, 2048, block=32),
        "window": passes("window", 64, 256, block=4096),
        "ub-block": passes("ub-block", 32, 128, block=32, blocks=256),
        "line-turn": passes("line-turn", 64, 256, block=32, writes=1, per_core=32, cores=8),
        "part-lines": replace(
            passes("part-lines", 64, 256, block=32, blocks=64, step=512, per_core=64 * 512,
                   cores=cores),
            most=512.0,  # a line: beyond, whole lines would take longer too
        ),
        "l2-bandwidth": passes("l2-bandwidth", 8, 32, block=large, per_core=large, cores=cores),
        "memory-bandwidth": passes("memory-bandwidth", 4, 12, block=large, distance=large,
                                   per_core=12 * large, bypass=1, cores=cores),
        "unaligned": _against(
            _copies("aligned", large, 64), _copies("unaligned", large, 64, before=32), beyond=1.0
        ),
        "alignment": Timing(
            tuple(_copies(f"start-{at}", large, 64, before=at) for at in (0, 64, 128, 256)),
            lambda t: 10
            + sum(t[f"start-{at}"] / t["start-0"] - 1 for at in (64, 128, 256)),
            steps=(64.0, 128.0, 256.0, 512.0),
        ),
        "same-line": _against(
            _copies("own-lines", large, 32, per_core=large, cores=4),
            _copies("same-lines", large, 32, cores=4),
            beyond=1.0,
            inverse=True,
        ),
        "small-copy-memory": _against(
            _copies("memory-large", large, 6, distance=large, per_core=6 * large, bypass=1,
                    cores=cores),
            _copies("memory-small", 16384, 24, distance=16384, per_core=6 * large, bypass=1,
                    cores=cores),
        ),
        "early-write-back": _against(
            _copies("reads-alone", large, 6, distance=large, per_core=6 * large, bypass=1,
                    cores=cores),
            _copies("reads-writes", large, 6, distance=large, per_core=6 * large, bypass=1,
                    both=1, cores=cores),
        ),
        "beside-vector": _beside(
            _copies("vectors-alone", 32, 1, vectors=64 * 24),
            _copies("vectors-beside", large, 64, vectors=24),
        ),
        "write-back": replace(
            passes("write-back", past, past * 5 // 4, block=large, distance=large,
                   per_core=past * 5 // 4 * large, writes=1, cores=cores),
            late=True,
        ),
        "start": Timing(
            (
                Launch("start-one", "probe_scalar", (0, 0)),
                Launch("start-all", "probe_scalar", (0, 0), blocks=cores),
            ),
            lambda t: t["start-all"] - t["start-one"],
        ),
    }  # fmt: skip
    hit = timings["read-latency"]
    miss = passes("miss-latency", 128, 512, block=32, waits=1, bypass=1, distance=512)
    timings["miss-latency"] = Timing(
        hit.launches + miss.launches, lambda t: miss.reading(t) - hit.reading(t)
    )
    copies = sorted({max(1, round(l2_bytes * 0.47 * 1.1**i / cores / _SCAN)) for i in range(17)})
    sizes = [each * _SCAN * cores for each in copies]
    scans = [(lines(f"l2-{each}-once", each, 1), lines(f"l2-{each}-twice", each, 2))
             for each in copies]  # fmt: skip

    def knee(t: Times) -> float:
        """Between which sizes what was read once has to be read again from memory."""
        again = [t[two.name] / t[one.name] - 1 for one, two in scans]
        middle = (min(again) + max(again)) / 2
        if max(again) < 1.15 * min(again) or again[0] > middle:
            return float("nan")
        at = next(i for i, ratio in enumerate(again) if ratio > middle)
        return float(np.sqrt(sizes[at] * sizes[max(at - 1, 0)]))

    # The oldest lines are the next that are wanted, if data are a bit larger than L2.
    timings["l2-order"] = _ratio(*reversed(scans[11]))
    timings["l2-size"] = Timing(tuple(one for pair in scans for one in pair), knee, heavy=True)
    return timings


def plan(cores: int, l2_bytes: int, ub_bytes: int) -> Plan:
    """All probes for a SoC with so many vector cores."""
    timings = _vector_timings() | _scalar_timings() | _copy_timings(cores, l2_bytes)
    return Plan(_values(ub_bytes), timings)
