# SPDX-License-Identifier: Apache-2.0
"""Makes custom_opp_<vendor>_linux-<arch>.run: the operators as an installer for other machines.

The file is a bash script (packaging/installer.sh) with a tar.gz behind it. The same inputs give the
same bytes.
"""

from __future__ import annotations

import json
import os
import platform
import re
import stat
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from aclgrad import __version__
from aclgrad.common import rebuild, temporary
from aclgrad.errors import ToolkitError
from aclgrad.packaging import elf, sbom, signing
from aclgrad.packaging.archive import uninstaller, write_run
from aclgrad.packaging.content import _TEMPLATES, Content, Package
from aclgrad.packaging.operators import PackagedOperator
from aclgrad.packaging.ops_info import op_proto, ops_info
from aclgrad.packaging.projects import build_into
from aclgrad.packaging.self_test import compiled
from aclgrad.packaging.tested import operators_in, self_tested
from aclgrad.runtime.toolkit import OPAPI, Toolkit, checkout, find_toolkit
from aclgrad.spec.soc import DEFAULT_SOC, FAMILIES, Family, family_of

VENDOR = "aclgrad"
OTHERS_VENDOR = "customize"  # as CANN calls a project's vendor that says nothing else
_VERSION = re.compile(r"\d[0-9A-Za-z.+-]{0,63}")
_VENDOR_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_BUILDERS = (".part", ".made", ".lock", ".d", rebuild.EARLIER)
"""Endings of what a build leaves beside its libraries."""
_TBE = "op_impl/ai_core/tbe"
_RECORDS = ("manifest.sha256", "install.info", sbom.PACKAGE_FILE)  # of an installation


def package(
    output: Path,
    *,
    paths: Sequence[str] = (),
    vendor: str | None = None,
    version: str = __version__,
    socs: Sequence[str] = (),
    device: str = "sim",
    source: Path | None = None,
    key: Path | None = None,
    jobs: int = 0,
) -> Package:
    """Pack the built operators, a vendor folder, or operator projects, and sign the package with a
    key. Raises `ToolkitError` that says what is missing and what to run.
    """
    if vendor is None:
        vendor = OTHERS_VENDOR if paths else VENDOR
    if not _VENDOR_NAME.fullmatch(vendor):
        raise ValueError(
            f"vendor: got {vendor!r}, want a letter, then letters, digits, _ and - (64 at most)"
        )
    if not _VERSION.fullmatch(version):
        raise ValueError(
            f"version: got {version!r}, want a digit, then letters, digits, . + - (64 at most)."
            " Next: e.g. --package-version 1.0"
        )
    if paths and (device == "npu" or source):
        raise ValueError(
            f"package {paths[0]}: paths are built for the simulator. Next: leave out --device npu"
            " and --from"
        )
    if key is not None:
        signing.check_key(key)
    families = _families(socs)
    with temporary.folder() as staging:
        if device == "npu":
            folder = source or _npu_folder(vendor, families)
            toolkit = _npu_toolkit(folder)
        else:
            toolkit = find_toolkit("sim")
            folder = source or (Path(staging) if paths else toolkit.opapi.parents[2])
        projects = build_into(folder, paths, families, jobs) if paths else {}
        found = operators_in(folder, toolkit, device, ours=not (paths or source))
        arch = _machine(folder)
        packed = _packed(folder, families, found.operators, device)
        files = _built_files(folder, packed, arch)
        if device == "sim":
            files |= _derived(found.operators, packed)
        links = _links(files, arch)
        tested = self_tested(found, folder, toolkit, device, packed, socs, projects)
    files |= {
        "bin/set_env.bash": (_TEMPLATES / "set_env.bash").read_bytes(),
        "bin/self_test": tested.program,
        "bin/switch": compiled("switch.cpp", (_TEMPLATES / "switch.cpp").read_text(), []),
    }
    operators = {op.op_type: op.stem for op in found.operators}
    content = Content(vendor, device, arch, tuple(packed), operators, files, links, version)
    files["version.info"] = _version_info(content, files.get("version.info", b""), toolkit)
    files["scripts/uninstall.sh"] = uninstaller(content)
    files[sbom.PACKAGE_FILE] = _sbom(content)
    made = write_run(output, content, key)
    return replace(made, untested=tested.untested, without_golden=tested.without_golden)


def _machine(folder: Path) -> str:
    """The machine that a vendor folder is for: this one, or another that its build was for."""
    library = folder / "op_api" / "lib" / OPAPI
    head = library.read_bytes()[:20] if library.is_file() else b""
    return elf.machine(head) or platform.machine()


def _families(socs: Iterable[str]) -> list[Family]:
    """Families by SoC or family name; all of them for none."""
    by_name = {family.name: family for family in FAMILIES}
    chosen = [by_name.get(name.lower()) or family_of(name) for name in socs]
    return list(dict.fromkeys(chosen)) or list(FAMILIES)


def _npu_toolkit(folder: Path) -> Toolkit:
    """The CANN toolkit that the operators were built with: its headers are what counts here."""
    root = Path(os.environ.get("ASCEND_HOME_PATH") or "")
    if not (root / "include" / "acl" / "acl.h").is_file():
        raise ToolkitError(
            f"package --device npu: ASCEND_HOME_PATH is {str(root)!r}, which has no"
            " include/acl/acl.h. Next: source <CANN>/set_env.sh"
        )
    opapi = folder / "op_api" / "lib" / OPAPI
    return Toolkit("npu", root, root / "lib64", (root / "include",), root / "opp", opapi)


def _npu_folder(vendor: str, families: Sequence[Family]) -> Path:
    """Vendor folder that `aclgrad build --device npu` has left, the newest of these families."""
    root = checkout()
    builds = [f"npu-{family.name}/package/packages/vendors/aclgrad" for family in families]
    places = [root / "build" / build / "op_api" / "lib" / OPAPI for build in builds if root]
    found = sorted(filter(Path.is_file, places), key=lambda path: path.stat().st_mtime)
    if not found:
        where = f"{root / 'build'} for {', '.join(f.name for f in families)}" if root else "it"
        raise ToolkitError(
            "package --device npu: this needs a checkout in which a CANN toolkit has built the"
            f" operators, and found none in {where}. Next: scripts/build.sh --device npu --soc"
            f" {DEFAULT_SOC}, or --from DIR with the folder vendors/{vendor} of a build"
        )
    return found[-1].parents[2]


def _packed(
    folder: Path, families: Sequence[Family], operators: Sequence[PackagedOperator], device: str
) -> list[str]:
    """Kernel folders that serve the families. On the simulator no kernel may be missing there."""
    kernels = folder / _TBE / "kernel"
    there = {path.name for path in kernels.glob("*") if path.is_dir() and path.name != "config"}
    if device == "npu":
        chosen = [family.name for family in families if family.name in there]
        if not chosen:
            raise ToolkitError(
                f"package --device npu: {kernels} has no kernels for"
                f" {', '.join(family.name for family in families)}. Next: scripts/build.sh --device"
                f" npu --soc {DEFAULT_SOC}"
            )
        return chosen
    arches = {family.npu_arch for family in families}
    missing = []
    chosen = []
    for family in FAMILIES:
        expected = [kernels / name for op in operators for name in op.kernels(family)]
        if expected and family.npu_arch in arches:
            chosen.append(family.name)
            missing += [path for path in expected if not path.is_file()]
    if not chosen:
        names = ", ".join(family.name for family in families)
        raise ValueError(f"soc: no operator has a kernel for {names}; see docs/operators.md")
    if missing:
        raise ToolkitError(
            f"package: {missing[0]} is missing ({len(missing)} kernels in all). Next: aclgrad"
            " build, or aclgrad package PATH, which builds all kernels of a project"
        )
    return chosen


def _built_files(folder: Path, socs: Sequence[str], arch: str) -> dict[str, bytes]:
    """Files of a vendor folder, kernels and configuration of other SoCs left out."""
    needed = [
        f"op_api/lib/{OPAPI}",
        f"{_TBE}/op_tiling/lib/linux/{arch}/libcust_opmaster_rt2.0.so",
    ]
    for library in needed:
        if not (folder / library).is_file():
            raise ToolkitError(f"package: {folder / library} is missing. Next: aclgrad build")
    per_soc = re.compile(rf"{_TBE}/(?:kernel/config|kernel|config)/([^/]+)/")
    files = {}
    made = _links({}, arch)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        _refuse(path, name in made and path.resolve().is_relative_to(folder.resolve()))
        soc = per_soc.match(name)
        other = soc is not None and soc[1] not in (*socs, "config")
        if path.is_symlink() or not path.is_file() or path.suffix in _BUILDERS or other:
            continue
        if name.partition("/")[0] in ("bin", "scripts") or name in _RECORDS:
            continue  # of an installation; the package brings its own
        files[name] = _library(path, name)
    if not any(name.endswith(".h") for name in files):
        raise ToolkitError(f"package: {folder / 'op_api/include'} is empty. Next: aclgrad build")
    return files


def _refuse(path: Path, own_link: bool) -> None:
    """Raise for what a package cannot have; it has its own links at the places of `_links`."""
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        kind = "" if own_link else f"a link to {path.readlink()}"
    elif stat.S_ISREG(mode):
        kind = "a setuid or setgid program" if mode & (stat.S_ISUID | stat.S_ISGID) else ""
    else:
        kind = "" if stat.S_ISDIR(mode) else "a device, pipe or socket"
    if kind:
        raise ToolkitError(
            f"package: {path} is {kind}; a package has plain files. Next: replace it by a file, or"
            " remove it"
        )


def _library(path: Path, name: str) -> bytes:
    """A file of the package; a library looks for others in the package only."""
    data = path.read_bytes()
    try:
        return elf.inside(data, name)
    except (ValueError, IndexError, StopIteration, struct.error):
        raise ToolkitError(
            f"package: {path} is a damaged library. Next: build it again, or leave it out"
        ) from None


def _links(files: Mapping[str, bytes], arch: str) -> dict[str, str]:
    tiling = f"lib/linux/{arch}/libcust_opmaster_rt2.0.so"
    links = {f"{_TBE}/op_tiling/liboptiling.so": tiling}
    proto = f"op_proto/lib/linux/{arch}/libcust_opsproto_rt2.0.so"
    if proto not in files:
        # Shape and dtype inference are in the tiling library; under a link it is loaded once.
        links[proto] = f"../../../../{_TBE}/op_tiling/{tiling}"
    return {path: target for path, target in links.items() if path not in files}


# --- What CANN's generator makes from the definitions ---


def _derived(operators: Sequence[PackagedOperator], socs: Sequence[str]) -> dict[str, bytes]:
    files = {"op_proto/inc/op_proto.h": op_proto(operators).encode()}
    arches = {family.npu_arch for family in FAMILIES if family.name in socs}
    for family in FAMILIES:
        if family.npu_arch not in arches:
            continue
        infos = {op.op_type: ops_info(op, family) for op in operators if op.rows_on(family)}
        if not infos:
            continue
        name = f"{_TBE}/config/{family.name}/aic-{family.name}-ops-info.json"
        files[name] = (json.dumps(infos, indent=4) + "\n").encode()
    return files


def _version_info(content: Content, built: bytes, toolkit: Toolkit) -> bytes:
    """Our lines, and those of the toolkit's build."""
    if not built:
        built = f"custom_opp_compiler_version={_toolkit_version(toolkit)}\n".encode()
    lines = {
        "version": content.version,
        "vendor": content.vendor,
        "device": content.device,
        "arch": content.arch,
        "socs": ",".join(content.socs),
        "operators": ",".join(content.operators),
    }
    return "".join(f"{key}={value}\n" for key, value in lines.items()).encode() + built


def _sbom(content: Content) -> bytes:
    text = f"operators {', '.join(content.operators)} for {', '.join(content.socs)}"
    try:
        return sbom.of_package(content.vendor, content.version, text, content.files)
    except ImportError as error:
        raise ToolkitError(
            f"package: {error}; its list of parts is made by cyclonedx-python-lib. Next:"
            f" {sys.executable} -m pip install 'cyclonedx-python-lib>=8'"
        ) from None


def _toolkit_version(toolkit: Toolkit) -> str:
    if toolkit.device == "sim":
        return f"aclgrad-simulator-{__version__}"
    info = toolkit.root / "compiler" / "version.info"
    found = re.search(r"^Version=(\S+)", info.read_text(), re.M) if info.is_file() else None
    return found[1] if found else "unknown"
