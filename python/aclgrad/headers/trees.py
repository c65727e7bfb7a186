# SPDX-License-Identifier: Apache-2.0
"""Finds CANN's headers below folders: checkouts of the public repositories, or an installation."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aclgrad.checkout.cann_build import version_of
from aclgrad.common.files import text_of
from aclgrad.errors import ToolkitError


@dataclass(frozen=True)
class Repository:
    """A public repository, and the paths that tell it from others."""

    name: str
    owner: str
    marks: tuple[str, ...]
    why: str
    optional: bool = False

    @property
    def next_step(self) -> str:
        """Command that gets it."""
        return f"git clone https://github.com/{self.owner}/{self.name}"


REPOSITORIES = (
    Repository(
        "asc-devkit",
        "mirror-cann",
        ("include/basic_api/kernel_tensor.h", "impl/basic_api"),
        "the device API",
    ),
    Repository(
        "asc-tools",
        "hicann",
        ("cpudebug/include/stub_def.h",),
        "the types of the CPU-debug branch",
    ),
    Repository(
        "opbase", "hicann", ("include/nnopbase", "pkg_inc/op_common"), "the aclnn interface"
    ),
    Repository(
        "metadef",
        "hicann",
        ("inc/external/exe_graph", "inc/external/register"),
        "op_host's contexts",
    ),
    Repository("runtime", "hicann", ("include/external/acl/acl_rt.h",), "ACL and the log"),
    Repository(
        "ops-nn",
        "hicann",
        ("common/stub/op_api", "activation"),
        "the level0 functions of operators",
    ),
    Repository(
        "ge",
        "hicann",
        ("inc/graph_metadef/external/graph/operator_reg.h",),
        "graph/operator_reg.h",
        optional=True,
    ),
)
_HOMES = ("", "latest", "*", "ascend-toolkit/*", "*/ascend-toolkit/*")


@dataclass(frozen=True)
class HeaderSet:
    """Headers that belong together: where the kernel side and the host side look for them."""

    name: str  # "public repositories" or "CANN <version>"
    sources: tuple[tuple[str, Path, str], ...]  # name, folder, commit or version
    kernel: tuple[Path, ...]
    cpu_debug: Path
    host: tuple[Path, ...]
    api: tuple[Path, ...]
    instructions: Path | None  # stub_fun.h, the declarations of all instructions
    devkit: Path  # has include/adv_api or tiling headers that checkouts keep elsewhere
    installed: bool = False

    def owns(self, path: Path) -> bool:
        """Whether a file is one of these headers."""
        return any(root == path or root in path.parents for _, root, _ in self.sources)


def find(folders: Sequence[Path]) -> list[HeaderSet]:
    """Return the header sets below folders. Raises `ToolkitError` that says what is missing."""
    for folder in folders:
        if not folder.is_dir():
            raise ToolkitError(
                f"--headers: {folder} is not a folder. Next: give a CANN installation"
                " ($ASCEND_HOME_PATH) or a folder with checkouts of the public repositories"
            )
    roots = [folder.resolve() for folder in folders]
    installations = [home for root in roots for home in _installations(root)]
    stubs = {home: _stub(home) for home in installations}
    sets = []
    checkouts = _checkouts(roots)
    if checkouts:
        sets.append(_public(checkouts, next(filter(None, stubs.values()), None)))
    sets += [_installed(home, stub) for home, stub in stubs.items()]
    if not sets:
        given = ", ".join(map(str, folders))
        raise ToolkitError(
            f"--headers: {given} holds neither a CANN installation nor a checkout of asc-devkit."
            f" Next: source <CANN>/set_env.sh and give $ASCEND_HOME_PATH, or"
            f" {REPOSITORIES[0].next_step}"
        )
    return sets


def _installations(root: Path) -> Iterator[Path]:
    seen = set()
    for pattern in _HOMES:
        for home in [root] if not pattern else sorted(root.glob(pattern)):
            place = home.resolve()
            if place not in seen and _device_headers(place) is not None:
                seen.add(place)
                yield place
                if not pattern:
                    return


def _device_headers(home: Path) -> Path | None:
    """Folder of the device API of an installation: asc/ of 9.x or ascendc/ of 8.x."""
    for pattern in ("*-linux/asc/include/basic_api", "*-linux/ascendc/include/basic_api"):
        for folder in sorted(home.glob(pattern)):
            return folder.parents[1]
    return None


def _stub(home: Path) -> Path | None:
    for pattern in ("tools/tikicpulib", "*-linux/tikicpulib", "toolkit/tools/tikicpulib"):
        for folder in sorted(home.glob(f"{pattern}/lib/include")):
            if (folder / "stub_fun.h").is_file():
                return folder / "stub_fun.h"
    return None


def _checkouts(roots: Iterable[Path]) -> dict[str, Path]:
    found: dict[str, list[Path]] = {}
    for root in roots:
        if not root.is_dir():
            continue
        for folder in (root, *sorted(path for path in root.iterdir() if path.is_dir())):
            for repository in REPOSITORIES:
                if all((folder / mark).exists() for mark in repository.marks):
                    found.setdefault(repository.name, []).append(folder.resolve())
    # Libraries of other operators are laid out alike.
    return {
        name: next((one for one in folders if _is_called(one, name)), folders[0])
        for name, folders in found.items()
    }


def _is_called(folder: Path, repository: str) -> bool:
    """Whether a checkout is of a repository, by its folder or by where it was cloned from."""
    if folder.name == repository:
        return True
    config = folder / ".git" / "config"
    text = text_of(config) if config.is_file() else ""
    return bool(re.search(rf"(?m)^\s*url\s*=.*/{re.escape(repository)}(?:\.git)?/?\s*$", text))


def _commit(folder: Path) -> str:
    """Commit of a checkout, "" when the folder is no checkout of its own."""
    if not (folder / ".git").exists():
        return ""
    done = subprocess.run(
        ["git", "-C", str(folder), "log", "-1", "--format=%h %cs"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def _existing(paths: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(path for path in paths if path.is_dir())


def _clone(owner: str, names: Sequence[str]) -> str:
    """One command that gets repositories of an owner."""
    if len(names) == 1:
        return f"git clone https://github.com/{owner}/{names[0]}"
    return f"for name in {' '.join(names)}; do git clone https://github.com/{owner}/$name; done"


def _public(found: dict[str, Path], stub: Path | None) -> HeaderSet:
    missing = [r for r in REPOSITORIES if r.name not in found and not r.optional]
    if missing:
        have = " and ".join(", ".join(sorted(found)).rsplit(", ", 1))
        lack = " and ".join(", ".join(r.name for r in missing).rsplit(", ", 1))
        place = next(iter(found.values())).parent
        owners = dict.fromkeys(r.owner for r in missing)
        clones = " && ".join(
            _clone(owner, [r.name for r in missing if r.owner == owner]) for owner in owners
        )
        raise ToolkitError(
            f"--headers: the headers of {have} include those of {lack}, of which there"
            f" {'is no checkout' if len(missing) == 1 else 'are no checkouts'}."
            f" Next: cd {shlex.quote(str(place))} && {clones}, then --headers"
            f" {shlex.quote(str(place))}"
        )
    devkit, base, meta = found["asc-devkit"], found["opbase"], found["metadef"]
    runtime, library = found["runtime"], found["ops-nn"]
    kernel = [
        devkit,
        *(devkit / "include" / name for name in ("", "basic_api", "adv_api", "utils")),
    ]
    kernel += [devkit / "impl" / name for name in ("", "basic_api", "utils")]
    kernel += [runtime / "include/external", base / "include/op_common", base / "include"]
    host = [base / f"include/{name}" for name in ("", "op_common", "op_common/op_host")]
    host += [base / f"pkg_inc/{name}" for name in ("", "op_common", "op_common/op_host")]
    host += [base / f"include/nnopbase/{name}" for name in ("", "aclnn")]
    host += [meta / f"inc/external/{name}" for name in ("", "asc", "exe_graph")]
    host += [meta / "inc", meta / "pkg_inc", meta / "inc/external/base/context_builder"]
    host += [devkit / name for name in ("include/utils/tiling", "include", "include/adv_api", "")]
    host += [runtime / name for name in ("include/external", "pkg_inc", "pkg_inc/base", "include")]
    host += [runtime / "include/dfx"]
    if "ge" in found:
        host.append(found["ge"] / "inc/graph_metadef/external")
    api = [library / f"common/{name}" for name in ("inc/op_api", "inc", "stub/op_api")]
    sources = [(name, root, _commit(root)) for name, root in found.items()]
    if stub is not None:
        sources.append(("stub_fun.h", stub, ""))
    return HeaderSet(
        "public repositories",
        tuple(sources),
        _existing(kernel),
        found["asc-tools"] / "cpudebug/include",
        _existing(host),
        _existing(api),
        stub,
        devkit,
    )


def _installed(home: Path, stub: Path | None) -> HeaderSet:
    version = version_of(home)
    device = _device_headers(home)
    assert device is not None
    if stub is None:
        raise ToolkitError(
            f"--headers: {home} has no tools/tikicpulib/lib/include/stub_fun.h, the declarations of"
            " the instructions. Next: install the CANN toolkit package (Ascend-cann-toolkit), not"
            " the runtime alone"
        )
    include = device / "include"
    machine = device.parent
    kernel: list[Path] = []
    if device.name == "asc":
        kernel += [device, *(include / name for name in ("", "basic_api", "adv_api", "utils"))]
        kernel += [device / "impl" / name for name in ("", "basic_api", "utils")]
    else:
        kernel += [include / f"basic_api{name}" for name in ("", "/impl", "/interface")]
        kernel += [
            include / f"highlevel_api{name}" for name in ("", "/lib", "/impl", "/lib/matmul")
        ]
    kernel.append(machine / "include")
    host = [machine / "include", machine / "pkg_inc", machine / "pkg_inc/base"]
    host += [
        machine / f"include/{name}"
        for name in (
            "op_common",
            "op_common/op_host",
            "nnopbase",
            "exe_graph",
            "external",
            "aclnn",
            "aclnnop",
            "experiment",
            "experiment/metadef",
            "experiment/platform",
            "experiment/slog",
            "experiment/runtime",
        )
    ]
    host += [include / f"highlevel_api{name}" for name in ("", "/tiling", "/lib")]
    host += [include, include / "adv_api"] if device.name == "asc" else []
    library = home / "opp/built-in/op_impl/ai_core/tbe/op_api/include"
    return HeaderSet(
        f"CANN {version}",
        ((f"CANN {version}", home, ""),),
        _existing(kernel),
        stub.parent,
        _existing(host),
        _existing([library, library / "aclnnop"]),
        stub,
        device,
        installed=True,
    )
