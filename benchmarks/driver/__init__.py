# SPDX-License-Identifier: Apache-2.0
"""Parts of bench.py: cases, values, and one module per kind of measurement."""
