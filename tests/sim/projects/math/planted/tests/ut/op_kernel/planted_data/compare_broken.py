# SPDX-License-Identifier: Apache-2.0
"""Asks for a module that nobody has."""

import no_such_module_anywhere  # noqa: F401
