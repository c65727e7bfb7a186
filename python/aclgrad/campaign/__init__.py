# SPDX-License-Identifier: Apache-2.0
"""Campaigns: a file describes many cases, dask.distributed runs them here or on a cluster, a store
keeps every result. docs/campaigns.md says how the parts fit.

May import: ``common``, ``errors``, ``findings``, ``golden``, ``ops``, ``profiling``,
``project.cases``, ``project.reading``, ``project.running``, ``reporting``, ``runtime``, ``spec``,
``testing``.
"""
