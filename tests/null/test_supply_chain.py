# SPDX-License-Identifier: Apache-2.0
"""The lock of what CI and releases are made with, lists of parts, sums and signatures."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from aclgrad.errors import AclgradError
from aclgrad.packaging import archive, package, sbom, signing
from package_files import content

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements/locked.txt"
openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl")


def name_of(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def wanted() -> set[str]:
    """What pyproject.toml names, but torch and the project itself."""
    text = (ROOT / "pyproject.toml").read_text()
    lists = re.findall(
        r"^(?:requires|dependencies|test|dev|package) = \[(.*?)\]$", text, re.M | re.S
    )
    names = {name_of(item) for one in lists for item in re.findall(r'"([^"]+)"', one)}
    inputs = (ROOT / "requirements/tools.in").read_text().splitlines()
    return (names | {name_of(line) for line in inputs if not line.startswith("#")}) - {"aclgrad"}


def test_lock_names_everything_with_its_sums() -> None:
    text = LOCK.read_text()
    assert "://" not in text and not re.search(r"^\s*-(?!-hash=sha256:[0-9a-f]{64}\b)", text, re.M)
    entries = [
        item.split("\\\n") for item in text.replace("\\\n    ", "\\\n").strip().split("\n\n")
    ]
    blocks = re.findall(r"^(\S+==\S+)(.*?)(?=^\S|\Z)", text, re.M | re.S)
    assert len(blocks) == sum(line[:1].isalpha() for line in text.splitlines()) > 50 and entries
    for pin, rest in blocks:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", rest), pin
    locked = {name_of(pin) for pin, _ in blocks}
    assert wanted() <= locked and "torch" not in locked


def test_pre_commit_has_the_tools_of_the_lock() -> None:
    """Else what one formats the other changes back."""
    text = (ROOT / ".pre-commit-config.yaml").read_text()
    pins = dict(re.findall(r"(ruff|clang-format|mypy)(?:-pre-commit)?\n\s+rev: v(\S+)", text))
    assert len(pins) == 3
    lock = LOCK.read_text()
    for name, version in pins.items():
        assert f"\n{name}=={version} " in lock, name


def test_ci_and_releases_go_by_the_lock() -> None:
    for script in (".ci/run", "scripts/release.sh"):
        lines = (ROOT / script).read_text().splitlines()
        assert [line for line in lines if line.startswith("set_up ")] == ["set_up test,dev locked"]
        assert not [line for line in lines if "pip install" in line]


def wheel(folder: Path) -> Path:
    """A distribution of nothing."""
    folder.mkdir()
    path = folder / "nothing_here-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (
            ("METADATA", "Metadata-Version: 2.1\nName: nothing-here\nVersion: 1.0\n"),
            ("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
            ("RECORD", ""),
        ):
            archive.writestr(f"nothing_here-1.0.dist-info/{name}", text)
    return path


def test_a_file_with_another_sum_is_not_installed(tmp_path: Path) -> None:
    made = wheel(tmp_path / "index")
    copy = tmp_path / "copy"
    (copy / "scripts").mkdir(parents=True)
    (copy / "requirements").mkdir()
    shutil.copy(ROOT / "scripts/common.sh", copy / "scripts")
    # No project: where the lock is met, the set-up goes on and ends there.
    (copy / "pyproject.toml").write_text("nothing\n")
    environment = {
        **os.environ,
        "PYTHON": sys.executable,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(made.parent),
        "PIP_CONFIG_FILE": os.devnull,
    }
    good = hashlib.sha256(made.read_bytes()).hexdigest()
    for digest, says in (
        ("0" * 64, "could not install what"),
        (good, "could not install the pack"),
    ):
        lock = f"nothing-here==1.0 \\\n    --hash=sha256:{digest}\n"
        (copy / "requirements/locked.txt").write_text(lock)
        done = subprocess.run(
            ["bash", "-c", "source scripts/common.sh; set_up test,dev locked"],
            cwd=copy, capture_output=True, text=True, env=environment,
        )  # fmt: skip
        assert done.returncode == 1 and says in done.stderr, done.stderr
        assert ("DO NOT MATCH THE HASHES" in done.stderr) == (digest != good)
        assert not (copy / ".venv/.aclgrad-stamp-locked").exists()


# --- Lists of parts ---


def test_list_of_a_package_is_complete_and_the_same_each_time() -> None:
    pytest.importorskip("cyclonedx")
    files = {"bin/b": b"b", "a<&>\"'": b"a", "ü": b"u"}
    text = sbom.of_package("tiny", "1.0", "operators <A>", files)
    assert text == sbom.of_package("tiny", "1.0", "operators <A>", dict(reversed(files.items())))
    document = json.loads(text)
    assert document["bomFormat"] == "CycloneDX" and document["specVersion"] == "1.6"
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", document["serialNumber"])
    assert {item["name"]: item["hashes"][0]["content"] for item in document["components"]} == {
        name: hashlib.sha256(data).hexdigest() for name, data in files.items()
    }
    other = json.loads(sbom.of_package("tiny", "1.0", "operators <A>", {**files, "ü": b"v"}))
    assert other["serialNumber"] != document["serialNumber"]


def test_list_of_the_wheel_names_what_it_wants() -> None:
    pytest.importorskip("cyclonedx")
    text = (ROOT / "pyproject.toml").read_text()
    document = json.loads(sbom.of_wheel(text))
    listed = {item["name"]: item for item in document["components"]}
    line = re.search(r"^dependencies = \[(.*)\]$", text, re.M)
    assert line is not None
    assert set(listed) == {re.split("[>=<]", item)[0] for item in re.findall(r'"(.*?)"', line[1])}
    assert listed["ml_dtypes"]["purl"] == "pkg:pypi/ml-dtypes"


# --- Sums and signatures ---


def make_key(folder: Path, *words: str) -> tuple[Path, Path]:
    """A private key and its public half."""
    private, public = folder / "key.pem", folder / "public.pem"
    subprocess.run(["openssl", "genpkey", *words, "-out", private], check=True, capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
    return private, public


def verified(file: Path, public: Path) -> bool:
    """As docs/install.md says."""
    done = subprocess.run(
        ["openssl", "dgst", "-sha256", "-verify", public, "-signature", f"{file}.sig", file],
        capture_output=True,
        text=True,
    )
    assert (done.stdout == "Verified OK\n") == (done.returncode == 0)
    return done.returncode == 0


EC = ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")


@openssl
@pytest.mark.parametrize("words", [EC, ("-algorithm", "RSA")], ids=["EC", "RSA"])
def test_signed_package(words: tuple[str, ...], tmp_path: Path) -> None:
    private, public = make_key(tmp_path, *words)
    folder = tmp_path / "dist 1"
    made = archive.write_run(folder, content(), private)
    run = Path(made.path)
    assert made.signatures == (f"{run}.sig", f"{folder}/SHA256SUMS.sig")
    assert verified(run, public) and verified(folder / "SHA256SUMS", public)
    subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=folder, check=True)
    with run.open("ab") as file:
        file.write(b"\n")
    assert not verified(run, public)
    assert subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=folder).returncode


def test_sums_of_several_files(tmp_path: Path) -> None:
    names = ["b.run", "a 1.whl", "-x"]
    for name in names:
        (tmp_path / name).write_text(name)
        signing.write_sums([tmp_path / name])
    (tmp_path / "b.run").write_text("newer")
    path = signing.write_sums([tmp_path / "b.run"])
    assert [line[66:] for line in path.read_text().splitlines()] == sorted(names)
    subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True)
    # What is gone would fail the check of what is there.
    (tmp_path / "a 1.whl").unlink()
    signing.write_sums([tmp_path / "b.run"])
    subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True)


@openssl
def test_keys_that_cannot_sign(tmp_path: Path) -> None:
    _, public = make_key(tmp_path, *EC)
    (tmp_path / "ed").mkdir()
    other, _ = make_key(tmp_path / "ed", "-algorithm", "ED25519")
    (tmp_path / "text").write_text("no key")
    os.mkfifo(tmp_path / "pipe")
    names = (public, other, tmp_path / "text", tmp_path / "pipe", tmp_path, tmp_path / "none")
    for key in names:
        with pytest.raises(AclgradError, match=f"--sign {key}.*Next: .*openssl genpkey"):
            signing.check_key(key)
        with pytest.raises(AclgradError, match="Next: "):
            package.package(tmp_path / "dist", key=key)
    assert not (tmp_path / "dist").exists()
