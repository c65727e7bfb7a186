# SPDX-License-Identifier: Apache-2.0
"""Runs operators on generated inputs, or their host code under sanitizers, for what checks find.

May import: ``common``, ``errors``, ``findings``, ``building``, ``cases``,
``checkout``, ``reading``, ``running``, ``runtime``, ``spec``, ``testing``.
"""
