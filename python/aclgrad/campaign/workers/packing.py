# SPDX-License-Identifier: Apache-2.0
"""Operators of projects as they travel: built once, one archive that is named by its contents."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aclgrad.cases import golden_file
from aclgrad.cases.golden_file import GoldenFile
from aclgrad.cases.grid import label
from aclgrad.cases.project_operator import ProjectOperator, operators_of
from aclgrad.common import cache, temporary
from aclgrad.reading.aclnn_functions import Argument, Function
from aclgrad.reading.auto_sync import assume
from aclgrad.spec import definition, dtypes
from aclgrad.spec.definition import Definition
from aclgrad.spec.soc import family_of


@dataclass(frozen=True)
class Built:
    """An operator of a project, built for one SoC family."""

    subject: ProjectOperator
    rows: tuple[tuple[str, ...], ...]
    autosync: str

    def label(self, row: Sequence[str]) -> str:
        """A dtype combination in a word."""
        return label(row, self.subject.rows)

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Everything that a worker needs, by its place."""
        builder, op = self.subject.builder, self.subject.op
        root = builder.package
        kernels = {builder.kernel(op, row).output for row in self.rows}
        found = {}
        for path in sorted(root.rglob("*")):
            other = "kernel" in path.relative_to(root).parts and path not in kernels
            if path.is_file() and not (other and path.suffix == ".so"):
                found[f"vendor/{path.relative_to(root)}"] = path.read_bytes()
        function = dataclasses.asdict(builder.function_of(op)) | {"by_hand": None}
        about = {
            "op": op.as_json(),
            "rows": self.rows,
            "stem": self.subject.stem,
            "word": self.subject.path,
            "function": function,
            "host": str(builder.host_library.relative_to(root)),
            "api": str(builder.api_library.relative_to(root)),
        }
        found["project.json"] = json.dumps(about, sort_keys=True).encode()
        if self.subject.golden is not None:
            found["golden.py"] = self.subject.golden.path.read_bytes()
        return found

    @cached_property
    def digest(self) -> str:
        """Names the contents."""
        whole = hashlib.sha256()
        for name, data in self.files.items():
            whole.update(f"{name} {len(data)} ".encode() + data)
        return whole.hexdigest()[:16]

    def archive(self) -> bytes:
        """All files as one."""
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as tar:
            for name, data in self.files.items():
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), 0o755
                tar.addfile(entry, io.BytesIO(data))
        return made.getvalue()


def build(path: Path, soc: str, wanted: Sequence[str], *, golden: bool, jobs: int = 0) -> Built:
    """Build the kernels of the wanted dtypes, all if none are named. Raises SourcesError."""
    subject = operators_of(str(path), soc, golden=golden, jobs=jobs)[0]
    kinds = {dtypes.parse(word).ge for word in wanted}
    rows = tuple(row for row in subject.rows if not kinds or (row and row[0] in kinds))
    subject.build(rows)
    return Built(subject, rows, assume(str(path), soc).value)


# --- on the worker -------------------------------------------------------------------------------


@dataclass
class Package:
    """What stands in a builder's place where everything is built."""

    root: Path
    about: Mapping[str, Any]

    @property
    def package(self) -> Path:
        """The vendor folder that the simulator loads."""
        return self.root / "vendor"

    @property
    def host_library(self) -> Path:
        """Definition, inference and tiling."""
        return self.package / str(self.about["host"])

    @property
    def api_library(self) -> Path:
        """The aclnn functions."""
        return self.package / str(self.about["api"])

    def function_of(self, op: Definition) -> Function:
        """What computes the operator."""
        data = dict(self.about["function"])
        data["arguments"] = tuple(Argument(**item) for item in data["arguments"])
        return Function(**data)

    def combinations(self, op: Definition) -> list[tuple[str, ...]]:
        """The dtype combinations that were built."""
        return [tuple(row) for row in self.about["rows"]]


def unpack(digest: str, archive: Path) -> ProjectOperator:
    """An operator from its archive; once for all processes of a machine, in the user's cache."""
    place = cache.root() / "campaign" / digest
    if not (place / "project.json").is_file():
        place.parent.mkdir(mode=0o700, exist_ok=True)
        with temporary.folder(place.parent) as fresh:
            with tarfile.open(archive) as tar:
                for entry in tar:
                    target = fresh / entry.name
                    source = tar.extractfile(entry)
                    if source is None or fresh not in Path(os.path.normpath(target)).parents:
                        raise ValueError(f"{archive}: {entry.name} is no file of a package")
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(source.read())
            try:
                fresh.rename(place)
            except OSError:
                if not (place / "project.json").is_file():  # nobody else has made it meanwhile
                    raise
    about = json.loads((place / "project.json").read_text("utf-8"))
    package: Any = Package(place, about)
    op = definition.parse(about["op"])
    golden: GoldenFile | None = None
    if (place / "golden.py").is_file():
        golden = golden_file.load(place / "golden.py", op)
    return ProjectOperator(about["word"], package, definition.Registered(), op, golden)


def family_key(soc: str) -> str:
    """SoCs that share a build."""
    return family_of(soc).name
