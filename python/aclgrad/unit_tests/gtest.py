# SPDX-License-Identifier: Apache-2.0
"""Unit tests that other people wrote for CANN's CPU twin: gtest files under tests/ut/op_kernel.

A test file and its kernel are compiled as their library's own build does it, with the simulator in
place of the twin, and every test runs in a process and a folder of its own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from aclgrad import findings
from aclgrad.building.compile_step import Step
from aclgrad.building.kernels import runs_on_cubes
from aclgrad.building.operator_build import Builder
from aclgrad.codegen.render import write_if_different
from aclgrad.common.files import text_of
from aclgrad.reading.auto_sync import Assumed, assume
from aclgrad.reading.sources import SourcesError
from aclgrad.spec.naming import snake_case
from aclgrad.spec.soc import DEFAULT_SOC, family_of
from aclgrad.unit_tests import cmake_lists as unit_tests_lists
from aclgrad.unit_tests import oracle, shared
from aclgrad.unit_tests import record as unit_tests_record
from aclgrad.unit_tests.cmake_lists import TESTS, TestLists
from aclgrad.unit_tests.test_files import TestFile

TIMEOUT = 600.0

_OF_HALVES = re.compile(r"KERNEL_TYPE_MIX_AIC_1_[12]|\b__mix__\(|\bREGIST_MATMUL_OBJ\b")
"""A kernel may run on both kinds of cores; ascc says whether it does."""
_CALLS = "aclsimTestHalves"
_TYPES = """\
#include <cstdint>
extern "C" __attribute__((visibility("default"))) const uint64_t aclsimKernelTypes[] = {%s};
"""

_TENSORFLOW = '''"""Only what scripts take from TensorFlow here: the NumPy type of bfloat16."""
import ml_dtypes


class bfloat16:
    as_numpy_dtype = ml_dtypes.bfloat16
'''


@dataclass(frozen=True)
class TestResult:
    """One gtest."""

    name: str
    status: str  # passed | failed | crashed | timed out
    verdict: oracle.Verdict
    found: tuple[findings.Finding, ...]
    output: str
    folder: Path

    @property
    def errors(self) -> list[findings.Finding]:
        """Findings that are no hints."""
        return [finding for finding in self.found if finding.severity == findings.ERROR]

    @property
    def ok(self) -> bool:
        """Passed, not wrong and clean."""
        return self.status == "passed" and not self.verdict.wrong and not self.errors

    def as_json(self) -> dict[str, object]:
        """For --json."""
        return {
            "test": self.name,
            "status": self.status,
            "match": self.verdict.kind,
            "detail": self.verdict.detail,
            "comparisons": [
                {"script": one.script, "match": one.kind, "detail": one.detail}
                for one in self.verdict.comparisons
            ],
            "after_a_finding": bool(self.errors) and self.verdict.kind == "mismatch",
            "findings": [finding.text or finding.detail for finding in self.errors],
            "kinds": [finding.kind for finding in self.errors],
            "hints": [finding.kind for finding in self.found if finding.severity != findings.ERROR],
            "folder": str(self.folder),
            "ok": self.ok,
        }


@dataclass(kw_only=True)
class TestBuilder(Builder):
    """Builds one test file and runs its tests."""

    test: TestFile
    lists: TestLists
    soc_name: str
    definitions: Sequence[str] = ()
    python: str = sys.executable
    autosync: str | None = None
    keep_going: bool | None = None

    @property
    def place(self) -> Path:
        """What is built and run lies here."""
        return self.folder / "ut" / _name(self.test)

    @property
    def kernel_file(self) -> Path:
        """The source of the kernel, for the SoC of the test."""
        return self.test.kernel_for(self.soc.npu_arch)

    # -- building -------------------------------------------------------------------------------

    def _forced_header(self) -> list[str]:
        """The header with the tiling data that the library's build puts before everything."""
        name = self.test.sources.name
        names = {self.lists.case.op or name: None, name: None}
        for folder in (self.test.path.parent, self.test.folder):
            for own in (f"{op}{end}" for op in names for end in self._forced_endings()):
                if (folder / own).is_file():
                    return ["-include", str(folder / own)]
        category = self.test.sources.root.parent
        shared = category / f"{category.name}_abs" / TESTS / f"{category.name}_abs_tiling_def.h"
        if category.name == "foreach" and shared.is_file():
            return ["-include", str(shared)]
        if "-include" in self.lists.case.options:
            return []
        host = self.test.sources.root / "op_host"
        declared = any(
            "BEGIN_TILING_DATA_DEF" in text_of(path)
            for path in [*host.rglob("*.h"), *host.rglob("*.cpp")]
            if path.is_file()
        )
        if not declared:
            return []
        # As `aclgrad build` makes it, so that both find it.
        library = Builder(self.sources, self.soc, jobs=self.jobs)
        described = library.build_host()
        ops = [op for op in described.ops if op.defined] or described.ops
        named = [op for op in ops if snake_case(op.type) == name]
        header = library.tiling_header((named or ops)[0], described)
        return ["-include", str(header)] if header else []

    def _forced_endings(self) -> list[str]:
        """Names of a test's own header for the library's build, without the operator's name."""
        text = "".join(
            text_of(path)
            for path in sorted((self.test.sources.repository / "cmake").glob("*ut*.cmake"))
        )
        said = re.findall(r"\bEXISTS\s+\"[^\"]*\$\{\w+\}(_tiling\w*\.h)\"", text)
        return [*dict.fromkeys(said)] or ["_tiling_def.h", "_tiling.h"]

    def _words(self, *, cube: bool = False, halves: bool = False) -> list[str]:
        own = self.defines(None, (), cube=cube)
        if halves:
            own.append(f"-DACLSIM_HALVES={_CALLS}")
        elif not cube:
            # The twin is both kinds of core, so that it has no word for one of them.
            own = [word for word in own if not word.endswith("_VEC__")]
        return [
            "-D__CCE_KT_TEST__=1",
            "-DASCENDC_CPU_DEBUG=1",
            "-DASCENDC_DEBUG=1",
            "-DKERNELUT=1",
            f'-DUT_SOC_VERSION="{self.soc_name}"',
            *own,
            *self._forced_header(),
            *self.lists.case.options,
            *(f"-D{word}" for word in self.definitions),
        ]

    def _includes(self) -> list[Path]:
        repository = self.test.sources.repository
        wanted = [
            self.test.path.parent,
            self.test.folder,
            repository / TESTS,
            repository / shared.COMMON,
            self.test.sources.root / "op_kernel",
        ]
        return [
            *(path for path in wanted if path.is_dir()),
            *self.kernel_includes(self.kernel_file),
        ]

    def _types(self) -> str:
        """What each tiling key runs on, of a kernel of both kinds of cores; else nothing."""
        source = self.kernel_file
        if self.soc.npu_arch not in (2201, 3510) or not _OF_HALVES.search(text_of(source)):
            return ""
        name = f"ut_{_name(self.test)}"
        what = f"kernel {source.name}"
        return self._front_end(source, name, self._includes(), self._words(), what)[1]

    def _part(self, source: Path, words: Sequence[str], suffix: str = "") -> Step:
        output = self.place / "obj" / f"{source.stem}{suffix}.o"
        flags = self._flags(output, self._includes(), words)
        return self.step(output, (*flags, "-c", str(source), "-o", str(output)))

    def build(self) -> Path:
        """Compile and link the test program."""
        gtest = find_gtest(self)
        types = self._types()
        on_cubes = runs_on_cubes(self.kernel_file)
        words = [*self._words(cube=on_cubes, halves=bool(types)), *gtest.compile]
        helpers = self.test.sources.repository / TESTS
        steps = [self._part(self.test.path, words)]
        steps += [
            self._part(source, words)
            for source in sorted(helpers.glob("*.cpp"))
            if not source.name.startswith("test_")
        ]
        given = (self.test.path.resolve(), self.kernel_file.resolve())
        listed = [path for path in self.lists.case.sources if path not in given]
        # Sources that instantiate the kernel for the test; other tests have programs of their own.
        steps += [
            self._part(source, words)
            for source in listed
            if source.is_file() and not source.name.startswith("test_")
        ]
        self._compile(steps, f"unit test {self.test.path.name}")
        read = self._compile_shared(steps, words)
        # Tests of templates include the kernel's source; a second copy would clash.
        if not shared.includes(steps[0].depfile, self.kernel_file):
            kernel = self._part(self.kernel_file, words)
            self._compile([kernel], f"kernel {self.kernel_file.name}")
            steps.append(kernel)
        halves = self._halves(steps, types, gtest) if types else []
        program = self.place / self.test.path.stem
        lib64 = self.toolkit / "lib64"
        link = self.step(
            program,
            (
                self.compiler,
                *(str(step.output) for step in steps),
                *map(str, halves),
                *self._host(read),
                "-o",
                str(program),
                "-rdynamic",
                f"-L{lib64}",
                f"-Wl,-rpath,{lib64}",
                "-lascendcl",
                "-lregister",
                *gtest.link,
            ),
        )
        self._compile([link], f"unit test {self.test.path.name}")
        return program

    def _halves(self, steps: Sequence[Step], types: str, gtest: Gtest) -> list[Path]:
        """The half for AICs of a kernel of both kinds of cores, and what its keys run on."""
        words = [*self._words(cube=True, halves=True), *gtest.compile]
        sources = [Path(step.command[step.command.index("-c") + 1]) for step in steps]
        cubes = [self._part(source, words, ".cubes") for source in sources]
        self._compile(cubes, f"the cube cores' half of {self.test.path.name}")
        half = self.cube_half([step.output for step in cubes], f"ut_{_name(self.test)}", _CALLS)
        told = self.place / "gen" / "types.cpp"
        write_if_different(told, _TYPES % types)
        table = self._part(told, words, f".{_name(self.test)}")
        self._compile([table], told.name)
        return [half, table.output]

    def _compile_shared(self, steps: list[Step], words: Sequence[str]) -> list[str]:
        """Compile what goes with headers of the library's tests; return all that was included."""
        folder = self.test.sources.repository / shared.COMMON
        known: set[Path] = set()
        while True:
            read = [word for step in steps for word in shared.included(step.depfile)]
            new = [path for path in shared.helpers(read, folder) if path not in known]
            if not new:
                return read
            known.update(new)
            more = [self._part(source, words) for source in new]
            self._compile(more, f"unit test {self.test.path.name}")
            steps += more

    def _host(self, words: Sequence[str]) -> list[str]:
        """The operator's tiling and inference, for tests that call them."""
        if not shared.makes_contexts(words):
            return []
        library = Builder(self.sources, self.soc, jobs=self.jobs)
        library.build_host()
        return ["-Wl,--no-as-needed", str(library.host_library)]

    # -- running --------------------------------------------------------------------------------

    def tests(self, program: Path, pattern: str | None) -> list[str]:
        """The names of the tests that the filter leaves."""
        command = [str(program), "--gtest_list_tests"]
        command += [f"--gtest_filter={pattern}"] if pattern else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.strip() or f"it ended with status {done.returncode}"
            raise SourcesError(
                f"{self.test.path}: the program that was built from it does not start: {said}\n"
                f"Next: {' '.join(command)}"
            )
        names, suite = [], ""
        for line in done.stdout.splitlines():
            word = line.split("#", maxsplit=1)[0].rstrip()
            if word.startswith("  "):
                names.append(suite + word.strip())
            elif word.endswith("."):
                suite = word
        return [
            name for name in names if ".DISABLED_" not in name and not name.startswith("DISABLED_")
        ]

    def _environment(self, folder: Path) -> dict[str, str]:
        programs, modules, log = folder / "bin", folder / "modules", folder / "scripts"
        for path in (programs, modules, log):
            path.mkdir(parents=True)
        record = [sys.executable, "-I", unit_tests_record.__file__, self.python, str(log)]
        for name in ("python3", "python"):
            wrapper = programs / name
            wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(record)} "$@"\n')
            wrapper.chmod(0o755)
        if not _has_module(self.python, "tensorflow"):
            (modules / "tensorflow.py").write_text(_TENSORFLOW)
        going = {}
        if self.keep_going is not None:
            going["ACLGRAD_SIM_KEEP_GOING"] = str(int(self.keep_going))
        return {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONPATH": os.pathsep.join(
                filter(None, (str(modules), os.environ.get("PYTHONPATH")))
            ),
            "ACLGRAD_SOC": self.soc_name,
            "ACLGRAD_SIM_REPORT": str(folder / "findings.jsonl"),
            **({"ACLGRAD_SIM_AUTOSYNC": self.autosync} if self.autosync else {}),
            **going,
        }

    def run(self, program: Path, name: str) -> TestResult:
        """Run one test and judge it."""
        folder = self.place / "run" / re.sub(r"[^\w.]", "_", name)
        shutil.rmtree(folder, ignore_errors=True)
        work = unit_tests_lists.library_view(self.test.sources, folder)
        if self.lists.made is not None:
            shutil.copytree(
                self.lists.made, folder / "tree" / "build", symlinks=True, dirs_exist_ok=True
            )
        env = self._environment(folder)
        try:
            done = subprocess.run(
                [str(program), f"--gtest_filter={name}"],
                cwd=work,
                env=env,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT,
                check=False,
            )
            output, status = done.stdout + done.stderr, _status(done.returncode, done.stdout, name)
        except subprocess.TimeoutExpired as error:
            output, status = str(error), "timed out"
        (folder / "output.txt").write_text(output)
        report = folder / "findings.jsonl"
        lines = report.read_text().splitlines() if report.is_file() else []
        found = tuple(findings.from_json(json.loads(line)) for line in lines)
        calls = oracle.read_calls(folder / "scripts")
        complaints = (*oracle.shell_complaints(output), *self.lists.problems)
        verdict = oracle.judge(
            calls,
            self.python,
            env,
            asserts=self.test.asserts(name),
            complaints=complaints if self.test.runs_scripts else (),
        )
        return TestResult(name, status, verdict, found, output, folder)


def _name(test: TestFile) -> str:
    """What a test file is called below its folder: several have one stem there."""
    path = test.path
    below = path.relative_to(test.folder) if path.is_relative_to(test.folder) else Path(path.name)
    return "-".join(below.with_suffix("").parts)


def _status(code: int, output: str, name: str) -> str:
    if f"[       OK ] {name}" in output and code == 0:
        return "passed"
    if f"[  FAILED  ] {name}" in output:
        return "failed"
    if "[  SKIPPED ]" in output:
        return "skipped"
    return "crashed"


def _has_module(python: str, name: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    # Not in the current folder, which -c would search first.
    return subprocess.run([python, "-c", code], cwd="/", check=False).returncode == 0


@dataclass(frozen=True)
class Gtest:
    """How to compile and link with googletest."""

    compile: tuple[str, ...]
    link: tuple[str, ...]


def find_gtest(builder: Builder) -> Gtest:
    """Find googletest: GTEST_ROOT, pkg-config, or where the compiler looks by itself."""
    candidates = []
    if root := os.environ.get("GTEST_ROOT"):
        candidates.append(
            Gtest((f"-I{root}/include",), (f"-L{root}/lib", "-lgtest_main", "-lgtest", "-pthread"))
        )
    else:
        if shutil.which("pkg-config"):
            asked = subprocess.run(
                ["pkg-config", "--cflags", "--libs", "gtest_main"],
                capture_output=True,
                text=True,
                check=False,
            )
            words = shlex.split(asked.stdout) if asked.returncode == 0 else []
            flags = tuple(word for word in words if not word.startswith(("-l", "-L")))
            links = tuple(word for word in words if word.startswith(("-l", "-L", "-pthread")))
            candidates += [Gtest(flags, links)] if links else []
        candidates.append(Gtest((), ("-lgtest_main", "-lgtest", "-pthread")))
    for candidate in candidates:
        done = subprocess.run(
            [
                builder.compiler,
                "-x",
                "c++",
                "-",
                "-o",
                "/dev/null",
                *candidate.compile,
                *candidate.link,
            ],
            input="#include <gtest/gtest.h>\nTEST(Probe, Probe) {}\n",
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return candidate
    raise SourcesError(
        "googletest is not installed: no program with gtest/gtest.h and -lgtest_main links."
        " Next: apt-get install libgtest-dev, or set GTEST_ROOT"
    )


def run_file(
    test: TestFile,
    *,
    soc: str | None = None,
    definitions: Sequence[str] = (),
    pattern: str | None = None,
    python: str | None = None,
    jobs: int = 0,
    autosync: str | None = None,
    tell: Callable[[Assumed], None] | None = None,
    keep_going: bool | None = None,
) -> list[TestResult]:
    """Build a test file and run its tests, none if the pattern leaves none; ``tell`` gets what is
    assumed of the device compiler.
    """
    place = Builder(test.sources, family_of(DEFAULT_SOC)).folder / "ut" / _name(test)
    lists = unit_tests_lists.read(test.path, test.sources, place / "lists")
    name = soc or lists.soc or DEFAULT_SOC
    assumed = assume(test.sources.root, name, autosync)
    if tell is not None:
        tell(assumed)
    builder = TestBuilder(
        sources=test.sources,
        soc=family_of(name),
        optimise="-O0",
        jobs=jobs,
        test=test,
        lists=lists,
        soc_name=name,
        definitions=definitions,
        python=python or sys.executable,
        autosync=assumed.value,
        keep_going=keep_going,
    )
    program = builder.build()
    names = builder.tests(program, pattern)
    if not names and not pattern:
        raise SourcesError(f"{test.path}: no test. Next: {program} --gtest_list_tests")
    return [builder.run(program, test_name) for test_name in names]
