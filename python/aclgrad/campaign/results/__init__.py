# SPDX-License-Identifier: Apache-2.0
"""What came of a campaign: its files, sums and pages, searches and smaller cases.

May import: ``campaign.plans``, ``campaign.workers``, ``common``, ``common.display``, ``errors``,
``reporting``, ``reporting.pictures``.
"""
