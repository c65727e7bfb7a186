# SPDX-License-Identifier: Apache-2.0
"""Files that a project starts with: sources, tasks of an editor, examples.

May import: ``codegen``, ``common``, ``errors``, ``project.building``, ``project.cases``,
``project.reading``, ``project.running``, ``runtime``, ``spec``.
"""
