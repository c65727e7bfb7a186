# SPDX-License-Identifier: Apache-2.0
"""What the model of time says of a call: estimates, advice, pages, pictures, traces.

May import: ``common``, ``common.display``, ``errors``, ``findings``, ``ops``, ``reading``,
``running``, ``runtime``, ``spec``, ``testing``.
"""
