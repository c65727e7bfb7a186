# SPDX-License-Identifier: Apache-2.0
"""The Python side of an operator project: ``<stem>_golden.py`` beside op_host and op_kernel.

It has ``golden(...)``, whose parameters are named like the definition's inputs and attributes, and
may have ``cases()`` and ``terms(...)``. It is the user's code: every error names the operator, the
file and the line.
"""

from __future__ import annotations

import importlib.util
import inspect
import keyword
import linecache
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

from aclgrad.reading.sources import Sources, SourcesError
from aclgrad.spec.definition import Definition, Value
from aclgrad.spec.dtypes import Array, kind_of
from aclgrad.spec.naming import snake_case
from aclgrad.testing.api import OwnCase

Shapes = Sequence[Sequence[tuple[int, ...]]]
"""Shapes of the tensors of each output."""


class GoldenError(SourcesError):
    """A golden that cannot be used, with operator, file, line and the next step."""


class ShapeError(GoldenError):
    """A golden and the operator's shape inference that differ: either may be wrong."""


@dataclass(frozen=True)
class Fitting:
    """A function of a golden file whose parameters are of the definition."""

    call: Callable[..., object]
    takes: tuple[str, ...]  # inputs and attributes in the definition's spelling; all for **kwargs

    @property
    def name(self) -> str:
        """As the file calls it."""
        return self.call.__name__

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.call.__code__.co_firstlineno


@dataclass(frozen=True)
class GoldenFile:
    """A golden that fits the definition."""

    path: Path
    op: Definition
    golden: Fitting
    terms: Fitting | None
    own_cases: Callable[[], Iterable[object]] | None

    def evaluate(
        self, inputs: Sequence[Sequence[Array]], attrs: Mapping[str, Value], shapes: Shapes
    ) -> list[Array | None]:
        """The wanted outputs, in float64. ``shapes`` are those of the outputs that the operator's
        inference names, a tuple for each tensor of a list.
        """
        found = self._results(self.golden, inputs, attrs, shapes)
        if all(part is None for part in found):
            raise self.error("golden returned None, so nothing would be compared", self.golden.line)
        return found

    def magnitudes(
        self, inputs: Sequence[Sequence[Array]], attrs: Mapping[str, Value], shapes: Shapes
    ) -> list[Array | None]:
        """The largest magnitudes that are rounded on the way to each output, where it says so."""
        if self.terms is None:
            return [None for wanted in shapes for _ in wanted]
        found = self._results(self.terms, inputs, attrs, shapes)
        return [part if part is None else np.abs(part).astype(np.float64) for part in found]

    def _results(
        self,
        function: Fitting,
        inputs: Sequence[Sequence[Array]],
        attrs: Mapping[str, Value],
        shapes: Shapes,
    ) -> list[Array | None]:
        values: dict[str, object] = {}
        for item, param in zip(self.op.inputs, inputs, strict=True):
            wide = [widened(array) for array in param]
            values[item.name] = wide if item.kind == "dynamic" else (wide[0] if wide else None)
        values |= {name: attrs[name] for name in (attr.name for attr in self.op.attrs)}
        given = {python_name(name): values[name] for name in function.takes}
        try:
            with np.errstate(all="ignore"):
                result = function.call(**given)
        except Exception as error:
            raise self.error(
                f"{function.name} raised {type(error).__name__}: {error}", _line(error, self.path)
            ) from None
        return self._checked(function, result, shapes)

    def _checked(self, function: Fitting, result: object, shapes: Shapes) -> list[Array | None]:
        outputs, line = self.op.outputs, function.line
        results: Sequence[object] | None = None
        if isinstance(result, tuple) or (isinstance(result, list) and len(outputs) > 1):
            results = result
        elif len(outputs) == 1:
            results = (result,)
        if results is None or len(results) != len(outputs):
            got = type(result).__name__ if results is None else f"{len(results)} results"
            names = ", ".join(item.name for item in outputs)
            raise self.error(f"{function.name} returned {got}, want a tuple of {names}", line)
        found: list[Array | None] = []
        for item, value, wanted in zip(outputs, results, shapes, strict=True):
            parts: list[object] = [value]
            if value is None:
                parts = [None] * len(wanted)
            elif item.kind == "dynamic":
                if not isinstance(value, Iterable):
                    got = type(value).__name__
                    raise self.error(f"{function.name} returned {got}, want a list", line)
                parts = list(value)
            if len(parts) != len(wanted):
                raise self.error(
                    f"{function.name} returned {len(parts)} tensors of {item.name}, want"
                    f" {len(wanted)}",
                    line,
                )
            for part, shape in zip(parts, wanted, strict=True):
                what = f"{function.name} returned {item.name}"
                found.append(None if part is None else self._array(what, part, shape, line))
        return found

    def _array(self, what: str, value: object, shape: tuple[int, ...], line: int) -> Array:
        array = np.asarray(value)
        if array.dtype.kind not in "biufcV":
            raise self.error(f"{what} with dtype {array.dtype}, want numbers", line)
        if array.shape != tuple(shape):
            text = f"the operator's shape inference says {tuple(shape)}, {what} {array.shape}"
            raise ShapeError(str(self.error(text, line)))
        return widened(array)

    def cases(self) -> list[OwnCase] | None:
        """The file's own cases; None when it leaves them to the standard grid."""
        if self.own_cases is None:
            return None
        try:
            found = list(self.own_cases())
        except Exception as error:
            line = _line(error, self.path)
            raise self.error(f"cases raised {type(error).__name__}: {error}", line) from None
        line = self.own_cases.__code__.co_firstlineno
        if not found:
            raise self.error("cases yields no case", line)
        own: list[OwnCase] = []
        for item in found:
            if not isinstance(item, OwnCase):
                raise self.error(
                    f"cases yields {type(item).__name__}, want aclgrad.testing.case(...)", line
                )
            own.append(item)
        return own

    def error(self, text: str, line: int) -> GoldenError:
        """An error with operator, file, line and text of the line."""
        return golden_error(self.op.type, self.path, line, text)


def golden_error(op_type: str, path: Path, line: int, text: str) -> GoldenError:
    """An error of a golden file."""
    linecache.checkcache(str(path))
    source = linecache.getline(str(path), line).strip()
    shown = f"\n  {source}" if source else ""
    return GoldenError(
        f"{op_type}: {text}\n  {path}:{line}{shown}\nNext: fix the line, then aclgrad test"
        f" {path.parent}"
    )


def file_names(op: Definition, sources: Sources) -> list[str]:
    """Names that the golden file of an operator may have."""
    stems = dict.fromkeys((snake_case(op.type), sources.name))
    return [f"{stem}_golden.py" for stem in stems]


def find(op: Definition, sources: Sources) -> Path | None:
    """The golden file of an operator."""
    paths = (sources.root / name for name in file_names(op, sources))
    return next((path for path in paths if path.is_file()), None)


def need(op: Definition, sources: Sources, word: str) -> GoldenFile:
    """The golden of an operator. Raises `GoldenError` when there is none."""
    path = find(op, sources)
    if path is None:
        wanted = sources.root / file_names(op, sources)[0]
        raise GoldenError(
            f"{op.type}: there is no golden to compare with: no {wanted}. Next: aclgrad new"
            f" --from {word}"
        )
    return load(path, op)


def load(path: Path, op: Definition) -> GoldenFile:
    """Import a golden file and hold it against the definition."""
    module = _import(path, op.type)
    golden = getattr(module, "golden", None)
    if not inspect.isfunction(golden):
        raise golden_error(op.type, path, 1, "the file has no function golden(...)")
    terms, own_cases = (getattr(module, name, None) for name in ("terms", "cases"))
    for name, function in (("terms", terms), ("cases", own_cases)):
        if function is not None and not inspect.isfunction(function):
            raise golden_error(op.type, path, 1, f"{name} is no function")
    fitting = [_fitting(path, op, item) if item else None for item in (golden, terms)]
    assert fitting[0] is not None
    return GoldenFile(path, op, fitting[0], fitting[1], own_cases)


def _fitting(path: Path, op: Definition, function: Callable[..., object]) -> Fitting:
    """A function whose parameters are named like inputs and attributes. `GoldenError` if not."""
    what = function.__name__
    names = op.arguments
    signature = f"{what}({', '.join(map(python_name, names))})"
    line = function.__code__.co_firstlineno
    parameters = inspect.signature(function).parameters.values()
    known = {python_name(name): name for name in names}
    open_end = any(item.kind is item.VAR_KEYWORD for item in parameters)
    named = [item for item in parameters if item.kind not in (item.VAR_KEYWORD,)]
    for item in named:
        if item.kind in (item.VAR_POSITIONAL, item.POSITIONAL_ONLY) or item.name not in known:
            raise golden_error(
                op.type,
                path,
                line,
                f"{what} has a parameter {item.name}, the definition none of that name: want"
                f" {signature}",
            )
    missing = [name for name in known if name not in {item.name for item in named}]
    if missing and not open_end:
        raise golden_error(
            op.type,
            path,
            line,
            f"{what} has no parameter for {', '.join(missing)} of the definition: want {signature}",
        )
    takes = tuple(names) if open_end else tuple(known[item.name] for item in named)
    return Fitting(function, takes)


def _import(path: Path, op_type: str) -> ModuleType:
    name = f"aclgrad_golden_{path.stem}"
    found = importlib.util.spec_from_file_location(name, path)
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    keep, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # nothing is left in a project
    try:
        found.loader.exec_module(module)
    except SyntaxError as error:
        raise golden_error(op_type, path, error.lineno or 1, f"SyntaxError: {error.msg}") from None
    except Exception as error:
        raise golden_error(
            op_type, path, _line(error, path), f"{type(error).__name__}: {error}"
        ) from None
    finally:
        sys.dont_write_bytecode = keep
    return module


def _line(error: BaseException, path: Path) -> int:
    """The last line of a file on the way to an error."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return (lines[-1] if lines else None) or 1


def python_name(name: str) -> str:
    """A name of the definition as a Python parameter."""
    return f"{name}_" if keyword.iskeyword(name) else name


def widened(array: Array) -> Array:
    """Floating-point numbers in float64; integers and booleans stay what they are."""
    kind = kind_of(array.dtype)
    if kind in "iu" and array.dtype.itemsize < 8:
        return array.astype(np.int64)
    if kind in "biu":
        return array
    wide: Array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    return wide
