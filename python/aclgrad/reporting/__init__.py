# SPDX-License-Identifier: Apache-2.0
"""Parts of the precision report; aclgrad.report puts them together."""
