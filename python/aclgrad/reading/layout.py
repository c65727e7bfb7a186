# SPDX-License-Identifier: Apache-2.0
"""What a path holds: which of the layouts that Ascend C projects have, and the files in it.

Operators are known by what their files say (OP_ADD, IMPL_OP_*), never by how the files are called.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from aclgrad.common.files import check_regular, text_of
from aclgrad.reading import cmake_text, launch_lists
from aclgrad.reading.cpp_text import without_literals
from aclgrad.reading.definition_rules import unregistered
from aclgrad.reading.repository import SKIPPED, include_roots, repository_of, walk
from aclgrad.reading.sources import (
    OTHER_ARCHITECTURE,
    Sources,
    SourcesError,
    code,
    shared_files,
)
from aclgrad.spec.naming import snake_case


class Kind(str, Enum):
    """The layouts, as ``--layout`` spells them."""

    operator = "operator"  # ops-nn: a folder per operator, its definition in *_def.cpp
    msopgen = "msopgen"  # what msopgen makes: op_host and op_kernel, any number of operators
    launch = "launch"  # kernels that CMake's ascendc_library() names
    kernel = "kernel"  # kernel files by themselves
    program = "program"  # kernels and main() in one file


_TITLES = {
    Kind.operator: "operator folder",
    Kind.msopgen: "msopgen project",
    Kind.launch: "kernel-launch project",
    Kind.kernel: "kernels alone",
    Kind.program: "program",
}

_HOST_PARTS = re.compile(r"_(?:def|infershape|tiling)\w*\.(?:cpp|cc)$")
_REGISTERS = re.compile(
    r"\b(?:OP_ADD|IMPL_OP\w*|REGISTER_\w*TILING\w*|REG_OP|DEVICE_IMPL_OP\w*)\s*\("
)
_FOREIGN = re.compile(
    r"#include\s*[<\"](?:torch/|torch_npu/|ATen/|acl/acl\.h|aclrtlaunch_|(?:\w+/)*fallback\w*\.h)"
)
_OTHER_PARTS = {"op_api", "op_graph", "config", "tests", "test", "stub", "examples", "build"}
_SUFFIXES = (".cpp", ".cc")
_OPENED = (*_SUFFIXES, ".c", ".h", ".hpp", ".asc", ".py", ".cmake", "CMakeLists.txt", ".toml")
_MOST_BELOW = 50


@dataclass(frozen=True)
class OperatorFiles:
    """An operator type that op_host registers, and the files that are its own."""

    type: str
    definition: Path
    host: tuple[Path, ...]
    kernels: tuple[Path, ...] = ()
    api: tuple[Path, ...] = ()

    @property
    def stem(self) -> str:
        """As its files are called."""
        return snake_case(self.type)


@dataclass(frozen=True)
class Layout:
    """What was found at a path."""

    kind: Kind
    root: Path
    repository: Path
    operators: tuple[OperatorFiles, ...] = ()
    kernels: tuple[Path, ...] = ()  # all, those for architecture 3510 too
    host: tuple[Path, ...] = ()  # what registers something, for any architecture
    helpers: tuple[Path, ...] = ()  # the rest of op_host
    api: tuple[Path, ...] = ()
    includes: tuple[Path, ...] = ()  # what the project's own lists say
    defines: tuple[str, ...] = ()
    narrowed: bool = False  # to one of several operators
    word: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """What the path is called in messages and in the cache."""
        alone = self.kernels[0].stem if len(self.kernels) == 1 else self.root.name
        nameless = self.kind is Kind.msopgen or not self.root.name.isidentifier()
        if nameless and len(self.operators) == 1:
            return self.operators[0].stem
        return alone if self.kind in (Kind.kernel, Kind.program) else self.root.name

    @property
    def line(self) -> str:
        """What was found, for people."""
        what = _TITLES[self.kind]
        if self.operators:
            names = ", ".join(op.type for op in self.operators)
            many = f"{len(self.operators)} operators: " if len(self.operators) > 1 else ""
            return f"{self.name}: {what}, {many}{names}"
        if len(self.kernels) == 1:
            return f"{self.kernels[0].name}: {what.replace('kernels alone', 'kernel alone')}"
        return f"{self.name}: {what}, {_listed([path.name for path in self.kernels])}"

    def only(self, name: str) -> Layout:
        """The project with one of its operators, by type or by file stem."""
        chosen = [op for op in self.operators if name in (op.type, op.stem)]
        if not chosen:
            have = ", ".join(op.type for op in self.operators) or "none"
            raise SourcesError(
                f"--op {name}: {self.root} has no such operator; it has {have}. Next: --op with one"
                " of them"
            )
        others = {file for op in self.operators if op not in chosen for file in op.host}
        mine = {file for op in chosen for file in op.host}
        host = tuple(file for file in self.host if file in mine or file not in others)
        return replace(self, operators=tuple(chosen), host=host, narrowed=True)


def find(word: str | Path, kind: str | Kind | None = None, op: str | None = None) -> Layout:
    """Find out what a path holds. Raises `SourcesError` that says what it lacks."""
    given = Path(word).expanduser()
    if not given.exists():
        raise SourcesError(
            f"{word}: no such file or folder. Next: give an operator's folder, e.g."
            " ops-nn/activation/relu"
        )
    path = given.resolve()
    check_compilable(path)
    check_regular(_opened(path))
    wanted = Kind(kind) if kind else None
    found = _file(path, wanted) if path.is_file() else _folder(path, wanted)
    found = replace(found, word=str(word))
    return found.only(op) if op else found


def _opened(path: Path) -> Iterator[Path]:
    """The files that a build of a project opens by their names or by a search, and the path."""
    yield path
    inside = path if path.is_dir() else path.parent
    part = next((folder for folder in (inside, *inside.parents) if folder.name in _PARTS), None)
    root = part.parent if part else inside
    yield from (file for file in _entries(root) if file.name.endswith(_OPENED))
    for name in (*_PARTS, "op_api"):
        yield from (file for file in (root / name).rglob("*") if file.name.endswith(_OPENED))


def _entries(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from folder.iterdir()


def check_compilable(path: Path) -> None:
    """Refuse a path that an #include cannot name, or that no report can hold."""
    text = str(path)
    bad = next((one for one in text if one == '"' or ord(one) < 32 or ord(one) == 127), None)
    cause = f"has {bad!r}, which an #include cannot name" if bad else ""
    if any(0xD800 <= ord(one) < 0xE000 for one in text):
        cause = "is not UTF-8, which reports are written in"
    if cause:
        legible = os.fsencode(path).decode("utf-8", "backslashreplace")
        shown = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in legible)
        raise SourcesError(f"{shown}: the path {cause}. Next: rename its folder")


def _file(path: Path, wanted: Kind | None) -> Layout:
    if wanted is Kind.program and path.suffix != ".asc":
        raise SourcesError(
            f"--layout program: {path} does not end in .asc. Next: give a copy of it that ending"
        )
    if path.suffix == ".asc" and wanted in (None, Kind.program):
        return Layout(Kind.program, path.parent, repository_of(path.parent), kernels=(path,))
    if path.suffix not in (*_SUFFIXES, ".asc"):
        raise SourcesError(
            f"{path}: no source of an operator or a kernel, want .cpp, .cc or .asc. Next: give the"
            " folder that holds op_host and op_kernel, or a kernel file"
        )
    part = next((folder for folder in path.parents if folder.name in _PARTS), None)
    if part is not None and wanted is not Kind.kernel:
        whole = _project(part.parent, wanted)
        if whole is not None and path in whole.kernels:
            owners = _owners(whole, path)
            found = whole.only(owners[0].type) if len(owners) == 1 else whole
            return replace(found, kernels=(path,))
        own = [op for op in whole.operators if path in op.host] if whole is not None else []
        if whole is not None and own:
            return whole if len(own) == len(whole.operators) else whole.only(own[0].type)
        if part.name == "op_host":
            raise SourcesError(
                f"{path}: it registers no operator and has no kernel. Next: give the operator's"
                f" folder: {part.parent}"
            )
    root = path.parent.parent if path.parent.name == "op_kernel" else path.parent
    said = launch_lists.above(path) if wanted is not Kind.kernel else None
    if said is None:
        return Layout(Kind.kernel, root, repository_of(root), kernels=(path,))
    return Layout(Kind.launch, root, repository_of(root), (), (path,), (), (), (), *said.words)


def _owners(project: Layout, kernel: Path) -> list[OperatorFiles]:
    """The operators of a project that a kernel file is for: by its name, by what a definition says
    of its file, or by the functions in it.
    """
    if len(project.operators) == 1:
        return []  # nothing to choose
    by_name = [op for op in project.operators if kernel in op.kernels]
    if by_name:
        return by_name
    said = re.compile(rf"\"opFile\.value\"\s*,\s*\"{re.escape(kernel.stem)}\"")
    by_definition = [op for op in project.operators if said.search(code(op.definition))]
    functions = set(re.findall(r"__global__[^;{}()]*?\b(\w+)\s*\(", code(kernel)))
    return by_definition or [op for op in project.operators if op.stem in functions]


_PARTS = ("op_host", "op_kernel")


def _folder(path: Path, wanted: Kind | None) -> Layout:
    if wanted is Kind.program:
        raise SourcesError(f"--layout program: {path} is a folder. Next: give the file with main()")
    part = next((folder for folder in (path, *path.parents) if folder.name in _PARTS), None)
    inside, path = path, part.parent if part else path
    if wanted in (None, Kind.operator, Kind.msopgen):
        found = _project(path, wanted)
        if found is not None:
            own = [op for op in found.operators if inside in op.definition.parents]
            return found.only(own[0].type) if len(own) == 1 else found
    if wanted in (None, Kind.launch):
        said = launch_lists.read(path)
        if said is not None:
            where = (path, repository_of(path))
            return Layout(Kind.launch, *where, (), said.sources, (), (), (), *said.words)
    if wanted in (None, Kind.kernel):
        kernels = _kernels(path / "op_kernel") or _kernels(path, deep=False)
        if kernels:
            return Layout(Kind.kernel, path, repository_of(path), kernels=kernels)
    below = _below(path)
    if len(below) == 1:
        return _folder(below[0], wanted)
    if below:
        many = f"{'at least ' * (len(below) == _MOST_BELOW)}{len(below)}"
        raise SourcesError(
            f"{path}: no kernel found here, but {many} operator projects below it:"
            f" {_listed([str(folder.relative_to(path)) for folder in below])}. Next: give one of"
            f" them, e.g. {below[0]}"
        )
    if (path / "op_kernel_aicpu").is_dir():
        raise SourcesError(
            f"{path}: its kernel is for the AI CPU (op_kernel_aicpu), which is not simulated. Next:"
            " compute on the host what it computes"
        )
    raise SourcesError(
        f"{path}: no kernel found and no operator: want op_host with an OP_ADD(Name) and op_kernel"
        " with a __global__ function, CMake lists with ascendc_library(), or *.cpp with a"
        " __global__ function. Next: give the folder that holds op_kernel and op_host, or a kernel"
        " file"
    )


def _project(root: Path, wanted: Kind | None = None) -> Layout | None:
    """The operators that ``root/op_host`` registers; None when it registers none."""
    host = root / "op_host"
    if not host.is_dir():
        return None
    files = [
        file
        for file in sorted(host.rglob("*"))
        if file.suffix in _SUFFIXES
        and file.is_file()
        and not _OTHER_PARTS & set(file.relative_to(host).parts[:-1])
    ]
    texts = {file: code(file) for file in files}
    api = _api_of(root / "op_api", host / "op_api")
    api += tuple(file for file in files if _is_api(texts[file]))
    files = [file for file in files if file not in api and not _foreign(texts[file])]
    kernels = _kernels(root / "op_kernel")
    adds: dict[str, list[Path]] = {}
    for file in files:
        for name in _registered(texts[file]):
            adds.setdefault(name, []).append(file)
    if not adds:
        if text := unregistered(texts):
            raise SourcesError(text)
        return None
    for name, twice in adds.items():
        plain = [
            file for file in twice if not OTHER_ARCHITECTURE.search(str(file.relative_to(host)))
        ]
        if len(plain) > 1:
            raise SourcesError(
                f"{root}: two definitions of {name} clash: {', '.join(map(str, plain))}. Next:"
                " leave one of them, or rename its OP_ADD"
            )
    operators = tuple(
        OperatorFiles(
            name, twice[0], _of(name, files, texts), _kernels_of(name, kernels, adds), api
        )
        for name, twice in adds.items()
    )
    registering = [file for file in files if _REGISTERS.search(texts[file])]
    unlisted = _unlisted(host, files)
    parts = [
        file
        for file in files
        if (file in registering and file not in unlisted)
        or (_HOST_PARTS.search(file.name) and len(adds) == 1)
    ]
    by_name = any("_def" in ops[0].stem for ops in adds.values())
    kind = Kind.operator if by_name and len(adds) == 1 else Kind.msopgen
    if (root / "CMakePresets.json").is_file():
        kind = Kind.msopgen
    return Layout(
        wanted or kind,
        root,
        repository_of(root),
        operators,
        kernels,
        tuple(parts),
        tuple(file for file in files if file not in parts),
        api,
    )


def _unlisted(host: Path, files: Sequence[Path]) -> set[Path]:
    """Sources beside CMake lists that name others of the folder one by one and leave these out.
    Repositories collect ``*_def``, ``*_infershape`` and ``*_tiling`` by their names; any other
    source is built where a list says so, and may be a leftover that does not compile.
    """
    lists = host / "CMakeLists.txt"
    if not lists.is_file():
        return set()
    text = cmake_text.without_comments(text_of(lists))
    collected = re.search(r"\bGLOB|\baux_source_directory\b", text, re.IGNORECASE)
    if collected or not any(file.name in text for file in files):
        return set()
    return {file for file in files if not _HOST_PARTS.search(file.name) and file.name not in text}


def _registered(text: str) -> list[str]:
    """Operator types that a source registers: by OP_ADD, or by a macro of its own around that."""
    text = without_literals(text)
    found = re.findall(r"\bOP_ADD\(\s*(\w+)", text)
    others = re.findall(r"(?m)^\s*[A-Z][A-Z0-9_]+\(\s*(\w+)\s*\)", text)
    return found + [name for name in _defined(text) if name in others and name not in found]


def _defined(text: str) -> list[str]:
    return re.findall(r"\bclass\s+(\w+)\s*(?:final\s*)?:\s*public\s+(?:ops::)?OpDef\b", text)


def _of(name: str, files: Sequence[Path], texts: dict[Path, str]) -> tuple[Path, ...]:
    """The files that register something for an operator type."""
    pattern = re.compile(rf"\b[A-Z_]+\(\s*{name}\b")
    return tuple(file for file in files if pattern.search(texts[file]))


def _kernels_of(
    name: str, kernels: Sequence[Path], adds: dict[str, list[Path]]
) -> tuple[Path, ...]:
    if len(adds) == 1:
        return tuple(kernels)
    stem = snake_case(name)
    return tuple(file for file in kernels if file.stem in (stem, f"{stem}_apt"))


def _is_api(text: str) -> bool:
    return bool(re.search(r"\b(?:L2_DFX_PHASE_1|OP_TYPE_REGISTER|CommonOpExecutorRun)\s*\(", text))


def _api_of(*folders: Path) -> tuple[Path, ...]:
    """The sources of op_api that make aclnn functions, also by a macro of a header beside them."""
    headers = [
        file.name for folder in folders for file in folder.rglob("*.h") if _is_api(code(file))
    ]
    macros = re.compile("|".join(rf'#include "{re.escape(name)}"' for name in headers) or "(?!)")
    return tuple(
        file for file in _sources_in(*folders) if _is_api(text := code(file)) or macros.search(text)
    )


def _foreign(text: str) -> bool:
    """Host code that calls kernels or torch, or runs an operator of a graph by its aclnn function:
    not for a package of operators.
    """
    return bool(_FOREIGN.search(text))


def _sources_in(*folders: Path) -> list[Path]:
    return [
        file
        for folder in folders
        if folder.is_dir()
        for file in sorted(folder.rglob("*"))
        if file.suffix in _SUFFIXES and file.is_file()
    ]


def _kernels(folder: Path, *, deep: bool = True) -> tuple[Path, ...]:
    """Kernel sources, those of the folder itself first."""
    if not folder.is_dir():
        return ()
    found = folder.rglob("*.cpp") if deep else folder.glob("*.cpp")
    files = [file for file in found if file.is_file() and _has_kernel(code(file))]
    return tuple(sorted(files, key=lambda file: (len(file.parts), file)))


def _has_kernel(text: str) -> bool:
    """Whether a source defines a kernel, or a macro that may. Programs that launch one declare it
    only.
    """
    for found in re.finditer(r"\b__global__\b", text):
        line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        depth = 0
        for sign in re.finditer(r"[(){};]", text[found.end() :]):
            depth += {"(": 1, ")": -1}.get(sign[0], 0)
            if depth <= 0 and sign[0] in "{;":
                if sign[0] == "{" or _in_macro(text, found.start(), line):
                    return True
                break
        else:
            return True
    return False


def _in_macro(text: str, at: int, line: str) -> bool:
    """Whether a place belongs to a #define, which may go on over lines."""
    while not line.lstrip().startswith("#"):
        end = at - len(line) - 1
        begin = text.rfind("\n", 0, max(end, 0)) + 1
        if end <= 0 or not text[begin:end].endswith("\\"):
            return False
        at, line = end, text[begin:end]
    return True


def _below(path: Path) -> list[Path]:
    """Folders that hold operators, at most `_MOST_BELOW`, not looking into those found."""
    found: list[Path] = []
    for folder in walk(path):
        if len(found) == _MOST_BELOW:
            break
        if found and found[-1] in folder.parents:  # what lies in a folder follows it
            continue
        if any((folder / part).is_dir() for part in _PARTS) and folder.name not in SKIPPED:
            try:
                if _project(folder) is not None or _kernels(folder / "op_kernel"):
                    found.append(folder)
            except SourcesError:
                found.append(folder)  # it says what it lacks when it is given
    return found


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


@dataclass(frozen=True)
class Choice:
    """What a command line says of a path, over what is found there."""

    kind: Kind | None = None
    op: str | None = None
    entry: str = ""
    includes: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    debug: bool = False


_choices: dict[Path, Choice] = {}


def choose(word: str | Path, choice: Choice) -> Layout:
    """Keep what a command line says of a path, which verbs look up more than once; what it is."""
    found = find(word, choice.kind, choice.op)
    _choices[Path(word).expanduser().resolve()] = choice
    return found


def locate(word: str | Path | Sources) -> Sources:
    """The files that a build of a path takes. What is sources already stays as it is."""
    if isinstance(word, Sources):
        return word
    chosen = _choices.get(Path(word).expanduser().resolve(), Choice())
    found = find(word, chosen.kind, chosen.op)
    is_program = found.kind is Kind.program
    host = set(found.host)
    if found.operators and found.root != found.repository:
        host |= shared_files(found.root, found.host)
    needed, helpers = sorted(host), found.helpers
    if found.kind is Kind.msopgen:
        # CANN builds all of that folder.
        needed, helpers = sorted({*host, *helpers}), ()
    return Sources(
        root=found.root,
        name=found.name,
        kernels=found.kernels,
        host=tuple(needed),
        repository=found.repository,
        helpers=helpers,
        roots=(
            *chosen.includes,
            *found.includes,
            *(() if is_program else include_roots(found.root, found.repository)),
        ),
        defines=(*found.defines, *chosen.defines),
        types=tuple(operator.type for operator in found.operators) if found.narrowed else (),
        api=found.api,
        word=str(word),
        alone=not found.operators,
        program=is_program,
        entry=chosen.entry,
        debug=chosen.debug,
        only=found.operators[0].type if found.narrowed else "",
    )
