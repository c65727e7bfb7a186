# SPDX-License-Identifier: Apache-2.0
"""Marks of tests of instructions. bench.py has none: it also runs where pytest is missing."""

import pytest

ENDS_BY_SIGNAL = pytest.mark.no_thread_sanitizer("it holds signals back until the next call")
"""A kernel that calls nothing is ended by a signal."""
CORES_RACE = pytest.mark.no_thread_sanitizer("it sees what cores of the kernel do to one another")
