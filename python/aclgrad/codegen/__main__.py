# SPDX-License-Identifier: Apache-2.0
"""``python -m aclgrad.codegen --out DIR --include-dir DIR``: what the CMake build calls."""

import argparse
from pathlib import Path

from aclgrad.codegen.render import generate


def main() -> None:
    """Generate everything; print the files that changed."""
    parser = argparse.ArgumentParser(prog="python -m aclgrad.codegen", description=__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for sources and operators.cmake"
    )
    parser.add_argument(
        "--include-dir", type=Path, help="folder for public headers (default OUT/aclnnop)"
    )
    args = parser.parse_args()
    for path in generate(args.out, args.include_dir or args.out / "aclnnop"):
        print(f"generated {path}")


if __name__ == "__main__":
    main()
