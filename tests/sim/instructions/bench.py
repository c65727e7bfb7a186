# SPDX-License-Identifier: Apache-2.0
"""Compiles the instruction test kernels, launches them and models how an instruction walks UB."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from aclgrad.spec.soc import family
from compile_once import compile_once
from raw_simulator import TO_DEVICE, TO_HOST, RawSimulator

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "simulator" / "src"))

import instruction_table  # noqa: E402

AREA = 32768
BLOCK = 32

Array = npt.NDArray[Any]

# Numbers as in bench.h.
DTYPES: list[npt.DTypeLike] = [
    np.float32,
    np.float16,
    ml_dtypes.bfloat16,
    np.int8,
    np.uint8,
    np.int16,
    np.uint16,
    np.int32,
    np.uint32,
    np.int64,
]
FLOAT, HALF, BF16, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64 = range(10)
COUNT, MASK, BITS, PRESET_MASK, PRESET_BITS, COUNTER_MASK, COUNTER_PRESET = range(7)
FORMS = [COUNT, MASK, BITS, PRESET_MASK, PRESET_BITS, COUNTER_MASK, COUNTER_PRESET]


def operations(form: str) -> dict[str, int]:
    """Instructions of a form of instructions.def, by the numbers that elementwise.cpp takes."""
    rows = [row for row in instruction_table.rows() if row.form in (form, f"{form}_VARIANT")]
    return {row.name: number for number, row in enumerate(rows)}


OF_TWO, OF_ONE, OF_SCALAR = map(operations, ("BINARY", "UNARY", "SCALAR"))


def width_of(dtype: int) -> int:
    """Bytes per element."""
    return np.dtype(DTYPES[dtype]).itemsize


class KernelError(Exception):
    """A launch failed; the text is the simulator's report."""

    def __init__(self, code: int, text: str, results: Sequence[Array]) -> None:
        """Keeps the error code next to the text, and what the outputs hold."""
        super().__init__(text)
        self.code = code
        self.results = results


def compile_kernel(
    toolkit: Path,
    folder: Path,
    name: str,
    *flags: str,
    soc: str = "ascend910b",
    text: str | None = None,
) -> Path:
    """Builds a kernel library of <name>.cpp in this folder, or of a file with this text."""
    source = HERE / f"{name}.cpp"
    if text is not None:
        source = folder / f"{name}.cpp"
        source.write_text(text)
    arch = family(soc)
    command = ["g++", "-std=c++17", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror"]
    command += [f"-D__NPU_ARCH__={arch.npu_arch}", f"-D__CCE_AICORE__={arch.cce_aicore}"]
    command += [f"-I{toolkit}/include", str(source), *(flags or ("-O1", "-g"))]
    command += [f"-L{toolkit}/lib64", "-lascendcl", f"-Wl,-rpath,{toolkit}/lib64"]
    return compile_once(folder, f"{name}{''.join(flags)}.so", command)


class Runtime(RawSimulator):
    """Runs kernels on a few device blocks that live as long as it."""

    def __init__(self, toolkit: Path) -> None:
        """Initialises the runtime."""
        super().__init__(toolkit)
        self.blocks: dict[int, tuple[int, int]] = {}
        self.stream = self.new_stream()

    def _block(self, slot: int, size: int) -> int:
        """A device block of at least this size."""
        address, have = self.blocks.get(slot, (0, 0))
        if have < size:
            if address:
                self.free(address)
            address = self.malloc(size)
            self.blocks[slot] = (address, size)
        return address

    def launch(
        self,
        entry: Any,
        arrays: Sequence[Array],
        outputs: Sequence[int] = (0,),
        block_dim: int = 1,
        key: int = 0,
    ) -> list[Array]:
        """Copies the arrays to the device, runs the kernel, returns those listed in outputs."""
        blocks = []
        for slot, array in enumerate(arrays):
            address = self._block(slot, max(array.nbytes, 1))
            self.copy(address, array.ctypes.data, array.nbytes, TO_DEVICE)
            blocks.append((address, array.nbytes))
        self.enqueue("kernel", entry, self.stream, blocks, block_dim, key)
        code = self.lib.aclrtSynchronizeStream(self.stream)
        text = self.message() if code != 0 else ""
        if code != 0:
            # A stream that a fault has stopped takes no more work; other users keep theirs.
            self.lib.aclrtDestroyStream(self.stream)
            self.stream = self.new_stream()
        results = []
        for index in outputs:
            out = np.empty_like(arrays[index])
            self.copy(out.ctypes.data, blocks[index][0], out.nbytes, TO_HOST)
            results.append(out)
        if code != 0:
            raise KernelError(code, text, results)
        return results


@dataclass(frozen=True)
class Call:
    """One call of an instruction, in bench.h's terms."""

    op: int = 0
    form: int = COUNT
    dtype: int = FLOAT
    src_dtype: int = FLOAT
    mask: tuple[int, int] = (0, 0)
    repeat: int = 1
    blk: tuple[int, int, int] = (1, 1, 1)
    rep: tuple[int, int, int] = (8, 8, 8)
    mode: int = 0
    scalar: Any = 0
    scalar_dtype: npt.DTypeLike = np.float32
    count: int = 0
    extra: tuple[int, ...] = field(default=(0, 0, 0, 0, 0))

    def pack(self) -> Array:
        """The bytes of the C struct."""
        scalar = np.array([self.scalar]).astype(self.scalar_dtype).tobytes().ljust(8, b"\0")
        extra = (*self.extra, 0, 0, 0, 0, 0)[:5]
        data = struct.pack(
            "<4i2Qi3i3ii8si5i",
            self.op,
            self.form,
            self.dtype,
            self.src_dtype,
            *self.mask,
            self.repeat,
            *self.blk,
            *self.rep,
            self.mode,
            scalar,
            self.count,
            *extra,
        )
        return np.frombuffer(data, np.uint8).copy()


def repeats(call: Call, lane_width: int) -> list[Array]:
    """The working lanes of each repeat, by the documented meaning of every form."""
    lanes = 256 // lane_width
    everything = np.arange(lanes)
    if call.form in (COUNT, COUNTER_MASK, COUNTER_PRESET):
        total = call.count if call.form == COUNT else call.mask[0]
        return [everything[: min(lanes, total - r)] for r in range(0, total, lanes)]
    if call.form in (MASK, PRESET_MASK):
        working = everything[: min(call.mask[0], lanes)]
    else:
        bits = call.mask[0] | call.mask[1] << 64
        working = everything[[bool(bits >> int(lane) & 1) for lane in everything]]
    return [working] * call.repeat if len(working) else []


def walk(call: Call, slot: int, width: int, lane_width: int) -> list[Array]:
    """Element indices that each repeat touches in one operand: 0 dst, 1 src0, 2 src1."""
    lanes = 256 // lane_width
    per_block = BLOCK // width
    result = []
    for r, working in enumerate(repeats(call, lane_width)):
        if call.form == COUNT:
            result.append(r * lanes + working)
            continue
        block, inside = np.divmod(working, per_block)
        start = r * call.rep[slot] + block * call.blk[slot]
        result.append(start * per_block + inside)
    return result


def flat(parts: list[Array]) -> Array:
    """One index array; a reduction or a strided call has few repeats."""
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def area(values: Array) -> Array:
    """Values at the start of an area of UB size, the rest a byte pattern."""
    raw = np.full(AREA, 0xA5, np.uint8)
    data = np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8)
    raw[: data.size] = data
    return raw


def random_values(rng: np.random.Generator, dtype: int, size: int) -> Array:
    """Values over the whole range of a type, special ones among them."""
    kind = np.dtype(DTYPES[dtype])
    if dtype not in (FLOAT, HALF, BF16):
        info = np.iinfo(kind)
        values = rng.integers(info.min, info.max, size, dtype=kind, endpoint=True)
        values[:4] = [info.min, info.max, 0, 1]
        return values
    tiny = {FLOAT: 1e-40, HALF: 3e-7, BF16: 1e-39}[dtype]
    large = {FLOAT: 3.4028235e38, HALF: 65504.0, BF16: 3.3895314e38}[dtype]
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, tiny, -tiny, large, -large, 1.0, -1.0]
    values = rng.normal(0, 8, size).astype(kind)
    where = rng.permutation(size)[: size // 3]
    values[where] = np.array(rng.choice(special, where.size)).astype(kind)
    return values


def source_of(dtype: int, seed: int) -> Array:
    """An area of random values."""
    return random_values(np.random.default_rng(seed), dtype, AREA // width_of(dtype))


def same_bits(got: Array, want: Array, dtype: int) -> None:
    """Equal bit for bit, except that one NaN is as good as another."""
    kind = np.dtype(DTYPES[dtype])
    a, b = got.view(kind), want.view(kind)
    equal = a.view(f"u{kind.itemsize}") == b.view(f"u{kind.itemsize}")
    if dtype in (FLOAT, HALF, BF16):
        equal |= np.isnan(a.astype(np.float32)) & np.isnan(b.astype(np.float32))
    if not equal.all():
        where = int(np.argmin(equal))
        raise AssertionError(
            f"{(~equal).sum()} of {equal.size} differ, first at {where}: "
            f"{a[where]!r} ({a[where : where + 1].tobytes().hex()}) want {b[where]!r}"
        )


class Bench:
    """Runs calls of the compiled kernels."""

    def __init__(self, runtime: Runtime, libraries: dict[str, ctypes.CDLL]) -> None:
        """libraries: kernel source name -> loaded library."""
        self.runtime = runtime
        self.libraries = libraries

    def run(self, kernel: str, call: Call, *areas: Array, finding: str = "") -> Array:
        """dst, src0, src1 as areas; returns dst. The launch must have the finding, if one is
        named.
        """
        library, _, name = kernel.partition(":")
        full = [*areas, *(np.zeros(AREA, np.uint8) for _ in range(3 - len(areas)))]
        entry = self.libraries[library][name]
        if not finding:
            return self.runtime.launch(entry, [*full, call.pack()])[0]
        try:
            self.runtime.launch(entry, [*full, call.pack()])
        except KernelError as failed:
            assert f"[{finding}]" in str(failed), failed
            return failed.results[0]
        raise AssertionError(f"no finding {finding}")


def with_form(call: Call, form: int, lanes: int) -> Call:
    """The same call in another form, with a mask and strides that show every mistake."""
    if form == COUNT:
        return replace(call, form=form, count=lanes * 3 + 5)
    if form in (MASK, PRESET_MASK):
        return replace(call, form=form, mask=(lanes - 3, 0), repeat=3)
    if form in (BITS, PRESET_BITS):
        bits = 0x8000_0000_F0F0_1234_9234_5678_ABCD_EF01 & ((1 << lanes) - 1)
        return replace(call, form=form, mask=(bits & (1 << 64) - 1, bits >> 64), repeat=3)
    return replace(call, form=form, mask=(lanes * 2 + 7, 0), repeat=1)
