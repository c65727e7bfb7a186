# SPDX-License-Identifier: Apache-2.0
"""The lock of what CI and releases are made with, lists of parts, sums and signatures."""

from __future__ import annotations

import hashlib
import importlib.util
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

from aclgrad.errors import AclgradError
from aclgrad.packaging import archive, package, sbom, signing
from package_files import content

pytestmark = pytest.mark.journey

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements/locked.txt"
openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl")


def script(name: str) -> ModuleType:
    """A module of scripts/."""
    found = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        found.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module


lock = script("lock")


def test_lock_names_everything_with_its_sums() -> None:
    text = LOCK.read_text()
    assert "://" not in text and not re.search(r"^\s*-(?!-hash=sha256:[0-9a-f]{64}\b)", text, re.M)
    pins = lock.pins(text)
    assert len(pins) == sum(line[:1].isalpha() for line in text.splitlines()) > 100
    locked = {pin.name for pin in pins}
    wanted = {
        lock.normal(re.split(r"[^\w.-]", item)[0]) for item in lock.wanted(lock.extras(), ROOT)
    }
    assert wanted <= locked
    assert wanted > {
        "torch",
        "torch-npu",
        "pip",
        "scikit-build-core",
        "auditwheel",
        "mkdocs-material",
    }
    # What builds for this machine have lies beside it, and gets into it.
    assert lock.with_other_builds(text, ROOT) == text
    other = lock.pins((ROOT / lock.OTHER_BUILDS).read_text())
    assert other and all(
        set(build.sums) <= {digest for pin in pins if pin.name == build.name for digest in pin.sums}
        for build in other
    )


def test_a_lock_with_a_pin_without_sums_is_refused() -> None:
    for text in ("a==1\n", "a>=1 \\\n    --hash=sha256:" + "0" * 64, "a==1 \\\n    --hash=md5:0\n"):
        with pytest.raises(ValueError, match="locked.txt: got"):
            lock.pins(text)


def test_every_road_goes_by_the_lock() -> None:
    """Only common.sh calls pip, and there for what has sums, or for the project itself."""
    texts = {path.name: path.read_text() for path in (ROOT / "scripts").glob("*.sh")}
    texts["run"] = (ROOT / ".ci/run").read_text()
    joined = {name: text.replace("\\\n", " ") for name, text in texts.items()}
    calls = [
        (name, line.strip())
        for name, text in joined.items()
        for line in text.splitlines()
        if re.search(r"-m pip (?:install|download|wheel)\b", line)
    ]
    assert len(calls) == 3 and {name for name, _ in calls} == {"common.sh"}, calls
    for _, line in calls:
        assert any(word in line for word in ("--require-hashes", '"${how[@]}"', " -e "))
    assert 'how=(--require-hashes --only-binary ":all:" -c ' in joined["common.sh"]
    roads = {name for name, text in texts.items() if re.search(r"^ *set_up \w", text, re.M)}
    assert {"build.sh", "test.sh", "docs.sh", "wheel.sh", "release.sh", "torch_npu.sh"} < roads
    assert "run" in roads
    for name in ("wheel.py", "wheel_proof.py"):
        for words in re.findall(
            r'"pip", "(?:install|wheel)".*', (ROOT / "scripts" / name).read_text()
        ):
            assert "--no-deps" in words or "*options" in words, words
    assert '"--no-deps", "--no-build-isolation"' in (ROOT / "scripts/wheel.py").read_text()


def test_actions_and_hooks_are_named_by_commit() -> None:
    """A tag can be moved to other code; a commit cannot."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if listed.returncode:
        pytest.skip("no git checkout")
    used = []
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if path.suffix not in (".yml", ".yaml", ".md", ".py", ".j2") or path == Path(__file__):
            continue
        for line in path.read_text(errors="replace").splitlines():
            if found := re.match(r"\s*(?:- )?(?:uses:\s*(\S+/\S+)|rev:\s*(\S+))\s*(.*)", line):
                used.append((name, found[1] or found[2], found[3]))
    assert len([name for name, _, _ in used if name.startswith("docs/ci/")]) > 10
    for name, what, comment in used:
        if what.startswith("./"):
            continue
        assert re.search(r"(?:^|@)[0-9a-f]{40}$", what), f"{name}: {what}"
        assert re.match(r"# (?:frozen: )?v\d+(?:\.\d+)+$", comment), f"{name}: {what} {comment}"
    commits = {(what.rsplit("@")[-1], comment) for _, what, comment in used}
    assert len(commits) == len({commit for commit, _ in commits})


def wheel(folder: Path, name: str, *wants: str) -> str:
    """A distribution of nothing; returns its sum."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in (
            (
                "METADATA",
                f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
                + "".join(f"Requires-Dist: {want}\n" for want in wants),
            ),
            ("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
            ("RECORD", ""),
        ):
            archive.writestr(f"{name}-1.0.dist-info/{file}", text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wheel_of_pip(folder: Path) -> lock.Pin:  # type: ignore[name-defined]
    """The pip that runs the tests, packed again; skips where it is none that the lock has."""
    import pip

    text = next(pin for pin in lock.pins(LOCK.read_text()) if pin.name == "pip")
    if pip.__version__ != text.version:
        pytest.skip(f"pip {pip.__version__}, and not the lock's {text.version}")
    site = Path(pip.__file__).parents[1]
    path = folder / f"pip-{pip.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for part in ("pip", f"pip-{pip.__version__}.dist-info"):
            for file in sorted((site / part).rglob("*")):
                left_out = "__pycache__" in file.parts or file.name in ("INSTALLER", "RECORD")
                if file.is_file() and not left_out:
                    archive.write(file, file.relative_to(site))
        archive.writestr(f"pip-{pip.__version__}.dist-info/RECORD", "")
    return text._replace(sums=(hashlib.sha256(path.read_bytes()).hexdigest(),))


def test_a_file_with_another_sum_is_not_installed(tmp_path: Path) -> None:
    """The set-up of every road: whoever changes a byte of a package that is wanted, or that such a
    package wants, or adds one that nobody knows, is refused.
    """
    index = tmp_path / "index"
    inner, outer = wheel(index, "inner"), wheel(index, "outer", "inner")
    pip = wheel_of_pip(index)
    copy = tmp_path / "copy"
    (copy / "scripts").mkdir(parents=True)
    (copy / "requirements").mkdir()
    for name in ("common.sh", "lock.py"):
        shutil.copy(ROOT / "scripts" / name, copy / "scripts")
    (copy / "requirements/tools.in").write_text("")
    # Its build has no backend: where the lock is met, the set-up goes on and ends there.
    (copy / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "none_such"\n[project]\nname = "aclgrad"\n'
        'version = "1"\ndependencies = ["outer"]\n[project.optional-dependencies]\ntest = []\n'
    )
    environment = {
        **os.environ,
        "PYTHON": sys.executable,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(index),
        "PIP_CONFIG_FILE": os.devnull,
    }
    environment.pop("ACLGRAD_NEWEST", None)
    bad = "0" * 64

    def set_up(sums: dict[str, str], own: str = pip.sums[0]) -> str:
        pins = [lock.Pin(name, "1.0", "", (digest,)) for name, digest in sums.items()]
        text = "".join(pin.text for pin in [*pins, pip._replace(sums=(own,))])
        (copy / "requirements/locked.txt").write_text(text)
        done = subprocess.run(
            ["bash", "-c", "source scripts/common.sh; set_up test"],
            cwd=copy, capture_output=True, text=True, env=environment,
        )  # fmt: skip
        assert done.returncode == 1 and not [*copy.glob(".venv/.aclgrad-stamp-*")]
        return done.stderr

    assert "DO NOT MATCH THE HASHES" in set_up({"inner": inner, "outer": outer}, bad)
    for sums in ({"inner": inner, "outer": bad}, {"inner": bad, "outer": outer}):
        said = set_up(sums)
        assert "DO NOT MATCH THE HASHES" in said and "could not install what" in said, said
    said = set_up({"outer": outer})
    assert "In --require-hashes mode" in said and "could not install what" in said, said
    assert not [*copy.glob(".venv/lib/*/site-packages/outer-*")]
    assert "could not install the package" in set_up({"inner": inner, "outer": outer})
    assert [*copy.glob(".venv/lib/*/site-packages/inner-*")]


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
    record = json.loads((ROOT / "requirements/licenses.json").read_text())
    document = json.loads(sbom.of_wheel(text, json.dumps(record)))
    listed = {item["name"]: item for item in document["components"]}
    assert listed.keys() == record.keys() == {pin.name for pin in lock.pins(LOCK.read_text())}
    line = re.search(r"^dependencies = \[(.*)\]$", text, re.M)
    assert line is not None
    for want in re.findall(r'"(.*?)"', line[1]):
        item = listed[lock.normal(re.split("[>=<]", want)[0])]
        assert item["scope"] == "required" and item["description"].endswith(f"wanted: {want}")
    assert listed["ml-dtypes"]["purl"] == "pkg:pypi/ml-dtypes"
    assert listed["dask"]["scope"] == "optional" and "campaign" in listed["dask"]["description"]
    for name, item in listed.items():
        (stated,) = item["licenses"]
        inner = stated.get("license", stated)
        stated = inner.get("expression") or inner.get("id") or inner["name"]
        assert stated == record[name]["license"], name
    with pytest.raises(ValueError, match="got no .*rich"):
        sbom.of_wheel(text, "{}")


def test_licences_are_those_of_the_metadata() -> None:
    """Of what is installed here, in a version of the lock; in CI that is nearly all."""
    licenses = script("licenses")
    assert licenses.differences() == []
    # The page is made of the record: test_site.py.
    page = (ROOT / "docs/reference/licenses.md").read_text()
    for name, entry in json.loads((ROOT / licenses.RECORD).read_text()).items():
        assert entry["for"], name
        row = re.search(rf"^\| {re.escape(name)} \| .*GPL.* \| (.{{40,}}) \|$", page, re.M)
        assert bool(row) == ("GPL" in entry["license"]), name


@pytest.mark.parametrize(
    ("metadata", "stated"),
    [
        ({"license_expression": "MIT", "license": "other"}, "MIT"),
        ({"license": "BSD-3-Clause"}, "BSD-3-Clause"),
        (
            {"license": "Apache 2.0", "classifier": ["License :: OSI Approved :: GNU GPLv3"]},
            "Apache 2.0; GNU GPLv3",
        ),
        ({"license": "GPL\nthe whole text", "classifier": ["License :: X :: GPLv2"]}, "GPLv2"),
        ({"classifier": ["Topic :: A"]}, "not stated"),
    ],
)
def test_licence_of_metadata(metadata: dict[str, object], stated: str) -> None:
    assert script("licenses").license_of(metadata) == stated


def test_another_licence_than_the_recorded_one_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    licenses = script("licenses")
    monkeypatch.setattr(licenses, "license_of", lambda metadata: "GPL-2.0-only")
    assert any("its metadata have 'GPL-2.0-only'" in line for line in licenses.differences())
    monkeypatch.setattr(licenses, "MEANING", {})
    assert any("no line in MEANING" in line for line in licenses.differences())


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
