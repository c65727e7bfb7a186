# SPDX-License-Identifier: Apache-2.0
"""Pictures of reports: plots, and drawings of where a result is wrong.

May import: ``findings``, ``testing``.
"""
