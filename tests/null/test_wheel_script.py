# SPDX-License-Identifier: Apache-2.0
"""scripts/wheel.sh: what it refuses, that archives are equal, and that the comparison can fail."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import wheel  # noqa: E402
import wheel_proof  # noqa: E402

RECORD = "a-1.dist-info/RECORD"
FILES = {"a/lib.so": (b"\x7fELF", True), RECORD: (b"", False), "a/__init__.py": (b"x = 1\n", False)}


def test_a_wheel_has_the_same_bytes_whatever_came_first(tmp_path: Path) -> None:
    one, other = tmp_path / "one.whl", tmp_path / "other.whl"
    wheel.write_wheel(one, FILES, "1700000000")
    umask = os.umask(0o077)
    try:
        wheel.write_wheel(other, dict(reversed(FILES.items())), "1700000000")
    finally:
        os.umask(umask)
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as archive:
        assert archive.namelist() == ["a/__init__.py", "a/lib.so", RECORD]
        modes = [item.external_attr >> 16 & 0o777 for item in archive.infolist()]
        assert modes == [0o644, 0o755, 0o644]
        digest = base64.urlsafe_b64encode(hashlib.sha256(b"x = 1\n").digest()).rstrip(b"=")
        lines = archive.read(RECORD).decode().splitlines()
    assert lines[0] == f"a/__init__.py,sha256={digest.decode()},6" and lines[-1] == f"{RECORD},,"


def test_what_differs_is_named(tmp_path: Path) -> None:
    one, other = tmp_path / "one.whl", tmp_path / "other.whl"
    wheel.write_wheel(one, FILES, "1700000000")
    wheel.write_wheel(other, FILES | {"a/lib.so": (b"\x7fELF2", True)}, "1700000000")
    assert wheel.difference(one, other).startswith("2 files, first a/lib.so")
    wheel.write_wheel(other, FILES, "1700000002")
    assert wheel.difference(one, other) == "times or modes"
    wheel.write_wheel(other, FILES | {"a/more": (b"", False)}, "1700000000")
    assert "a/more" in wheel.difference(one, other)


def test_a_checkout_has_one_wheel_of_what_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is packed twice; what was edited is packed anew, and the older wheel goes."""
    source, dist = tmp_path / "source", tmp_path / "dist"
    parts = (
        "pyproject.toml",
        "README.md",
        "CMakeLists.txt",
        "build/sim/toolkit/a.so",
        "python/a.py",
    )
    for name in parts:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("")
    versions = iter(("1", "2", "3", "4"))

    def packed(arch: str, of: Path, toolkit: Path, output: Path, *, debug: bool) -> list[Path]:
        assert of == source and toolkit == source / "build/sim/toolkit" and not debug
        made = output / f"aclgrad-{next(versions)}-py3-none-linux_{arch}.whl"
        made.write_text("")
        return [made]

    monkeypatch.setattr(wheel, "ROOT", source)
    monkeypatch.setattr(wheel, "wheels", packed)
    first = wheel.of_checkout(dist)
    assert first is not None and first.is_file()
    assert wheel.of_checkout(dist) is None
    for name in parts:
        os.utime(source / name)
    assert wheel.of_checkout(dist) is None
    edited = source / "python/a.py"
    edited.write_text("x = 1\n")
    os.utime(edited, (1, 1))  # an older time, as of a file that was put back
    second = wheel.of_checkout(dist)
    assert second is not None and list(dist.glob("*.whl")) == [second] != [first]
    edited.unlink()
    third = wheel.of_checkout(dist)
    assert third is not None and list(dist.glob("*.whl")) == [third]
    third.write_text("cut off")
    assert wheel.of_checkout(dist) is not None


def test_the_comparison_fails() -> None:
    same: dict[str, list[object]] = {"t[1]": [64, "ab"], "t[2]": [8, "cd"]}
    assert wheel_proof.compared(same, same).startswith("72 bytes of results in 2 tests")
    for other in ({"t[1]": [64, "ab"], "t[2]": [8, "ce"]}, {"t[1]": [64, "ab"]}):
        with pytest.raises(wheel.WheelError, match=r"1 of 2 tests:\n  t\[2\]"):
            wheel_proof.compared(same, dict(other))
    with pytest.raises(wheel.WheelError):
        wheel_proof.compared({}, {})


def test_an_installer_has_to_test_itself_and_leave_nothing(tmp_path: Path) -> None:
    """Scripts in place of the package's own."""
    installer = tmp_path / "package.run"

    def tried(lines: str) -> str:
        installer.write_text(lines)
        return wheel_proof.installed("aarch64", installer, tmp_path, {})

    said = tried('[[ $2 == --uninstall ]] || echo "self-test: aclnnFoo ok"')
    if "not tried" in said:
        pytest.skip(said)
    assert said == "package.run: installed, 1 operators tested, removed"
    with pytest.raises(wheel.WheelError, match="no self-test"):
        tried("true")
    with pytest.raises(wheel.WheelError, match="something is left"):
        tried('echo "self-test: aclnnFoo ok"; touch "${1#--install-path=}/left"')
    with pytest.raises(wheel.WheelError, match="failed"):
        tried("exit 1")


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    with pytest.raises(wheel.WheelError, match=r"apt-get install g\+\+-aarch64-linux-gnu"):
        wheel.need("aarch64")
    with pytest.raises(wheel.WheelError, match="apt-get install qemu-user, or --no-prove"):
        wheel_proof.need("aarch64")
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(wheel.WheelError, match=r"no cmake/x86_64.cmake.*leave --arch out"):
        wheel.need("x86_64")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--arch", "arm64"), "got arm64, want x86_64 or aarch64"),
        (("--output",), "--output: a value is missing"),
        (("--fast",), "unknown option --fast"),
    ],
)
def test_wrong_words(words: tuple[str, ...], message: str) -> None:
    done = subprocess.run(
        ["bash", ROOT / "scripts/wheel.sh", *words], capture_output=True, text=True
    )
    assert done.returncode == 1 and message in done.stderr and "Next: " in done.stderr
