# SPDX-License-Identifier: Apache-2.0
"""Calls functions of a package as they are, to see that each of their arguments counts.

A line of the input has the path of the library and the signatures of its functions. Each function
is called with the values below, then once more for each argument with another value: an output
must change, or the function must refuse. With a tensor in FRACTAL_NZ it does the same or refuses.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any

import torch
import torch_npu  # type: ignore[import-not-found,unused-ignore]  # noqa: F401

DTYPES = {
    torch.float32: 0,
    torch.float16: 1,
    torch.int32: 3,
    torch.int64: 9,
    torch.float64: 11,
    torch.bool: 12,
}
REFUSED = "refused"


def grid(*shape: int, first: float = 0.5) -> torch.Tensor:
    """Numbers from `first` on that are all different, in no order."""
    size = torch.Size(shape).numel()
    return ((torch.arange(size) * 5 % 13) / 13 + first).reshape(shape)


MASK = torch.tensor([[True, False, True, True], [False, True, True, True], [False] * 4])
ZEROS = torch.tensor([[1.0, 0, 1, 1], [1, 1, 1, 1], [1, 0, 0, 0], [1, 0, 1, 1]])
INDEX = torch.tensor([0, 2])
SPECIAL = torch.tensor([1.0, float("inf"), -float("inf"), float("nan")])

# What an argument is, by its name, and what it is the second time: `REFUSED` after a value that
# the function must refuse.
USUAL: dict[str, tuple[Any, ...]] = {
    "alpha": (1.0, 2.0),
    "beta": (1.0, 2.0),
    "value": (1.0, 2.0),
    "exponent": (2.0, 3.0),
    "min": (0.7, 0.9),
    "max": (1.2, 1.0),
    "threshold": (0.0, 1.0),
    "dim": (0, 1, (5, REFUSED)),
    "dims": ([0], [1], ([5], REFUSED)),
    "keepDims": (True, (False, REFUSED)),
    "dtype": (0, (1, REFUSED)),
    "cubeMathType": (1, (2, REFUSED), (7, REFUSED)),
    "p": (2.0, 1.0, (3.0, REFUSED)),
    "ord": (2.0, 1.0, (3.0, REFUSED)),
    "mask": (MASK, ~MASK),
    "condition": (MASK, ~MASK),
}
REDUCED = {"self": (grid(4, 4), grid(4, 4) + 1), "out": torch.zeros(1, 4)}
TRUTHS = REDUCED | {"out": torch.zeros(1, 4).bool()}
LAYER: dict[str, tuple[Any, ...]] = {
    "normalizedShape": ([4], ([3], REFUSED), ([3, 4], REFUSED), ([], REFUSED))
} | {
    name: (grid(4, first=first), grid(4, first=first) ** 2)
    for name, first in (("weight", 0.5), ("bias", 0.7))
}
NORM = LAYER | {
    "eps": (1e-5, 1.0),
    "meanOut": torch.zeros(3, 1),
    "rstdOut": torch.zeros(3, 1),
}
TRUTH = {"self": (MASK, ~MASK), "other": (MASK.roll(1), ~MASK), "out": torch.zeros(3, 4).bool()}
LEAST = {"self": (grid(3, 4), grid(3, 4) - 1), "other": (grid(3, 4), grid(3, 4) - 1)}
LOSS = {
    "target": (torch.tensor([3, 0, 1]), torch.tensor([3, 2, 1])),
    "weight": (grid(4), grid(4) + grid(4) ** 2),
    "reduction": (1, 2, (3, REFUSED), (-1, REFUSED)),
    "ignoreIndex": (-100, 1),
}
PRODUCT = {"self": (grid(3, 4), grid(3, 4) + 1), "mat2": (grid(4, 3), grid(4, 3) + 1)} | {
    "out": torch.zeros(3, 3)
}
MATRICES = {name: (grid(2, *size), grid(2, *size) + 1) for name, size in
            (("self", (3, 3)), ("mat1", (3, 4)), ("mat2", (4, 3)))}  # fmt: skip
FLAT = {name: tuple(x[0] for x in pair) for name, pair in MATRICES.items()}
SPECIALS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("ReduceSum", "Mean", "Amax", "Amin", "Norm", "LinalgVectorNorm"), REDUCED),
    "All": TRUTHS | {"self": (ZEROS, 1 - ZEROS)},
    "Any": TRUTHS | {"self": (1 - ZEROS, ZEROS)},
    "Minimum": LEAST,
    "ForeachMinimumList": {name: tuple([x, x] for x in pair) for name, pair in LEAST.items()}
    | {"out": [torch.zeros(3, 4)] * 2},
    "ThresholdBackward": {"self": (grid(3, 4), grid(3, 4) - 1)},
    **dict.fromkeys(("Max", "Min"), {"out": torch.zeros(())}),
    **dict.fromkeys(("Mm", "Matmul"), PRODUCT),
    "BatchMatMul": {
        "self": MATRICES["mat1"],
        "mat2": MATRICES["mat2"],
        "out": torch.zeros(2, 3, 3),
    },
    "Addmm": FLAT | {"out": torch.zeros(3, 3)},
    "InplaceAddmm": FLAT | {"selfRef": grid(3, 3)},
    "Baddbmm": MATRICES | {"out": torch.zeros(2, 3, 3)},
    "InplaceBaddbmm": MATRICES | {"selfRef": grid(2, 3, 3)},
    "Embedding": {
        "weight": (grid(3, 4), grid(3, 4) + 1),
        "indices": (INDEX, INDEX - INDEX % 3 // 2),
        "out": torch.zeros(2, 4),
    },
    "EmbeddingDenseBackward": {
        "grad": (grid(2, 4), grid(2, 4) + 1),
        "indices": (INDEX, INDEX - INDEX % 3 // 2),
        "numWeights": (3, (4, REFUSED)),
        "paddingIdx": (-1, 2),
        "scaleGradByFreq": (False, (True, REFUSED)),
    },
    **dict.fromkeys(("LayerNorm", "FastLayerNorm"), NORM),
    "LayerNormBackward": LAYER
    | {
        "mean": (grid(3, 1), grid(3, 1) + 1),
        "rstd": (grid(3, 1), grid(3, 1) + 1),
        "bias": (grid(4),),  # no gradient depends on it
        "outputMask": ([True] * 3, [False, True, True], [True, False, True], [True, True, False],
                       ([True], REFUSED)),
        "gradInput": torch.zeros(3, 4),
        "gradWeight": torch.zeros(4),
        "gradBias": torch.zeros(4),
    },  # fmt: skip
    "GeluV2": {"approximate": (0, 1, (2, REFUSED))},
    "GeluBackwardV2": {"approximate": ("none", "tanh", ("erf", REFUSED))},
    "LogSigmoidForward": {"buffer": torch.zeros(3, 4)},
    "OneHot": {
        "self": (torch.tensor([0, 1, 2]), torch.tensor([3, 1, 2])),
        "numClasses": (4, (5, REFUSED), (0, REFUSED), (-1, REFUSED)),
        "onValue": (torch.ones(1), torch.ones(1) * 2),
        "offValue": (torch.zeros(1), torch.ones(1) * 2),
        "axis": (-1, (0, REFUSED)),
    },
    **dict.fromkeys(("IsNegInf", "IsPosInf"), {
        "self": (SPECIAL, torch.zeros(4)), "out": torch.zeros(4).bool()}),
    **{f"Bitwise{name}": TRUTH for name in ("Not", "AndTensor", "OrTensor")},
    "BitwiseAndScalar": TRUTH | {"other": (True, False, (1, REFUSED))},
    "BitwiseOrScalar": TRUTH | {"other": (False, True, (1, REFUSED))},
    "Stack": {"tensors": ([grid(2, 4), grid(2, 4) + 1], [grid(2, 4)] * 2),
              "out": torch.zeros(2, 2, 4)},
    "ForeachNonFiniteCheckAndUnscale": {
        "scaledGrads": ([grid(3, 4)],),
        "foundInf": torch.zeros(1),
        "inScale": (grid(1), grid(1) + 1),
    },
    "AmpUpdateScale": {
        "scale": (torch.ones(1), torch.ones(1) * 2),
        "growthTracker": (torch.ones(1).int(), torch.zeros(1).int()),
        "foundInf": (torch.zeros(1), torch.ones(1)),
        "growthFactor": (2.0, 3.0),
        "backoffFactor": (0.5, 0.25),
        "growthInterval": (2, 5),
        "scaleOut": torch.zeros(1),
        "growthTrackerOut": torch.zeros(1).int(),
    },
    "ApplyAdamWV2": {
        "maxGradNorm": grid(3, 4, first=9),
        "step": (torch.zeros(1), torch.ones(1)),
        "lr": (0.1, 0.2),
        "beta1": (0.9, 0.8),
        "beta2": (0.99, 0.9),
        "weightDecay": (0.1, 0.3),
        "eps": (1e-3, 1.0),
        "amsgrad": (False, True),
        "maximize": (False, True),
    },
    "NLLLoss": LOSS | {"out": torch.zeros(()), "totalWeightOut": torch.zeros(())},
    "NLLLossBackward": LOSS | {
        "gradOutput": (torch.ones(()), torch.ones(()) * 2),
        "self": (grid(3, 4),),  # the gradient depends on its shape alone
        "totalWeight": (torch.ones(()) * 3, torch.ones(()) * 2),
    },
    "Lerp": {"weight_": (grid(3, 4), grid(3, 4) + 1)},
    "ForeachNorm": {"out": [torch.zeros(()), torch.zeros(())]},
    "ForeachLerpScalar": {"weight": (0.25, 0.5)},
    **dict.fromkeys(
        ("ForeachAddcmulScalarList", "ForeachAddcdivScalarList"),
        {"value": (grid(2), grid(2) + 1)},
    ),
}  # fmt: skip
# An argument that counts only beside another value of a second one.
BESIDE = {("AmpUpdateScale", "backoffFactor"): {"foundInf": torch.ones(1)}}


def values(name: str, kind: str, argument: str, place: int) -> tuple[Any, ...]:
    """The usual value of an argument, and others."""
    given = SPECIALS.get(name, {}).get(argument)
    if given is None and not kind.endswith("List"):
        usual = USUAL.get(argument, ())
        # A number of one function is a tensor of another.
        given = (
            usual if usual and isinstance(usual[0], torch.Tensor) == (kind == "Tensor") else None
        )
    if given is not None:
        return given if isinstance(given, tuple) else (given,)
    first = 0.5 + place / 4
    if kind == "aclTensor":
        return (torch.zeros(3, 4) if "ut" in argument else grid(3, 4, first=first),)
    if kind == "Tensor":
        one = "Scalar" in name and name.startswith("Foreach")
        x = grid(*((1,) if one else (3, 4)), first=first)
        return x, x + 1
    if kind == "aclTensorList":
        if argument == "out" or name == "ForeachZeroInplace":
            return ([torch.zeros(3, 4), torch.zeros(5)],)
        x, y = grid(3, 4, first=first), grid(5, first=first)
        return [x, y], [x + 1, y], [x, y + 1]
    if kind == "aclScalar":
        return 0.75, 1.25
    if kind == "aclScalarList":
        return [0.75, 1.5], [1.25, 1.5], [0.75, 1.25], ([0.75], REFUSED)
    raise SystemExit(f"{name}: no values for {kind} {argument}")


class Blocks:
    """A tensor on an NPU in FRACTAL_NZ, with blocks of 16 columns."""

    def __init__(self, x: torch.Tensor) -> None:
        self.shape, self.stride = x.shape, x.stride
        *batch, rows, columns = x.shape
        high, wide = -(-rows // 16), -(-columns // 16)
        padded = torch.zeros(*batch, high * 16, wide * 16, dtype=x.dtype)
        padded[..., :rows, :columns] = x
        self.stored = padded.reshape(*batch, high, 16, wide, 16).movedim(-2, -4).contiguous().npu()

    def cpu(self) -> torch.Tensor:
        """The tensor itself."""
        moved = self.stored.cpu().movedim(-4, -2)
        *batch, high, low, wide, columns = moved.shape
        plain = moved.reshape(*batch, high * low, wide * columns)
        return plain[..., : self.shape[-2], : self.shape[-1]]


class Caller:
    """Calls functions of one library."""

    def __init__(self, library: str) -> None:
        self.library = ctypes.CDLL(library)
        self.base = ctypes.CDLL("libnnopbase.so")
        self.kept: list[Any] = []

    def _made(self, create: str, *words: Any) -> ctypes.c_void_p:
        function = getattr(self.base, create)
        function.restype = ctypes.c_void_p
        made = ctypes.c_void_p(function(*words))
        assert made, create
        return made

    def tensor(self, x: torch.Tensor | Blocks) -> ctypes.c_void_p:
        def sizes(values: Any) -> Any:
            return (ctypes.c_int64 * max(len(values), 1))(*values)

        shape = tuple(x.shape)
        stored, format_ = (x.stored, 29) if isinstance(x, Blocks) else (x, 2)
        view = (sizes(shape), ctypes.c_uint64(len(shape)), DTYPES[stored.dtype], sizes(x.stride()))
        storage = (sizes(stored.shape), ctypes.c_uint64(stored.dim()))
        place = ctypes.c_void_p(stored.data_ptr())
        return self._made("aclCreateTensor", *view, ctypes.c_int64(0), format_, *storage, place)

    def scalar(self, value: Any) -> ctypes.c_void_p:
        kind: Any = {bool: ctypes.c_bool, int: ctypes.c_int64}.get(type(value), ctypes.c_double)
        code = {bool: 12, int: 9}.get(type(value), 11)
        cell = kind(value)
        self.kept.append(cell)
        return self._made("aclCreateScalar", ctypes.byref(cell), code)

    def argument(self, kind: str, value: Any) -> Any:
        """The C value of an argument."""
        if kind in ("Tensor", "aclTensor"):
            return self.tensor(value)
        if kind == "aclScalar":
            return self.scalar(value)
        if kind in ("aclTensorList", "aclScalarList"):
            each = self.tensor if kind == "aclTensorList" else self.scalar
            items = (ctypes.c_void_p * len(value))(*(each(v) for v in value))
            return self._made(kind.replace("acl", "aclCreate"), items, ctypes.c_uint64(len(value)))
        if kind in ("aclIntArray", "aclBoolArray"):
            cell: Any = ctypes.c_int64 if kind == "aclIntArray" else ctypes.c_bool
            array = (cell * max(len(value), 1))(*value)
            return self._made(kind.replace("acl", "aclCreate"), array, ctypes.c_uint64(len(value)))
        if kind == "char":
            return ctypes.c_char_p(value.encode())
        plain: dict[str, Any] = {
            "bool": ctypes.c_bool,
            "double": ctypes.c_double,
            "float": ctypes.c_float,
            "int64_t": ctypes.c_int64,
            "int8_t": ctypes.c_int8,
            "aclDataType": ctypes.c_int,
        }
        return plain[kind](value)

    def __call__(
        self,
        name: str,
        signature: list[tuple[str, str]],
        given: dict[str, Any],
        in_blocks: str = "",
    ) -> Any:
        """What the tensors of a call have afterwards, or None when it refuses."""

        def to_npu(value: Any, blocks: bool = False) -> Any:
            if isinstance(value, list):
                return [to_npu(v, blocks) for v in value]
            if not isinstance(value, torch.Tensor):
                return value
            return Blocks(value) if blocks and value.dim() > 1 else value.clone().npu()

        tensors = {a: to_npu(given[a], a == in_blocks) for _, a in signature}
        words = [self.argument(kind, tensors[argument]) for kind, argument in signature]
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        plan = getattr(self.library, f"aclnn{name}GetWorkspaceSize")
        if plan(*words, ctypes.byref(size), ctypes.byref(executor)) != 0:
            return None
        npu: Any = torch.npu
        workspace = torch.empty(max(size.value, 1), dtype=torch.uint8, device="npu")
        stream = ctypes.c_void_p(npu.current_stream().npu_stream)
        run = getattr(self.library, f"aclnn{name}")
        if run(ctypes.c_void_p(workspace.data_ptr()), size, executor, stream) != 0:
            return None
        npu.synchronize()

        def listed(value: Any) -> Any:
            if isinstance(value, list):
                return [listed(v) for v in value]
            given = isinstance(value, (torch.Tensor, Blocks))
            return value.cpu().tolist() if given else None

        return {argument: repr(listed(value)) for argument, value in tensors.items()}


def each(value: Any) -> list[Any]:
    """The elements of a list, or the one value."""
    return value if isinstance(value, list) else [value]


def faults(caller: Caller, name: str, signature: list[tuple[str, str]]) -> list[str]:
    """Arguments of a function that do not count."""
    choices = {
        argument: values(name, kind, argument, place)
        for place, (kind, argument) in enumerate(signature)
    }
    usual = {argument: choice[0] for argument, choice in choices.items()}
    before = caller(name, signature, usual)
    if before is None:
        return [f"{name} refuses the usual values"]
    found = []
    for argument, value in usual.items():
        tensors = [x for x in each(value) if isinstance(x, torch.Tensor)]
        if any(x.dim() > 1 for x in tensors):
            after = caller(name, signature, usual, argument)
            if after is not None and after != before:
                found.append(f"{name} takes {argument} in FRACTAL_NZ for another tensor")
    for argument, (_, *others) in choices.items():
        beside = usual | BESIDE.get((name, argument), {})
        without = caller(name, signature, beside) if beside != usual else before
        for other in others:
            must_refuse = isinstance(other, tuple)
            value = other[0] if must_refuse else other
            after = caller(name, signature, beside | {argument: value})
            if must_refuse:
                if after is not None:
                    found.append(f"{name} takes {argument}={value}")
                continue
            if after is None:
                found.append(f"{name} refuses {argument}={value}")
            elif all(after[key] == without[key] for key in usual if key != argument):
                found.append(f"{name} does not look at {argument}")
    return found


def main() -> None:
    """Look at every function of the input."""
    words = json.loads(sys.stdin.readline())
    caller = Caller(words["library"])
    found = []
    looked = 0
    for name, signature in words["functions"].items():
        looked += sum(len(values(name, kind, argument, 0)) > 1 for kind, argument in signature)
        found += faults(caller, name, signature)
    print("RESULT " + json.dumps({"found": found, "looked": looked}))


if __name__ == "__main__":
    main()
