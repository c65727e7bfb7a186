# SPDX-License-Identifier: Apache-2.0
"""What an operator is: its arguments, dtypes, SoCs, argument checks, steps and test grid, as data.

May import: ``common``.
"""
