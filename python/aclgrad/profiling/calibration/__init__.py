# SPDX-License-Identifier: Apache-2.0
"""Where the simulator is wrong, by a board: the register of open questions, the probes
that ask, and the file that they make (docs/calibration.md).

May import: ``common``, ``errors``, ``profiling``, ``building``, ``reporting``, ``runtime``,
``spec``.
"""
