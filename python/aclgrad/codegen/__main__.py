# SPDX-License-Identifier: Apache-2.0
"""``python -m aclgrad.codegen --out DIR --include-dir DIR``: what the CMake build calls.

``python -m aclgrad.codegen --docs`` writes the API pages, the support table and the
example programs and the package's stub of the checkout instead.
"""

import argparse
import os
import sys
from pathlib import Path

from aclgrad.codegen.render import generate
from aclgrad.ops import SpecError, all_specs, need_all
from aclgrad.runtime.toolkit import checkout


def main() -> None:
    """Generate sources or documents; print the files that changed."""
    parser = argparse.ArgumentParser(
        prog="python -m aclgrad.codegen", description="Writes what is derived from the specs."
    )
    kinds = parser.add_mutually_exclusive_group(required=True)
    kinds.add_argument("--out", type=Path, help="folder for sources and operators.cmake")
    kinds.add_argument(
        "--docs", action="store_true", help="documents, examples and stub of this checkout"
    )
    parser.add_argument(
        "--include-dir", type=Path, help="folder for public headers (default OUT/aclnnop)"
    )
    args = parser.parse_args()
    if args.docs:
        root = checkout()
        if root is None:
            parser.error("--docs: this package is installed; run it from a source checkout")
        from aclgrad.codegen import docs, stubs  # which no wheel has

        changed = [*docs.write(root), *stubs.write(root)]
    else:
        # A build of operators by name goes on beside one whose spec has a fault.
        usable = all_specs() if os.environ.get("ACLGRAD_SKIP_BROKEN_SPECS") else need_all()
        changed = generate(args.out, args.include_dir or args.out / "aclnnop", usable)
    for path in changed:
        print(f"generated {path}")


if __name__ == "__main__":
    try:
        main()
    except SpecError as error:
        sys.exit(f"error: {error}")
