# SPDX-License-Identifier: Apache-2.0
"""Runs pieces of a plan: threads or dask workers, their warm children, a row for each case.

May import: ``campaign.plans``, ``common``, ``errors``, ``golden``, ``ops``, ``profiling``,
``cases``, ``reading``, ``running``, ``runtime``, ``spec``, ``testing``.
"""
