#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/strictness.md from the folder of a mutation campaign, and of one on kernels
of other people.

aclgrad campaign campaigns/mutation.toml --out build/mutation
OPS_NN=../ops-nn aclgrad campaign campaigns/mutation_public.toml --out build/mutation_public
scripts/strictness.py build/mutation build/mutation_public
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

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


def main() -> None:
    """Read the rows and write the page."""
    parser = argparse.ArgumentParser(
        description="Write docs/reference/strictness.md from a campaign's folder."
    )
    parser.add_argument("folder", type=Path, help="what `aclgrad campaign --out` named")
    parser.add_argument(
        "public", type=Path, nargs="?", help="folder of campaigns/mutation_public.toml"
    )
    parser.add_argument(
        "--output", type=Path, default=PAGE, help="default: docs/reference/strictness.md"
    )
    given = parser.parse_args()
    rows = page.rows_of(given.folder)
    text = page.page(rows, COMMAND)
    if given.public is not None:
        public = page.rows_of(given.public)
        text += page.section(public, "Public kernels", PUBLIC, PUBLIC_COMMAND)
    files.write(given.output, text, "strictness")
    print(f"{given.output}: {len(rows)} faults")


if __name__ == "__main__":
    main()
