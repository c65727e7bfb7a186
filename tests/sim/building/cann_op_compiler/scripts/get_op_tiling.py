# SPDX-License-Identifier: Apache-2.0
"""Stand-in: an operator with its tensors."""


class OpInfo:
    """Whatever the caller says of an operator."""

    def __init__(self, **facts):
        vars(self).update(facts)
