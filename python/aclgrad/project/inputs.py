# SPDX-License-Identifier: Apache-2.0
"""Inputs for an operator of which only the definition is known: shapes and values that its own
inference and tiling are likely to take. What does not fit they refuse.
"""

from __future__ import annotations

import dataclasses
import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aclgrad.spec import dtypes

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """Inputs by parameter, each a list of tensors (none: absent), and every attribute's value."""

    label: str
    inputs: list[list[NDArray[Any]]]
    attrs: dict[str, Any]
    outputs: tuple[tuple[Shape, None], ...] = ()  # a guess, where there is no inference to ask


_BASES: tuple[Shape, ...] = (
    (8, 64),
    (1024,),
    (2, 8, 64),
    (2, 16, 8, 8),
    (1, 2, 16, 8, 8),
    (256, 32),
)
"""Shapes of the main inputs. Two more than blocks, rows of whole blocks, a few cores' worth."""

_VECTOR = re.compile(r"gamma|beta|weight|bias|scale|offset|zero_?point|smooth|momentum|^w$|^b$")
_STATISTIC = re.compile(r"mean|rstd|var|std|lse|_max$|_sum$|softmax_")
_INDEX = re.compile(r"ind(ex|ices)|idx|target|label|segment|_ids?$|sorted|argmax|position|perm")
_ORDER = re.compile(r"row_?idx|out_index|token_id$")
"""Which row goes where: each row once."""

_SHARES = re.compile(r"(token|row)s?_nums?|num_per_|_counts?$|_lengths?$")
"""How many rows belong to each of some: together as many as there are."""

_COUNTING = {"num", "number", "count", "size"}
"""Words of attributes that say how many there are."""

_SIZE_ONE = re.compile(
    r"^(lr|eps(ilon)?|step|alpha|value|max_grad_norm|global_grad_norm|found_inf|inv_scale|p"
    r"|beta[12]_power|weight_decay|min|max|scalar|keep_prob|drop_mask_?)$"
)
_UPDATE = re.compile(r"update|source|^src$|values?$")

Role = Callable[[str, Shape, int], Shape]


def _same(name: str, base: Shape, place: int) -> Shape:
    return base


def _roles(name: str, base: Shape, place: int) -> Shape:
    """As normalisations have it: vectors of the last dim, a statistic per row."""
    if place and _SIZE_ONE.search(name):
        return (1,)
    if place and _STATISTIC.search(name):
        return (*base[:-1], 1)
    if place and _VECTOR.search(name):
        return base[-1:]
    return base


def _channels(name: str, base: Shape, place: int) -> Shape:
    """Vectors of the second dim, as images have them."""
    second = base[1:2] or base
    return second if place and (_STATISTIC.search(name) or _VECTOR.search(name)) else base


def _rows(name: str, base: Shape, place: int) -> Shape:
    """A value per row."""
    inner = bool(_STATISTIC.search(name) or _INDEX.search(name) or _SIZE_ONE.search(name))
    return base[:-1] if place and inner and len(base) > 1 else base


def _gathered(name: str, base: Shape, place: int) -> Shape:
    """Four positions, and a slice for each."""
    if _INDEX.search(name):
        return (4,)
    return (4, *base[1:]) if place and _UPDATE.search(name) else base


def _gathered_nd(name: str, base: Shape, place: int) -> Shape:
    return (4, 1) if _INDEX.search(name) else _gathered(name, base, place)


def _first_only(name: str, base: Shape, place: int) -> Shape:
    """Numbers beside one tensor."""
    return (1,) if place else base


def _last_vector(name: str, base: Shape, place: int) -> Shape:
    return base[-1:] if place else base


_STYLES: tuple[tuple[str, Role], ...] = (
    ("same", _same),
    ("roles", _roles),
    ("gathered", _gathered),
    ("rows", _rows),
    ("first", _first_only),
    ("channels", _channels),
    ("vectors", _last_vector),
    ("nd", _gathered_nd),
)


def cases(op: Mapping[str, Any], row: Sequence[str], limit: int = 48) -> Iterator[Case]:
    """Cases for one dtype combination, likely ones first, none twice."""
    seen: set[str] = set()
    for found, most in ((_likely(op, row), limit - 3), (_bare(op, row), limit)):
        for case in found:
            if len(seen) >= most:
                break
            if case.label not in seen:
                seen.add(case.label)
                yield case


def _likely(op: Mapping[str, Any], row: Sequence[str]) -> Iterator[Case]:
    optional = any(item["kind"] == "optional" for item in op["inputs"])
    for given in (False, True) if optional else (False,):
        for style, role in _STYLES:
            for base in _BASES:
                yield _case(op, row, base, role, optionals=given)
            if style == "same" and len(op["inputs"]) == 1:
                break


def _bare(op: Mapping[str, Any], row: Sequence[str]) -> Iterator[Case]:
    """For inference that is there but says nothing: outputs like the inputs."""
    for base in _BASES[:3] if op["inferShape"] else ():
        case = _case(op, row, base, _same, optionals=False)
        outputs = _guess(op, case.inputs)
        yield dataclasses.replace(case, label=f"{case.label}, outputs given", outputs=outputs)


def _case(
    op: Mapping[str, Any], row: Sequence[str], base: Shape, role: Role, *, optionals: bool
) -> Case:
    attrs = {attr["name"]: _attr(attr, base) for attr in op["attrs"]}
    inputs: list[list[NDArray[Any]]] = []
    words = []
    for place, (item, dtype) in enumerate(zip(op["inputs"], row, strict=False)):
        if item["kind"] == "optional" and not optionals:
            inputs.append([])
            continue
        kind = dtypes.by_label(dtype.removeprefix("DT_"))
        name = item["name"].lower()
        if item["valueDepend"]:
            numbers = _host_values(name, base)
            array = np.asarray(numbers).astype(kind.numpy)
            inputs.append([array])
            words.append(f"{name}={numbers}")
            continue
        shape = role(name, base, place)
        if item["scalar"] or item["scalarList"]:
            shape = (2,) if item["scalarList"] else (1,)
        elif any(other["kind"] == "dynamic" for other in op["inputs"]) and place:
            # Beside lists of tensors: a number for all, or one for each tensor.
            if re.search(r"scalars$|steps$|weights$", name):
                shape = (2,)
            elif item["kind"] != "dynamic":
                shape = (1,)
        count = 2 if item["kind"] == "dynamic" else 1
        special = _integers(op, name, shape, base, attrs) if kind.numpy.kind in "iu" else None
        if special is not None:
            arrays = [special.astype(kind.numpy)] * count
        else:
            arrays = [_values(f"{name}{i}", shape, kind, base) for i in range(count)]
        inputs.append(arrays)
        words.append(f"{name}{list(shape)}" + ("x2" if count == 2 else ""))
    outputs = () if op["inferShape"] else _guess(op, inputs)
    return Case(", ".join(words), inputs, attrs, outputs)


def _guess(
    op: Mapping[str, Any], inputs: Sequence[Sequence[NDArray[Any]]]
) -> tuple[tuple[Shape, None], ...]:
    """Outputs as large as the inputs together, where op_host has no inference."""
    shapes: list[Shape] = []
    for item in op["outputs"]:
        lists = [param for param in inputs if len(param) > 1]
        if item["kind"] == "dynamic" and lists:
            shapes += [array.shape for array in lists[0]]
            continue
        own = [
            param[0].shape
            for param, source in zip(inputs, op["inputs"], strict=True)
            if param and not source["valueDepend"] and not source["scalar"]
        ]
        try:
            shapes.append(np.broadcast_shapes(*(own or [(1,)])))
        except ValueError:
            shapes.append(own[0])
    return tuple((shape, None) for shape in shapes)


def _integers(
    op: Mapping[str, Any], name: str, shape: Shape, base: Shape, attrs: Mapping[str, Any]
) -> NDArray[Any] | None:
    """Integers that mean something together, or one of as many as an attribute says; nothing for
    others.
    """
    size = math.prod(shape)
    rng = np.random.default_rng(zlib.crc32(f"{name}{shape}".encode()))
    sorts = re.search(r"sorted_ind", name) and "ermute" in op["type"]
    if _ORDER.search(name) or sorts:
        return rng.permutation(size).reshape(shape)
    if _SHARES.search(name) and size:
        return (base[0] // size + (np.arange(size) < base[0] % size)).reshape(shape)
    stems = {word.rstrip("s") for word in name.split("_")} - _COUNTING
    for attr, value in attrs.items():
        words = {word.rstrip("s") for word in attr.lower().split("_")}
        if words & _COUNTING and words & stems and isinstance(value, int) and value > 0:
            return np.sort(rng.integers(0, value, size)).reshape(shape)
    return None


def _values(name: str, shape: Shape, kind: dtypes.DType, base: Shape) -> NDArray[Any]:
    """Numbers of either sign for reals, valid positions for integers; the same in every run."""
    rng = np.random.default_rng(zlib.crc32(f"{name}{shape}".encode()))
    numpy = kind.numpy
    if numpy.kind == "b":
        return rng.integers(0, 2, shape).astype(numpy)
    if numpy.kind == "c":
        real, imaginary = rng.uniform(-1, 1, (2, *shape))
        whole: NDArray[Any] = (real + 1j * imaginary).astype(numpy)
        return whole
    if numpy.kind in "iu":
        if _INDEX.search(name):
            # Distinct where there are few enough: duplicates make the order of writes matter.
            size, bound = math.prod(shape), min(base)
            flat = rng.permutation(max(size, bound)) % bound
            return np.sort(flat[:size]).reshape(shape).astype(numpy)
        return rng.integers(0 if numpy.kind == "u" else -4, 9, shape).astype(numpy)
    values = rng.uniform(-2, 2, shape)
    if re.search(r"var|std|^scales?|sq_|second|_v$", name):
        values = np.abs(values) + 0.25  # what roots and divisions are taken of
    return values.astype(numpy)


def _host_values(name: str, base: Shape) -> list[int]:
    """Numbers that inference or tiling reads."""
    rank = len(base)
    for pattern, values in (
        (r"^(axis|axes|dims?|reduce_axes|sections?_dim)$", [rank - 1]),
        (r"perm", [*range(rank - 2), rank - 1, rank - 2] if rank > 1 else [0]),
        (r"pad", [0, 0] * rank),
        (r"multiple|repeat|tile", [1] * (rank - 1) + [2]),
        (r"begin|offset|start", [0] * rank),
        (r"stride", [1] * rank),
        (r"shape|size|end", [*base]),
        (r"^k$|^n$|num|depth", [4]),
    ):
        if re.search(pattern, name):
            return list(values)
    return [1]


_INTEGERS = (
    (r"group", 2),
    (r"^(dim|axis)$", -1),
    (r"begin_norm_axis|norm_axis", -1),
    (r"^k$|num|depth|size|repeat", 4),
)


def _attr(attr: Mapping[str, Any], base: Shape) -> Any:
    """The default; without one what its name asks for."""
    if attr["default"] is not None:
        return attr["default"]
    name, kind = attr["name"].lower(), attr["kind"]
    if kind == "Int":
        return next((value for pattern, value in _INTEGERS if re.search(pattern, name)), 1)
    if kind == "Float":
        return 1e-5 if "eps" in name else 0.5
    if kind == "Bool":
        return False
    if kind == "String":
        return "mean" if "reduction" in name else "none"
    if kind == "ListInt":
        spatial = [*base[2:]] or [*base]
        for pattern, values in (
            (r"axis|axes|^dims?$", [-1]),
            (r"normalized_shape", [base[-1]]),
            (r"kernel|ksize|window", [2] * len(spatial)),
            (r"pad", [0] * len(spatial)),
            (r"stride|dilation", [1] * len(spatial)),
            (r"output_size", [2] * len(spatial)),
            (r"multiple|repeat", [1] * (len(base) - 1) + [2]),
            (r"perm", [*reversed(range(len(base)))]),
            (r"shape|size|end", [*base]),
        ):
            if re.search(pattern, name):
                return list(values)
        return [1]
    if kind == "ListFloat":
        return [0.5, 0.5]
    if kind == "ListBool":
        return [True]
    return []
