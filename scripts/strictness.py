#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
r"""Writes docs/reference/strictness.md from the folders of mutation campaigns: of vector cores, of
the matrix unit, and of kernels of other people. What is not given stays on the page as it is.

aclgrad campaign campaigns/mutation.toml --out build/mutation
python tests/mutation/together.py examples/asc_kernel/matmul.asc --output build/cubes.json
aclgrad campaign campaigns/mutation_matrix.toml --out build/mutation_matrix
OPS_NN=../ops-nn aclgrad campaign campaigns/mutation_public.toml --out build/mutation_public
scripts/strictness.py build/mutation build/mutation_public --matrix build/cubes.json \
  build/mutation_matrix
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "python")]

from aclgrad.common import files  # noqa: E402
from mutation import page  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "strictness.md"
COMMAND = """\
aclgrad campaign campaigns/mutation.toml --out build/mutation
scripts/strictness.py build/mutation"""
PUBLIC = "Faults in unmodified kernels of a public library, which is not part of this repository."
PUBLIC_COMMAND = """\
OPS_NN=../ops-nn aclgrad campaign campaigns/mutation_public.toml --out build/mutation_public
scripts/strictness.py build/mutation build/mutation_public"""
MATRIX = """\
Faults of the matrix unit, of the flags between AICs and AIVs, and of operators by Matmul. All
faults of a program are compiled into one, which runs for each with the settings of a campaign and
is judged as there. The operators are from the campaign."""
MATRIX_COMMAND = """\
python tests/mutation/together.py examples/asc_kernel/matmul.asc --output build/cubes.json
python tests/mutation/together.py examples/asc_kernel/matmul_gelu.asc \\
  --only 'core-flag|CrossCore' --output build/mix.json
aclgrad campaign campaigns/mutation_matrix.toml --out build/mutation_matrix
scripts/strictness.py --matrix build/cubes.json build/mix.json build/mutation_matrix"""


def matrix_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of together.py's file, or those of a campaign that are of operators: programs have the
    file.
    """
    if not path.is_dir():
        found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
        return found
    return [row for row in page.rows_of(path) if ".asc/" not in str(row["name"])]


def main() -> None:
    """Read the rows and write the page."""
    parser = argparse.ArgumentParser(
        description="Write docs/reference/strictness.md from the folders of campaigns."
    )
    parser.add_argument("folder", type=Path, nargs="?", help="what `aclgrad campaign --out` named")
    parser.add_argument(
        "public", type=Path, nargs="?", help="folder of campaigns/mutation_public.toml"
    )
    parser.add_argument(
        "--matrix",
        type=Path,
        nargs="+",
        default=[],
        help="what together.py wrote, and folders of campaigns, whose operators count",
    )
    parser.add_argument(
        "--output", type=Path, default=PAGE, help="default: docs/reference/strictness.md"
    )
    given = parser.parse_args()
    text = given.output.read_text("utf-8") if given.output.is_file() else ""
    if given.folder is not None:
        text = page.replaced(text, "", page.page(page.rows_of(given.folder), COMMAND))
    if given.matrix:
        rows = [row for path in given.matrix for row in matrix_rows(path)]
        section = page.section(rows, page.MATRIX, MATRIX, MATRIX_COMMAND)
        text = page.replaced(text, page.MATRIX, section)
    if given.public is not None:
        section = page.section(page.rows_of(given.public), page.PUBLIC, PUBLIC, PUBLIC_COMMAND)
        text = page.replaced(text, page.PUBLIC, section)
    files.write(given.output, text, "strictness")
    print(given.output)


if __name__ == "__main__":
    main()
