# SPDX-License-Identifier: Apache-2.0
"""The operators: one module per operator, found by its file name, each with a ``SPEC``.

May import: ``errors``, ``spec``.
"""

import difflib
import importlib
import pkgutil
import traceback
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from aclgrad.errors import AclgradError
from aclgrad.spec import naming
from aclgrad.spec.op_spec import OpSpec


@dataclass(frozen=True)
class Broken:
    """A module without a usable spec, and why."""

    op: str
    path: str
    line: int
    why: str

    def __str__(self) -> str:
        """Operator, file, line, reason."""
        return f"{self.op}: {self.path}:{self.line}: {self.why}"


class SpecError(AclgradError):
    """Specs that cannot be used. The other operators can."""


@cache
def _load() -> tuple[tuple[OpSpec, ...], tuple[Broken, ...]]:
    specs, faults = [], []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda item: item.name):
        path = Path(__path__[0]) / f"{module.name}.py"
        try:
            spec = importlib.import_module(f"{__name__}.{module.name}").SPEC
            if not isinstance(spec, OpSpec):
                raise TypeError(f"SPEC is of type {type(spec).__name__}, want OpSpec")
            if spec.op != module.name:
                raise ValueError(f"its SPEC is of {spec.op}; name the file {spec.op}.py")
        except Exception as error:
            why = f"{type(error).__name__}: {getattr(error, 'msg', '') or error}"
            faults.append(Broken(module.name, str(path), _line(error, path), why))
        else:
            specs.append(spec)
    return tuple(specs), tuple(faults)


def _line(error: Exception, path: Path) -> int:
    """The line of a module that an error comes from."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 1
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return (lines[-1] if lines else None) or 1


def all_specs() -> tuple[OpSpec, ...]:
    """Return every operator's spec, sorted by stem, but those of `broken`."""
    return _load()[0]


def broken() -> tuple[Broken, ...]:
    """Return the modules whose fault keeps their operator from being used."""
    return _load()[1]


def need_all() -> tuple[OpSpec, ...]:
    """Return every operator's spec. Raises `SpecError` if one cannot be used."""
    if faults := broken():
        text = "\n".join(map(str, faults))
        others = " ".join(spec.op for spec in all_specs())
        raise SpecError(f"{text}\nNext: fix the line; until then name the others: {others}")
    return all_specs()


def find(word: str) -> OpSpec:
    """Return the spec that a user means by a stem, OpType, API or function name."""
    for spec in all_specs():
        if word in (spec.op, spec.op_type, spec.api, spec.function):
            return spec
    wanted = naming.snake(word)
    for fault in broken():
        if fault.op in (word, wanted):
            raise SpecError(f"{fault}\nNext: fix the line")
    known = [spec.op for spec in all_specs()]
    text = f"operator: got {wanted!r}, want one of {', '.join(known)}, or a path"
    if Path(word).is_dir():
        text += f". The folder {word} holds no operator: no op_kernel, op_host or kernel file"
    near = difflib.get_close_matches(wanted, known, n=1)
    raise ValueError(f"{text}. Next: {near[0] if near else 'aclgrad new NAME begins one'}")
