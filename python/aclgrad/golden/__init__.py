# SPDX-License-Identifier: Apache-2.0
"""Whether numbers are right: the precision rule.

May import: ``spec``.
"""
