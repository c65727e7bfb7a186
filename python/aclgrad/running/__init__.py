# SPDX-License-Identifier: Apache-2.0
"""Runs what was built: calls, their arguments, and processes that keep crashes apart.

May import: ``codegen``, ``common``, ``errors``, ``findings``, ``building``,
``reading``, ``runtime``, ``spec``, ``testing``.
"""
