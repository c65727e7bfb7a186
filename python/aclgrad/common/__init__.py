# SPDX-License-Identifier: Apache-2.0
"""What every room may use: files that are read and written safely, the cache's folder, imports on
first use, constant expressions.

May import: ``common.display``, ``errors``.
"""
