# SPDX-License-Identifier: Apache-2.0
"""Numbers in sources of others: taken apart, never run, and bounded."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from aclgrad.common.expressions import integer
from aclgrad.reading import kernel_entry as project_entry
from aclgrad.reading.sources import Kernel, SourcesError
from aclgrad.spec.definition import Definition


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7), ("0", 0), (" ( 3 ) ", 3), ("0x1F", 31), ("0xFFu", 255), ("10UL", 10),
        ("1ull << 40", 1 << 40), ("(1 << 4) | 3", 19), ("2 * 3 + 4", 10), ("-7 / 2", -3),
        ("7 / -2", -3), ("-7 % 3", -1), ("255 & 15", 15), ("256 >> 4", 16), ("+5", 5),
        ("static_cast<uint64_t>(5)", 5), ("static_cast< int >( 5 ) * 2", 10),
        (f"{2**64 - 1}", 2**64 - 1), ("(1\n+ 2)", 3),
    ],
)  # fmt: skip
def test_values(text: str, value: int) -> None:
    assert integer(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "f(1)", "9**9**9**9", "1 << 64", "1 << (1 << 40)", "1 << -1", f"{2**64}",
        "10**10", "1 / 0", "1 % 0", "010", "1.5", "1e9", "0x", "()", "1,", "(1", "1 1", "1 < 2",
        "~1", "a", "abc", "1 if 1 else 2", "[1]", "'1'", "1" * 5000, "(" * 150 + "1" + ")" * 150,
        "-" * 199 + "1", "__import__('os')", "1 ** 2", "1 // 2", "18446744073709551615 * 2",
    ],
)  # fmt: skip
def test_all_else_is_none(text: str) -> None:
    value = integer(text)
    assert value is None or (text.startswith("-") and abs(value) == 1)


def test_noise() -> None:
    rng = random.Random(0)
    for _ in range(3000):
        text = "".join(rng.choice("0123456789()+-*/%<>|& xXaAfFuUlL") for _ in range(30))
        value = integer(text)
        assert value is None or abs(value) < 2**64


TEMPLATE = """
ASCENDC_TPL_ARGS_DECL(Op, ASCENDC_TPL_UINT_DECL(mode, 8, {values}))
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(mode, ASCENDC_TPL_UI_LIST, 1)))
"""


@pytest.mark.parametrize(
    "values",
    [
        "ASCENDC_TPL_UI_RANGE, 1, 0, 9**9**9**9",
        "ASCENDC_TPL_UI_RANGE, 1, 0, 1 << 60",
        "ASCENDC_TPL_UI_RANGE, 1 << 60, 0, 1",
        "ASCENDC_TPL_UI_RANGE, -1",
        "ASCENDC_TPL_UI_RANGE",
        "ASCENDC_TPL_UI_RANGE, 2, 0, 1",
        "ASCENDC_TPL_UI_MIX, 1, 0, print(1), 5",
    ],
)
def test_sources_cannot_ask_for_more(values: str) -> None:
    entry = project_entry.Entry("op", ("uint32_t",), 3, False)
    kernel = Kernel(Definition(type="Op"), (), Path("op.so"))
    with pytest.raises(SourcesError, match="Next: "):
        project_entry.instances_of(TEMPLATE.format(values=values), entry, kernel)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('ASSERT(count(1) && "x")\n  int b;', 'ASSERT(count(1) && "x");\n  int b;'),
        ("{ ASSERT(a) }", "{ ASSERT(a); }"),
        ("x = wanted ASSERT(a);", None),
        ("ASSERT(a);\nint b;", None),
        ("#define OURS(x) \\\n  ASSERT(x)\nint b;", None),
        ("static_assert(a)\nint b;", None),
    ],
)
def test_asserts_without_a_semicolon(text: str, want: str | None) -> None:
    assert project_entry.with_closed_asserts(text) == (want or text)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("if constexpr (TILING_KEY_IS(1)) {", "if  (TILING_KEY_IS(1)) {"),
        ("else if\nconstexpr((TILING_KEY_IS(1) || b))", "else if\n((TILING_KEY_IS(1) || b))"),
        ("if constexpr (TILING_KEY_VAR == 2) {", "if  (TILING_KEY_VAR == 2) {"),
        ("if constexpr (a) { f(TILING_KEY_IS(1)); }", None),
        ("if constexpr (a) f(TILING_KEY_VAR);", None),
        ("if (TILING_KEY_IS(1)) {", None),
        ("constexpr (TILING_KEY_IS(1))", None),
    ],
)
def test_keys_are_chosen_at_run_time(text: str, want: str | None) -> None:
    """Where a device build has a binary for each key, a library has all of them."""
    assert project_entry.with_keys_at_run_time(text) == (want or text)


CHAIN = """\
#include "a.h"
#if TILING_KEY_VAR == 1
int outside;
#endif
namespace n {
#if TILING_KEY_VAR == 2
int inside;
#endif
extern "C" __global__ void f(int a) {
  #if TILING_KEY_VAR == 1 || \\
      TILING_KEY_VAR == 2  // two
  one();  // #else
#  elif (TILING_KEY_VAR == KEY)
#ifdef MORE
  more();
#else
  two("#if TILING_KEY_VAR");
#endif
#else
  three();
#endif  // keys
#if defined(TILING_KEY_VAR) && TILING_KEY_VAR == 1
  four();
#endif
#if MORE && TILING_KEY_VAR == 1
  five();
#elif MORE
  six();
#endif
}
}
"""


def test_branches_of_the_preprocessor_by_key() -> None:
    """In functions they are `if` at run time, each on its line; what else asks is left alone."""
    found = project_entry.with_keys_at_run_time(CHAIN)
    want = CHAIN.splitlines()
    want[9] = "  if (TILING_KEY_VAR == 1 || \\"
    want[10] = "      TILING_KEY_VAR == 2) {  // two"
    want[12] = "} else if ((TILING_KEY_VAR == KEY)) {"
    want[18] = "} else {"
    want[20] = "}  // keys"
    assert found.splitlines() == want
    assert project_entry.with_keys_at_run_time(found) == found


def test_dtypes_that_are_numbers() -> None:
    """Many of them are none that a tensor has: tiling and kernel mean the number."""
    declared = "ASCENDC_TPL_DTYPE_DECL(D, 10, 20, C_DT_FLOAT)"
    text = f"ASCENDC_TPL_ARGS_DECL(Op, {declared})\nASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL())"
    entry = project_entry.Entry("op", ("int",), 3, False)
    kernel = Kernel(Definition(type="Op"), (), Path("op.so"))
    _, found = project_entry.instances_of(text, entry, kernel)
    assert [one.arguments for one in found] == [
        ["static_cast<int>((10))"],
        ["static_cast<int>((20))"],
        ["static_cast<int>((C_DT_FLOAT))"],
    ]
    assert [one.key for one in found[:2]] == [
        f"(static_cast<uint64_t>({number}) << 0)" for number in (10, 20)
    ]


def test_combinations_are_bounded() -> None:
    names = "abcdefgh"
    values = "ASCENDC_TPL_UI_RANGE, 1, 0, 63"
    declared = ", ".join(f"ASCENDC_TPL_UINT_DECL({name}, 8, {values})" for name in names)
    text = f"ASCENDC_TPL_ARGS_DECL(Op, {declared})\nASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL())"
    entry = project_entry.Entry("op", ("uint32_t",) * len(names), 3, False)
    kernel = Kernel(Definition(type="Op"), (), Path("op.so"))
    with pytest.raises(SourcesError, match=f"{64 ** len(names)} combinations"):
        project_entry.instances_of(text, entry, kernel)
