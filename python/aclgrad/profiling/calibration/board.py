# SPDX-License-Identifier: Apache-2.0
"""The file of a board: what each row of the register came to, and what of it the simulator can take
over.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from aclgrad.common import files
from aclgrad.common.data import parse_json
from aclgrad.errors import AclgradError
from aclgrad.profiling.calibration import register

FORMAT = 3
FILE = "board.json"
AS_MODELLED, DIFFERS, UNDECIDED = "as modelled", "differs", "not decided"


class BoardError(AclgradError):
    """A file of a board that cannot be used."""


@dataclass(frozen=True)
class Row:
    """What a board says to a row of the register, or to a size of its SoC."""

    id: str
    kind: str  # size | choice | cost | constant
    verdict: str
    modelled: float | str
    measured: float | str | None
    unit: str = ""
    spread: float = 0.0  # relative
    note: str = ""
    depends: str = ""
    source: str = ""  # of the times: events, msprof or counter


@dataclass
class Board:
    """All of it."""

    soc: str
    device: str  # sim | npu
    versions: dict[str, str]
    rows: list[Row] = field(default_factory=list)

    @property
    def overlay(self) -> dict[str, dict[str, Any]]:
        """What differs, as ACLGRAD_CALIBRATION wants it."""
        differing = [
            row for row in self.rows if row.verdict == DIFFERS and row.measured is not None
        ]
        return {
            "costs": {row.id: row.measured for row in differing if row.kind == "cost"},
            "choices": {row.id: row.measured for row in differing if row.kind == "choice"},
        }

    def text(self) -> str:
        """As it is written."""
        overlay = self.overlay
        content = {
            "format": FORMAT,
            "register": register.digest(),
            "soc": self.soc,
            "device": self.device,
            "versions": self.versions,
            "overlay": overlay,
            "overlaySum": overlay_sum(overlay),
            "rows": [asdict(row) for row in self.rows],
        }
        return json.dumps({"sum": sum_of(content), **content}, indent=1) + "\n"

    def count(self, verdict: str) -> int:
        """Rows with a verdict."""
        return sum(row.verdict == verdict for row in self.rows)


def sum_of(content: dict[str, object]) -> str:
    """The sum of an answer, by which a file that was changed by hand is seen."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def overlay_sum(overlay: dict[str, Any]) -> str:
    """What the simulator holds the overlay against, which reads no other part of the file: 64-bit
    FNV-1a of its text without spaces.
    """
    value = 0xCBF29CE484222325
    for byte in "".join(json.dumps(overlay).split()).encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def file_of(path: Path) -> Path:
    """The file that is meant: in a folder, the one of the usual name."""
    return path / FILE if path.is_dir() else path


def write(board: Board, path: Path) -> None:
    """Write it, whole or not at all."""
    files.write(path, board.text(), "-o")


def read(path: Path) -> Board:
    """Read and check a file. Raises `BoardError` that says what is wrong with it."""
    path = file_of(path)
    make = f"aclgrad calibrate -o {path}"
    again = f"Next: {make} makes it anew"
    raw = files.read(path, str(path), make)
    try:
        content = parse_json(raw.decode())
        told = content.pop("sum")
        if content["format"] != FORMAT:
            raise BoardError(
                f"{path}: format {content['format']}, want {FORMAT}: it was made by another"
                f" version. {again}"
            )
        if told != sum_of(content):
            raise BoardError(
                f"{path}: its sum does not fit: the file was cut or edited by hand. {again}"
            )
        if content["register"] != register.digest():
            raise BoardError(
                f"{path}: made against register {content['register']}, this simulator has"
                f" {register.digest()}: another version. {again}"
            )
        board = Board(content["soc"], content["device"], content["versions"])
        board.rows = [Row(**row) for row in content["rows"]]
    except json.JSONDecodeError as error:
        raise BoardError(
            f"{path}: no file of a board, or cut short: {error.msg}, line {error.lineno}. {again}"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise BoardError(f"{path}: no file of a board: {why}. {again}") from None
    return board
