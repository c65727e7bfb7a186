# SPDX-License-Identifier: Apache-2.0
"""What a campaign file asks for: axes of its sweeps, and plans that count cases through them.

May import: ``common``, ``errors``, ``ops``, ``reading``, ``spec``, ``testing``.
"""
