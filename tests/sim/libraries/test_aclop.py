# SPDX-License-Identifier: Apache-2.0
"""Single operators by type name: descriptions, attributes, aclopCompileAndExecute."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from aclgrad.runtime.toolkit import sim_root
from raw_simulator import TO_DEVICE, TO_HOST, RawSimulator

Array = NDArray[Any]
DTYPES = {"float32": 0, "float16": 1, "int32": 3, "int64": 9, "float64": 11, "bool": 12}
UNDEFINED, ND, NZ, HOST = -1, 2, 29, 1
INVALID_PARAM, OUTPUT_NOT_MATCH, INPUT_NOT_MATCH = 100000, 100022, 100021
ATTR_NOT_MATCH, OP_NOT_FOUND, FORMAT_NOT_MATCH, GE_FAILURE = 100023, 100024, 100027, 500002


class Aclop:
    """libacl_op_compiler.so on a stream, with arrays for tensors."""

    def __init__(self, simulator: RawSimulator) -> None:
        """The simulator is initialised already."""
        self.sim = simulator
        self.lib = simulator.lib
        self.compiler = ctypes.CDLL(str(sim_root() / "lib64" / "libacl_op_compiler.so"))
        for name in ("aclCreateTensorDesc", "aclopCreateAttr", "aclCreateDataBuffer"):
            getattr(self.lib, name).restype = ctypes.c_void_p
        self.lib.aclGetTensorDescSize.restype = ctypes.c_size_t
        self.lib.aclGetTensorDescName.restype = ctypes.c_char_p
        self.kept: list[Any] = []

    def desc(self, shape: Sequence[int], dtype: int, fmt: int = ND) -> ctypes.c_void_p:
        """A description."""
        dims = (ctypes.c_int64 * len(shape))(*shape)
        return ctypes.c_void_p(self.lib.aclCreateTensorDesc(dtype, len(shape), dims, fmt))

    def buffer(self, address: int, size: int) -> ctypes.c_void_p:
        """A data buffer."""
        size_t = ctypes.c_size_t(size)
        return ctypes.c_void_p(self.lib.aclCreateDataBuffer(ctypes.c_void_p(address), size_t))

    def to_device(self, array: Array) -> int:
        """A copy of the array in device memory."""
        address = self.sim.malloc(max(array.nbytes, 32))
        size = ctypes.c_size_t(array.nbytes)
        copy = self.sim.lib.aclrtMemcpy
        self.sim.ok(
            copy(
                ctypes.c_void_p(address),
                size,
                array.ctypes.data_as(ctypes.c_void_p),
                size,
                TO_DEVICE,
            )
        )
        self.kept.append(address)
        return address

    def attrs(self, **values: Any) -> ctypes.c_void_p:
        """Attributes by the type of their values."""
        attr = ctypes.c_void_p(self.lib.aclopCreateAttr())
        for name, value in values.items():
            word = name.encode()
            if isinstance(value, bool):
                code = self.lib.aclopSetAttrBool(attr, word, ctypes.c_uint8(value))
            elif isinstance(value, int):
                code = self.lib.aclopSetAttrInt(attr, word, ctypes.c_int64(value))
            elif isinstance(value, float):
                code = self.lib.aclopSetAttrFloat(attr, word, ctypes.c_float(value))
            elif isinstance(value, str):
                code = self.lib.aclopSetAttrString(attr, word, value.encode())
            else:
                listed = (ctypes.c_int64 * len(value))(*value)
                code = self.lib.aclopSetAttrListInt(attr, word, len(value), listed)
            self.sim.ok(code)
        return attr

    def run(
        self,
        op: str,
        inputs: Sequence[Array | None],
        outputs: Sequence[Array],
        *,
        host: Sequence[int] = (),
        declared: Sequence[Sequence[int]] | None = None,
        blocks: Sequence[Array] = (),
        second: bool = False,
        **attrs: Any,
    ) -> tuple[int, list[Array], list[ctypes.c_void_p]]:
        """Calls the operator; its code, its outputs and their descriptions. Arrays of `blocks`
        have the shape of their storage, in FRACTAL_NZ, of matrices of 20 x 35.
        """

        def described(array: Array, shape: Sequence[int]) -> ctypes.c_void_p:
            if not any(array is one for one in blocks):
                return self.desc(shape, DTYPES[str(array.dtype)])
            desc = self.desc((20, 35), DTYPES[str(array.dtype)])
            dims = (ctypes.c_int64 * array.ndim)(*array.shape)
            self.sim.ok(self.lib.aclSetTensorFormat(desc, NZ))
            self.sim.ok(self.lib.aclSetTensorShape(desc, array.ndim, dims))
            return desc

        ins: list[tuple[ctypes.c_void_p, ctypes.c_void_p]] = []
        for i, array in enumerate(inputs):
            if array is None:
                ins.append((self.desc((), UNDEFINED, UNDEFINED), self.buffer(0, 0)))
                continue
            desc = described(array, array.shape)
            if i in host:
                self.sim.ok(self.lib.aclSetTensorPlaceMent(desc, HOST))
                self.kept.append(array)
                ins.append((desc, self.buffer(array.ctypes.data, array.nbytes)))
            else:
                ins.append((desc, self.buffer(self.to_device(array), array.nbytes)))
        addresses = [self.to_device(out) for out in outputs]
        shapes = declared or [out.shape for out in outputs]
        outs = [
            (described(out, shape), self.buffer(address, out.nbytes))
            for shape, out, address in zip(shapes, outputs, addresses, strict=True)
        ]

        def words(pairs: list[tuple[ctypes.c_void_p, ctypes.c_void_p]], part: int) -> Any:
            return (ctypes.c_void_p * len(pairs))(*(pair[part].value for pair in pairs))

        attr = self.attrs(**attrs)
        name = "aclopCompileAndExecuteV2" if second else "aclopCompileAndExecute"
        call = getattr(self.compiler, name)
        sides = (len(ins), words(ins, 0), words(ins, 1), len(outs), words(outs, 0), words(outs, 1))
        code = call(op.encode(), *sides, attr, 0, 0, None, None)
        if code == 0:
            self.sim.ok(self.sim.lib.aclrtSynchronizeStream(None))
        results = []
        for out, address in zip(outputs, addresses, strict=True):
            back = np.empty_like(out)
            size = ctypes.c_size_t(out.nbytes)
            where = back.ctypes.data_as(ctypes.c_void_p)
            if code == 0:
                copy = self.sim.lib.aclrtMemcpy
                self.sim.ok(copy(where, size, ctypes.c_void_p(address), size, TO_HOST))
            results.append(back)
        for desc, buffer in ins:
            self.lib.aclDestroyTensorDesc(desc)
            self.lib.aclDestroyDataBuffer(buffer)
        for _, buffer in outs:
            self.lib.aclDestroyDataBuffer(buffer)
        self.lib.aclopDestroyAttr(attr)
        return code, results, [desc for desc, _ in outs]

    def free(self) -> None:
        """Give the device's memory back."""
        for one in self.kept:
            if isinstance(one, int):
                self.sim.ok(self.sim.lib.aclrtFree(ctypes.c_void_p(one)))


@pytest.fixture
def aclop() -> Iterator[Aclop]:
    """A caller; what it took is given back."""
    caller = Aclop(RawSimulator(sim_root()))
    caller.sim.message()
    yield caller
    caller.free()


def softmax_case(dtype: str = "float32", shape: tuple[int, ...] = (6, 40)) -> tuple[Array, Array]:
    """A softmax and the gradient that comes to it."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape)
    y = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    return y.astype(dtype), rng.standard_normal(shape).astype(dtype)


def expected(y: Array, g: Array, axis: int = -1) -> Array:
    """The backward of softmax."""
    y64, g64 = y.astype(np.float64), g.astype(np.float64)
    return np.asarray(y64 * (g64 - (y64 * g64).sum(axis, keepdims=True)))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("axes", [None, [-1], [1]])
def test_an_operator_by_its_type_name(aclop: Aclop, dtype: str, axes: list[int] | None) -> None:
    """The package's kernel runs; an attribute that is not set has its default."""
    y, g = softmax_case(dtype)
    attrs: dict[str, Any] = {} if axes is None else {"axes": axes}
    code, (out,), _ = aclop.run("SoftmaxGrad", [y, g], [np.zeros_like(y)], **attrs)
    assert code == 0, aclop.sim.message()
    tolerance = 1e-6 if dtype == "float32" else 2e-3
    np.testing.assert_allclose(out, expected(y, g), rtol=tolerance, atol=tolerance)


def test_attributes_of_the_other_types(aclop: Aclop) -> None:
    """Text and truth values; what the definition does not have is for a compiler."""
    rng = np.random.default_rng(4)
    grad, x = rng.standard_normal((5, 16)), rng.standard_normal((5, 16))
    target = np.abs(rng.standard_normal((5, 16)))
    arrays = [a.astype(np.float32) for a in (grad, x, target)]
    for log_target in (False, True):
        words: dict[str, Any] = {
            "reduction": "none",
            "log_target": log_target,
            "_performance_prior": True,
        }
        code, (out,), _ = aclop.run(
            "KlDivLossGrad", arrays, [np.zeros((5, 16), np.float32)], **words
        )
        assert code == 0, aclop.sim.message()
        weight = np.exp(arrays[2]) if log_target else arrays[2]
        np.testing.assert_allclose(out, -weight * arrays[0], rtol=1e-5, atol=1e-6)


def test_an_input_that_is_left_out_and_a_scale(aclop: Aclop) -> None:
    """ScaledMaskedSoftmaxGradV2 by its three inputs and two attributes."""
    rng = np.random.default_rng(5)
    y, g = softmax_case(shape=(1, 2, 4, 32))
    mask = rng.random((1, 2, 4, 32)) < 0.3
    code, (out,), _ = aclop.run(
        "ScaledMaskedSoftmaxGradV2",
        [g, y, mask],
        [np.zeros_like(y)],
        scale=0.5,
        fixed_triu_mask=False,
    )
    assert code == 0, aclop.sim.message()
    np.testing.assert_allclose(out, np.where(mask, 0, 0.5 * expected(y, g)), rtol=1e-5, atol=1e-6)
    code, _, _ = aclop.run("SoftmaxGrad", [y, None], [np.zeros_like(y)])
    assert code == INPUT_NOT_MATCH and "grad_softmax" in aclop.sim.message()


def test_an_input_in_host_memory(aclop: Aclop) -> None:
    """It is read when the operator is called."""
    y, g = softmax_case()
    code, (out,), _ = aclop.run("SoftmaxGrad", [y, g], [np.zeros_like(y)], host=[1])
    assert code == 0, aclop.sim.message()
    np.testing.assert_allclose(out, expected(y, g), rtol=1e-6, atol=1e-6)


def test_v2_says_the_shape_of_the_outputs(aclop: Aclop) -> None:
    """An output whose shape is not known gets it from the operator's inference."""
    y, g = softmax_case()
    code, (out,), (desc,) = aclop.run(
        "SoftmaxGrad", [y, g], [np.zeros_like(y)], declared=[(-1, -1)], second=True
    )
    assert code == 0, aclop.sim.message()
    dims = [ctypes.c_int64(), ctypes.c_int64()]
    for i, dim in enumerate(dims):
        size_t = ctypes.c_size_t(i)
        aclop.sim.ok(aclop.lib.aclGetTensorDescDimV2(desc, size_t, ctypes.byref(dim)))
    assert [dim.value for dim in dims] == [6, 40]
    np.testing.assert_allclose(out, expected(y, g), rtol=1e-6, atol=1e-6)


def test_what_no_package_has(aclop: Aclop, capfd: pytest.CaptureFixture[str]) -> None:
    """The message names type, dtypes and the next command; nothing else is left behind."""
    y, g = softmax_case()
    code, _, _ = aclop.run("NobodyHasThis", [y, g], [np.zeros_like(y)])
    text = aclop.sim.message()
    assert code == OP_NOT_FOUND
    assert "NobodyHasThis(float32, float32) -> (float32)" in text and "aclgrad build PATH" in text
    assert text.count("\n") == 0
    seen = capfd.readouterr()
    assert seen.out == "" and seen.err == ""
    aclop.sim.ok(aclop.sim.lib.aclrtSynchronizeStream(None))


def test_calls_that_do_not_fit(aclop: Aclop) -> None:
    """Each names operator, argument, what is there and what is wanted."""
    y, g = softmax_case()
    out = np.zeros_like(y)

    def refused(code: int, *words: str) -> None:
        text = aclop.sim.message()
        assert all(word in text for word in words), text
        assert got == code, text

    got = aclop.run("SoftmaxGrad", [y.astype(np.float64), g.astype(np.float64)], [out])[0]
    refused(GE_FAILURE, "SoftmaxGrad(float64, float64)", "no such dtype combination")
    got = aclop.run("SoftmaxGrad", [y, g, g], [out])[0]
    refused(INPUT_NOT_MATCH, "SoftmaxGrad", "2 inputs", "got 3")
    got = aclop.run("SoftmaxGrad", [y, g], [out], axes="last")[0]
    refused(ATTR_NOT_MATCH, "axes", "list of int")
    got = aclop.run("SoftmaxGrad", [y, g], [np.zeros((6, 80), np.float32)])[0]
    refused(OUTPUT_NOT_MATCH, "grad_x", "480 elements", "make 240")
    got = aclop.run("SoftmaxGrad", [y, g], [out[:2]], declared=[(6, 40)])[0]
    refused(INVALID_PARAM, "output 0", "320 bytes", "needs 960")


def in_blocks(x: Array, columns: int = 16) -> Array:
    """FRACTAL_NZ of a matrix, element by element."""
    rows, wide = x.shape
    made = np.zeros((-(-wide // columns), -(-rows // 16), 16, columns), x.dtype)
    for (row, column), value in np.ndenumerate(x):
        made[column // columns, row // 16, row % 16, column % columns] = value
    return made


MATRIX = np.arange(700, dtype=np.float32).reshape(20, 35)


def test_identity_casts_formats(aclop: Aclop) -> None:
    blocks = in_blocks(MATRIX)
    room = np.full_like(blocks, 9)
    code, (got,), _ = aclop.run("Identity", [MATRIX], [room], blocks=[room])
    assert code == 0, aclop.sim.message()
    np.testing.assert_array_equal(got, blocks)
    code, (got,), _ = aclop.run("Identity", [blocks], [np.zeros_like(MATRIX)], blocks=[blocks])
    assert code == 0, aclop.sim.message()
    np.testing.assert_array_equal(got, MATRIX)
    code, (got,), _ = aclop.run("Identity", [blocks], [room], blocks=[blocks, room])
    assert code == 0, aclop.sim.message()
    np.testing.assert_array_equal(got, blocks)


def whole(*values: int) -> Array:
    """Numbers that the host knows."""
    return np.array(values, np.int64)


def test_operators_that_fill_and_copy_views(aclop: Aclop) -> None:
    """By which torch_npu copies what is in private formats, or has gaps."""
    zeros, blocks = np.zeros_like(MATRIX), in_blocks(MATRIX)
    host = range(1, 9)
    across = (whole(35, 20), whole(1, 35), whole(0))
    for name, inputs, out, want in (
        ("ZerosLike", [MATRIX], MATRIX.copy(), zeros),
        ("ZerosLike", [blocks], blocks.copy(), zeros),
        ("Transpose", [MATRIX, whole(1, 0)], np.zeros((35, 20), np.float32), MATRIX.T),
        ("AsStrided", [MATRIX, *across], np.zeros((35, 20), np.float32), MATRIX.T),
        ("AsStrided", [MATRIX, whole(3, 2), whole(35, 2), whole(71)],
         np.zeros((3, 2), np.float32), MATRIX[2:5, 1:5:2]),
    ):  # fmt: skip
        packed = [x for x in (*inputs, out) if x.ndim == 4]
        code, (got,), _ = aclop.run(name, inputs, [out], host=list(host), blocks=packed)
        assert code == 0, aclop.sim.message()
        np.testing.assert_array_equal(got, in_blocks(want) if packed else want)
    for room, wanted in ((zeros, zeros + 7), (np.zeros_like(blocks), in_blocks(zeros + 7))):
        given = [whole(20, 35), np.array([7], np.float32)]
        packed = [room] if room.ndim == 4 else []
        code, (got,), _ = aclop.run("Fill", given, [room], host=[0, 1], blocks=packed)
        assert code == 0, aclop.sim.message()
        np.testing.assert_array_equal(got, wanted)


def test_formats_and_views_that_are_refused(aclop: Aclop) -> None:
    blocks = in_blocks(MATRIX)
    across = (whole(35, 20), whole(1, 35), whole(0))
    out = np.zeros((35, 20), np.float32)
    for name, inputs, code, words in (
        ("AsStrided", [blocks, *across], FORMAT_NOT_MATCH, "make the tensor ND first"),
        ("Transpose", [blocks, whole(1, 0)], FORMAT_NOT_MATCH, "make the tensor ND first"),
        ("AsStrided", [MATRIX, whole(36, 20), *across[1:]], FORMAT_NOT_MATCH, "outside its stor"),
        ("Identity", [MATRIX, MATRIX], INPUT_NOT_MATCH, "1 inputs and 1 output, got 2 and 1"),
        ("SoftmaxGrad", [blocks, MATRIX], FORMAT_NOT_MATCH, "input 0 has the storage format 29"),
        ("NobodyHasThis", [blocks], OP_NOT_FOUND, "NobodyHasThis"),
    ):
        got, _, _ = aclop.run(name, inputs, [out], host=[1, 2, 3] * (name != "Identity"),
                              blocks=[blocks])  # fmt: skip
        text = aclop.sim.message()
        assert (got, words in text) == (code, True), (name, got, text)


def test_descriptions_and_attributes_that_are_gone(aclop: Aclop) -> None:
    """Handles are known by their address; null and destroyed ones are refused."""
    desc = aclop.desc((2, 3), DTYPES["float32"])
    aclop.lib.aclSetTensorDescName(desc, b"x")
    assert aclop.lib.aclGetTensorDescName(desc) == b"x"
    assert aclop.lib.aclGetTensorDescSize(desc) == 24
    aclop.lib.aclDestroyTensorDesc(desc)
    assert aclop.lib.aclGetTensorDescType(desc) == UNDEFINED
    assert "was destroyed" in aclop.sim.message()
    attr = aclop.attrs(a=1, b=1.5, c="text", d=[1, 2])
    aclop.lib.aclopDestroyAttr(attr)
    assert aclop.lib.aclopSetAttrInt(attr, b"a", ctypes.c_int64(1)) == INVALID_PARAM
    assert aclop.lib.aclopSetAttrInt(None, b"a", ctypes.c_int64(1)) == INVALID_PARAM
    dims = (ctypes.c_int64 * 1)(1)
    assert aclop.lib.aclCreateTensorDesc(0, 99, dims, ND) is None
    assert "numDims is 99" in aclop.sim.message()
