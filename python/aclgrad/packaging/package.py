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
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from aclgrad import __version__
from aclgrad.codegen.examples import CPP_TYPES, braces, example, literal
from aclgrad.errors import ToolkitError
from aclgrad.ops import need_all
from aclgrad.packaging import elf, sbom, signing
from aclgrad.packaging.archive import uninstaller, write_run
from aclgrad.packaging.content import _TEMPLATES, Content, Package, _render
from aclgrad.packaging.ops_info import op_proto, ops_info
from aclgrad.project.cmake import find_compiler
from aclgrad.runtime.toolkit import OPAPI, Toolkit, checkout, find_toolkit
from aclgrad.spec.arguments import Attr
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import DEFAULT_SOC, FAMILIES, Family, family_of

VENDOR = "aclgrad"
_VENDOR_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_TBE = "op_impl/ai_core/tbe"
_RECORDS = ("manifest.sha256", "install.info", sbom.PACKAGE_FILE)  # of an installation


def package(
    output: Path,
    *,
    vendor: str = VENDOR,
    socs: Sequence[str] = (),
    device: str = "sim",
    source: Path | None = None,
    key: Path | None = None,
) -> Package:
    """Pack the built operators, and sign the package with a key. Raises `ToolkitError` that says
    what is missing and what to run.
    """
    if not _VENDOR_NAME.fullmatch(vendor):
        raise ValueError(
            f"vendor: got {vendor!r}, want a letter, then letters, digits, _ and - (64 at most)"
        )
    if key is not None:
        signing.check_key(key)
    families = _families(socs)
    if device == "sim":
        toolkit = find_toolkit("sim")
        folder = source or toolkit.opapi.parents[2]
    else:
        folder = source or _npu_folder(vendor, families)
        toolkit = _npu_toolkit(folder)
    arch = platform.machine()
    specs = need_all()
    packed = _packed(folder, families, specs, device)
    files = _built_files(folder, packed, arch)
    if device == "sim":
        files |= _derived(specs, packed)
    links = _links(files, arch)
    soc, tested = _self_tested(toolkit, device, packed, socs, specs)
    files |= _own_files(toolkit, device, soc, tested, folder)
    operators = {s.op_type: s.op for s in specs}
    content = Content(vendor, device, arch, tuple(packed), operators, files, links)
    files["version.info"] = _version_info(content, files.get("version.info", b""), toolkit)
    files["scripts/uninstall.sh"] = uninstaller(content)
    files[sbom.PACKAGE_FILE] = _sbom(content)
    return write_run(output, content, key)


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
    folder: Path, families: Sequence[Family], specs: Sequence[OpSpec], device: str
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
        expected = [
            kernels / family.name / s.op / f"{s.op_type}_{'_'.join(d.name for d in variant)}.so"
            for s in specs
            for variant in s.kernels.get(family.name, ())
        ]
        if expected and family.npu_arch in arches:
            chosen.append(family.name)
            missing += [path for path in expected if not path.is_file()]
    if not chosen:
        names = ", ".join(family.name for family in families)
        raise ValueError(f"soc: no operator has a kernel for {names}; see README.md, What is there")
    if missing:
        raise ToolkitError(
            f"package: {missing[0]} is missing ({len(missing)} kernels in all). Next: aclgrad build"
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
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        soc = per_soc.match(name)
        other = soc is not None and soc[1] not in (*socs, "config")
        if path.is_symlink() or not path.is_file() or path.suffix == ".part" or other:
            continue
        if name.partition("/")[0] in ("bin", "scripts") or name in _RECORDS:
            continue  # of an installation; the package brings its own
        files[name] = _library(path, name)
    if not any(name.endswith(".h") for name in files):
        raise ToolkitError(f"package: {folder / 'op_api/include'} is empty. Next: aclgrad build")
    return files


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


# --- Derived from the specs: what CANN's generator makes from the op definitions ---


def _derived(specs: Sequence[OpSpec], socs: Sequence[str]) -> dict[str, bytes]:
    files = {"op_proto/inc/op_proto.h": op_proto(specs).encode()}
    arches = {family.npu_arch for family in FAMILIES if family.name in socs}
    for family in FAMILIES:
        if family.npu_arch not in arches:
            continue
        infos = {s.op_type: ops_info(s, family) for s in specs if s.kernels_on(family)}
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


# --- The self-test and the tool that renames ---


def _self_tested(
    toolkit: Toolkit,
    device: str,
    packed: Sequence[str],
    socs: Sequence[str],
    specs: Sequence[OpSpec],
) -> tuple[str, list[OpSpec]]:
    """SoC of the self-test, and the operators that have a kernel there."""
    if device == "npu":
        families = [family for family in FAMILIES if family.name in packed]
        return "", [s for s in specs if all(s.kernels_on(family) for family in families)]
    from aclgrad.runtime import open_device

    names = [DEFAULT_SOC, *open_device("sim").soc_names()]
    asked = [name for name in socs if name in names]
    arches = {family.npu_arch for family in FAMILIES if family.name in packed}
    fits = [name for name in [*asked, *names] if family_of(name).npu_arch in arches]
    # The one on which most operators run.
    soc = max(fits, key=lambda name: sum(bool(s.kernels_on(family_of(name))) for s in specs))
    return soc, [s for s in specs if s.kernels_on(family_of(soc))]


def self_test_source(specs: Iterable[OpSpec], device: str, soc: str) -> str:
    """C++ program that runs one case per operator."""
    items = []
    for spec in specs:
        made = example(spec)
        tensors = []
        for arg in spec.tensors:
            desc = made.call.tensor(arg.name)
            values = [0.0] * desc.size if arg.out else list(made.inputs[arg.name].flatten())
            tensors.append(
                {
                    "name": arg.name,
                    "type": CPP_TYPES[desc.dtype.name],
                    "shape": braces(desc.shape),
                    "data": braces(values),
                }
            )
        words = [
            literal(arg, made.attrs[arg.name]) if isinstance(arg, Attr) else f"{arg.name}.get()"
            for arg in spec.args
        ]
        expected = "{" + ", ".join(f"{value:.9e}F" for value in made.result.flatten()) + "}"
        items.append(
            {
                "spec": spec,
                "tensors": tensors,
                "words": words,
                "result": spec.output_args[0].name,
                "expected": expected,
            }
        )
    return _render("self_test.cpp.j2", items=items, device=device, soc=soc)


def _own_files(
    toolkit: Toolkit, device: str, soc: str, specs: Sequence[OpSpec], folder: Path
) -> dict[str, bytes]:
    include = [*toolkit.include_dirs, folder / "op_api" / "include"]
    source = self_test_source(specs, device, soc)
    return {
        "bin/set_env.bash": (_TEMPLATES / "set_env.bash").read_bytes(),
        "bin/self_test": _compiled("self_test.cpp", source, include),
        "bin/switch": _compiled("switch.cpp", (_TEMPLATES / "switch.cpp").read_text(), []),
    }


def _compiled(name: str, source: str, include: Sequence[Path]) -> bytes:
    compiler = find_compiler()
    if compiler is None:
        raise ToolkitError(
            f"package: no C++ compiler found for {name}. Next: apt-get install g++, or set CXX"
        )
    # Relative names, no build id, no symbols: the same source gives the same program.
    words = ["-std=c++17", "-O1", "-s", "-Wl,--build-id=none", f"-frandom-seed={name}"]
    words += [f"-I{path}" for path in dict.fromkeys(include)]
    with tempfile.TemporaryDirectory(prefix="aclgrad-package-") as folder:
        (Path(folder) / name).write_text(source)
        command = [compiler, *words, name, "-o", "program", "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode:
            first = "\n".join(done.stderr.strip().splitlines()[:10])
            raise ToolkitError(
                f"package: {name} does not compile:\n{first}\n"
                "Next: aclgrad doctor, and aclgrad build"
            )
        return elf.inside((Path(folder) / "program").read_bytes(), f"bin/{Path(name).stem}")


# --- The file ---
