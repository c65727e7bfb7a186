# SPDX-License-Identifier: Apache-2.0
"""Renders the C++ sources and the build list of every operator from its spec.

May import: ``common``, ``errors``, ``golden``, ``ops``, ``runtime``, ``spec``.
"""
