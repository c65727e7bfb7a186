# SPDX-License-Identifier: Apache-2.0
"""``python -m aclgrad``."""

from aclgrad.cli import main

main()
