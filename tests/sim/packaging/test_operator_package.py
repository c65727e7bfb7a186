# SPDX-License-Identifier: Apache-2.0
"""The package of the built operators: what is in it, and that programs run with it alone."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from aclgrad.building.build_tools import find_compiler
from aclgrad.errors import ToolkitError
from aclgrad.ops import all_specs
from aclgrad.packaging import package, self_test
from aclgrad.packaging.content import Content, Package
from aclgrad.runtime import Toolkit
from package_files import (
    ARCH,
    STEPS,
    TOOLS,
    clean_environment,
    content,
    faulty_tools,
    good,
    refused,
    run,
    snapshot,
    stopped,
    write,
)

pytestmark = pytest.mark.journey

ROOT = Path(__file__).resolve().parents[3]
SEEDS = ROOT.parent / "shared" / "seed_examples"
TBE = "op_impl/ai_core/tbe"
NARROW = ("--vendor", "my-lab", "--soc", "Ascend310P3")


def make(toolkit: Path, output: Path, *words: str, **environment: str) -> dict[str, object]:
    """Call the command in a process of its own: it loads the simulator."""
    done = subprocess.run(
        [sys.executable, "-m", "aclgrad", "package", "--json", "--output", str(output), *words],
        capture_output=True,
        text=True,
        timeout=600,
        env=clean_environment(ACLGRAD_TOOLKIT=str(toolkit), **environment),
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert isinstance(made, dict)
    return made


@pytest.fixture(scope="module")
def frozen(toolkit_info: Toolkit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the toolkit, so that a build in between changes nothing here."""
    copy = tmp_path_factory.mktemp("frozen") / "toolkit"
    shutil.copytree(toolkit_info.root, copy, symlinks=True)
    return copy


@pytest.fixture(scope="module")
def made(frozen: Path, tmp_path_factory: pytest.TempPathFactory) -> Package:
    return Package(**make(frozen, tmp_path_factory.mktemp("dist")))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def narrow(frozen: Path, tmp_path_factory: pytest.TempPathFactory) -> Package:
    """Another vendor's package, for one SoC on which two operators run."""
    folder = tmp_path_factory.mktemp("narrow")
    return Package(**make(frozen, folder, *NARROW))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def bare_toolkit(frozen: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Headers and libraries of the toolkit alone, as a device's toolkit has them."""
    folder = tmp_path_factory.mktemp("bare") / "toolkit"
    for name in ("include", "lib64"):
        shutil.copytree(frozen / name, folder / name, symlinks=True)
    return folder


def files_of(path: str, vendor: str) -> dict[str, bytes]:
    """Files of the archive by their path under vendors/<vendor>."""
    data = Path(path).read_bytes()
    body = data[data.index(b"\x1f\x8b\x08", data.index(b'main "$@"; exit\n')) :]
    found = {}
    with tarfile.open(fileobj=io.BytesIO(body)) as tar:
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None and member.name.startswith(f"vendors/{vendor}/")
            found[member.name.removeprefix(f"vendors/{vendor}/")] = file.read()
    return found


def test_layout(made: Package) -> None:
    assert Path(made.path).name == f"custom_opp_aclgrad_linux-{ARCH}.run"
    names = files_of(made.path, "aclgrad")
    here = str(ROOT).encode()
    assert not [name for name, data in names.items() if here in data], "paths of the build"
    expected = [
        "op_api/lib/libcust_opapi.so",
        "version.info",
        "bin/set_env.bash",
        "bin/self_test",
        "scripts/uninstall.sh",
        "op_proto/inc/op_proto.h",
        f"{TBE}/op_tiling/lib/linux/{ARCH}/libcust_opmaster_rt2.0.so",
        f"{TBE}/config/ascend910b/aic-ascend910b-ops-info.json",
        f"{TBE}/config/ascend910_93/aic-ascend910_93-ops-info.json",
    ]
    for spec in all_specs():
        expected += [f"op_api/include/aclnnop/aclnn_{spec.header}.h"]
        expected += [f"op_api/include/aclnnop/level2/aclnn_{spec.header}.h"]
        for soc, variants in spec.kernels.items():
            for variant in variants:
                dtypes = "_".join(dtype.name for dtype in variant)
                expected += [f"{TBE}/kernel/{soc}/{spec.op}/{spec.op_type}_{dtypes}.so"]
    assert set(expected) <= set(names)
    assert made.files == len(names) + 2, "two links"


def test_list_of_parts(made: Package) -> None:
    names = files_of(made.path, "aclgrad")
    document = json.loads(names.pop("sbom.cdx.json"))
    assert document["bomFormat"] == "CycloneDX"
    assert document["metadata"]["component"]["name"] == "custom_opp_aclgrad"
    listed = {item["name"]: item["hashes"] for item in document["components"]}
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in names.items()}
    assert listed == {name: [{"alg": "SHA-256", "content": sums[name]}] for name in names}


def test_the_same_build_gives_the_same_bytes(frozen: Path, narrow: Package, tmp_path: Path) -> None:
    again = make(frozen, tmp_path, *NARROW)
    assert again["sha256"] == narrow.sha256
    assert Path(str(again["path"])).read_bytes() == Path(narrow.path).read_bytes()


def test_one_soc_and_another_vendor(narrow: Package, tmp_path: Path, bare_toolkit: Path) -> None:
    assert narrow.vendor == "my-lab" and list(narrow.socs) == ["ascend310p"]
    names = files_of(narrow.path, "my-lab")
    kernels = {name.split("/")[4] for name in names if f"{TBE}/kernel/" in name}
    assert kernels == {"ascend310p"}
    out = good(
        Path(narrow.path),
        f"--install-path={tmp_path}/opp",
        LD_LIBRARY_PATH=str(bare_toolkit / "lib64"),
    )
    assert "self-test: aclnnSoftmaxBackward ok" in out
    assert out.count("self-test: ") == 2, "the operators that have kernels there"
    assert (tmp_path / "opp/vendors/config.ini").read_text() == "load_priority=my-lab\n"


def test_incomplete_builds_are_refused(
    frozen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(match: str, **words: Any) -> None:
        with pytest.raises((ValueError, ToolkitError), match=match):
            package.package(tmp_path / "out", **words)
        assert not (tmp_path / "out").exists()

    monkeypatch.setenv("ACLGRAD_TOOLKIT", "/nonexistent")
    refuse("not built: missing .*Next: ")
    monkeypatch.setenv("ACLGRAD_TOOLKIT", str(frozen))
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)
    for name in ("../x", "", "a b", "1st", "x" * 65):
        refuse(r"vendor: got .*want a letter", vendor=name)
    refuse("got 'Ascend1'", socs=["Ascend1"])
    refuse("no operator has a kernel for ascend310b", socs=["Ascend310B1"])
    monkeypatch.setattr(package, "checkout", lambda: tmp_path)
    refuse("found none in .*ascend910b.* Next: scripts/build.sh", device="npu")
    copy = tmp_path / "vendor"
    shutil.copytree(frozen / "opp/vendors/aclgrad", copy)
    refuse("ASCEND_HOME_PATH is .*Next: source", device="npu", source=copy)
    kernel = next(copy.glob(f"{TBE}/kernel/ascend910b/softmax_grad/*.so"))
    kernel.unlink()
    refuse(f"{kernel.name} is missing .*Next: aclgrad build", source=copy)
    (copy / "op_api/lib/libcust_opapi.so").unlink()
    refuse("libcust_opapi.so is missing. Next: aclgrad build", source=copy, socs=["ascend910"])


def test_self_test_finds_the_toolkit_or_says_why_not(
    made: Package, bare_toolkit: Path, tmp_path: Path
) -> None:
    script, passed = Path(made.path), [f"self-test: {spec.api} ok\n" for spec in all_specs()]
    out = good(script, f"--install-path={tmp_path}/a")
    assert (
        "self-test skipped: no toolkit is reachable (libascendcl.so" in out and " ok\n" not in out
    )
    out = good(script, f"--install-path={tmp_path}/b", ASCEND_HOME_PATH=str(bare_toolkit))
    assert all(line in out for line in passed)
    # A package folder inside the toolkit, as $ASCEND_OPP_PATH is.
    (bare_toolkit / "opp").mkdir(exist_ok=True)
    out = good(script, ASCEND_OPP_PATH=str(bare_toolkit / "opp"))
    assert all(line in out for line in passed)
    good(script, "--uninstall", ASCEND_OPP_PATH=str(bare_toolkit / "opp"))


def test_libraries_beside_the_prefix_are_not_loaded(
    made: Package, bare_toolkit: Path, tmp_path: Path
) -> None:
    """Neither by the self-test, nor by what it loads, nor from the current folder."""
    source = tmp_path / "planted.cpp"
    trace = tmp_path / "trace"
    source.write_text(
        "#include <fstream>\n__attribute__((constructor)) static void Run() {\n"
        f'  std::ofstream("{trace}") << "planted code ran";\n}}\n'
    )
    planted = tmp_path / "lib64"
    planted.mkdir()
    library = planted / "libascendcl.so"
    subprocess.run(["g++", "-shared", "-fPIC", source, "-o", library], check=True)
    for name in ("libnnopbase.so", "libregister.so", "libcust_opapi.so"):
        shutil.copy(library, planted / name)
        shutil.copy(library, tmp_path / name)
    shutil.copy(library, tmp_path / library.name)
    for number, environment in enumerate(
        (
            {},
            {"ASCEND_HOME_PATH": str(bare_toolkit)},
            {"LD_LIBRARY_PATH": f":{bare_toolkit}/lib64"},
            {"LD_LIBRARY_PATH": f"lib64:.:{bare_toolkit}/lib64:"},
            {"ASCEND_HOME_PATH": "."},
        )
    ):
        done = subprocess.run(
            ["bash", made.path, f"--install-path={tmp_path}/opp{number}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            env=clean_environment(**environment),
        )
        assert done.returncode == 0, done.stderr
        assert ("self-test skipped" in done.stdout) == (str(bare_toolkit) not in str(environment))
        assert not trace.exists()


def test_no_library_of_the_package_has_a_run_path(made: Package, tmp_path: Path) -> None:
    listed = 0
    for name, data in files_of(made.path, "aclgrad").items():
        if data[:4] == b"\x7fELF":
            path = tmp_path / "library"
            path.write_bytes(data)
            text = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True).stdout
            assert "NEEDED" in text and "RUNPATH" not in text and "RPATH" not in text, name
            listed += 1
    assert listed > 40


def test_a_library_that_does_not_load_is_not_installed(
    narrow: Package, bare_toolkit: Path, tmp_path: Path
) -> None:
    files = files_of(narrow.path, "my-lab")
    files["op_api/lib/libcust_opapi.so"] = b"not a library"
    operators = {spec.op_type: spec.op for spec in all_specs()}
    broken = Content("my-lab", "sim", ARCH, ("ascend310p",), operators, files, {})
    target = tmp_path / "opp"
    text = refused(
        write(tmp_path, broken),
        f"--install-path={target}",
        match="does not work here",
        LD_LIBRARY_PATH=str(bare_toolkit / "lib64"),
    )
    assert "libcust_opapi.so" in text and not target.exists()


def test_package_for_an_npu(
    frozen: Path, bare_toolkit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of a CANN build, here stand-ins, are packed as they are; nothing is made up."""
    folder = tmp_path / "build/npu-ascend910b/package/packages/vendors/aclgrad"
    kernel = folder / TBE / "kernel/ascend910b/softmax_grad/SoftmaxGrad_1.o"
    for path in (
        kernel,
        folder / f"{TBE}/kernel/config/ascend910b/softmax_grad.json",
        folder / f"{TBE}/kernel/ascend310p/softmax_grad/SoftmaxGrad_1.o",
        folder / f"{TBE}/op_tiling/lib/linux/{ARCH}/libcust_opmaster_rt2.0.so",
        folder / "op_api/lib/libcust_opapi.so",
        folder / "op_proto/inc/op_proto.h",
        folder / "scripts/uninstall.sh",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"stand-in {path.name}")
    shutil.copytree(frozen / "opp/vendors/aclgrad/op_api/include", folder / "op_api/include")
    (folder / "version.info").write_text("custom_opp_compiler_version=9.1.0\n")
    monkeypatch.setattr(package, "checkout", lambda: tmp_path)
    monkeypatch.setenv("ASCEND_HOME_PATH", str(bare_toolkit))
    npu = package.package(tmp_path / "dist", device="npu", socs=["Ascend910B2"])
    assert npu.device == "npu" and npu.socs == ("ascend910b",)
    files = files_of(npu.path, "aclgrad")
    assert files[kernel.relative_to(folder).as_posix()] == b"stand-in SoftmaxGrad_1.o"
    assert f"{TBE}/kernel/config/ascend910b/softmax_grad.json" in files
    assert files["op_proto/inc/op_proto.h"] == b"stand-in op_proto.h"
    assert b"stand-in" not in files["scripts/uninstall.sh"]
    assert not [name for name in files if "310p" in name or name.endswith("ops-info.json")]
    out = good(
        Path(npu.path),
        f"--install-path={tmp_path}/opp",
        LD_LIBRARY_PATH=str(bare_toolkit / "lib64"),
    )
    assert "self-test skipped: the toolkit that is reachable is the simulator's" in out
    info = (tmp_path / "opp/vendors/aclgrad/version.info").read_text()
    assert info.startswith("version=") and "device=npu\n" in info
    assert info.endswith("custom_opp_compiler_version=9.1.0\n")


@pytest.mark.parametrize("device", ["sim", "npu"])
def test_self_test_compiles_without_warnings(
    device: str, toolkit_info: Toolkit, tmp_path: Path
) -> None:
    source = tmp_path / "self_test.cpp"
    cases = [self_test.case_of_spec(spec) for spec in all_specs()]
    source.write_text(self_test.source_of(cases, device, "Ascend910B2"))
    words = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    words += [f"-I{path}" for path in toolkit_info.include_dirs]
    command = [str(find_compiler()), *words, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


# --- Programs with the package alone ---


@pytest.fixture
def other_user() -> Iterator[tuple[Path, list[str]]]:
    """A folder elsewhere, and the words that run a command there as another user, if possible."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        words: list[str] = []
        if os.geteuid() == 0 and shutil.which("setpriv"):
            os.chown(folder, 65534, 65534)
            words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        yield folder, words


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the seed programs do not lie beside this checkout")
def test_seed_programs_with_the_package_alone(
    made: Package, bare_toolkit: Path, other_user: tuple[Path, list[str]]
) -> None:
    folder, as_user = other_user
    home = folder / "home"
    shutil.copytree(bare_toolkit, folder / "toolkit", symlinks=True)
    shutil.copytree(SEEDS, folder / "seeds")
    script = shutil.copy(made.path, folder)
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home)}
    command = [*as_user, "env", "-i", *(f"{k}={v}" for k, v in environment.items()), "bash", "-ec"]

    def bare(words: str) -> str:
        done = subprocess.run([*command, words], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    bare(f"mkdir {home} && bash {script} --check")
    # What a toolkit's own set_env.sh does.
    source = f"export LD_LIBRARY_PATH={folder}/toolkit/lib64; "
    out = bare(f"{source} bash {script} --install-path={folder}/opp")
    assert out.count(" ok\n") == len(all_specs())
    package_folder = folder / "opp/vendors/aclgrad"
    source += f"source {package_folder}/bin/set_env.bash; "
    source += f"source {package_folder}/bin/set_env.bash; "  # twice does no harm
    words = f"-I{package_folder}/op_api/include -I{folder}/toolkit/include"
    words += f" -L{package_folder}/op_api/lib -L{folder}/toolkit/lib64"
    words += " -lcust_opapi -lnnopbase -lascendcl"

    def build_and_run(seed: Path) -> str:
        program = home / seed.stem
        bare(f"{source} {find_compiler()} {folder}/seeds/{seed.name} {words} -o {program}")
        return bare(f"{source} LD_DEBUG=files LD_DEBUG_OUTPUT={program}.log {program}")

    seeds = sorted(SEEDS.glob("*.cpp"))
    with ThreadPoolExecutor(2) as pool:
        printed = dict(
            zip([seed.name for seed in seeds], pool.map(build_and_run, seeds), strict=True)
        )
    assert len(printed) == 5
    for example in json.loads((SEEDS / "expected.json").read_text())["examples"]:
        stem = re.sub(r"(?<!^)(?=[A-Z])", "_", example["op"].removeprefix("aclnn")).lower()
        text = printed[f"test_aclnn_{stem}.cpp"]
        shape = re.escape(example["print_format"].replace("\\n", ""))
        got = re.findall(shape.replace("%ld", r"\d+").replace("%f", r"(\S+)"), text)
        key = "expected_printed_float32_correctly_rounded_exp"
        assert got == example.get(key, example["expected_printed_from_float32"])
    loaded = "".join(path.read_text() for path in home.glob("*.log.*"))
    own = set(re.findall(r"calling init: (\S+)", loaded))
    assert {path for path in own if str(ROOT) in path} == set()
    assert str(package_folder / "op_api/lib/libcust_opapi.so") in own
    assert bare(f"{source} echo $ASCEND_CUSTOM_OPP_PATH") == f"{package_folder}\n"
    bare(f"bash {script} --install-path={folder}/opp --uninstall")
    assert not (folder / "opp").exists()


def put_into_root(root: Path, file: Path, name: str) -> None:
    """Copy a program or library, and the system's libraries that it is linked with."""
    listed = subprocess.run(["ldd", file], capture_output=True, text=True).stdout
    needed = [Path(path) for path in re.findall(r"(/\S+) \(0x", listed)]
    plan = {Path(name): file, **{path: path for path in needed if path.parent != file.parent}}
    for place, source in plan.items():
        copy = root / place.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ldd"),
    reason="another root needs root",
)
def test_installs_in_a_clean_root(made: Package, bare_toolkit: Path, tmp_path: Path) -> None:
    """A root with bash, coreutils, tar, gzip and flock, the toolkit's libraries, and no more."""
    root = tmp_path / "root"
    for name in TOOLS:
        if found := shutil.which(name, path="/usr/bin:/bin"):
            put_into_root(root, Path(found).resolve(), f"/usr/bin/{name}")
    for library in (bare_toolkit / "lib64").iterdir():
        put_into_root(root, library, f"/opt/toolkit/lib64/{library.name}")
    shutil.copy(made.path, root / "opt/package.run")
    for name in ("proc", "dev", "tmp", "home/user"):
        (root / name).mkdir(parents=True)
    os.chown(root / "home/user", 65534, 65534)
    mounts = f"mount --rbind /proc {root}/proc && mount --rbind /dev {root}/dev"
    words = f"exec chroot --userspec=65534:65534 {root} /usr/bin/bash"

    def inside(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["unshare", "-m", "bash", "-c", f'{mounts} && {words} -c "$0"', script],
            capture_output=True,
            text=True,
            timeout=600,
            env={"PATH": "/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/home/user", **environment},
        )

    if inside("true").returncode != 0:
        pytest.skip("no mounts or no chroot here")
    install = "bash /opt/package.run --install-path=/home/user/opp"
    done = inside(install, LD_LIBRARY_PATH="/opt/toolkit/lib64")
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert done.stdout.count(" ok\n") == len(all_specs())
    done = inside(f"{install} --list && {install} && bash $HOME/opp/vendors/*/scripts/uninstall.sh")
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert not list((root / "home/user").iterdir())


# --- The exchange of two names, and kills of the real package ---


@pytest.fixture(scope="module")
def switch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("switch") / "switch"
    source = ROOT / "python/aclgrad/packaging/switch.cpp"
    command = [str(find_compiler()), "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program)]
    subprocess.run(command, check=True, timeout=600)
    return program


def test_switch_exchanges_moves_and_undoes(switch: Path, tmp_path: Path) -> None:
    a, b, c, d = (tmp_path / name for name in "abcd")
    for path in (a, b):
        path.mkdir()
        (path / path.name).touch()
    c.touch()
    assert subprocess.run([switch, "exchange", a, b, "move", c, d]).returncode == 0
    assert (a / "b").exists() and (b / "a").exists() and d.exists() and not c.exists()
    failing: list[str | Path] = [
        switch,
        "move",
        d,
        c,
        "exchange",
        a,
        b,
        "move",
        tmp_path / "none",
        d,
    ]
    done = subprocess.run(failing, capture_output=True)
    assert done.returncode == 1
    assert (a / "b").exists() and (b / "a").exists() and d.exists() and not c.exists()


def test_upgrade_is_never_without_a_package(switch: Path, tmp_path: Path) -> None:
    """Killed at every step, the folder is that of one version, and whole."""
    more = {"bin/switch": switch.read_bytes()}
    one = write(tmp_path / "1", content("1.0", more=more))
    two = write(tmp_path / "2", content("2.0", more=more))
    target, before, after = (tmp_path / name for name in ("opp", "before", "after"))
    for script, folder in ((one, before), (two, after)):
        good(script, f"--install-path={folder}")
    states = [snapshot(before), snapshot(after)]
    tools = faulty_tools(tmp_path / "tools", STEPS)
    seen = set()
    for at in range(1, 100):
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(before, target, symlinks=True)
        if stopped(two, f"--install-path={target}", tools=tools, at=at) is None:
            break
        now = {name: what for name, what in snapshot(target).items() if ".install" not in name}
        assert now in states, at
        seen.add(states.index(now))
        good(two, f"--install-path={target}", "--upgrade")
        assert snapshot(target) == states[1], at
    assert 3 < at < 99 and seen == {0, 1}


def test_killed_after_some_time(made: Package, tmp_path: Path) -> None:
    """The real package, killed with SIGKILL after growing delays, over what was there."""
    target = tmp_path / "opp"
    script = Path(made.path)
    begin = time.monotonic()
    good(script, f"--install-path={target}")
    whole = time.monotonic() - begin
    installed = snapshot(target)
    for part in range(5):
        shutil.rmtree(target)
        with subprocess.Popen(
            ["bash", str(script), f"--install-path={target}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=clean_environment(),
            start_new_session=True,
        ) as process:
            time.sleep(whole * (part + 0.5) / 5)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        folder = target / "vendors/aclgrad"
        if folder.exists():
            subprocess.run(
                ["sha256sum", "--quiet", "-c", "manifest.sha256"], cwd=folder, check=True
            )
        good(script, f"--install-path={target}")
        left = {k: v for k, v in snapshot(target).items() if not k.endswith("install.info")}
        assert left == {k: v for k, v in installed.items() if not k.endswith("install.info")}
    done = run(script, f"--install-path={target}", "--uninstall")
    assert done.returncode == 0 and not list(target.rglob("*"))
