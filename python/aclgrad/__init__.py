# SPDX-License-Identifier: Apache-2.0
"""aclgrad: backward operators for Ascend NPUs, with a simulator."""
