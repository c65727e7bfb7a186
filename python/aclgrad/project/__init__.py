# SPDX-License-Identifier: Apache-2.0
"""An operator project on disk, of any layout: its sources are found, read, built into the cache and
run. Each step is a room of its own; the build of this repository's own tree is one too.

May import: nothing.
"""
