# SPDX-License-Identifier: Apache-2.0
"""Python functions with the parameters of an operator."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeVar

from aclgrad.common.display.notebook import table

T = TypeVar("T")


def parameter_name(name: str, taken: Collection[str] = ()) -> str:
    """A name as Python code may spell it; with ``_`` behind words of Python and names in use."""
    while keyword.iskeyword(name) or name in taken:
        name += "_"
    return name


def make(
    name: str, signature: inspect.Signature, doc: str, call: Callable[..., T], module: str
) -> Callable[..., T]:
    """A function of this signature that hands its arguments to ``call`` in the signature's order.

    Parameters may be given by position or name, or by name only.
    """
    parameters = signature.parameters
    names, known = tuple(parameters), frozenset(parameters)
    places = sum(item.kind is not item.KEYWORD_ONLY for item in parameters.values())
    defaults = {
        item.name: item.default for item in parameters.values() if item.default is not item.empty
    }

    # The defaults that follow so many values by position, if nothing else is needed.
    whole = {
        count: tuple(defaults[item] for item in names[count:])
        for count in range(places + 1)
        if all(item in defaults for item in names[count:])
    }

    def function(*args: object, **words: object) -> T:
        if not words and (rest := whole.get(len(args))) is not None:
            return call(*args, *rest)
        given = {**defaults, **dict(zip(names, args, strict=False)), **words}
        twice = words and not words.keys().isdisjoint(names[: len(args)])
        if twice or given.keys() != known or len(args) > places:
            try:
                signature.bind(*args, **words)
            except TypeError as error:
                raise TypeError(f"{name}() {error}") from None
        return call(*[given[item] for item in names])

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = doc
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


class Operators:
    """The operators of one project or package. Each is an attribute: a function with the
    inputs and attributes of its definition, on NumPy arrays or CPU tensors of torch.

    >>> ops = aclgrad.load("huber_grad")
    >>> ops.huber_grad(x, t, delta=1.0)
    """

    def __init__(self, path: str, functions: Mapping[str, Callable[..., object]]) -> None:
        self._path = path
        self._functions = dict(functions)

    # Results depend on the operator and its arguments; with Any nobody has to narrow them.
    def __getattr__(self, name: str) -> Callable[..., Any]:
        functions = self.__dict__.get("_functions", {})
        if name in functions:
            function: Callable[..., object] = functions[name]
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

    def _repr_html_(self) -> str:
        """What a notebook shows: each function with its parameters and what it does."""
        rows = [
            (name, item.__signature__, (item.__doc__ or "").strip().partition("\n")[0])  # type: ignore[attr-defined]
            for name, item in self._functions.items()
        ]
        return table(f"operators of {self._path}", rows, ("function", "parameters", "does"))

    def __repr__(self) -> str:
        words = (f"{name}{item.__signature__}" for name, item in self._functions.items())  # type: ignore[attr-defined]
        return f"<operators of {self._path}: {', '.join(words)}>"
