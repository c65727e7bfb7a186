# SPDX-License-Identifier: Apache-2.0
"""Headers of .npy files that lie, by themselves and by chance: an error that names the file, got,
wanted and the next step; no traceback, no allocation for what is claimed.
"""

from __future__ import annotations

import io
import os
import pickle
import random
import resource
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from aclgrad.common.files import FileError
from aclgrad.spec import dtypes
from aclgrad.testing import npy


def header(
    shape: str = "(2, 3)",
    descr: str = "'<f4'",
    fortran: str = "False",
    version: tuple[int, int] = (1, 0),
    length: int | None = None,
    text: str | None = None,
) -> bytes:
    """A header that says what it likes."""
    if text is None:
        text = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n"
    data = text.encode("latin-1" if version < (3, 0) else "utf-8")
    size = len(data) if length is None else length
    return (
        b"\x93NUMPY" + bytes(version) + size.to_bytes(2 if version[0] == 1 else 4, "little") + data
    )


def refused(path: Path, match: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileError, match=match) as caught:
        npy.load(path)
    text = str(caught.value)
    assert text.startswith(str(path)) and "Next: " in text and len(text) < 600
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


class Trap:
    """Leaves a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


BODY = bytes(24)
CASES = {
    "empty": (b"", "starts with"),
    "other magic": (b"\x93NUMPZ" + header()[6:] + BODY, "starts with"),
    "magic alone": (b"\x93NUMPY", "no version"),
    "version 9": (header(version=(9, 0)) + BODY, "format 9.0"),
    "length alone": (b"\x93NUMPY\x01\x00\x10", "header"),
    "cut in the header": (header()[:30], "within its header"),
    "cut in the data": (header() + BODY[:-1], "has 23 behind"),
    "no data": (header(), "has 0 behind"),
    "10^18 elements": (header("(1000000000000000000,)") + BODY, "4,000,000,000,000,000,000 bytes"),
    "10^36 elements": (header("(10**18, 10**18)") + BODY, "header is"),
    "two huge dims": (header(f"({10**18}, {10**18})") + BODY, "takes"),
    "dim past 64 bits": (header(f"({2**64},)") + BODY, "from 0 to"),
    "dim of 4000 digits": (header("(" + "9" * 3900 + ",)") + BODY, "from 0 to|header is"),
    "huge with a zero": (header(f"({2**62}, 0, {2**62})"), "dims that fit"),
    "negative": (header("(-1, 6)") + BODY, "from 0 to"),
    "negative twice": (header("(-2, -3)") + BODY, "from 0 to"),
    "bool": (header("(True, 6)") + BODY, "whole numbers"),
    "float": (header("(2.0, 3)") + BODY, "whole numbers"),
    "list": (header("[2, 3]") + BODY, "whole numbers"),
    "int": (header("6") + BODY, "whole numbers"),
    "100 dims": (header("(" + "1," * 100 + ")") + BODY, "at most 32 dims"),
    "fortran 1": (header(fortran="1") + BODY, "fortran_order"),
    "objects": (header(descr="'|O'") + BODY, "pickled"),
    "text": (header(descr="'<U6'") + BODY, "plain numbers"),
    "dates": (header(descr="'<M8[s]'") + BODY, "plain numbers"),
    "record": (header(descr="[('a', '<f4')]") + BODY, "plain numbers"),
    "record as text": (header(descr="'f4,f4'") + BODY, "plain numbers"),
    "subarray": (header(descr="'(2,)f4'") + BODY, "plain numbers"),
    "no bytes": (header("(10,)", descr="'V0'"), "plain numbers"),
    "no dtype": (header(descr="'<q9'") + BODY, "plain numbers"),
    "no dict": (header(text="(1, 2)\n") + BODY, "header is"),
    "more keys": (
        header(text="{'descr': '<f4', 'fortran_order': 0, 'shape': (), 'x': 1}"),
        "header",
    ),
    "call": (header("__import__('os').mkdir('trap')") + BODY, "header is"),
    "nested": (header("(" * 1000 + ")" * 1000) + BODY, "header is"),
    "minus": (header("-" * 3000 + "1") + BODY, "header is|whole"),
    "nul": (header(text="\0" * 100) + BODY, "header is"),
    "no text": (header(text="\xff" * 100)[:8] + b"\x64\0" + b"\xff" * 100, "header is"),
    "header of 4 GB": (header(version=(2, 0), length=2**32 - 1) + BODY, "claims 4,294,967,295"),
    "header of 64 KB": (header(length=65535) + BODY, "claims 65,535"),
    "archive": (b"PK\x03\x04" + BODY, ".npz archive"),
}


@pytest.mark.parametrize("name", CASES)
def test_lies_are_refused(name: str, tmp_path: Path) -> None:
    data, match = CASES[name]
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    refused(path, match)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    trap = Trap(tmp_path / "trap")
    plain = tmp_path / "x.npy"
    plain.write_bytes(pickle.dumps(trap))
    refused(plain, "starts with")
    np.save(plain, np.array([trap], object), allow_pickle=True)
    refused(plain, "never read")
    assert not (tmp_path / "trap").exists()


def test_sparse_file_that_is_as_long_as_it_claims(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    count = 1 << 41
    path.write_bytes(header(f"({count},)"))
    os.truncate(path, len(header(f"({count},)")) + 4 * count)
    refused(path, "MB of memory wanted")


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (2, 0, 3), (1,) * 32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_good_files(
    order: str, shape: tuple[int, ...], version: tuple[int, int], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    for kind in ("<f4", ">f4", "<f2", "|b1", "<i8", "|u1"):
        array = np.asarray(rng.integers(0, 2, shape).astype(kind), order=order)  # type: ignore[call-overload]
        made = io.BytesIO()
        np.lib.format.write_array(made, array, version)
        path = tmp_path / "x.npy"
        path.write_bytes(made.getvalue() + b"bytes of something else")
        got = npy.load(path)
        assert got.dtype == array.dtype.newbyteorder("=") and got.dtype.isnative
        assert got.shape == shape and (got == array).all()
        assert not got.size or got.flags.f_contiguous == array.flags.f_contiguous


def test_bfloat16_needs_its_name(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.arange(6).astype(ml_dtypes.bfloat16).reshape(2, 3))
    with pytest.raises(FileError, match="--dtype bf16"):
        npy.load(path)
    with pytest.raises(FileError, match="--dtype bf16"):
        npy.load(path, dtypes.parse("fp32"))
    assert npy.load(path, dtypes.parse("bf16")).dtype == ml_dtypes.bfloat16


def test_damaged_files(tmp_path: Path) -> None:
    """Bytes changed by chance: an array or one error, and no more memory than the file has."""
    good = io.BytesIO()
    np.save(good, np.arange(12, dtype=np.float32).reshape(3, 4))
    path = tmp_path / "x.npy"
    rng = random.Random(0)
    refusals = 0
    for _ in range(300):
        data = bytearray(good.getvalue())
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(90)] = rng.choice(b"0123456789(),-'<>|{}:fiOVU \0\xff")
        path.write_bytes(data[: rng.choice((len(data), rng.randrange(len(data))))])
        try:
            assert npy.load(path).nbytes <= len(data)
        except FileError as error:
            assert "Next: " in str(error)
            refusals += 1
    assert refusals > 150
