# SPDX-License-Identifier: Apache-2.0
"""Faults by kind: each kind is a rule that finds the places of a source file where it can be
planted.

A fault is one edit, such as a synchronisation that is left out or a copy that is 32 bytes longer.
The edit never adds or removes a line, so that the planted line keeps its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from mutation.source import calls, code_only, line_of

Side = Literal["kernel", "host"]

Edit = tuple[int, int, str]
"""Offsets of a text, and what stands there instead."""


@dataclass(frozen=True)
class Fault:
    """One edit of one file: ``[start, end)`` becomes ``text``."""

    kind: str
    start: int
    end: int
    text: str
    line: int
    last_line: int

    def plant(self, source: str) -> str:
        """The source with the fault in it."""
        return source[: self.start] + self.text + source[self.end :]

    def describe(self, source: str) -> str:
        """The line before and after."""
        before, after = (
            text.splitlines()[self.line - 1].strip() for text in (source, self.plant(source))
        )
        return f"{before} => {after}"


@dataclass(frozen=True)
class Kind:
    """A kind of fault. ``visible`` is False where no check can name it: the bytes stay in bounds
    and in
    order, only the numbers are wrong.
    """

    name: str
    side: Side
    means: str
    rule: Callable[[str], Iterator[Edit]]
    visible: bool = True


KINDS: list[Kind] = []


def _kind(
    name: str, side: Side, means: str, *, visible: bool = True
) -> Callable[[Callable[[str], Iterator[Edit]]], None]:
    def register(rule: Callable[[str], Iterator[Edit]]) -> None:
        KINDS.append(Kind(name, side, means, rule, visible))

    return register


def faults(source: str, side: Side) -> Iterator[Fault]:
    """All faults of all kinds that a file has a place for."""
    code = code_only(source)
    for kind in KINDS:
        if kind.side != side:
            continue
        seen = set()
        for start, end, text in kind.rule(code):
            # A statement of several lines keeps them.
            text += "\n" * (source[start:end].count("\n") - text.count("\n"))
            if (start, text) not in seen and source[start:end] != text:
                seen.add((start, text))
                first = line_of(source, start)
                yield Fault(
                    kind.name, start, end, text, first, first + source[start:end].count("\n")
                )


def main_of(source: str) -> int:
    """Where the main function of a program begins; the end of a text without one."""
    found = re.search(r"\bint\s+main\s*\(", code_only(source))
    return found.start() if found else len(source)


def _dropped(code: str, names: str) -> Iterator[Edit]:
    """Calls that are whole statements, left out. Their arguments stay used, so that no warning
    tells.
    """
    for call in calls(code, names):
        if call.statement:
            yield call.start, call.end, ";"


def _argument(
    code: str, names: str, place: int, change: Callable[[str], str], least: int = 1
) -> Iterator[Edit]:
    """One argument of calls, changed."""
    for call in calls(code, names):
        if len(call.arguments) >= least and -len(call.arguments) <= place < len(call.arguments):
            start, end = call.arguments[place]
            lead = len(code[start:end]) - len(code[start:end].lstrip())
            yield start + lead, end, change(code[start + lead : end].rstrip())


def _statement_dropped(
    name: str, side: Side, means: str, names: str, *, visible: bool = True
) -> None:
    """A kind whose every fault is a call that is left out."""
    _kind(name, side, means, visible=visible)(lambda code: _dropped(code, names))


# --- kernels: synchronisation --------------------------------------------------------------------


_statement_dropped("barrier-dropped", "kernel", "a PipeBarrier is left out", "PipeBarrier")
_statement_dropped(
    "flag-dropped",
    "kernel",
    "a SetFlag or WaitFlag is left out",
    "SetFlag|WaitFlag|CrossCoreSetFlag|CrossCoreWaitFlag|NotifyNextBlock|WaitPreBlock|IBSet|IBWait",
)


@_kind("flag-twice", "kernel", "a SetFlag stands twice")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "SetFlag"):
        if call.statement:
            text = code[call.start : call.end]
            yield call.start, call.end, f"{text} {text}"


@_kind("event-turned", "kernel", "a HardEvent goes the other way")
def _(code: str) -> Iterator[Edit]:
    pipe = "(V|S|M|MTE1|MTE2|MTE3|FIX)"
    for found in re.finditer(rf"HardEvent::{pipe}_{pipe}\b", code):
        if found[1] != found[2]:
            yield found.start(), found.end(), f"HardEvent::{found[2]}_{found[1]}"


@_kind("core-flag-early", "kernel", "a CrossCoreSetFlag is one of a pipe that has less to do")
def _(code: str) -> Iterator[Edit]:
    earlier = {"FIX": "M", "MTE3": "V", "MTE2": "V"}
    for found in re.finditer(r"\bCrossCoreSetFlag<[^<>;]*\bPIPE_(FIX|MTE3|MTE2)>", code):
        yield found.start(1), found.end(1), earlier[found[1]]


@_kind("core-flag-twice", "kernel", "a CrossCoreSetFlag stands twice")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "CrossCoreSetFlag"):
        if call.statement:
            text = code[call.start : call.end]
            yield call.start, call.end, f"{text} {text}"


@_kind("core-flag-mode", "kernel", "a CrossCoreSetFlag has a mode of other cores")
def _(code: str) -> Iterator[Edit]:
    for found in re.finditer(r"\bCrossCoreSetFlag<(0|1|2|0x[0-2])\s*,", code):
        yield found.start(1), found.end(1), "0" if found[1].endswith("2") else "2"


@_kind("core-flag-reserved", "kernel", "a CrossCoreSetFlag has an id that SyncAll uses")
def _(code: str) -> Iterator[Edit]:
    yield from _argument(code, "CrossCoreSetFlag", 0, lambda _: "12")


_statement_dropped("meeting-dropped", "kernel", "a SyncAll is left out", "SyncAll")
_statement_dropped(
    "local-barrier-dropped",
    "kernel",
    "a LocalMemBar of a vector function is left out",
    "LocalMemBar",
)
# --- kernels: queues and buffers -----------------------------------------------------------------


_statement_dropped(
    "queue-call-dropped", "kernel", "an EnQue or FreeTensor is left out", "EnQue|FreeTensor"
)


@_kind("queue-call-twice", "kernel", "a FreeTensor stands twice")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "FreeTensor"):
        if call.statement:
            text = code[call.start : call.end]
            yield call.start, call.end, f"{text} {text}"


@_kind("queue-position", "kernel", "a queue has the position of the other direction")
def _(code: str) -> Iterator[Edit]:
    other = {"VECIN": "VECOUT", "VECOUT": "VECIN"}
    for found in re.finditer(r"\b(?:TPosition|QuePosition)::(VECIN|VECOUT)\b", code):
        yield found.start(1), found.end(1), other[found[1]]


@_kind("buffer-short", "kernel", "a buffer has half of its size")
def _(code: str) -> Iterator[Edit]:
    yield from _argument(code, "InitBuffer", -1, lambda text: f"({text}) / 2", 2)


@_kind("buffer-huge", "kernel", "a buffer has 16 times its size")
def _(code: str) -> Iterator[Edit]:
    yield from _argument(code, "InitBuffer", -1, lambda text: f"({text}) * 16", 2)


# --- kernels: copies -----------------------------------------------------------------------------


_statement_dropped(
    "copy-dropped", "kernel", "a copy between GM and UB is left out", "DataCopy|DataCopyPad"
)


@_kind("copy-long", "kernel", "a copy is 32 bytes or elements longer")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "DataCopy"):
        if call.statement and len(call.arguments) == 3:
            start, end = call.arguments[2]
            text = code[start:end].strip()
            if not re.search(r"[Pp]aram|^\{|[Rr]epeat", text):
                yield start, end, f" ({text}) + 32"
    for found in re.finditer(r"\bDataCopyExtParams\b(?:\s+\w+)?\s*[{(]\s*([^,{}]+),\s*", code):
        rest = _first(code, found.end())
        if rest:
            yield found.end(), rest, f"32 + {code[found.end() : rest]}"


@_kind("tail-dropped", "kernel", "a copy's length is rounded down to 32 bytes")
def _(code: str) -> Iterator[Edit]:
    for found in re.finditer(r"\bDataCopyExtParams\b(?:\s+\w+)?\s*[{(]\s*([^,{}]+),\s*", code):
        rest = _first(code, found.end())
        if rest:
            text = code[found.end() : rest]
            yield found.end(), rest, f"static_cast<uint32_t>(({text}) / 32 * 32)"


@_kind("local-offset", "kernel", "an offset in UB is one element further")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, _VECTOR):
        for start, end in call.arguments[:2]:
            found = re.search(r"\[([^\[\]]+)\]\s*$", code[start:end])
            if found:
                yield start + found.start(1), start + found.end(1), f"({found[1]}) + 1"


@_kind("gm-offset", "kernel", "an offset in GM is one element further")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "DataCopy|DataCopyPad"):
        for start, end in call.arguments[:2]:
            found = re.search(r"(?i)gm\w*\[([^\[\]]+)\]\s*$", code[start:end])
            if found:
                yield start + found.start(1), start + found.end(1), f"({found[1]}) + 1"


@_kind("core-offset", "kernel", "every core works on the part of core 0")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "GetBlockIdx"):
        yield call.start, call.end if not call.statement else call.end - 1, "0"


@_kind("core-next", "kernel", "every core works on the part of the next")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "GetBlockIdx"):
        end = call.end if not call.statement else call.end - 1
        yield call.start, end, f"({code[call.start : end]} + 1)"


# --- kernels: loops and vector calls -------------------------------------------------------------


@_kind("loop-long", "kernel", "a loop runs once more")
def _(code: str) -> Iterator[Edit]:
    for found in re.finditer(r"\bfor\s*\([^;]*;\s*[\w.]+\s*(<)\s*[^;=<]", code):
        yield found.start(1), found.end(1), "<="


@_kind("loop-short", "kernel", "a loop leaves its last round out")
def _(code: str) -> Iterator[Edit]:
    for found in re.finditer(r"\bfor\s*\([^;]*;\s*([\w.]+)\s*<\s*[^;=<]", code):
        yield found.start(1), found.end(1), f"{found[1]} + 1"


_ARITHMETIC = (
    "Add|Sub|Mul|Div|Max|Min|Adds|Muls|Maxs|Mins|Exp|Ln|Abs|Relu|Sqrt|Rsqrt|Reciprocal|Axpy"
    "|MulAddDst|Cast|Not|And|Or|Neg|Sigmoid|Tanh|Select|Compare"
)
_REDUCE = (
    "ReduceSum|ReduceMax|ReduceMin|WholeReduceSum|WholeReduceMax|BlockReduceSum|BlockReduceMax"
    "|PairReduceSum|RepeatReduceSum"
)
_FILL = "Duplicate|Brcb|Broadcast|ArithProgression|CreateVecIndex"
_VECTOR = f"{_ARITHMETIC}|{_REDUCE}|{_FILL}"


@_kind("count-long", "kernel", "a vector call takes 4,096 elements more")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, f"{_ARITHMETIC}|Duplicate|ReduceSum|ReduceMax"):
        if call.statement and len(call.arguments) in (3, 4, 5):
            start, end = call.arguments[-1]
            text = code[start:end].strip()
            if re.search(
                r"count|Count|num|Num|len|Len|size|Size|lanes|columns|width|elements|length", text
            ):
                yield start, end, f" ({text}) + 4096"


@_kind("count-negative", "kernel", "a vector call takes a negative count")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, f"{_ARITHMETIC}|Duplicate|ReduceSum|ReduceMax"):
        if call.statement and len(call.arguments) in (3, 4, 5):
            start, end = call.arguments[-1]
            text = code[start:end].strip()
            if re.search(
                r"count|Count|num|Num|len|Len|size|Size|lanes|columns|width|elements|length", text
            ):
                yield start, end, f" -static_cast<int32_t>({text})"


@_kind(
    "fill-dropped",
    "kernel",
    "a Duplicate, Brcb or reduction is left out, so that its result is never written",
)
def _(code: str) -> Iterator[Edit]:
    yield from _dropped(code, f"{_FILL}|{_REDUCE}")


_statement_dropped(
    "unwritten-operand",
    "kernel",
    "a vector call that may be the first to write its result is left out",
    _ARITHMETIC,
    visible=False,
)


@_kind(
    "arithmetic",
    "kernel",
    "a vector call computes something else on the same elements",
    visible=False,
)
def _(code: str) -> Iterator[Edit]:
    other = {
        "Add": "Sub",
        "Sub": "Add",
        "Mul": "Add",
        "Max": "Min",
        "Min": "Max",
        "Adds": "Muls",
        "Muls": "Adds",
        "Maxs": "Mins",
        "Mins": "Maxs",
    }
    for call in calls(code, "|".join(other)):
        if call.statement:
            at = code.index(call.name, call.start)
            yield at, at + len(call.name), other[call.name]


@_kind("global-buffer-short", "kernel", "a SetGlobalBuffer begins 4 GiB of elements further")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "SetGlobalBuffer"):
        if call.arguments:
            start, end = call.arguments[0]
            yield start, end, f"{code[start:end]} + (1ULL << 32)"


# --- kernels: the matrix unit --------------------------------------------------------------------


_statement_dropped(
    "load-dropped",
    "kernel",
    "a load into L0A or L0B is left out",
    "LoadData|LoadDataWithTranspose",
)
_statement_dropped("product-dropped", "kernel", "an Mmad is left out", "Mmad")
_statement_dropped("result-dropped", "kernel", "a Fixpipe is left out", "Fixpipe")
_statement_dropped(
    "matmul-call-dropped",
    "kernel",
    "a SetTensorA, SetTensorB or End of a Matmul object is left out",
    "SetTensorA|SetTensorB|End",
)


_statement_dropped(
    "matmul-bias-dropped",
    "kernel",
    "a SetBias of a Matmul object is left out",
    "SetBias",
    visible=False,
)
_statement_dropped(
    "matmul-part-dropped",
    "kernel",
    "a SetTail, SetSingleShape or SetOrgShape of a Matmul object is left out",
    "SetTail|SetSingleShape|SetOrgShape",
)
_statement_dropped(
    "matmul-unregistered", "kernel", "a REGIST_MATMUL_OBJ is left out", "REGIST_MATMUL_OBJ"
)


@_kind("matmul-part-long", "kernel", "m of a SetTail or SetSingleShape is a fractal more")
def _(code: str) -> Iterator[Edit]:
    yield from _argument(code, "SetTail|SetSingleShape", 0, lambda m: f"({m}) + 16")


@_kind("matmul-transposed", "kernel", "a SetTensorA or SetTensorB says the other transposition")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "SetTensorA|SetTensorB"):
        if len(call.arguments) == 2:
            start, end = call.arguments[1]
            yield start, end, f" !({code[start:end].strip()})"
        elif call.arguments:
            end = call.arguments[0][1]
            yield end, end, ", true"


@_kind("kernel-type-vector", "kernel", "the kernel type is that of vector cores alone")
def _(code: str) -> Iterator[Edit]:
    for found in re.finditer(r"\bKERNEL_TYPE_(?:MIX_)?AIC_\w+", code):
        yield found.start(), found.end(), "KERNEL_TYPE_AIV_ONLY"


@_kind("architecture-other", "kernel", "the code of other architectures is compiled")
def _(code: str) -> Iterator[Edit]:
    for found in re.finditer(r"^#if __NPU_ARCH__ ([!=]=) ", code, re.MULTILINE):
        yield found.start(1), found.end(1), "==" if found[1] == "!=" else "!="


@_kind("load-short", "kernel", "a load into L0 takes a fractal less")
def _(code: str) -> Iterator[Edit]:
    yield from _argument(
        code, "LoadData2DParams|LoadData2dParams", 1, lambda repeats: f"({repeats}) - 1", least=4
    )


def _field(code: str, names: str, change: Callable[[str], str]) -> Iterator[Edit]:
    """The value of a field of a variable, changed."""
    for found in re.finditer(rf"\b\w+\.(?:{names}) = ([^;]+);", code):
        yield found.start(1), found.end(1), change(found[1])


@_kind("sum-unstarted", "kernel", "the first Mmad of a sum adds to what L0C holds")
def _(code: str) -> Iterator[Edit]:
    yield from _field(code, "cmatrixInitVal", lambda _: "false")


@_kind("extent-long", "kernel", "m, n or k of an Mmad, or the size of a Fixpipe, is a fractal more")
def _(code: str) -> Iterator[Edit]:
    if "Mmad" in code:
        yield from _field(code, "m|n|k|nSize|mSize", lambda value: f"({value}) + 16")


@_kind("result-short", "kernel", "a Fixpipe takes half of the rows or columns")
def _(code: str) -> Iterator[Edit]:
    yield from _field(code, "nSize|mSize", lambda value: f"({value}) / 2")


@_kind("result-stride", "kernel", "a stride of a Fixpipe is 16 more")
def _(code: str) -> Iterator[Edit]:
    if "Fixpipe" in code:
        yield from _field(code, "srcStride|dstStride", lambda value: f"({value}) + 16")


@_kind("unit-flag-one-side", "kernel", "an Mmad or a Fixpipe alone has a unit flag")
def _(code: str) -> Iterator[Edit]:
    for found in re.finditer(r"\b(\w+)\.(?:cmatrixInitVal|mSize) = ", code):
        yield found.start(), found.start(), f"{found[1]}.unitFlag = 3; "


# --- kernels: vector functions of Ascend 950 -----------------------------------------------------


@_kind("register-unset", "kernel", "a load into a register or a mask's update is left out")
def _(code: str) -> Iterator[Edit]:
    if "__simd_vf__" in code or "__VEC_SCOPE__" in code or "VF_CALL" in code:
        yield from _dropped(code, "LoadAlign|LoadUnAlign|LoadUnAlignPre")


_statement_dropped(
    "register-store-dropped",
    "kernel",
    "a store from a register is left out",
    "StoreAlign|StoreUnAlign|StoreUnAlignPost",
)


@_kind("register-store-far", "kernel", "a store from a register ends past its buffer")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "StoreAlign|StoreUnAlign"):
        if call.arguments:
            start, end = call.arguments[0]
            text = code[start:end].strip()
            if re.search(r"\+", text):
                yield start, end, f"{code[start:end]} + 65536"


# --- hosts: tiling -------------------------------------------------------------------------------


@_kind("blocks-none", "host", "SetBlockDim(0)")
def _(code: str) -> Iterator[Edit]:
    yield from _argument(code, "SetBlockDim", 0, lambda text: "0")


@_kind("blocks-many", "host", "SetBlockDim is 70,000")
def _(code: str) -> Iterator[Edit]:
    yield from _argument(code, "SetBlockDim", 0, lambda text: "70000")


_statement_dropped("blocks-dropped", "host", "SetBlockDim is left out", "SetBlockDim")


@_kind("key-unknown", "host", "SetTilingKey names a key that the kernel has not")
def _(code: str) -> Iterator[Edit]:
    yield from _argument(code, "SetTilingKey", 0, lambda text: f"({text}) + 7919")


_statement_dropped("size-dropped", "host", "the tiling data has no size", "SetDataSize")


@_kind("field-dropped", "host", "a field of the tiling data is not set")
def _(code: str) -> Iterator[Edit]:
    yield from _dropped(code, r"set_\w+")
    for found in re.finditer(
        r"(?m)^[ \t]*((?:tiling|data|tilingData|plan|out)\w*(?:->|\.)\w+\s*=[^=][^;]*;)", code
    ):
        yield found.start(1), found.end(1), ";"


@_kind("field-long", "host", "a field of the tiling data is one more", visible=False)
def _(code: str) -> Iterator[Edit]:
    yield from _argument(code, r"set_\w+", 0, lambda text: f"({text}) + 1")
    for found in re.finditer(
        r"(?m)^[ \t]*(?:tiling|data|tilingData|plan|out)\w*(?:->|\.)\w+\s*=\s*([^=;][^;]*);", code
    ):
        yield found.start(1), found.end(1), f"({found[1]}) + 1"


@_kind("ub-twice", "host", "the tiling counts on twice the UB")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "GetCoreMemSize"):
        if call.statement and len(call.arguments) == 2:
            start, end = call.arguments[1]
            name = code[start:end].strip()
            yield call.start, call.end, f"{code[call.start : call.end]} {name} *= 2;"


@_kind("cube-tiling", "host", "a field of a TCubeTiling breaks a rule of its page")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "GetTiling"):
        if len(call.arguments) != 1:
            continue
        tiling = code[slice(*call.arguments[0])].strip()
        end = call.end - call.statement
        for change in ("baseM() + 8", "baseK() * 64", "dbL0A() * 0", "depthA1() * 64"):
            field = change.partition("(")[0]
            broken = f"{tiling}.set_{field}({tiling}.get_{change});"
            made = code[call.start : end]
            yield call.start, end, f"[&](auto made) {{ {broken} return made; }}({made})"


@_kind("division-by-zero", "host", "the tiling divides by zero")
def _(code: str) -> Iterator[Edit]:
    for found in re.finditer(r"(?m)^[^\n/]*?=[^\n/]*?[\w)\]]\s*/\s*((?:[a-zA-Z_]\w*))\s*;", code):
        yield found.start(1), found.end(1), f"({found[1]} - {found[1]})"


@_kind("attribute-wrong", "host", "an attribute is read at an index that does not exist")
def _(code: str) -> Iterator[Edit]:
    yield from _argument(
        code,
        r"GetAttrPointer|GetInt|GetFloat|GetBool|GetStr|GetListInt",
        0,
        lambda text: f"({text}) + 5",
    )


@_kind("input-wrong", "host", "the shape of an input that does not exist is read")
def _(code: str) -> Iterator[Edit]:
    yield from _argument(
        code,
        "GetInputShape|GetInputDesc|GetInputTensor|GetInputDataType",
        0,
        lambda text: f"({text}) + 9",
    )


@_kind("workspace-none", "host", "the tiling asks for no workspace")
def _(code: str) -> Iterator[Edit]:
    for found in re.finditer(r"(?i)\b\w*workspace\w*\[0\]\s*=\s*([^=;][^;]*);", code):
        yield found.start(1), found.end(1), "0"


# --- hosts: definition and inference -------------------------------------------------------------


@_kind("dtype-missing", "host", "a dtype list of the definition is one shorter")
def _(code: str) -> Iterator[Edit]:
    for call in calls(code, "DataType"):
        if call.arguments:
            start, end = call.arguments[0]
            found = re.search(r",\s*ge::\w+\s*(?=\}\s*$)", code[start:end])
            if found:
                yield start + found.start(), start + found.end(), ""


@_kind("inference-dropped", "host", "shape inference names no shape")
def _(code: str) -> Iterator[Edit]:
    for found in re.finditer(r"(?m)^[ \t]*(\*\s*\w+\s*=\s*\*\s*\w+\s*;)", code):
        yield found.start(1), found.end(1), ";"


_statement_dropped("definition-dropped", "host", "OP_ADD is left out", "OP_ADD")


def _first(code: str, start: int) -> int:
    """Where an initialiser that begins at an offset ends."""
    depth = 0
    for at in range(start, len(code)):
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}":
            if depth == 0:
                return at
            depth -= 1
        elif code[at] == "," and depth == 0:
            return at
        elif code[at] == ";":
            return 0
    return 0
