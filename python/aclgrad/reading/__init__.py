# SPDX-License-Identifier: Apache-2.0
"""Reads what a folder of somebody's operators holds: files, definitions, kernels, build lists.

May import: ``common``, ``errors``, ``spec``.
"""
