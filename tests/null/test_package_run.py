# SPDX-License-Identifier: Apache-2.0
"""The package file and its installer, on packages of a few bytes: no build, no compiler."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import itertools
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aclgrad.ops import all_specs
from aclgrad.packaging import archive, package
from aclgrad.packaging.content import Content
from aclgrad.packaging.operators import of_spec
from aclgrad.spec.op_spec import OpSpec
from aclgrad.spec.soc import FAMILIES
from package_files import (
    SKIPPING,
    STEPS,
    TILING,
    clean_environment,
    content,
    faulty_tools,
    good,
    refused,
    run,
    snapshot,
    stopped,
    tool_folder,
    write,
)

pytestmark = [
    pytest.mark.journey,
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in ("bash", "tar", "gzip", "flock")),
        reason="bash, tar, gzip, flock",
    ),
]

ROOT = Path(__file__).resolve().parents[2]
CONFIG = "vendors/config.ini"


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Package files: two versions of one vendor, and another vendor with the same operator."""
    folder = tmp_path_factory.mktemp("packages")
    return {
        "1.0": write(folder / "1", content("1.0")),
        "2.0": write(folder / "2", content("2.0")),
        "other": write(folder, content("1.0", "other")),
        "third": write(folder, content("1.0", "third", {"ThirdGrad": "third_grad"})),
    }


@pytest.fixture
def one(packages: dict[str, Path]) -> Path:
    return packages["1.0"]


@pytest.fixture
def two(packages: dict[str, Path]) -> Path:
    return packages["2.0"]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "with space" / "opp"


def path_option(target: Path) -> str:
    return f"--install-path={target}"


# --- The file itself ---


def test_same_inputs_give_the_same_bytes(one: Path, tmp_path: Path) -> None:
    again = write(tmp_path, content("1.0"))
    assert again.name == one.name and again.read_bytes() == one.read_bytes()
    assert os.access(again, os.X_OK)


def test_check_accepts_the_file_and_says_what_it_verified(one: Path) -> None:
    assert good(one, "--check").startswith("ok: 10 files of tiny 1.0")
    assert good(one, "--check", "--quiet") == ""


def split(path: Path) -> tuple[bytes, bytes]:
    data = path.read_bytes()
    at = data.index(b"\x1f\x8b\x08", data.index(b'main "$@"; exit\n'))
    return data[:at], data[at:]


def test_every_damaged_place_is_seen(one: Path, tmp_path: Path) -> None:
    head, body = split(one)
    broken = tmp_path / one.name
    size = len(head) + len(body)
    places = [*range(200, len(head), len(head) // 6), *range(len(head), size, len(body) // 12)]
    for at in places:
        data = bytearray(head + body)
        data[at] ^= 0x04
        broken.write_bytes(data)
        done = run(broken, "--check")
        assert done.returncode != 0, f"byte {at} of {len(head)}+{len(body)}"
        if at >= len(head):
            assert "damaged" in done.stderr and "Next: " in done.stderr
    for cut in (len(head) + 10, len(head) + len(body) - 1):
        broken.write_bytes((head + body)[:cut])
        refused(broken, "--check", match="bytes, want")
    broken.write_bytes(head + body + b"x")
    refused(broken, "--check", match="bytes, want")


def tampered(
    made: Content, folder: Path, payload: bytes | None = None, listed: str | None = None
) -> Path:
    """A package whose own sums are right, with another archive or manifest inside."""
    body = archive.archive(made.vendor, made.files) if payload is None else payload
    data = archive.assemble(made, body, archive.manifest(made) if listed is None else listed)
    path = folder / "tampered.run"
    path.write_bytes(data)
    return path


def members(*extra: tuple[tarfile.TarInfo, bytes], drop: str = "") -> bytes:
    """The archive of the small package with more members, or one less."""
    import gzip

    buffer = io.BytesIO()
    files = content().files
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(files):
            if path != drop:
                info = tarfile.TarInfo(f"vendors/tiny/{path}")
                info.size = len(files[path])
                tar.addfile(info, io.BytesIO(files[path]))
        for info, data in extra:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), mtime=0)


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def test_changed_file_is_named(tmp_path: Path, target: Path) -> None:
    made = content()
    files = {**made.files, TILING: b"something else"}
    broken = tampered(made, tmp_path, archive.archive("tiny", files))
    assert TILING in refused(broken, "--check", match="sha256 is")
    assert TILING in refused(broken, path_option(target), match="sha256 is")
    assert not target.exists()


@pytest.mark.parametrize(
    ("extra", "named"),
    [
        (member("vendors/tiny/../../../../etc/cron.d/x"), "etc/cron.d/x"),
        (member("/etc/cron.d/x"), "/etc/cron.d/x"),
        (member("vendors/tiny/extra"), "vendors/tiny/extra"),
        (member("vendors/tiny/z", tarfile.SYMTYPE, "/etc"), "vendors/tiny/z"),
        (member("vendors/tiny/z", tarfile.LNKTYPE, "vendors/tiny/version.info"), "vendors/tiny/z"),
        (member("vendors/tiny/z", tarfile.CHRTYPE), "vendors/tiny/z"),
        (member("vendors/tiny/version.info"), "vendors/tiny/version.info"),
        (member("vendors/tiny/new\nline"), "new\\nline"),
    ],
    ids=["parent", "absolute", "extra", "symlink", "hardlink", "device", "twice", "newline"],
)
def test_member_outside_the_manifest_is_refused(
    extra: tarfile.TarInfo, named: str, tmp_path: Path, target: Path
) -> None:
    broken = tampered(content(), tmp_path, members((extra, b"")))
    assert named in refused(broken, "--check", match="not in the manifest")
    assert named in refused(broken, path_option(target), match="not in the manifest")
    assert not target.exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_listed_member_must_be_a_file(kind: bytes, tmp_path: Path, target: Path) -> None:
    last = "version.info"  # the last name, so that the order stays
    link = {tarfile.SYMTYPE: "/etc/passwd", tarfile.LNKTYPE: f"vendors/tiny/{TILING}"}.get(kind, "")
    swapped = members((member(f"vendors/tiny/{last}", kind, link), b""), drop=last)
    broken = tampered(content(), tmp_path, swapped)
    for words in (["--check"], [path_option(target)]):
        refused(broken, *words, match="not a file of its own")
    assert not target.exists()


def test_missing_member_is_named(tmp_path: Path) -> None:
    broken = tampered(content(), tmp_path, members(drop="version.info"))
    refused(broken, "--check", match="version.info: missing")


@pytest.mark.parametrize(
    "path",
    ["../../evil", "/etc/evil", "a/../evil", "a//b", "./a", "-rf", "a b", "$(id)", ".hidden", "a/"],
)
def test_path_tricks_in_the_manifest_are_refused(path: str, tmp_path: Path, target: Path) -> None:
    listed = archive.manifest(content()) + f"{'0' * 64}  {path}\n"
    broken = tampered(content(), tmp_path, listed=listed)
    assert path in refused(broken, "--check", match="manifest: the line")
    assert path in refused(broken, path_option(target), match="manifest: the line")
    assert not target.exists()


def test_manifest_with_a_name_twice_or_a_file_as_folder(tmp_path: Path) -> None:
    listed = archive.manifest(content())
    refused(tampered(content(), tmp_path, listed=listed * 2), "--check", match="listed twice")
    more = f"{'0' * 64}  version.info/x\n"
    broken = tampered(content(), tmp_path, listed=listed + more)
    refused(broken, "--check", match="version.info is a file and a folder")


@pytest.mark.parametrize("goal", ["/etc/passwd", "../../../../../../../etc/passwd"])
def test_link_that_leaves_the_package_is_refused(goal: str, tmp_path: Path, target: Path) -> None:
    made = content()
    listed = archive.manifest(made)
    link = next(iter(made.links))
    broken = tampered(dataclasses.replace(made, links={link: goal}), tmp_path, listed=listed)
    assert link in refused(broken, "--check", match="leaves the package")
    refused(broken, path_option(target), match="leaves the package")
    assert not target.exists()


# --- Options and places ---


def test_help_and_list(one: Path, target: Path) -> None:
    text = good(one, "--help")
    for option in ("check", "install", "install-path=", "upgrade", "uninstall", "list", "quiet"):
        assert f"--{option}" in text
    listed = good(one, "--list")
    assert "tiny 1.0" in listed and "TinyGrad" in listed and TILING in listed
    good(one, path_option(target))
    listed = good(one, "--list", path_option(target))
    assert "  tiny 1.0\n" in listed and "load_priority=tiny\n" in listed


def test_wrong_words(one: Path, target: Path) -> None:
    for words, match in (
        (["--instal"], "unknown option --instal"),
        (["--install", "--uninstall"], "exclude each other"),
        (["--install-path"], "a folder is missing"),
        (["--install-path="], "a folder is missing"),
    ):
        assert run(one, *words).returncode == 2
        refused(one, *words, match=match)


def test_places_that_are_refused(one: Path, tmp_path: Path) -> None:
    refused(one, match="no folder to install into")
    refused(one, "--install-path=here", match="want an absolute path")
    for name in ("a/../b", "a/./b", "a:b", "a\nb", "a\x07b"):
        refused(one, path_option(tmp_path) + "/" + name, match="plain path")
    (tmp_path / "file").touch()
    refused(one, path_option(tmp_path / "file"), match="not a folder")
    refused(one, path_option(tmp_path / "file/below"), match="Next: --install-path")
    both = f"{tmp_path}/x:{tmp_path}/y"
    refused(one, match="several folders", ASCEND_CUSTOM_OPP_PATH=both)
    refused(one, match="is not a folder", ASCEND_OPP_PATH=str(tmp_path / "none"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_where_it_goes_by_default(one: Path, tmp_path: Path) -> None:
    opp, custom, named = (tmp_path / name for name in ("opp", "custom", "named"))
    opp.mkdir()
    (tmp_path / "latest").symlink_to(opp)
    good(one, ASCEND_OPP_PATH=str(tmp_path / "latest"))
    assert (opp / "vendors/tiny/version.info").is_file()
    good(one, ASCEND_OPP_PATH=str(opp), ASCEND_CUSTOM_OPP_PATH=f"{custom}/")
    assert (custom / "vendors/tiny/version.info").is_file()
    everything = {"ASCEND_OPP_PATH": str(opp), "ASCEND_CUSTOM_OPP_PATH": str(custom)}
    good(one, path_option(named), **everything)
    assert (named / "vendors/tiny/version.info").is_file()
    # After `source bin/set_env.bash` the variable names the vendor folder, not what holds vendors/.
    good(one, ASCEND_CUSTOM_OPP_PATH=str(custom / "vendors/tiny"))
    assert not list(custom.rglob("vendors/tiny/vendors"))


@pytest.mark.parametrize("place", ["", "vendors", "vendors/tiny", CONFIG, "vendors/.tiny.install"])
def test_symbolic_links_are_refused(one: Path, place: str, tmp_path: Path) -> None:
    target, elsewhere = tmp_path / "opp", tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = target / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere)
    before = snapshot(tmp_path)
    for words in ([], ["--upgrade"], ["--uninstall"]):
        refused(one, path_option(target), *words, match="is a symbolic link")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("place", ["vendors", "vendors/tiny", "vendors/.tiny.install"])
def test_files_in_the_way_are_refused(one: Path, place: str, target: Path) -> None:
    (target / place).parent.mkdir(parents=True, exist_ok=True)
    (target / place).write_text("mine")
    before = snapshot(target)
    refused(one, path_option(target), match="Next: ")
    assert snapshot(target) == before


def test_foreign_folders_and_files_are_kept(one: Path, two: Path, target: Path) -> None:
    foreign = target / "vendors/tiny/theirs.so"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("theirs")
    for words in (["--install"], ["--upgrade"], ["--uninstall"]):
        refused(one, path_option(target), *words, match="not made by this installer: theirs.so")
    shutil.rmtree(foreign.parent)
    good(one, path_option(target))
    for name in ("op_api/mine.so", "mine/deep/file", "scripts/link", "@", "*", "op_api/lib/]"):
        mine = target / "vendors/tiny" / name
        mine.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("link"):
            mine.symlink_to("/etc/passwd")
        else:
            mine.write_text("mine")
        before = snapshot(target)
        shown = name if "deep" not in name else "mine/"
        for script, words in ((two, ["--install"]), (two, ["--upgrade"]), (one, ["--uninstall"])):
            refused(script, path_option(target), *words, match=f"not of the package: {shown}")
        assert snapshot(target) == before
        mine.unlink()
        if "deep" in name:
            shutil.rmtree(target / "vendors/tiny/mine")
    staging = target / "vendors/.tiny.install"
    staging.mkdir()
    (staging / "notes").write_text("mine")
    refused(two, path_option(target), match="not of this installer")
    assert (staging / "notes").is_file()


def test_a_package_for_the_other_kind_of_toolkit_is_refused(tmp_path: Path) -> None:
    cann, simulator = tmp_path / "cann/opp", tmp_path / "sim/opp"
    (cann / "built-in").mkdir(parents=True)
    simulator.mkdir(parents=True)
    (tmp_path / "sim/include/aclsim").mkdir(parents=True)
    refused(write(tmp_path / "1", content()), path_option(cann), match="for the simulator only")
    npu = write(tmp_path / "2", dataclasses.replace(content(), device="npu"))
    refused(npu, path_option(simulator), match="kernels for an NPU")
    good(npu, path_option(cann))
    foreign = write(tmp_path / "3", dataclasses.replace(content(), arch="vax"))
    refused(foreign, path_option(cann), match="the package is for vax")


# --- Install, upgrade, uninstall ---


def test_install_and_uninstall_leave_nothing(one: Path, target: Path) -> None:
    out = good(one, path_option(target))
    folder = target / "vendors/tiny"
    assert "installed tiny 1.0" in out and "self-test skipped: no device" in out
    assert (target / CONFIG).read_text() == "load_priority=tiny\n"
    done = subprocess.run(["sha256sum", "--quiet", "-c", "manifest.sha256"], cwd=folder)
    assert done.returncode == 0
    link = folder / "op_impl/ai_core/tbe/op_tiling/liboptiling.so"
    assert link.is_symlink() and link.samefile(folder / TILING)
    assert "installed in" in good(one, "--list", path_option(target))
    assert "removed tiny" in good(one, path_option(target), "--uninstall")
    assert not target.parent.exists(), "the folders that the installation made"
    refused(one, path_option(target), "--uninstall", match="not installed")


def test_nothing_is_written_elsewhere(one: Path, two: Path, tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("HOME", "TMPDIR", "PWD", "opp")}
    for place in places.values():
        place.mkdir()
    (places["opp"] / "mine").write_text("mine")
    before = snapshot(tmp_path)
    option = path_option(places["opp"])
    plan = [(one, []), (two, ["--upgrade"]), (two, ["--list"]), (two, ["--check"])]
    for script, words in [*plan, (two, ["--uninstall"])]:
        done = subprocess.run(
            ["bash", str(script), option, *words],
            cwd=places["PWD"],
            capture_output=True,
            env=clean_environment(HOME=str(places["HOME"]), TMPDIR=str(places["TMPDIR"])),
        )
        assert done.returncode == 0
        now = {k: v for k, v in snapshot(tmp_path).items() if not k.startswith("opp/vendors")}
        assert now == before
    assert snapshot(tmp_path) == before


def test_uninstall_keeps_folders_that_were_there(one: Path, target: Path) -> None:
    target.mkdir(parents=True)
    good(one, path_option(target), "--quiet")
    good(one, path_option(target), "--uninstall", "--quiet")
    assert target.is_dir() and not list(target.iterdir())


def test_installed_copy_checks_and_removes_itself(one: Path, target: Path) -> None:
    good(one, path_option(target))
    script = target / "vendors/tiny/scripts/uninstall.sh"
    assert "ok: 10 files" in good(script, "--check") and TILING in good(script, "--list")
    assert "--uninstall" in good(script, "--help")
    refused(script, "--install", match="without the operators")
    (target / "vendors/tiny" / TILING).write_text("rot")
    refused(script, "--check", match=TILING)
    done = run(script)
    assert done.returncode == 0 and TILING in done.stderr
    assert [path.name for path in target.iterdir()] == ["tiny.saved"]
    assert (target / "tiny.saved" / TILING).read_text() == "rot"


def test_upgrade_replaces_everything_and_goes_forward_only(
    one: Path, two: Path, target: Path
) -> None:
    refused(two, path_option(target), "--upgrade", match="is not installed")
    assert not target.exists()
    good(one, path_option(target))
    assert "replaced tiny 1.0 by 2.0" in good(two, path_option(target), "--upgrade")
    names = [path.name for path in (target / "vendors/tiny/op_impl").iterdir()]
    assert "of_2.0.txt" in names and "of_1.0.txt" not in names
    before = snapshot(target)
    refused(one, path_option(target), "--upgrade", match="2.0 is installed, which is newer")
    assert snapshot(target) == before
    assert "replaced tiny 2.0 by 1.0" in good(one, path_option(target), "--install")
    good(one, path_option(target), "--uninstall")
    assert not target.exists()


def test_second_install_changes_nothing_and_mends_damage(one: Path, target: Path) -> None:
    good(one, path_option(target))
    inode = (target / "vendors/tiny").stat().st_ino
    assert "already" in good(one, path_option(target))
    assert (target / "vendors/tiny").stat().st_ino == inode
    before = snapshot(target)
    (target / "vendors/tiny" / TILING).unlink()
    good(one, path_option(target))
    assert snapshot(target) == before
    (target / CONFIG).unlink()
    good(one, path_option(target))
    assert snapshot(target) == before


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_modes_do_not_depend_on_the_umask(one: Path, umask: int, target: Path) -> None:
    script = f"umask {umask:03o}; exec bash {one} '{path_option(target)}'"
    subprocess.run(["bash", "-c", script], check=True, env=clean_environment(), timeout=600)
    for name, what in snapshot(target).items():
        mode = what if isinstance(what, int) else what[0] if isinstance(what, tuple) else None
        if isinstance(what, int) or name.endswith((".so", "self_test", "uninstall.sh")):
            assert mode in (0o755, None), name
        elif mode is not None:
            assert mode == 0o644, name


def test_two_vendors_side_by_side(packages: dict[str, Path], target: Path) -> None:
    good(packages["1.0"], path_option(target))
    done = run(packages["third"], path_option(target))
    assert done.returncode == 0 and "conflict" not in done.stderr
    assert (target / CONFIG).read_text() == "load_priority=third,tiny\n"
    good(packages["2.0"], path_option(target), "--upgrade")
    assert (target / CONFIG).read_text() == "load_priority=third,tiny\n", "an upgrade keeps it"
    good(packages["third"], path_option(target), "--uninstall")
    assert (target / CONFIG).read_text() == "load_priority=tiny\n"
    good(packages["1.0"], path_option(target), "--uninstall")
    assert not target.exists()


def test_conflict_is_reported(packages: dict[str, Path], target: Path, tmp_path: Path) -> None:
    good(packages["1.0"], path_option(target))
    done = run(packages["other"], path_option(target))
    assert done.returncode == 0
    assert f"conflict: TinyGrad also in {target}/vendors/tiny" in done.stderr
    assert "load_priority=other,tiny" in done.stderr
    # A package that has the operator in its configuration only, in a folder of the environment.
    info = tmp_path / "env/vendors/far/op_impl/ai_core/tbe/config/x/aic-x-ops-info.json"
    info.parent.mkdir(parents=True)
    info.write_text('{ "TinyGrad" : {} }')
    done = run(
        packages["other"], path_option(tmp_path / "b"), ASCEND_OPP_PATH=str(tmp_path / "env")
    )
    assert done.returncode == 0 and "env/vendors/far" in done.stderr


def test_config_of_others_is_kept(one: Path, target: Path) -> None:
    config = target / CONFIG
    config.parent.mkdir(parents=True)
    config.write_text("# by hand\n load_priority = a , b,a\nother=1")
    config.chmod(0o640)
    good(one, path_option(target))
    assert config.read_text() == "load_priority=tiny,a,b,a\n# by hand\nother=1\n"
    assert config.stat().st_mode & 0o777 == 0o644, "other users read it"
    good(one, path_option(target), "--uninstall")
    assert config.read_text() == "load_priority=a,b,a\n# by hand\nother=1\n"


def test_failing_self_test_restores_the_state_before(one: Path, tmp_path: Path) -> None:
    bad = content("3.0", self_test="#!/usr/bin/env bash\necho wrong result\nexit 1\n")
    script = write(tmp_path / "bad", bad)
    target = tmp_path / "opp"
    assert "wrong result" in refused(script, path_option(target), match="does not work here")
    assert not target.exists()
    good(one, path_option(target))
    before = snapshot(target)
    refused(script, path_option(target), "--upgrade", match="does not work here")
    assert snapshot(target) == before


def test_self_test_sees_the_installed_package(tmp_path: Path) -> None:
    text = '#!/usr/bin/env bash\necho "$ASCEND_CUSTOM_OPP_PATH $LD_LIBRARY_PATH $0"\n'
    script = write(tmp_path, content(self_test=text))
    out = good(script, path_option(tmp_path / "opp"), ASCEND_CUSTOM_OPP_PATH="/x")
    folder = tmp_path / "opp/vendors/tiny"
    assert f"{folder}:/x {folder}/op_api/lib {folder}/bin/self_test" in out


# --- Interruptions ---


def acceptable(target: Path, states: list[dict[str, object]]) -> None:
    """Each part that a loader sees is that of one of the states, and whole."""
    now = {key: value for key, value in snapshot(target).items() if ".install" not in key}
    parts: tuple[Callable[[str], bool], ...] = (
        lambda name: name.startswith("vendors/tiny"),
        lambda name: name == CONFIG,
    )
    for part in parts:
        mine = {name: value for name, value in now.items() if part(name)}
        wanted = [{n: v for n, v in state.items() if part(n)} for state in states]
        assert mine in wanted, sorted(mine)


@dataclasses.dataclass
class Scenario:
    """A run, the state before it as a folder to copy, and the state after it."""

    script: Path
    words: list[str]
    before: Path
    target: Path
    old: dict[str, object]
    new: dict[str, object]

    def reset(self) -> None:
        shutil.rmtree(self.target, ignore_errors=True)
        if self.before.exists():
            shutil.copytree(self.before, self.target, symlinks=True)

    def now(self) -> dict[str, object]:
        return snapshot(self.target)


@pytest.fixture(params=["install", "upgrade", "uninstall"])
def scenario(request: pytest.FixtureRequest, packages: dict[str, Path], tmp_path: Path) -> Scenario:
    before, target = tmp_path / "before", tmp_path / "opp"
    script = packages["2.0" if request.param == "upgrade" else "1.0"]
    words = [] if request.param == "install" else [f"--{request.param}"]
    if words:
        good(packages["1.0"], path_option(before))
    made = Scenario(script, words, before, target, snapshot(before), {})
    made.reset()
    good(script, path_option(target), *words)
    made.new = made.now()
    return made


def without_records(state: dict[str, object]) -> dict[str, object]:
    """Without what depends on which folders were there when a run began."""
    return {k: v for k, v in state.items() if k != "vendors" and not k.endswith("install.info")}


def test_killed_at_every_step(scenario: Scenario, tmp_path: Path) -> None:
    tools = faulty_tools(tmp_path / "tools", STEPS)
    option, aside = path_option(scenario.target), 0
    for at in range(1, 200):
        scenario.reset()
        if stopped(scenario.script, option, *scenario.words, tools=tools, at=at) is None:
            break
        there = (scenario.target / "vendors/tiny").exists()
        if scenario.words == ["--upgrade"] and not there:
            # Without the tool that exchanges names there is a moment between two renames.
            aside += 1
        else:
            acceptable(scenario.target, [scenario.old, scenario.new])
        done = run(scenario.script, option, *scenario.words)
        assert done.returncode == 0 or "not installed" in done.stderr, done.stderr
        assert without_records(scenario.now()) == without_records(scenario.new), at
    assert 5 < at < 199
    assert aside <= 1


def test_failing_tools_change_nothing(scenario: Scenario, tmp_path: Path) -> None:
    tools = faulty_tools(tmp_path / "tools")
    option = path_option(scenario.target)
    for at in range(1, 200):
        scenario.reset()
        status = stopped(scenario.script, option, *scenario.words, tools=tools, at=at, how="fail")
        if status is None:
            break
        log = (tools / "count.log").read_text().splitlines()[at - 1]
        (tools / "count.log").unlink()
        now, wanted = scenario.now(), scenario.old if status else scenario.new
        if log.startswith(("rm ", "rmdir ")):
            # What cannot be removed stays in the hidden folder until the next run.
            now = {k: v for k, v in now.items() if ".install" not in k and k != "vendors"}
            wanted = {k: v for k, v in wanted.items() if k != "vendors"}
        assert now == wanted, f"{at}: {log}"
    assert 5 < at < 199


def test_renames_that_stop_working_lose_nothing(packages: dict[str, Path], tmp_path: Path) -> None:
    """Where not even the undoing works, the next run has one of the versions, whole."""
    tools, target = faulty_tools(tmp_path / "tools", ("mv",)), tmp_path / "opp"
    option = path_option(target)
    states = []
    for version in ("2.0", "1.0"):
        good(packages[version], option)
        states.append(snapshot(target))
    kept = 0
    for at in range(1, 20):
        status = stopped(packages["2.0"], option, tools=tools, at=at, how="break")
        if status is None:
            break
        assert status == 1
        kept += (target / "vendors/.tiny.install").exists()
        # A package with nothing to do here: it only cleans up.
        run(packages["third"], option, "--upgrade")
        assert snapshot(target) in states, at
        good(packages["1.0"], option)
    assert 3 < at < 19 and kept


def test_killed_during_the_self_test(tmp_path: Path) -> None:
    slow = write(tmp_path, content(self_test="#!/usr/bin/env bash\nkill -9 0\n"))
    target = tmp_path / "opp"
    done = subprocess.run(
        ["bash", str(slow), path_option(target)],
        start_new_session=True,
        env=clean_environment(),
        capture_output=True,
        timeout=600,
    )
    assert done.returncode < 0 and (target / "vendors/.tiny.install").is_dir()
    assert (target / CONFIG).read_text() == "load_priority=tiny\n"
    calm = write(tmp_path / "calm", content("1.1", self_test=SKIPPING))
    assert "cleaning up" in good(calm, path_option(target))
    assert not (target / "vendors/.tiny.install").exists()


def test_interrupted_self_test_restores(tmp_path: Path) -> None:
    # The terminal's Ctrl-C reaches every process of the run.
    text = "#!/usr/bin/env bash\ntrap 'exit 130' INT\nkill -INT 0\nsleep 5\n"
    script = write(tmp_path, content(self_test=text))
    target = tmp_path / "opp"
    done = subprocess.run(
        ["bash", str(script), path_option(target)],
        start_new_session=True,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode != 0 and "restored" in done.stderr, done.stderr
    assert not target.exists()


def test_remains_of_another_vendor_are_removed(packages: dict[str, Path], tmp_path: Path) -> None:
    tools = faulty_tools(tmp_path / "tools", ("tar",))
    target = tmp_path / "opp"
    stopped(packages["third"], path_option(target), tools=tools, at=2)
    assert (target / "vendors/.third.install").is_dir()
    good(packages["1.0"], path_option(target))
    assert sorted(p.name for p in (target / "vendors").iterdir()) == ["config.ini", "tiny"]


def test_concurrent_runs_are_serialised(packages: dict[str, Path], tmp_path: Path) -> None:
    target = tmp_path / "opp"
    plan = [
        (packages["1.0"], []),
        (packages["2.0"], []),
        (packages["third"], []),
        (packages["1.0"], []),
        (packages["third"], ["--uninstall"]),
        (packages["2.0"], ["--install"]),
    ]
    runs = [
        subprocess.Popen(
            ["bash", str(script), path_option(target), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=clean_environment(),
        )
        for script, words in plan
    ]
    texts = [process.communicate(timeout=600)[0] for process in runs]
    for process, text, (_, words) in zip(runs, texts, plan, strict=True):
        assert process.returncode == 0 or (words and "not installed" in text), text
    vendors = {p.name for p in (target / "vendors").iterdir()}
    assert vendors <= {"config.ini", "tiny", "third"} and "tiny" in vendors
    listed = (target / CONFIG).read_text().strip().removeprefix("load_priority=").split(",")
    assert sorted(listed) == sorted(vendors - {"config.ini"})
    for name in listed:
        assert "ok: " in good(target / "vendors" / name / "scripts/uninstall.sh", "--check")


# --- Where nothing can be written, and bare machines ---


def test_full_disk_before_and_during(one: Path, tmp_path: Path) -> None:
    target = tmp_path / "opp"
    tools = faulty_tools(tmp_path / "tools", ("df",))
    (tools / "df").write_text("#!/bin/bash\necho Avail; echo 7\n")
    refused(one, path_option(target), match="has 0 MB free", PATH=str(tools))
    assert not target.exists()
    message = "tar: cannot write: No space left on device"
    count = tools / "count"
    for name, at in (("tar", 2), ("mkdir", 5)):
        tools = faulty_tools(tmp_path / f"tools-{name}", (name,))
        count = tools / "count"
        count.write_text("0\n")
        environment = {"TOOL_COUNT": str(count), "TOOL_STOP": str(at), "TOOL_HOW": "fail"}
        more = {"PATH": str(tools), "TOOL_MESSAGE": message, **environment}
        refused(one, path_option(target), match="is full; nothing was changed", **more)
        assert not target.exists()


def test_file_size_limit(tmp_path: Path) -> None:
    big = write(tmp_path, content(more={"op_impl/big.bin": os.urandom(300_000)}))
    target = tmp_path / "opp"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = subprocess.run(
        ["bash", str(big), path_option(target)],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=600,
    )
    assert done.returncode == 1 and "nothing was changed" in done.stderr
    assert not target.exists()


def inside_mount(words: str) -> subprocess.CompletedProcess[str]:
    """Run with mounts of its own."""
    return subprocess.run(
        ["unshare", "-m", "bash", "-c", words],
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=600,
    )


can_mount = pytest.mark.skipif(
    shutil.which("unshare") is None
    or os.geteuid() != 0
    or inside_mount("mount -t tmpfs none /mnt").returncode != 0,
    reason="mounting needs root",
)


@can_mount
def test_a_disk_that_is_really_full(one: Path, tmp_path: Path) -> None:
    big = write(tmp_path, content(more={"op_impl/big.bin": bytes(3_000_000)}))
    disk = tmp_path / "disk"
    disk.mkdir()
    # df's answer is not believed: the write itself fails.
    tools = faulty_tools(tmp_path / "tools", ("df",))
    (tools / "df").write_text("#!/bin/bash\necho Avail; echo 99999999\n")
    script = (
        f"mount -t tmpfs -o size=1m none {disk} && bash {one} {path_option(disk)} &&"
        f" ls -lR --time-style=+ {disk} > {tmp_path}/before &&"
        f" ! PATH={tools} bash {big} {path_option(disk)} &&"
        f" ls -lR --time-style=+ {disk} | cmp - {tmp_path}/before && ls -A {disk}/vendors"
    )
    done = inside_mount(script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "is full; nothing was changed" in done.stderr
    assert done.stdout.endswith("config.ini\ntiny\n")


@can_mount
def test_read_only_file_system(one: Path, two: Path, tmp_path: Path) -> None:
    target = tmp_path / "opp"
    good(one, path_option(target))
    before = snapshot(target)
    for script, words in ((two, ""), (two, "--upgrade"), (one, "--uninstall")):
        done = inside_mount(
            f"mount --bind {target} {target} && mount -o remount,ro,bind {target} &&"
            f" bash {script} {path_option(target)} {words}"
        )
        assert done.returncode == 1 and "read-only file system" in done.stderr, done.stderr
        assert "Next: " in done.stderr
    assert snapshot(target) == before


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that other users may enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="other users need root and setpriv"
)


@needs_root
def test_bare_user_installs_and_others_read(one: Path, public_folder: Path) -> None:
    """No HOME, no environment, only the tools that are promised."""
    script = Path(shutil.copy(one, public_folder))
    mine = public_folder / "mine"
    mine.mkdir()
    os.chown(mine, 65534, 65534)
    tools = tool_folder(public_folder / "tools")
    environment = {"PATH": str(tools), "HOME": "/nonexistent"}
    command = ["/usr/bin/env", "-i", *(f"{k}={v}" for k, v in environment.items()), "bash"]

    def bare(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*as_nobody, *command, str(script), *words],
            capture_output=True,
            text=True,
            cwd="/",
            timeout=600,
        )

    for words in (["--check"], [path_option(mine)], ["--list", path_option(mine)]):
        done = bare(*words)
        assert done.returncode == 0 and not done.stderr, done.stderr
    done = bare(path_option(public_folder / "roots"))
    assert done.returncode == 1 and "cannot write" in done.stderr and "owner root" in done.stderr
    done = bare(path_option(mine), "--uninstall")
    assert done.returncode == 0 and not list(mine.iterdir())

    # Installed by root with a closed umask, read by the others; not removed by them.
    subprocess.run(
        ["bash", "-c", f"umask 077; bash {script} {path_option(public_folder / 'roots')}"],
        check=True,
        env=clean_environment(),
        capture_output=True,
    )
    reading = [*as_nobody, "sha256sum", "--quiet", "-c", "manifest.sha256"]
    folder = public_folder / "roots/vendors/tiny"
    assert subprocess.run(reading, cwd=folder).returncode == 0
    assert subprocess.run([*as_nobody, "cat", folder.parent / "config.ini"]).returncode == 0
    done = bare(path_option(public_folder / "roots"), "--uninstall")
    assert done.returncode == 1 and "cannot write" in done.stderr
    (folder / "version.info").chmod(0o600)
    command = [*as_nobody, "bash", str(folder / "scripts/uninstall.sh"), "--check"]
    check = subprocess.run(command, capture_output=True, text=True)
    assert check.returncode == 1 and "version.info: cannot be read" in check.stderr


def test_missing_tool_is_named(one: Path, tmp_path: Path) -> None:
    tools = tool_folder(tmp_path / "tools")
    (tools / "flock").unlink()
    refused(one, path_option(tmp_path / "opp"), match="apt-get install util-linux", PATH=str(tools))


def test_plain_sh_finds_bash(one: Path) -> None:
    done = subprocess.run(
        ["sh", str(one), "--check"], capture_output=True, text=True, env=clean_environment()
    )
    assert done.returncode == 0 and done.stdout.startswith("ok: ")


def test_manifest_of_links_is_that_of_their_goal() -> None:
    made = content()
    listed = {
        line.split("  ")[1]: line.split("  ")[0] for line in archive.manifest(made).splitlines()
    }
    link = next(iter(made.links))
    assert listed[link] == listed[TILING] == hashlib.sha256(made.files[TILING]).hexdigest()


# --- What is derived from the specs ---


@pytest.mark.parametrize("spec", all_specs(), ids=lambda spec: spec.op)
def test_ops_info_says_what_the_op_definition_says(spec: OpSpec) -> None:
    """CANN makes this file from the OpDef; here it is made from the spec. They must agree."""
    text = (ROOT / f"op_host/{spec.op}/{spec.op}_def.cpp").read_text()
    families = [item for item in FAMILIES if spec.kernels_on(item)]
    assert {item.name for item in families} == set(re.findall(r'AddConfig\("(\w+)"', text))
    attrs = re.findall(r'Attr\("(\w+)"\)\.AttrType\(OPTIONAL\)\.(\w+)\((.*?)\);', text)
    optional = set(re.findall(r'Input\("(\w+)"\)[^;]*OPTIONAL', text))
    for item, op in itertools.product(families, of_spec(spec)):
        info = package.ops_info(op, item)
        assert f'"{info["opFile"]["value"]}"' in text and f"OP_ADD({op.op_type});" in text
        tensors = [v for k, v in info.items() if re.match(r"(in|out)put\d+$", k)]
        assert {v["name"] for v in tensors if v["paramType"] == "optional"} == optional
        for entry in tensors:
            assert f'"{entry["name"]}"' in text
            assert len(entry["dtype"].split(",")) == len(spec.kernels_on(item))
        listed = info.get("attr", {"list": ""})["list"]
        assert listed == ",".join(name for name, _, _ in attrs)
        for name, kind, value in attrs:
            entry = info[f"attr_{name}"]
            assert entry["type"].lower() == {"String": "str"}.get(kind, kind).lower()
            assert entry["defaultValue"].strip("[]") == value.strip('{}"F')


def test_op_proto_declares_every_operator() -> None:
    text = package.op_proto(op for spec in all_specs() for op in of_spec(spec))
    for spec, op_type in [(each, name) for each in all_specs() for name in each.types]:
        block = text.partition(f"REG_OP({op_type})\n")[2].partition(";")[0]
        assert block.endswith(f".OP_END_FACTORY_REG({op_type})")
        words = re.findall(r"\.(?:OPTIONAL_)?(?:INPUT|OUTPUT|ATTR)\((\w+)", block)
        tensors = [item.name for item in (*spec.inputs, *spec.outputs)]
        assert words == tensors + [attr.name for attr in spec.attrs]
    assert '.ATTR(reduction, String, "mean")' in text and ".ATTR(axes, ListInt, {-1})" in text


def test_command_refuses_with_the_next_step(tmp_path: Path) -> None:
    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "aclgrad", "package", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=clean_environment(ACLGRAD_TOOLKIT="/nonexistent", COLUMNS="200"),
        )

    text = command("--help").stdout
    for option in ("--soc", "--vendor", "--output", "--device", "--from", "--json"):
        assert option in text
    done = command()
    assert done.returncode == 1 and "Next: " in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_build_script_packs_instead_of_testing(tmp_path: Path) -> None:
    """Which commands scripts/build.sh --pkg runs, in a checkout whose environment only records."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    project = tmp_path / "pyproject.toml"
    project.touch()
    commands = tmp_path / ".venv/bin"
    commands.mkdir(parents=True)
    # A set-up that wants to install something must not do it to the Python that runs the tests.
    python = f'#!/bin/sh\ncase "$*" in *"-m pip"*) exit 1;; esac\nexec {sys.executable} "$@"\n'
    (commands / "python").write_text(python)
    (commands / "python").chmod(0o755)
    (commands / "aclgrad").write_text('#!/usr/bin/env bash\necho "aclgrad $*"\n')
    (commands / "aclgrad").chmod(0o755)
    (tmp_path / "requirements").mkdir()
    for name in ("locked.txt", "tools.in"):
        (tmp_path / "requirements" / name).touch()
    nothing = hashlib.sha256(b"").hexdigest()  # no modules, and three empty files
    (commands.parent / ".aclgrad-locked").touch()
    for extra in ("test", "wheel"):
        stamp = commands.parent / f".aclgrad-stamp-{extra}"
        stamp.write_text(f"{' '.join([nothing] * 4)} {tmp_path}\n")
    (tmp_path / "scripts/wheel.py").write_text("import sys\nprint('wheel.py', *sys.argv[1:])\n")

    def script(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", str(tmp_path / "scripts/build.sh"), *words],
            capture_output=True,
            text=True,
            env=clean_environment(CXX="bash"),
        )

    done = script("--pkg", "--soc=Ascend310P3", "--vendor", "my-lab")
    assert done.returncode == 0, done.stderr
    build, pack = done.stdout.splitlines()
    assert build.startswith("aclgrad build")
    assert pack.startswith("aclgrad package") and pack.endswith(f"--output {tmp_path}/dist")
    assert "--soc Ascend310P3" in pack and "--vendor my-lab" in pack and "--shipped" in pack
    build, wheel, test = script().stdout.splitlines()
    assert build.startswith("aclgrad build") and wheel == "wheel.py --of-build"
    assert test.startswith("aclgrad test --shipped")
    for words in (["--debug"], ["--ops", "softmax_grad"], ["--no-test"]):
        assert "wheel.py" not in script(*words).stdout, words  # not the whole, or not optimised
    for words in (["--pkg", "--ops", "softmax_grad"], ["--vendor", "x"]):
        done = script(*words)
        assert done.returncode == 1 and "Next: " in done.stderr and not done.stdout
