# SPDX-License-Identifier: Apache-2.0
"""What a package holds, and how its files are rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from aclgrad import __version__
from aclgrad.codegen.render import environment

_TEMPLATES = Path(__file__).parent


@dataclass(frozen=True)
class Package:
    """What was made."""

    path: str
    vendor: str
    version: str
    device: str
    arch: str
    socs: tuple[str, ...]  # families, as kernel folders are called
    operators: tuple[str, ...]
    files: int
    bytes: int
    sha256: str
    sums: str  # SHA256SUMS beside the file
    signatures: tuple[str, ...] = ()
    untested: Mapping[str, str] = field(
        default_factory=dict
    )  # OpType -> why the self-test lacks it
    without_golden: tuple[str, ...] = ()  # OpTypes that it compares with a run of the simulator

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Content:
    """The files of a vendor folder and what the installer says about them."""

    vendor: str
    device: str
    arch: str
    socs: tuple[str, ...]
    operators: Mapping[str, str]  # OpType -> file stem
    files: Mapping[str, bytes]  # by path under vendors/<vendor>
    links: Mapping[str, str]  # path -> relative target
    version: str = __version__


def _render(template: str, **context: object) -> str:
    return environment(_TEMPLATES).get_template(template).render(**context)


_NO_SHA256 = "0" * 64
