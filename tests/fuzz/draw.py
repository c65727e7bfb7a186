# SPDX-License-Identifier: Apache-2.0
"""What one seed means: a call near the operator's own cases, broken in a few places, and a script
for its executor.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from aclgrad.spec.call import FORMATS, PRIVATE_FORMATS, AttrValue, Call, TensorDesc
from aclgrad.spec.dtypes import CASTABLE, UNCASTABLE, DType
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import family_of

BASE_ELEMENTS = 3000
LONG_ELEMENTS = 70_000
"""Largest tensors of the grid cases that a call usually and sometimes starts from."""

I64_MIN, I64_MAX = -(2**63), 2**63 - 1
_DTYPES = {dtype.acl: dtype for dtype in CASTABLE + UNCASTABLE}
_FORMAT_NAMES = {number: name for name, number in FORMATS.items()}
_NAMELESS = frozenset((13, 25, 28, 38, 39, 44, 50, 51, 52, 53, 54))
"""Private formats of the graph engine that aclFormat does not have."""
_HUGE = (2**31, 2**32 + 1, 2**40, 2**47, 2**48, 2**48 + 1, 2**61, 2**62, 2**63 - 1)
_NEGATIVE = (-1, -1, -2, -(2**31), I64_MIN)

SCRIPTS = (
    ("run", 50),
    ("run_twice", 4),
    ("drop", 3),
    ("null_executor", 2),
    ("odd_executor", 3),
    ("workspace_null", 4),
    ("workspace_short", 4),
    ("workspace_bad", 4),
    ("workspace_spare", 4),
    ("bad_address", 8),
    ("destroyed_tensor", 5),
    ("bad_stream", 4),
    ("other_function", 4),
    ("other_soc", 3),
    ("repeat", 10),
    ("in_place", 4),
)
"""What happens after a first stage that succeeded, with weights."""

ADDRESSES = ("null", "host", "freed", "small", "garbage", "end", "odd")
STREAMS = ("garbage", "destroyed", "tensor")


@dataclass
class Drawn:
    """One case. ``odd`` names tensors whose handle is not a live tensor, and what it is."""

    seed: int
    spec: OpSpec
    soc: str
    call: Call
    values: str = "uniform"
    odd: dict[str, str] = field(default_factory=dict)
    script: str = "run"
    detail: str = ""
    victim: str = ""
    own_stream: bool = True
    mode: str = "checked"
    cores: int = 0

    @property
    def repro(self) -> str:
        """Command that runs this case alone."""
        return f"python -m fuzz.run --op {self.spec.op} --seed {self.seed} --count 1"

    def describe(self) -> str:
        """One line with everything that the seed stands for."""
        words = [self.repro, "#", self.soc]
        for name, desc in self.call.tensors.items():
            if desc is None:
                words.append(f"{name}=null")
                continue
            text = f"{name}={list(desc.shape)}{desc.dtype.label}"
            if desc.strides is not None:
                text += f"/strides{list(desc.strides)}"
            if desc.offset:
                text += f"+{desc.offset}"
            if desc.storage is not None:
                text += f"/storage{list(desc.storage)}"
            if desc.format != "ND":
                text += f"/{desc.format}"
            words.append(text + (f"/{self.odd[name]}" if name in self.odd else ""))
        words += [f"{name}={value}" for name, value in self.call.attrs.items()]
        words += ["workspaceSize=null"] * self.call.workspace_size_null
        words += ["executor=null"] * self.call.executor_null
        words += [self.values, self.script, self.detail, self.victim]
        words += [] if self.own_stream else ["default stream"]
        words += [self.mode] if self.mode != "checked" else []
        words += [f"{self.cores} cores"] if self.cores else []
        return " ".join(filter(None, words))


def dtype_of(number: int) -> DType:
    """Return the dtype with an aclDataType number, known or not."""
    return _DTYPES.get(number) or DType(f"DTYPE{number}", "uint8", number)


def format_number(name: str) -> int:
    """Return the aclFormat number of a description's format."""
    return FORMATS[name] if name in FORMATS else int(name)


def too_long(desc: TensorDesc) -> bool:
    """Whether aclCreateTensor makes no tensor of this rank."""
    return max(desc.rank, len(desc.storage_shape)) > 25


@cache
def _bases(spec: OpSpec, largest: int) -> tuple[Call, ...]:
    calls = [case.call for case in spec.cases(spec, True)]
    return tuple(
        call
        for call in calls
        if all(desc.size <= largest for desc in call.tensors.values() if desc is not None)
    )


def draw(seed: int, spec: OpSpec, socs: Sequence[str]) -> Drawn:
    """Make the case of a seed: the same on every machine."""
    return _Artist(random.Random(f"{spec.op}/{seed}"), seed, spec, socs).draw()


class _Artist:
    """Draws one case."""

    def __init__(self, rng: random.Random, seed: int, spec: OpSpec, socs: Sequence[str]) -> None:
        self.rng, self.seed, self.spec, self.socs = rng, seed, spec, socs
        self.odd: dict[str, str] = {}
        self.plain: set[str] = set()  # no layout was chosen on purpose

    def draw(self) -> Drawn:
        rng, spec = self.rng, self.spec
        call = self.base()
        soc = self.soc()
        call = replace(call, family=family_of(soc))
        for mutate in self.mutations():
            call = mutate(call)
        call = self.formats(call)
        script = rng.choices([s for s, _ in SCRIPTS], [w for _, w in SCRIPTS])[0]
        detail, victim = "", ""
        if script == "bad_address":
            detail, victim = rng.choice(ADDRESSES), rng.choice(spec.tensors).name
        elif script == "destroyed_tensor":
            victim = rng.choice(spec.tensors).name
        elif script == "in_place":
            victim = rng.choice(spec.kernel_args).name
        elif script == "bad_stream":
            detail = rng.choice(STREAMS)
        elif script == "workspace_bad":
            detail = rng.choice(("host", "freed", "small", "garbage", "odd"))
        elif script == "odd_executor":
            detail = rng.choice(("tensor", "garbage", "host"))
        elif script == "other_soc":
            detail = rng.choice(self.socs)
        elif script == "repeat":
            detail = rng.choice(("contents", "address", "bad_stream", "misuse"))
        values = rng.choice(
            ("uniform", "normal", "probability", "zero", "special", "special_each", "nan", "-inf")
        )
        return Drawn(
            seed=self.seed,
            spec=spec,
            soc=soc,
            call=call,
            values=values,
            odd=self.odd,
            script=script,
            detail=detail,
            victim=victim,
            own_stream=rng.random() < 0.9,
            mode="fast" if rng.random() < 0.1 else "checked",
            cores=self.cores(soc) if script != "other_soc" and rng.random() < 0.1 else 0,
        )

    # The call that everything starts from.

    def base(self) -> Call:
        rng = self.rng
        if rng.random() < 0.03:
            call = rng.choice(_bases(self.spec, LONG_ELEMENTS))
            return Call(
                {n: d and TensorDesc(d.shape, d.dtype) for n, d in call.tensors.items()}, call.attrs
            )
        call = rng.choice(_bases(self.spec, BASE_ELEMENTS))
        # One new number per number: equal dims stay equal, broadcast dims stay 1.
        descs = [desc for desc in call.tensors.values() if desc is not None]
        old = sorted({dim for desc in descs for dim in desc.shape if dim > 1})
        new = {0: 0, 1: 1, **{dim: self.dim() for dim in old}}
        if math.prod(new.values()) > 10**9 or rng.random() < 0.3:
            new = {0: 0, 1: 1, **{dim: rng.randint(2, 5) for dim in old}}
        tensors: dict[str, TensorDesc | None] = {}
        for arg in self.spec.tensors:
            old_desc = call.tensor(arg.name)
            moved = TensorDesc(tuple(new[dim] for dim in old_desc.shape), old_desc.dtype)
            if moved.size > 4 * BASE_ELEMENTS:
                moved = TensorDesc(old_desc.shape, old_desc.dtype)
            tensors[arg.name] = moved
        shapes = {desc.shape for desc in tensors.values() if desc is not None}
        if any(desc.size > 4 * BASE_ELEMENTS for desc in tensors.values() if desc is not None) or (
            len(shapes) > 1 and self.spec.first_hit(replace(call, tensors=tensors)) is not None
        ):
            tensors = {n: d and TensorDesc(d.shape, d.dtype) for n, d in call.tensors.items()}
        if rng.random() < 0.5:
            for name, desc in tensors.items():
                if desc is not None and rng.random() < 0.6:
                    out = name in {arg.name for arg in self.spec.output_args}
                    tensors[name] = self.laid_out(desc, out)
        attrs = dict(call.attrs)
        for attr in self.spec.attr_args:
            if rng.random() < 0.3:
                attrs[attr.name] = self.good_attr(attr.c_type, call.attrs[attr.name], descs)
        return Call(tensors, attrs)

    def dim(self) -> int:
        rng = self.rng
        return rng.choice((rng.randint(2, 9), rng.randint(2, 40), rng.choice((15, 16, 17, 63, 65))))

    def good_attr(self, c_type: str, old: AttrValue, descs: list[TensorDesc]) -> AttrValue:
        rng = self.rng
        if c_type == "double":
            return rng.choice((1.0, 0.125, -2.5, rng.uniform(-3, 3)))
        if c_type == "bool":
            return rng.random() < 0.5
        rank = max(descs[0].rank, 1)
        return rng.randint(-rank, rank - 1) if rng.random() < 0.7 else old

    def soc(self) -> str:
        return self.rng.choice(self.socs) if self.rng.random() < 0.5 else "Ascend910B2"

    def cores(self, soc: str) -> int:
        return self.rng.choice((1, 2, 3, 5)) if soc.startswith("Ascend910") else 1

    def laid_out(self, desc: TensorDesc, out: bool) -> TensorDesc:
        """The same view in other memory: inside its storage."""
        rng, rank = self.rng, desc.rank
        if desc.empty or min(desc.shape, default=1) < 1:
            return desc
        order = list(range(rank))
        if rng.random() < 0.5:
            rng.shuffle(order)
        strides = [0] * rank
        step = 1
        if rng.random() < 0.3:
            step = rng.randint(2, 3)
        for axis in reversed(order):
            strides[axis] = step
            step *= desc.shape[axis] + (rng.randint(0, 2) if rng.random() < 0.3 else 0)
        if not out or rng.random() < 0.05:
            for axis in range(rank):
                if rng.random() < 0.15:
                    strides[axis] = rng.choice((0, 0, 1, 2))
        if rng.random() < 0.25:
            strides = [-s if rng.random() < 0.4 else s for s in strides]
        reach = [(d - 1) * s for d, s in zip(desc.shape, strides, strict=True)]
        before = rng.choice((0, 0, 1, 5, 16))
        offset = before - sum(r for r in reach if r < 0)
        span = offset + sum(r for r in reach if r > 0) + 1 + rng.choice((0, 0, 1, 7))
        return replace(desc, strides=tuple(strides), offset=offset, storage=(span,))

    # What is wrong with it.

    def mutations(self) -> list[Callable[[Call], Call]]:
        kinds: list[tuple[Callable[[Call], Call], int]] = [
            (self.null_tensor, 4),
            (self.null_result, 3),
            (self.dtype, 7),
            (self.all_dtypes, 5),
            (self.shape, 8),
            (self.all_shapes, 8),
            (self.strides, 7),
            (self.offset, 6),
            (self.storage, 6),
            (self.attr, 7),
            (self.odd_handle, 4),
        ]
        count = self.rng.choices((0, 1, 2, 3, 5), (38, 36, 16, 7, 3))[0]
        return self.rng.choices([k for k, _ in kinds], [w for _, w in kinds], k=count)

    def some(self, call: Call) -> str | None:
        names = [name for name, desc in call.tensors.items() if desc is not None]
        return self.rng.choice(names) if names else None

    def null_tensor(self, call: Call) -> Call:
        name = self.some(call)
        return call if name is None else call.with_null(name)

    def null_result(self, call: Call) -> Call:
        which = self.rng.randint(0, 2)
        return replace(call, workspace_size_null=which != 1, executor_null=which != 0)

    def number_of_dtype(self) -> int:
        rng = self.rng
        return rng.choice(
            (
                rng.choice((0, 1, 27)),
                rng.randint(-1, 45),
                rng.choice((2, 3, 9, 11, 12, 13, 29, 33)),
                rng.choice((-2, 46, 255, 1000, 2**31 - 1, -(2**31))),
            )
        )

    def dtype(self, call: Call) -> Call:
        name = self.some(call)
        if name is None:
            return call
        return call.with_tensor(name, dtype=dtype_of(self.number_of_dtype()))

    def all_dtypes(self, call: Call) -> Call:
        dtype = dtype_of(self.number_of_dtype())
        fixed = {arg.name for arg in self.spec.tensors if arg.dtypes}
        return replace(
            call,
            tensors={
                name: desc if desc is None or name in fixed else replace(desc, dtype=dtype)
                for name, desc in call.tensors.items()
            },
        )

    def other_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        rng = self.rng
        dims = list(shape)
        kind = rng.choice(
            ("dim", "dim", "zero", "one", "add", "drop", "negative", "huge", "all", "long", "none")
        )
        at = rng.randrange(len(dims)) if dims else 0
        if kind == "none":
            return ()
        if kind == "all":
            return tuple(
                rng.choice((0, 1, 1, 2, 3, 4, rng.choice(_HUGE), rng.choice(_NEGATIVE)))
                for _ in range(rng.randint(0, 9))
            )
        if kind == "long":
            return tuple(
                rng.choice((1, 1, 2)) for _ in range(rng.choice((8, 9, 9, 12, 25, 26, 40)))
            )
        if kind == "add":
            dims.insert(at, rng.choice((1, 1, 2, 0)))
        elif not dims:
            return (rng.randint(0, 4),)
        elif kind == "drop":
            del dims[at]
        else:
            dims[at] = {
                "dim": rng.randint(1, 9),
                "zero": 0,
                "one": 1,
                "negative": rng.choice(_NEGATIVE),
                "huge": rng.choice(_HUGE),
            }[kind]
        return tuple(dims)

    def shape(self, call: Call) -> Call:
        name = self.some(call)
        if name is None:
            return call
        desc = call.tensor(name)
        return call.with_tensor(
            name, shape=self.other_shape(desc.shape), strides=None, storage=None, offset=0
        )

    def all_shapes(self, call: Call) -> Call:
        state = self.rng.getstate()
        tensors: dict[str, TensorDesc | None] = {}
        for name, desc in call.tensors.items():
            if desc is None:
                tensors[name] = None
                continue
            # The same choices for all: equal shapes stay equal.
            self.rng.setstate(state)
            tensors[name] = TensorDesc(self.other_shape(desc.shape), desc.dtype)
        return replace(call, tensors=tensors)

    def strides(self, call: Call) -> Call:
        name, rng = self.some(call), self.rng
        if name is None:
            return call
        desc = call.tensor(name)
        odd = (0, 1, -1, 3, 1000, 2**31, 2**62, I64_MAX, I64_MIN, -(2**40))
        if rng.random() < 0.5:
            strides = tuple(rng.choice(odd) for _ in desc.shape)
        else:
            strides = tuple(s + rng.choice((0, 0, 1, -1)) for s in desc.view_strides)
            strides = tuple(s if I64_MIN <= s <= I64_MAX else 1 for s in strides)
        return call.with_tensor(name, strides=strides)

    def offset(self, call: Call) -> Call:
        name, rng = self.some(call), self.rng
        if name is None:
            return call
        size = math.prod(call.tensor(name).storage_shape)
        near = (size - 1, size, size + 1) if abs(size) < 2**62 else (1,)
        odd = (-1, 1, 2, -(2**40), 2**40, 2**61, 2**62, I64_MAX, I64_MIN)
        return call.with_tensor(name, offset=rng.choice(near + odd))

    def storage(self, call: Call) -> Call:
        name, rng = self.some(call), self.rng
        if name is None:
            return call
        size = call.tensor(name).size
        near = [(size,), (size - 1,), (size + 3,), (1, size, 1)] if abs(size) < 2**62 else [(1,)]
        odd: list[tuple[int, ...]] = [(), (0,), (-1,), (1,), (2, 0, 3), (-2, -3), (1,) * 26]
        far: list[tuple[int, ...]] = [(I64_MAX,), (2**32, 2**32), (I64_MIN, -1), (2**40,)]
        return call.with_tensor(name, storage=rng.choice(near + near + odd + far))

    def attr(self, call: Call) -> Call:
        rng, spec = self.rng, self.spec
        if not spec.attr_args:
            return self.shape(call)
        attr = rng.choice(spec.attr_args)
        value: AttrValue
        if attr.c_type == "double":
            tiny = (0.0, -0.0, 5e-324, 1e-45, 1e-38)
            large = (math.inf, -math.inf, math.nan, 1e300, -1e308, 3.4028236e38)
            value = rng.choice(tiny + large)
        elif attr.c_type == "bool":
            value = rng.random() < 0.5
        else:
            rank = max((desc.rank for desc in call.tensors.values() if desc is not None), default=0)
            edges = rng.choice((rank, rank - 1, -rank, -rank - 1, 0, 1))
            far = rng.choice((I64_MIN, I64_MAX, 2**31, -(2**31) - 1, 2**32, rng.randint(-10, 10)))
            value = rng.choice((edges, far))
        return call.with_attr(attr.name, value)

    def odd_handle(self, call: Call) -> Call:
        name = self.some(call)
        if name is not None:
            self.odd[name] = self.rng.choice(("destroyed", "garbage", "host", "executor"))
        return call

    def formats(self, call: Call) -> Call:
        """Give a few tensors another format.

        A private one only to a plain tensor: its view says nothing about memory, so that no check
        of strides or storage applies.
        """
        rng = self.rng
        for name, desc in call.tensors.items():
            if desc is None or rng.random() > 0.06:
                continue
            number = rng.choice((0, 1, 2, 16, 27, 29, 30, rng.randint(-1, 60), 100, 2**31 - 1))
            plain = desc.strides is None and desc.storage is None and desc.offset == 0
            sane = min(desc.shape, default=0) >= 0 and desc.size < 2**40
            private = (number & 0xFF) in PRIVATE_FORMATS.values()
            if (private and not (plain and sane)) or (number & 0xFF) in _NAMELESS:
                number = 0
            name_of = _FORMAT_NAMES.get(number, str(number))
            call = call.with_tensor(name, format=name_of)
        return call
