# SPDX-License-Identifier: Apache-2.0
"""An operator project on disk, of any layout: its sources are found, read, built into the cache and
run. The build of this repository's own tree is here too.

May import: ``codegen``, ``common``, ``errors``, ``findings``, ``golden``, ``runtime``, ``spec``,
``testing``.
"""
