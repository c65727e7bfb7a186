# SPDX-License-Identifier: Apache-2.0
"""The page of a profile: its timeline, buffers and plots.

May import: ``common``, ``profiling``, ``reporting``, ``reporting.pictures``.
"""
