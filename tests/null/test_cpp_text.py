# SPDX-License-Identifier: Apache-2.0
"""C++ is read as compilers read it: nothing in a string, a comment or a dropped branch counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from aclgrad.reading import cpp_text, handwritten_functions, layout
from aclgrad.spec.definition import Definition, Param

TAIL = "uint64_t* workspaceSize, aclOpExecutor** executor"
BODY = "{ return 0; }"


def stage(name: str, params: str = "const aclTensor* x, aclTensor* out", behind: str = "") -> str:
    return f"aclnnStatus aclnn{name}GetWorkspaceSize({params}, {TAIL}){behind}\n{BODY}\n"


FORMS = {
    "a brace in a character": "bool F(char c)\n{ return c == '{' || c == '\"'; }\n" + stage("One"),
    "digits with separators": "int F()\n{ return 1'000'000; }\n" + stage("One"),
    "a brace in a string": 'void F()\n{ Log("{ %s \\" {"); }\n' + stage("One"),
    "an address in a string": 'void F()\n{ Log("http://x"); }\n' + stage("One"),
    "a raw string": 'const char* F()\n{ return R"x(")}{ // ")x"; }\n' + stage("One"),
    "a brace in a comment": "void F()\n{ // {\n  /* { ( */ }\n" + stage("One"),
    "a continued comment": "void F()\n{ // {\\\n  {\n}\n" + stage("One"),
    "two beginnings of one block": (
        "bool F(int a)\n{\n#ifdef WIDE\n  if (a > 1) {\n#else\n  if (a > 2) {\n#endif\n"
        "    return true;\n  }\n  return false;\n}\n" + stage("One")
    ),
    "two heads of one function": (
        "#if defined(WIDE)\nbool F(int a) {\n#elif NARROW\nbool F(char a) {\n#else\nbool F() {\n"
        "#endif\n  return true;\n}\n" + stage("One")
    ),
    "an odd brace that is never compiled": "void F()\n{\n#if 0\n  if (1) {\n#endif\n}\n"
    + stage("One"),
    "a brace in a macro": "#define OPEN(x) \\\n  if (x) {\nvoid F() {}\n" + stage("One"),
    "an open brace before it": "#define END }\nvoid F() { if (1) { END }\n" + stage("One"),
    "noexcept": stage("One", behind=" noexcept"),
    "a return type behind": "auto " + stage("One", behind=" -> aclnnStatus").split(" ", 1)[1],
    "a body that catches": stage("One", behind=" try").rstrip() + " catch (...) { return 1; }\n",
    "extern C": 'extern "C" {\n' + stage("One") + "}\n",
    "a namespace": "namespace op { namespace l2 {\n" + stage("One") + "}}\n",
    "comments between arguments": stage(
        "One", "const aclTensor* x /* , */, // the input\n  aclTensor* out"
    ),
    "attributes of arguments": stage(
        "One", "[[maybe_unused]] const aclTensor* x,\n  __attribute__((unused)) aclTensor* out"
    ),
    "pointers that are const": stage("One", "const aclTensor* const x, aclTensor *const out"),
    "arguments on lines": stage(
        "One", "\n    const aclTensor*\n        x,\n    aclTensor*\n out\n"
    ),
    "a name on two lines": stage("O\\\nne").replace("Workspace", "Work\\\r\nspace"),
    "defaults": stage("One", "const aclTensor* x = nullptr, aclTensor* out = Or(1, 2)"),
}


@pytest.mark.parametrize("form", FORMS)
def test_functions_are_found_in_every_form(form: str, tmp_path: Path) -> None:
    """With their arguments, and with what follows them."""
    file = tmp_path / "aclnn_one.cpp"
    file.write_text(FORMS[form] + stage("Two"))
    assert handwritten_functions.names([file]) == {"aclnnOne", "aclnnTwo"}
    op = Definition((Param("x"),), (Param("out"),), "One")
    found, others = handwritten_functions.functions(op, [file])
    assert [function.name for function in found] == ["aclnnOne", "aclnnTwo"] and others == []
    assert [argument.source for argument in found[0].arguments] == ["input", "output"]


def test_names_of_the_last_two_do_not_matter(tmp_path: Path) -> None:
    file = tmp_path / "aclnn_one.cpp"
    text = stage("One").replace("workspaceSize", "workspace_size").replace("executor)", "exec)")
    file.write_text(text)
    op = Definition((Param("x"),), (Param("out"),), "One")
    assert [found.name for found in handwritten_functions.functions(op, [file])[0]] == ["aclnnOne"]


def test_what_is_dropped_is_not_there() -> None:
    lines = "a|#if 0|b|# if X|c|# endif|#elif Y|d|#else|e|#endif|#if 1|f|#else|g|#endif|h"
    text = lines.replace("|", "\n")
    kept = [line for line in cpp_text.active(text).split("\n") if not line.startswith("#")]
    assert [line.strip() for line in kept if line.strip()] == ["a", "d", "e", "f", "h"]
    assert cpp_text.active(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "never", ["0", "(0)", "((0L))", "false", "!1", "!(true)", "0 && defined(X)"]
)
def test_a_condition_that_is_never_true(never: str) -> None:
    """Its branch is dropped, and the one behind it stays."""
    text = f"#if {never}\na\n#else\nb\n#endif\n#if X\nc\n#elif !({never})\nd\n#else\ne\n#endif\n"
    kept = [line.strip() for line in cpp_text.active(text).split("\n") if "#" not in line]
    assert [line for line in kept if line] == ["b", "c", "d"]


@pytest.mark.parametrize(
    "open_", ["X", "0 && X || Y", "(0) || X", "1 && X", "0 ? X : 1", "(0) + X", ""]
)
def test_a_condition_that_names_decide(open_: str) -> None:
    text = f"#if {open_}\na\n#else\nb\n#endif\n"
    assert cpp_text.active(text) == text


def test_an_operator_that_is_never_compiled_is_none(tmp_path: Path) -> None:
    (tmp_path / "op_host").mkdir()
    (tmp_path / "op_kernel").mkdir()
    (tmp_path / "op_kernel" / "one.cpp").write_text("__global__ void one(char* x) {}\n")
    (tmp_path / "op_host" / "one_def.cpp").write_text(
        "class One : public OpDef {};\nOP_ADD(One);\n"
        "#if 0\nclass Two : public OpDef {};\nOP_ADD(Two);\n#endif\n"
        'const char* const kText = "OP_ADD(Three); // ";\n'
    )
    assert [op.type for op in layout.find(tmp_path).operators] == ["One"]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('a, f(b, c), "d, e"', ["a", "f(b, c)", '"d, e"']),
        ("'(', x", ["'('", "x"]),
        ("T<a, b> c, d,", ["T<a, b> c", "d"]),
    ],
)
def test_arguments_are_split(text: str, want: list[str]) -> None:
    assert cpp_text.split_arguments(text) == want


def test_lines_stay() -> None:
    text = 'a // b\\\nc\n/* d\n*/ "e\\\nf" R"(g\nh)" i\n'
    for change in (cpp_text.without_comments, cpp_text.active, cpp_text.without_literals):
        assert change(text).count("\n") == text.count("\n")
    assert len(cpp_text.without_literals(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("k<<<1, nullptr, s>>>(a, f(b));", "static_cast<void>(0);"),
        ("if (a < b) a::K<B<c>, 1>\n<<<g(1),\n0>>>(1);", "if (a < b) static_cast<void>(0)\n\n;"),
        ("return ::n::template k<1><<<1, l, s>>>(1);", "return static_cast<void>(0);"),
        ('x << 3; f("k<<<1>>>(2)");', 'x << 3; f("k<<<1>>>(2)");'),
        ("a<<<b; c>>>(d);", "a<<<b; c>>>(d);"),
    ],
)
def test_sources_without_launches(text: str, left: str) -> None:
    assert cpp_text.without_launches(text) == left
