# SPDX-License-Identifier: Apache-2.0
"""Parts of the precision report; aclgrad.reporting.report puts them together.

May import: ``common``, ``findings``, ``golden``, ``ops``, ``spec``, ``testing``.
"""
