# SPDX-License-Identifier: Apache-2.0
"""Files that a project starts with: sources, tasks of an editor.

May import: ``codegen``, ``common``, ``errors``, ``building``, ``cases``,
``reading``, ``running``, ``runtime``, ``spec``.
"""
