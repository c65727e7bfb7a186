# SPDX-License-Identifier: Apache-2.0
"""One argument check, and the codes that checks return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aclgrad.spec import naming
from aclgrad.spec.call import Call
from aclgrad.spec.operator import Operator

SUCCESS = 0


PARAM_NULLPTR = 161001


PARAM_INVALID = 161002


INNER_FIND_KERNEL = 561003


INNER_NULLPTR = 561103


@dataclass(frozen=True)
class Check:
    """Base of all checks. ``code`` is what the first stage returns when the check is hit."""

    @property
    def code(self) -> int:
        """Return code of a call that hits the check."""
        return PARAM_INVALID

    @property
    def kind(self) -> str:
        """Name of the template macro."""
        return naming.snake(type(self).__name__)

    @property
    def subject(self) -> str:
        """The argument that the message names."""
        return str(getattr(self, "arg", ""))

    def hit(self, call: Call, spec: Operator) -> bool:
        """Whether the call ends here."""
        raise TypeError(f"{type(self).__name__} defines no hit()")

    def violations(self, spec: Operator, good: Call) -> Iterator[Call]:
        """Variants of a good call that hit this check first."""
        raise TypeError(f"{type(self).__name__} defines no violations()")

    def doc(self, spec: Operator) -> str:
        """One line for the header and the manual: when the code is returned."""
        raise TypeError(f"{type(self).__name__} defines no doc()")
