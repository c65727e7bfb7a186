# SPDX-License-Identifier: Apache-2.0
"""Sources against CANN's own headers and op compiler, where a checkout has them.

May import: ``codegen``, ``common``, ``common.display``, ``errors``, ``building``,
``checkout``, ``reading``, ``runtime``, ``spec``.
"""
