# SPDX-License-Identifier: Apache-2.0
"""Integers that operators are tried with: what several of them mean together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from aclgrad.cases import made_inputs
from aclgrad.checks import exploration
from aclgrad.spec.definition import AttrDef, Definition, Param


def op(name: str, *, type_: str = "Any", attrs: tuple[tuple[str, int], ...] = ()) -> Definition:
    """An operator of one float32 tensor and one of integers."""
    numbers = tuple(AttrDef(attr, "Int", default=value) for attr, value in attrs)
    return Definition((Param("x"), Param(name)), (Param("y"),), type_, numbers)


def integers(definition: Definition) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The tensor and the integers of every case."""
    for case in made_inputs.cases(definition, ("DT_FLOAT", "DT_INT32", "DT_FLOAT")):
        yield case.inputs[0][0], case.inputs[1][0]


@pytest.mark.parametrize(
    "definition",
    [
        op("row_idx"),
        op("expanded_row_idx"),
        op("permute_token_id"),
        op("sorted_indices", type_="TokenUnpermute"),
    ],
    ids=lambda definition: definition.inputs[1].name,
)
def test_each_row_once(definition: Definition) -> None:
    """An order of rows has no row twice, whatever its shape."""
    for _, order in integers(definition):
        assert sorted(order.reshape(-1)) == list(range(order.size))


def test_sorted_positions_are_no_order() -> None:
    """In other operators the same name may mean positions that come up more than once."""
    assert all((np.diff(at.reshape(-1)) >= 0).all() for _, at in integers(op("sorted_indices")))


def test_shares_are_all_rows() -> None:
    """More rows than there are would be read past the end."""
    for name in ("expert_token_num_per_rank", "token_counts", "seq_lengths"):
        for x, shares in integers(op(name)):
            assert shares.sum() == x.shape[0] and shares.min() >= 0


def test_as_many_as_an_attribute_says() -> None:
    """Of the name that the input has too; 0 says nothing."""
    three = [experts for _, experts in integers(op("sorted_experts", attrs=(("num_experts", 3),)))]
    assert set(np.concatenate([experts.reshape(-1) for experts in three])) == {0, 1, 2}
    assert all((np.diff(experts.reshape(-1)) >= 0).all() for experts in three)
    for attr in (("num_experts", 0), ("num_groups", 3)):
        found = [experts.max() for _, experts in integers(op("sorted_experts", attrs=(attr,)))]
        assert max(found) > 3


def test_ends_of_rows_ascend() -> None:
    """From the first row to the last."""
    for name in ("cu_seqlens", "group_list", "row_ptr"):
        for x, ends in integers(op(name)):
            assert (np.diff(ends.reshape(-1)) >= 0).all()
            assert ends.min() >= 0 and ends.max() == x.shape[0]


def test_matrices_of_a_product_go_together() -> None:
    """The first cases of an operator that multiplies; no case of another one is of that style."""
    names = ("x1", "x2", "scale", "bias", "pertoken_scale", "x3")
    inputs = tuple(Param(name, kind="optional" if name == "bias" else "required") for name in names)
    product = op("none", type_="QuantBatchMatmulV3")
    definition = dataclasses.replace(product, inputs=inputs, infer_shape=False)
    row = ("DT_FLOAT",) * (len(names) + 1)
    made = [*made_inputs.cases(definition, row)]
    products = [case for case in made if case.recipe and case.recipe.style == "product"]
    assert made[0] in products
    for case in products:
        x1, x2, scale, bias, pertoken, x3 = (
            param[0].shape if param else () for param in case.inputs
        )
        if len(x1) > 1:
            assert x2 == (*x1[:-2], x1[-1], 96) and x3 == (*x1[:-1], 96)
            assert scale == (96,) and bias in ((), (96,)) and pertoken == x1[:-1]
            assert [shape for shape, _ in case.outputs] == [(*x1[:-1], 96)]
    of_rows = [case for case in made if case.recipe and case.recipe.style == "product of rows"]
    of_matrices = [case for case in products if case.inputs[0][0].ndim > 1]
    assert len(of_rows) >= len(made_inputs.BASES) - 1
    for turned, case in zip(of_rows, of_matrices, strict=False):
        x1, x2 = (param[0].shape for param in turned.inputs[:2])
        want = case.inputs[1][0].shape
        assert x2 == (*want[:-2], *reversed(want[-2:])) and x2[-1] == x1[-1]
        assert turned.outputs == case.outputs
    others = made_inputs.cases(dataclasses.replace(definition, type="Linear"), row)
    assert all(case.recipe and "product" not in case.recipe.style for case in others)


def test_attention() -> None:
    """As many queries as keys, and one query beside them; heads as the layout has them."""
    inputs = (Param("query"), Param("key", kind="dynamic"), Param("value", kind="dynamic"))
    attrs = (AttrDef("input_layout", "String"), AttrDef("num_heads", "Int"))
    definition = Definition(inputs, (Param("y"),), "IncreFlashAttention", attrs, infer_shape=True)
    made = [*made_inputs.cases(definition, ("DT_FLOAT16",) * 4)]
    shapes = {}
    for case in made:
        query, key, value = case.inputs
        assert len(query) == len(key) == len(value) == 1
        if case.recipe and case.recipe.style in ("same", "one query") and not case.outputs:
            layout, heads = case.attrs["input_layout"], case.attrs["num_heads"]
            shapes[query[0].shape] = (key[0].shape, layout, heads)
    assert shapes[1, 2, 256, 128] == ((1, 2, 256, 128), "BNSD", 2)
    assert shapes[2, 8, 64] == shapes[2, 1, 64] == ((2, 8, 64), "BSH", 4)
    assert shapes[2, 16, 8, 8] == shapes[2, 16, 1, 8] == ((2, 16, 8, 8), "BNSD", 16)
    other = dataclasses.replace(definition, inputs=(Param("x"), *inputs[1:]))
    for case in made_inputs.cases(other, ("DT_FLOAT16",) * 4):
        assert len(case.inputs[1]) == 2 and case.recipe and case.recipe.style != "one query"


@pytest.mark.parametrize(
    ("type_", "names", "want"),
    [
        ("DynamicRNN", "x w b init_c", [(2, 8, 64), (128, 256), (256,), (1, 8, 64)]),
        ("DynamicRNNV2", "x weight_input weight_hidden dy",
         [(2, 8, 64), (64, 256), (64, 256), (2, 8, 64)]),
        ("Gru", "x wi wh bh", [(2, 8, 64), (64, 192), (64, 192), (192,)]),
    ],
)  # fmt: skip
def test_gates(type_: str, names: str, want: list[tuple[int, ...]]) -> None:
    """Weights have a column for each number of each gate; other operators have none of these."""
    definition = Definition(tuple(map(Param, names.split())), (Param("y"),), type_)
    row = ("DT_FLOAT",) * 5
    shapes = [
        [param[0].shape for param in case.inputs] for case in made_inputs.cases(definition, row)
    ]
    assert shapes.index(want) < 6
    other = dataclasses.replace(definition, type="Congruence")
    for case in made_inputs.cases(other, row):
        assert case.recipe and "gates" not in case.recipe.style


def test_two_products_one_behind_the_other() -> None:
    """The second one leads back to as many columns as the first matrix has."""
    names = ("x", "weight1", "weight2", "bias1", "bias2")
    attrs = (AttrDef("activation", "String"),)
    definition = Definition(tuple(map(Param, names)), (Param("y"),), "FFN", attrs)
    case = next(made_inputs.cases(definition, ("DT_FLOAT",) * 6))
    shapes = [param[0].shape for param in case.inputs]
    assert shapes == [(8, 64), (64, 96), (96, 64), (96,), (64,)]
    assert case.attrs == {"activation": "relu"}


def test_lists_beside_matrices_may_be_absent() -> None:
    """As the definitions of grouped products mean them; other lists are always given."""
    names = ("x", "weight", "bias", "antiquant_scale")
    inputs = tuple(Param(name, kind="dynamic") for name in names)
    outputs = (Param("y", kind="dynamic"),)
    for type_, absent in (("GroupedMatmul", True), ("ForeachAddcmul", False)):
        definition = Definition(inputs, outputs, type_, infer_shape=True)
        first, *rest = made_inputs.cases(definition, ("DT_FLOAT16",) * 5)
        assert [len(param) for param in first.inputs] == ([2, 2, 0, 0] if absent else [2] * 4)
        assert any(len(case.inputs[3]) == 2 for case in rest)


def test_a_product_whose_inference_says_nothing() -> None:
    """Its outputs are given: without a bias, and with one, which some products ask for."""
    inputs = (Param("x1"), Param("x2"), Param("bias", kind="optional"))
    definition = Definition(inputs, (Param("y"),), "MatmulFp32", infer_shape=True)
    found = [
        case for case in made_inputs.cases(definition, ("DT_FLOAT",) * 4)
        if case.label.endswith("outputs given")
    ]  # fmt: skip
    assert [len(case.inputs[2]) for case in found] == [0, 1, 0]
    for case in found:
        x1, x2 = (case.inputs[at][0].astype(np.float64) for at in (0, 1))
        assert [shape for shape, _ in case.outputs] == [(x1 @ x2).shape]


def test_orders_of_the_dims_of_a_product() -> None:
    """As TransposeBatchMatMul takes them: the only order of y, with both inputs as they are."""
    values = {
        name: made_inputs.made_attr(AttrDef(name, "ListInt"), (2, 8, 64))
        for name in ("perm_x1", "perm_x2", "perm_y", "perm")
    }
    assert values["perm_x1"] == values["perm_x2"] == [0, 1, 2]
    assert values["perm_y"] == [1, 0, 2] and values["perm"] == [2, 1, 0]


def test_the_dtype_of_the_result_as_an_attribute() -> None:
    """Its number, where nothing else is said."""
    attrs = (
        AttrDef("dtype", "Int"),
        AttrDef("out_dtype", "Int", default=3),
        AttrDef("type", "Int"),
    )
    definition = dataclasses.replace(op("z"), attrs=attrs)
    case = next(made_inputs.cases(definition, ("DT_FLOAT", "DT_INT32", "DT_BF16")))
    assert case.attrs == {"dtype": 27, "out_dtype": 3, "type": 1}


def reals(*names: str) -> Iterator[list[np.ndarray]]:
    """The tensors of every case of an operator of floats."""
    definition = dataclasses.replace(op("none"), inputs=tuple(map(Param, names)))
    for case in made_inputs.cases(definition, ("DT_FLOAT",) * (len(names) + 1)):
        yield [param[0] for param in case.inputs]


def test_names_say_what_numbers_may_be() -> None:
    """Bounds in order, positive scales and deviations; the first input takes any."""
    for x, low, high in reals("x", "clip_value_min", "clip_value_max"):
        assert low.max() < high.min() and x.min() < 0
    for name in ("scale", "rstd", "log_var", "sqrt_v"):
        for x, positive in reals("x", name):
            assert positive.min() > 0 > x.min()
    for _, mask in reals("x", "mask"):
        assert set(mask.reshape(-1)) <= {0, 1}


def made(definition: Definition, **recipe: Any) -> made_inputs.MadeCase:
    """A case of 8 rows."""
    row = ("DT_FLOAT", "DT_INT32", "DT_FLOAT")
    return made_inputs.made(definition, row, made_inputs.Recipe((8, 64), **recipe))


def test_what_is_invented_is_said() -> None:
    """Values that are no plain numbers, and shapes that differ."""
    case = made(op("index"), style="gathered")
    assert case.values == ("index was drawn from [0, 8) and sorted",)
    assert case.shapes == ("index has the shape [4]",)
    row = ("DT_FLOAT",) * 3
    plain = made_inputs.made(op("w"), row, made_inputs.Recipe((8, 64)))
    assert not plain.invented
    for name in ("index", "lengths", "cu_seqlens"):
        drawn, again, ones, zeros = (
            made(op(name), style="gathered", values=values).inputs[1][0]
            for values in ("drawn", *made_inputs.DRAWS)
        )
        assert drawn.shape == again.shape and not zeros.any()
        assert ones.any() and ones.max() == 1 and ones.sum() <= 8
    same = made(op("index"), style="same", values="zeros").inputs[0][0]
    assert (same == made(op("index"), style="same").inputs[0][0]).all()


def test_shapes_cover_the_classes() -> None:
    """Of float32 on 48 cores, and more elements than UB holds."""
    found = exploration.shapes(4, 48)
    sizes = {int(np.prod(shape)) for shape in found}
    assert {1, 7, 8, 9, 1009} <= sizes and {len(shape) for shape in found} == {1, 2, 3, 4}
    assert any(shape[0] == 1 and shape[-1] % 8 for shape in found if len(shape) == 2)
    assert any(shape[0] > 3 * 48 for shape in found) and any(1 < shape[0] < 48 for shape in found)
    brief = exploration.shapes(2, 48, True)
    assert any(shape[-1] % 16 for shape in brief) and len(brief) < 5
    for base in ((1,), (8, 64), (2, 16, 8, 8)):
        *_, last = exploration.ladder(base, 4, 48, 196352)
        assert np.prod(last) * 4 > 48 * 196352 and len(last) == len(base)


def _explored(
    monkeypatch: pytest.MonkeyPatch, takes: Callable[[made_inputs.MadeCase], bool]
) -> tuple[set[str], exploration.Tried]:
    """The styles of cases with several elements that ran, of an operator that takes some."""
    monkeypatch.setattr(exploration, "chip", lambda soc: (48, 196352))

    def run(given: Sequence[made_inputs.MadeCase]) -> list[exploration.MadeOutcome]:
        return [
            exploration.MadeOutcome(
                case.label, exploration.CLEAN if takes(case) else exploration.REFUSED
            )
            for case in given
        ]

    row = ("DT_FLOAT", "DT_INT32", "DT_FLOAT")
    tried = exploration.explore(op("index"), row, "Ascend910B2", run, run, fast=True)
    ran = {
        case.recipe.style
        for case, outcome in zip(tried.cases, tried.outcomes, strict=True)
        if outcome.taken and case.recipe and np.prod(case.recipe.base) > 1
    }
    return ran, tried


def test_one_element_says_nothing_of_a_style(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index of 4 goes with one element of x, and with no more."""

    def alike(case: made_inputs.MadeCase) -> bool:
        x, index = case.inputs[0][0], case.inputs[1][0]
        return bool(x.size == 1 or x.shape == index.shape)

    ran, tried = _explored(monkeypatch, alike)
    assert ran == {"same"} and not tried.refused


def test_shapes_that_are_refused_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator that takes but the first shape that it is asked for."""

    def first(case: made_inputs.MadeCase) -> bool:
        return bool(case.inputs[0][0].shape == made_inputs.BASES[0])

    ran, tried = _explored(monkeypatch, first)
    assert ran == {"gathered"}
    assert tried.refused == len(exploration.shapes(4, 48, True)) + 1


ROW_OF_FOUR = ("DT_FLOAT",) * 4


def _options() -> Definition:
    """Two optional inputs, and an attribute of each kind of choice."""
    return dataclasses.replace(
        op("w"),
        inputs=(Param("x"), Param("bias", "optional"), Param("per_token", "optional")),
        attrs=(AttrDef("half", "Bool", default=False), AttrDef("p", "Float", default=0.5)),
    )


def test_every_switch_and_optional_input_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an operator that takes one optional input, never both."""
    monkeypatch.setattr(exploration, "chip", lambda soc: (48, 196352))

    def run(given: Sequence[made_inputs.MadeCase]) -> list[exploration.MadeOutcome]:
        return [
            exploration.MadeOutcome(
                case.label,
                exploration.REFUSED if all(case.inputs[1:]) else exploration.CLEAN,
                pieces=exploration._PIECES,
            )
            for case in given
        ]

    tried = exploration.explore(_options(), ROW_OF_FOUR, "Ascend910B2", run, run)
    taken = [
        case
        for case, outcome in zip(tried.cases, tried.outcomes, strict=True)
        if outcome.taken and case.recipe
    ]
    turned = {(case.recipe.turned, case.recipe.alone) for case in taken if case.recipe}
    assert {("half", ""), ("half", "bias"), ("half", "per_token"), ("", "bias")} <= turned
    assert not any(name == "p" for name, _ in turned)
    long = [case.inputs[0][0].shape for case in taken if case.inputs[0][0].ndim == 2]
    assert any(rows > 2 * 48 and cols > 196352 // 4 // 4 for rows, cols in long)
