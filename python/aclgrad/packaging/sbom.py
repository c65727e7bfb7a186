# SPDX-License-Identifier: Apache-2.0
"""What a package or a wheel is made of, as a CycloneDX document. Equal parts give equal bytes.

``python sbom.py ROOT TARGET`` writes that of the wheel, whose sources are in ROOT; the CMake build
calls it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclonedx.model.component import Component

PACKAGE_FILE = "sbom.cdx.json"
_LICENSE = "Apache-2.0"
_NAMESPACE = uuid.UUID("6f2a9f0e-6c0d-4b8e-9a55-0c2f7c1c2f6b")


def of_package(vendor: str, version: str, description: str, files: Mapping[str, bytes]) -> bytes:
    """The document of an operator package: its files with their sums."""
    from cyclonedx.model import HashAlgorithm, HashType
    from cyclonedx.model.component import Component, ComponentType

    parts = [
        Component(
            name=path,
            type=ComponentType.FILE,
            bom_ref=path,
            hashes=[
                HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(files[path]).hexdigest())
            ],
        )
        for path in sorted(files)
    ]
    return _document(f"custom_opp_{vendor}", version, description, parts)


def of_wheel(pyproject: str, licenses: str) -> bytes:
    """The document of the wheel: what it and its extras ask for, with the licences that
    requirements/licenses.json has. It contains nothing of others.
    """
    from cyclonedx.contrib.license.factories import LicenseFactory
    from cyclonedx.model.component import Component, ComponentScope, ComponentType
    from packageurl import PackageURL

    version = re.search(r'^version = "(.*)"', pyproject, re.M)
    listed = re.search(r"^dependencies = \[(.*?)\]", pyproject, re.M | re.S)
    if version is None or listed is None:
        raise ValueError("pyproject.toml: no version or no dependencies")
    wanted = {}
    for want in re.findall(r'"([^"]+)"', listed[1]):
        name = re.match(r"[\w.-]+", want)
        assert name is not None
        wanted[re.sub(r"[-_.]+", "-", name[0]).lower()] = want
    record = json.loads(licenses)
    if missing := {*wanted} - {*record}:
        raise ValueError(f"requirements/licenses.json: got no {', '.join(sorted(missing))}")
    parts = []
    for name, entry in record.items():
        required = "aclgrad" in entry["for"]
        by = (
            f"wanted: {wanted[name]}" if name in wanted else f"wanted by: {', '.join(entry['for'])}"
        )
        parts.append(
            Component(
                name=name,
                type=ComponentType.LIBRARY,
                bom_ref=name,
                description=f"not contained; {by}",
                scope=ComponentScope.REQUIRED if required else ComponentScope.OPTIONAL,
                purl=PackageURL("pypi", name=name),
                licenses=[LicenseFactory().make_from_string(entry["license"])],
            )
        )
    return _document("aclgrad", version[1], "Python package with the simulator's toolkit", parts)


def _document(name: str, version: str, description: str, parts: Sequence[Component]) -> bytes:
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.model.license import LicenseExpression
    from cyclonedx.output.json import JsonV1Dot6

    root = Component(
        name=name,
        version=version,
        type=ComponentType.APPLICATION,
        bom_ref=f"{name}@{version}",
        description=description,
        licenses=[LicenseExpression(_LICENSE)],
    )
    bom = Bom(components=parts)
    bom.metadata.component = root
    bom.register_dependency(root, parts)
    document: dict[str, Any] = json.loads(JsonV1Dot6(bom).output_as_string())
    # When it was written says nothing of what it lists.
    document["metadata"].pop("timestamp", None)
    document.pop("serialNumber", None)
    text = json.dumps(document, sort_keys=True)
    document["serialNumber"] = uuid.uuid5(_NAMESPACE, text).urn
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


if __name__ == "__main__":
    sources = (Path(sys.argv[1], name) for name in ("pyproject.toml", "requirements/licenses.json"))
    Path(sys.argv[2]).write_bytes(of_wheel(*(path.read_text("utf-8") for path in sources)))
