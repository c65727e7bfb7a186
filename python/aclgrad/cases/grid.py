# SPDX-License-Identifier: Apache-2.0
"""The cases of an operator project: those that its golden file describes, else the standard grid of
shapes, tails, values and layouts for every dtype combination of its definition.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from aclgrad.cases import made_inputs
from aclgrad.cases.golden_file import GoldenFile, golden_error
from aclgrad.common import host_memory
from aclgrad.reading.sources import SourcesError, numpy_name
from aclgrad.running.operand_words import attr_zero, given_or_zero
from aclgrad.spec import dtypes
from aclgrad.spec.call import Call, TensorDesc
from aclgrad.spec.cases import (
    EXPONENTS,
    ORDINARY,
    Case,
    elementwise_points,
    exponents,
    fill,
    has_room,
    scaled,
    strided,
    view,
)
from aclgrad.spec.definition import Definition, Value
from aclgrad.spec.dtypes import Array
from aclgrad.testing.api import OwnCase, shapes_of


@dataclass(frozen=True)
class ProjectCase(Case):
    """A case of an operator that comes as sources."""

    path: str = ""
    attrs: Mapping[str, Value] = field(default_factory=dict)
    row: tuple[str, ...] = ()  # dtypes of inputs and outputs as the definition spells them
    descs: tuple[tuple[TensorDesc, ...], ...] = ()  # of each input's tensors
    own: OwnCase | None = None
    draw: str = "drawn"  # how values are made of which the operator may not take any

    @property
    def word(self) -> str:
        """What commands call the operator."""
        return self.path

    @property
    def place(self) -> str:
        """Where the golden file has it."""
        return self.own.place if self.own else ""

    @property
    def of_project(self) -> bool:
        """Always."""
        return True

    def inputs(self, seed: int = 0) -> list[list[Array]]:
        """Views of the inputs' tensors, rounded to their dtypes."""
        rng = np.random.default_rng((self.seed, seed))
        names = [*self.call.tensors]
        smaller = {*self.smaller} if self.exponent else set()
        return [
            [self._array(rng, name, place, desc, name in smaller) for desc in param]
            for place, (name, param) in enumerate(zip(names, self.descs, strict=True))
        ]

    @property
    def invented(self) -> str:
        """The inputs that the operator may not allow, with how they were drawn."""
        found = []
        for place, (name, param) in enumerate(zip(self.call.tensors, self.descs, strict=True)):
            drawn = self._drawn(name, place, param[0]) if param else None
            found += [f"{name} {drawn[1]}"] if drawn is not None else []
        return "; ".join(found)

    def _drawn(self, name: str, place: int, desc: TensorDesc) -> tuple[Array, str] | None:
        first = next(param[0] for param in self.descs if param)
        if self.own is not None:
            return None
        kinds, shapes = (desc.dtype, first.dtype), (desc.shape, first.shape)
        return made_inputs.draw(self.op, name, place, kinds, shapes, self.attrs, self.draw)

    @property
    def smaller(self) -> list[str]:
        """Floating-point inputs that further runs multiply by a power of two: those that the case
        names, else those of random values that may be as small as one likes.
        """
        named = self.own.scale if self.own else None
        return [
            name
            for name, param in zip(self.call.tensors, self.descs, strict=True)
            if all(desc.dtype.kind not in "biu" for desc in param)
            and param
            and (name in named if named is not None else self._magnitude(name, param[0]) > 0)
        ]

    def _magnitude(self, name: str, desc: TensorDesc) -> float:
        """How large the values of an input get; 0 where they are not random, or not near 0."""
        values = self.own.values if self.own else self.values
        if isinstance(values, Mapping):
            values = values.get(name, "uniform")
        if isinstance(values, str):
            row = max(desc.shape[-1] if desc.shape else 1, 1)
            known = {"probability": 2.5 / row, **dict.fromkeys(ORDINARY, 1.0)}
            return known[values] if values in ORDINARY else 0.0
        if isinstance(values, tuple) and len(values) == 2 and values[0] <= 0 <= values[1]:
            return float(max(-values[0], values[1]))
        return 0.0

    def at_scales(self) -> Iterator[ProjectCase]:
        """The case at the smaller scales that its dtypes have room for."""
        tensors = dict(zip(self.call.tensors, self.descs, strict=True))
        names = self.smaller
        if not names or any(desc.empty for param in self.descs for desc in param):
            return
        kinds = [dtypes.by_label(name.removeprefix("DT_")) for name in self.row]
        sizes = [self._magnitude(name, tensors[name][0]) for name in names]
        size = min(filter(None, sizes), default=1.0)
        for exponent in EXPONENTS:
            if has_room(kinds, size, exponent):
                yield dataclasses.replace(self, name=f"{self.name}-2^{exponent}", exponent=exponent)

    def _array(
        self, rng: np.random.Generator, name: str, place: int, desc: TensorDesc, smaller: bool
    ) -> Array:
        values = self.own.values if self.own else self.values
        if isinstance(values, Mapping):
            values = values.get(name, "uniform")
        numpy = desc.dtype.numpy
        size = int(np.prod(desc.storage_shape, dtype=np.int64))
        host_memory.need(size * (8 + numpy.itemsize), f"values of {name}")
        if (made := self._drawn(name, place, desc)) is not None:
            values = made[0]
        if isinstance(values, str):
            data = (
                fill(rng, values, desc, place)
                if desc.dtype.kind not in "iu"
                else rng.integers(*made_inputs.small_integers(desc.dtype), size).astype(numpy)
            )
        elif isinstance(values, tuple) and len(values) == 2:
            low, high = values
            drawn = (
                rng.integers(low, high, size, endpoint=True)
                if desc.dtype.kind in "iu"
                else rng.uniform(low, high, size)
            )
            data = drawn.astype(numpy)
        else:
            given = np.asarray(values)
            if given.shape != desc.shape:
                raise ValueError(f"values of {name}: got shape {given.shape}, want {desc.shape}")
            flat = np.zeros(size, numpy)
            view(flat, desc)[...] = given.astype(numpy)
            data = flat
        return view(scaled(data, self.exponent) if smaller and made is None else data, desc)


def label(row: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A dtype combination in a word: the first input's dtype where that says it."""
    kinds = [dtypes.by_label(name.removeprefix("DT_")) for name in row]
    words = [kind.alias or kind.name for kind in kinds]
    return words[0] if sum(other[:1] == row[:1] for other in rows) == 1 else "+".join(words)


def cases(
    golden: GoldenFile | None,
    op: Definition,
    rows: Sequence[tuple[str, ...]],
    *,
    stem: str,
    path: str,
    fast: bool = False,
) -> list[ProjectCase]:
    """All cases of an operator, no two of one name."""
    own = golden.cases() if golden else None
    if golden is None or own is None:
        found = [case for row in rows for case in _standard(op, row, rows, stem, path, fast)]
    else:
        found = []
        whole = (case for item in own for case in _own(golden, item, rows, stem, path))
        for number, case in enumerate(whole):
            found.append(case)
            found += case.at_scales() if exponents(number, fast) else ()
    counts: dict[str, int] = {}
    unique = []
    for case in found:
        counts[case.name] = count = counts.get(case.name, 0) + 1
        unique.append(
            case if count == 1 else dataclasses.replace(case, name=f"{case.name}-{count}")
        )
    return unique


def _own(
    golden: GoldenFile, item: OwnCase, rows: Sequence[tuple[str, ...]], stem: str, path: str
) -> Iterator[ProjectCase]:
    op = golden.op
    line = int(item.place.rpartition(":")[2])
    names = [param.name for param in op.inputs]

    def refuse(text: str) -> Exception:
        return golden_error(op.type, golden.path, line, text)

    shapes: Mapping[str, object]
    if isinstance(item.shapes, Mapping):
        shapes = item.shapes
        if unknown := [name for name in shapes if name not in names]:
            raise refuse(f"case: no input {unknown[0]}; the definition has {', '.join(names)}")
    else:
        shapes = {
            param.name: None
            if param.kind == "optional"
            else [item.shapes] * 2
            if param.kind == "dynamic"
            else item.shapes
            for param in op.inputs
        }
    attrs = _attrs(op, item, refuse)
    valued = item.values if isinstance(item.values, Mapping) else {}
    if unknown := [name for name in valued if name not in names]:
        raise refuse(f"case: values of {unknown[0]}, the inputs are {', '.join(names)}")
    if unknown := [name for name in item.scale or () if name not in names]:
        raise refuse(f"case: scale of {unknown[0]}, the inputs are {', '.join(names)}")
    wanted = [dtypes.parse(word) for word in item.dtypes]
    chosen = [row for row in rows if not wanted or row[0] in {kind.ge for kind in wanted}]
    if missing := [kind for kind in wanted if kind.ge not in {row[0] for row in rows}]:
        offered = ", ".join(dict.fromkeys(numpy_name(row[0]) for row in rows))
        raise refuse(f"case: no kernel for {missing[0].name}; the definition has {offered}")
    for row in chosen:
        descs = []
        for param, name in zip(op.inputs, row, strict=False):
            tensors = shapes_of(shapes.get(param.name))
            if not tensors and param.kind != "optional":
                raise refuse(f"case: no shape of input {param.name}")
            if len(tensors) > 1 and param.kind != "dynamic":
                raise refuse(f"case: input {param.name} is one tensor, got {len(tensors)}")
            kind = dtypes.by_label(name.removeprefix("DT_"))
            descs.append(tuple(strided(TensorDesc(dims, kind), item.layout) for dims in tensors))
        words = [label(row, rows)]
        if item.name:
            words.append(item.name)
        else:
            dims = [_dims_word(param) for param in descs]
            words += dims[:1] if len(set(dims)) == 1 else dims
            words += [f"{name}{_word(value)}" for name, value in item.attrs.items()]
            words += [_word(item.values)] if item.values != "uniform" else []
            words += [item.layout] if item.layout != "contiguous" else []
        yield _made("-".join(words), stem, path, row, names, descs, attrs, item.values, item)


def _attrs(op: Definition, item: OwnCase, refuse: Callable[[str], Exception]) -> dict[str, Value]:
    known = {attr.name: attr for attr in op.attrs}
    if unknown := [name for name in item.attrs if name not in known]:
        raise refuse(
            f"case: no attribute {unknown[0]}; the definition has {', '.join(known) or 'none'}"
        )
    values = {name: attr.default for name, attr in known.items()}
    for name, value in item.attrs.items():
        kind = known[name].kind
        kinds: dict[str, type | tuple[type, ...]] = {
            "Int": int,
            "Float": (int, float),
            "Bool": bool,
            "String": str,
        }
        wanted = kinds.get(kind, (list, tuple))
        if not isinstance(value, wanted) or (isinstance(value, bool) and kind != "Bool"):
            raise refuse(f"case: attribute {name}: got {value!r}, want {kind}")
        values[name] = list(value) if isinstance(value, tuple) else value
    for name, attr in known.items():
        if values[name] is None:
            if attr.required:
                raise refuse(f"case: attribute {name} is required and not given")
            values[name] = attr_zero(attr.kind)
    return values


def _word(value: object) -> str:
    if isinstance(value, Mapping):
        return "+".join(f"{name}.{_word(item)}" for name, item in value.items())
    if isinstance(value, (tuple, list)):
        return "_".join(map(str, value))
    return "array" if isinstance(value, np.ndarray) else str(value)


def _dims_word(param: Sequence[TensorDesc]) -> str:
    return "+".join("x".join(map(str, desc.shape)) or "scalar" for desc in param) or "none"


def _made(
    name: str,
    stem: str,
    path: str,
    row: tuple[str, ...],
    names: Sequence[str],
    descs: Sequence[tuple[TensorDesc, ...]],
    attrs: Mapping[str, Value],
    values: object,
    own: OwnCase | None,
    guessed: bool = False,
) -> ProjectCase:
    tensors = {
        param: given[0] if given else None for param, given in zip(names, descs, strict=True)
    }
    word = values if isinstance(values, str) else "own"
    return ProjectCase(
        name,
        stem,
        Call(tensors),
        word,
        attrs=dict(attrs),
        path=path,
        row=tuple(row),
        descs=tuple(descs),
        own=own,
        guessed=guessed,
    )


def _standard(
    op: Definition,
    row: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    stem: str,
    path: str,
    fast: bool,
) -> Iterator[ProjectCase]:
    host = [item.name for item in op.inputs if item.value_depend]
    if host or not op.inputs:
        why = f"input {host[0]} is read by tiling" if host else "it has no inputs"
        raise SourcesError(
            f"{op.type}: the standard grid cannot guess its inputs: {why}. Next: describe cases"
            f" in cases() of {stem}_golden.py"
        )
    kinds = [dtypes.by_label(name.removeprefix("DT_")) for name in row]
    attrs = given_or_zero(op.attrs, op.defaults())
    names = [item.name for item in op.inputs]
    real = kinds[0].kind not in "biu"
    seen = set()
    for number, point in enumerate(elementwise_points(kinds[0].numpy.itemsize, fast)):
        whole, out = (
            strided(TensorDesc(point.shape, kinds[0]), layout)
            for layout in (point.layout, point.out_layout)
        )
        name = "-".join([label(row, rows), *point.words])
        plain = out.contiguous and not out.offset and (real or point.values in _PLAIN)
        if not plain or name in seen:
            continue
        seen.add(name)
        descs = []
        for item, kind in zip(op.inputs, kinds, strict=False):
            one = dataclasses.replace(whole, dtype=kind)
            if item.scalar or item.scalar_list:
                one = TensorDesc((1,), kind)
            absent = item.kind == "optional"
            descs.append(() if absent else (one,) * (2 if item.kind == "dynamic" else 1))
        made = _made(name, stem, path, row, names, descs, attrs, point.values, None, True)
        yield made
        if point.values in ORDINARY and not whole.empty and made.smaller:
            for exponent in exponents(number, fast):
                if has_room(kinds, 1.0, exponent) and has_room(kinds[:1], 1.0, exponent):
                    scale = f"{name}-2^{exponent}"
                    yield dataclasses.replace(made, name=scale, exponent=exponent)
    for shape, at_scales in _several_tiles(kinds[0].numpy.itemsize, fast):
        for case in one_shape(op, [row], shape, attrs, stem=stem, path=path):
            name = f"{label(row, rows)}-{'x'.join(map(str, shape))}-uniform"
            if name not in seen:
                seen.add(name)
                made = dataclasses.replace(case, name=name, guessed=True)
                yield made
                yield from made.at_scales() if at_scales else ()


def _several_tiles(itemsize: int, fast: bool) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Shapes that give each core of the largest SoC in use two tiles where buffers are doubled, and
    without ``fast`` more than UB holds. Each comes with whether it is run at smaller scales too:
    the last one has a third of all elements of the grid, and scales of data meet no tile of it
    that they do not meet elsewhere.
    """
    cores, ub = 48, 196352
    yield ((cores * ub // 4 * 5 // 4) // itemsize + 37,), not fast
    if not fast:
        yield ((cores * ub * 17 // 16) // itemsize // 509, 509), False


_PLAIN = ("uniform", "normal", "wide", "zero")


def one_shape(
    op: Definition,
    rows: Sequence[tuple[str, ...]],
    shape: tuple[int, ...],
    attrs: Mapping[str, Value],
    *,
    stem: str,
    path: str,
    values: str = "uniform",
    layout: str = "contiguous",
) -> list[ProjectCase]:
    """A case of every dtype combination in which all tensors have one shape."""
    names = [item.name for item in op.inputs]
    found = []
    for row in rows:
        kinds = [dtypes.by_label(name.removeprefix("DT_")) for name in row]
        descs: list[tuple[TensorDesc, ...]] = []
        for item, kind in zip(op.inputs, kinds, strict=False):
            alone = item.scalar or item.scalar_list
            one = TensorDesc((1,), kind) if alone else strided(TensorDesc(shape, kind), layout)
            count = {"optional": 0, "dynamic": 2}.get(item.kind, 1)
            descs.append((one,) * count)
        words = [label(row, rows), "x".join(map(str, shape)) or "scalar"]
        words += [f"{name}{_word(value)}" for name, value in attrs.items()]
        words += [values] if values != "uniform" else []
        words += [layout] if layout != "contiguous" else []
        found.append(_made("-".join(words), stem, path, row, names, descs, attrs, values, None))
    return found
