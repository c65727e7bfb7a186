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

import numpy as np

from aclgrad.spec import dtypes
from aclgrad.spec.definition import AttrDef, Definition, Param, Value
from aclgrad.spec.dtypes import Array

Shape = tuple[int, ...]


@dataclass(frozen=True)
class MadeCase:
    """Inputs by parameter, each a list of tensors (none: absent), and every attribute's value."""

    label: str
    inputs: list[list[Array]]
    attrs: dict[str, Value]
    outputs: tuple[tuple[Shape, None], ...] = ()  # a guess, where there is no inference to ask
    recipe: Recipe | None = None
    values: tuple[str, ...] = ()  # how values were drawn that may be outside of a contract
    shapes: tuple[str, ...] = ()  # shapes that differ, and may be outside of it

    positions: int = 0  # elements of the largest input that says where something lies
    repeats: bool = False  # whether such an input names a place more than once

    @property
    def reach(self) -> int:
        """Elements that it may have to compute: a row for each position."""
        rows = self.recipe.base[-1:] if self.recipe and self.positions else ()
        sizes = (array.size for param in self.inputs for array in param)
        return max([self.positions * math.prod(rows), *sizes])

    @property
    def invented(self) -> str:
        """All that the operator may not allow."""
        return "; ".join((*self.values, *self.shapes))


@dataclass(frozen=True)
class Recipe:
    """How a case is made; with other values, or in another style, it is made again."""

    base: Shape
    style: str = "same"
    optionals: bool = False
    values: str = "drawn"
    odd: str = ""  # an input with a shape that goes with no other
    turned: str = ""  # an attribute that is given the other way
    alone: str = ""  # the one optional input that is given


DRAWS = ("again", "ones", "zeros")
"""Other values than those of ``Recipe.values``: one is harmless to nearly every operator."""

TOGETHER = "were given together"
"""What is said of optional inputs, some of which may not go with others."""

TWOS = "twos"
"""All inputs but the first are 2: an exponent, a factor or a count that an operator takes."""


BASES: tuple[Shape, ...] = (
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

_SHARES = re.compile(r"(token|row)s?_nums?|num_per_|_counts?$|(^|_)len(gth)?s?$")
"""How many rows belong to each of some: together as many as there are."""

_CUMULATIVE = re.compile(
    r"^cu_|cu_?seq|cumul|cum_?sum|_ptr$|indptr|offsets$|splits$|group_list|segment_(ends?|starts?)$"
)
"""Where each of some rows ends: never less than the one before."""

_COUNTING = {"num", "number", "count", "size"}
"""Words of attributes that say how many there are."""

_SIZE_ONE = re.compile(
    r"^(lr|eps(ilon)?|step|alpha|value|max_grad_norm|global_grad_norm|found_inf|inv_scale|p"
    r"|beta[12]_power|weight_decay|min|max|scalar|keep_prob|drop_mask_?)$"
)
_RESULT_DTYPE = re.compile(r"^((dst|y|out(put)?)_?)?dtype$|^dst_type$")
"""Attributes that say what the result is to be of."""

_UPDATE = re.compile(r"update|source|^src$|values?$")

_POSITIVE = re.compile(
    r"var|std|^scales?|_scales?$|sq_|sqrt|second|_v$|(^|_)log|norm|denom|divisor|(^|_)p(rob)?$"
)
"""What roots, logarithms and divisions are taken of."""

_LOWEST = re.compile(r"(^|_)(min|low|lower|minimum|left)(_|$)|_min\b|lower_?bound")
_HIGHEST = re.compile(r"(^|_)(max|high|upper|maximum|right)(_|$)|_max\b|upper_?bound")
_MASK = re.compile(r"mask|flag|keep|valid|active")
_CONTRACT = re.compile(
    r"bound|limit|eps|seed|zero_?point|offset|alpha|threshold|weight_?decay|(^|_)(lr|step)(_|$)"
)
"""Other names of tensors that seldom take any value."""

_OPPOSITES = {
    "static": "dynamic",
    "dynamic": "static",
    "none": "mean",
    "mean": "none",
    "sum": "none",
}


def other_way(value: Value) -> Value:
    """Another value of an attribute that chooses between two ways, None if it does not."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return 1 - value if value in (0, 1) else None
    if isinstance(value, list) and value and all(isinstance(item, bool) for item in value):
        return [not item for item in value]
    return _OPPOSITES.get(value) if isinstance(value, str) else None


Role = Callable[[str, Shape, int], Shape]


_PER_ROW = re.compile(r"activat\w*_scale|per_?token|token_scale")
"""Scales of rows, as quantised matrix products have them beside scales of columns."""


def _same(name: str, base: Shape, place: int) -> Shape:
    return base


def _roles(name: str, base: Shape, place: int) -> Shape:
    """As normalisations have it: vectors of the last dim, a statistic per row."""
    if place and _SIZE_ONE.search(name):
        return (1,)
    if place and _STATISTIC.search(name):
        return (*base[:-1], 1)
    if place and _PER_ROW.search(name):
        return base[:-1] or base
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


def _columns(name: str, base: Shape, place: int) -> Shape:
    """A value per row, of the same rank, as broadcasting takes it."""
    return (*base[:-1], 1) if place and len(base) > 1 else base


def _groups(name: str, base: Shape, place: int) -> Shape:
    """A statistic for each of two groups of channels, which is what `_INTEGERS` says of groups."""
    statistic = place and _STATISTIC.search(name) and len(base) > 1
    return (base[0], 2) if statistic else _channels(name, base, place)


def _first_smaller(name: str, base: Shape, place: int) -> Shape:
    return base if place else base[-1:]


def _gathered(name: str, base: Shape, place: int) -> Shape:
    """Four positions, and a slice for each."""
    if _counts(name):
        return (4,)
    return (4, *base[1:]) if place and _UPDATE.search(name) else base


def _gathered_nd(name: str, base: Shape, place: int) -> Shape:
    return (4, 1) if _counts(name) else _gathered(name, base, place)


def _counts(name: str) -> bool:
    return any(words.search(name) for words in (_INDEX, _ORDER, _SHARES, _CUMULATIVE))


def _role_name(name: str, kind: dtypes.DType) -> str:
    """The name by which a role knows an input: floats say neither where something lies nor how many
    there are, whatever they are called.
    """
    if kind.kind in "iu" or not _counts(name):
        return name
    return "weight" if _VECTOR.search(name) else ""


def _first_only(name: str, base: Shape, place: int) -> Shape:
    """Numbers beside one tensor."""
    return base if not place else _gathered(name, base, place) if _counts(name) else (1,)


def _last_vector(name: str, base: Shape, place: int) -> Shape:
    return base[-1:] if place else base


_PRODUCT = re.compile(r"mat_?mul|gemm|^ffn$", re.IGNORECASE)
"""In the types of operators that multiply matrices."""

_FACTOR = re.compile(r"^(x2|b|w|mat_?2|other|rot|filter|(sparse_)?weights?1?)$")
"""The second matrix of a product."""

_COLUMNS = 96
"""Columns of that matrix: whole fractals of any dtype, and as many as no other extent has."""


def _product(name: str, base: Shape, place: int) -> Shape:
    """Matrices that go together, without a transpose: [.., M, K], [.., K, N], and as the result."""
    if not place or len(base) < 2:
        return base
    if _FACTOR.search(name):
        return (*base[:-2], base[-1], _COLUMNS)
    if name == "weight2":  # the second of two products, back to as many columns as x has
        return (*base[:-2], _COLUMNS, base[-1])
    if name == "bias2":
        return base[-1:]
    if _SIZE_ONE.search(name) or name == "beta":
        return (1,)
    if _PER_ROW.search(name) or name == "x1_scale":
        return base[:-1]
    return (_COLUMNS,) if _VECTOR.search(name) else (*base[:-1], _COLUMNS)


def _product_of_rows(name: str, base: Shape, place: int) -> Shape:
    """The same with a second matrix whose rows are the columns of the result, [.., N, K], as linear
    layers have it.
    """
    shape = _product(name, base, place)
    if place and len(base) > 1 and _FACTOR.search(name):
        return (*shape[:-2], shape[-1], shape[-2])
    return shape


def _is_attention(op: Definition) -> bool:
    return {"query", "key", "value"} <= {item.name.lower() for item in op.inputs}


_LONG: tuple[Shape, ...] = ((1, 2, 256, 128), (1, 256, 128))
"""Whole blocks of queries and keys, of as many numbers as heads mostly have."""


def _one_query(name: str, base: Shape, place: int) -> Shape:
    """As inference asks for the next token: one query, and the keys and values of all tokens."""
    return base if place or len(base) < 3 else (*base[:-2], 1, base[-1])


_RECURRENT = re.compile(r"rnn|lstm|gru(?![a-z])", re.IGNORECASE)
"""In the types of operators that carry a state from step to step."""


def _recurrent(gates: int) -> Role:
    """Weights of x [T, B, I], of states of as many numbers or of both have a column for each
    number of each gate.
    """

    def role(name: str, base: Shape, place: int) -> Shape:
        width = base[-1]
        if not place or len(base) != 3:
            return base
        if name == "w":
            return (2 * width, gates * width)
        if re.search(r"^w[ih]$|^weight_(input|hidden)$", name):
            return (width, gates * width)
        if re.search(r"^b[ih]?$", name):
            return (gates * width,)
        return (1, *base[1:]) if re.search(r"^init_|^d[hc]$", name) else base

    return role


_STYLES: tuple[tuple[str, Role], ...] = (
    ("same", _same),
    ("roles", _roles),
    ("gathered", _gathered),
    ("rows", _rows),
    ("first", _first_only),
    ("channels", _channels),
    ("vectors", _last_vector),
    ("nd", _gathered_nd),
    ("columns", _columns),
    ("first smaller", _first_smaller),
    ("groups", _groups),
    ("product", _product),
    ("product of rows", _product_of_rows),
    ("one query", _one_query),
    ("three gates", _recurrent(3)),
    ("four gates", _recurrent(4)),
)
STYLES = dict(_STYLES)
"""How the shapes of inputs belong together."""


_PRODUCTS = ("product", "product of rows")
_OWN_STYLES = (*_PRODUCTS, "one query", "three gates", "four gates")
"""Styles of operators of some types alone."""


def styles(op: Definition, row: Sequence[str]) -> list[str]:
    """Names of styles for inputs of some dtypes, likely ones first."""
    kinds = [dtypes.by_label(dtype.removeprefix("DT_")) for dtype in row]
    few = any(
        _counts(_role_name(item.name.lower(), kind))
        for item, kind in zip(op.inputs, kinds, strict=False)
    )
    first = ("gathered", "rows", "nd") if few else ()
    known = _styles_of(op)
    return [*first, *(name for name in known if name not in first)]


def _styles_of(op: Definition) -> list[str]:
    """Products come first where there is one, and nowhere else; so do one query, behind as many
    queries as keys, and gates.
    """
    first = [*_PRODUCTS] if _PRODUCT.search(op.type) else []
    first += ["same", "one query"] if _is_attention(op) else []
    if _RECURRENT.search(op.type):
        first.append("three gates" if "gru" in op.type.lower() else "four gates")
    return [*first, *(name for name in STYLES if name not in (*first, *_OWN_STYLES))]


def cases(op: Definition, row: Sequence[str], limit: int = 48) -> Iterator[MadeCase]:
    """Cases for one dtype combination, likely ones first, none twice."""
    seen: set[str] = set()
    for found, most in ((_likely(op, row), limit - 3), (_bare(op, row), limit)):
        for case in found:
            if len(seen) >= most:
                break
            if case.label not in seen:
                seen.add(case.label)
                yield case


def _likely(op: Definition, row: Sequence[str]) -> Iterator[MadeCase]:
    optional = any(_may_be_absent(op, item) for item in op.inputs)
    for given in (False, True) if optional else (False,):
        for style in _styles_of(op):
            for base in (*(_LONG if _is_attention(op) else ()), *BASES):
                yield made(op, row, Recipe(base, style, given))
            if style == "same" and len(op.inputs) == 1:
                break


def _may_be_absent(op: Definition, item: Param) -> bool:
    """Whether a case may leave an input out. A definition has no word for lists that are optional:
    of products they are what is added or scales beside the matrices.
    """
    name = item.name.lower()
    listed = item.kind == "dynamic" and item is not op.inputs[0] and _PRODUCT.search(op.type)
    return item.kind == "optional" or bool(
        listed and _VECTOR.search(name) and not _FACTOR.search(name)
    )


def _bare(op: Definition, row: Sequence[str]) -> Iterator[MadeCase]:
    """For inference that is there but says nothing: outputs like the inputs."""
    style = _styles_of(op)[0]
    chosen = [(base, False) for base in BASES[:3]]
    if style == "product" and any(_may_be_absent(op, item) for item in op.inputs):
        # A vector has no product with a matrix here, and some take none without a bias.
        chosen[1] = (BASES[0], True)
    for base, given in chosen if op.infer_shape else ():
        recipe = Recipe(base, style, given)
        case = made(op, row, recipe)
        outputs = _guess(op, case.inputs, recipe)
        yield dataclasses.replace(case, label=f"{case.label}, outputs given", outputs=outputs)


def made(op: Definition, row: Sequence[str], recipe: Recipe) -> MadeCase:  # noqa: C901
    """A case of a recipe."""
    base, role = recipe.base, STYLES[recipe.style]
    attrs = {attr.name: made_attr(attr, base) for attr in op.attrs}
    attrs |= {attr.name: code for attr in op.attrs for code in _dtype_code(op, row, attr)}
    words: list[str] = []
    if recipe.turned:
        attrs[recipe.turned] = other_way(attrs[recipe.turned])
        words.append(f"{recipe.turned}={attrs[recipe.turned]}")
    inputs: list[list[Array]] = []
    unlike: list[str] = []
    drawn = [
        f"attribute {attr.name} was {attrs[attr.name]}" for attr in op.attrs if attr.default is None
    ]
    if recipe.values == "ones":
        attrs |= {
            attr.name: 1
            for attr in op.attrs
            if attr.default is None and attr.kind in ("Int", "Float")
        }
    kinds = [dtypes.by_label(dtype.removeprefix("DT_")) for dtype in row]
    given: list[str] = []
    positions, repeats = 0, False
    for place, (item, kind) in enumerate(zip(op.inputs, kinds, strict=False)):
        name = item.name.lower()
        may_be_absent = _may_be_absent(op, item)
        if may_be_absent and not (recipe.optionals and recipe.alone in ("", name)):
            inputs.append([])
            continue
        if may_be_absent:
            given.append(name)
        if item.value_depend:
            numbers = _host_values(name, base)
            if recipe.values in ("ones", "zeros"):
                numbers = [int(recipe.values == "ones")] * len(numbers)
            array = np.asarray(numbers).astype(kind.numpy)
            inputs.append([array])
            words.append(f"{name}={numbers}")
            drawn.append(f"{name} was {numbers}")
            continue
        role_name = _role_name(name, kind)
        shape = role(role_name, base, place)
        alone = item.scalar or item.scalar_list
        if alone:
            shape = (2,) if item.scalar_list else (1,)
        elif any(other.kind == "dynamic" for other in op.inputs) and place:
            # Beside lists of tensors: a number for all, or one for each tensor.
            if re.search(r"scalars$|steps$|weights$", name):
                shape = (2,)
            elif item.kind != "dynamic":
                shape = (1,)
        if name == recipe.odd and not alone:
            shape = tuple(dim + 2 for dim in base)
        # Lists of keys and values have a tensor for all sequences, or one for each.
        listed = item.kind == "dynamic" and not _is_attention(op)
        count = 2 if listed else 1
        how = ""
        arrays = []
        for number in range(count):
            # Positions and lengths are of what the first input has.
            main = role(op.inputs[0].name.lower(), base, 0) if place else shape
            tensor = _Tensor(name, number, shape, kind, main)
            plain = not alone and tensor.plain(place, kinds[0])
            array, how = _drawn(op.type, tensor, attrs, recipe.values, plain=plain)
            if recipe.values == TWOS and plain and place:
                array = np.full_like(array, 2)
            arrays.append(array)
            if not plain and kind.kind in "iu":
                positions = max(positions, array.size)
                repeats = repeats or np.unique(array).size < array.size
            if not alone and (shape != base or (not plain and _counts(name))):
                unlike.append(f"{name} has the shape {list(shape)}")
        drawn += [f"{name} {how}"] if how else []
        inputs.append(arrays)
        words.append(f"{name}{list(shape)}" + ("x2" if count == 2 else ""))
    if len(given) > 1:
        unlike.append(f"{', '.join(given)} {TOGETHER}")
    label = ", ".join(words) + (f" ({recipe.values})" if recipe.values != "drawn" else "")
    outputs = () if op.infer_shape else _guess(op, inputs, recipe)
    return MadeCase(
        label,
        inputs,
        attrs,
        outputs,
        recipe,
        tuple(drawn),
        tuple(dict.fromkeys(unlike)),
        positions,
        repeats,
    )


def _dtype_code(op: Definition, row: Sequence[str], attr: AttrDef) -> list[int]:
    """The number of the first output's dtype, for an attribute without a default that asks for it;
    else none.
    """
    asks = attr.kind == "Int" and attr.default is None and _RESULT_DTYPE.search(attr.name.lower())
    found = row[len(op.inputs) : len(op.inputs) + 1] if asks else ()
    return [dtypes.by_label(dtype.removeprefix("DT_")).acl for dtype in found]


def _guess(
    op: Definition, inputs: Sequence[Sequence[Array]], recipe: Recipe
) -> tuple[tuple[Shape, None], ...]:
    """Outputs as large as the inputs together, or as their product, where op_host has no
    inference.
    """
    shapes: list[Shape] = []
    if recipe.style in _PRODUCTS and len(recipe.base) > 1:
        return (((*recipe.base[:-1], _COLUMNS), None),) * len(op.outputs)
    for item in op.outputs:
        lists = [param for param in inputs if len(param) > 1]
        if item.kind == "dynamic" and lists:
            shapes += [array.shape for array in lists[0]]
            continue
        own = [
            param[0].shape
            for param, source in zip(inputs, op.inputs, strict=True)
            if param and not source.value_depend and not source.scalar
        ]
        try:
            shapes.append(np.broadcast_shapes(*(own or [(1,)])))
        except ValueError:
            shapes.append(own[0])
    return tuple((shape, None) for shape in shapes)


@dataclass(frozen=True)
class _Tensor:
    """One tensor of an input, whose values are to be drawn."""

    name: str
    number: int  # in its list
    shape: Shape
    kind: dtypes.DType
    base: Shape

    def plain(self, place: int, first: dtypes.DType) -> bool:
        """Whether any values are what an operator of such inputs has to take."""
        name, kind = self.name, self.kind.kind
        if kind in "iu":
            whole = self.kind.numpy.itemsize > 1 and first.kind not in "iu"
            return not _counts(name) and not _special(name) and (place == 0 or not whole)
        if kind == "b":
            return place == 0
        return place == 0 or not (_special(name) or _MASK.search(name))


def _special(name: str) -> bool:
    words = (_POSITIVE, _LOWEST, _HIGHEST, _CONTRACT, _SIZE_ONE)
    return any(word.search(name) for word in words)


def draw(
    op_type: str,
    name: str,
    place: int,
    kinds: tuple[dtypes.DType, dtypes.DType],
    shapes: tuple[Shape, Shape],
    attrs: Mapping[str, Value],
    values: str = "drawn",
) -> tuple[Array, str] | None:
    """Values of a tensor whose name and dtype say that it does not take any, and how they were
    drawn. ``kinds`` and ``shapes`` are its own and those of the first input.
    """
    tensor = _Tensor(name.lower(), 0, shapes[0], kinds[0], shapes[1])
    bound = _LOWEST.search(tensor.name) or _HIGHEST.search(tensor.name)
    if tensor.plain(place, kinds[1]) or not (kinds[0].kind in "iu" or bound):
        return None
    return _drawn(op_type, tensor, attrs, values, plain=False)


def _drawn(
    op_type: str,
    tensor: _Tensor,
    attrs: Mapping[str, Value],
    values: str,
    *,
    plain: bool,
) -> tuple[Array, str]:
    """Values of a tensor, and how they were drawn if it is not plain."""
    numpy, shape, kind = tensor.kind.numpy, tensor.shape, tensor.kind.kind
    if plain or values in ("drawn", "again", TWOS):
        seed = "again" if values == "again" and not plain else ""
        rng = np.random.default_rng(
            zlib.crc32(f"{tensor.name}{tensor.number or ''}{shape}{seed}".encode())
        )
        if kind in "iu":
            array, how = _integers(op_type, tensor, attrs, rng, plain=plain)
        else:
            array, how = _reals(tensor, rng)
        return array.astype(numpy), "" if plain else how
    number = int(values == "ones")
    if kind in "iu" and number and min(tensor.base, default=1) < 2:
        number = 0
    array = np.full(shape, number)
    if kind in "iu" and _SHARES.search(tensor.name) and array.size:
        # Together at most as many as there are.
        array = np.zeros(shape, np.int64)
        array.flat[0] = number
    elif kind in "iu" and _CUMULATIVE.search(tensor.name) and array.size:
        array.flat[0] = 0
    return array.astype(numpy), f"was {number}"


def small_integers(kind: dtypes.DType) -> tuple[int, int]:
    """The least integer that is drawn where any will do, and the first one above the greatest."""
    return (-8, 8) if kind.packed else (0 if kind.kind == "u" else -4, 9)


def _integers(
    op_type: str,
    tensor: _Tensor,
    attrs: Mapping[str, Value],
    rng: np.random.Generator,
    *,
    plain: bool,
) -> tuple[Array, str]:
    """Integers that mean something together, one of as many as an attribute says, valid positions,
    or any.
    """
    name, shape, base = tensor.name, tensor.shape, tensor.base
    size, rows = math.prod(shape), base[0] if base else 1
    if plain:
        return rng.integers(*small_integers(tensor.kind), shape), ""
    sorts = re.search(r"sorted_ind", name) and "ermute" in op_type
    if _ORDER.search(name) or sorts:
        return rng.permutation(size).reshape(shape), f"is an order of [0, {size})"
    if _CUMULATIVE.search(name) and size:
        starts = not name.startswith("group")
        ends = np.linspace(0, rows, size) if starts else np.linspace(0, rows, size + 1)[1:]
        if rng.integers(2) and size > 2:
            ends = np.sort(np.r_[ends[0], rng.integers(0, rows + 1, size - 2), rows])
        first = "0" if starts else "the first row"
        return ends.astype(np.int64).reshape(shape), f"grows from {first} to {rows}"
    if _SHARES.search(name) and size:
        shares = rows // size + (np.arange(size) < rows % size)
        return shares.reshape(shape), f"adds up to {rows}"
    stems = {word.rstrip("s") for word in name.split("_")} - _COUNTING
    for attr, value in attrs.items():
        words = {word.rstrip("s") for word in attr.lower().split("_")}
        if words & _COUNTING and words & stems and isinstance(value, int) and value > 0:
            found = np.sort(rng.integers(0, value, size)).reshape(shape)
            return found, f"was drawn from [0, {value}) and sorted"
    bound = max(min(base, default=1), 1)
    if _INDEX.search(name):
        # Distinct where there are few enough: duplicates make the order of writes matter.
        flat = rng.permutation(max(size, bound)) % bound
        found = np.sort(flat[:size]).reshape(shape)
        return found, f"was drawn from [0, {bound}) and sorted"
    return rng.integers(0, bound, shape), f"was drawn from [0, {bound})"


def _reals(tensor: _Tensor, rng: np.random.Generator) -> tuple[Array, str]:
    """Numbers of either sign, or such as the name asks for."""
    name, shape, kind = tensor.name, tensor.shape, tensor.kind.numpy.kind
    if kind == "b" or _MASK.search(name):
        return rng.integers(0, 2, shape), "was drawn from 0 and 1"
    if kind == "c":
        real, imaginary = rng.uniform(-1, 1, (2, *shape))
        whole: Array = real + 1j * imaginary
        return whole, "was drawn from [-1, 1]"
    if _LOWEST.search(name):
        return rng.uniform(-1, -0.25, shape), "was drawn from [-1, -0.25]"
    if _HIGHEST.search(name):
        return rng.uniform(0.25, 1, shape), "was drawn from [0.25, 1]"
    values = rng.uniform(-2, 2, shape)
    if _POSITIVE.search(name) or _CONTRACT.search(name) or _SIZE_ONE.search(name):
        return np.abs(values) + 0.25, "was drawn from [0.25, 2.25]"
    return values, "was drawn from [-2, 2]"


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


_WORDS = (("reduction", "mean"), ("activation", "relu"))

_HEADS = re.compile(r"head_?nums?$|num_?(q_|kv_|key_value_)?heads?$")
_LAYOUTS = {3: "BSH", 4: "BNSD"}
"""How attention calls the axes of tensors of a rank."""


def made_attr(attr: AttrDef, base: Shape) -> Value:
    """The default; without one what its name asks for."""
    if attr.default is not None:
        return attr.default
    name, kind = attr.name.lower(), attr.kind
    if kind == "Int":
        heads = ((_HEADS.pattern, base[1]),) if len(base) == 4 else ()
        return next(
            (value for pattern, value in (*heads, *_INTEGERS) if re.search(pattern, name)), 1
        )
    if kind == "Float":
        return 1e-5 if "eps" in name else 0.5
    if kind == "Bool":
        return False
    if kind == "String":
        words = (("layout", _LAYOUTS.get(len(base), "ND")), *_WORDS)
        return next((word for part, word in words if part in name), "none")
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
            # A product takes its matrices as they are, and its result has batches behind rows.
            (r"^perm_x\d$", [*range(len(base))]),
            (r"^perm_y$", [*reversed(range(min(2, len(base)))), *range(2, len(base))]),
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
