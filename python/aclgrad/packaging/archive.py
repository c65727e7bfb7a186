# SPDX-License-Identifier: Apache-2.0
"""The self-extracting file: its script, manifest and payload."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shlex
import tarfile
from collections.abc import Mapping
from pathlib import Path

from aclgrad.common.files import make_folder, writing
from aclgrad.packaging import signing
from aclgrad.packaging.content import _NO_SHA256, _TEMPLATES, Content, Package

# All of the script is one command, which bash runs once it has read its end: what is cut is wrong
# syntax. The line before fails in bash, and so does a file that ends there.
_HEAD = """\
#!/usr/bin/env bash
[ -z "${BASH_VERSION:-}" ] && exec bash "$0" "$@"
{
# SPDX-License-Identifier: Apache-2.0
"""


_TAIL = "}\n"


def _script(content: Content, installed: bool, **more: str | int) -> str:
    operators = " ".join(f"{op_type}:{op}" for op_type, op in content.operators.items())
    values: dict[str, str | int] = {
        "vendor": content.vendor,
        "version": content.version,
        "device": content.device,
        "arch": content.arch,
        "socs": " ".join(content.socs),
        "operators": operators,
        "links": "\n".join(f"{path} {target}" for path, target in content.links.items()),
        "installed": int(installed),
        **more,
    }
    data = "".join(f"{key}={shlex.quote(str(value))}\n" for key, value in values.items())
    return _HEAD + data + (_TEMPLATES / "installer.sh").read_text() + _TAIL


def uninstaller(content: Content) -> bytes:
    """The script that stays with an installed package."""
    return _script(content, installed=True).encode()


def manifest(content: Content) -> str:
    """One line per file and link, in the form that ``sha256sum -c`` reads."""
    sums = {path: hashlib.sha256(data).hexdigest() for path, data in content.files.items()}
    for path, target in content.links.items():
        parts = list(Path(path).parent.parts)
        for part in target.split("/"):
            parts = parts[:-1] if part == ".." else [*parts, part]
        sums[path] = sums["/".join(parts)]
    return "".join(f"{sums[path]}  {path}\n" for path in sorted(sums))


def archive(vendor: str, files: Mapping[str, bytes]) -> bytes:
    """The files as vendors/<vendor>/... in a tar.gz that depends on nothing else."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(files):
            member = tarfile.TarInfo(f"vendors/{vendor}/{path}")
            member.size = len(files[path])
            member.mode = 0o644
            tar.addfile(member, io.BytesIO(files[path]))
    return gzip.compress(buffer.getvalue(), compresslevel=6, mtime=0)


def assemble(content: Content, payload: bytes, listed: str) -> bytes:
    """Script and archive in one, each with the sum of the other."""
    unpacked = sum(len(data) // 4096 + 1 for data in content.files.values()) * 4
    numbers: dict[str, str | int] = {
        "header_sha256": _NO_SHA256,
        "header_size": " " * 8,
        "payload_sha256": hashlib.sha256(payload).hexdigest(),
        "payload_size": len(payload),
        "unpacked_kb": unpacked,
        "manifest": listed.rstrip("\n"),
    }
    size = len(_script(content, installed=False, **numbers).encode())
    numbers["header_size"] = f"{size:8d}"  # spaces: a leading zero would mean octal to bash
    header = _script(content, installed=False, **numbers)
    digest = hashlib.sha256(header.encode()).hexdigest()
    return header.replace(_NO_SHA256, digest, 1).encode() + payload


def write_run(output: Path, content: Content, key: Path | None = None) -> Package:
    """Write the package file into a folder, its sums beside it, and signatures of both."""
    data = assemble(content, archive(content.vendor, content.files), manifest(content))
    path = output / f"custom_opp_{content.vendor}_linux-{content.arch}.run"
    make_folder(path.parent)
    with writing(path) as file:
        file.write(data)
        os.fchmod(file.fileno(), 0o755)
    sums = signing.write_sums([path])
    signatures = [str(signing.sign(made, key)) for made in (path, sums)] if key else []
    return Package(
        str(path),
        content.vendor,
        content.version,
        content.device,
        content.arch,
        content.socs,
        tuple(content.operators),
        len(content.files) + len(content.links),
        len(data),
        hashlib.sha256(data).hexdigest(),
        str(sums),
        tuple(signatures),
    )
