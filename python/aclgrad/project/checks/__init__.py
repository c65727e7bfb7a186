# SPDX-License-Identifier: Apache-2.0
"""Runs operators on generated inputs, or their host code under sanitizers, for what checks find.

May import: ``common``, ``errors``, ``findings``, ``project.building``, ``project.cases``,
``project.checkout``, ``project.reading``, ``project.running``, ``runtime``, ``spec``, ``testing``.
"""
