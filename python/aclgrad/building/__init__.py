# SPDX-License-Identifier: Apache-2.0
"""Compiles operators that come as sources; a step is repeated only where something has changed.

May import: ``codegen``, ``common``, ``errors``, ``reading``, ``runtime``, ``spec``.
"""
