# SPDX-License-Identifier: Apache-2.0
"""Runs cases and users' arrays on a device and judges them.

May import: ``common``, ``errors``, ``findings``, ``functions``, ``golden``, ``ops``, ``runtime``,
``spec``.
"""
