# SPDX-License-Identifier: Apache-2.0
"""Unit tests that other people wrote for CANN's CPU twin: found, built, run and judged.

May import: ``codegen``, ``common``, ``findings``, ``building``, ``reading``,
``spec``.
"""
