# SPDX-License-Identifier: Apache-2.0
"""Text and tables for terminals and notebooks.

May import: ``common``.
"""
