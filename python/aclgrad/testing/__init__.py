# SPDX-License-Identifier: Apache-2.0
"""Runs cases and users' arrays on a device and judges them. Operator projects import `case`
and `sum_scale`.

May import: ``common``, ``errors``, ``findings``, ``functions``, ``golden``, ``ops``, ``runtime``,
``spec``.
"""

from aclgrad.spec.terms import sum_scale
from aclgrad.testing.api import OwnCase, case

__all__ = ["OwnCase", "case", "sum_scale"]
