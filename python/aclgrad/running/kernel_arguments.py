# SPDX-License-Identifier: Apache-2.0
"""Arguments of a kernel alone, from the words of a command line: results, tiling data, values."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from aclgrad.common.files import reading
from aclgrad.reading.sources import SourcesError
from aclgrad.running.operand_words import parse_outputs
from aclgrad.spec import dtypes
from aclgrad.spec.dtypes import Array
from aclgrad.testing import npy
from aclgrad.testing.user_data import unambiguous

_MOST_TILING = 16 << 20
_TILING_TYPES = {
    **{f"{sign}{bits}": f"{sign}{bits // 8}" for sign in "iu" for bits in (8, 16, 32, 64)},
    "f32": "f4",
    "f64": "f8",
}


def parse_tiling(word: str) -> NDArray[np.uint8]:
    """Tiling data: a file, or ``u32:2048,4 f32:0.5``, each value aligned as in a C struct."""
    if not re.match(r"[a-z]\d+:", word):
        advice = "a file, or values such as 'u32:2048,4 f32:0.5'"
        with reading(Path(word), f"--tiling {word}", advice) as file:
            data_of_file = file.read(_MOST_TILING + 1)
        if len(data_of_file) > _MOST_TILING:
            raise SourcesError(f"--tiling {word}: more than {_MOST_TILING} bytes. Next: {advice}")
        return np.frombuffer(data_of_file, np.uint8)
    data = bytearray()
    for group in word.split():
        name, _, values = group.partition(":")
        if name not in _TILING_TYPES:
            raise SourcesError(
                f"--tiling {group}: unknown type {name}; it has {', '.join(_TILING_TYPES)}. Next:"
                " e.g. u32:2048,4"
            )
        kind = np.dtype(_TILING_TYPES[name])
        for value in values.split(","):
            try:
                one = np.array(float(value) if name[0] == "f" else int(value, 0)).astype(kind)
                if name[0] != "f" and int(one) != int(value, 0):
                    raise ValueError
            except (ValueError, OverflowError):
                raise SourcesError(
                    f"--tiling {group}: {value!r} is no {name}. Next: e.g. {name}:1"
                ) from None
            data += bytes(-len(data) % kind.itemsize)
            data += one.tobytes()
    return np.frombuffer(bytes(data), np.uint8)


@dataclass(frozen=True)
class Output:
    """A result: what it is, the argument it is of, and what it holds before the launch."""

    shape: tuple[int, ...]
    dtype: dtypes.DType
    name: str = ""
    initial: Array | None = None

    @property
    def nbytes(self) -> int:
        """The size of the memory."""
        return self.dtype.nbytes(math.prod(self.shape))


def output_specs(words: Sequence[str], params: Sequence[str] = ()) -> list[Output]:
    """``float32[8,2048]`` or ``8x2048:fp32`` -> shapes and dtypes. ``NAME:`` before it says which
    argument it is, ``=0`` or ``=FILE`` behind it what the kernel finds there.
    """
    found: list[Output] = []
    for word in words:
        rest, given, initial = word.partition("=")
        name, colon, spec = rest.partition(":")
        if not colon or name not in params:
            name, spec = "", rest
        if given and not spec:
            array = npy.load(Path(initial), None)
            found.append(Output(array.shape, dtypes.of_array(array.dtype), name, array))
            continue
        for shape, dtype in _shapes(word, spec):
            found.append(Output(shape, dtype, name, _initial(word, initial, shape, dtype)))
    return found


def _shapes(word: str, spec: str) -> list[tuple[tuple[int, ...], dtypes.DType]]:
    bracketed = re.fullmatch(r"(\w+)\[([\d,\s]*)\]", spec)
    if bracketed:
        dims = tuple(int(dim) for dim in bracketed[2].split(",") if dim.strip())
        return [(dims, dtypes.parse(bracketed[1]))]
    found = []
    for shape, dtype in parse_outputs([spec]):
        if dtype is None:
            raise SourcesError(
                f"--outputs {word}: its dtype is missing, and a kernel alone does not tell it."
                " Next: e.g. 'float32[8,2048]'"
            )
        found.append((shape, dtype))
    return found


def _initial(word: str, text: str, shape: tuple[int, ...], dtype: dtypes.DType) -> Array | None:
    if not text:
        return None
    if text == "0":
        return np.zeros(shape, dtype.numpy)
    array = npy.load(Path(text), dtype)
    if array.shape != shape or array.dtype != dtype.numpy:
        raise SourcesError(
            f"--outputs {word}: {text} has {array.dtype.name} {list(array.shape)}, want"
            f" {dtype.name} {list(shape)}. Next: --outputs ={text}"
        )
    return array


@dataclass(frozen=True)
class Parameter:
    """A parameter of an entry, as the compiler sees it."""

    name: str
    kind: str  # p: an address; b, i, u, f, h, g: a number; s: a struct
    size: int

    @property
    def title(self) -> str:
        """For messages: numRows, a uint32."""
        names = {"b": "bool", "h": "half", "g": "bfloat16_t", "s": f"struct of {self.size} bytes"}
        words = {"i": "int", "u": "uint", "f": "float"}
        return f"{self.name}, a " + (names.get(self.kind) or f"{words[self.kind]}{8 * self.size}")

    def encode(self, text: str) -> bytes:
        """A word of the command line as the kernel gets it."""
        if self.kind == "s":
            data = parse_tiling(text).tobytes()
            if len(data) > self.size:
                raise SourcesError(
                    f"{self.title}: got {len(data)} bytes. Next: values that fit its members"
                )
            return data.ljust(self.size, b"\0")
        numpy = {"b": np.dtype("?"), "h": np.dtype("f2"), "g": np.dtype(ml_dtypes.bfloat16)}
        kind = numpy.get(self.kind) or np.dtype(f"{self.kind}{self.size}")
        try:
            if self.kind in "iu":
                value = np.array(int(text, 0))
                if int(value.astype(kind)) != int(value):
                    raise ValueError
            elif self.kind == "b":
                value = np.array(["false", "0", "true", "1"].index(text.lower()) // 2)
            else:
                value = np.array(float(text))
        except (ValueError, OverflowError):
            example = "true" if self.kind == "b" else "1"
            raise SourcesError(
                f"--attr {self.name}={text}: want {self.title}. Next: e.g. {self.name}={example}"
            ) from None
        return value.astype(kind).tobytes()


def values_of(
    entry: str, params: Sequence[Parameter], words: Sequence[str], tiling: str | None
) -> Mapping[str, bytes]:
    """The arguments that are no addresses: NAME=VALUE words; a struct may be --tiling."""
    wanted = {param.name: param for param in params if param.kind != "p"}
    given = dict(word.partition("=")[::2] for word in unambiguous(words))
    structs = [param.name for param in wanted.values() if param.kind == "s"]
    if tiling is not None and len(structs) == 1:
        given.setdefault(structs[0], tiling)
    for name in given:
        if name not in wanted:
            raise SourcesError(
                f"--attr {name}={given[name]}: {entry} has no attributes of that name, its"
                f" arguments that are values are {', '.join(wanted) or '(none)'}. Next: "
                + (f"--attr {next(iter(wanted))}=VALUE" if wanted else "--tiling")
            )
    for name, param in wanted.items():
        if name not in given:
            raise SourcesError(
                f"{entry}: argument {param.title}, is passed by value and is missing. Next: --attr"
                f" {name}=" + ("'u32:1,2 f32:0.5'" if param.kind == "s" else "VALUE")
            )
    return {name: wanted[name].encode(text) for name, text in given.items()}
