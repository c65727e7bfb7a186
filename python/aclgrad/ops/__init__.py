# SPDX-License-Identifier: Apache-2.0
"""The operators: one module per operator, found by its file name, each with a ``SPEC``.

May import: ``spec``.
"""

import importlib
import pkgutil
from functools import cache

from aclgrad.spec import naming
from aclgrad.spec.op_spec import OpSpec


@cache
def all_specs() -> tuple[OpSpec, ...]:
    """Return every operator's spec, sorted by stem."""
    specs = []
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda item: item.name):
        spec = importlib.import_module(f"{__name__}.{module.name}").SPEC
        if spec.op != module.name:
            raise ValueError(
                f"ops/{module.name}.py: its SPEC is of {spec.op}; name the file {spec.op}.py"
            )
        specs.append(spec)
    return tuple(specs)


def find(word: str) -> OpSpec:
    """Return the spec that a user means by a stem, OpType, API or function name."""
    for spec in all_specs():
        if word in (spec.op, spec.op_type, spec.api, spec.function):
            return spec
    known = ", ".join(spec.op for spec in all_specs())
    wanted = naming.snake(word)
    raise ValueError(f"operator: got {wanted!r}, want one of {known}")
