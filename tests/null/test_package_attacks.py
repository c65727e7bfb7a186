# SPDX-License-Identifier: Apache-2.0
"""The installer where somebody or something is hostile: cut files, full disks, edits, planted
libraries, odd names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from package_files import (
    SKIPPING,
    TILING,
    clean_environment,
    content,
    faulty_tools,
    good,
    refused,
    run,
    stopped,
    write,
)
from test_package_run import can_mount, inside_mount, path_option, split

pytestmark = [
    pytest.mark.journey,
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in ("bash", "tar", "gzip", "flock")),
        reason="bash, tar, gzip, flock",
    ),
]


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("one"), content("1.0"))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("two"), content("2.0"))


# --- Cut files ---


def cuts(file: Path) -> list[int]:
    """Every line end of the script but the first line's, of which bash sees a comment; places in
    each of its last lines and in the archive.
    """
    data = file.read_bytes()
    script, payload = split(file)
    first = script.index(b"\n") + 1
    ends = [at + 1 for at, byte in enumerate(script) if byte == ord("\n") and at >= first]
    words = list(range(first + 1, first + 80, 7)) + list(range(len(script) - 40, len(script)))
    behind = {len(script) + 1, len(script) + len(payload) // 2, len(data) - 1}
    return sorted({*ends, *words, *behind})


@pytest.mark.parametrize("words", [(), ("--help",), ("--list",)])
def test_a_cut_file_never_succeeds(words: tuple[str, ...], one: Path, tmp_path: Path) -> None:
    """Neither by bash nor by sh, and nothing is installed."""
    data, target = one.read_bytes(), tmp_path / "opp"
    broken = tmp_path / "cut.run"
    places = cuts(one)
    assert len(places) > 500
    # Bash reads to the end before it runs: one check per kind of place is enough for other words.
    if words:
        places = [*places[:20], *places[20::60], *places[-45:]]
    command = ["bash", "-c", 'for size; do head -c "$size" "$whole" > "$cut"; '
               'bash "$cut" $words >/dev/null 2>&1 && echo "$size"; done; :', "-",
               *map(str, places)]  # fmt: skip
    environment = clean_environment(
        whole=str(one), cut=str(broken), words=" ".join([f"--install-path={target}", *words])
    )
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert not done.stdout, f"cut after {done.stdout.split()} of {len(data)} bytes: status 0"
    assert not target.exists()


def test_a_cut_file_says_so(one: Path, tmp_path: Path) -> None:
    script, payload = split(one)
    broken = tmp_path / "cut.run"
    for size in (0, 1, len(payload) // 2, len(payload) - 1):
        broken.write_bytes(script + payload[:size])
        for word in ("--help", "--list", "--check", path_option(tmp_path / "opp")):
            refused(broken, word, match=f"bytes, want {len(script) + len(payload)}")
    broken.write_bytes(one.read_bytes() + b"\n")
    refused(broken, "--check", match="want")


def test_by_sh_and_by_its_name(one: Path) -> None:
    for command in (["sh", str(one)], [str(one)]):
        done = subprocess.run([*command, "--check"], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.startswith("ok: "), done.stderr


# --- What a user has edited ---


def edit(vendor: Path) -> dict[str, bytes]:
    """Change two files and the permissions of a third; returns what must not be lost."""
    (vendor / TILING).write_bytes(b"mine")
    with (vendor / "version.info").open("ab") as file:
        file.write(b"note=mine\n")
    (vendor / "op_api/include/aclnnop/aclnn_tiny.h").chmod(0o600)
    return {TILING: b"mine", "version.info": (vendor / "version.info").read_bytes()}


def saved(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("manifest.sha256", "install.info")
    }


def test_uninstalling_keeps_edited_files_and_says_so(one: Path, tmp_path: Path) -> None:
    target = tmp_path / "opp"
    for number in ("", ".2"):
        good(one, path_option(target))
        mine = edit(target / "vendors/tiny")
        done = run(target / "vendors/tiny/scripts/uninstall.sh")
        assert done.returncode == 0
        assert f"kept in {target}/tiny.saved{number} " in done.stderr
        assert all(name in done.stderr for name in mine)
        assert saved(target / f"tiny.saved{number}") == mine
        assert not (target / "vendors").exists()


@pytest.mark.parametrize("words", [("--upgrade",), ("--install",)])
def test_replacing_keeps_edited_files(
    words: tuple[str, ...], one: Path, two: Path, tmp_path: Path
) -> None:
    target = tmp_path / "opp"
    good(one, path_option(target))
    mine = edit(target / "vendors/tiny")
    done = run(two, path_option(target), *words)
    assert done.returncode == 0 and "kept in" in done.stderr
    assert saved(target / "tiny.saved") == mine
    good(two, path_option(target), "--check")
    assert (target / "vendors/tiny" / TILING).read_bytes() == b"tiling of tiny 2.0"


@pytest.mark.parametrize("word", ["--uninstall", "--upgrade"])
def test_edited_files_survive_a_kill_at_any_step(
    word: str, one: Path, two: Path, tmp_path: Path
) -> None:
    target, before = tmp_path / "opp", tmp_path / "before"
    good(one, path_option(before))
    mine = edit(before / "vendors/tiny")
    tools = faulty_tools(tmp_path / "tools", ("mkdir", "mv", "rm", "rmdir"))
    for at in range(1, 60):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(before, target, symlinks=True)
        ended = stopped(two, path_option(target), word, tools=tools, at=at)
        run(two, path_option(target), word)
        assert saved(target / "tiny.saved") == mine, at
        assert not list((target / "vendors").glob(".*")), at
        if ended is None:
            break
    assert 8 < at < 59


def test_a_failed_install_keeps_the_edits_in_place(one: Path, tmp_path: Path) -> None:
    bad = write(tmp_path, content("3.0", self_test="#!/usr/bin/env bash\nexit 1\n"))
    target = tmp_path / "opp"
    good(one, path_option(target))
    mine = edit(target / "vendors/tiny")
    refused(bad, path_option(target), match="does not work here")
    assert {name: (target / "vendors/tiny" / name).read_bytes() for name in mine} == mine
    assert not (target / "tiny.saved").exists()


# --- Full disks ---


@can_mount
@pytest.mark.parametrize("others", [False, True], ids=["alone", "with others"])
@pytest.mark.parametrize("limit", ["size=1m", "size=1m,nr_inodes=100"])
def test_uninstalling_on_a_full_disk(limit: str, others: bool, one: Path, tmp_path: Path) -> None:
    """Not a byte and not a name is free, for temporary files either."""
    other = write(tmp_path, content("1.0", "other"))
    disk = tmp_path / "disk"
    disk.mkdir()
    fill = f"cat /dev/zero > {disk}/full 2>/dev/null; : > {disk}/last; "
    if "inodes" in limit:
        fill += f"n=0; while : > {disk}/f$((n++)); do :; done 2>/dev/null; "
    script = (
        f"mount -t tmpfs -o {limit} none {disk} && bash {one} --quiet {path_option(disk)}"
        + (f" && bash {other} --quiet {path_option(disk)}" if others else "")
        + f"; {fill} export TMPDIR={disk};"
        f" bash {disk}/vendors/tiny/scripts/uninstall.sh; echo status $?;"
        f" cd {disk} && ls -A vendors; cat vendors/config.ini"
    )
    done = inside_mount(script)
    assert "status 0\n" in done.stdout and "removed tiny" in done.stdout, done.stdout + done.stderr
    rest = done.stdout.partition("status 0\n")[2]
    assert rest == ("config.ini\nother\nload_priority=other\n" if others else ""), rest


@can_mount
def test_edited_files_on_a_full_disk(one: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    script = (
        f"mount -t tmpfs -o size=1m none {disk} && bash {one} --quiet {path_option(disk)};"
        f" echo mine > {disk}/vendors/tiny/{TILING}; cat /dev/zero > {disk}/full 2>/dev/null;"
        f" TMPDIR={disk} bash {disk}/vendors/tiny/scripts/uninstall.sh;"
        f" cat {disk}/tiny.saved/{TILING}"
    )
    done = inside_mount(script)
    assert done.stdout.endswith("mine\n") and "removed tiny" in done.stdout, done.stderr


def test_killed_while_uninstalling_on_a_full_disk(one: Path, two: Path, tmp_path: Path) -> None:
    """The folder that such a run leaves is finished by the next one."""
    target = tmp_path / "opp"
    good(one, path_option(target))
    (target / "vendors/tiny").rename(target / "vendors/.tiny.removed")
    (target / "vendors/.tiny.removed" / TILING).write_text("mine")
    refused(two, path_option(target), "--uninstall", match="not installed")
    assert saved(target / "tiny.saved") == {TILING: b"mine"}
    assert [path.name for path in target.iterdir()] == ["tiny.saved"]


# --- Folders and libraries of others ---


@pytest.mark.skipif(os.geteuid() != 0, reason="folders of another user: root only")
def test_folders_that_others_may_write(one: Path, tmp_path: Path) -> None:
    for name, mode, owner in (("all", 0o777, 0), ("sticky", 0o1777, 0), ("theirs", 0o755, 12345)):
        folder = tmp_path / name
        folder.mkdir()
        os.chown(folder, owner, owner)
        folder.chmod(mode)
        for target in (folder, folder / "below"):
            done = run(one, path_option(target))
            assert done.returncode == 0
            # The sticky bit protects what root makes below.
            safe = name == "sticky" and target != folder
            assert (f"warning: all users may write {folder}:" in done.stderr) == (
                mode & 2 == 2 and not safe
            ), (name, done.stderr)
            assert ("belongs to user 12345" in done.stderr) == (owner != 0)
    done = run(one, path_option(tmp_path / "mine"))
    assert done.returncode == 0 and not done.stderr


def test_relative_entries_are_no_place_for_libraries(tmp_path: Path) -> None:
    """An empty or relative entry of LD_LIBRARY_PATH is the folder that one happens to be in."""
    text = '#!/usr/bin/env bash\necho "[$LD_LIBRARY_PATH] [$ASCEND_HOME_PATH]"\n'
    script = write(tmp_path, content(self_test=text))
    own = f"{tmp_path}/opp/vendors/tiny/op_api/lib"
    for given, kept in (
        ("", ""), (":", ""), (":/a b:", ":/a b"), ("lib:/a::./b:/c", ":/a:/c"), (".", ""),
    ):  # fmt: skip
        out = good(script, path_option(tmp_path / "opp"), LD_LIBRARY_PATH=given)
        assert f"[{own}{kept}] []" in out, (given, out)
        good(script, path_option(tmp_path / "opp"), "--uninstall")


def test_which_toolkit_the_self_test_is_told(tmp_path: Path) -> None:
    script = write(tmp_path, content(self_test='#!/usr/bin/env bash\necho "[$ASCEND_HOME_PATH]"\n'))
    target = tmp_path / "kit/opp"
    target.mkdir(parents=True)
    home = {"ASCEND_HOME_PATH": "/home/kit"}
    for words, environment, want in (
        ((path_option(target),), {}, ""),
        ((path_option(target),), home, "/home/kit"),
        ((path_option(target), "--toolkit=/other kit"), home, "/other kit"),
        ((), {"ASCEND_OPP_PATH": str(target)}, str(target.parent)),
        ((), {"ASCEND_OPP_PATH": str(target), **home}, "/home/kit"),
        ((), {"ASCEND_CUSTOM_OPP_PATH": str(target)}, ""),
    ):
        assert f"[{want}]\n" in good(script, *words, **environment)
        good(script, path_option(target), "--uninstall")
    refused(script, "--toolkit=kit", match="absolute path")


# --- Odd names ---


@pytest.mark.parametrize(
    "name",
    ["two  words", "$(touch hit)", "`touch hit`", "a'b\"c", "-rf", "ü😀", "*?[x]", "a\\b", "#"],
)
def test_odd_prefixes(name: str, one: Path, tmp_path: Path) -> None:
    target = tmp_path / name / "opp"
    out = good(one, path_option(target))
    # What it says to run, can be run.
    command = out.partition("use it: source ")[2].strip()
    named = subprocess.run(["bash", "-c", f"printf %s {command}"], capture_output=True).stdout
    assert named.decode() == str(target / "vendors/tiny/bin/set_env.bash")
    assert "ok: " in good(target / "vendors/tiny/scripts/uninstall.sh", "--check")
    good(one, path_option(target), "--list")
    good(target / "vendors/tiny/scripts/uninstall.sh")
    assert not list(tmp_path.glob("**/hit")) and not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["a:b", "a;b", "a\nb", "a\tb", "a\x1b[31mb"])
def test_prefixes_that_lists_of_paths_cannot_name(name: str, one: Path, tmp_path: Path) -> None:
    refused(one, path_option(tmp_path / name), match="Next: --install-path=DIR")


def test_odd_folder_of_the_file_itself(tmp_path: Path) -> None:
    folder = tmp_path / "-- $(touch hit) \n'"
    script = write(folder, content(self_test=SKIPPING))
    done = subprocess.run(
        ["bash", f"./{script.name}", path_option(tmp_path / "opp")],
        cwd=folder,
        capture_output=True,
        text=True,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("**/hit"))
