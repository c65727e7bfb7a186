# SPDX-License-Identifier: Apache-2.0
"""Tensors in FRACTAL_NZ: where their elements are, and that operators see the tensor, not that."""

from __future__ import annotations

import copy
import ctypes
import io
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch_npu

from aclgrad_torch_npu import simulator
from aclgrad_torch_npu.fallback import counts
from npu_programs import Program

NPU: Any = torch.npu  # type: ignore[attr-defined,unused-ignore]
ND, NZ = 2, 29
COLUMNS = {
    torch.int8: 32, torch.uint8: 32, torch.float16: 16, torch.bfloat16: 16, torch.float32: 16,
    torch.int32: 16,
}  # fmt: skip


@pytest.fixture(autouse=True)
def allowed() -> Iterator[None]:
    """Private formats, which are not allowed unless a program says so."""
    NPU.config.allow_internal_format = True
    yield
    NPU.config.allow_internal_format = False


def memory(x: torch.Tensor) -> np.ndarray[Any, Any]:
    """The bytes of a tensor's storage."""
    NPU.synchronize()
    storage = x.untyped_storage()
    view = simulator.host_view(storage.data_ptr(), storage.nbytes(), False)
    return np.frombuffer(ctypes.string_at(view, storage.nbytes()), np.uint8)


def in_blocks(x: torch.Tensor, columns: int) -> np.ndarray[Any, Any]:
    """The bytes of FRACTAL_NZ, element by element: block column, block row, row, column."""
    plain = x.contiguous().reshape(-1, *x.shape[-2:])
    values = plain.view(torch.uint8).numpy().reshape(*plain.shape, x.element_size())
    batches, rows, wide = plain.shape
    high, across = -(-rows // 16), -(-wide // columns)
    made = np.zeros((batches, across, high, 16, columns, x.element_size()), np.uint8)
    for row in range(rows):
        for column in range(wide):
            place = (column // columns, row // 16, row % 16, column % columns)
            made[(slice(None), *place)] = values[:, row, column]
    return made.reshape(-1)


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(len(shape))
    return torch.randint(-100, 100, shape, generator=generator).to(dtype)


def same(got: Any, want: Any) -> None:
    torch.testing.assert_close(got.cpu(), want, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "shape", [(40, 50), (16, 32), (1, 3), (3, 2, 17, 33), (2, 32, 64)], ids=str
)
@pytest.mark.parametrize("dtype", COLUMNS, ids=str)
def test_the_layout_and_back(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    x = numbers(*shape, dtype=dtype)
    before = counts()
    y = torch_npu.npu_format_cast(x.npu(), NZ)
    assert torch_npu.get_npu_format(y) == NZ
    assert (y.shape, y.stride(), y.dtype) == (x.shape, x.stride(), dtype)
    np.testing.assert_array_equal(memory(y), in_blocks(x, COLUMNS[dtype]))
    assert torch.equal(y.cpu(), x)
    back = torch_npu.npu_format_cast(y, ND)
    assert torch_npu.get_npu_format(back) in (0, ND)  # of four dims it is NCHW
    assert torch.equal(back.cpu(), x)
    assert counts() == before  # nothing of this is a fallback


def test_in_place_and_by_another_tensor() -> None:
    x = numbers(20, 40)
    y = x.npu()
    assert torch_npu.npu_format_cast_(y, NZ) is y
    np.testing.assert_array_equal(memory(y), in_blocks(x, 16))
    z = torch_npu.npu_format_cast(x.npu() * 2, y)
    np.testing.assert_array_equal(memory(z), in_blocks(x * 2, 16))
    torch_npu.npu_format_cast_(y, ND)
    assert (torch_npu.get_npu_format(y), torch.equal(y.cpu(), x)) == (ND, True)


@pytest.mark.parametrize("change", [lambda x: x.t(), lambda x: x[3:7], lambda x: x[:, 5:30:3]])
def test_a_view_is_cast(change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = numbers(20, 40)
    y = torch_npu.npu_format_cast(change(x.npu()), NZ)
    assert torch_npu.get_npu_format(y) == NZ
    assert torch.equal(y.cpu(), change(x))


def test_where_private_formats_are_not_allowed() -> None:
    """Torch_npu says so once, and the tensor stays ND. One that is NZ already remains it."""
    x = numbers(20, 40)
    old = torch_npu.npu_format_cast(x.npu(), NZ)
    NPU.config.allow_internal_format = False
    y = torch_npu.npu_format_cast(x.npu(), NZ)
    assert (torch_npu.get_npu_format(y), torch.equal(y.cpu(), x)) == (ND, True)
    assert memory(y).tobytes() == x.numpy().tobytes()
    same(old.add_(1), x + 1)
    np.testing.assert_array_equal(memory(old), in_blocks(x + 1, 16))


def test_a_tensor_without_rows_stays_nd() -> None:
    y = torch_npu.npu_format_cast(torch.arange(7.0).npu(), NZ)
    assert torch_npu.get_npu_format(y) == ND
    assert torch.equal(y.cpu(), torch.arange(7.0))


def reloaded(x: torch.Tensor) -> Any:
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file)


READS: dict[str, Callable[..., Any]] = {
    "clone": lambda x, y: x.clone(),
    "deepcopy": lambda x, y: copy.deepcopy(x),
    "save": lambda x, y: reloaded(x),
    "to": lambda x, y: x.to(torch.float16).float(),
    "contiguous": lambda x, y: x.t().contiguous(),
    "rows": lambda x, y: x[3:5].clone(),
    "columns": lambda x, y: x[:, 3:5].clone(),
    "row": lambda x, y: x[3],
    "reshape": lambda x, y: x.reshape(-1, 4) + 0,
    "add": lambda x, y: x + y,
    "add a number": lambda x, y: 2 * x - 1,
    "compare": lambda x, y: x == y,
    "where": lambda x, y: torch.where(x > 0, x, y),
    "matmul": lambda x, y: x @ y.t(),
    "linear": lambda x, y: torch.nn.functional.linear(x, y),
    "sum": lambda x, y: x.sum(),
    "softmax": lambda x, y: x.softmax(-1),
    "cat": lambda x, y: torch.cat([x, y]),
    "stack": lambda x, y: torch.stack([x, y]),
    "index": lambda x, y: x[torch.tensor([3, 1]).to(x.device)],
    "zeros_like": lambda x, y: torch.zeros_like(x),
    "out": lambda x, y: torch.add(x, 1, out=x.clone()),
    "foreach": lambda x, y: torch._foreach_add([x, y], 1)[1],
}


@pytest.mark.parametrize("shape", [(20, 35), (32, 32), (48, 160)], ids=str)
@pytest.mark.parametrize("name", READS)
def test_what_reads_it(name: str, shape: tuple[int, int]) -> None:
    """Every mixture of formats; after that, the same operator with ND alone."""
    x, y = numbers(*shape), numbers(*shape) * 2 + 1
    x[0, 0] = y[0, 0]
    want = READS[name](x, y)
    blocks, more = (torch_npu.npu_format_cast(each.npu(), NZ) for each in (x, y))
    for first, second in ((blocks, y.npu()), (x.npu(), more), (blocks, more), (x.npu(), y.npu())):
        same(READS[name](first, second), want)
    np.testing.assert_array_equal(memory(blocks), in_blocks(x, 16))


WRITES: dict[str, Callable[..., Any]] = {
    "add_": lambda x, y: x.add_(y),
    "mul_": lambda x, y: x.mul_(3),
    "copy_": lambda x, y: x.copy_(y),
    "copy_ of the host": lambda x, y: x.copy_(y.cpu()),
    "copy_ of another dtype": lambda x, y: x.copy_(y.to(torch.float16)),
    "copy_ into a view": lambda x, y: x[3:9, 2:30].copy_(y[:6, 1:29]),
    "copy_ into a transposed": lambda x, y: x.t().copy_(y.t()),
    "zero_": lambda x, y: x.zero_(),
    "fill_": lambda x, y: x.fill_(2.5),
    "rows": lambda x, y: x[3:5].add_(1),
    "a column": lambda x, y: x.__setitem__((slice(None), 1), 7),
    "out": lambda x, y: torch.mul(y, 2, out=x),
    "foreach of two views": lambda x, y: torch._foreach_add_([x[:3], x[5:]], 1),
    "a view and its tensor": lambda x, y: x[:2].copy_(x[2:4]),
    "index_put_": lambda x, y: x.index_put_((torch.tensor([3, 1]).to(x.device),), y[:2]),
    "masked_fill_": lambda x, y: x.masked_fill_(y > 0, 9),
    "set to a row": lambda x, y: x.__setitem__(slice(None), y[1]),
}


@pytest.mark.parametrize("shape", [(20, 35), (32, 32)], ids=str)
@pytest.mark.parametrize("name", WRITES)
def test_what_writes_into_it(name: str, shape: tuple[int, int]) -> None:
    x, y = numbers(*shape), numbers(*shape) * 2 + 1
    blocks = torch_npu.npu_format_cast(x.npu(), NZ)
    WRITES[name](blocks, y.npu())
    WRITES[name](x, y)
    assert torch_npu.get_npu_format(blocks) == NZ
    same(blocks, x)
    np.testing.assert_array_equal(memory(blocks), in_blocks(x, 16))


def test_print_and_lists() -> None:
    x = numbers(3, 4)
    y = torch_npu.npu_format_cast(x.npu(), NZ)
    assert str(x)[7:-1] in str(y)
    assert y.tolist() == x.tolist()


def test_a_weight_learns() -> None:
    """Forward, backward and a step of an optimizer, against the same in ND."""
    weights = []
    for form in (ND, NZ):
        weight = torch.nn.Parameter(torch_npu.npu_format_cast(numbers(20, 35).npu() / 100, form))
        optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
        for _ in range(2):
            optimizer.zero_grad()
            torch.nn.functional.linear(numbers(4, 35).npu() / 50, weight).pow(2).sum().backward()
            optimizer.step()
        assert torch_npu.get_npu_format(weight) == form
        weights.append(weight.detach().cpu())
    same(weights[1], weights[0])
    assert not torch.equal(weights[0], numbers(20, 35) / 100)


@pytest.mark.parametrize(
    ("form", "name", "shape"),
    [
        (3, "NC1HWC0", (4, 5)), (3, "NC1HWC0", (2, 3, 4, 5)), (4, "FRACTAL_Z", (2, 3, 4, 5)),
        (32, "NDC1HWC0", (2, 3, 4, 5, 6)), (33, "FRACTAL_Z_3D", (2, 3, 4, 5, 6)),
    ],
)  # fmt: skip
def test_other_private_formats_are_named(form: int, name: str, shape: tuple[int, ...]) -> None:
    x = numbers(*shape).npu()
    with pytest.raises(RuntimeError, match=f"to {name} is not simulated: .* FRACTAL_NZ is"):
        torch_npu.npu_format_cast(x, form)
    empty = torch_npu.empty_with_format(shape, dtype=x.dtype, device="npu", acl_format=form)
    for call in (lambda: empty + 1, empty.cpu, lambda: empty.add_(1)):
        with pytest.raises(RuntimeError, match=f"from {name} to .* is not simulated"):
            call()


def test_a_launched_kernel_sees_the_blocks(tmp_path: Path) -> None:
    source = Path(__file__).parent / "launched" / "copies.asc"
    library = tmp_path / "libcopies.so"
    ascc = Path(os.environ["ASCEND_HOME_PATH"]) / "bin" / "ascc"
    words = ("--npu-arch=dav-2201", "--shared", "-fPIC", str(source), "-o", str(library))
    subprocess.run([ascc, *words], check=True)
    launch = ctypes.CDLL(str(library)).launch_copies
    launch.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_uint32]
    x = numbers(20, 40)
    weight = torch_npu.npu_format_cast(x.npu(), NZ)
    seen = torch.zeros(3 * 2 * 16 * 16).npu()
    stream: Any = NPU.current_stream()
    launch(stream.npu_stream, weight.data_ptr(), seen.data_ptr(), seen.numel())
    assert seen.cpu().numpy().tobytes() == in_blocks(x, 16).tobytes()
    # And it may write them.
    back = torch_npu.npu_format_cast(torch.zeros(20, 40).npu(), NZ)
    launch(stream.npu_stream, seen.data_ptr(), back.data_ptr(), seen.numel())
    assert torch.equal((back + 0).cpu(), x)


FUNCTION = """
#include <cstdio>
#include <initializer_list>
#include "aclnn/acl_meta.h"

extern "C" aclnnStatus aclnnAscendQuantV3GetWorkspaceSize(
    const aclTensor* x, const aclTensor*, const aclTensor*, bool, const char*, int32_t, int32_t,
    aclTensor* y, uint64_t* workspaceSize, aclOpExecutor** executor) {
  for (const aclTensor* tensor : {x, static_cast<const aclTensor*>(y)}) {
    aclFormat format;
    int64_t* dims;
    uint64_t rank;
    aclGetFormat(tensor, &format);
    std::printf("format %d view", static_cast<int>(format));
    aclGetViewShape(tensor, &dims, &rank);
    for (uint64_t i = 0; i < rank; ++i) std::printf(" %ld", static_cast<long>(dims[i]));
    std::printf(" storage");
    aclGetStorageShape(tensor, &dims, &rank);
    for (uint64_t i = 0; i < rank; ++i) std::printf(" %ld", static_cast<long>(dims[i]));
    std::printf("\\n");
  }
  std::fflush(stdout);
  return 161002;
}
extern "C" aclnnStatus aclnnAscendQuantV3(void*, uint64_t, aclOpExecutor*, void*) { return 161002; }
"""

ASK = """
import torch, torch_npu
torch.npu.config.allow_internal_format = True
x = torch_npu.npu_format_cast((torch.arange(4096) % 14 - 7.0).reshape(2, 32, 64).npu(), 29)
try:
    torch_npu.npu_quantize(x, torch.ones(1).npu(), None, torch.quint4x2, -1, False)
except RuntimeError as error:
    print("aclnnAscendQuantV3 failed, error code is 161002" in str(error))
"""


def test_a_function_of_a_package_sees_format_and_storage(program: Program, tmp_path: Path) -> None:
    library = tmp_path / "op_api" / "lib" / "libcust_opapi.so"
    library.parent.mkdir(parents=True)
    source = tmp_path / "function.cpp"
    source.write_text(FUNCTION)
    toolkit = os.environ["ASCEND_HOME_PATH"]
    words = [f"-I{toolkit}/include", str(source), "-o", str(library), f"-L{toolkit}/lib64"]
    subprocess.run(["g++", "-shared", "-fPIC", *words, "-lnnopbase"], check=True)
    done = program(ASK, ASCEND_CUSTOM_OPP_PATH=str(tmp_path))
    assert done.stdout.splitlines() == [
        "format 29 view 2 32 64 storage 2 4 2 16 16",
        "format 29 view 2 32 8 storage 2 1 2 16 16",
        "True",
    ], done.stdout + done.stderr


def packed(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Values as int4, eight in an int32."""
    whole = np.clip(np.rint(x), -8, 7).astype(np.int64)
    made = np.zeros((*x.shape[:-1], x.shape[-1] // 8), np.int64)
    for place in range(8):
        made |= (whole[..., place::8] & 15) << (4 * place)
    return made.astype(np.uint32).view(np.int32)


def test_int4_of_a_plain_tensor() -> None:
    x = np.random.default_rng(1).normal(size=(3, 5, 24)) * 5
    x[0, 0, :8] = -8.6, -8.5, -0.5, 0.5, 1.5, 2.5, 7.4, 9
    scales = np.random.default_rng(2).uniform(0.5, 2, 24)
    given = (torch.tensor(each, dtype=torch.float32).npu() for each in (x, scales))
    y = torch_npu.npu_quantize(*given, None, torch.quint4x2, -1, False)
    assert (y.dtype, torch_npu.get_npu_format(y)) == (torch.int32, ND)
    want = packed(x.astype(np.float32).astype(float) * scales.astype(np.float32))
    np.testing.assert_array_equal(y.cpu().numpy(), want)


def test_int4_of_blocks() -> None:
    """Blocks of 16 rows and 64 int4, as the public kernel writes them."""
    x = np.rint(np.random.default_rng(1).normal(size=(2, 32, 128)) * 5).astype(np.float32)
    blocks = torch_npu.npu_format_cast(torch.tensor(x).npu(), NZ)
    y = torch_npu.npu_quantize(blocks, torch.ones(1).npu(), None, torch.quint4x2, -1, False)
    assert (y.dtype, y.shape, torch_npu.get_npu_format(y)) == (torch.int32, (2, 32, 16), NZ)
    want = in_blocks(torch.tensor(packed(x)), 8)
    np.testing.assert_array_equal(memory(y), want)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: (x[..., :20], False), "a multiple of 8 in the last dim"),
        (lambda x: (x, True), "wants div_mode False"),
        (lambda x: (torch_npu.npu_format_cast(x.half(), NZ), False), "takes float32 of three dims"),
        (lambda x: (torch_npu.npu_format_cast(x[0], NZ), False), "takes float32 of three dims"),
        (lambda x: (torch_npu.npu_format_cast(x[..., :40], NZ), False), "multiples of 16 and 64"),
    ],
)
def test_int4_that_is_refused(change: Callable[[torch.Tensor], Any], words: str) -> None:
    x, div_mode = change(torch.zeros(2, 16, 64).npu())
    with pytest.raises(RuntimeError, match=words):
        torch_npu.npu_quantize(x, torch.ones(1).npu(), None, torch.quint4x2, -1, div_mode)


ON_950 = """
import torch, torch_npu
x = torch.arange(20 * 40).reshape(20, 40)
for dtype, words, form, columns in (
    (torch.float16, {}, 29, 16), (torch.int8, {}, 29, 32), (torch.float32, {}, 50, 16),
    (torch.float32, {"customize_dtype": torch.float8_e4m3fn}, 51, 32),
):
    given = x.to(dtype)
    y = torch_npu.npu_format_cast(given.npu(), 29, **words)
    stored = -(-40 // columns) * 2 * 16 * columns * given.element_size()
    assert torch_npu.get_npu_format(y) == form, torch_npu.get_npu_format(y)
    assert y.untyped_storage().nbytes() == stored
    assert torch.equal(y.cpu(), given) and torch.equal((y + 0).cpu(), given)
    assert torch.equal(torch_npu.npu_format_cast(y, 2).cpu(), given)
    try:
        y.add_(1)
        raise SystemExit("written")
    except NotImplementedError as error:
        assert "torch_npu cannot write into a tensor in a private format" in str(error), error
    assert torch.equal(y.cpu(), given)
print("RESULT done")
"""


def test_ascend_950_casts_by_the_function(program: Program) -> None:
    done = program(ON_950, ACLGRAD_SOC="Ascend950PR_9579")
    assert done.stdout == "RESULT done\n", done.stdout + done.stderr
