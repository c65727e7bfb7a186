# SPDX-License-Identifier: Apache-2.0
"""scripts/audit.py: a pin with a known vulnerability is an error."""

from __future__ import annotations

import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = "{name}=={version} \\\n    --hash=sha256:" + "0" * 64 + "\n"


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        import audit as module  # type: ignore[import-not-found]
    return module  # type: ignore[no-any-return]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree with the scripts, the advisories and a lock of its own."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "requirements").mkdir()
    for name in ("scripts/audit.py", "scripts/lock.py", "requirements/advisories.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(root: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, root / "scripts/audit.py", *words]
    return subprocess.run([*map(str, command)], capture_output=True, text=True)


def plant(root: Path, *pins: tuple[str, str]) -> None:
    text = "".join(BLOCK.format(name=name, version=version) for name, version in pins)
    (root / "requirements/locked.txt").write_text(text)


def test_the_lock_has_no_known_vulnerability() -> None:
    done = run(ROOT)
    assert done.returncode == 0 and re.search(r"in the \d{2,} advisories of 20", done.stdout)


@pytest.mark.parametrize(
    ("name", "version", "advisory"),
    [
        ("jinja2", "3.1.5", "CVE-2025-27516"),
        ("Jinja2", "2.0rc1", "CVE-2024-34064"),
        ("markdown_it.py", "2.1.0", "CVE-2023-26302"),
        ("torch", "2.5.1+cpu", "CVE-2025-32434"),
        ("urllib3", "2.0.6", "CVE-2023-45803"),
    ],
)
def test_a_planted_pin_fails(name: str, version: str, advisory: str, root: Path) -> None:
    plant(root, ("numpy", "2.4.6"), (name, version))
    done = run(root)
    assert (
        done.returncode == 1 and advisory in done.stderr and "Next: scripts/lock.py" in done.stderr
    )
    assert "numpy" not in done.stderr
    plant(root, ("numpy", "2.4.6"), (name, "9999"))
    assert run(root).returncode == 0


def test_each_advisory_can_fire(audit: ModuleType) -> None:
    document = audit.read(ROOT)
    assert len(document["advisory"]) > 30
    for item in document["advisory"]:
        assert item["published"] <= document["date"], item
        assert all(re.fullmatch(r"(PYSEC|GHSA)-[\w-]+", name) for name in item["sources"]), item
        for versions in item["affected"]:
            low = re.search(r">=([^,]+)", versions)
            pin = audit.Pin(item["package"], low[1] if low else "0.0.1", "", ("0",))
            assert any(item["id"] in line for line in audit.vulnerable([pin], document)), item


def test_what_was_accepted_needs_a_reason(root: Path) -> None:
    plant(root, ("jinja2", "3.1.5"))
    path = root / "requirements/advisories.toml"
    text = path.read_text()
    accepted = '\n[[accepted]]\nid = "CVE-2025-27516"\npackage = "jinja2"\nreason = "{}"\n'
    path.write_text(text + accepted.format("no templates of others"))
    assert run(root).returncode == 0
    path.write_text(text + accepted.format(" "))
    assert "no reason" in run(root).stderr
    path.write_text(text + accepted.format("gone").replace("27516", "00000"))
    assert "no such advisory" in run(root).stderr


@pytest.mark.parametrize("line", [r"sources = .*", r"published = .*"])
def test_a_row_without_a_source_is_refused(line: str, root: Path) -> None:
    plant(root, ("numpy", "2.4.6"))
    path = root / "requirements/advisories.toml"
    path.write_text(re.sub(rf"^{line}\n", "", path.read_text(), count=1, flags=re.M))
    done = run(root)
    assert done.returncode == 1 and "got no sources or no published date" in done.stderr


def osv(name: str, package: str, *events: dict[str, str], **more: object) -> dict[str, object]:
    part = {"type": "ECOSYSTEM", "events": [*events]}
    item = {"package": {"ecosystem": "PyPI", "name": package}, "ranges": [part]}
    return {"id": name, "published": "2030-01-02T03:04:05Z", "affected": [item], **more}


def test_the_file_is_made_from_osv_documents(audit: ModuleType, root: Path) -> None:
    fixed = ({"introduced": "1.5"}, {"fixed": "2.0"})
    made = [
        osv("PYSEC-1", "Jinja2", *fixed[::-1], aliases=["GHSA-1", "CVE-2030-1"]),
        osv("PYSEC-2", "jinja2", {"introduced": "0"}, {"last_affected": "1.1"}),
        osv("PYSEC-3", "jinja2", {"introduced": "4.0"}),
        osv("PYSEC-4", "jinja2", *fixed, withdrawn="2030-01-01"),
        osv("PYSEC-5", "another", *fixed),
    ]
    item = {"package": {"ecosystem": "PyPI", "name": "jinja2"}, "versions": ["3.3"]}
    made.append(made[0] | {"id": "PYSEC-6", "aliases": [], "affected": [item]})
    # A second record of what the first says, older, and one as it is in the database.
    older = {"aliases": ["CVE-2030-1"], "published": "2029-12-31"}
    made.append(osv("PYSEC-7", "jinja2", {"introduced": "3.0"}, {"fixed": "3.1"}, **older))
    made.append(osv("PYSEC-8", "jinja2", {"introduced": "0"}, {"last_affected": "2.6-cu124"}))
    made.append(osv("PYSEC-9", "jinja2", {"introduced": "0"}, {"last_affected": "2.7+cu1"}))
    folder = root / "vulns"
    folder.mkdir()
    with zipfile.ZipFile(root / "all.zip", "w") as archive:
        for number, document in enumerate(made):
            archive.writestr(f"{number}.json", json.dumps(document))
            (folder / f"{number}.yaml").write_text(json.dumps(document))  # which is YAML too
    day = datetime.date(2030, 1, 2)
    want = [
        (
            "CVE-2030-1", "jinja2", [">=1.5,<2.0", ">=3.0,<3.1"], ["PYSEC-1", "PYSEC-7"],
            datetime.date(2029, 12, 31),
        ),
        ("PYSEC-2", "jinja2", ["<=1.1"], ["PYSEC-2"], day),
        ("PYSEC-3", "jinja2", [">=4.0"], ["PYSEC-3"], day),
        ("PYSEC-6", "jinja2", ["==3.3"], ["PYSEC-6"], day),
        ("PYSEC-8", "jinja2", ["<=2.6"], ["PYSEC-8"], day),
        ("PYSEC-9", "jinja2", ["<=2.7"], ["PYSEC-9"], day),
    ]  # fmt: skip
    for place in (folder, root / "all.zip"):
        assert audit.collect(place, {"jinja2"}) == want
    plant(root, ("jinja2", "3.3"))
    words = ("--update", root / "all.zip", "--source", 'a "test"', "--date", "2030-01-02")
    done = run(root, *words)
    assert done.returncode == 1 and "jinja2 3.3: PYSEC-6 (==3.3)" in done.stderr
    document = audit.read(root)
    assert document["source"] == 'a "test"' and document["date"] == datetime.date(2030, 1, 2)
    assert "--date" in run(root, "--update", folder).stderr
    (root / "empty").mkdir()
    for source in ("empty", "none", "scripts/lock.py"):
        done = run(root, "--update", root / source, *words[2:])
        assert done.returncode == 1 and f"--update {root / source}: got" in done.stderr
    (folder / "9.json").write_text(json.dumps(osv("PYSEC-9", "jinja2", {"introduced": "1 or 2"})))
    assert "PYSEC-9: Invalid version" in run(root, "--update", folder, *words[2:]).stderr
    assert audit.read(root) == document


def test_a_release_wants_a_file_of_the_last_days(audit: ModuleType, root: Path) -> None:
    plant(root, ("numpy", "2.4.6"))
    date = audit.read(root)["date"]
    assert audit.check(root, date + datetime.timedelta(audit.MOST_DAYS)) == ""
    said = audit.check(root, date + datetime.timedelta(audit.MOST_DAYS + 1))
    assert "at most 30 days" in said and "--update FROM" in said


def test_online_is_strict(audit: ModuleType, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip-audit passes over a package that PyPI does not know, unless it is told not to."""
    stub = root / "stub"
    stub.write_text(f'#!/bin/sh\necho "$@" >{root}/words\nexit 3\n')
    stub.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stub))
    assert audit.online(root) == 3
    words = (root / "words").read_text().split()
    assert {"--strict", "--require-hashes"} < set(words)
    assert words[-1] == os.fspath(root / "requirements/locked.txt")


def test_ci_and_releases_audit() -> None:
    for name in (".ci/run", "scripts/release.sh"):
        assert re.search(r"^ *\S+/python\" \S*scripts/audit\.py", (ROOT / name).read_text(), re.M)
    assert "audit.online()" in (ROOT / "scripts/release_check.py").read_text()
