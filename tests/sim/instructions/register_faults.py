# SPDX-License-Identifier: Apache-2.0
"""Small vector functions of Ascend 950, right and wrong, made from tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = "// @"
ORDER = "local-memory-order"
UNALIGNED = "unaligned-register"
BOUNDS = "ub-out-of-bounds"
UNDEFINED = "undefined-read"


@dataclass(frozen=True)
class Case:
    """Statements of a vector function of x and y, of 8192 floats each, and their fault, if any."""

    name: str
    body: str
    fault: str | None = None
    only_y: bool = False  # the function has no address in x
    before: str | None = None  # statements of another vector function that runs first


# Into register {r} from {p}, and from register {r} to {p}.
LOADS = {
    "LoadAlign": "Reg::LoadAlign({r}, {p});",
    "broadcast": "Reg::LoadAlign<float, Reg::LoadDist::DIST_BRC_B32>({r}, {p});",
    "blocks": "Reg::LoadAlign<float, Reg::DataCopyMode::DATA_BLOCK_COPY>({r}, {p}, 1, all);",
    "LoadUnAlign": "{{ Reg::UnalignRegForLoad u; Reg::LoadUnAlignPre(u, {p} + 3); "
    "Reg::LoadUnAlign({r}, u, {p} + 3); }}",
    "Load": "Reg::Load({r}, {p});",
    "Gather": "Reg::Gather({r}, {p}, index, all);",
    "GatherB": "Reg::GatherB({r}, {p}, offsets, all);",
}
STORES = {
    "StoreAlign": "Reg::StoreAlign({p}, {r}, all);",
    "first": "Reg::StoreAlign<float, Reg::StoreDist::DIST_FIRST_ELEMENT_B32>({p} + 3, {r}, all);",
    "blocks": "Reg::StoreAlign<float, Reg::DataCopyMode::DATA_BLOCK_COPY>({p}, {r}, 1, all);",
    "StoreUnAlign": "{{ Reg::UnalignRegForStore u; auto* q = {p} + 1; "
    "Reg::StoreUnAlign(q, {r}, u, 63); Reg::StoreUnAlignPost(q, u, 0); }}",
    "Store": "Reg::Store({p}, {r});",
    "Scatter": "Reg::Scatter({p}, {r}, index, all);",
    "masked": "Reg::StoreAlign({p}, {r}, five);",
}
PIPES = ("VEC_STORE", "VEC_LOAD")


def barrier(before: str, after: str) -> str:
    """LocalMemBar of two pipes."""
    return f"Reg::LocalMemBar<Reg::MemType::{before}, Reg::MemType::{after}>();"


def load(form: str, register: str, place: str = "x") -> str:
    """One load as a line."""
    return LOADS[form].format(r=register, p=place) + "\n"


def store(form: str, register: str, place: str = "x") -> str:
    """One store as a line."""
    return STORES[form].format(r=register, p=place) + "\n"


def marked(line: str) -> str:
    """The line at which the fault has to be named."""
    return line.rstrip("\n") + f"  {MARK}\n"


def pairs(kind: str) -> Iterator[tuple[str, str]]:
    """Forms of the first and of the second access: each form once beside the plain one."""
    first, second = {"RAW": (STORES, LOADS), "WAR": (LOADS, STORES), "WAW": (STORES, STORES)}[kind]
    yield from ((form, next(iter(second))) for form in first)
    yield from ((next(iter(first)), form) for form in list(second)[1:])
    if kind == "RAW":  # reads the first element only, which this store leaves alone
        yield "Scatter", "Gather"


def reads(kind: str, which: int) -> bool:
    """Whether the first or second access of a kind loads."""
    return (kind, which) in (("RAW", 1), ("WAR", 0))


def access(kind: str, which: int, form: str, register: str, place: str = "x") -> str:
    """The first or second access of a kind."""
    return (load if reads(kind, which) else store)(form, register, place)


def orders() -> Iterator[Case]:
    """Two accesses to the same bytes by two registers, and what orders them."""
    keep = "Reg::StoreAlign(y + 1024, b, all);\n"
    for kind in ("RAW", "WAR", "WAW"):
        pipes = tuple("VEC_LOAD" if reads(kind, which) else "VEC_STORE" for which in (0, 1))
        # The register that a load fills is b, the one that is stored without it is a.
        registers = {"RAW": ("a", "b"), "WAR": ("b", "a"), "WAW": ("a", "b")}[kind]
        for forms in pairs(kind):
            name = f"{kind} {forms[0]}, {forms[1]}"
            first = access(kind, 0, forms[0], registers[0])
            second = access(kind, 1, forms[1], registers[1])
            yield Case(name, first + marked(second) + keep, ORDER)
            yield Case(f"{name}, barrier", first + barrier(*pipes) + "\n" + second + keep)
            same = access(kind, 1, forms[1], registers[0])
            yield Case(f"{name}, the same register", first + same + keep)
            apart = access(kind, 1, forms[1], registers[1], "x + 128")
            yield Case(f"{name}, other bytes", first + apart + keep)
        first = access(kind, 0, "LoadAlign" if reads(kind, 0) else "StoreAlign", registers[0])
        second = access(kind, 1, "LoadAlign" if reads(kind, 1) else "StoreAlign", registers[1])
        wrong = [pair for pair in ((a, b) for a in PIPES for b in PIPES) if pair != pipes]
        for pair in wrong:
            if pair == ("VEC_LOAD", "VEC_LOAD"):
                continue
            text = first + barrier(*pair) + "\n" + marked(second) + keep
            yield Case(f"{kind}, barrier of {pair[0]} and {pair[1]}", text, ORDER)
        yield Case(
            f"{kind}, all pipes", first + barrier("VEC_ALL", "VEC_ALL") + "\n" + second + keep
        )
        scalar = barrier("VEC_STORE", "SCALAR_LOAD") + "\n"
        yield Case(f"{kind}, scalar barrier", first + scalar + marked(second) + keep, ORDER)

    yield Case(
        "WAR, made of the load",
        load("LoadAlign", "b") + "Reg::Adds(a, b, 1.0f, all);\n" + store("StoreAlign", "a"),
    )
    yield Case(
        "WAR, through a mask of the load",
        load("LoadAlign", "b")
        + "Reg::MaskReg above;\nReg::CompareScalar<float, CMPMODE::GT>(above, b, 0.0f, all);\n"
        + "Reg::StoreAlign(x, a, above);\n",
    )
    yield Case(
        "WAR, made of another load",
        load("LoadAlign", "c")
        + load("LoadAlign", "b", "x + 128")
        + "Reg::Adds(a, b, 1.0f, all);\n"
        + marked(store("StoreAlign", "a"))
        + "Reg::StoreAlign(y, c, all);\n",
        ORDER,
    )
    yield Case(
        "WAR, behind a store that waited",
        load("LoadAlign", "b")
        + store("StoreAlign", "b", "y")
        + barrier("VEC_STORE", "VEC_LOAD")
        + "\n"
        + load("LoadAlign", "c", "y")
        + "Reg::Adds(a, c, 1.0f, all);\n"
        + store("StoreAlign", "a"),
    )
    yield Case(
        "WAR, barrier of stores behind one that waited",
        load("LoadAlign", "b")
        + store("StoreAlign", "b", "y")
        + barrier("VEC_STORE", "VEC_STORE")
        + "\n"
        + store("StoreAlign", "a"),
    )
    yield Case(
        "WAW, made of the first",
        store("StoreAlign", "a")
        + barrier("VEC_STORE", "VEC_LOAD")
        + "\n"
        + load("LoadAlign", "b")
        + "Reg::Adds(c, b, 1.0f, all);\n"
        + store("StoreAlign", "c"),
    )
    yield Case(
        "WAW, lanes in turn",
        "Reg::MaskReg even = Reg::CreateMask<half>(), odd;\nReg::RegTensor<int32_t> n, bit;\n"
        "Reg::Arange(n, 0);\nReg::Duplicate(bit, 1, all);\nReg::And(n, n, bit, all);\n"
        "Reg::CompareScalar<int32_t, CMPMODE::EQ>(even, n, 0, all);\nReg::Not(odd, even, all);\n"
        "Reg::StoreAlign(x, a, even);\nReg::StoreAlign(x, b, odd);\n",
    )
    yield Case(
        "WAW, a tail over the one before",
        "for (uint16_t i = 0; i < 4; ++i) {\nReg::StoreAlign(x + 56 * i, a, all);\n}\n",
    )
    yield Case(
        "RAW, loop",
        "for (uint16_t i = 0; i < 4; ++i) {\n"
        + marked("Reg::LoadAlign(b, x + 64 * i);\n")
        + "Reg::Add(c, b, a, all);\nReg::StoreAlign(x + 64 * i + 64, c, all);\n}\n",
        ORDER,
    )
    yield Case(
        "in place, loop",
        "for (uint16_t i = 0; i < 4; ++i) {\nReg::LoadAlign(b, x + 64 * i);\n"
        "Reg::Add(c, b, a, all);\n"
        "Reg::StoreAlign(x + 64 * i, c, all);\n}\n",
    )
    yield Case(
        "two passes in place",
        "for (uint16_t i = 0; i < 100; ++i) {\nReg::LoadAlign(b, x + 64 * i);\n"
        "Reg::Add(c, b, a, all);\n"
        "Reg::StoreAlign(x + 64 * i, c, all);\n}\n"
        + barrier("VEC_STORE", "VEC_LOAD")
        + "\nfor (uint16_t i = 0; i < 100; ++i) {\nReg::LoadAlign(a, x + 64 * i);\n"
        "Reg::Muls(b, a, 2.0f, all);\n"
        "Reg::StoreAlign(x + 64 * i, b, all);\n}\n",
    )


def unaligned() -> Iterator[Case]:
    """Protocol and bounds of LoadUnAlign and StoreUnAlign, and stores past a buffer."""
    out = "Reg::UnalignRegForStore out;\n"
    post = "Reg::StoreUnAlignPost(to, out, 0);\n"
    for over in (1, 3, 7, 8, 40):
        body = out + f"auto* to = y + 8192 - 256 + {over};\nfor (uint16_t r = 0; r < 4; ++r) {{\n"
        body += marked("Reg::StoreUnAlign(to, a, out, 64);\n") + "}\n" + post
        yield Case(f"StoreUnAlign ends {4 * over} B past the buffer", body, BOUNDS)
        body = f"auto* to = y + 8192 - 64 + {over};\n" + marked("Reg::Store(to, a);\n")
        yield Case(f"Store ends {4 * over} B past the buffer", body, BOUNDS)
    body = (
        out + "auto* to = y + 8192 - 256;\nfor (uint16_t r = 0; r < 4; ++r) {\n"
        "Reg::StoreUnAlign(to, a, out, 64);\n}\n" + post
    )
    yield Case("StoreUnAlign ends with the buffer", body)
    past = marked("Reg::StoreAlign(y + 8192, a, all);\n")
    yield Case("StoreAlign behind the buffer", past, BOUNDS, only_y=True)
    yield Case(
        "Scatter behind the buffer",
        marked("Reg::Scatter(y + 8192, a, index, all);\n"),
        BOUNDS,
        only_y=True,
    )
    masked = "Reg::StoreAlign(y + 8192 - 32, a, {mask});\n"
    yield Case("StoreAlign over the end", marked(masked.format(mask="all")), BOUNDS)
    yield Case("StoreAlign over the end, masked", masked.format(mask="five"))
    yield Case(
        "LoadAlign behind the buffer, used",
        marked("Reg::LoadAlign(b, y + 8192);\n") + "Reg::StoreAlign(y, b, all);\n",
        UNDEFINED,
        only_y=True,
    )
    for left in (1, 6):
        body = out + "auto* to = y + 1;\n" + marked(f"Reg::StoreUnAlign(to, a, out, {left});\n")
        yield Case(f"Post left out, {4 * left} B", body, UNALIGNED)
    body = out + "auto* to = y;\nReg::StoreUnAlign(to, a, out, 64);\n"
    yield Case("nothing held back", body)
    body = (
        out
        + "auto* to = y + 1;\nfor (uint16_t r = 0; r < 2; ++r) {\nReg::UnalignRegForStore own;\n"
    )
    body += marked("Reg::StoreUnAlign(to, a, own, 13);\n") + "}\n"
    yield Case("Post left out in a loop", body, UNALIGNED)
    jump = (
        out
        + "auto* to = y + 1;\nReg::StoreUnAlign(to, a, out, 13);\n{between}to += 5;\n{mark}"
        + post
    )
    second = "Reg::StoreUnAlign(to, a, out, 13);\n"
    yield Case("StoreUnAlign jumps", jump.format(between="", mark=marked(second)), UNALIGNED)
    yield Case("StoreUnAlign jumps behind Post", jump.format(between=post, mark=second))
    body = out + "auto* to = y + 1;\nReg::StoreUnAlign(to, a, out, 13);\nto += 2;\n" + marked(post)
    yield Case("Post elsewhere", body, UNALIGNED)
    body = out + "auto* to = y + 1;\n" + marked("Reg::StoreUnAlign(to, a, out, 65);\n") + post
    yield Case("more than a register", body, UNALIGNED)
    squeeze = "Reg::Squeeze<float, Reg::GatherMaskMode::STORE_REG>(b, a, five);\n"
    append = "Reg::StoreUnAlign(to, b, out);\n"
    begin = out + "auto* to = y;\nReg::ClearSpr<SpecialPurposeReg::AR>();\n"
    end = "Reg::StoreUnAlignPost(to, out);\n"
    body = begin + squeeze + append + squeeze + append + end
    yield Case("Squeeze and StoreUnAlign take turns", body)
    body = begin + squeeze + marked(squeeze) + append + end
    yield Case("Squeeze behind Squeeze", body, UNALIGNED)
    body = begin + squeeze + append + marked(append) + end
    yield Case("StoreUnAlign without a Squeeze of its own", body, UNALIGNED)
    other = squeeze.replace("STORE_REG", "NO_STORE_REG")
    yield Case("Squeeze that stores no length", begin + squeeze + other + append + end)

    into = "Reg::UnalignRegForLoad in;\nauto* from = x + {start};\n"
    keep = "Reg::StoreAlign(y, b, all);\nReg::StoreAlign(y + 64, c, all);\n"
    for stride in (40, 50, 70):
        body = into.format(start=3) + "Reg::LoadUnAlignPre(in, from);\n"
        body += f"Reg::LoadUnAlign(b, in, from, {stride});\n"
        body += marked("Reg::LoadUnAlign(c, in, from, 64);\n") + keep
        yield Case(f"LoadUnAlign jumps by {4 * stride} B", body, UNALIGNED)
        again = body.replace(f"  {MARK}", "").replace(
            f"from, {stride});\n", f"from, {stride});\nReg::LoadUnAlignPre(in, from);\n"
        )
        yield Case(f"LoadUnAlign jumps by {4 * stride} B behind Pre", again)
    body = (
        into.format(start=3)
        + "Reg::LoadUnAlignPre(in, from);\nReg::LoadUnAlign(b, in, from, 64);\n"
        "Reg::LoadUnAlign(c, in, from, 64);\n" + keep
    )
    yield Case("LoadUnAlign goes on", body)
    body = (
        into.format(start=0)
        + "Reg::LoadUnAlignPre(in, from);\nReg::LoadUnAlign(b, in, from, 64);\n"
        "Reg::LoadUnAlign(c, in, from, 64);\n" + keep
    )
    yield Case("LoadUnAlign goes on, aligned", body)
    for start in (0, 3):
        body = (
            into.format(start=start)
            + marked("Reg::LoadUnAlign(b, in, from);\n")
            + "Reg::StoreAlign(y, b, all);\n"
        )
        yield Case(f"Pre left out at {4 * start} B", body, UNALIGNED)
    body = (
        into.format(start=3)
        + "Reg::LoadUnAlignPre(in, from);\nReg::LoadUnAlign(b, in, from, 64);\n"
    )
    body += (
        barrier("VEC_LOAD", "VEC_STORE")
        + "\nReg::StoreAlign(x + 64, a, all);\n"
        + barrier("VEC_STORE", "VEC_LOAD")
    )
    body += "\n" + marked("Reg::LoadUnAlign(c, in, from, 64);\n") + keep
    yield Case("held bytes were stored since", body, ORDER)


def registers() -> Iterator[Case]:
    """Registers and masks that nothing has set, by the instruction that takes them."""
    keep = "Reg::StoreAlign(y, c, all);\n"
    # {r}: the register; results in c.
    takes = {
        "Add": "Reg::Add(c, {r}, a, all);",
        "Muls": "Reg::Muls(c, {r}, 2.0f, all);",
        "Exp": "Reg::Exp(c, {r}, all);",
        "MulAddDst": "Reg::Duplicate(c, 1.0f, all);\nReg::MulAddDst(c, {r}, a, all);",
        "Select": "Reg::Select(c, {r}, a, five);",
        "Reduce": "Reg::Reduce<ReduceType::SUM>(c, {r}, all);",
        "ReduceDataBlock": "Reg::ReduceDataBlock<ReduceType::MAX>(c, {r}, all);",
        "Duplicate": "Reg::Duplicate(c, {r}, all);",
        "Move": "Reg::Move(c, {r});",
        "Interleave": "Reg::Interleave(c, b, {r}, a);",
        "Squeeze": "Reg::Squeeze<float, Reg::GatherMaskMode::NO_STORE_REG>(c, {r}, all);",
        "Compare": "{{ Reg::MaskReg above;\n"
        "Reg::CompareScalar<float, CMPMODE::GT>(above, {r}, 0.0f, all);\n"
        "Reg::Select(c, a, b, above); }}",
        "StoreAlign": "Reg::Move(c, a);\nReg::StoreAlign(y + 64, {r}, all);",
        "Scatter": "Reg::Move(c, a);\nReg::Scatter(y + 64, {r}, index, all);",
        "StoreUnAlign": "Reg::Move(c, a);\nReg::Store(y + 65, {r});",
    }
    for name, line in takes.items():
        *setup, last = line.format(r="never").split("\n")
        setup_text = "".join(one + "\n" for one in setup)
        text = "Reg::RegTensor<float> never;\n" + setup_text + marked(last) + keep
        if name == "Compare":
            text = (
                "Reg::RegTensor<float> never;\n{ Reg::MaskReg above;\n"
                + marked(setup[1])
                + last
                + "\n"
                + keep
            )
        yield Case(f"register never set: {name}", text, UNDEFINED)
    masks = {
        "Add": "Reg::Add(c, a, b, {m});",
        "MERGING": "Reg::Duplicate(c, 0.0f, all);\n"
        "Reg::Add<float, Reg::MaskMergeMode::MERGING>(c, a, b, {m});",
        "Select": "Reg::Select(c, a, b, {m});",
        "Reduce": "Reg::Reduce<ReduceType::MAX>(c, a, {m});",
        "StoreAlign": "Reg::Move(c, a);\nReg::StoreAlign(y + 64, a, {m});",
        "blocks": "Reg::Move(c, a);\n"
        "Reg::StoreAlign<float, Reg::DataCopyMode::DATA_BLOCK_COPY>(y + 64, a, 1, {m});",
        "Scatter": "Reg::Move(c, a);\nReg::Scatter(y + 64, a, index, {m});",
        "And": "{{ Reg::MaskReg both;\nReg::And(both, {m}, all, all);\n"
        "Reg::Select(c, a, b, both); }}",
    }
    for name, line in masks.items():
        *setup, last = line.format(m="unset").split("\n")
        text = "Reg::MaskReg unset;\n" + "".join(one + "\n" for one in setup) + marked(last) + keep
        if name == "And":
            text = (
                "Reg::MaskReg unset;\n{ Reg::MaskReg both;\n"
                + marked(setup[1])
                + last
                + "\n"
                + keep
            )
        yield Case(f"mask never set: {name}", text, UNDEFINED)
    indices = "Reg::RegTensor<uint32_t> unset;\n"
    yield Case(
        "index never set: Scatter",
        indices + marked("Reg::Scatter(y + 64, a, unset, five);\n"),
        UNDEFINED,
    )
    yield Case(
        "register of another vector function",
        marked("Reg::Add(c, outer, a, all);\n") + keep,
        UNDEFINED,
        before="Reg::Duplicate(outer, 1.0f, all);\n",
    )
    yield Case(
        "mask of another vector function",
        marked("Reg::Add(c, b, a, outerMask);\n") + keep,
        UNDEFINED,
        before="outerMask = Reg::CreateMask<float>();\n",
    )
    yield Case(
        "register set again",
        "Reg::Duplicate(outer, 2.0f, all);\nReg::Add(c, outer, a, all);\n" + keep,
        before="Reg::Duplicate(outer, 1.0f, all);\n",
    )


CASES = [*orders(), *unaligned(), *registers()]

PROLOGUE = """Reg::RegTensor<float> a, b, c;
Reg::RegTensor<uint32_t> index, offsets;
[[maybe_unused]] Reg::MaskReg all = Reg::CreateMask<float>();
[[maybe_unused]] Reg::MaskReg five = Reg::CreateMask<float, Reg::MaskPattern::VL4>();
Reg::Duplicate(a, 1.0f, all);
Reg::Duplicate(b, 2.0f, all);
Reg::Arange((Reg::RegTensor<int32_t>&)index, 0);
Reg::Muls((Reg::RegTensor<int32_t>&)offsets, (Reg::RegTensor<int32_t>&)index, 32, all);
"""


def source(bench: Path) -> tuple[str, dict[int, int]]:
    """With bench.h from there: a kernel per case, and the lines at which faults are to be named."""
    lines = [f'#include "{bench}"', "using namespace AscendC;", "namespace Reg = AscendC::Reg;", ""]
    at: dict[int, int] = {}
    for number, case in enumerate(CASES):
        body: list[str] = []
        parameters = "[[maybe_unused]] __ubuf__ float* y"
        if not case.only_y:
            parameters = f"[[maybe_unused]] __ubuf__ float* x, {parameters}"
        given = ("0",) if case.only_y else ("1", "0")
        arguments = ", ".join(
            f"(__ubuf__ float*)areas.Area<float>({area}).GetPhyAddr()" for area in given
        )
        if case.before is None:
            lines.append(f"__simd_vf__ inline void Case{number}({parameters}) {{")
            body = [*PROLOGUE.splitlines(), *case.body.splitlines()]
            lines.extend(body)
            lines.append("}")
            lines.append(
                f"CALL_KERNEL(case_{number}) {{ asc_vf_call<Case{number}>({arguments}); }}"
            )
        else:
            lines.append(f"CALL_KERNEL(case_{number}) {{")
            lines.append(
                "[[maybe_unused]] auto* y = (__ubuf__ float*)areas.Area<float>(0).GetPhyAddr();"
            )
            lines.append("Reg::RegTensor<float> outer; Reg::MaskReg outerMask;")
            lines.append("__VEC_SCOPE__ {")
            lines.extend([*PROLOGUE.splitlines(), *case.before.splitlines(), "}"])
            lines.append("__VEC_SCOPE__ {")
            lines.extend([*PROLOGUE.splitlines(), *case.body.splitlines(), "}", "}"])
        found = [i + 1 for i, line in enumerate(lines) if line.endswith(MARK)]
        if case.fault is not None:
            at[number] = found[-1]
    return "\n".join(lines) + "\n", at
