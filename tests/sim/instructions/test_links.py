# SPDX-License-Identifier: Apache-2.0
"""The ways of Ascend 950 between an AIC and its AIVs: Fixpipe from L0C into UB, DataCopy from UB
into L1, flags of mode 4. Numbers against float64, and each mistake as what it is.
"""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from instructions import cube_model as model
from instructions.bench import KernelError, Runtime
from instructions.mix_library import A5, mixed_library
from instructions.test_cube_950 import SOC

ONE, TWO = 11, 12
CHAOS = ["0", "1", "2", "3", "9", "17"]
TO_NZ, TO_ND, TO_DN = range(3)
ROWS, COLUMNS = 1, 2  # dualDstCtl
NO_QUANT, F322F16, F322BF16, DEQF16, _, QF322B8, VQF322B8, REQ8 = range(8)
QF322FP8 = 14 + 1
STALE = 0x55
Array = npt.NDArray[Any]


@pytest.fixture(scope="module")
def library(toolkit: Path, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The kernels of links.cpp."""
    return mixed_library(toolkit, tmp_path_factory.mktemp("links"), "links", A5)


@pytest.fixture(autouse=True)
def on_950(runtime: Runtime) -> Iterator[None]:
    """The SoC of this file, with all checks."""
    with runtime.options(soc=SOC, mode="checked"):
        yield


@dataclass
class Results:
    """A product whose results go to UB; see links.cpp for the words."""

    kernel: str
    m: int
    n: int
    k: int
    to: int = TO_ND
    operand: npt.DTypeLike = np.float16
    out: npt.DTypeLike = np.float32
    dual: int = 0
    sub: int = 0
    quant: int = NO_QUANT
    word: int = 0
    relu: bool = False
    at: int = 0  # in UB
    times: int = 1
    pitch: int = 0
    vectors: int = 2
    columns: Array = field(default_factory=lambda: np.zeros(0, np.uint64))

    def __post_init__(self) -> None:
        """Numbers whose products are exact."""
        rng = np.random.default_rng(self.m * 1000 + self.n)
        self.a = rng.integers(-8, 9, (self.m, self.k)).astype(self.operand)
        self.b = rng.integers(-8, 9, (self.k, self.n)).astype(self.operand)

    def product(self) -> Array:
        """In float64."""
        return self.a.astype(np.float64) @ self.b.astype(np.float64)

    def stride(self) -> int:
        """Of a row, of a column, or of 16 columns in elements; of one AIV's part."""
        rows = self.m // 2 if self.dual == ROWS else self.m
        columns = self.n // 2 if self.dual == COLUMNS else self.n
        wide = 32 if np.dtype(self.out).itemsize == 1 else 16
        dense = {TO_NZ: rows * wide, TO_ND: columns, TO_DN: rows}[self.to]
        return self.pitch or dense

    def layout(self, part: Array) -> Array:
        """What an AIV finds in UB: bytes, STALE where nothing was written."""
        part = part.astype(self.out)
        rows, columns = part.shape
        width, stride = part.itemsize, self.stride()
        ub = np.full(self.bytes(), STALE, np.uint8)

        def put(at: int, values: Array) -> None:
            raw = np.ascontiguousarray(values).view(np.uint8)
            ub[at * width : at * width + raw.size] = raw.reshape(-1)

        if self.to == TO_ND:
            for row in range(rows):
                put(row * stride, part[row])
        elif self.to == TO_DN:
            for column in range(columns):
                put(column * stride, part[:, column])
        else:
            wide = 32 if width == 1 else 16
            for first in range(0, columns, wide):
                put(first // wide * stride, part[:, first : first + wide])
        return ub

    def bytes(self) -> int:
        """Of UB that each AIV shows."""
        lines = {TO_NZ: -(-self.n // 16), TO_ND: self.m, TO_DN: self.n}[self.to]
        return model.up(lines * self.stride() * np.dtype(self.out).itemsize + 64, 64)

    def want(self, values: Array) -> Array:
        """By round, AIV and byte."""
        parts = [np.zeros((0, self.n))] * self.vectors
        if self.dual == ROWS:
            parts = [values[: self.m // 2], values[self.m // 2 :]]
        elif self.dual == COLUMNS:
            parts = [values[:, : self.n // 2], values[:, self.n // 2 :]]
        else:
            parts[self.sub] = values
        once = np.stack([self.layout(part) for part in parts])
        return np.stack([once] * self.times)

    def run(self, runtime: Runtime, library: ctypes.CDLL, blocks: int = 1) -> Array:
        """What the AIVs find."""
        a, b = model.to_nz(self.a).view(np.uint8), model.to_nz(self.b.T.copy()).view(np.uint8)
        words = np.zeros(32, np.int64)
        words[:6] = [self.m, self.n, self.k, a.size, b.size, self.to]
        rows = self.m
        words[6:16] = [
            self.n, rows, model.up(self.m, 16), self.stride(), self.quant,
            self.word & 0xFFFFFFFF, self.word >> 32, self.relu, self.dual, self.sub,
        ]  # fmt: skip
        words[16:24] = [1, 0, 0, 1, self.bytes(), self.at, self.columns.nbytes, self.times]
        out = np.zeros((self.times, self.vectors, self.bytes()), np.uint8)
        more = self.columns if self.columns.size else np.zeros(8, np.uint64)
        arrays = [a, b, out, more, words.astype(np.uint32).view(np.int32)]
        key = TWO if self.vectors == 2 else ONE
        entry = library[self.kernel]
        (got,) = runtime.launch(entry, arrays, outputs=[2], block_dim=blocks, key=key)
        return got


@pytest.mark.parametrize("to", [TO_NZ, TO_ND, TO_DN])
@pytest.mark.parametrize("sub", [0, 1])
@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 16), (48, 32, 40), (24, 80, 16)])
def test_to_one_aiv(
    runtime: Runtime, library: ctypes.CDLL, m: int, n: int, k: int, sub: int, to: int
) -> None:
    results = Results("half_float", m, n, k, to, sub=sub)
    np.testing.assert_array_equal(results.run(runtime, library), results.want(results.product()))


@pytest.mark.parametrize("to", [TO_NZ, TO_ND])
@pytest.mark.parametrize("dual", [ROWS, COLUMNS])
@pytest.mark.parametrize(("m", "n"), [(2, 32), (32, 64), (46, 96), (128, 128)])
def test_to_both(
    runtime: Runtime, library: ctypes.CDLL, m: int, n: int, dual: int, to: int
) -> None:
    results = Results("half_float", m, n, 32, to, dual=dual, at=4096)
    np.testing.assert_array_equal(results.run(runtime, library), results.want(results.product()))


def test_rows_that_lie_apart(runtime: Runtime, library: ctypes.CDLL) -> None:
    results = Results("half_float", 20, 32, 16, TO_ND, pitch=48)
    np.testing.assert_array_equal(results.run(runtime, library), results.want(results.product()))


@pytest.mark.parametrize("chaos", CHAOS)
@pytest.mark.parametrize("threads", ["1", "2", "7"])
def test_any_number_of_host_threads(
    runtime: Runtime, library: ctypes.CDLL, threads: str, chaos: str
) -> None:
    """Each round waits for the answers of the last one."""
    results = Results("half_float", 32, 64, 16, dual=ROWS, times=5)
    with runtime.options(chaos=chaos, threads=threads):
        got = results.run(runtime, library)
    np.testing.assert_array_equal(got, results.want(results.product()))


@pytest.mark.parametrize("mode", ["checked", "fast"])
def test_one_aiv_for_each_aic(runtime: Runtime, library: ctypes.CDLL, mode: str) -> None:
    results = Results("half_float", 48, 48, 32, times=3, vectors=1)
    with runtime.options(mode=mode):
        got = results.run(runtime, library)
    np.testing.assert_array_equal(got, results.want(results.product()))


def word(scale: float, offset: int = 0, signed: bool = False) -> int:
    """A parameter of quantisation."""
    bits = int(np.float32(scale).view(np.uint32))
    return bits | (offset & 0x1FF) << 37 | int(signed) << 46


@pytest.mark.parametrize("to", [TO_NZ, TO_ND, TO_DN])
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize(
    ("kernel", "out", "quant", "scale", "offset"),
    [
        ("half_half", np.float16, F322F16, 0.0, 0),
        ("half_bf16", ml_dtypes.bfloat16, F322BF16, 0.0, 0),
        ("half_int8", np.int8, QF322B8, 0.25, 3),
        ("half_e4m3", ml_dtypes.float8_e4m3fn, QF322FP8, 0.5, 0),
        ("int8_int32", np.int32, NO_QUANT, 0.0, 0),
        ("int8_half", np.float16, DEQF16, 0.5, 0),
        ("int8_int8", np.int8, REQ8, 0.125, -2),
    ],
)
def test_conversions(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, out: Any, quant: int, scale: float,
    offset: int, relu: bool, to: int,
) -> None:  # fmt: skip
    operand = np.int8 if kernel.startswith("int8") else np.float16
    given = word(scale, offset, signed=True) if scale else 0
    results = Results(kernel, 32, 64, 64, to, operand, out, quant=quant, word=given, relu=relu)
    values = results.product()
    values = np.maximum(values, 0) if relu else values
    values = values * scale if scale else values
    if out == np.int8:
        values = np.clip(np.clip(np.rint(values), -256, 255) + offset, -128, 127)
    elif quant == QF322FP8:
        values = np.clip(values, -448, 448)
    np.testing.assert_array_equal(results.run(runtime, library), results.want(values))


def test_a_parameter_for_each_column(runtime: Runtime, library: ctypes.CDLL) -> None:
    scales = 2.0 ** -np.arange(1, 5).repeat(16)
    columns = np.array([word(scale, 1, signed=True) for scale in scales], np.uint64)
    results = Results("half_int8", 32, 64, 32, out=np.int8, quant=VQF322B8, sub=1, columns=columns)
    values = np.clip(np.clip(np.rint(results.product() * scales), -256, 255) + 1, -128, 127)
    np.testing.assert_array_equal(results.run(runtime, library), results.want(values))


@pytest.mark.parametrize("how", range(4))
@pytest.mark.parametrize("chaos", ["0", "2", "9"])
@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 16), (48, 32, 80), (32, 64, 128)])
def test_into_l1(
    runtime: Runtime, library: ctypes.CDLL, m: int, n: int, k: int, chaos: str, how: int
) -> None:
    results = Results("to_l1", m, n, k)
    a, b = results.a, results.b.T.copy()
    if how == 3:  # rows, which the copy itself brings into NZ
        operands = [part.reshape(-1).view(np.uint8) for part in (a, b)]
    else:
        operands = [model.to_nz(part).view(np.uint8) for part in (a, b)]
    words = np.array([m, n, k, operands[0].size, operands[1].size, how, 0, 0], np.int32)
    arrays: list[Array] = [*operands, np.zeros((m, n), np.float32), words]
    with runtime.options(chaos=chaos):
        (got,) = runtime.launch(library["to_l1"], arrays, outputs=[2], key=TWO)
    np.testing.assert_array_equal(got, results.product().astype(np.float32))


def rounds(
    runtime: Runtime, library: ctypes.CDLL, name: str, key: int = TWO, shown: int = 2
) -> Any:
    """Operands of 32 x 32, what comes out and what should."""
    results = Results("right", 32, 32, 32)
    operands = [model.to_nz(part).view(np.uint8) for part in (results.a, results.b.T.copy())]
    arrays: list[Array] = [*operands, np.zeros((2, 32, 32), np.float32)]
    (got,) = runtime.launch(library[name], arrays, outputs=[2], key=key)
    return got, results.product()


@pytest.mark.parametrize("chaos", CHAOS)
@pytest.mark.parametrize("name", ["right", "meeting"])
def test_rounds(runtime: Runtime, library: ctypes.CDLL, name: str, chaos: str) -> None:
    with runtime.options(chaos=chaos):
        got, want = rounds(runtime, library, name)
    np.testing.assert_array_equal(got, 2 * np.stack([want, want]))


@pytest.mark.parametrize("chaos", CHAOS)
def test_rounds_into_l1(runtime: Runtime, library: ctypes.CDLL, chaos: str) -> None:
    with runtime.options(chaos=chaos):
        got, want = rounds(runtime, library, "link_right")
    np.testing.assert_array_equal(got, np.stack([want, want]))


@pytest.mark.parametrize("chaos", ["0", "2", "9"])
def test_from_l1_into_ub(runtime: Runtime, library: ctypes.CDLL, chaos: str) -> None:
    numbers = np.arange(1024, dtype=np.int32)
    with runtime.options(chaos=chaos):
        arrays = [numbers, np.zeros((2, 2048), np.int32)]
        (got,) = runtime.launch(library["l1_to_ub"], arrays, outputs=[1], key=TWO)
    want = np.full((2, 2048), -1, np.int32)
    want[0, :1024] = numbers
    want[1].reshape(64, 4, 8)[:, 0] = numbers.reshape(64, 2, 8)[:, 0]
    np.testing.assert_array_equal(got, want)


def test_buffers_of_both_halves(runtime: Runtime, library: ctypes.CDLL) -> None:
    got, want = rounds(runtime, library, "by_buffers")
    np.testing.assert_array_equal(got[0], want)


def busy(runtime: Runtime, core: str, pipe: str) -> float:
    """Cycles in which a pipe of the last launch worked."""
    runtime.lib.aclsimProfiles.restype = ctypes.c_char_p
    cores = json.loads(runtime.lib.aclsimProfiles())[-1]["cores"]
    return next(float(one[pipe]) for one in cores if one["name"] == core)


@pytest.mark.parametrize(("dual", "share"), [(0, 1), (ROWS, 2), (COLUMNS, 2)])
@pytest.mark.parametrize(("kernel", "quant"), [("half_float", NO_QUANT), ("half_half", F322F16)])
def test_time_to_ub(
    runtime: Runtime, library: ctypes.CDLL, kernel: str, quant: int, dual: int, share: int
) -> None:
    """A start of 26 cycles and 128 bytes of results in each further one, to each AIV."""
    out = np.float16 if quant else np.float32
    results = Results(kernel, 128, 128, 32, dual=dual, quant=quant, out=out, times=4)
    with runtime.options(profile="on"):
        results.run(runtime, library)
    cycles = 26 + 128 * 128 * np.dtype(out).itemsize / 128 / share
    assert busy(runtime, "AIC 0", "fixpipe") == pytest.approx(4 * cycles)


def test_time_to_l1(runtime: Runtime, library: ctypes.CDLL) -> None:
    results = Results("to_l1", 32, 64, 128)
    operands = [model.to_nz(part).view(np.uint8) for part in (results.a, results.b.T.copy())]
    words = np.array([32, 64, 128, operands[0].size, operands[1].size, 0, 0, 0], np.int32)
    arrays: list[Array] = [*operands, np.zeros((32, 64), np.float32), words]
    with runtime.options(profile="on"):
        runtime.launch(library["to_l1"], arrays, outputs=[2], key=TWO)
    for core, operand in enumerate(operands):
        assert busy(runtime, f"AIV {core}", "mte3") == pytest.approx(26 + operand.size / 128)


NO_ORDER = "no flag between the two cores orders the two"
FAULTS = {
    "no_wait": (
        "cross-core-flag",
        r"AIC 0 sets flag 2 2 times with mode 4, and AIV 0 waits for it 0",
    ),
    "no_set": ("deadlock", r"flag 2 on AIV \d, which AIC 0 does not set \(mode 4"),
    "other_mode": ("deadlock", r"flag 2 on AIV \d, which AIC 0 does not set \(mode 4"),
    "other_aiv": ("deadlock", r"flag 2 on AIV 1, which AIC 0 does not set \(mode 4"),
    "set_by_other_pipe": ("race-read-after-write", "says nothing of FIX"),
    "read_before_wait": ("race-write-after-read", NO_ORDER),
    "no_answer": ("race-write-after-read", NO_ORDER),
    "covered": ("race-write-after-write", "Duplicate on this core writes them, and no flag"),
    "meeting_too_early": ("race-write-after-read", NO_ORDER),
    "wait_by_other_pipe": ("race-read-after-write", "Add on VECTOR reads them, Fixpipe"),
    "nobody_computed": ("undefined-read", r"come from another core's Fixpipe \(L0C to UB\)"),
    "past_ub": ("ub-out-of-bounds", "dst covers bytes"),
    "misaligned": ("ub-misaligned", "dst starts at UB byte 16"),
    "odd_row": ("value-range", "a row of Fixpipe .* has 48 bytes"),
    "odd_rows": ("value-range", "mSize of Fixpipe .* is 31, legal are multiples of 2"),
    "few_columns": ("value-range", "nSize of Fixpipe .* is 16, legal are multiples of 32"),
    "dual_columns": ("value-range", r"dualDstCtl 1 of Fixpipe .* with columns \(DN\)"),
    "dual_relu": ("value-range", "dualDstCtl 1 of Fixpipe .* with relu"),
    "dual_quant": ("value-range", "dualDstCtl 1 of Fixpipe .* with QF322F32_PRE"),
    "dual_reserved": ("value-range", r"dualDstCtl of Fixpipe .* is 3, legal are 0\.\.2"),
    "channel_split": ("value-range", "isChannelSplit of Fixpipe"),
    "reserved_id": ("cross-core-flag", "mode 4 of flag 12; kernels have 0..10"),
    "id_of_cube": ("cross-core-flag", r"mode 4 of flag 17; an AIV has 0\.\.10"),
    "id_too_large": ("cross-core-flag", r"mode 4 of flag 32; an AIC has 0\.\.10"),
    "many_sets": ("cross-core-flag", r"sets flag 5 \(mode 4\) for the 16th time"),
    "link_no_wait": ("undefined-read", "L1"),
    "link_behind_mte2": ("race-read-after-write", "says nothing of MTE3"),
    "link_past_tensor": (
        "ub-out-of-bounds",
        r"dst covers L1 \[0, 2176\); its tensor has \[0, 2048\)",
    ),
    "link_past_l1": ("ub-out-of-bounds", "L1 of the AIC 524288 bytes"),
    "link_misaligned": ("ub-misaligned", "dst starts at L1 byte 16"),
    "link_undefined": ("undefined-read", r"come from another core's DataCopy \(UB to L1\)"),
    "link_again": ("race-write-after-read", NO_ORDER),
    "link_into_l0": ("instruction-absent", "dst lies in L0A of the AIC, which DataCopy"),
    "link_by_vector": ("instruction-absent", "dst lies in L1 of the AIC, which Adds"),
    "link_from_gm": ("matmul-use", "no Matmul object is registered"),
    "link_no_length": ("undefined-read", "L1"),
    "link_short_rows": ("value-range", "dValue of DataCopy .* is 24 elements of 2 bytes"),
    "link_two_matrices": ("value-range", r"ndNum of DataCopy .* is 2, legal are 1\.\.1"),
}


@pytest.mark.plants_faults
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("name", FAULTS)
def test_mistake(runtime: Runtime, library: ctypes.CDLL, name: str, threads: str) -> None:
    kind, text = FAULTS[name]
    with runtime.options(threads=threads), pytest.raises(KernelError) as caught:
        rounds(runtime, library, name)
    said = str(caught.value)
    assert f"[{kind}]" in said and "links.cpp:" in said and re.search(text, said), said


@pytest.mark.plants_faults
def test_one_aiv_has_no_second(runtime: Runtime, library: ctypes.CDLL) -> None:
    with pytest.raises(
        KernelError, match="subBlockId 1, and each AI core of the launch has one AIV"
    ):
        rounds(runtime, library, "second_of_one", ONE)
    with pytest.raises(KernelError, match="mode 4 on AI[CV] 0 of a kernel of 1 AIC and 1 AIV"):
        rounds(runtime, library, "right", ONE)
    with pytest.raises(KernelError, match="DataCopyL1ToUB in a kernel that has not two AIVs"):
        rounds(runtime, library, "l1_to_ub_of_one", ONE)
