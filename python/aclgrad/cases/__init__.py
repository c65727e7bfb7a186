# SPDX-License-Identifier: Apache-2.0
"""Cases of an operator project and its golden, and how one is run and judged.

May import: ``common``, ``errors``, ``findings``, ``golden``, ``building``,
``reading``, ``running``, ``runtime``, ``spec``, ``testing``.
"""
