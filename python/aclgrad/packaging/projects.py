# SPDX-License-Identifier: Apache-2.0
"""Operator projects of anybody in one vendor folder: every kernel of each, one library of tiling
and one of aclnn functions, in which the objects of one project do not see those of another.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from aclgrad.building.compile_step import Step
from aclgrad.building.operator_build import HOST_LIBRARIES, Builder, ask, runnable
from aclgrad.reading import definition_rules
from aclgrad.reading.layout import locate
from aclgrad.reading.sources import Sources, SourcesError
from aclgrad.running.kernel_file import find as kernel_file
from aclgrad.runtime.toolkit import Toolkit
from aclgrad.spec.definition import Definition, registered
from aclgrad.spec.soc import FAMILIES, Family


class PackingBuilder(Builder):
    """Builds for others: the result does not name folders of this machine."""

    @cached_property
    def folder(self) -> Path:
        """A place of its own, as its libraries differ from those for use here."""
        return Path(f"{super().folder}-packed")

    @property
    def beside(self) -> dict[str, Path]:
        """A package has no kernels of neighbours."""
        return {}

    def _flags(
        self, output: Path, includes: Iterable[Path], extra: Iterable[str]
    ) -> tuple[str, ...]:
        flags = super()._flags(output, includes, extra)
        # Neither a parsed header nor the assembly that the device compiler's rules read is packed,
        # and these rules know the toolkit's headers by their place.
        if output.suffix in (".gch", ".s"):
            return flags
        names = {  # the last one that fits counts
            Path.cwd(): ".",
            self.sources.repository: ".",
            self.sources.root: self.sources.name,
            self.folder: "generated",
        }
        return (*flags, *self._own, *(_renamed(path, name) for path, name in names.items()))

    @property
    def _own(self) -> tuple[str, str]:
        """Places that are the same for every project."""
        return _renamed(self.cache, "."), _renamed(self.toolkit, "toolkit")

    def _parsed(self, kind: str, headers: Sequence[str], words: Sequence[str]) -> list[str]:
        own = () if kind == "device" else self._own
        return super()._parsed(kind, headers, [*words, *own])

    def _object_at(
        self,
        source: Path,
        output: Path,
        includes: Iterable[Path],
        words: Iterable[str],
        objects: Iterable[Path] = (),
    ) -> Step:
        return without_run_path(super()._object_at(source, output, includes, words, objects))


def _renamed(path: Path, name: str) -> str:
    return f"-ffile-prefix-map={path}={name}"


def without_run_path(step: Step) -> Step:
    """The toolkit's libraries are found as a program's environment says."""
    words = tuple(word for word in step.command if not word.startswith("-Wl,-rpath"))
    return replace(step, command=words)


class VendorFolder(Builder):
    """A vendor folder that is there, with the interface of what builds one."""

    def __init__(self, folder: Path, family: Family, toolkit: Toolkit) -> None:
        super().__init__(Sources(folder, folder.name, (), (), folder), family, toolkit=toolkit.root)

    @property
    def package(self) -> Path:
        """The folder itself."""
        return self.sources.root

    def definitions(self) -> list[Definition]:
        """Operators that its tiling library defines for the family."""
        done = ask(self.toolkit, self.host_library, self.soc.name)
        if done.returncode:
            why = (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
            raise SourcesError(
                f"package: {self.host_library} does not load in the simulator: {why}\nNext: nm -uC"
                f" {self.host_library}, or --device npu for a package of CANN's"
            )
        return [op for op in registered(done.stdout).ops if op.here]


@dataclass(frozen=True)
class Project:
    """A project that was built, by the word that named it."""

    word: str
    builder: PackingBuilder
    op_types: tuple[str, ...]
    files: tuple[Path, ...]  # kernels and headers


def build_into(
    folder: Path, words: Sequence[str], families: Sequence[Family], jobs: int = 0
) -> dict[str, Sources]:
    """Build projects for the families, as far as their definitions have these, and make one vendor
    folder of them; returns whose each operator is. Raises `SourcesError` where two clash.
    """
    projects = []
    owners: dict[str, Sources] = {}
    roots: dict[Path, str] = {}
    for word in words:
        if kernel_file(word) is not None:
            raise SourcesError(
                f"{word}: a kernel file alone has no definition, which CANN would read. Next: give"
                " the folder with op_host and op_kernel"
            )
        sources = locate(word)
        if sources.root in roots:
            raise SourcesError(
                f"package: {roots[sources.root]} and {word} are the same folder {sources.root}."
                " Next: leave one out"
            )
        roots[sources.root] = word
        project = _build(word, sources, families, jobs)
        for op_type in project.op_types:
            if op_type in owners:
                raise SourcesError(
                    f"package: {owners[op_type].word} and {word} both define the operator"
                    f" {op_type}. Next: leave one out, or rename its class, OP_ADD and kernel"
                )
            owners[op_type] = sources
        projects.append(project)
    for project in projects:
        _copy(project, folder, projects)
    _link(projects, folder)
    return owners


def _build(word: str, sources: Sources, families: Sequence[Family], jobs: int) -> Project:
    """All dtype combinations for each family that the definition has."""
    builder = PackingBuilder(sources, families[0], jobs=jobs)
    declared = {name for op in builder.build_host().ops if op.defined for name in op.socs}
    chosen = _chosen(declared, families)
    if not declared and (text := definition_rules.unregistered((*sources.host, *sources.helpers))):
        raise SourcesError(text)
    if not chosen:
        raise SourcesError(
            f"{word}: its definition has {', '.join(sorted(declared)) or 'no SoC'}, want one of"
            f" {', '.join(family.name for family in families)}. Next: --soc, or"
            ' AICore().AddConfig("...") in op_host'
        )
    ops: dict[str, Definition] = {}
    files: list[Path] = []
    # Host code of architecture 3510 lacks what is for those before it, not the other way round.
    for family in sorted(chosen, key=lambda item: item.npu_arch, reverse=True):
        builder = PackingBuilder(sources, family, jobs=jobs)
        described = builder.build_host()
        own = runnable(described, sources, family)
        kernels = [builder.kernel(op, row) for op in own for row in builder.combinations(op)]
        builder.build_all(kernels, described)
        files += [kernel.output for kernel in kernels]
        ops |= {op.type: op for op in own}
    files += builder.build_api([*ops.values()])
    return Project(word, builder, tuple(ops), tuple(files))


def _chosen(declared: set[str], families: Sequence[Family]) -> list[Family]:
    """Families that the definition has, and whose architecture is asked for."""
    arches = {family.npu_arch for family in families}
    return [item for item in FAMILIES if item.name in declared and item.npu_arch in arches]


def _copy(project: Project, folder: Path, projects: Sequence[Project]) -> None:
    """Kernels and headers; two projects never write the same file."""
    package = project.builder.package
    for path in project.files:
        name = path.relative_to(package)
        if (folder / name).exists():
            other = next(
                item.word for item in projects if item.builder.package / name in item.files
            )
            raise SourcesError(
                f"package: {other} and {project.word} both have the file {name}. Next: give one of"
                " the operators another name"
            )
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / name)


def _link(projects: Sequence[Project], folder: Path) -> None:
    """The libraries of host code: of each project only what others call by name is visible."""
    builder = projects[0].builder
    hosts = [item.builder.isolated(item.builder.host_objects, "host") for item in projects]
    apis = [item.builder.isolated(item.builder.api_objects, "api", "aclnn*") for item in projects]
    for library, objects, needed in (
        (builder.host_library, hosts, HOST_LIBRARIES),
        (builder.api_library, apis, (("-lnnopbase", "-lregister", "-lascendcl"), ())),
    ):
        output = folder / library.relative_to(builder.package)
        output.parent.mkdir(parents=True, exist_ok=True)
        words = (*needed[1], "-Wl,--build-id=none", f"-Wl,-soname,{library.name}")
        link = without_run_path(builder._link(output, objects, needed[0], words))
        builder._compile([link], "the package's libraries")
