# SPDX-License-Identifier: Apache-2.0
"""Plants faults in operators and looks at what names them: docs/reference/strictness.md.

`faults` generates the faults of a source file, `plant` puts one into a copy of an operator,
`verdict` runs the commands that the documentation recommends and says whether they name the line,
and `page` writes the table.
"""
