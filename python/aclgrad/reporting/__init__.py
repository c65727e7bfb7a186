# SPDX-License-Identifier: Apache-2.0
"""Parts of the precision report; aclgrad.reporting.report puts them together.

May import: ``codegen``, ``common``, ``common.display``, ``findings``, ``golden``, ``ops``,
``reporting.pictures``, ``spec``, ``testing``.
"""
