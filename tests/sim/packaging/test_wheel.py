# SPDX-License-Identifier: Apache-2.0
"""The wheel and the sdist: whole, movable, removable, and enough for kernel developers.

The wheel is made of the toolkit under test (ACLGRAD_PREBUILT), so nothing is compiled twice.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from aclgrad.building.build_tools import find_tool
from aclgrad.runtime.toolkit import checkout

ROOT = Path(__file__).resolve().parents[3]
KERNEL = "op_impl/ai_core/tbe/kernel/ascend910b"
pytestmark = [
    pytest.mark.journey,
    pytest.mark.skipif(checkout() is None, reason="wheels are made from a checkout"),
]


def clean_environment(**added: str) -> dict[str, str]:
    kept = ("ACLGRAD", "ASCEND", "LD_", "PYTHON", "CMAKE")
    return {k: v for k, v in os.environ.items() if not k.startswith(kept)} | added


def run(*command: object, cwd: Path, status: int = 0, **environment: str) -> str:
    done = subprocess.run(
        [*map(str, command)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=clean_environment(**environment),
        timeout=600,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout if status == 0 else done.stdout + done.stderr


def once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Fill a folder once for all workers of a run."""
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / "made").touch()
    return folder


def make_wheel(source: Path, folder: Path, toolkit: Path) -> Path:
    settings = (
        f"cmake.define.ACLGRAD_PREBUILT={toolkit}",
        f"cmake.define.ACLGRAD_DEBUG_FILES={folder}/debug files",
        f"build-dir={folder}/cmake",
    )
    words = [word for setting in settings for word in ("-C", setting)]
    options = ("--no-deps", "--no-build-isolation", "-w", folder)
    tools = Path(sys.executable).parent
    run(sys.executable, "-m", "pip", "wheel", "-q", *options, *words, source, cwd=folder,
        PATH=f"{tools}{os.pathsep}{os.environ['PATH']}")  # fmt: skip
    return next(folder.glob("aclgrad-*.whl"))


@pytest.fixture(scope="module")
def wheel(toolkit: Path, run_folder: Path) -> Path:
    """The wheel file."""
    folder = once(run_folder / "wheel", lambda path: void(make_wheel(ROOT, path, toolkit)))
    return next(folder.glob("aclgrad-*.whl"))


def void(_: object) -> None:
    """For calls whose result is not wanted."""


def new_environment(folder: Path) -> tuple[object, ...]:
    """A virtual environment, and the words of a pip that works on it: one of its own takes longer
    to make than all else.
    """
    venv.create(folder)
    return (sys.executable, "-m", "pip", "--python", folder / "bin/python")


@pytest.fixture(scope="module")
def installed(wheel: Path, run_folder: Path) -> Path:
    """A fresh virtual environment with the wheel and what it depends on."""

    def make(folder: Path) -> None:
        run(*new_environment(folder), "install", "-q", "--no-compile", wheel, cwd=folder)

    return once(run_folder / "venv", make)


def traces(folder: Path, places: set[str]) -> list[str]:
    """Files that name one of the places."""
    words = [place.encode() for place in places]
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(word in path.read_bytes() for word in words)
    ]


def run_paths(library: Path) -> list[str]:
    """Entries of a library's RPATH and RUNPATH."""
    text = run("readelf", "-dW", library, cwd=library.parent)
    found = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text)
    return [entry for group in found for entry in group.split(":") if entry]


def test_wheel_can_be_moved(wheel: Path, toolkit: Path, tmp_path: Path) -> None:
    assert re.fullmatch(r"aclgrad-[\d.]+-py3-none-linux_\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "w")
    sbom = json.loads(next((tmp_path / "w").glob("*.dist-info/sboms/*.cdx.json")).read_text())
    assert sbom["bomFormat"] == "CycloneDX" and sbom["metadata"]["component"]["name"] == "aclgrad"
    assert {"numpy", "rich"} < {item["name"] for item in sbom["components"]}
    libraries = sorted((tmp_path / "w").rglob("*.so"))
    assert len(libraries) == len(list(toolkit.rglob("*.so"))) > 20
    for library in libraries:
        for entry in run_paths(library):
            assert entry.startswith("$ORIGIN"), (library, entry)
            assert (library.parent / entry.replace("$ORIGIN", ".")).resolve().is_dir(), entry
    cache = (toolkit.parent / "CMakeCache.txt").read_text()
    if "CMAKE_BUILD_TYPE:STRING=Debug" in cache:
        pytest.skip("a debug build names its sources by their full path, for gdb")
    source = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.M)
    assert source is not None
    places = {str(ROOT), str(toolkit.parent), source[1], sys.prefix}
    assert traces(tmp_path / "w", places) == []
    # The check sees a path in debug information.
    planted = tmp_path / "planted"
    planted.mkdir()
    (planted / "f.cpp").write_text("int f() { return 1; }\n")
    run("g++", "-g", "-c", planted / "f.cpp", "-o", planted / "f.o", cwd=planted)
    assert traces(planted, {str(planted)}) == ["f.o"]


def sections(library: Path) -> set[str]:
    """Names of a library's sections."""
    return set(re.findall(r"\]\s+(\.\S+)", run("readelf", "-SW", library, cwd=library.parent)))


def test_what_a_checkout_alone_needs_stays_out(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    out = {"docs.py", "stubs.py", "templates/api.md.j2", "templates/example.cpp.j2"}
    assert not names & {f"aclgrad/codegen/{name}" for name in out}
    assert "aclgrad/common/page_sections.py" not in names
    assert "aclgrad/codegen/render.py" in names and "aclgrad/codegen/templates/l0.cpp.j2" in names


def test_tag(wheel: Path, tmp_path: Path) -> None:
    """It needs nothing of other libraries that manylinux does not have."""
    pytest.importorskip("auditwheel", reason="auditwheel is not installed")
    text = run(sys.executable, "-I", "-m", "auditwheel", "show", wheel, cwd=tmp_path)
    assert re.search(r'platform tag:\s+"manylinux_2_\d+_\w+"', text), text


@pytest.mark.skipif(
    "ACLGRAD_TEST_AARCH64" not in os.environ,
    reason="no ACLGRAD_TEST_AARCH64: a cross build and its run in an emulator take half an hour",
)
def test_other_machine(tmp_path: Path) -> None:
    """As scripts/release_check.py does."""
    words = ("bash", ROOT / "scripts/wheel.sh", "--arch", "aarch64", "--output", tmp_path)
    done = subprocess.run(words, capture_output=True, text=True, env=clean_environment())
    assert done.returncode == 0 and "are the same but for signs" in done.stdout, done.stderr


def test_debug_information(wheel: Path, toolkit: Path, tmp_path: Path) -> None:
    """Operators keep theirs, the simulator's is beside it, where gdb looks for it."""
    cache = (toolkit.parent / "CMakeCache.txt").read_text()
    if "CMAKE_BUILD_TYPE:STRING=RelWithDebInfo" in cache and re.search(
        "^ACLGRAD_SANITIZE:STRING=$", cache, re.M
    ):
        assert wheel.stat().st_size < 12_000_000
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    placed = tmp_path / "aclgrad/toolkit"
    library = placed / "lib64/libascendcl.so"
    assert not {".debug_info", ".symtab"} & sections(library)
    assert ".gnu_debuglink" in sections(library)
    kernel = next(placed.rglob("SoftmaxGrad_float32_float32_float32.so"))
    assert {".debug_info", ".debug_line"} <= sections(kernel)
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    words = ("gdb", "-nx", "-batch", "-ex", "info line aclrtMalloc", library)
    assert "No line number information" in run(*words, cwd=tmp_path)
    shutil.copytree(wheel.parent / "debug files/lib64", placed / "lib64", dirs_exist_ok=True)
    assert "/simulator/src/runtime/" in run(*words, cwd=tmp_path)


def test_wheel_works_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    python, command = installed / "bin/python", installed / "bin/aclgrad"
    code = (
        "import numpy as np, aclgrad; x = np.ones((2, 3), np.float32); print(aclgrad.__file__,"
        " aclgrad.softmax_backward(x, x)[0, 0])"
    )
    text = run(python, "-c", code, cwd=tmp_path)
    assert text.startswith(str(installed)) and text.split()[-1] == "-2.0"
    words = run(command, "config", "--cflags", "--libs", cwd=tmp_path).split()
    assert all(str(installed) in word for word in words if word[:2] in ("-I", "-L"))
    source = ROOT / "examples/aclnn_softmax_backward.cpp"
    run("g++", source, *words, "-o", tmp_path / "program", cwd=tmp_path)
    assert run(tmp_path / "program", cwd=tmp_path).startswith("-0.312500")
    assert "package with its toolkit inside" in run(command, "doctor", cwd=tmp_path)
    tested = run(command, "test", "--shipped", "--fast", "--dtype", "fp16", cwd=tmp_path)
    assert re.search(r"\n\d+ passed in \d+ s\n$", tested)
    assert "comes built" in run(command, "build", cwd=tmp_path, status=1)


def test_operator_of_ones_own(installed: Path, operator_cache: Path, tmp_path: Path) -> None:
    """From the wheel alone: written, built, tested and called from Python."""
    command, project = installed / "bin/aclgrad", tmp_path / "huber_grad"

    def aclgrad(*words: object) -> str:
        return run(command, *words, cwd=project, ACLGRAD_CACHE=str(operator_cache))

    run(command, "new", "huber_grad", cwd=tmp_path)
    assert "kernels in" in aclgrad("build", "--dtypes", "fp16")
    listed = json.loads((project / "compile_commands.json").read_text())
    assert {Path(entry["file"]).parent.name for entry in listed} == {"op_host", "op_kernel"}
    assert all(f"{ROOT}/" not in word for entry in listed for word in entry["arguments"])
    said = json.loads(aclgrad("test", "--fast", "--dtype", "fp16", "--json"))
    assert said["passed"] and len(said["cases"]) > 30
    assert json.loads(aclgrad("tiling", "8x1000", "--json"))["op"] == "HuberGrad"
    code = "import aclgrad; print(aclgrad.load('.').huber_grad.__name__)"
    python, cache = installed / "bin/python", str(operator_cache)
    assert run(python, "-c", code, cwd=project, ACLGRAD_CACHE=cache) == "huber_grad\n"


@pytest.mark.skipif("ACLGRAD_TEST_PYTHONS" not in os.environ, reason="no ACLGRAD_TEST_PYTHONS")
@pytest.mark.parametrize("python", os.environ.get("ACLGRAD_TEST_PYTHONS", "").split())
def test_wheel_works_with_other_pythons(python: str, wheel: Path, tmp_path: Path) -> None:
    """ACLGRAD_TEST_PYTHONS="/usr/bin/python3.10 ...": the same file for each."""
    run(python, "-m", "venv", tmp_path / "v", cwd=tmp_path)
    run(tmp_path / "v/bin/python", "-m", "pip", "install", "-q", wheel, cwd=tmp_path)
    words = ("test", "softmax_grad", "--fast", "--dtype", "bf16", "--format", "json")
    assert "softmax_grad" in run(tmp_path / "v/bin/aclgrad", *words, cwd=tmp_path)


@pytest.fixture(scope="module")
def configure(installed: Path) -> Callable[..., None]:
    """Build a CMake project against the installed package."""
    folder = run(installed / "bin/aclgrad", "config", "--cmake", cwd=installed).strip()
    assert (Path(folder) / "aclgrad-config.cmake").is_file()
    assert folder.startswith(str(installed))

    def build(source: Path, build_dir: Path, **variables: object) -> None:
        cmake, ninja = find_tool("cmake"), find_tool("ninja")
        given = {"CMAKE_PREFIX_PATH": folder, "CMAKE_MAKE_PROGRAM": ninja, **variables}
        words = [f"-D{name}={value}" for name, value in given.items()]
        run(cmake, "-G", "Ninja", "-S", source, "-B", build_dir, *words, cwd=installed)
        run(cmake, "--build", build_dir, cwd=installed)

    return build


def test_own_kernel(configure: Callable[..., None], tmp_path: Path) -> None:
    configure(ROOT / "examples/own_kernel", tmp_path)
    assert run(tmp_path / "run_scale", cwd=tmp_path) == "1000 values doubled\n"


def test_language_of_asc_files(configure: Callable[..., None], tmp_path: Path) -> None:
    configure(ROOT / "examples/asc_kernel", tmp_path)
    assert run(tmp_path / "axpy", cwd=tmp_path) == "100000 sums are right\n"
    assert run(tmp_path / "matmul", cwd=tmp_path) == "5 products are right\n"


def test_cmake_refuses_what_is_wrong(installed: Path, tmp_path: Path) -> None:
    package = run(installed / "bin/aclgrad", "config", "--cmake", cwd=tmp_path).strip()
    head = "cmake_minimum_required(VERSION 3.21)\nproject(p CXX)\nfind_package(aclgrad REQUIRED)\n"
    for body, message in (
        ("aclgrad_add_kernel(k SOURCES k.cpp SOC Ascend1)", "got 'Ascend1', want a name such as"),
        ("aclgrad_add_kernel(k SOC ascend910b)", "SOURCES and SOC are needed"),
        (
            "aclgrad_add_kernel(k SOURCES k.cpp SOC ascend910b PACKAGE p)",
            "needs OP_TYPE and DTYPES",
        ),
        ("find_package(aclgrad 99 REQUIRED)", 'requested version "99"'),
    ):
        (tmp_path / "CMakeLists.txt").write_text(head + body)
        words = ("-S", tmp_path, "-B", tmp_path / "b", f"-Daclgrad_DIR={package}")
        text = run(find_tool("cmake"), *words, cwd=tmp_path, status=1)
        assert message in " ".join(text.split()), text


def test_own_package_is_found_by_aclnn_calls(
    configure: Callable[..., None], installed: Path, tmp_path: Path
) -> None:
    package = tmp_path / "vendors/mine"
    configure(
        ROOT / "tests/sim/packaging/own_package", tmp_path / "b", PROJECT=ROOT, PACKAGE=package
    )
    code = (
        "import numpy as np, aclgrad\n"
        "x = np.zeros(50, np.float16)\n"
        "print(aclgrad.log_sigmoid_backward(x + 1, x)[49])\n"
        "print([w.split()[-1] for w in open('/proc/self/maps') if 'kernel/ascend910b' in w][0])\n"
    )
    python = installed / "bin/python"
    value, library = run(
        python, "-c", code, cwd=tmp_path, ASCEND_CUSTOM_OPP_PATH=str(package)
    ).split()
    assert value == "0.5"
    name = "LogSigmoidGrad_float16_float16_float16.so"
    assert Path(library) == package / KERNEL / "log_sigmoid_grad" / name


FAULT = """
import ctypes, sys
from pathlib import Path
import numpy as np
sys.path.insert(0, sys.argv[2])
from instructions.bench import KernelError, Runtime
toolkit = Path(sys.argv[1])
name = "SoftmaxGrad_float16_float16_float16.so"
kernel = next((toolkit / "opp/vendors/aclgrad").glob(f"op_impl/ai_core/tbe/kernel/*910b/*/{name}"))
arrays = [np.zeros(64, np.float16) for _ in range(3)]
arrays += [np.zeros(64, np.uint8), np.ones(64, np.int32)]
try:
    Runtime(toolkit).launch(ctypes.CDLL(str(kernel))["softmax_grad"], arrays, key=1)
except KernelError as error:
    print(error)
"""


def test_faults_name_sources_by_their_place_in_the_checkout(
    installed: Path, toolkit: Path, tmp_path: Path
) -> None:
    """Tiling data that no tiling writes: the report names the kernel's line, in a checkout with
    its text.
    """
    words = ("-c", FAULT, next(installed.glob("lib/*/site-packages/aclgrad/toolkit")))
    python, helpers = installed / "bin/python", ROOT / "tests" / "sim"
    away = run(python, *words, helpers, cwd=tmp_path)
    place = re.search(r"^  at (op_kernel/\S+):(\d+)$", away, re.M)
    assert place is not None, away
    line = (ROOT / place[1]).read_text().splitlines()[int(place[2]) - 1].strip()
    assert line not in away
    assert f"at {place[0].split()[1]}\n     {line}\n" in run(python, *words, helpers, cwd=ROOT)
    # A toolkit that a checkout holds finds the checkout from anywhere.
    if toolkit.is_relative_to(ROOT):
        inside = run(sys.executable, "-c", FAULT, toolkit, helpers, cwd=tmp_path)
        assert f"  at {ROOT}/{place[1]}:{place[2]}\n     {line}\n" in inside


def test_uninstall_leaves_nothing(wheel: Path, tmp_path: Path) -> None:
    pip = new_environment(tmp_path / "v")
    before = sorted((tmp_path / "v").rglob("*"))
    run(*pip, "install", "-q", "--no-deps", wheel, cwd=tmp_path)
    added = set((tmp_path / "v").rglob("*")) - set(before)
    assert any(path.name == "libcust_opapi.so" for path in added)
    code = "import aclgrad, numpy as np; print(aclgrad.log_sigmoid_backward(*np.zeros((2, 4)))[0])"
    code = code.replace("zeros((2, 4))", "zeros((2, 4), np.float16)")
    others = sysconfig.get_path("purelib")
    python = tmp_path / "v/bin/python"
    assert run(python, "-c", code, cwd=tmp_path, PYTHONPATH=others) == "0.0\n"
    run(tmp_path / "v/bin/aclgrad", "doctor", cwd=tmp_path, PYTHONPATH=others)
    run(*pip, "uninstall", "-q", "-y", "aclgrad", cwd=tmp_path)
    after = [path for path in sorted((tmp_path / "v").rglob("*")) if path not in before]
    assert after == []


def test_sdist_is_enough_to_build(toolkit: Path, tmp_path: Path) -> None:
    """Every source is in it, CMake and Ninja find each of their inputs, a wheel comes of it."""
    code = "import sys; from scikit_build_core import build; print(build.build_sdist(sys.argv[1]))"
    run(sys.executable, "-c", code, tmp_path, cwd=ROOT)
    archive = next(tmp_path.glob("aclgrad-*.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "s")
    source = next((tmp_path / "s").iterdir())
    assert not any(path.is_relative_to(source / "build") for path in source.rglob("*"))
    listed = subprocess.run(
        ["git", "ls-files", "cmake", "op_host", "op_kernel", "python", "scripts", "simulator"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    missing = [name for name in listed.stdout.split() if not (source / name).is_file()]
    assert [name for name in missing if (ROOT / name).is_file()] == []

    cmake, ninja = find_tool("cmake"), find_tool("ninja")
    words = (f"-DPython3_EXECUTABLE={sys.executable}", f"-DCMAKE_MAKE_PROGRAM={ninja}")
    run(cmake, "-G", "Ninja", "-S", source, "-B", tmp_path / "b", *words, cwd=tmp_path)
    inputs = run(ninja, "-C", tmp_path / "b", "-t", "inputs", "all", cwd=tmp_path).splitlines()
    used = [Path(name) for name in inputs if Path(name).is_relative_to(source)]
    assert source / "op_kernel/softmax_grad/softmax_grad.cpp" in used and len(used) > 200
    assert [path for path in used if not path.exists()] == []
    (tmp_path / "w").mkdir()
    assert make_wheel(source, tmp_path / "w", toolkit).stat().st_size > 1 << 20


def test_a_toolkit_that_is_none_is_refused(tmp_path: Path) -> None:
    words = ("-S", ROOT, "-B", tmp_path / "b", f"-DACLGRAD_PREBUILT={tmp_path}")
    text = run(find_tool("cmake"), *words, cwd=tmp_path, status=1)
    assert "no toolkit in" in text and "Next: aclgrad build" in " ".join(text.split())
