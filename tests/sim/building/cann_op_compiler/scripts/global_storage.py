# SPDX-License-Identifier: Apache-2.0
"""Stand-in: what the scripts of an op compiler remember of a compile."""


class Store:
    """Values by name."""

    def __init__(self):
        self.values = {}

    def set_variable(self, name, value):
        """Keep a value."""
        self.values[name] = value


global_var_storage = Store()
