# SPDX-License-Identifier: Apache-2.0
"""Builds this package's own checkout, with CMake, CANN or sanitizers.

May import: ``common``, ``errors``, ``building``, ``runtime``, ``spec``.
"""
