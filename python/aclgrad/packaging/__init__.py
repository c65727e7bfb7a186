# SPDX-License-Identifier: Apache-2.0
"""The self-extracting package: its content, its installer, its bill of materials and signature.

May import: ``codegen``, ``common``, ``errors``, ``findings``, ``golden``, ``ops``,
``building``, ``cases``, ``checks``, ``reading``,
``running``, ``runtime``, ``spec``.
"""
