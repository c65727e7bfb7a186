# SPDX-License-Identifier: Apache-2.0
"""Seeded fuzzer over the C interface of every operator; see docs/testing.md."""
