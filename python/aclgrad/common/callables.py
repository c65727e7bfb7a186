# SPDX-License-Identifier: Apache-2.0
"""Python functions with the parameters of an operator. Python itself binds their arguments: its own
words for those that are missing, unknown or given twice, and nothing to pay for it in a call.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

_KINDS = inspect.Parameter


def parameter_name(name: str, taken: Collection[str] = ()) -> str:
    """A name as Python code may spell it; with ``_`` behind words of Python and names in use."""
    while keyword.iskeyword(name) or name in taken:
        name += "_"
    return name


def make(
    name: str, signature: inspect.Signature, doc: str, call: Callable[..., Any], module: str
) -> Callable[..., Any]:
    """A function of this signature that hands its arguments to ``call`` in the signature's order.

    Parameters may be given by position or name, or by name only.
    """
    taken = [*signature.parameters, name]
    target = parameter_name("call", taken)
    words: list[str] = []
    for item in signature.parameters.values():
        if item.kind is _KINDS.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        words.append(item.name if item.default is item.empty else f"{item.name}=None")
    source = (
        f"def outer({target}):\n"
        f"    def {name}({', '.join(words)}):\n"
        f"        return {target}({', '.join(signature.parameters)})\n"
        f"    return {name}\n"
    )
    scope: dict[str, Any] = {"__name__": module}
    exec(compile(source, f"<{module}.{name}>", "exec"), scope)
    function: Any = scope["outer"](call)
    defaults = [item for item in signature.parameters.values() if item.default is not item.empty]
    function.__defaults__ = tuple(
        item.default for item in defaults if item.kind is not _KINDS.KEYWORD_ONLY
    )
    function.__kwdefaults__ = {
        item.name: item.default for item in defaults if item.kind is _KINDS.KEYWORD_ONLY
    }
    function.__module__ = module
    function.__qualname__ = name
    function.__doc__ = doc
    function.__signature__ = signature
    made: Callable[..., Any] = function
    return made


class Operators:
    """The operators of one project or package. Each is an attribute: a function on NumPy arrays
    with the inputs and attributes of its definition.

    >>> ops = aclgrad.load("huber_grad")
    >>> ops.huber_grad(x, t, delta=1.0)
    """

    def __init__(self, path: str, functions: Mapping[str, Callable[..., Any]]) -> None:
        self._path = path
        self._functions = dict(functions)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        functions = self.__dict__.get("_functions", {})
        if name in functions:
            function: Callable[..., Any] = functions[name]
            return function
        raise AttributeError(
            f"{self.__dict__.get('_path', 'aclgrad.load')}: no operator {name}, there is"
            f" {', '.join(functions)}"
        )

    def __iter__(self) -> Iterator[str]:
        """Names of the functions."""
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]

    def __repr__(self) -> str:
        words = (f"{name}{item.__signature__}" for name, item in self._functions.items())  # type: ignore[attr-defined]
        return f"<operators of {self._path}: {', '.join(words)}>"
