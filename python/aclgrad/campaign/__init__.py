# SPDX-License-Identifier: Apache-2.0
"""Campaigns: a file describes many cases, dask.distributed runs them here or on a cluster, a store
keeps every result. docs/campaigns.md says how the parts fit.

May import: ``campaign.plans``, ``campaign.results``, ``campaign.workers``, ``common``, ``errors``,
``ops``, ``cases``, ``reading``, ``spec``, ``testing``.
"""
