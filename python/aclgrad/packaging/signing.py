# SPDX-License-Identifier: Apache-2.0
"""Sums and signatures beside the files that are given away. Whoever gets them needs sha256sum and
openssl only.

``python -m aclgrad.packaging.signing [--sign KEY] FILE...``: what scripts/release.sh calls.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from aclgrad.common import files, temporary
from aclgrad.errors import ToolkitError

SUMS = "SHA256SUMS"
_NEW_KEY = "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem"


def write_sums(made: Sequence[Path]) -> Path:
    """Add files of one folder to its SHA256SUMS, as ``sha256sum -c`` reads it."""
    path = made[0].parent / SUMS
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    known = {line[66:]: line[:64] for line in lines if re.match(r"[0-9a-f]{64}  ", line)}
    for file in made:
        known[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    # Files that are gone would fail the check of those that are there.
    there = {name: known[name] for name in sorted(known) if (path.parent / name).is_file()}
    files.write(path, "".join(f"{digest}  {name}\n" for name, digest in there.items()), SUMS)
    return path


def check_key(key: Path) -> None:
    """Refuse a key that cannot sign, before anything is made."""
    if shutil.which("openssl") is None:
        raise ToolkitError("--sign: openssl is not installed. Next: apt-get install openssl")
    with files.reading(key, f"--sign {key}", _NEW_KEY):
        pass
    with temporary.folder() as folder:
        probe = folder / "probe"
        probe.write_bytes(b"probe")
        sign(probe, key)


def sign(file: Path, key: Path) -> Path:
    """Write FILE.sig, the signature of its SHA-256 by an RSA or EC key in PEM."""
    # The last signature is of another file.
    signature = file.with_name(file.name + ".sig")
    with files.placing(signature, "--sign") as (_, part):
        # Its terminal stays, for the passphrase of a key.
        done = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", str(key.absolute()), "-out", str(part)]
            + [str(file.absolute())],
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            why = (done.stderr.strip().splitlines() or ["no reason given"])[0]
            raise ToolkitError(
                f"--sign {key}: openssl does not sign with it ({why}). Next: a private RSA or EC"
                f" key in PEM, e.g. {_NEW_KEY}"
            )
    return signature


def main() -> None:
    """Sums of files, and a signature of each and of the sums."""
    parser = argparse.ArgumentParser(
        prog="python -m aclgrad.packaging.signing", description=main.__doc__
    )
    parser.add_argument("--sign", type=Path, metavar="KEY", help="private key in PEM")
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    if options.sign:
        check_key(options.sign)
    made = [*options.files, write_sums(options.files)]
    if options.sign:
        made += [sign(file, options.sign) for file in made]
    print("\n".join(map(str, made)))


if __name__ == "__main__":
    main()
