# SPDX-License-Identifier: Apache-2.0
"""Host code of this package's own operators under sanitizers."""

from __future__ import annotations

from collections.abc import Sequence

from aclgrad.checkout import spec_differences
from aclgrad.checks import host_sanitizer
from aclgrad.errors import ToolkitError
from aclgrad.findings import Run
from aclgrad.reading.sources import Sources
from aclgrad.runtime.toolkit import checkout
from aclgrad.spec.cases import Case
from aclgrad.spec.definition import Definition
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import family_of


def sanitize(spec: OpSpec, cases: Sequence[Case], soc: str) -> list[Run]:
    """Build op_host for the sanitizers, and run the shapes of an operator's cases."""
    root = checkout()
    if root is None:
        raise ToolkitError(
            "--sanitize-host: the sources of this package's operators are in a checkout, this is an"
            " installed package. Next: aclgrad check PATH --sanitize-host, for operators of yours"
        )
    family = family_of(soc)
    op = spec_differences.described()[family.name][spec.op_type]
    # One library for all operators: most of their host code is common to them.
    host = tuple(sorted((root / "op_host").glob("*/*.cpp")))
    sources = Sources(root=root, name="operators", kernels=(), host=host, repository=root)
    return host_sanitizer.sanitize(
        sources,
        family,
        op,
        [_case(spec, op, case) for case in cases],
        soc=soc,
        repro=f"aclgrad check {spec.op} --soc {soc} --sanitize-host",
        headers=(root / "simulator",),
    )


def _case(spec: OpSpec, op: Definition, case: Case) -> host_sanitizer.HostCase:
    """What the wrapper hands to the kernel's tiling: a dim counted from the front."""
    row = []
    by_name = {arg.name: arg for arg in spec.tensors}
    for item in (*spec.inputs, *spec.outputs):
        own = by_name[item.arg].dtypes
        row.append((own[0] if own else case.dtype).ge)
    shapes = [[case.call.tensor(item.arg).shape] for item in spec.inputs]
    values = spec.kernel_values(spec.attrs_of_kernel(case.call.attrs, len(shapes[0][0])))
    attrs = {
        defined.name: values[attr.name] for attr, defined in zip(spec.attrs, op.attrs, strict=True)
    }
    return host_sanitizer.of_arrays(case.name, op, row, shapes, attrs)
